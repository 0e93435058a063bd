"""A page stands alone: whole, inert, readable, and written whole or not at all."""

from __future__ import annotations

import base64
import html as entities
import os
import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.display.page import page
from tests.display.network_samples import NetworkStory, a_result, declared, large, nine, support
from tests.display.trees import PAYLOADS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: elements that a page may have; none of them acts
INERT = set(
    "html head meta title style body header main footer h1 h3 h4 h5 h6 p span b strong em i a code "
    "pre br hr ul ol li blockquote dl dt dd div details summary table thead tbody tr th td img ins "
    "del s sub sup progress".split()
)
URLS = ("href", "src", "action", "data", "poster", "srcset", "background")


class Reader(HTMLParser):
    """Reads a page, and refuses what could act or load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.pictures: list[str] = []
        self.opened: dict[str, bool] = {}
        self.inside: list[str] = []
        self._open: bool | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in INERT, tag
        self.inside.append(tag)
        for name, value in attrs:
            assert not name.startswith("on"), name
            if name in URLS:
                value = value or ""
                if tag == "img":
                    head, _, data = value.partition(",")
                    assert re.fullmatch(r"data:image/(svg\+xml|png|jpeg|gif|webp);base64", head)
                    self.pictures.append(base64.b64decode(data).decode("utf-8", "replace"))
                else:
                    assert tag == "a"
                    assert re.match(r"(https?://|mailto:)", value), value
        if tag == "details":
            self._open = any(name == "open" for name, _ in attrs)

    def handle_data(self, data: str) -> None:
        if "style" in self.inside[-1:]:
            assert "url(" not in data
            assert "@import" not in data
            return
        if self._open is not None and data.strip():
            self.opened.setdefault(data.strip(), self._open)
            self._open = None
        self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def weather(city: str) -> str:
    """Tell the weather."""
    return f"18 °C in {city}"


@pytest.fixture(scope="module")
def things() -> dict[str, Any]:
    """One of each kind of object that people keep."""
    bot = rl.build("guide", system_prompt="Be brief.", tools=[weather])
    result = bot.run("What is the weather in Paris?")
    net = support()
    run = net.start("I was charged twice")
    names = rl.create_network("names")
    names.task("list", lambda: ["ann", "bob"])
    names.task("greet", lambda item: f"hello {item}", depends_on=["list"], map_over="list")
    return {
        "robot": bot,
        "result": result,
        "messages": bot.messages,
        "network": net,
        "network result": run.result(),
        "run": run,
        "map": names.run("go")["greet"],
        "replay": result.replay(),
        "config": net.config,
    }


KINDS = ("robot", "result", "messages", "network", "network result", "run", "map", "replay",
         "config")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_whatever_has_a_picture_has_a_page_that_stands_alone(
    kind: str, things: dict[str, Any]
) -> None:
    made = things[kind].to_html()
    assert made.startswith("<!doctype html>\n<html lang")
    assert '<meta charset="utf-8">' in made
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', made)
    assert policy
    for rule in ("default-src 'none'", "style-src 'unsafe-inline'", "img-src data:"):
        assert rule in policy[1]
    found = Reader(made)
    assert found.inside == [] or found.inside[-1] in ("meta", "br", "img")
    assert f"made by robotlab_nb {rl.__version__}" in found.words
    assert made == things[kind].to_html()


def test_a_result_reads_from_what_was_asked_to_what_led_to_the_answer(
    things: dict[str, Any],
) -> None:
    result = things["network result"]
    found = Reader(result.to_html())
    places = [
        found.words.index(each)
        for each in ("support – completed", "asked", "I was charged twice", "19.90", "Tasks",
                     "Timeline", "Transcript", "made by", f"run {result.run_id}", "simulated: ")
    ]  # fmt: skip
    assert places == sorted(places)
    assert re.search(r"started \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", found.words)
    assert [found.opened[title] for title in ("Tasks", "Timeline", "Transcript")] == [True] * 3
    assert len(found.pictures) == 2
    assert "reply completed" in entities.unescape(found.pictures[0])
    closed = Reader(things["robot"].to_html()).opened
    assert closed["Configuration"] is False


def test_a_run_that_goes_on_and_one_that_failed_say_so() -> None:
    found = Reader(page(a_result(nine())))
    assert "the run had not ended yet" in found.words
    assert "simulated" not in found.words
    story = NetworkStory([declared("a", "x")]).starts("a", 0.0).fails("a", 1.0, "no answer")
    failed = Reader(page(a_result(story.closes("failed", 1.0).state)))
    assert failed.words.index("no answer") < failed.words.index("Tasks")
    assert "support – failed" in failed.words


@pytest.mark.parametrize("number", range(0, len(PAYLOADS), 4))
def test_hostile_words_are_inert_on_a_page(number: int) -> None:
    payload = PAYLOADS[number]
    story = NetworkStory([declared(payload, payload)], payload)
    story.events[0].data.update(input=payload, started_at=payload)
    story.starts(payload, 0.0, robot=payload).asks(payload, payload, 0.0, 1.0, 5, 0.1, payload)
    state = story.ends(payload, 1.0, payload).closes("completed", 1.0).state
    Reader(page(a_result(state)))


@pytest.fixture
def key() -> Iterator[str]:
    value = "sk-planted-4f9d2c7b1a"
    secrets.register_secret(value)
    yield value
    secrets.forget()


def test_a_registered_key_is_nowhere_on_a_page(key: str) -> None:
    story = NetworkStory([declared(f"task {key}", f"robot {key}")], f"net {key}")
    story.events[0].data["input"] = f"use {key}"
    story.starts(f"task {key}", 0.0).fails(f"task {key}", 1.0, f"bad key {key}")
    found = Reader(made := page(a_result(story.closes("failed", 1.0).state)))
    assert key not in made
    assert len(found.pictures) == 2
    assert not [each for each in found.pictures if key in each]


def test_ten_megabytes_make_a_page_of_bounded_size_that_says_what_is_left_out() -> None:
    text = "word **bold** text\n\n" * 500_000
    story = NetworkStory([declared("a", "x")]).starts("a", 0.0, robot="x")
    made = page(a_result(story.ends("a", 1.0, text).closes("completed", 1.0).state))
    assert len(made) < 1_000_000
    assert re.search(
        r"… 9,9\d\d,\d+ more characters: result\[.a.\]\.text has all", Reader(made).words
    )


def test_a_thousand_tasks_make_a_page_of_bounded_size() -> None:
    made = page(a_result(large(1000)))
    assert len(made) < 500_000
    assert "1,000 tasks: more than 150" in Reader(made).pictures[0]


# -- files ---------------------------------------------------------------------------------


def test_a_page_is_written_where_it_is_wanted(tmp_path: Path, things: dict[str, Any]) -> None:
    result = things["result"]
    target = tmp_path / "answer é.html"
    target.write_text("old")
    assert result.to_html(target) == target
    assert target.read_text("utf-8") == result.to_html()
    assert result.to_html(str(target)) == target
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_a_link_to_a_page_stays_a_link(tmp_path: Path, things: dict[str, Any]) -> None:
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to("real.html")
    things["result"].to_html(tmp_path / "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text("utf-8").startswith("<!doctype html>")


def test_a_tilde_is_the_persons_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, things: dict[str, Any]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert things["result"].to_html("~/answer.html") == tmp_path / "answer.html"


@pytest.mark.parametrize("where", ["no_such_folder/a.html", ".", "file.txt/a.html"])
def test_a_page_that_cannot_be_written_says_why_and_leaves_all_as_it_was(
    where: str, tmp_path: Path, things: dict[str, Any]
) -> None:
    (tmp_path / "file.txt").write_text("old")
    with pytest.raises(ConfigurationError, match="cannot be written: ") as caught:
        things["result"].to_html(tmp_path / where)
    assert "may you write there" in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_a_page_that_fails_on_the_way_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, things: dict[str, Any]
) -> None:
    target = tmp_path / "a.html"
    target.write_text("old")

    def full(source: Any, target: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ConfigurationError, match="No space left"):
        things["result"].to_html(target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]
