"""Writing a memory down, reading it back, copying and merging."""

from __future__ import annotations

import json
import threading
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=5,
)
names = st.text(min_size=1, max_size=8).filter(
    lambda n: n not in ("data", "results", "messages", "session_id", "cache")
)


@given(st.dictionaries(names, plain, max_size=4), st.dictionaries(names, plain, max_size=4))
def test_a_memory_read_back_from_json_is_the_same(keys, data):
    memory = rl.create_memory(data, name="m", session_id="s")
    memory.network_name = "net"
    for key, value in keys.items():
        memory.set(key, value, labels=["private"])
    memory.append_result({"robot_name": "b"})
    memory.append_message("hello")
    read = rl.Memory.from_dict(json.loads(json.dumps(memory.to_dict())))
    assert read.to_dict() == memory.to_dict()
    assert {key: read[key] for key in read} == keys
    assert (dict(read.data), read.labels(next(iter(keys), "x"))) == (
        data, frozenset({"private"} if keys else ()),
    )  # fmt: skip


def test_the_schema_is_the_same_for_an_empty_memory():
    assert rl.create_memory().to_dict() == {
        "schema_version": 1, "name": None, "network": None, "session_id": None, "backend": None,
        "data": {}, "results": [], "messages": [], "custom": {}, "labels": {}, "left_out": [],
    }  # fmt: skip


def test_live_values_are_left_out_and_both_sides_say_so():
    memory = rl.create_memory()
    memory["lock"], memory["n"] = threading.Lock(), 1
    memory.data.deep = {"a": [object()]}
    memory.append_result(object())
    told = memory.to_dict()
    assert [(left["key"], left["type"].partition(".")[2]) for left in told["left_out"]] == [
        ("custom.lock", "lock"), ("data.deep", "dict"), ("results[0]", "object"),
    ]  # fmt: skip
    with pytest.warns(RuntimeWarning, match=r"custom.lock, data.deep, results\[0\] lived in the"):
        read = rl.Memory.from_dict(told)
    assert read.left_out == ("custom.lock", "data.deep", "results[0]")
    assert (read.keys(), read.results) == (["n"], [])


def test_results_of_runs_are_written_down_as_their_exports():
    memory = rl.create_memory()
    result = rl.build("poet", model=rl.SimulatedModel(["roses"])).run("a poem")
    memory.append_result(result)
    assert memory.results == [result]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read = rl.Memory.from_dict(json.loads(json.dumps(memory.to_dict())))
    assert rl.RobotResult.from_dict(read.results[0]).text == "roses"
    assert read.format_history() == memory.format_history() == "poet: roses"


@pytest.mark.parametrize("wrong", [{"schema_version": 99}, [], "x", None])
def test_what_is_no_memory_or_too_new_is_refused(wrong):
    with pytest.raises(rl.InputError, match="schema_version"):
        rl.Memory.from_dict(wrong)


def test_a_clone_changes_by_itself_and_tells_nobody():
    memory, lock = rl.create_memory(session_id="s"), threading.Lock()
    memory.set("a", [[1]], labels=["private"])
    memory["a"] = memory.get("a")
    memory["live"] = {"lock": lock, "list": [1]}
    memory.data.x = {"y": 1}
    memory.append_result("r")
    memory.subscribe("a", callback=lambda change: pytest.fail("told"))
    copy = memory.clone()
    assert (copy.version("a"), copy.session_id, copy.results) == (2, "s", ["r"])
    copy["a"][0].append(2)
    copy["a"] = [3]
    copy.data.x["y"] = 2
    copy["live"]["list"].append(2)
    assert (memory["a"], memory.data.x, memory["live"]["list"]) == ([[1]], {"y": 1}, [1])
    assert copy["live"]["lock"] is lock
    assert not copy.subscribed("a")


def test_merging_takes_over_everything_the_others_values_win():
    memory, other = rl.create_memory({"x": 1}), rl.create_memory({"x": 2, "y": 3})
    memory["a"], memory["b"] = 1, 1
    other.set("b", 2, labels=["private"])
    other.append_result("r")
    other.append_message("m")
    assert memory.merge(other) is memory
    assert memory.get("a", "b") == {"a": 1, "b": 2}
    assert memory.labels("b") == {"private"}
    assert (dict(memory.data), memory.results, memory.messages) == ({"x": 2, "y": 3}, ["r"], ["m"])
    with pytest.raises(rl.InputError, match="merge"):
        memory.merge([1])
