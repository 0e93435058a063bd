"""Where a memory keeps its values: what such a place offers, and the one in this process.

Values sit in areas: ``keys`` (what a person names), ``data`` and ``meta``; results and messages are
lists. A backend knows no subscribers, waits or runs.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..core.errors import ConfigurationError, RobotLabError
from .changes import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .changes import By, MemoryChange

__all__ = ["ANY", "MOST_KEPT", "Backend", "InProcess", "MemoryUnreachable", "opened"]

#: results and messages that are kept; older ones go
MOST_KEPT = 1_000


class _Any:
    """Whatever a key holds."""


ANY = _Any()


class MemoryUnreachable(RobotLabError, ConnectionError):
    """The server that keeps a memory does not answer."""

    retryable = True


@runtime_checkable
class Backend(Protocol):
    """A place for values. Every method is atomic and may be called from any thread."""

    #: where it is, without credentials; None for this process
    url: str | None
    #: whether others than this memory may write there, and calls go over a network
    shared: bool

    def read(self, area: str, names: Sequence[str]) -> dict[str, Entry]:
        """Those of some names that are there."""

    def names(self, area: str) -> list[str]:
        """All names that are there, the oldest first where that is known, else sorted."""

    def write(
        self,
        area: str,
        name: str,
        value: Any,
        labels: frozenset[str],
        by: By,
        expected: Entry | _Any | None = ANY,
    ) -> tuple[Entry | None, Entry] | None:
        """Write a value: what was there and what is. None if it was not what was expected."""

    def delete(self, area: str, names: Iterable[str] | None, by: By) -> dict[str, Entry]:
        """Delete some names, or all with None: what was there."""

    def push(self, which: str, values: Sequence[Any]) -> None:
        """Add to a list; only its last 1,000 stay."""

    def items(self, which: str) -> tuple[int, list[Any]]:
        """A list, and how many were before its first one."""

    def replace(self, which: str, values: Sequence[Any]) -> None:
        """Put other values in place of a list's."""

    def listen(
        self, take: Callable[[MemoryChange], None], lost: Callable[[dict[str, Any]], None]
    ) -> None:
        """Tell of every change of ``keys`` from now on, in order, and of what went missing.

        Only where ``shared``.
        """


class InProcess:
    """Values in a dict, kept as they are. The memory's lock makes its methods atomic."""

    __slots__ = ("_areas", "_dropped", "_lists")

    url: str | None = None
    shared = False

    def __init__(self) -> None:
        self._areas: dict[str, dict[str, Entry]] = {"keys": {}, "data": {}, "meta": {}}
        self._lists: dict[str, deque[Any]] = {}
        self._dropped: dict[str, int] = {}

    def read(self, area: str, names: Sequence[str]) -> dict[str, Entry]:
        """Those of some names that are there."""
        values = self._areas[area]
        return {name: values[name] for name in names if name in values}

    def names(self, area: str) -> list[str]:
        """All names that are there, the oldest first."""
        return list(self._areas[area])

    def write(
        self,
        area: str,
        name: str,
        value: Any,
        labels: frozenset[str],
        by: By,
        expected: Entry | _Any | None = ANY,
    ) -> tuple[Entry | None, Entry] | None:
        """Write a value: what was there and what is. None if it was not what was expected."""
        values = self._areas[area]
        before = values.get(name)
        if expected is not ANY and before is not expected:
            return None
        version = 1 if before is None else before.version + 1
        now = Entry(value, version, labels, "", by.writer, by.timestamp)
        values[name] = now
        return before, now

    def put(self, area: str, name: str, entry: Entry) -> None:
        """Have an entry just so, its version included: for copies."""
        self._areas[area][name] = entry

    def delete(self, area: str, names: Iterable[str] | None, by: By) -> dict[str, Entry]:
        """Delete some names, or all with None: what was there."""
        values = self._areas[area]
        wanted = list(values) if names is None else names
        return {name: values.pop(name) for name in wanted if name in values}

    def push(self, which: str, values: Sequence[Any]) -> None:
        """Add to a list; only its last 1,000 stay."""
        kept = self._lists.setdefault(which, deque(maxlen=MOST_KEPT))
        over = max(0, len(kept) + len(values) - MOST_KEPT)
        self._dropped[which] = self._dropped.get(which, 0) + over
        kept.extend(values)

    def items(self, which: str) -> tuple[int, list[Any]]:
        """A list, and how many were before its first one."""
        return self._dropped.get(which, 0), list(self._lists.get(which, ()))

    def replace(self, which: str, values: Sequence[Any]) -> None:
        """Put other values in place of a list's."""
        self._lists.pop(which, None)
        self._dropped.pop(which, None)
        self.push(which, values)

    def listen(
        self, take: Callable[[MemoryChange], None], lost: Callable[[dict[str, Any]], None]
    ) -> None:
        """Nobody else writes here: the memory knows of every change itself."""


def opened(backend: Any, name: str | None) -> Backend:
    """The backend that a person means.

    Parameters
    ----------
    backend : None, str or Backend
        None for this process, the URL of a Redis database, or an object.
    name : str or None
        The memory's.

    Raises
    ------
    ConfigurationError
        For anything else, and for a URL without a name.
    """
    if backend is None:
        return InProcess()
    if isinstance(backend, str):
        if backend.startswith(("redis://", "rediss://", "unix://")):
            from .redis_backend import RedisBackend

            return RedisBackend(backend, name=name)
        raise ConfigurationError(
            f"backend={backend!r:.80} is no place that a memory can be kept in",
            hint='Leave it out for this process, or write backend="redis://127.0.0.1:6379/0".',
        )
    if isinstance(backend, Backend):
        return backend
    raise ConfigurationError(
        f"backend= takes a URL or a backend, not {backend!r:.80}",
        hint='For example backend="redis://127.0.0.1:6379/0".',
    )
