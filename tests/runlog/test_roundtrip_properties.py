"""What was received is what is stored, whatever it is."""

from __future__ import annotations

import json
import math
import sys
from fnmatch import fnmatchcase
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.state import RunState
from robotlab_nb.runlog.checking import expected
from robotlab_nb.runlog.event_text import Unreadable, clean, original, read, written
from robotlab_nb.runlog.indexing import Index
from robotlab_nb.runlog.patterns import glob, like
from robotlab_nb.runlog.store import Batch, Store, Where
from tests.runlog.samples import nameless, robot_run

TEXTS = st.one_of(
    st.text(st.characters(codec=None, categories=None), max_size=20),  # lone surrogates too
    st.lists(
        st.sampled_from(
            ["\ud83d", "\ude00", "😀", "\0", "\\", "\\ud83d", "\\uD83D\\uDE00", '"', "\n", "a",
             "\u2028", "\x7f", "\u202e", "\U000e0041", "%", "'"]
        ), max_size=8,
    ).map("".join),
)  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(2**66), max_value=2**66),
    st.sampled_from([4_299, 4_300, 5_000, 5_001]).map(lambda digits: 7 - 10**digits),
    st.floats(),
    TEXTS,
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4)
)
DATA = st.dictionaries(TEXTS, VALUES, max_size=4)
NUMBERS = count()


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the very same: types, signs of zero, and NaN too."""
    left = [(one, other)]
    while left:
        a, b = left.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, float):
            if math.isnan(a) != math.isnan(b) or (not math.isnan(a) and repr(a) != repr(b)):
                return False
        elif isinstance(a, list):
            if len(a) != len(b):
                return False
            left += zip(a, b, strict=True)
        elif isinstance(a, dict):
            if list(a) != list(b):
                return False
            left += [(a[key], b[key]) for key in a]
        elif a != b:
            return False
    return True


@given(VALUES)
@example({"a": "\ud83d\ude00", "b": "😀"})
@example("\\\ud83d\ude00\\")
@example("\\uD83D\\uDE00\ud83d\ude00")
@settings(max_examples=300)
def test_a_value_is_the_same_after_its_way_through_text(value: Any) -> None:
    text = written(value)
    assert text.isascii()
    assert "\0" not in text
    assert same(read(text), value)


@given(VALUES)
def test_the_text_is_json_for_everybody(value: Any) -> None:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        json.loads(written(value))
    finally:
        sys.set_int_max_str_digits(limit)


@given(st.text(max_size=40) | st.text('[]{}",:0123456789.eE+-truefalsnuNIity\\ \t\n', max_size=30))
def test_the_exact_reader_reads_what_the_fast_one_does(text: str) -> None:
    try:
        want = json.loads(text)
    except ValueError:
        with pytest.raises(Unreadable):
            read(text)
        with pytest.raises(Unreadable):
            read(f" {text}")
    else:
        assert same(read(text), want)
        if "\\ud" not in text.lower():
            assert same(read(f" {text}"), want)


def test_nesting_without_end() -> None:
    deep: Any = "bottom"
    for level in range(50_000):
        deep = [deep] if level % 2 else {"k": deep}
    made = read(written(deep))
    for level in reversed(range(50_000)):
        made = made[0] if level % 2 else made["k"]
    assert made == "bottom"
    itself: list[Any] = [1]
    itself.append(itself)
    assert read(written(itself)) == [1, "<itself>"]


def test_what_is_no_json_is_named_and_not_revived() -> None:
    class Strange:
        pass

    made = read(written({"a": Strange(), "b": {1, 2}, "c": (1,), 4: b"x", None: 1}))
    assert made["a"].endswith("Strange>")
    assert (made["b"], made["c"], made["4"], made["null"]) == ([1, 2], [1], "<builtins.bytes>", 1)
    assert read(written({("a", 1): 10**5_000, "b": Strange()}))["b"].endswith("Strange>")


@given(TEXTS)
def test_a_cleaned_text_is_taken_by_every_database_and_comes_back(text: str) -> None:
    assert original(clean(text)) == text
    assert "\0" not in clean(text)
    clean(text).encode("utf-8")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=DATA, type_=TEXTS, name=TEXTS, path=st.lists(TEXTS, max_size=3))
def test_roundtrip_properties(
    store: Store, data: dict[str, Any], type_: str, name: str, path: list[str]
) -> None:
    root = f"{next(NUMBERS)}"
    scope = Scope(f"{root}{name}", root, name, 3, "robot", tuple(path), name)
    told = Event(type_, scope, 0, 0.1, data)
    begun = nameless(0, {**data, "name": name, "input": name, "model": name}, root_id=f"s{root}",
                     type_="run.started")  # fmt: skip
    store.write(Batch([told, begun]))
    (read_back,) = store.events([root])
    assert (read_back.type, read_back.scope, read_back.elapsed) == (type_, scope, 0.1)
    assert same(read_back.data, data)
    row = next(iter(store.select(Where(root_id=f"s{root}"))))
    assert (row.name, row.model, row.input) == (name, name, name)
    assert next(iter(store.select(Where(root_id=root)))).run_id == f"{root}{name}"


def test_a_value_of_ten_megabytes_and_deep_ones_and_huge_numbers(store: Store) -> None:
    deep: Any = 1
    for _ in range(20_000):
        deep = [deep]
    values = [{"text": "é\0x" * 3_400_000}, {"n": 10**5_000}, {"deep": deep}, {"ok": True}]
    store.write(Batch([nameless(n, value) for n, value in enumerate(values)]))
    read_back = [event.data for event in store.events()]
    assert all(same(a, b) for a, b in zip(read_back, values, strict=True))


# -- the index is what the reducer says ------------------------------------------------------

STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["run.started", "run.waiting", "run.resumed", "call", "cut", "tool", "child",
             "child", "child", "call",
             "run.completed", "run.failed", "run.interrupted", "run.abandoned"]
        ),
        st.integers(0, 5),
        st.one_of(st.none(), st.booleans(), st.integers(0, 2**70), st.floats(), TEXTS),
    ),
    max_size=25,
)  # fmt: skip


def history(steps: list[tuple[str, int, Any]]) -> list[Event]:
    """Some events of a root and of runs inside it, in whatever order."""
    events = robot_run("r", end=None, calls=0)
    scopes = [events[0].scope]

    def tell(scope: Scope, type_: str, data: dict[str, Any]) -> None:
        events.append(Event(type_, scope, len(events), len(events) / 8, data))

    for number, (step, which, value) in enumerate(steps):
        scope = scopes[which % len(scopes)]
        call = {"call_id": f"c{number}", "round": 1, "model": "m", "simulated": which == 1}
        if step == "child":
            kind = "network" if which % 2 else "robot"
            scope = Scope(f"r{number}", "r", scope.run_id, scope.depth + 1, kind,
                          (*scope.path, f"t{number}"), "x")  # fmt: skip
            scopes.append(scope)
            tell(scope, "run.started", {"name": f"n{number}", "model": value})
        elif step in ("call", "cut"):
            tell(scope, "model_call.started", call)
            priced = which != 3
            used = {"input_tokens": which, "output_tokens": number, "calls": 1,
                    "cost_usd": which / 7 if priced else None, "cost_complete": priced}  # fmt: skip
            end = "completed" if step == "call" else "failed"
            told = {"call_id": f"c{number}", "usage": used, "stop_reason": "stop", "error": {}}
            tell(scope, f"model_call.{end}", told)
        elif step == "tool":
            tell(scope, "tool_call.started", {"tool_call_id": f"t{number}", "tool": "add"})
        else:
            told = {"stop_reason": "stop", "error": {"type": "E"}, "reason": "x"}
            tell(scope, step, {"name": "again"} if step == "run.started" else told)
    return events


@settings(max_examples=300)
@given(STEPS)
def test_the_index_says_what_the_reducer_does(steps: list[tuple[str, int, Any]]) -> None:
    steps = [step for step in steps if step[0] != "run.started"]
    events = history(steps)
    index = Index.of(events)
    assert index is not None
    rows = {row.run_id: row for row in index.rows}
    state = RunState.fold(events)
    assert rows.keys() == {run.scope.run_id for run in state.walk()}
    for run in state.walk():
        row = rows[run.scope.run_id]
        told = {name: getattr(row, name) for name in expected(run)}
        assert told == expected(run)
    assert (index.root.status, index.root.ended_at) == (rows["r"].status, rows["r"].ended_at)


@given(
    st.sampled_from(["run.started", "run.failed", "model_call.completed", "model_call.failed",
                     "tool_call.started", "run.abandoned"]),
    st.dictionaries(
        st.sampled_from(["name", "model", "input", "tags", "started_at", "schema_version", "error",
                         "usage", "call_id", "simulated", "session_id", "stop_reason"]),
        VALUES | st.dictionaries(
            st.sampled_from(["type", "input_tokens", "cost_usd", "cost_complete"]), VALUES
        ),
    ),
)  # fmt: skip
def test_no_event_breaks_the_index(type_: str, data: dict[str, Any]) -> None:
    known = {"usage": {"input_tokens": 1, "cost_usd": 1e308, "output_tokens": 2**63 - 1}}
    index = Index.of(
        [nameless(n, each, type_=type_) for n, each in enumerate([known, data, known, data])]
    )
    assert index is not None
    for row in index.rows:
        assert all(
            value is None or type(value) in (str, int, float, bool, tuple)
            for value in (getattr(row, name) for name in row.__dataclass_fields__)
        )


NAMES = st.text("ab*?[]%_!\\^-", max_size=6)


@given(NAMES, NAMES)
def test_patterns_mean_on_both_databases_what_they_do_elsewhere(name: str, pattern: str) -> None:
    import re
    import sqlite3

    # `[x]` with one sign in it is that sign; other brackets are themselves.
    plain = re.sub(r"\[([*?\[\]])\]|(\[)", lambda m: f"[{m[1]}]" if m[1] else "[[]", pattern)
    want = fnmatchcase(name, plain)
    with sqlite3.connect(":memory:") as database:
        assert database.execute("SELECT ? GLOB ?", (name, glob(pattern))).fetchone() == (want,)
        database.execute("PRAGMA case_sensitive_like = ON")
        found = database.execute("SELECT ? LIKE ? ESCAPE '!'", (name, like(pattern))).fetchone()
    assert found == (want,)
