"""What is promised of every picture, asked of one of every object."""

from __future__ import annotations

import importlib
import json
import re
import socket
import subprocess
from time import perf_counter
from typing import TYPE_CHECKING, Any

import html5lib  # type: ignore[import-untyped]
import pytest

from robotlab_nb.display import pictures
from robotlab_nb.display.graph_layout import _layout
from robotlab_nb.display.pictures import html, markdown, text
from tests.display import network_samples as nets
from tests.display.catalogue import EVERYTHING, sound
from tests.display.test_pictures import check_text
from tests.display.trees import body_of, check_inert, flat, sanitised, tree_of, words_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

SOUND = sound()
#: drawers whose objects have tests of their own beside their front ends
ELSEWHERE = {
    "browser_card", "chat_card", "doctor_card", "exchange_card", "log_card", "log_cards",
    "magic_cards", "plot_card", "replay_card", "conversation_card", "runs_page",
}  # fmt: skip
#: what lists every setting, or tells where it lies, is no snapshot; networks have their own
APART = {
    "Options", "Effective", "RunConfig", "AgentSkill", "Network", "NetworkResult", "Run network",
    "RunState network",
}  # fmt: skip


def test_there_is_one_of_everything_that_has_a_picture() -> None:
    made = {name.partition(" ")[0] for name in EVERYTHING}
    drawers = {k for k, (module, _) in pictures._DRAWERS.items() if module not in ELSEWHERE}
    assert drawers - made - {"Catalog"} == set()  # a catalog needs a folder: see its own test
    listed = {name.removeprefix("list of ") for name in EVERYTHING if name.startswith("list of ")}
    assert {k for k, (module, _) in pictures._LISTS.items() if module not in ELSEWHERE} == listed


@pytest.mark.parametrize("name", SOUND)
def test_it_is_drawn_whole_and_no_browser_has_to_mend_it(name: str) -> None:
    thing = SOUND[name]
    drawn = html(thing)
    assert "could not be drawn" not in drawn + text(thing)
    assert words_of(check_inert(drawn))
    assert markdown(thing)
    # With what stands around it in a notebook, and not only as a fragment.
    page = f"<!DOCTYPE html><html><head><title>x</title></head><body>{drawn}</body></html>"
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    parser.parse(page.replace("<style>", "<div></div>").replace("</style>", ""))
    assert parser.errors == []


@pytest.mark.parametrize("name", SOUND)
def test_text_says_what_the_picture_says(name: str) -> None:
    thing = SOUND[name]
    told = flat(check_text(thing))
    for words in loud(tree_of(body_of(html(thing)))):
        assert words in told, words


def loud(tree: Any) -> list[str]:
    """Names and states that stand open in a picture."""
    found: list[str] = []

    def walk(element: Any) -> None:
        if element.tag in ("details", "table", "img"):
            return  # where there is no room, text tells of these that they are there
        if element.tag == "b" or "rlnb-s" in element.get("class", "").split():
            found.append(flat(words_of(element)))
            return
        for child in element:
            walk(child)

    walk(tree)
    return found


@pytest.mark.parametrize("name", SOUND)
def test_it_is_the_same_each_time(name: str) -> None:
    first, second = EVERYTHING[name]("fares"), EVERYTHING[name]("fares")
    for draw in (html, text, markdown):
        assert draw(first) == draw(second)


@pytest.mark.parametrize("name", SOUND)
def test_a_stranger_reads_every_word_of_it(name: str) -> None:
    drawn = html(SOUND[name])
    left = html5lib.parseFragment(sanitised(drawn), namespaceHTMLElements=False)
    assert words_of(left) == words_of(
        html5lib.parseFragment(body_of(drawn), namespaceHTMLElements=False)
    )
    assert len(left.findall(".//img")) == body_of(drawn).count("<img")


@pytest.mark.parametrize("name", SOUND)
def test_drawing_touches_no_network_starts_nothing_and_writes_nothing(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    thing = EVERYTHING[name]("harbour")
    reached: list[str] = []

    def forbidden(*given: Any, **named: Any) -> Any:
        reached.append(str(given))
        raise OSError("not now")

    _layout.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("PATH", "")  # no `dot` is found
        patch.setattr(socket, "socket", forbidden)
        patch.setattr(subprocess, "Popen", forbidden)
        patch.setattr("pathlib.Path.write_text", forbidden)
        patch.setattr("os.mkdir", forbidden)
        drawn = [draw(thing) for draw in (html, text, markdown)]
    assert reached == []
    assert "could not be drawn" not in "".join(drawn)


# -- broken objects --------------------------------------------------------------------------


class Poor:
    """Stands for an object, and fails where it is told to."""

    def __init__(self, thing: Any, broken: str | None) -> None:
        self.__dict__.update(_thing=thing, _broken=broken, _asked=[])

    def __getattr__(self, name: str) -> Any:
        self._asked.append(name)
        if self._broken in (name, "everything"):
            raise RuntimeError(f"<b>{name}</b>")
        return getattr(self._thing, name)

    def _special(self, name: str) -> Any:
        return Poor.__getattr__(self, name)

    def __getitem__(self, key: Any) -> Any:
        return self._special("__getitem__")(key)

    def __iter__(self) -> Any:
        return self._special("__iter__")()

    def __len__(self) -> int:
        found: int = self._special("__len__")()
        return found

    def __str__(self) -> str:
        found: str = self._special("__str__")()
        return found


def poor(thing: Any, broken: str | None) -> Any:
    kind = type(type(thing).__name__, (Poor,), {"__module__": "robotlab_nb.poor"})
    return kind(thing, broken)


@pytest.mark.parametrize("name", [n for n in SOUND if not n.startswith("list of")])
def test_whatever_fails_in_an_object_the_rest_is_shown(name: str) -> None:
    watched = poor(SOUND[name], None)
    html(watched)
    for broken in [*dict.fromkeys(watched._asked), "everything"]:
        thing = poor(SOUND[name], broken)
        assert words_of(check_inert(html(thing))), broken
        assert check_text(thing), broken
        assert markdown(thing), broken


@pytest.mark.parametrize("kind", [*pictures._DRAWERS, *(f"list of {k}" for k in pictures._LISTS)])
def test_a_drawer_that_fails_leaves_text_and_never_fails_the_cell(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    thing = next((t for n, t in SOUND.items() if n.startswith(kind)), None)
    if thing is None:
        pytest.skip("drawn elsewhere")
    found = (
        pictures._LISTS[kind.removeprefix("list of ")]
        if kind.startswith("list of ")
        else pictures._DRAWERS[kind]
    )

    def fail(_: Any) -> Any:
        raise ZeroDivisionError("drawn badly")

    module = importlib.import_module(f"robotlab_nb.display.{found[0]}")
    monkeypatch.setattr(module, found[1], fail)
    shown = words_of(check_inert(html(thing)))
    assert type(thing).__name__ in shown or flat(repr(thing))[:20] in shown or shown
    assert check_text(thing)
    assert "drawn badly" not in shown
    monkeypatch.setitem(pictures._DRAWERS, type(thing).__name__, ("no_such_module", "none"))
    assert check_text(thing)
    check_inert(html(thing))
    bundle = getattr(thing, "_repr_mimebundle_", None)
    if bundle is not None:
        assert set(bundle()) >= {"text/plain", "text/html"}


def test_where_even_writing_text_fails_it_is_named_in_few_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("robotlab_nb.display.as_text.write")
    for thing in SOUND.values():
        assert check_text(thing)
        assert words_of(check_inert(html(thing)))


# -- how large, how fast ---------------------------------------------------------------------


@pytest.mark.parametrize("name", EVERYTHING)
def test_a_long_text_makes_a_small_picture(name: str) -> None:
    for piece in ("<$1&\n", "\U0001f600"):
        thing = EVERYTHING[name](piece * (100_000 // len(piece)))
        assert len(html(thing).encode("utf-8")) <= 2_000_000
        assert len(text(thing)) <= 40 * 97
        assert len(markdown(thing)) <= 2_000_000


def test_a_hundred_tasks_are_drawn_in_fifty_times_what_writing_their_events_as_json_takes() -> None:
    """A generous bound on one machine: both are timed in the same run, the best of several."""
    story = a_hundred_tasks()
    thing, data = nets.a_result(story.state), [event.to_dict() for event in story.events]
    html(thing)  # what is loaded and laid out once
    drawn = min(timed(lambda: html(thing)) for _ in range(7))
    written = min(timed(lambda: json.dumps(data)) for _ in range(7))
    assert drawn < 50 * written, f"{drawn / written:.1f} times"


def a_hundred_tasks() -> nets.NetworkStory:
    """The run of a network of ten by ten, each task with one model call."""
    names = [f"task {n}" for n in range(100)]
    needs = [names[n - 10 : n - 8] if n >= 10 else [] for n in range(100)]
    tasks = [nets.declared(n, f"robot {n[-1]}", k) for n, k in zip(names, needs, strict=True)]
    story = nets.NetworkStory(tasks, "hundred")
    for number, name in enumerate(names):
        robot, at = f"robot {name[-1]}", number * 0.1
        story.starts(name, at, robot=robot).asks(name, robot, at, 0.5, 640, 0.0011, "It is done.")
        story.ends(name, at + 0.5, "It is done.")
    return story.closes("completed", 11.0)


def timed(do: Any) -> float:
    began = perf_counter()
    do()
    return perf_counter() - began


# -- whole pictures --------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n in SOUND if n not in APART])
def test_whole_pictures(name: str, snapshot: SnapshotAssertion) -> None:
    drawn = re.sub(r'src="data:[^"]*"', 'src="…"', body_of(html(SOUND[name])))
    assert drawn.replace("><", ">\n<") == snapshot(name="html")
    assert text(SOUND[name]) == snapshot(name="text")
