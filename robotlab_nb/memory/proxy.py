"""``memory.data``: values by attribute or item, which nobody waits for or subscribes to."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near
from .keys import checked, not_there

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .storing import Storing

__all__ = ["DataProxy"]


class DataProxy(MutableMapping[str, Any]):
    """The data of a memory, as a dict and as attributes.

    A name that is also a method's (``items``, ``update`` …) is reached as an item. Writing is
    recorded as a change of the key ``data.name``; nobody waits for it or is told of it.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> memory = rl.create_memory({"city": "Paris"})
    >>> memory.data.city, memory.data["city"]
    ('Paris', 'Paris')
    >>> memory.data.guests = 4
    >>> memory.data["items"] = ["bread"]
    >>> dict(memory.data)
    {'city': 'Paris', 'guests': 4, 'items': ['bread']}
    """

    __slots__ = ("_memory",)

    _memory: Storing

    def __init__(self, memory: Storing) -> None:
        object.__setattr__(self, "_memory", memory)

    def __getitem__(self, name: str) -> Any:
        found = self._memory.entries((checked(name),), "data")
        if name not in found:
            raise not_there(name, self, "the memory's data")
        return found[name].value

    def __setitem__(self, name: str, value: Any) -> None:
        self._memory.write("data", checked(name), value)

    def __delitem__(self, name: str) -> None:
        if not self._memory.remove("data", checked(name)):
            raise not_there(name, self, "the memory's data")

    def __iter__(self) -> Iterator[str]:
        return iter(self._memory.names("data"))

    def __len__(self) -> int:
        return len(self._memory.names("data"))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._memory.entries((name,), "data")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name not in self:
            raise AttributeError(f"the memory's data has no {name!r}. {near(name, list(self))}")
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        if hasattr(type(self), name):
            raise InputError(
                f"data.{name} is a method", hint=f'Write memory.data["{name}"] = value.'
            )
        self[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self:
            raise AttributeError(f"the memory's data has no {name!r}. {near(name, list(self))}")
        del self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self if name.isidentifier())]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"
