"""A memory with values of one run over it: they are that run's alone and gone with it.

Everything else is read from and written to the memory below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .backends import ANY
from .keys import free
from .reactive import Memory

if TYPE_CHECKING:
    import contextlib
    from collections.abc import Callable, Mapping, Sequence

    from .changes import Entry, MemoryChange
    from .waits import Wait

__all__ = ["ScopedMemory"]


class ScopedMemory(Memory):
    """Some keys of its own over another memory.

    Parameters
    ----------
    base : Memory
    values : mapping
        Its own keys and their values. Only these keys are its own, also when deleted and written
        again.

    Raises
    ------
    InputError
        When one of the keys is reserved.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> base = rl.create_memory()
    >>> base["language"] = "French"
    >>> scoped = ScopedMemory(base, {"customer": 7})
    >>> scoped["customer"], scoped["language"]
    (7, 'French')
    >>> scoped["language"], scoped["customer"] = "Dutch", 8
    >>> base.get("language", "customer")
    {'language': 'Dutch', 'customer': None}
    """

    def __init__(self, base: Memory, values: Mapping[str, Any]) -> None:
        self._base = base
        self._own = frozenset(free(key, "set") for key in values)
        super().__init__(name=base.name)
        self.network_name = base.network_name
        for key, value in values.items():
            self.set(key, value)

    @property
    def shared(self) -> bool:
        """Whether other processes may write to the memory below."""
        return self._base.shared

    @property
    def _order(self) -> contextlib.AbstractContextManager[Any]:
        own: contextlib.AbstractContextManager[Any] = self._lock
        return own

    def _is_own(self, area: str, key: str) -> bool:
        return area == "keys" and key in self._own

    def entries(self, keys: Sequence[str], area: str = "keys") -> dict[str, Entry]:
        """Those of some keys that are there."""
        own = [key for key in keys if self._is_own(area, key)]
        below = [key for key in keys if not self._is_own(area, key)]
        found = self._base.entries(below, area) if below else {}
        return {**found, **super().entries(own, area)} if own else found

    def names(self, area: str) -> list[str]:
        """The names in an area."""
        below = [name for name in self._base.names(area) if not self._is_own(area, name)]
        return below + super().names("keys") if area == "keys" else below

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
        """Write and tell, here or below."""
        write = super().write if self._is_own(area, key) else self._base.write
        return write(area, key, value, labels, expected=expected, told=told)

    def remove(self, area: str, key: str) -> bool:
        """Delete and tell, here or below."""
        remove = super().remove if self._is_own(area, key) else self._base.remove
        return remove(area, key)

    def clear(self) -> Memory:
        """Delete all free keys, here and below."""
        self._base.clear()
        return super().clear()

    def add_wait(self, wait: Wait) -> None:
        """Ring a wait when one of its keys is written, here or below."""
        super().add_wait(wait)
        self._base.add_wait(wait)

    def remove_wait(self, wait: Wait) -> None:
        """Ring a wait no more."""
        super().remove_wait(wait)
        self._base.remove_wait(wait)

    def _listen(self) -> None:
        """The memory below hears of what others write."""

    def _subscribe(
        self, keys: tuple[str, ...], patterns: tuple[str, ...], callback: Callable[..., Any]
    ) -> str:
        subscription = self._base._subscribe(keys, patterns, callback)
        self._subscribers[subscription] = self._base._subscribers[subscription]
        return subscription

    def unsubscribe(self, subscription: str) -> bool:
        """End a subscription by its id. Returns whether there was one."""
        self._subscribers.pop(subscription, None)
        return self._base.unsubscribe(subscription)

    def offer(self, change: MemoryChange) -> None:
        """Queue a change of an own key for those who want it."""
        if change.key in self._own:
            super().offer(change)

    def _push(self, which: str, values: Any) -> None:
        self._base._push(which, values)

    def _replace(self, which: str, values: Any) -> None:
        self._base._replace(which, values)

    def _items(self, which: str) -> tuple[int, list[Any]]:
        return self._base._items(which)
