"""Tools that live elsewhere: what a robot knows of them, and how ``tools=`` and ``mcp=`` meet.

A source is a set of servers as a level left it; it opens nothing before a run asks it to. Where
the servers are and how they are spoken to is another room's business.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..core.readings import reading
from .manifest import ToolManifest
from .selection import draws_from_above, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Self

    from ..runtime.run import Run
    from .definition import Tool

__all__ = ["CALL", "Opened", "ToolSource", "pooled"]

NO_TOOLS = ToolManifest(())
#: id of the tool call in which the calling code happens
CALL: ContextVar[str | None] = ContextVar("robotlab_nb_tool_call", default=None)


class Opened(NamedTuple):
    """What came of opening a source: its tools, and the servers that could not be had."""

    tools: tuple[Tool, ...] = ()
    failed: tuple[str, ...] = ()


class ToolSource(Protocol):
    """Servers, and which of their tools are meant. It does not change."""

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of the servers, in order."""

    @property
    def key(self) -> str:
        """Digest of which servers and which of their tools are meant."""

    def select(self, value: Any, origin: str) -> Self:
        """What an ``mcp=`` value leaves; ``origin`` is the level that says so.

        Raises
        ------
        ConfigurationError
            When something in it cannot be meant.
        """

    def narrow(self, wanted: Sequence[str]) -> Self:
        """Only the tools with these names, or that match these globs."""

    async def open(
        self, run: Run[Any], message: str, own: ToolManifest, settings: Mapping[str, Any]
    ) -> Opened:
        """Connect what fits and is not connected, and give its tools.

        Parameters
        ----------
        run : Run
            Whose tools they will be; what happens is recorded there.
        message : str
        own : ToolManifest
            The robot's other tools: their names are taken.
        settings : mapping
        """


def pooled(levels: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[ToolManifest, Any]:
    """The tools and the source that all levels together leave, weakest first.

    At a level that says both, ``mcp=`` attaches servers as ``tools=`` attaches functions: names and
    globs then select among their tools too, and ``tools=[]`` still means none.

    Returns
    -------
    tuple of (ToolManifest, ToolSource or None)
        None where no server is meant.

    Raises
    ------
    ConfigurationError, ToolNotFoundError
        When something cannot be meant.
    """
    tools, source = NO_TOOLS, None
    for origin, level in levels:
        attached = level.get("mcp") is not None
        if attached:
            known: Any = reading("tool_servers") if source is None else source
            source = known.select(level["mcp"], origin)
        value = level.get("tools")
        if value is None:
            continue
        if source is None or not source.names:
            tools = select(value, tools)
            continue
        elsewhere: list[str] = []
        tools = select(value, tools, elsewhere)
        source = _narrowed(source, value, elsewhere, attached)
    return tools, source if source is not None and source.names else None


def _narrowed(source: ToolSource, value: Any, elsewhere: list[str], attached: bool) -> ToolSource:
    """What a ``tools=`` value leaves of the servers."""
    if not draws_from_above(value):
        return source if attached and len(value) else source.select([], "")
    if ... in tuple(value):
        return source
    return source.narrow(elsewhere)
