"""What never reaches the log: registered keys, and texts where the person wants none kept."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.frames.tables import Frames
from robotlab_nb.runlog.omitting import MARK, without_texts
from robotlab_nb.runlog.opening import recorder_at
from robotlab_nb.runlog.targets import target_of
from robotlab_nb.runtime import recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CANARY = "sk-canary-4f9a1c77e2d84b0d"
SAID = "the-lighthouse-is-at-54-degrees"


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A log in force, in a folder of its own."""
    folder = tmp_path / "folder"
    folder.mkdir()
    where = folder / "log.sqlite"
    with rl.options(log=where):
        yield folder
    recording.look()
    found = recorder_at(target_of(where))
    if found is not None:
        found.close()


def everything(folder: Path) -> bytes:
    """All bytes of the log's files, the write-ahead log included."""
    rl.log.flush(30)
    files = sorted(folder.iterdir())
    assert [f.name for f in files][:1] == ["log.sqlite"]
    assert "log.sqlite-wal" in [f.name for f in files]
    return b"".join(file.read_bytes() for file in files)


def busy(text: str) -> list[Any]:
    """Runs in which a text comes up everywhere: asked, answered, called, failed, shared."""

    def look(where: str) -> dict[str, str]:
        "Look."
        return {"found": text}

    def fail(where: str) -> str:
        "Fail."
        raise ValueError(f"cannot: {text}")

    steps = [("look", {"where": text}), ("fail", {"where": text}), f"it is {text}"]
    bot = rl.build(
        "bot", system_prompt=f"Know {text}.", model=rl.SimulatedModel(steps), tools=[look, fail]
    )
    net = rl.create_network("net")
    net.task("bot", bot)
    net.task("plain", lambda message: {"value": text, "n": 42}, depends_on=["bot"])
    result = net.run(f"where is {text}?", context={"key": text})
    memory = rl.create_memory()
    memory["note"] = text
    failing = rl.build("failing", model=rl.SimulatedModel([RuntimeError(f"no {text}")]))
    with pytest.raises(rl.RobotLabError) as caught:
        failing.run(text)
    return [result, caught.value.run]


def test_canary_everywhere_in_the_log(place: Path) -> None:
    rl.register_secret(CANARY, "CANARY")
    busy(CANARY)
    words = rl.SimulatedModel([f"it is {CANARY} " * 20], pace=0.001)
    for _ in rl.build("slow", model=words).stream(CANARY):
        pass
    found = everything(place)
    assert CANARY.encode() not in found
    assert CANARY[:12].encode() not in found
    assert b"[redacted: CANARY]" in found


def test_a_key_that_is_not_registered_is_found_so_the_search_works(place: Path) -> None:
    busy(CANARY)
    assert CANARY.encode() in everything(place)


def test_the_password_of_a_database_is_shown_nowhere() -> None:
    url = "postgresql://ann:hunter2-hunter2@127.0.0.1:9/runs"
    with rl.options(log=url):
        told = [repr(rl.options), repr(rl.log), str(rl.log.place)]
        told.append(json.dumps(rl.build("b").effective_config.told()))
        told.append(str(rl.options._repr_mimebundle_()))
    assert any("ann:***@127.0.0.1" in text for text in told)
    assert not any("hunter2" in text for text in told)


def test_without_content_nothing_that_was_said_is_kept_and_the_tables_are(place: Path) -> None:
    with rl.options(log_content=False):
        results = busy(SAID)
        found = everything(place)
        assert SAID.encode() not in found
        assert b"degrees" not in found
        assert MARK.encode() in found
        run = rl.log[results[0].run_id]
        assert run.state.info["content_omitted"] is True
        frames = run.frames
        whole = results[0].frames
        for table in ("runs", "tasks", "model_calls", "tool_calls"):
            kept, full = frames[table], whole[table]
            assert list(kept.columns) == list(full.columns)
            assert len(kept) == len(full)
        for name in ("status", "input_tokens", "cost_usd", "tool_calls", "duration_s"):
            assert frames.runs[name].tolist() == whole.runs[name].tolist()
        assert frames.tool_calls["tool"].tolist() == ["look", "fail"]
        assert frames.tool_calls["status"].tolist() == ["completed", "failed"]
        failed = rl.log[results[1].id]
        assert failed.state.error is not None
        assert failed.state.error["type"]
        assert run._repr_mimebundle_()
        assert rl.log.replay(run.id).steps


def test_switching_content_off_holds_at_once_and_on_for_new_runs_only(place: Path) -> None:
    gate = threading.Event()

    def wait() -> str:
        "Wait."
        gate.wait(20)
        return "waited"

    model = rl.SimulatedModel([("wait", {}), SAID])
    with rl.options(log_content=False):
        run = rl.build("first", model=model, tools=[wait]).start("x")
        rl.log.flush()
    gate.set()
    run.result()
    kept = rl.build("second", model=rl.SimulatedModel(["kept words"])).run("y")
    found = everything(place)
    assert SAID.encode() not in found
    assert rl.log[kept.run_id].text == "kept words"


def _structured() -> Any:
    steps = [f'{{"n": "{SAID}"}}', '{"n": 3}']
    bot = rl.build("s", model=rl.SimulatedModel(steps), output=dict[str, int])
    return bot.run(SAID)


def _asking() -> Any:
    steps = [("ask_user", {"question": SAID, "choices": [SAID, "b"]}), SAID]
    bot = rl.build("a", model=rl.SimulatedModel(steps), tools=[rl.ask_user])
    return bot.run(SAID, config={"answers": {SAID: SAID}})


def _mapped() -> Any:
    net = rl.create_network("m")
    net.task("items", lambda: [SAID, SAID])
    net.task("each", lambda item: {"said": item}, map_over="items", depends_on=["items"])
    net.task("again", lambda: rl.FlowResult(SAID).halt(SAID), depends_on=["each"])
    return net.run(SAID)


def _sharing() -> Any:
    memory = rl.create_memory()

    def write() -> str:
        memory["key"] = SAID
        return memory.get("key")

    net = rl.create_network("w", memory=memory)
    net.task("write", write)
    net.task("fails", lambda: 1 / 0, on_failure="continue")
    return net.run(SAID)


def _restored() -> Any:
    net = rl.create_network("r")
    net.task("one", rl.build("one", model=rl.SimulatedModel([SAID])))
    net.task("two", lambda upstream: str(upstream), depends_on=["one"])
    return net.resume(net.run(SAID).events)


def _going_on() -> Any:
    bot = rl.build("g", system_prompt=SAID, model=rl.SimulatedModel([SAID, SAID]))
    bot.run(SAID)
    picture = rl.MediaPart.of(b"\x89PNG" + SAID.encode(), "image/png", f"{SAID}.png")
    return bot.run(SAID, attachments=[picture])


@pytest.mark.parametrize("start", [_structured, _asking, _mapped, _sharing, _restored, _going_on])
def test_every_kind_of_event_folds_without_its_texts(start: Any) -> None:
    run = start()
    kept = [without_texts(event) for event in run.events]
    text = json.dumps([event.to_dict() for event in kept])
    assert SAID in json.dumps([event.to_dict() for event in run.events])
    assert SAID not in text
    state = RunState.fold(kept)
    assert state.status == run.state.status
    assert [s.status for s in state.walk()] == [s.status for s in run.state.walk()]
    made = Frames(state, kept)
    for name in made.names:
        assert len(made[name]) == len(run.frames[name]), name
