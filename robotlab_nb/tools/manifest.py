"""A robot's tools by name, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError, ToolNotFoundError, near
from ..core.keys import digest
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..models.protocol import ToolSpec
    from .definition import Tool

__all__ = ["ToolManifest"]


class ToolManifest(Pictured):
    """An ordered collection of tools, each with a name of its own. It does not change.

    Parameters
    ----------
    tools : iterable of Tool
        The same tool may come twice and counts once.

    Raises
    ------
    ConfigurationError
        When two different tools have one name.

    Examples
    --------
    >>> from robotlab_nb.tools.decorator import as_tool
    >>> def add(a: int, b: int) -> int: ...
    >>> tools = ToolManifest([as_tool(add)])
    >>> tools.names, "add" in tools, len(tools), tools["add"].name
    (('add',), True, 1, 'add')
    """

    __slots__ = ("_guarded", "_key", "_specs", "_tools", "_wants_memory")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        by_name: dict[str, Tool] = {}
        for one in tools:
            other = by_name.setdefault(one.name, one)
            # Bound methods are equal, not identical, each time they are looked up.
            if other is not one and (
                other.function != one.function or other.schema_key != one.schema_key
            ):
                raise ConfigurationError(
                    f"two tools are called {one.name!r}: {other.source}, and {one.source}",
                    hint=f'Rename one: tool(name="{one.name}_2")(function).',
                )
        self._tools = by_name
        self._specs: tuple[ToolSpec, ...] | None = None
        self._key: str | None = None
        self._guarded: bool | None = None
        self._wants_memory: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names, in order."""
        return tuple(self._tools)

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What a model is told of them, in order."""
        if self._specs is None:
            self._specs = tuple([one.spec for one in self._tools.values()])
        return self._specs

    @property
    def key(self) -> str:
        """Digest of what a model is told of them; ``""`` when there are none."""
        if self._key is None:
            keys = [one.schema_key for one in self._tools.values()]
            self._key = digest(keys) if keys else ""
        return self._key

    @property
    def guarded(self) -> bool:
        """Whether any of them asks for approval, or has a label that may call for it."""
        if self._guarded is None:
            self._guarded = any(
                one.labels or one.approval is not None for one in self._tools.values()
            )
        return self._guarded

    @property
    def wants_memory(self) -> bool:
        """Whether any of them is to be given the memory."""
        if self._wants_memory is None:
            self._wants_memory = any(
                kind == "memory"
                for one in self._tools.values()
                for kind, _ in one.signature.injected.values()
            )
        return self._wants_memory

    def get(self, name: str) -> Tool | None:
        """The tool of a name, or None."""
        return self._tools.get(name)

    def fetch(self, name: str) -> Tool:
        """The tool of a name; the same as ``[]``.

        Raises
        ------
        ToolNotFoundError
            When there is none; it names the near or the known ones.
        """
        found = self._tools.get(name)
        if found is None:
            raise ToolNotFoundError(f"there is no tool {name!r}", hint=near(name, self._tools))
        return found

    def __getitem__(self, name: str) -> Tool:
        return self.fetch(name)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._tools)

    def __contains__(self, thing: object) -> bool:
        if isinstance(thing, str):
            return thing in self._tools
        return any(one is thing for one in self._tools.values())

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def __len__(self) -> int:
        return len(self._tools)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ToolManifest):
            return NotImplemented
        return list(self._tools.values()) == list(other._tools.values())

    def __hash__(self) -> int:
        return hash(tuple(self._tools))
