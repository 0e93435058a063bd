"""Reactive memory: values by key that robots, tasks, cells and processes share.

Whatever is written wakes those who wait for it and is told to those who subscribed. Safe in any
thread and on any event loop. Where the values are kept is a backend's matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import Pictured
from ..tools.preview import preview
from .attribution import checked_labels, note_read
from .keys import RESERVED, free, not_there
from .saving import Saved
from .waits import seconds_of, wait_async, wait_here

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from .backends import Backend
    from .changes import Entry

__all__ = ["Memory", "create_memory"]


class Memory(Saved, Pictured):
    """Values that robots share; made with :func:`create_memory`.

    Parameters
    ----------
    data : mapping, optional
        What ``memory.data`` has at first.
    name : str, optional
        What it is called in errors; with a backend of several processes, what they all call it.
    backend : str or Backend, optional
        None keeps values in this process, as they are; ``"redis://host:port/0"`` in Redis.
    session_id : str, optional
        The conversation that it belongs to.

    Raises
    ------
    ConfigurationError
        When the backend is unknown, or needs a name.
    MemoryUnreachable
        When the server of the backend does not answer.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> memory = rl.create_memory(name="lesson")
    >>> memory["topic"] = "tides"
    >>> memory.get("topic", "level")
    {'topic': 'tides', 'level': None}
    >>> memory.append("notes", "moon"), memory.append("notes", "sun"), memory["notes"]
    (1, 2, ['moon', 'sun'])
    >>> memory
    <Memory 'lesson': notes, topic>
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        name: str | None = None,
        backend: str | Backend | None = None,
        session_id: str | None = None,
    ) -> None:
        super().__init__(name, backend)
        for key, value in (data or {}).items():
            self.data[key] = value
        if session_id is not None:
            self.session_id = session_id

    # -- reading ---------------------------------------------------------------------------

    def get(self, *keys: str, wait: bool | float = False) -> Any:
        """Read keys; wait for those that are not there.

        Parameters
        ----------
        *keys : str
        wait : bool or float, optional
            True waits up to 300 s, a number so many seconds, for all keys together. A key that
            holds None is there.

        Returns
        -------
        object or dict
            Of one key its value, or None; of several a dict with all of them, None for what is
            not there.

        Raises
        ------
        AwaitTimeout
            When keys are missing when the time is up; at once when nobody is left who could
            write them. The message names them.
        ConfigurationError
            Where waiting would block the event loop that does the work: use :meth:`aget` there.

        Examples
        --------
        >>> import threading
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> threading.Timer(0.05, memory.set, ("draft", "Dear all")).start()
        >>> memory.get("draft", wait=10)
        'Dear all'
        """
        names, seconds = self._asked(keys), seconds_of(wait)
        found = self.entries(names)
        if seconds is not None and len(found) < len(names):
            found = wait_here(self, names, seconds)
        return self._answer(keys, found)

    async def aget(self, *keys: str, wait: bool | float = False) -> Any:
        """Read keys in async code, on any loop. As :meth:`get`."""
        names, seconds = self._asked(keys), seconds_of(wait)
        found = await self.aentries(names)
        if seconds is not None and len(found) < len(names):
            found = await wait_async(self, names, seconds)
        return self._answer(keys, found)

    def _asked(self, keys: Sequence[str]) -> tuple[str, ...]:
        """The free keys among those that were asked for, each once."""
        if not keys:
            raise InputError("get() takes at least one key")
        if "cache" in keys:
            free("cache", "get")
        return tuple(free(key, "get") for key in dict.fromkeys(keys) if key not in RESERVED)

    def _answer(self, keys: Sequence[str], found: Mapping[str, Entry]) -> Any:
        for entry in found.values():
            note_read(entry.labels)
        values = {
            key: self._reserved(key)
            if key in RESERVED
            else found[key].value
            if key in found
            else None
            for key in keys
        }
        return values[keys[0]] if len(keys) == 1 else values

    def _reserved(self, key: str) -> Any:
        return dict(self.data) if key == "data" else getattr(self, key)

    def __getitem__(self, key: str) -> Any:
        if self._asked((key,)) and key not in self:
            raise not_there(key, self, self.title)
        return self.get(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and bool(key in RESERVED or self.entries((key,)))

    def keys(self) -> list[str]:
        """The free keys that are there."""
        return self.names("keys")

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def version(self, key: str) -> int:
        """How often a key was written since it was created; 0 when it is not there."""
        found = self.entries((free(key, "ask the version of"),))
        return found[key].version if found else 0

    def labels(self, key: str) -> frozenset[str]:
        """What kinds of data are in a key's value: ``private``, ``untrusted``, ``outward``."""
        found = self.entries((free(key, "ask the labels of"),))
        return found[key].labels if found else frozenset()

    # -- writing ---------------------------------------------------------------------------

    def set(self, key: str, value: Any, *, labels: Iterable[str] | None = None) -> int:
        """Write a key; ``memory[key] = value`` does the same.

        Parameters
        ----------
        key : str
        value : object
            Kept as it is in this process; a backend elsewhere takes plain values only.
        labels : iterable of str, optional
            What kinds of data are in it, besides those that the writing run has read.

        Returns
        -------
        int
            The key's version: how often it was written since it was created.

        Raises
        ------
        InputError
            When the key is reserved, or the backend cannot hold the value.
        ConfigurationError
            When a label is unknown.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory.set("salaries", [3100, 2900], labels={"private"})
        1
        >>> sorted(memory.labels("salaries"))
        ['private']
        """
        key = free(key, "set")
        written = self.write("keys", key, value, checked_labels(labels, key))
        return 0 if written is None else written.version

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def update(self, key: str, function: Callable[[Any], Any]) -> Any:
        """Write what a function makes of a key's value, however many do so at the same time.

        Parameters
        ----------
        key : str
        function : callable
            Takes the value (None when there is none) and returns the new one. Called again when
            somebody else was faster, so it should do nothing besides.

        Returns
        -------
        object
            The new value.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory.update("count", lambda count: (count or 0) + 1)
        1
        """
        key = free(key, "update")
        return self._revise(key, function).value

    def append(self, key: str, item: Any, *, labels: Iterable[str] | None = None) -> int:
        """Add to the list under a key, begun if need be. Nothing is lost between writers.

        Returns
        -------
        int
            The key's version.

        Raises
        ------
        InputError
            When there is something else than a list.
        """
        key = free(key, "append to")

        def added(value: Any) -> list[Any]:
            if value is not None and not isinstance(value, list):
                kind = type(value).__name__
                raise InputError(f"cannot append to {key!r} of {self.title}: it holds a {kind}")
            return [*(value or ()), item]

        given = checked_labels(labels, key)
        return self._revise(
            key, added, given, {"value": preview(item).data, "appended": True}
        ).version

    def _revise(
        self,
        key: str,
        function: Callable[[Any], Any],
        labels: frozenset[str] = frozenset(),
        told: Mapping[str, Any] | None = None,
    ) -> Entry:
        while True:
            before = self.entries((key,)).get(key)
            if before is not None:
                note_read(before.labels)
                labels |= before.labels
            value = function(None if before is None else before.value)
            written = self.write("keys", key, value, labels, expected=before, told=told)
            if written is not None:
                return written

    def delete(self, key: str) -> bool:
        """Delete a key and tell its subscribers. Returns whether it was there.

        Raises
        ------
        InputError
            When the key is reserved.
        """
        return self.remove("keys", free(key, "delete"))

    def __delitem__(self, key: str) -> None:
        if not self.delete(key):
            raise not_there(key, self, self.title)

    def clear(self) -> Memory:
        """Delete all free keys and tell their subscribers; reserved ones stay. Returns itself."""
        self.remove_all()
        return self

    def reset(self) -> Memory:
        """Delete everything: free keys, data, results, messages and the session's id."""
        self.clear()
        self.data.clear()
        self.session_id = None
        self.set_results(())
        self.set_messages(())
        return self

    def scoped(self, values: Mapping[str, Any]) -> Memory:
        """This memory with values of one run over it, which are gone with the returned object.

        Parameters
        ----------
        values : mapping
            Free keys and their values. What is written to these keys stays in it as well; all
            other keys are this memory's.

        Returns
        -------
        Memory

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> scoped = memory.scoped({"customer": 7})
        >>> scoped["answer"] = 42
        >>> memory.get("customer", "answer")
        {'customer': None, 'answer': 42}
        """
        from .scoped import ScopedMemory

        return ScopedMemory(self, values)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        named = f" {self.name!r}" if self.name is not None else ""
        where = "" if self.backend.url is None else f" at {self.backend.url}"
        try:
            keys = sorted(self.keys())
        except Exception as error:
            return f"<Memory{named}{where}: not reachable ({type(error).__name__})>"
        shown = ", ".join(keys[:12]) + (f" and {len(keys) - 12} more" if len(keys) > 12 else "")
        return f"<Memory{named}{where}: {shown or 'no keys'}>"


def create_memory(
    data: Mapping[str, Any] | None = None,
    *,
    name: str | None = None,
    backend: str | Backend | None = None,
    session_id: str | None = None,
) -> Memory:
    """Make a memory that robots, networks and cells can share.

    Parameters
    ----------
    data : mapping, optional
        What ``memory.data`` has at first.
    name : str, optional
        What it is called; needed where several processes share it.
    backend : str or Backend, optional
        None keeps values in this process; ``"redis://host:port/0"`` keeps them in Redis.
    session_id : str, optional
        The conversation that it belongs to.

    Returns
    -------
    Memory

    Raises
    ------
    ConfigurationError
        When the backend is unknown, or needs a name.
    MemoryUnreachable
        When the server of the backend does not answer.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> memory = rl.create_memory({"language": "French"})
    >>> memory["draft"] = "Bonjour"
    >>> memory.data.language, memory["draft"], memory.version("draft")
    ('French', 'Bonjour', 1)
    """
    return Memory(data, name=name, backend=backend, session_id=session_id)
