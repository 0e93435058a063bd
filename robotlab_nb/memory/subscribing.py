"""The part of a memory that tells others of its changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .keys import free
from .subscribers import Subscriber, subscriber_ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from .changes import MemoryChange

__all__ = ["Subscribing"]


class Subscribing:
    """Base of a memory: subscriptions."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._subscribers: dict[str, Subscriber] = {}

    def _listen(self) -> None:
        """Hear of changes made by others."""

    def subscribe(self, *keys: str, callback: Callable[[MemoryChange], Any]) -> str:
        """Be told of each change of some keys, deletions included, in order, in the background.

        Parameters
        ----------
        *keys : str
            Exact names; for globs see :meth:`subscribe_pattern`.
        callback : callable
            Takes a :class:`MemoryChange`. Async functions run on the engine's loop, others in a
            worker thread. One that raises, or does not end within 60 s, is reported by an event
            and holds up nobody else; more than 1,000 changes do not wait for it.

        Returns
        -------
        str
            An id, for :meth:`unsubscribe`.

        Raises
        ------
        InputError
            When there is no key, or a reserved one.
        ConfigurationError
            When the callback cannot be called.
        """
        return self._subscribe(tuple(free(key, "subscribe to") for key in keys), (), callback)

    def subscribe_pattern(self, *patterns: str, callback: Callable[[MemoryChange], Any]) -> str:
        """Be told of changes of all keys that fit a glob. As :meth:`subscribe`.

        Parameters
        ----------
        *patterns : str
            ``*`` stands for any text, ``?`` for a character, ``[abc]`` and ``[!abc]`` for one of
            some characters or none of them; ``[*]`` is a star. All else stands for itself.
        callback : callable

        Returns
        -------
        str

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> subscription = memory.subscribe_pattern("draft:*", callback=print)
        >>> memory.subscribed("draft:1"), memory.subscribed("draft")
        (True, False)
        >>> memory.unsubscribe(subscription), memory.unsubscribe(subscription)
        (True, False)
        """
        for pattern in patterns:
            if not isinstance(pattern, str) or not pattern:
                raise InputError(f"a glob is a text, not {pattern!r:.80}")
        return self._subscribe((), patterns, callback)

    def _subscribe(
        self, keys: tuple[str, ...], patterns: tuple[str, ...], callback: Callable[..., Any]
    ) -> str:
        if not keys and not patterns:
            raise InputError("name at least one key to be told of")
        found = Subscriber(f"subscriber-{next(subscriber_ids)}", keys, patterns, callback)
        self._listen()
        with self._lock:
            self._subscribers[found.id] = found
        return found.id

    def unsubscribe(self, subscription: str) -> bool:
        """End a subscription by its id. Returns whether there was one."""
        with self._lock:
            found = self._subscribers.pop(subscription, None)
        if found is None:
            return False
        found.over = True
        return True

    def unsubscribe_keys(self, *keys: str) -> int:
        """End the telling of some keys or globs, as they were named. Returns how many ended."""
        ended = 0
        with self._lock:
            for found in list(self._subscribers.values()):
                left = (
                    tuple(k for k in found.keys if k not in keys),
                    tuple(p for p in found.patterns if p not in keys),
                )
                if left == (found.keys, found.patterns):
                    continue
                ended += 1
                if not found.narrow(*left):
                    self.unsubscribe(found.id)
        return ended

    def subscribed(self, key: str) -> bool:
        """Whether anybody is told of changes of a key."""
        with self._lock:
            return any(s.wants(key) for s in self._subscribers.values())

    def offer(self, change: MemoryChange) -> None:
        """Queue a change for those who want it. Under the memory's lock."""
        for subscriber in self._subscribers.values():
            if subscriber.wants(change.key):
                subscriber.offer(change)

    def _lost(self, error: dict[str, Any]) -> None:
        """Report for all who subscribed that changes did not reach them."""
        with self._lock:
            subscribers = list(self._subscribers.values())
        for subscriber in subscribers:
            key = (*subscriber.keys, *subscriber.patterns)[0]
            subscriber.failed(key, error)
