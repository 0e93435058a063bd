"""``doctor()``: what typically goes wrong with an installation, a notebook, keys and settings.

Looks at this process and this machine alone: nothing is sent, nothing is changed, no key's value is
read out. Each check is a function of its own module and gives rows; one that fails is a row itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from ..core.readings import Pictured
from .check_rows import Row, clean, notice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["CheckUp", "doctor"]

#: module of this room -> its checks, in the order in which they are told
_CHECKS: dict[str, tuple[str, ...]] = {
    "checks_packages": ("python", "litellm", "dot"),
    "checks_notebook": ("kernel", "widgets", "nested_loops"),
    "checks_models": ("option_files", "default_model", "keys", "addresses", "prices"),
    "checks_engine": ("loop", "runs", "threads"),
    "checks_machine": ("memory", "clock", "proxies", "certificates", "log"),
}
_RANK = {"wrong": 0, "look": 1, "ok": 2}


class CheckUp(Pictured):
    """What :func:`doctor` found.

    Parameters
    ----------
    rows : sequence of Row

    Attributes
    ----------
    rows : tuple of Row
        ``state`` (``"ok"``, ``"look"``, ``"wrong"``), ``topic``, ``found``, ``remedy``; what needs
        a look comes first.

    Examples
    --------
    >>> from robotlab_nb.notebook.check_rows import Row
    >>> found = CheckUp([Row("ok", "dot", "found"), Row("wrong", "clock", "it says 1970")])
    >>> [row.topic for row in found.rows], found.ok, found["clock"].state
    (['clock', 'dot'], False, 'wrong')
    """

    def __init__(self, rows: Any) -> None:
        self.rows: tuple[Row, ...] = tuple(sorted(rows, key=lambda row: _RANK[row.state]))

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong; there may still be something to look at."""
        return all(row.state != "wrong" for row in self.rows)

    @property
    def problems(self) -> tuple[Row, ...]:
        """The rows that need a look."""
        return tuple(row for row in self.rows if row.state != "ok")

    def __getitem__(self, topic: str) -> Row:
        """The first row of a topic."""
        for row in self.rows:
            if row.topic == topic:
                return row
        raise InputError(
            f"nothing was checked under {topic!r}", hint=near(topic, self._topics(), limit=30)
        )

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def _topics(self) -> list[str]:
        return list(dict.fromkeys(row.topic for row in self.rows))

    def _ipython_key_completions_(self) -> list[str]:
        return self._topics()

    def to_dict(self) -> list[dict[str, str]]:
        """The rows as JSON, to send along with a question."""
        return [row._asdict() for row in self.rows]


def doctor() -> CheckUp:
    """Look for what typically goes wrong: packages, notebook, keys, settings, machine.

    Takes a fraction of a second, sends nothing, changes nothing and never fails. Keys are told by
    the names of their variables alone, addresses by their hosts.

    Returns
    -------
    CheckUp
        In a notebook its picture; ``.rows`` and ``.to_dict()`` are its data.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> found = rl.doctor()
    >>> found["Python"].state, found["default model"].found
    ('ok', 'simulated/rules, simulated: no model is named')
    """
    rows: list[Row] = []
    for module, names in _CHECKS.items():
        for name in names:
            rows.extend(_made(module, name))
    return CheckUp([clean(row) for row in rows])


def _made(module: str, name: str) -> list[Row]:
    """The rows of one check. Whatever happens in it is told, and the others go on."""
    topic = name.replace("_", " ")
    try:
        found: Callable[[], Any] = getattr(
            importlib.import_module(f".{module}", __package__), f"check_{name}"
        )
        return list(found())
    except Exception as error:
        return [notice(topic, f"could not be checked ({type(error).__name__})")]
