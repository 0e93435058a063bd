"""The tool servers of a robot: what ``mcp=`` means, the same at every level. Opens nothing.

Left out: what the level above gives. A list: exactly that. Connecting is :mod:`.opening`'s work.
"""

from __future__ import annotations

import fnmatch
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, near
from ..core.keys import digest
from .servers import Server
from .trust import identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..runtime.run import Run
    from ..tools.manifest import ToolManifest
    from ..tools.tool_source import Opened

__all__ = ["NO_SERVERS", "Entry", "ServerSet"]

_WORDS = ("none", "inherit")
_NONE_ABOVE = 'The level above has none: describe it, mcp=[rl.mcp.Server("…", command="…")].'
#: how the name of a level begins that a file or a variable made, and no code
_FILES = ("template", "skill", "file ", "environment ")


class Entry(NamedTuple):
    """A server that is meant.

    Attributes
    ----------
    server : Server
    origin : str or None
        What names it; None for code.
    wanted : tuple of (tuple of str)
        Names and globs of its tools, as each level narrowed them: a tool is meant when it fits
        one of each.
    """

    server: Server
    origin: str | None = None
    wanted: tuple[tuple[str, ...], ...] = ()

    def wants(self, *names: str) -> bool:
        """Whether a tool is meant that has these names."""
        return all(
            any(fnmatch.fnmatchcase(name, pattern) for name in names for pattern in patterns)
            for patterns in self.wanted
        )


class ServerSet:
    """The servers that a level leaves: a tool source.

    Examples
    --------
    >>> above = NO_SERVERS.select([Server("disk", command="disk-mcp")], "network")
    >>> above.select(["di*"], "robot").names, above.select([], "robot").names
    (('disk',), ())
    """

    __slots__ = ("entries",)

    def __init__(self, entries: Sequence[Entry] = ()) -> None:
        self.entries = tuple(entries)

    @property
    def names(self) -> tuple[str, ...]:
        """Our names of the servers, in order."""
        return tuple(entry.server.name for entry in self.entries)

    @property
    def servers(self) -> tuple[Server, ...]:
        """The servers, in order."""
        return tuple(entry.server for entry in self.entries)

    @property
    def key(self) -> str:
        """Digest of which servers and which of their tools are meant."""
        return digest([[identity(e.server), [list(w) for w in e.wanted]] for e in self.entries])

    def select(self, value: Any, origin: str) -> ServerSet:
        """What an ``mcp=`` value leaves.

        Parameters
        ----------
        value : list
            Servers and dicts that describe one attach; names and globs select from above; ``...``
            stands for all from above.
        origin : str
            The level that says so.

        Raises
        ------
        ConfigurationError
            When a server cannot be meant, a name is not known above, or two servers share one.
        """
        if not isinstance(value, (list, tuple)):
            raise _no_list(value)
        found: dict[str, Entry] = {}
        for item in value:
            for entry in self._selected(item, origin):
                other = found.setdefault(entry.server.name, entry)
                if other.server != entry.server:
                    raise ConfigurationError(
                        f"two tool servers are called {entry.server.name!r}: "
                        f"{other.server!r}, and {entry.server!r}",
                        hint="The name is ours: give one of them another.",
                    )
        return ServerSet(tuple(found.values()))

    def _selected(self, item: Any, origin: str) -> Sequence[Entry]:
        if item is Ellipsis:
            return self.entries
        if isinstance(item, str):
            return self._by_name(item)
        if isinstance(item, Mapping):
            item = Server.of(item)
        elif not isinstance(item, Server):
            item = getattr(item, "server", item)  # a Client's, a Session's
        if not isinstance(item, Server):
            raise ConfigurationError(
                f"mcp= takes tool servers, not {item!r:.80}",
                hint='For example mcp=[rl.mcp.Server("files", command="…")].',
            )
        return [Entry(item, origin if origin.startswith(_FILES) else item.origin)]

    def _by_name(self, name: str) -> Sequence[Entry]:
        found = [e for e in self.entries if e.server.name == name]
        if not found and any(c in name for c in "*?["):
            found = [e for e in self.entries if fnmatch.fnmatchcase(e.server.name, name)]
            if not found:
                listed = ", ".join(map(repr, self.names)) or "none"
                warnings.warn(f"no tool server matches {name!r}; known: {listed}", stacklevel=6)
        elif not found:
            if name.lower() in _WORDS:
                raise _no_word(name)
            hint = near(name, self.names) if self.names else _NONE_ABOVE
            raise ConfigurationError(f"there is no tool server {name!r} to select", hint=hint)
        return found

    def narrow(self, wanted: Sequence[str]) -> ServerSet:
        """Only the tools with these names, or that match these globs; none for none."""
        if not wanted:
            return NO_SERVERS
        patterns = tuple(wanted)
        return ServerSet([e._replace(wanted=(*e.wanted, patterns)) for e in self.entries])

    async def open(
        self, run: Run[Any], message: str, own: ToolManifest, settings: Mapping[str, Any]
    ) -> Opened:
        """Connect what fits and is not connected, and give its tools; see :mod:`.opening`."""
        from .opening import opened

        return await opened(self.entries, run, message, own, settings)

    async def connect(self, own: ToolManifest) -> Opened:
        """Connect all of them now, outside any run."""
        from .opening import connected

        return await connected(self.entries, own)

    async def disconnect(self) -> None:
        """Close their sessions; each is opened again when it is needed."""
        from .opening import disconnected

        await disconnected(self.servers)


def _no_word(word: str) -> ConfigurationError:
    return ConfigurationError(
        f"mcp={word!r} has no meaning",
        hint="mcp=[] means none; leave mcp= out, or put ... into the list, "
        "for all from the level above.",
    )


def _no_list(value: Any) -> ConfigurationError:
    if isinstance(value, str) and value.lower() in _WORDS:
        return _no_word(value)
    return ConfigurationError(
        f"mcp={value!r:.80} is no list", hint="Put it in brackets: mcp=[…]; [] for none."
    )


#: what there is where no level has named a server
NO_SERVERS = ServerSet()
