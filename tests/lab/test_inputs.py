"""What may be compared: rows of lists and tables, their labels, what fills placeholders."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import ConfigurationError, InputError
from robotlab_nb.lab.rows import read_rows

ECHO = rl.SimulatedModel(lambda request: request.messages[-1].text)


def said(prompt: str, inputs: Any) -> list[str | None]:
    """What a model is told for each input."""
    return [cell.text for cell in rl.compare([prompt], ECHO, inputs).cells]


def test_a_tables_columns_fill_placeholders_and_the_others_are_kept() -> None:
    table = pd.DataFrame({"city": ["Oslo", "Rome"], "people": [0.7, 2.8], "seen": [True, False]})
    made = rl.compare(["{{ city }}, {{ people }} million"], ECHO, table)
    assert [cell.text for cell in made.cells] == ["Oslo, 0.7 million", "Rome, 2.8 million"]
    assert made.cells[1].columns == {"city": "Rome", "people": 2.8, "seen": False}
    frame = made.frame
    assert frame["people"].dtype == "Float64"
    assert frame["seen"].tolist() == [True, False]


def test_columns_that_are_no_names_are_reached_through_row() -> None:
    table = pd.DataFrame([["a", 1, 2.5]], columns=["the word", 0, "class"])
    assert said('{{ row["the word"] }} {{ row["0"] }} {{ row["class"] }}', table) == ["a 1 2.5"]
    with pytest.raises(InputError, match="two columns '0'"):
        read_rows(pd.DataFrame([[1, 2]], columns=[0, "0"]))


@pytest.mark.parametrize("gap", [None, float("nan"), pd.NA, pd.NaT, np.float64("nan")])
def test_a_gap_in_a_column_that_is_needed_is_told(gap: Any) -> None:
    rows = [{"a": "x", "b": "y"}, {"a": gap, "b": "y"}]
    with pytest.raises(ConfigurationError, match=r"needs {{ a }}, and input 'y' has no value"):
        said("{{ a }}", rows)
    assert said("{{ a | default('nothing') }}", rows) == ["x", "nothing"]
    assert said("{% if a is defined %}{{ a }}{% else %}-{% endif %}", rows) == ["x", "-"]


def test_an_empty_text_is_a_value_and_a_gap_is_none() -> None:
    rows = read_rows([{"a": "", "b": "y"}, {"a": None, "b": "y"}])
    assert [row.columns["a"] for row in rows] == ["", None]
    made = rl.compare(["{{ b }}"], ECHO, [{"a": "", "b": "x"}, {"a": None, "b": "y"}])
    assert made.frame["a"].isna().tolist() == [False, True]


def test_values_of_a_table_are_pythons_own() -> None:
    table = pd.DataFrame(
        {
            "n": np.array([1], dtype="int8"), "when": [pd.Timestamp("2026-03-01", tz="UTC")],
            "many": [[1, {"x": 2}]], "huge": [2**70], "input": ["go"],
        }
    )  # fmt: skip
    made = rl.compare(["{{ n }} {{ when.year }} {{ many[1].x }} {{ huge }}"], ECHO, table)
    assert made.cells[0].text == f"1 2026 2 {2**70}"
    frame = made.frame
    assert frame["many"][0] == '[1, {"x": 2}]'
    assert str(frame["huge"][0]) == str(2**70)


def test_mixed_columns_are_text_and_every_table_writes_parquet(tmp_path: Any) -> None:
    rows = [{"input": "a", "x": 1}, {"input": "b", "x": "two"}, {"input": "c", "x": [3]}]
    frame = rl.compare(["{{ input }}"], ECHO, rows).frame
    assert frame["x"].tolist() == ["1", "two", "[3]"]
    frame.attrs.clear()
    frame.to_parquet(tmp_path / "cells.parquet")
    back = pd.read_parquet(tmp_path / "cells.parquet", dtype_backend="numpy_nullable")
    assert back["text"].tolist() == ["a", "b", "c"]


def test_labels_come_from_keys_indexes_and_texts() -> None:
    assert [r.label for r in read_rows({"one": "a text", 2: {"x": "y"}})] == ["one", "2"]
    assert [r.label for r in read_rows(["a\nb", "a b", "z" * 80])] == [
        "a b",
        "a b (2)",
        "z" * 47 + "…",
    ]
    indexed = pd.DataFrame({"q": ["x", "y"]}, index=["first", "second"])
    assert [r.label for r in read_rows(indexed)] == ["first", "second"]
    filtered = pd.DataFrame({"q": ["x", "y", "z"]})[1:]
    assert [r.label for r in read_rows(filtered)] == ["y", "z"]
    named = [{"name": "Ann", "question": "why?", "more": "x"}]
    assert [r.label for r in read_rows(named)] == ["Ann"]


def test_a_series_and_one_text_are_inputs() -> None:
    series = pd.Series(["a", "b"], name="word", index=["x", "y"])
    assert said("{{ word }}!", series) == ["a!", "b!"]
    assert [row.label for row in read_rows(series)] == ["x", "y"]
    assert said("{{ input }}!", "alone") == ["alone!"]
    assert said("{{ input }}", [3, datetime.date(2026, 3, 1)]) == ["3", "2026-03-01"]


def test_messages_with_pictures_are_inputs() -> None:
    picture = rl.MediaPart("image/png", url="https://example.org/cat.png")
    message = rl.Message("user", [*rl.Message("user", "What is it?").parts, picture])
    seen: list[Any] = []

    def look(request: Any) -> str:
        seen.append(request.messages[-1])
        return "a cat"

    made = rl.compare(["Be brief."], rl.SimulatedModel(look), [message])
    assert seen == [message]
    assert made.axes["input"] == ("What is it?",)


def test_a_template_is_said_itself_where_no_row_is_a_message() -> None:
    teach = rl.Template("Explain {{ topic }} and be {{ tone }}.", "teach")
    made = rl.compare([teach], ECHO, [{"topic": "rain", "tone": "kind"}])
    assert made.cells[0].text == "Explain rain and be kind."


def test_a_template_that_lacks_a_value_is_told_before_anything_is_sent() -> None:
    calls: list[Any] = []
    model = rl.SimulatedModel(lambda request: calls.append(request) or "x")
    for text in ("---\nparameters:\n  tone:\n---\nBe {{ tone }}.", "Be {{ tone }}."):
        with pytest.raises(ConfigurationError, match="input 'hello'.*tone"):
            rl.compare([rl.Template(text, "t")], model, ["hello"])
    assert calls == []
