"""The columns of an experiment's table: one row for each cell.

Those of further axes, of the inputs and of evaluators are made when they are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .cells import json_text
from .declaring import Column
from .readers import error_message, error_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["FIXED", "columns_of"]

#: columns of every experiment before those of its axes, and after them
FIRST: tuple[Column[Any], ...] = (
    Column("cell", "Int64", "Its place in the plan, from 0.", lambda c, p: c.index),
    Column("prompt", "string", "The prompt's label.", lambda c, p: c.prompt),
    Column("model", "string", "The model's label.", lambda c, p: c.model),
    Column("input", "string", "The input's label.", lambda c, p: c.input),
)
FIXED: tuple[Column[Any], ...] = (
    Column("repeat", "Int64", "Which time it was asked, from 0.", lambda c, p: c.repeat),
    Column("status", "string",
           "`pending`, `running`, `completed`, `failed`, `interrupted`, `skipped`.",
           lambda c, p: c.status),
    Column("cached", "boolean", "Whether the answer is an earlier run's: nothing was sent.",
           lambda c, p: c.cached),
    Column("text", "string", "The answer; missing where there is none.", lambda c, p: c.text),
    Column("value", "string", "The answer as data, as JSON text.",
           lambda c, p: json_text(c.value)),
    Column("error_type", "string", "The class of the error.", lambda c, p: error_type(c.error)),
    Column("error_message", "string", "What the error said.", lambda c, p: error_message(c.error)),
    Column("rating", "Int64", "1 to 5, as a person gave it.", lambda c, p: c.rating),
    Column("note", "string", "What a person noted.", lambda c, p: c.note),
    Column("duration_s", "Float64", "Seconds that the answer took.", lambda c, p: c.duration_s),
    Column("input_tokens", "Int64", "Tokens read.", lambda c, p: c.input_tokens),
    Column("output_tokens", "Int64", "Tokens written.", lambda c, p: c.output_tokens),
    Column("cost_usd", "Float64",
           "US dollars as they were paid once; missing when no price is known.",
           lambda c, p: c.cost_usd),
    Column("cost_complete", "boolean", "Whether every call had a price.",
           lambda c, p: c.cost_complete),
    Column("simulated", "boolean", "Whether the answer was made up.", lambda c, p: c.simulated),
    Column("possibly_repeated", "boolean",
           "Whether an earlier run had begun to ask it and was killed: it may be paid twice.",
           lambda c, p: c.possibly_repeated),
    Column("run_id", "string", "The run that answered.", lambda c, p: c.run_id),
    Column("root_id", "string", "The experiment in which it did.", lambda c, p: c.root_id),
    Column("key", "string", "SHA-256 of everything that decides the answer.", lambda c, p: c.key),
)  # fmt: skip


def columns_of(cells: Sequence[Any], axes: Mapping[str, Sequence[Any]]) -> tuple[Column[Any], ...]:
    """All columns of an experiment: fixed ones, further axes, scores, then the inputs' own.

    Parameters
    ----------
    cells : sequence of Cell
    axes : mapping
        Labels by axis.
    """
    taken = {column.name for column in (*FIRST, *FIXED)}
    further = [name for name in axes if name not in ("prompt", "model", "input", "repeat")]
    made: list[Column[Any]] = []

    def add(name: str, other: str, doc: str, values: Iterable[Any], read: Any) -> None:
        name = name if name not in taken else other
        taken.add(name)
        made.append(Column(name, _type_of(values), doc, read))

    for axis in further:
        add(axis, f"param_{axis}", f"Its value of {axis}.", axes[axis], _param(axis))
    more, made = made, []
    for score in dict.fromkeys(score.name for cell in cells for score in cell.scores):
        made += _of_score(score, taken)
    for name in dict.fromkeys(name for cell in cells for name in cell.columns):
        values = (cell.columns.get(name) for cell in cells)
        if name != "input":  # which is there, in full, as the input's text
            add(name, f"input_{name}", f"The input's column {name}.", values, _column(name))
    return (*FIRST, *more, *FIXED, *made)


def _of_score(name: str, taken: set[str]) -> list[Column[Any]]:
    made = []
    for end, dtype, doc, field in (
        ("", "Float64", "Its score by {}: the number, else 1 for passed and 0 for failed.",
         "number"),
        ("_passed", "boolean", "Whether it passed {}.", "passed"),
        ("_reason", "string", "What {} said of it.", "reason"),
    ):  # fmt: skip
        column = f"{name}{end}"
        if column in taken:
            column = f"score_{column}"
        taken.add(column)
        made.append(Column(column, dtype, doc.format(name), _score(name, field)))
    return made


def _score(name: str, field: str) -> Callable[[Any, Any], Any]:
    def read(cell: Any, place: Any) -> Any:
        found = next((score for score in cell.scores if score.name == name), None)
        if found is None:
            return None
        if field == "reason" and found.error is not None:
            return f"{found.error.get('type')}: {found.error.get('message')}"
        return getattr(found, field)

    return read


def _param(name: str) -> Callable[[Any, Any], Any]:
    return lambda cell, place: cell.params.get(name)


def _column(name: str) -> Callable[[Any, Any], Any]:
    return lambda cell, place: cell.columns.get(name)


def _type_of(values: Iterable[Any]) -> str:
    """The narrowest type that holds all values; text where they are mixed or nested."""
    # A number that no column of numbers holds is kept as text.
    kinds = {
        str if type(value) is int and not -(2**63) <= value < 2**63 else type(value)
        for value in values
        if value is not None
    }
    if kinds == {bool}:
        return "boolean"
    if kinds == {int}:
        return "Int64"
    if kinds and kinds <= {int, float}:
        return "Float64"
    return "string"
