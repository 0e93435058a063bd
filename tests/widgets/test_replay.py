"""Replay: the steps of a run, its state at each, what the front end gets, what stands still."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.event_sources import events_of
from robotlab_nb.core.state import RunState
from robotlab_nb.testing import ModelServer, Reply
from robotlab_nb.tools.user_question import ask_user
from robotlab_nb.widgets.assets import script
from robotlab_nb.widgets.replay_data import MOST, data_of
from robotlab_nb.widgets.replay_steps import MOST_STEPS
from robotlab_nb.widgets.replaying import Replay, replay

CORPUS = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("utf-8"))
HOSTILE = [text for group in CORPUS.values() for text in group]


def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"18 °C in {city}"


def guide(*steps: Any, **more: Any) -> rl.Robot[Any]:
    script = steps or (("get_weather", {"city": "Rome"}), "It is warm.")
    return rl.build("guide", model=rl.SimulatedModel(list(script)), tools=[get_weather], **more)


def told(found: Replay) -> list[str]:
    return [f"{step.icon} {step.who} {step.words}".replace("\u00a0", " ") for step in found.steps]


def records_at(data: dict[str, Any], place: int) -> dict[str, dict[str, Any]]:
    """The records of the view at a step, as the front end folds them."""
    found: dict[str, dict[str, Any]] = {}
    for step in data["steps"][: place + 1]:
        for key, change in step["ops"]:
            if change is None:
                del found[key]
            elif isinstance(change, str):
                found[key] = {**found[key], "text": found[key]["text"] + change}
            else:
                found[key] = {**found.get(key, {}), **change}
    return found


def json_of(data: dict[str, Any], call: int, side: str) -> Any:
    """What the front end shows as JSON, read again."""
    return json.loads("".join(data["texts"][place] for place in data["calls"][call][side]))


# -- steps ---------------------------------------------------------------------------------------


def test_the_steps_of_a_robot_with_a_tool() -> None:
    found = guide(system_prompt="Be brief.").run("Rome?").replay()
    lines = [re.sub(r" · (?:under )?[\d.]+ m?s$", "", line) for line in told(found)]
    assert lines == [
        "○ guide begins with “Rome?”",
        "→ guide asks simulated/script · 2 messages · 1 tool",
        '← guide wants get_weather(city="Rome")',
        'ƒ guide calls get_weather(city="Rome")',
        "✓ guide get_weather gives 18 °C in Rome",
        "→ guide asks simulated/script · 4 messages · 1 tool",
        "← guide answers “It is warm.”",
        "✓ guide ends: completed",
    ]
    assert [step.number for step in found.steps] == list(range(len(found)))
    assert [step.exchange.number if step.exchange else None for step in found.steps] == [
        None, 1, 1, None, None, 2, 2, None,
    ]  # fmt: skip


def test_every_event_is_in_one_step_and_the_last_state_is_the_runs() -> None:
    result = guide().run("Rome?")
    found = result.replay()
    places = [place for step in found.steps for place in step.events]
    assert places == list(range(len(result.events)))
    assert found[-1] == found.state == result.state
    for number, step in enumerate(found.steps):
        assert found[number] == RunState.fold(result.events[: step.events.stop])
    assert [state.status for state in found] == ["running"] * 7 + ["completed"]


def test_steps_are_found_by_place() -> None:
    found = guide().run("Rome?").replay()
    assert found.step(-1) is found.steps[-1]
    assert found[0].text == ""
    with pytest.raises(IndexError, match="step 8 of a replay of 8 steps"):
        found.step(8)
    with pytest.raises(IndexError):
        found[99]
    with pytest.raises(rl.InputError, match="counted by int"):
        found.step("ask")  # type: ignore[arg-type]


def test_a_network_tells_tasks_robots_and_what_was_skipped() -> None:
    net = rl.create_network("desk")
    sort = rl.build("sorter", model=rl.SimulatedModel(["billing"]))
    net.task("sort", sort, route=lambda r: r.text)
    for name in ("billing", "general"):
        writer = rl.build(name, model=rl.SimulatedModel([f"{name} says"]))
        net.task(name, writer, optional=True, depends_on=["sort"])
    found = net.run("charged twice").replay()
    lines = told(found)
    assert lines[0] == "○ desk begins with “charged twice” · 3 tasks"
    assert any(line.startswith("◐ desk task sort begins") for line in lines)
    assert "← sorter answers “billing”" in lines
    assert not any("sorter begins" in line for line in lines)
    assert any(line.startswith("↷ desk task general skipped") for line in lines)
    answer = next(step for step in found.steps if step.who == "billing" and step.kind == "answer")
    assert answer.where == "billing"
    assert found[-1].tasks["general"].status == "skipped"


def test_networks_inside_networks_say_where_they_are() -> None:
    inner = rl.create_network("inner")
    inner.task("say", rl.build("poet", model=rl.SimulatedModel(["roses"])))
    outer = rl.create_network("outer")
    outer.task("part", inner)
    found = outer.run("x").replay()
    step = next(step for step in found.steps if step.kind == "answer")
    assert step.where == "part › say"
    assert found.exchanges[0].response["text"] == "roses"


def test_runs_that_failed_were_stopped_or_wait() -> None:
    with ModelServer([Reply.error(503), Reply.error(400, "no")]) as server:
        config = {"attempts": 2, "retry_interval": 0.01}
        failed = rl.build("a", model=server.model(), config=config).start("Hi")
        with pytest.raises(rl.ModelError):
            failed.result()
    lines = told(failed.replay())
    assert lines[2].startswith("✕ a attempt 1 failed, again in")
    assert lines[3].startswith("✕ a gets no answer: ModelError:")
    assert lines[-1].startswith("✕ a ends: failed · ModelError")

    with ModelServer([Reply.text("late").after(5)]) as server:
        slow = rl.build("slow", model=server.model()).start("go")
        assert server.wait_for_requests()
        slow.stop()
    assert told(slow.replay())[-2:] == [
        "✕ slow gets no answer: RunInterrupted: the run was stopped", "■ slow ends: interrupted",
    ]  # fmt: skip

    asks = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ordered"]
    run = rl.build("shop", model=rl.SimulatedModel(asks), tools=[ask_user]).start("shoes")
    assert run.result().status == "waiting"
    before = run.replay()
    assert told(before)[-2] == "? shop asks: Which size? (S / L)"
    assert told(before)[-1] == "? shop waits for a person"
    run.answer("L").result()
    assert len(before) < len(run.replay())
    assert any(line.startswith("✓ shop answered by") for line in told(run.replay()))


def test_a_run_that_goes_on_from_another_says_so() -> None:
    net = rl.create_network("two")
    flags: list[int] = []
    net.task("one", lambda message: message.upper())
    net.task("two", lambda upstream: upstream["one"].value + "!" * flags[0], depends_on=["one"])
    failed = net.run("hi")
    flags.append(1)
    found = net.resume(failed).replay()
    assert told(found)[0].startswith(f"○ two goes on from run {failed.run_id}")
    assert any(step.icon == "↺" for step in found.steps)


def test_a_replay_of_a_file_is_that_of_its_run(tmp_path: Path) -> None:
    result = guide().run("Rome?")
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(e.to_dict()) + "\n" for e in result.events), "utf-8")
    found = replay(path)
    assert told(found) == told(result.replay())
    assert found[-1] == result.state
    assert [e.request for e in found.exchanges] == [e.request for e in result.replay().exchanges]
    path.write_text('{"type": ', "utf-8")
    with pytest.raises(rl.InputError, match="there are no events"):
        replay(path)
    with pytest.raises(rl.InputError, match="has no events"):
        replay(42)


def test_a_part_of_a_run_can_be_replayed_alone() -> None:
    net = rl.create_network("n")
    net.task("a", rl.build("poet", model=rl.SimulatedModel(["roses"])))
    result = net.run("x")
    found = result["a"].replay()
    assert told(found)[0].startswith("○ poet begins with")
    assert found.steps[0].at == 0.0
    assert len(found.exchanges) == 1


# -- what the front end gets -----------------------------------------------------------------------


def test_the_front_end_has_the_view_of_every_step() -> None:
    result = guide(system_prompt="Be brief.").run("Rome?")
    data = data_of(result.replay())
    kinds = [record.get("kind") for record in records_at(data, 3).values() if "in" in record]
    assert kinds == ["text", "tool"]
    (tool,) = (r for r in records_at(data, 3).values() if r.get("kind") == "tool")
    assert (tool["word"], tool["out"]) == ("running", "")
    (tool,) = (r for r in records_at(data, 4).values() if r.get("kind") == "tool")
    assert tool["out"] == "18 °C in Rome"
    assert data["every"] == 1
    last = records_at(data, len(data["steps"]) - 1)
    assert last["run"]["word"] == "completed"
    assert "It is warm." in [record.get("text") for record in last.values()]


def test_the_front_ends_json_is_the_exchanges_own() -> None:
    found = guide(system_prompt="Be ‘brief’ \u202e.").run("Rome?").replay()
    data = data_of(found)
    for number, exchange in enumerate(found.exchanges):
        assert json_of(data, number, "request") == exchange.request
        assert json_of(data, number, "response") == json.loads(json.dumps(exchange.response))


def test_an_answer_is_written_from_its_first_piece_on() -> None:
    with ModelServer([Reply.text(["one ", "two"]).after(0.05).paced(0.05)]) as server:
        events = [
            item
            for item in rl.build("a", model=server.model()).stream("Hi")
            if isinstance(item, rl.Event)
        ]
    found = replay(events)
    step = next(s for s in data_of(found)["steps"] if s["kind"] == "answer")
    call = found.exchanges[0].call
    assert found.steps[step["asked"]].kind == "ask"
    assert step["first"] == pytest.approx(
        (call.first_token_s or 0) / (call.duration_s or 1), abs=0.01
    )
    assert 0 < step["first"] < 1
    whole = data_of(guide("at once").run("Hi").replay())["steps"][2]
    assert "first" not in whole


@pytest.mark.slow
def test_a_thousand_items_are_told_in_bounds() -> None:
    echo = rl.build("echo", model=rl.SimulatedModel(lambda request: request.messages[-1].text))
    net = rl.create_network("big")
    net.task("m", echo, map_over=[f"item {n}" for n in range(1000)])
    found = net.run("x").replay()
    assert len(found.exchanges) == 1000
    assert len(found) <= MOST_STEPS
    places = [place for step in found.steps for place in step.events]
    assert places == list(range(len(found.events)))
    assert any(step.kind == "bunch" for step in found.steps)
    assert found[-1] == found.state
    data = data_of(found)
    assert len(json.dumps(data)) < MOST * 1.05
    assert data["every"] > 1
    assert all(step["ops"] == [] for step in data["steps"][1 : data["every"]])
    last = records_at(data, len(found) - 1)
    assert "1,000" in last["run"]["figures"]
    assert len(found._repr_html_()) < 500_000


def test_too_much_for_a_page_is_left_out_and_says_so() -> None:
    words = ["word " * 8_000 + str(n) for n in range(40)]
    script = [*(("get_weather", {"city": word}) for word in words), "done"]
    found = guide(*script, config={"max_tool_rounds": 50}).run("go").replay()
    data = data_of(found)
    assert len(json.dumps(data)) < MOST * 1.1
    assert len(data["calls"]) == 41
    assert None in data["calls"]
    assert data["calls"][0] is not None


def test_a_picture_in_a_request_does_not_travel_to_the_page() -> None:
    part = rl.MediaPart.of(b"\x89PNG\r\n\x1a\n" + b"\0" * 60_000, "image/png", "dot.png")
    result = rl.build("a", model=rl.SimulatedModel(["a dot"])).run("What?", attachments=[part])
    data = data_of(result.replay())
    assert len(json.dumps(data)) < 20_000
    assert "more characters in exchange.request" in json.dumps(data, ensure_ascii=False).replace(
        "\u00a0", " "
    )


def test_the_modules_of_the_front_end_share_one_scope_without_a_clash() -> None:
    source = script("replay.js")
    names: list[str] = []
    depth = 0
    for line in source.split("\n"):
        if depth == 0:
            names += re.findall(r"^(?:const|class|function|let) (\w+)", line)
        bare = re.sub(r'"[^"]*"|`[^`]*`|//.*', "", line)
        depth += bare.count("{") - bare.count("}")
    assert depth == 0
    assert {"Player", "Times", "Calls", "View"} <= set(names)
    assert len(names) == len(set(names)) > 30
    assert source.count("export default") == 1


# -- what stands still -----------------------------------------------------------------------------


def test_the_picture_is_a_numbered_list_that_opens_to_what_was_sent() -> None:
    found = guide(system_prompt="Be brief.").run("Rome?").replay()
    drawn, words = found._repr_html_() or "", repr(found)
    for line in ("1.", "begins with “Rome?”", "asks simulated/script", "ends: completed"):
        assert line in drawn
        assert line in words
    assert "Be brief." in drawn
    assert "&quot;messages&quot;" in drawn
    assert "8 steps · 2 model calls" in words
    assert len(words.splitlines()) <= 40
    assert "rlnb-at-" not in found._repr_mimebundle_()["text/html"]


def test_a_replay_of_a_run_that_goes_on_says_how_far_it_is() -> None:
    with ModelServer([Reply.text("late").after(5)]) as server:
        run = rl.build("slow", model=server.model()).start("go")
        assert server.wait_for_requests()
        found = run.replay()
        run.stop()
    assert "as far as the run was" in repr(found)
    assert found.state.status == "running"


def test_hostile_texts_are_inert_in_every_form() -> None:
    known = {"div", "span", "p", "b", "strong", "blockquote", "details", "summary", "pre", "code",
             "style", "br", "a", "em", "img"}  # fmt: skip
    for text in HOSTILE[::5]:
        steps = [("get_weather", {"city": text}), f"- {text}"]
        found = guide(*steps, system_prompt=f"- {text}").run(f"about {text}").replay()
        drawn = found._repr_html_() or ""
        assert set(re.findall(r"<([a-zA-Z][\w-]*)", drawn)) <= known, text
        assert not re.search(r"<[^>]+ on\w+=|<img(?! class=\"rlnb)", drawn), text
        assert not re.search("[\x00-\x08\x1b\u202e]", drawn + repr(found)), text
        json.dumps(data_of(found))


def test_registered_secrets_are_masked_in_every_form() -> None:
    key = "sk-canary-1234567890abcdef"
    rl.register_secret(key)
    found = guide(("get_weather", {"city": key}), f"the key is {key}").run(f"use {key}").replay()
    everything = json.dumps(data_of(found)) + str(found._repr_html_()) + repr(found)
    everything += json.dumps([e.request for e in found.exchanges])
    assert key not in everything


def test_events_of_two_runs_are_refused() -> None:
    events = guide().run("a").events + guide().run("b").events
    with pytest.raises(rl.InputError, match="2 runs"):
        replay(events)
    assert events_of(events[:3])


@pytest.mark.kernel
def test_a_headless_reader_gets_the_list_alone() -> None:
    import nbformat
    from nbclient import NotebookClient

    code = (
        "import robotlab_nb as rl\nrl.options.log = None\n"
        "rl.build('poet', model=rl.SimulatedModel(['roses'])).run('a poem').replay()"
    )
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    resources = {"metadata": {"path": str(Path(rl.__file__).parents[1])}}
    NotebookClient(book, timeout=60, kernel_name="python3", resources=resources).execute()
    (output,) = book.cells[0].outputs
    assert set(output["data"]) == {"text/html", "text/plain"}
    assert "rlnb-at-" not in output["data"]["text/html"]
    assert "widgets" not in book.metadata
