"""The part of a memory that is written down, read back, copied and merged."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .backends import InProcess
from .exact_json import NotExact, decoded, encoded
from .history import History, exported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Self

    from .backends import Backend
    from .reactive import Memory

__all__ = ["SCHEMA_VERSION", "Saved"]

#: of what ``to_dict`` writes
SCHEMA_VERSION = 1
#: what ``to_dict`` calls an area
_CALLED = {"keys": "custom", "data": "data"}


class Saved(History):
    """Part of a memory: its contents as JSON, copies, merging."""

    if TYPE_CHECKING:
        set: Callable[..., int]

    #: keys that a restored memory had and that could not be written down
    left_out: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The whole memory as JSON, exact types included.

        Returns
        -------
        dict
            ``schema_version, name, network, session_id, backend, data, results, messages,
            custom`` (the free keys), ``labels``, and ``left_out``: the places of values that live
            in this process only, with their types.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory(name="lesson")
        >>> memory["at"], memory["lock"] = (1, 2), object()
        >>> told = memory.to_dict()
        >>> told["custom"], told["left_out"]
        ({'at': {'$': 'tuple', 'v': [1, 2]}}, [{'key': 'custom.lock', 'type': 'builtins.object'}])
        >>> rl.Memory.from_dict({**told, "left_out": []})["at"]
        (1, 2)
        """
        left: list[dict[str, str]] = []
        told: dict[str, Any] = {
            "schema_version": SCHEMA_VERSION,
            "name": self.name,
            "network": self.network_name,
            "session_id": self.session_id,
            "backend": self.backend.url,
        }
        labels: dict[str, list[str]] = {}
        for area, called in _CALLED.items():
            found = self.entries(self.names(area), area)
            places = ((f"{called}.{key}", key, entry.value) for key, entry in found.items())
            told[called] = dict(_written(places, left))
            labels |= {key: sorted(e.labels) for key, e in found.items() if e.labels}
        for which, values in (("results", self.results), ("messages", self.messages)):
            listed = ((f"{which}[{n}]", which, exported(v)) for n, v in enumerate(values))
            told[which] = [value for _, value in _written(listed, left)]
        return {**told, "labels": labels, "left_out": left}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, backend: str | Backend | None = None) -> Self:
        """Read what :meth:`to_dict` wrote.

        In a backend elsewhere, what is there stays; what is not there is written.

        Parameters
        ----------
        data : mapping
        backend : str or Backend, optional
            In place of the one that it was kept in, with credentials, say.

        Returns
        -------
        Memory
            Its results are the dicts that they were exported as; its ``left_out`` names what is
            lost, and a warning does as well.

        Raises
        ------
        InputError
            When it was written by a later version, or is no memory.
        """
        if not isinstance(data, Mapping) or data.get("schema_version", 1) > SCHEMA_VERSION:
            raise InputError(
                "this is no memory that can be read here",
                hint=f"It takes what to_dict() wrote, schema_version {SCHEMA_VERSION} at most.",
            )
        made = cls(name=data.get("name"), backend=backend or data.get("backend"))
        made.network_name = data.get("network")
        if made.session_id is None and data.get("session_id") is not None:
            made.session_id = data["session_id"]
        labels = data.get("labels") or {}
        there = set(made.names("keys"))
        for key, value in (data.get("custom") or {}).items():
            if key not in there:
                made.set(key, decoded(value), labels=labels.get(key))
        for key, value in (data.get("data") or {}).items():
            made.data.setdefault(key, decoded(value))
        for which, keep in (("results", made.append_result), ("messages", made.append_message)):
            if not getattr(made, which):
                for value in data.get(which) or ():
                    keep(decoded(value))
        made.left_out = tuple(left["key"] for left in data.get("left_out") or ())
        if made.left_out:
            import warnings

            warnings.warn(
                f"of the memory, {', '.join(made.left_out)} lived in the process that wrote it "
                "down only and are not restored",
                RuntimeWarning,
                stacklevel=2,
            )
        return made

    def clone(self, *, name: str | None = None, backend: str | Backend | None = None) -> Memory:
        """A copy that changes by itself: values copied deeply, no subscriptions, no waits.

        What cannot be copied (a connection, a lock) is shared with the original.

        Parameters
        ----------
        name, backend : optional
            Where the copy is kept; in this process when left out.

        Returns
        -------
        Memory

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory["list"] = [1]
        >>> copy = memory.clone()
        >>> copy.append("list", 2), memory["list"], copy["list"]
        (2, [1], [1, 2])
        """
        from .reactive import Memory

        made = Memory(name=name or self.name, backend=backend)
        made.network_name = self.network_name
        known: dict[int, Any] = {}
        for area in ("keys", "data", "meta"):
            for key, entry in self.entries(self.names(area), area).items():
                value = _copied(entry.value, known)
                if isinstance(made.backend, InProcess):
                    made.backend.put(area, key, entry._replace(value=value, token=""))
                else:
                    made.write(area, key, value, entry.labels)
        made.set_results(_copied(self.results, known))
        made.set_messages(_copied(self.messages, known))
        return made

    def merge(self, other: Memory | Mapping[str, Any]) -> Self:
        """Take over what another memory holds, or a mapping as free keys; the other's value wins.

        Parameters
        ----------
        other : Memory or mapping

        Returns
        -------
        Memory
            This one.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory["a"] = 1
        >>> memory.merge({"a": 2, "b": 3}).get("a", "b")
        {'a': 2, 'b': 3}
        """
        if isinstance(other, Saved):
            for key, entry in other.entries(other.names("keys")).items():
                self.set(key, entry.value, labels=entry.labels)
            self.data.update(other.data)
            for result in other.results:
                self.append_result(result)
            for message in other.messages:
                self.append_message(message)
            return self
        if not isinstance(other, Mapping):
            raise InputError(f"merge() takes a memory or a mapping, not {other!r:.80}")
        for key, value in other.items():
            self.set(key, value)
        return self


def _written(
    values: Iterator[tuple[str, str, Any]], left: list[dict[str, str]]
) -> Iterator[tuple[str, Any]]:
    """Values as exact JSON by their keys; those that have none are noted in ``left``."""
    for place, key, value in values:
        try:
            yield key, encoded(value, place)
        except NotExact:
            kind = type(value)
            left.append({"key": place, "type": f"{kind.__module__}.{kind.__qualname__}"})


def _copied(value: Any, known: dict[int, Any]) -> Any:
    """A deep copy; of what cannot be copied, the thing itself."""
    try:
        return copy.deepcopy(value, known)
    except Exception:
        parts: Sequence[Any] | None = value if isinstance(value, list) else None
        if parts is not None:
            return [_copied(part, known) for part in parts]
        if type(value) is dict:
            return {key: _copied(part, known) for key, part in value.items()}
        return value
