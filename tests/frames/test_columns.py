"""The declared columns, and what a value becomes under a column's type."""

from __future__ import annotations

import json
import math
import time

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robotlab_nb.core.errors import InputError
from robotlab_nb.frames.cells import CELLS, clean, json_text, microseconds, start_of
from robotlab_nb.frames.columns import TABLES, describe

COLUMNS = {
    "runs": "run_id root_id parent_id resumed_from kind network task robot model simulated status "
    "stop_reason started_at duration_s input output input_tokens output_tokens reasoning_tokens "
    "cached_tokens tokens_estimated cost_usd cost_complete model_calls tool_calls error_type "
    "error_message session_id prompt_hash tags rating note",
    "tasks": "root_id run_id child_run_id network task robot path item status depends_on "
    "optional started_at waited_s duration_s tokens cost_usd error_type error_message",
    "model_calls": "call_id run_id root_id task robot round model provider request_key cached "
    "attempts status stop_reason started_at waited_s first_token_s duration_s input_tokens "
    "output_tokens reasoning_tokens cached_tokens tokens_estimated cost_usd error_type",
    "tool_calls": "tool_call_id run_id root_id task robot call_id round tool source arguments "
    "result status retryable approved_by started_at duration_s error",
    "messages": "message_id run_id root_id position role kind content robot task",
    "events": "root_id seq type elapsed_s run_id path robot data",
    "attempts": "root_id run_id robot call_id attempt model started_s duration_s status error_type "
    "error_message retry_in_s billed",
    "questions": "question_id run_id root_id task robot kind tool tool_call_id text choices "
    "arguments why answer by status asked_at waited_s",
    "outputs": "run_id root_id task robot attempt mode accepted errors value elapsed_s",
    "skills": "run_id root_id task robot name score used threshold scorer",
    "memory": "root_id seq run_id task robot elapsed_s kind key keys version value appended "
    "created writer found waited_s timeout_s error_type error_message",
    "bus": "root_id run_id task message_id key channel sender receivers in_reply_to content status "
    "reason error_type error_message acked_by failed_by sent_s queued_s duration_s",
}

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text(st.characters())
    | st.text(st.characters(categories=["Cs"]), max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("table", COLUMNS)
def test_each_table_has_its_columns_in_order(table: str) -> None:
    assert [name for name, _, _ in describe(table)] == COLUMNS[table].split()


def test_there_are_no_other_tables() -> None:
    assert list(TABLES) == list(COLUMNS)


@pytest.mark.parametrize("table", COLUMNS)
def test_each_column_has_a_known_type_and_says_what_it_means(table: str) -> None:
    for name, dtype, doc in describe(table):
        assert dtype in CELLS, name
        assert doc.endswith("."), name
    seconds = [doc for name, _, doc in describe(table) if name.endswith("_s")]
    assert all("econds" in doc for doc in seconds)


def test_an_unknown_table_names_the_near_one() -> None:
    with pytest.raises(InputError, match="'tool_calls'"):
        describe("tool_cals")


@given(st.sampled_from(list(CELLS)), st.lists(anything, max_size=8))
def test_no_mixture_of_values_changes_a_columns_type(dtype: str, values: list[object]) -> None:
    cells = [CELLS[dtype](value) for value in values]
    assert str(pd.array(cells, dtype=dtype).dtype) == dtype


@pytest.mark.parametrize(
    ("dtype", "value", "cell"),
    [
        ("Int64", 2**63 - 1, 2**63 - 1),
        ("Int64", 2**63, None),
        ("Int64", -(2**63), -(2**63)),
        ("Int64", 3.0, 3),
        ("Int64", 3.5, None),
        ("Int64", math.nan, None),
        ("Int64", math.inf, None),
        ("Int64", True, None),
        ("Int64", "3", None),
        ("Float64", 2, 2.0),
        ("Float64", 10**400, None),
        ("Float64", "2", None),
        ("boolean", False, False),
        ("boolean", 0, None),
        ("string", "", ""),
        ("string", None, None),
        ("string", 2**70, "1180591620717411303424"),
        ("string", ["a"], '["a"]'),
        ("string", math.nan, "NaN"),
        ("datetime64[us, UTC]", 10**18, None),
    ],
)
def test_a_value_that_does_not_fit_is_text_or_missing(
    dtype: str, value: object, cell: object
) -> None:
    made = CELLS[dtype](value)
    assert made == cell
    assert type(made) is type(cell)


def test_a_str_of_another_class_is_plain_text() -> None:
    class Named(str):
        __slots__ = ()

    assert CELLS["string"](Named("é\ud800")) == "é\\ud800"


def same(a: object, b: object) -> bool:
    """Equal JSON values, NaN being itself and True not 1."""
    if isinstance(a, float) and isinstance(b, float) and math.isnan(a):
        return math.isnan(b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


no_surrogates = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**300), 2**300) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(no_surrogates.filter(lambda value: value is not None))
def test_json_text_reads_back_as_the_value(value: object) -> None:
    text = json_text(value)
    assert text is not None
    assert same(json.loads(text), value)


@given(st.lists(st.sampled_from(["\ud83d", "a", "é", '"', "\\"]), max_size=6).map("".join))
def test_a_lone_surrogate_survives_in_json_text(text: str) -> None:
    written = clean(json_text([text]) or "")
    written.encode()
    assert json.loads(written) == [text]


def test_nan_empty_null_and_missing_differ_in_json_text() -> None:
    texts = [json_text(v) for v in (math.nan, "", None, "NaN", [None], math.inf)]
    assert texts == ["NaN", '""', None, '"NaN"', "[null]", "Infinity"]


def test_json_text_takes_what_json_refuses() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    cycle: dict[str, object] = {"n": 1}
    cycle["self"] = cycle
    assert json.loads(json_text({"n": 10**5000}) or "") == {"n": hex(10**5000)}
    assert "…" in (json_text(deep) or "")
    assert json.loads(json_text(cycle) or "") == {"n": 1, "self": "…"}
    assert json.loads(json_text({(1, 2): {3}}) or "") == {"(1, 2)": "{3}"}


@pytest.mark.parametrize("written", [None, "", "yesterday", "2026-13-01T00:00:00", 5])
def test_an_unreadable_start_is_unknown(written: str | None) -> None:
    assert start_of(written) is None


def test_a_start_without_a_zone_is_utc_on_every_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "XXX-05:30")
    time.tzset()
    try:
        assert start_of("1970-01-01T00:00:01") == 1_000_000
    finally:
        monkeypatch.undo()
        time.tzset()


def test_an_unknown_moment_is_missing() -> None:
    assert microseconds(None, 1.0) is None
    assert microseconds(0, None) is None
    assert microseconds(0, math.nan) is None
    assert microseconds(0, 1e-6) == 1
