"""The part of a memory that reads and writes its backend, and tells of what was written.

Everything that changes goes through here: it is attributed, recorded as an event, rung to those
who wait and queued for those who subscribed, all in one order.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from typing import TYPE_CHECKING, Any

from ..runtime.session import emit_here
from ..tools.preview import preview
from .attribution import labels_here, who
from .backends import ANY, opened
from .changes import MemoryChange
from .proxy import DataProxy
from .subscribing import Subscribing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .backends import Backend
    from .changes import By, Entry
    from .waits import Wait

__all__ = ["Storing"]


class Storing(Subscribing):
    """Base of a memory: its backend, and the one way in which values change."""

    def __init__(self, name: str | None, backend: str | Backend | None) -> None:
        super().__init__()
        self.name = name
        #: the network that it belongs to, for changes made outside the network's runs
        self.network_name: str | None = None
        self.backend: Backend = opened(backend, name)
        self._waits: set[Wait] = set()
        #: the process in which changes made by others are heard
        self._listening: int | None = None

    @property
    def data(self) -> DataProxy:
        """Values by attribute or item."""
        return DataProxy(self)

    @property
    def session_id(self) -> str | None:
        """The conversation that it belongs to."""
        found = self.entries(("session_id",), "meta")
        return found["session_id"].value if found else None

    @session_id.setter
    def session_id(self, value: str | None) -> None:
        self.write("meta", "session_id", value)

    @property
    def shared(self) -> bool:
        """Whether other processes may write to it."""
        return self.backend.shared

    @property
    def title(self) -> str:
        """What it is called in errors."""
        return "the memory" if self.name is None else f"memory {self.name!r}"

    @property
    def _order(self) -> contextlib.AbstractContextManager[Any]:
        """Held while something is written and told, so that all see changes in one order."""
        # A backend that others write to has an order of its own; nobody waits for its network here.
        return contextlib.nullcontext() if self.shared else self._lock

    def entries(self, keys: Sequence[str], area: str = "keys") -> dict[str, Entry]:
        """Those of some keys that are there, with versions and labels."""
        with self._order:
            return self.backend.read(area, keys)

    async def aentries(self, keys: Sequence[str]) -> dict[str, Entry]:
        """As :meth:`entries`, without holding the event loop up."""
        if not self.shared:
            return self.entries(keys)
        from ..runtime.threads import in_thread

        return await in_thread(lambda: self.entries(keys))

    def names(self, area: str) -> list[str]:
        """The names in an area."""
        with self._order:
            return self.backend.names(area)

    def write(
        self,
        area: str,
        key: str,
        value: Any,
        labels: frozenset[str] = frozenset(),
        *,
        expected: Any = ANY,
        told: Mapping[str, Any] | None = None,
    ) -> Entry | None:
        """Write and tell. None when the key did not hold what was expected."""
        by, labels = self._who(), labels | labels_here()
        if told is None:
            seen = preview(value)  # before anybody is held up: it may call a person's code
            told = {"value": seen.data, "lossy": True} if seen.lossy else {"value": seen.data}
        with self._order:
            done = self.backend.write(area, key, value, labels, by, expected)
            if done is None:
                return None
            before, now = done
            emit_here(
                "memory.set",
                {
                    "key": key if area == "keys" else f"{area}.{key}",
                    **told,
                    "version": now.version,
                    "created": before is None,
                    "writer": by.writer,
                    "network": by.network,
                },
            )
            if area == "keys" and not self.backend.shared:
                self._tell(MemoryChange.of(key, before, now, by))
        return now

    def remove(self, area: str, key: str) -> bool:
        """Delete and tell. Returns whether the key was there."""
        by = self._who()
        with self._order:
            before = self.backend.delete(area, (key,), by).get(key)
            if before is None:
                return False
            told = {"version": before.version, "writer": by.writer}
            emit_here("memory.deleted", {"key": key if area == "keys" else f"{area}.{key}", **told})
            if area == "keys" and not self.backend.shared:
                self._tell(MemoryChange.of(key, before, None, by))
        return True

    def _who(self) -> By:
        by = who()
        return by._replace(network=self.network_name) if by.network is None else by

    def remove_all(self) -> None:
        """Delete all free keys and tell."""
        by = self._who()
        with self._order:
            gone = self.backend.delete("keys", None, by)
            if gone:
                emit_here("memory.cleared", {"keys": list(gone), "writer": by.writer})
            if not self.backend.shared:
                for key, before in gone.items():
                    self._tell(MemoryChange.of(key, before, None, by))

    def add_wait(self, wait: Wait) -> None:
        """Ring a wait when one of its keys is written."""
        self._listen()
        with self._lock:
            self._waits.add(wait)

    def remove_wait(self, wait: Wait) -> None:
        """Ring a wait no more."""
        with self._lock:
            self._waits.discard(wait)

    def _tell(self, change: MemoryChange) -> None:
        """Ring those who wait for a change, and queue it for those who subscribed."""
        with self._lock:
            if not change.is_deleted:
                for wait in self._waits:
                    if change.key in wait.keys:
                        wait.ring()
            self.offer(change)

    def _listen(self) -> None:
        """Hear of what other processes write, from now on."""
        if not self.shared or self._listening == os.getpid():
            return
        heard, lost = weakref.WeakMethod(self._tell), weakref.WeakMethod(self._lost)

        def take(change: MemoryChange) -> None:
            if (tell := heard()) is not None:
                tell(change)

        def missed(error: dict[str, Any]) -> None:
            if (tell := lost()) is not None:
                tell(error)

        with self._lock:
            if self._listening != os.getpid():
                self.backend.listen(take, missed)
                self._listening = os.getpid()
