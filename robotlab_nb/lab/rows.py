"""The inputs of an experiment: lists, mappings and tables as rows, each with a label.

Tables are known by what they can do: pandas is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import InputError
from ..core.messages import Message
from ..tools.preview import preview
from .labelling import MOST, short, unique

__all__ = ["Row", "read_rows"]

#: columns that are the message of a row
_MESSAGE = ("input", "message")
#: the column that says what the answer should be
EXPECTED = "expected"
#: columns by which rows are called
_NAMES = ("label", "name", "id")
#: rows that one experiment takes
MOST_ROWS = 100_000


@dataclass(slots=True)
class Row:
    """One input.

    Parameters
    ----------
    label : str
    message : str, Message or None
        What is said where a prompt does not fill columns in; None where that cannot be told.
    columns : dict
        Its values by name; None for a value that is missing.
    """

    label: str
    message: Any
    columns: dict[str, Any]
    _told: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """What stands for it in full: the message, else all columns."""
        if isinstance(self.message, Message):
            return self.message.text
        if self.message is not None:
            return str(self.message)
        return "\n".join(f"{name}: {value}" for name, value in self.columns.items())

    @property
    def told(self) -> dict[str, Any]:
        """Its columns as JSON."""
        if self._told is None:
            self._told = {name: preview(value).data for name, value in self.columns.items()}
        return self._told

    @property
    def values(self) -> dict[str, Any]:
        """What a prompt's placeholders may name: the columns that have a value, and ``row``."""
        there = {name: value for name, value in self.columns.items() if value is not None}
        if self.message is not None:
            there.setdefault("input", self.text)
        return {**there, "row": there}


def read_rows(inputs: Any) -> list[Row]:
    """The rows that a person gives.

    Parameters
    ----------
    inputs : list, dict, DataFrame or Series
        A list of texts, of :class:`Message`, or of dicts (columns by name); a dict of such by
        label; a table; a series, its index being the labels.

    Returns
    -------
    list of Row

    Raises
    ------
    InputError
        When there is nothing in it, or something that is no input.

    Examples
    --------
    >>> [row.label for row in read_rows(["rain", "snow", "rain"])]
    ['rain', 'snow', 'rain (2)']
    >>> read_rows([{"city": "Oslo", "expected": "Norway"}])[0].message
    'Oslo'
    """
    found: list[tuple[str | None, Any]]
    if inputs is None or isinstance(inputs, (str, bytes, Message)):
        if not inputs:
            raise InputError("there are no inputs", hint=_HINT)
        found = [(None, inputs)]
    elif hasattr(inputs, "columns") and hasattr(inputs, "itertuples"):
        found = list(_of_table(inputs))
    elif hasattr(inputs, "items") and hasattr(inputs, "index") and hasattr(inputs, "to_frame"):
        found = list(_of_series(inputs))
    elif isinstance(inputs, Mapping):
        found = [(str(label), each) for label, each in inputs.items()]
    elif isinstance(inputs, Iterable):
        found = [(None, each) for each in inputs]
    else:
        raise InputError(f"inputs={type(inputs).__name__} is no list of inputs", hint=_HINT)
    if not found:
        raise InputError("there are no inputs: the list is empty", hint=_HINT)
    if len(found) > MOST_ROWS:
        raise InputError(f"{len(found):,} inputs are too many", hint=f"At most {MOST_ROWS:,}.")
    rows = [_row(label, each, place) for place, (label, each) in enumerate(found)]
    for row, label in zip(rows, unique(row.label for row in rows), strict=True):
        row.label = label
    return rows


_HINT = (
    "Give a list of texts or of dicts, a dict of them by label, or a DataFrame whose columns fill "
    "placeholders such as {{ city }}."
)


def _of_table(table: Any) -> Iterable[tuple[str | None, dict[str, Any]]]:
    names = [str(name) for name in table.columns]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise InputError(
            f"the table has two columns {twice[0]!r}", hint="Rename one: table.columns = [...]."
        )
    labels = _index(table)
    for place, values in enumerate(table.itertuples(index=False, name=None)):
        yield labels[place] if labels else None, dict(zip(names, values, strict=True))


def _of_series(series: Any) -> Iterable[tuple[str | None, Any]]:
    labels, name = _index(series), series.name
    for place, value in enumerate(series.tolist()):
        columns = {"input": value} if name in (None, "input") else {str(name): value}
        yield labels[place] if labels else None, columns


def _index(table: Any) -> list[str] | None:
    """The labels of a table's rows; None where they are only numbered."""
    if type(table.index).__name__ == "RangeIndex":
        return None
    if any(isinstance(value, int) for value in table.index.tolist()[:1]):
        return None  # what is left of numbered rows that were filtered or sorted
    return [short(value) for value in table.index.tolist()]


def _row(label: str | None, each: Any, place: int) -> Row:
    if isinstance(each, Mapping):
        columns = {str(name): _plain(value) for name, value in each.items()}
        if len(columns) < len(each):
            raise InputError(f"input {place}: two columns have the same name")
        message = _message(columns)
        return Row(label or _label(columns, message, place), message, columns)
    if isinstance(each, Message):
        return Row(label or short(each.text) or f"input {place + 1}", each, {"input": each.text})
    value = _plain(each)
    if value is None:
        raise InputError(
            f"input {place} is missing ({each!r:.20})", hint="Leave it out, or write a text."
        )
    if isinstance(value, (bytes, bytearray)) or not _sayable(value):
        raise InputError(f"input {place} is no text: {type(each).__name__}", hint=_HINT)
    text = str(value)
    return Row(label or short(text), text, {"input": value})


def _sayable(value: Any) -> bool:
    return (
        isinstance(value, (str, int, float, complex))
        or hasattr(value, "isoformat")
        or (type(value).__module__ in ("decimal", "fractions", "uuid"))
    )


def _message(columns: Mapping[str, Any]) -> str | None:
    """What is said of a row: a column of that name, or the only one that there is."""
    for name in _MESSAGE:
        if name in columns:
            return None if columns[name] is None else str(columns[name])
    others = [name for name in columns if name != EXPECTED]
    if len(others) == 1 and columns[others[0]] is not None:
        return str(columns[others[0]])
    return None


def _label(columns: Mapping[str, Any], message: str | None, place: int) -> str:
    for name in _NAMES:
        if columns.get(name) is not None and len(columns) > 1:
            return short(columns[name])
    if message:
        return short(message)
    there = [v for n, v in columns.items() if n != EXPECTED and v is not None]
    texts = [v for v in there if isinstance(v, str)] or there
    said = [short(v, MOST if len(texts) == 1 else 20) for v in texts[:3]]
    return short(" · ".join(said)) or f"input {place + 1}"


def _plain(value: Any) -> Any:
    """A value of a table as Python's own; None for one that is missing."""
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, float) and value != value:
        return None
    if type(value).__module__ == "numpy" and hasattr(value, "item") and not _many(value):
        return _plain(value.item())
    return value


def _many(value: Any) -> bool:
    return isinstance(value, Sequence) or getattr(value, "ndim", 0) > 0
