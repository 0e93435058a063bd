"""The reducer and the events' JSON."""

from __future__ import annotations

import json

from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.keys import cell_key, digest, request_key, task_fingerprint
from robotlab_nb.core.messages import Message
from robotlab_nb.core.state import RunState
from robotlab_nb.core.usage import Usage

ROOT = Scope("r", "r", None, 0, "robot", ("bot",), "bot")
CHILD = Scope("c", "r", "r", 1, "robot", ("bot", "sub"), "sub")
GRAND = Scope("g", "r", "c", 2, "robot", ("bot", "sub", "subsub"), "subsub")


def events(*made):
    return [Event(t, s, n, n / 10, d) for n, (t, s, d) in enumerate(made)]


def started(**more):
    return {"name": "n", "model": "m", **more}


def call(call_id, **usage):
    return [
        ("model_call.started", {"call_id": call_id, "round": 1, "model": "m"}),
        (
            "model_call.completed",
            {"call_id": call_id, "stop_reason": "stop", "usage": {"calls": 1, **usage}},
        ),
    ]


def test_children_and_grandchildren_are_kept_apart_and_summed():
    made = [("run.started", ROOT, started(started_at="2026-01-01T00:00:00+00:00"))]
    for scope, cost in ((ROOT, 0.5), (CHILD, 0.25), (GRAND, None)):
        if scope is not ROOT:
            made.append(("run.started", scope, started(simulated=scope is GRAND)))
        usage = {
            "input_tokens": 10,
            "output_tokens": 1,
            "cost_usd": cost,
            "cost_complete": cost is not None,
        }
        made += [(t, scope, d) for t, d in call(scope.run_id + ".1", **usage)]
    for scope in (GRAND, CHILD, ROOT):
        made.append(("run.completed", scope, {"stop_reason": "stop"}))
    state = RunState.fold(events(*made))
    assert [s.scope.run_id for s in state.walk()] == ["r", "c", "g"]
    assert list(state.children) == ["c"]
    assert list(state.children["c"].children) == ["g"]
    total = state.total_usage()
    assert (total.input_tokens, total.cost_usd, total.cost_complete, total.calls) == (
        30,
        0.75,
        False,
        3,
    )
    assert state.usage.input_tokens == 10
    assert state.simulated
    assert state.status == "completed"
    assert state.duration_s == 1.1


def test_a_turn_begins_after_system_message_and_history():
    def added(role, text):
        return ("message.added", ROOT, {"message": Message(role, text).to_dict()})

    history = [Message("user", "old").to_dict(), Message("assistant", "past").to_dict()]
    state = RunState.fold(
        events(
            ("run.started", ROOT, started()),
            added("system", "be brief"),
            ("conversation.loaded", ROOT, {"messages": history}),
            added("user", "new"),
        )
    )
    assert [m.text for m in state.messages] == ["be brief", "old", "past", "new"]
    assert [m.text for m in state.turn] == ["new"]
    assert state.text == ""


def test_events_survive_json():
    for event in events(("run.started", ROOT, started()), ("run.completed", CHILD, {})):
        assert Event.from_dict(json.loads(json.dumps(event.to_dict()))) == event


def test_event_types_belong_to_the_declared_families():
    families = {t.partition(".")[0] for t in EVENT_TYPES}
    assert families <= {
        "session", "run", "network", "task", "map", "prompt", "message", "conversation",
        "model_call", "attempt", "cache", "tool_call", "memory", "bus", "guard", "hitl",
        "output", "hook", "loop", "mcp", "experiment", "cell",
    }  # fmt: skip


def test_unknown_event_types_are_passed_over():
    state = RunState.fold(
        events(("run.started", ROOT, started()), ("future.thing", ROOT, {"x": 1}))
    )
    assert state.status == "running"


def test_keys_follow_content_only():
    key = request_key(["a", "b"], "t", {"x": 1, "y": 2}, "m", None)
    assert key == request_key(("a", "b"), "t", {"y": 2, "x": 1}, "m", "")
    for other in (
        request_key(["b", "a"], "t", {"x": 1, "y": 2}, "m", None),
        request_key(["a", "b"], "u", {"x": 1, "y": 2}, "m", None),
        request_key(["a", "b"], "t", {"x": 1, "y": 3}, "m", None),
        request_key(["a", "b"], "t", {"x": 1, "y": 2}, "n", None),
        request_key(["a", "b"], "t", {"x": 1, "y": 2}, "m", "http://h"),
        request_key(["ab"], "t", {"x": 1, "y": 2}, "m", None),
    ):
        assert other != key
    assert len({cell_key("a"), cell_key("a", 1), cell_key("a", 0, 1), cell_key("b")}) == 4
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_a_fingerprint_says_which_part_changed():
    def one():
        return 1

    def two():
        return 2

    same = task_fingerprint({"model": "m", "prompt": "p"}, [one])
    assert same == task_fingerprint({"prompt": "p", "model": "m"}, [one])
    other = task_fingerprint({"model": "m", "prompt": "q"}, [two])
    assert [part for part in same if same[part] != other[part]] == ["prompt", "source"]
    assert set(task_fingerprint({}, [len])) == set()


def test_a_fingerprint_reads_the_functions_in_partials_methods_and_objects():
    import functools

    class Adder:
        def __call__(self, message):
            return message

        def add(self, message):
            return message * 2

    whole = [task_fingerprint({}, [f]) for f in (functools.partial(Adder.add), Adder().add)]
    assert whole[0] == whole[1] != task_fingerprint({}, [Adder()])


def test_usage_never_turns_unknown_into_zero():
    assert Usage() + Usage() == Usage()
    assert Usage().total_tokens is None
    assert (Usage(1, None) + Usage(None, 2)).total_tokens == 3
    assert Usage.from_dict(Usage(1, 2, cost_usd=0.5).to_dict()) == Usage(1, 2, cost_usd=0.5)
