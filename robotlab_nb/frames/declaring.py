"""How a column is declared: name, type, meaning, and where its value is read.

The columns that several tables have stand here too. Nothing here knows of pandas.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    from .readers import Place

__all__ = ["ROBOT", "ROOT_ID", "RUN_ID", "TASK", "Column"]

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Column(Generic[Item]):
    """One column of a table.

    Parameters
    ----------
    name : str
    dtype : {"string", "Int64", "Float64", "boolean", "datetime64[us, UTC]"}
        The pandas type, whatever the rows hold and when there are none.
    doc : str
        What it means, with its unit.
    read : callable
        ``read(item, place)`` gives a row's value, None for a missing one.

    Examples
    --------
    >>> column = Column("length", "Int64", "Characters.", lambda text, place: len(text))
    >>> column.read("four", None)
    4
    """

    name: str
    dtype: str
    doc: str
    read: Callable[[Item, Place], object]


def _where(name: str, doc: str) -> Column[Any]:
    get = attrgetter(name)
    return Column(name, "string", doc, lambda _, place: get(place))


RUN_ID = _where("run_id", "The run it belongs to.")
ROOT_ID = _where("root_id", "The outermost run around it.")
TASK = _where("task", "The network's task that the run did.")
ROBOT = _where("robot", "The robot's name.")
