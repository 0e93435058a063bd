"""Tapes: what was recorded is played without a model, a key or a socket, and looks the same."""

from __future__ import annotations

import asyncio
import json
import pickle
import socket
import subprocess
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.core.events import Delta
from robotlab_nb.models.tape_file import VERSION, TapeFile
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lesson.jsonl"


@pytest.fixture
def no_sockets(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Forbid every connection from now on."""

    def forbid() -> None:
        def refuse(*_: Any, **__: Any) -> None:
            raise AssertionError("a socket was opened")

        for name in ("connect", "connect_ex", "sendto"):
            monkeypatch.setattr(socket.socket, name, refuse)

    return forbid


def bot(server: ModelServer, **more: Any) -> rl.Robot[Any]:
    config = {"retry_interval": 0.001, "retry_jitter": 0.0, **more.pop("config", {})}
    more.setdefault("model", "openai/gpt-4o-mini")
    return rl.build("b", api_base=server.base_url, config=config, **more)


def assert_fails(robot: rl.Robot[Any]) -> None:
    with pytest.raises(rl.ModelError):
        robot.run("hi")


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def told(result: Any) -> list[Any]:
    """All events as data, but for what belongs to this run alone."""
    text = json.dumps([[e.type, e.elapsed, e.data] for e in result.events])
    for event in result.events:
        text = text.replace(event.scope.run_id, "RUN")
    kept = []
    for type_, elapsed, data in json.loads(text):
        for name in ("started_at", "played", "config"):
            data.pop(name, None)
        kept.append([type_, elapsed, data])
    return kept


# -- the same again ----------------------------------------------------------------------------


def weather(city: str) -> str:
    """Tell the weather."""
    return f"sunny in {city}"


def test_tools_tokens_costs_and_times_are_as_they_were(path: Path, no_sockets: Any) -> None:
    steps = [Reply.tool_call("weather", {"city": "Paris"}, usage=USAGE),
             Reply.text("It is sunny.", usage=USAGE)]  # fmt: skip
    with ModelServer(steps) as server, rl.tape(path, mode="record") as recorded:
        first = bot(server, tools=[weather]).run("Weather?")
    no_sockets()
    with rl.tape(path, mode="strict") as played:
        again = bot(server, tools=[weather]).run("Weather?")
    assert (recorded.recorded, played.played) == (2, 2)
    assert again.tool_calls[0].result == "sunny in Paris"
    assert first.cost == again.cost > 0
    assert first.duration == again.duration
    assert told(first) == told(again)
    assert first._repr_html_() == again._repr_html_()
    assert repr(first) == repr(again)
    assert [e.data.get("played") for e in again.events if e.type == "model_call.completed"] == [
        True, True,
    ]  # fmt: skip


def test_no_key_is_looked_for(path: Path, no_sockets: Any, monkeypatch: Any) -> None:
    monkeypatch.setenv("LESSON_KEY", "sk-long-enough-to-be-masked")
    with ModelServer(["Hi."]) as server, rl.tape(path, mode="record"):
        bot(server, api_key="LESSON_KEY").run("Hello")
    assert server.requests[0].headers["authorization"].endswith("to-be-masked")
    monkeypatch.delenv("LESSON_KEY")
    no_sockets()
    with rl.tape(path, mode="strict"):
        assert bot(server, api_key="LESSON_KEY").run("Hello").text == "Hi."
    with pytest.raises(rl.ConfigurationError, match="LESSON_KEY"):
        bot(server, api_key="LESSON_KEY").run("Hello")
    with rl.tape(path), pytest.raises(rl.ConfigurationError, match="LESSON_KEY"):
        bot(server, api_key="LESSON_KEY").run("Hello, and more")


PLAY = """
import os, sys
import robotlab_nb as rl
with rl.tape(sys.argv[1], mode="strict"):
    bot = rl.build("b", model="openai/gpt-4o-mini", via=sys.argv[3] or None, api_base=sys.argv[2])
    assert bot.run("Hello").text == "Hi.", "not played"
print([m for m in ("aiohttp", "litellm", "httpx") if m in sys.modules])
"""


@pytest.mark.parametrize("via", ["", "litellm"])
def test_what_asks_models_is_not_even_loaded(path: Path, via: str) -> None:
    with ModelServer(["Hi."]) as server, rl.tape(path, mode="record"):
        bot(server, via=via or None).run("Hello")
    done = subprocess.run(
        [sys.executable, "-c", PLAY, str(path), server.base_url, via],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_a_comparison_is_played_cell_by_cell(path: Path, no_sockets: Any) -> None:
    count = iter(range(100))

    def script(request: Any) -> Reply:
        said = request.messages[-1]["content"]
        return Reply.text(f"{said} {next(count)}").after(0.02)

    def compare(model: rl.Model) -> Any:
        return rl.compare(
            ["Say {{ word }}.", "Shout {{ word }}!"], [model], [{"word": "yes"}, {"word": "no"}],
            repeats=2, confirm_above={"calls": 8 if path.exists() is False else 0},
            journal=path.with_name("journal"),
        )  # fmt: skip

    with ModelServer(script=script) as server, rl.tape(path, mode="record"):
        model = server.model("small")
        first = compare(model)
        assert len(server.requests) == 8
    no_sockets()
    with rl.tape(path, mode="strict") as tape:  # nobody is asked whether to spend nothing
        again = compare(model)
    assert tape.played == 8
    assert [cell.text for cell in again.cells] == [cell.text for cell in first.cells]
    assert [cell.duration_s for cell in again.cells] == [cell.duration_s for cell in first.cells]
    assert again.run.state.duration_s == first.run.state.duration_s


def pieces(robot: rl.Robot[Any], text: str) -> list[str]:
    return [e.text for e in robot.stream(text) if isinstance(e, Delta) and e.kind == "text"]


def test_an_answer_streams_in_the_pieces_that_it_came_in(path: Path) -> None:
    sent = ["Ros", "es are", " red."]
    with ModelServer([Reply.text(sent)]) as server, rl.tape(path, mode="record"):
        assert "".join(pieces(bot(server), "a poem")) == "Roses are red."
    heard: list[str] = []
    with rl.tape(path, mode="strict"):
        assert bot(server).run("a poem", on_content=heard.append).text == "Roses are red."
    assert heard == sent
    with rl.tape(path, mode="strict", paced=True):
        assert "".join(pieces(bot(server), "a poem")) == "Roses are red."


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that anybody waits for nothing."""
    real, found = asyncio.sleep, []

    async def sleep(delay: float, result: Any = None) -> Any:
        if delay > 0:
            found.append(delay)
        return await real(delay, result)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    return found


def test_it_takes_no_time_but_where_that_is_wanted(path: Path, slept: list[float]) -> None:
    slow = Reply.text(["a ", "b ", "c"]).paced(0.05)
    with ModelServer([slow]) as server, rl.tape(path, mode="record"):
        pieces(bot(server), "hi")
    slept.clear()
    with rl.tape(path, mode="strict"):
        assert bot(server).run("hi").text == "a b c"
    assert slept == []
    began = time.monotonic()
    with rl.tape(path, mode="strict", paced=True):
        assert bot(server).run("hi").text == "a b c"
    assert time.monotonic() - began >= 0.1


class Size(BaseModel):
    """A size."""

    width: int


def test_structured_answers_and_their_repair_are_played(path: Path) -> None:
    replies = ['{"width": "wide"}', '{"width": 3}']
    with ModelServer(replies) as server, rl.tape(path, mode="record"):
        first = bot(server, output=Size, config={"output_mode": "text"}).run("How wide?")
    with rl.tape(path, mode="strict"):
        again = bot(server, output=Size, config={"output_mode": "text"}).run("How wide?")
    assert first.parsed == again.parsed == Size(width=3)
    assert told(first) == told(again)


def test_attempts_that_failed_and_fallbacks_are_played_without_waiting(
    path: Path, slept: list[float]
) -> None:
    replies = [Reply.error(500, "one"), Reply.error(429, "two"), Reply.error(500, "three"),
               Reply.text("from the other", usage=USAGE)]  # fmt: skip
    with ModelServer(replies) as server, rl.tape(path, mode="record"):
        first = bot(server, fallback="openai/gpt-4o").run("hi")
    assert len(slept) == 2
    slept.clear()
    with rl.tape(path, mode="strict"):
        again = bot(server, fallback="openai/gpt-4o", config={"retry_interval": 60}).run("hi")
    assert again.text == "from the other"
    assert told(first) == told(again)
    assert len([e for e in again.events if e.type == "attempt.failed"]) == 3
    assert slept == []


def test_a_failure_is_played_as_it_was_or_asked_again(path: Path) -> None:
    with ModelServer([Reply.error(401, "who are you?"), "better"]) as server:
        with rl.tape(path, mode="record"), pytest.raises(rl.ModelError) as first:
            bot(server).run("hi")
        with rl.tape(path, mode="strict"), pytest.raises(rl.ModelError) as again:
            bot(server).run("hi")
        for name in ("message", "hint", "kind", "status", "retryable", "billed", "body"):
            assert getattr(first.value, name) == getattr(again.value, name), name
        assert first.value._repr_html_() == again.value._repr_html_()
        with rl.tape(path, errors=True):
            assert_fails(bot(server))
        with rl.tape(path):  # in doubt, an error is no answer
            assert bot(server).run("hi").text == "better"
    with rl.tape(path, mode="strict"):
        assert bot(server).run("hi").text == "better"


def test_what_streamed_before_an_answer_broke_off_is_played(path: Path) -> None:
    broken = Reply.text(["never ", "to ", "be ", "finished"]).paced(0.02).cut(700)
    server = ModelServer([broken])
    with server, rl.tape(path, mode="record"), pytest.raises(rl.ModelError) as first:
        list(bot(server, config={"attempts": 1}).stream("hi"))
    with rl.tape(path, mode="strict"), pytest.raises(rl.ModelError) as again:
        list(bot(server, config={"attempts": 1}).stream("hi"))
    assert first.value.run.state.text == again.value.run.state.text != ""


def test_a_network_plays_side_by_side_and_shows_the_recorded_times(path: Path) -> None:
    def slow(message: str) -> str:
        time.sleep(0.03)
        return message.upper()

    def network(server: ModelServer) -> rl.Network:
        robot = bot(server)
        net = rl.create_network("n")
        net.task("left", robot, prompt="left of {{ message }}")
        net.task("right", robot, prompt="right of {{ message }}")
        net.task("loud", slow)
        net.task("both", robot, depends_on=["left", "right", "loud"])
        return net

    def script(request: Any) -> Reply:
        said = request.messages[-1]["content"]
        return Reply.text(f"answer to {len(said)}").after(0.02 if "left" in said else 0.0)

    with ModelServer(script=script) as server, rl.tape(path, mode="record"):
        first = network(server).run("me")
    with rl.tape(path, mode="strict"):
        again = network(server).run("me")
    assert first.text == again.text
    assert first.duration == again.duration >= 0.03
    for name in ("left", "right", "loud", "both"):
        assert first.state.tasks[name].duration_s == again.state.tasks[name].duration_s
    assert first._repr_html_() == again._repr_html_()


def test_a_conversation_is_played_turn_by_turn(path: Path) -> None:
    with ModelServer(["one", "two"]) as server, rl.tape(path, mode="record"):
        robot = bot(server, system_prompt="Count.")
        robot.run("1"), robot.run("2")
    with rl.tape(path, mode="strict"):
        robot = bot(server, system_prompt="Count.")
        assert [robot.run("1").text, robot.run("2").text] == ["one", "two"]
    said = [line for line in lines(path) if "message" in line]
    assert len(said) == 4  # the system message, and what was said before: each stands there once


def test_vectors_of_texts_are_asked_for_once(path: Path) -> None:
    from robotlab_nb.memory.documents import Documents

    texts = {"cats": "Cats sleep all day.", "tax": "Taxes are due in May."}

    def found(question: str) -> Any:
        kept = Documents(embedding_model=model)
        for name, text in texts.items():
            kept.store(text, name)
        return [(hit.key, hit.score) for hit in kept.search(question)]

    with ModelServer() as server, rl.tape(path, mode="record"):
        model = server.model("vectors")
        first = found("Do cats sleep?")
    with rl.tape(path, mode="strict"):
        assert found("Do cats sleep?") == first
        with pytest.raises(rl.TapeMiss, match="1 of 1 texts"):
            found("When are taxes due?")


# -- which answer ------------------------------------------------------------------------------


def test_equal_requests_get_their_answers_in_order(path: Path) -> None:
    with ModelServer(["heads", "tails"]) as server, rl.tape(path, mode="record"):
        assert [bot(server).run("flip").text for _ in range(2)] == ["heads", "tails"]
    with rl.tape(path, mode="strict") as tape:
        assert [bot(server).run("flip").text for _ in range(2)] == ["heads", "tails"]
        with pytest.raises(rl.TapeMiss, match="2 times.*once more"):
            bot(server).run("flip")
        tape.rewind()
        assert bot(server).run("flip").text == "heads"


def test_a_cell_that_is_run_again_gets_the_same_answers(path: Path) -> None:
    tape = rl.tape(path)
    assert [tape.claim("k", ("cell 1", "first run")) for _ in range(2)] == [0, 1]
    assert tape.claim("k", ("cell 2", "first run")) == 2
    assert [tape.claim("k", ("cell 1", "second run")) for _ in range(3)] == [0, 1, 3]
    assert tape.claim("k") == 4


def test_what_came_to_nothing_counts_for_nothing(path: Path) -> None:
    replies = [Reply.error(400, "no"), "yes"]
    with ModelServer(replies) as server, rl.tape(path, mode="record", errors=False):
        assert_fails(bot(server))
        assert bot(server).run("hi").text == "yes"
    with rl.tape(path, mode="strict"):
        assert bot(server).run("hi").text == "yes"


def test_auto_plays_what_is_there_and_adds_the_rest(path: Path) -> None:
    with ModelServer(["one", "two"]) as server:
        for _ in range(2):
            with rl.tape(path):
                assert bot(server).run("1").text == "one"
        with rl.tape(path) as tape:
            assert [bot(server).run(n).text for n in "12"] == ["one", "two"]
        assert len(server.requests) == 2
    assert (tape.played, tape.recorded) == (1, 1)


def test_recording_begins_anew_with_the_first_answer(path: Path) -> None:
    with ModelServer(["old"]) as server, rl.tape(path, mode="record"):
        bot(server).run("1")
    with rl.tape(path, mode="record"), pytest.raises(rl.ConfigurationError):
        bot(server, api_key="NO_SUCH_KEY").run("1")
    assert '"old"' in path.read_text("utf-8")
    with ModelServer(["new"]) as server, rl.tape(path, mode="record"):
        bot(server).run("1")
    assert '"new"' in path.read_text("utf-8")
    assert '"old"' not in path.read_text("utf-8")


def test_a_robot_a_network_and_the_environment_can_name_a_tape(
    path: Path, monkeypatch: Any
) -> None:
    with ModelServer(["one", "two", "three"]) as server:
        assert bot(server, config={"tape": path}).run("1").text == "one"
        net = rl.create_network("n", config={"tape": str(path)})
        net.task("t", bot(server), prompt="2")
        assert net.run("go").text == "two"
        monkeypatch.setenv("ROBOTLAB_TAPE", str(path))
        monkeypatch.setenv("ROBOTLAB_TAPE_MODE", "strict")
        try:
            rl.options.reload()
            assert bot(server).run("1").text == "one"
            assert (
                rl.build("free", config={"tape": None}, model="x", api_base=server.base_url)
                .run("1")
                .text
                == "three"
            )
        finally:
            monkeypatch.undo()
            rl.options.reload()
        assert len(server.requests) == 3


def test_the_cache_answers_before_the_tape_and_budgets_count(path: Path) -> None:
    rl.clear_cache()
    config = {"cache": True, "call_budget": 5}
    with ModelServer([Reply.text("kept", usage=USAGE)]) as server, rl.tape(path, mode="record"):
        robot = bot(server, config={**config, "requests_per_minute": 1})
        first = [robot.fork().run("hi") for _ in (1, 2)]
    rl.clear_cache()
    with rl.tape(path, mode="strict") as tape:
        robot = bot(server, config={**config, "requests_per_minute": 1})
        again = [robot.fork().run("hi") for _ in (1, 2)]
        assert [told(r) for r in first] == [told(r) for r in again]
        tape.rewind()
        with pytest.raises(rl.BudgetExceeded):
            bot(server, config={"token_budget": 1}).run("hi")
    rl.clear_cache()


# -- what is not on it -------------------------------------------------------------------------


@pytest.fixture
def recorded(path: Path) -> Iterator[ModelServer]:
    with ModelServer(["ok", "ok"]) as server, rl.tape(path, mode="record"):
        bot(server, tools=[weather], system_prompt="You are brief and kind.").run("Hello there")
        bot(server).run("Something else entirely")
    return server


@pytest.mark.parametrize(
    ("change", "what", "how"),
    [
        ({"system_prompt": "You are long and kind."}, "message 1 (system)",
         "You are [−brief−] [+long+] and kind."),
        ({"config": {"temperature": 0.5}}, "parameter temperature", "not set → 0.5"),
        ({"model": "openai/gpt-4o"}, "model", "openai/gpt-4o-mini → openai/gpt-4o"),
        ({"tools": []}, "tool weather", "it is missing now"),
    ],
)  # fmt: skip
def test_a_miss_says_what_differs_from_the_nearest_request(
    recorded: ModelServer, path: Path, change: dict[str, Any], what: str, how: str
) -> None:
    given = {"tools": [weather], "system_prompt": "You are brief and kind.", **change}
    with rl.tape(path, mode="strict"), pytest.raises(rl.TapeMiss) as caught:
        bot(recorded, fallback="openai/gpt-4.1", **given).run("Hello there")
    assert caught.value.differences == ((what, how),)
    assert f"{what}: {how}" in str(caught.value)
    assert f"{what}: {how}" in "\n".join(caught.value._render_traceback_())
    assert how.split()[-1] in repr(caught.value._repr_html_())
    assert caught.value.run.status == "failed"


def test_a_miss_of_a_huge_request_stays_small(recorded: ModelServer, path: Path) -> None:
    with rl.tape(path, mode="strict"), pytest.raises(rl.TapeMiss) as caught:
        bot(recorded).run("word " * 200_000)
    assert len(str(caught.value)) < 3000


def test_a_tape_that_is_not_there_says_so(path: Path) -> None:
    with rl.tape(path, mode="strict"), pytest.raises(rl.TapeError, match="there is no tape"):
        rl.build(model="x", api_base="http://127.0.0.1:1/v1").run("hi")


def test_simulated_models_are_passed_over_unless_asked_for(path: Path) -> None:
    with rl.tape(path, mode="record") as tape:
        rl.build(model=rl.SimulatedModel(["a"])).run("hi")
    assert (tape.passed_over, path.exists()) == (1, False)
    assert "1 call to simulated models, which need no tape" in repr(tape)
    with rl.tape(path, mode="record", simulated=True):
        rl.build(model=rl.SimulatedModel(["a"])).run("hi")
    with rl.tape(path, mode="strict", simulated=True):
        assert rl.build(model=rl.SimulatedModel(["b"])).run("hi").text == "a"


# -- the file ----------------------------------------------------------------------------------


OPTIONS = {"extra_headers": {"X-Key": "quite-another-canary"}, "user": "correct-horse-battery"}


def test_no_secret_is_on_the_tape(path: Path) -> None:
    rl.register_secret("correct-horse-battery", "VAULT")
    words = ["the word is corr", "ect-horse-", "battery, keep it"]
    with ModelServer([Reply.text(words)]) as server, rl.tape(path, mode="record"):
        first = pieces(
            bot(
                server,
                api_key="sk-canary-0123456789",
                config={"provider_options": OPTIONS},
            ),
            "is it correct-horse-battery?",
        )
    held = path.read_bytes()
    for secret in (b"correct-horse", b"battery", b"sk-canary", b"quite-another", b"Bearer"):
        assert secret not in held, secret
    with rl.tape(path, mode="strict"):
        again = pieces(
            bot(
                server,
                config={"provider_options": OPTIONS},
            ),
            "is it correct-horse-battery?",
        )
    assert "".join(first) == "".join(again) == "the word is [redacted: VAULT], keep it"


def test_a_tape_reads_well_and_can_be_changed_by_hand(path: Path) -> None:
    with ModelServer([Reply.text(["Bon", "jour."])]) as server, rl.tape(path, mode="record"):
        bot(server).run("Say hello")
    head, message, call, times = lines(path)
    assert head["robotlab_nb"] == "tape"
    assert message["parts"] == [{"kind": "text", "text": "Say hello"}]
    assert call["attempts"][0]["said"][0]["text"] == "Bonjour."
    assert times["run"] == "b"
    path.write_text(path.read_text("utf-8").replace("Bonjour.", "Good morning."), "utf-8")
    with rl.tape(path, mode="strict"):
        assert bot(server).run("Say hello").text == "Good morning."


def test_a_line_that_a_crash_cut_off_is_left_out_and_told(path: Path) -> None:
    with ModelServer(["one", "two", "three"]) as server:
        with rl.tape(path):
            bot(server).run("1"), bot(server).run("2")
        whole = path.read_bytes()
        kept = whole[: whole.rindex(b'{"call"') + 40]
        path.write_bytes(kept)
        with pytest.warns(RuntimeWarning, match="breaks off in line"):
            tape = rl.tape(path)
        with tape, warnings.catch_warnings():
            warnings.simplefilter("error")
            assert [bot(server).run(n).text for n in "12"] == ["one", "three"]
    assert lines(path)  # all of them are JSON
    with rl.tape(path, mode="strict"):
        assert [bot(server).run(n).text for n in "12"] == ["one", "three"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,age\nAnn,3\n", "is no tape"),
        ('{"question": "hi"}\n', "is no tape"),
        ('{"robotlab_nb": "tape", "version": 999}\n', "newer robotlab_nb"),
        ('{"robotlab_nb": "tape", "version": 0}\n', "unknown version"),
    ],
)
@pytest.mark.parametrize("mode", ["auto", "strict", "record"])
def test_a_file_that_is_no_tape_of_ours_is_refused_and_left(
    path: Path, text: str, said: str, mode: str
) -> None:
    path.write_text(text)
    with pytest.raises(rl.TapeError, match=said):
        rl.tape(path, mode=mode)
    with pytest.raises(rl.TapeError, match=said):
        TapeFile(path).add([{"call": "k", "nth": 0}], anew=mode == "record")
    assert path.read_text() == text


def test_a_tape_of_an_older_version_is_read_by_its_upcaster(path: Path, monkeypatch: Any) -> None:
    from robotlab_nb.models import tape_file

    path.write_text('{"robotlab_nb": "tape", "version": 0}\n{"was": "k"}\n')
    monkeypatch.setitem(tape_file.UPCASTERS, 0, lambda line: {"call": line["was"], "nth": 0})
    assert TapeFile(path).found("calls", "k", 0) == {"call": "k", "nth": 0}
    assert VERSION == 1


@pytest.mark.parametrize(
    ("damage", "said"),
    [("<<<<<<< HEAD\n", "two versions of it were merged"), ("{broken\n", "line 2.*not JSON")],
)
def test_a_damaged_line_is_named_and_recording_anew_mends_it(
    path: Path, damage: str, said: str
) -> None:
    with ModelServer(["one", "two"]) as server:
        with rl.tape(path):
            bot(server).run("1")
        head, rest = path.read_text().split("\n", 1)
        path.write_text(f"{head}\n{damage}{rest}")
        for _ in range(2):
            with pytest.raises(rl.TapeError, match=said):
                rl.tape(path, mode="strict")
        with rl.tape(path, mode="record"):
            bot(server).run("1")
    with rl.tape(path, mode="strict"):
        assert bot(server).run("1").text == "two"


def test_an_answer_is_not_lost_when_the_tape_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with ModelServer(["one"]) as server, rl.tape(folder / "a.jsonl") as tape:
        folder.rmdir()
        with pytest.warns(RuntimeWarning, match="nothing is recorded on the tape"):
            assert bot(server).run("1").text == "one"
    assert tape.recorded == 0


WRITE = """
import sys
from pathlib import Path
from robotlab_nb.models.tape_file import TapeFile
tape = TapeFile(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
for n in range(300):
    tape.add([{"message": f"m{n}", "text": "x" * 300}, {"call": sys.argv[2], "nth": n}])
"""


def test_two_processes_write_one_tape(path: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", WRITE, str(path), name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for name in "ab"
    ]  # fmt: skip
    assert [process.stdout.readline() for process in both if process.stdout] == ["ready\n"] * 2
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [process.wait(120) for process in both] == [0, 0]
    found = TapeFile(path)
    found.look()
    assert set(found.calls) == {(name, n) for name in "ab" for n in range(300)}
    assert sum("robotlab_nb" in line for line in lines(path)) == 1


def test_what_another_process_records_is_found(path: Path) -> None:
    mine = TapeFile(path)
    mine.add([{"call": "a", "nth": 0}])
    TapeFile(path).add([{"call": "b", "nth": 0}])
    assert mine.found("calls", "b", 0) is not None
    mine.add([{"call": "c", "nth": 0}])
    assert set(TapeFile(path).calls) == set()
    assert TapeFile(path).found("calls", "b", 0) is not None


def leaves(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the values of a JSON value stand, containers included."""
    yield at
    if isinstance(value, (dict, list)):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in pairs:
            yield from leaves(item, (*at, key))


def put(line: Any, at: tuple[Any, ...], value: Any) -> Any:
    """A copy of a line with something else at a place."""
    copied = json.loads(json.dumps(line))
    if not at:
        return value
    here = copied
    for key in at[:-1]:
        here = here[key]
    here[at[-1]] = value
    return copied


@pytest.mark.slow
def test_whatever_somebody_wrote_into_a_tape_is_an_answer_or_an_error_of_ours(path: Path) -> None:
    steps = [Reply.tool_call("weather", {"city": "Paris"}), Reply.text("Sunny.", reasoning="hm")]
    with ModelServer(steps) as server, rl.tape(path, mode="record"):
        bot(server, tools=[weather]).run("Weather?")
    whole = lines(path)
    seen = set()
    for n, line in enumerate(whole[1:], 1):
        for at in leaves(line):
            for odd in (None, -1, 1e300, "x", [], {}, [[]], {"a": 1}):
                made = [*whole[:n], put(line, at, odd), *whole[n + 1 :]]
                path.write_text("".join(f"{json.dumps(each)}\n" for each in made))
                try:
                    with rl.tape(path, mode="strict"):
                        found = bot(server, tools=[weather]).run("Weather?")
                    assert found._repr_html_(), (at, odd)
                    seen.add("played")
                except rl.RobotLabError as error:
                    seen.add(type(error).__name__)
    assert seen >= {"played", "TapeError", "TapeMiss"}


def test_lone_surrogates_survive(path: Path) -> None:
    TapeFile(path).add([{"call": "k", "nth": 0, "text": "a\ud800b\u2028é"}])
    line = TapeFile(path).found("calls", "k", 0)
    assert line is not None
    assert line["text"] == "a\ud800b\u2028é"


@pytest.mark.parametrize("value", [3, "", object()])
def test_what_is_no_tape_is_refused(value: Any) -> None:
    with pytest.raises(rl.ConfigurationError, match="tape="):
        rl.build(model="x", api_base="http://127.0.0.1:1/v1", config={"tape": value}).run("hi")


def test_a_mode_and_a_folder_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(rl.ConfigurationError, match="no mode 'replay'.*'strict'"):
        rl.tape(tmp_path / "a", mode="replay")
    with pytest.raises(rl.ConfigurationError, match="folder is missing"):
        rl.tape(tmp_path / "no" / "a.jsonl")


def test_a_tape_can_be_pickled_with_its_robot(path: Path) -> None:
    tape = pickle.loads(pickle.dumps(rl.tape(path, mode="strict", paced=True)))
    assert (tape.path, tape.mode, tape.paced) == (path, "strict", True)
