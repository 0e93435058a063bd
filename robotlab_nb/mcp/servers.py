"""What a tool server is and how it is reached: a description that opens nothing.

Sessions are in :mod:`.session`; what options there are, in :mod:`.server_options`.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.errors import ConfigurationError
from ..core.pickling import refuse_secrets
from ..core.readings import Pictured
from ..tools.labels import checked_approval, checked_labels
from .secret_options import register_secrets, secret_looking, without_values
from .server_dicts import described, keyword_transport
from .server_options import seconds

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from .server_files import ServerList

__all__ = ["CALL_TIMEOUT", "CONNECT_TIMEOUT", "Server"]

#: seconds that a server has to start and to say hello, and for one call
CONNECT_TIMEOUT = 15.0
CALL_TIMEOUT = 60.0
#: what its tools are unless it is said otherwise: what they give back, strangers wrote
LABELS = frozenset({"untrusted"})


class Server(Pictured):
    """A Model Context Protocol server: its name here, and how to reach it.

    Nothing is started or opened: that happens when a robot or a :class:`Client` needs it. Every
    option is checked now. A server that is given a ``command`` is a program that we start
    (``stdio``); one with a ``url`` is reached there, over ``http`` (streamable HTTP) unless the
    address begins with ``ws`` or its path ends in ``/sse``.

    Parameters
    ----------
    name : str
        Our name for it: robots select it by this, and tools of the same name are told apart by it.
    command : str, optional
        The program; no shell reads it.
    args : list of str, optional
        Its arguments.
    env : dict or list of str, optional
        Variables that it gets besides the few that every server gets (``PATH``, ``HOME`` …). A
        list names variables of our own environment; so does a value such as ``"${NAME}"``.
    cwd : str, optional
        The folder in which it runs.
    url : str, optional
        Where it is.
    headers : dict, optional
        HTTP headers; ``${NAME}`` in a value is read from the environment.
    type : str, optional
        ``stdio, http`` (``streamable-http``), ``sse, websocket`` (``ws``), or the name of a
        transport of :func:`register_transport`.
    timeout : float, optional
        Seconds that it has to start and to say hello; 15. At least 1; a thousand and more are
        read as milliseconds.
    call_timeout : float, optional
        Seconds for one call; 60.
    description : str, optional
        What it is good for: shown, and used to choose servers for a message.
    labels : iterable of str, optional
        What calls of its tools do, as for a Tool: ``private, untrusted, outward``. Left out, they
        read what strangers wrote (``untrusted``).
    approval : bool or callable, optional
        Whether each call of its tools needs a person's approval, as for a Tool.
    required : bool, optional
        Whether a run fails when it cannot be had; else runs go on without it.
    transport : dict, optional
        ``{"type": …, …}`` in place of the options above.
    **options
        Further options of the transport: ``retry`` and ``session_id`` of ``http``, ``post_url`` of
        ``sse``, ``ping_interval`` of ``websocket``, any of a registered one.

    Raises
    ------
    ConfigurationError
        For an option that is missing, wrong or unknown; the near one is named.

    Examples
    --------
    >>> Server("memory", command="npx", args=["-y", "@modelcontextprotocol/server-memory"])
    <Server memory: npx -y @modelcontextprotocol/server-memory>
    >>> Server("docs", url="https://example.org/mcp", headers={"Authorization": "Bearer ${TOKEN}"})
    <Server docs: http https://example.org/mcp, header Authorization>
    """

    __slots__ = (
        "approval", "call_timeout", "description", "fingerprint", "labels", "name", "origin",
        "required", "timeout", "transport",
    )  # fmt: skip

    name: str
    transport: Mapping[str, Any]
    timeout: float
    call_timeout: float
    description: str | None
    labels: frozenset[str]
    approval: Any
    required: bool
    #: the file that it was read from; None for code
    origin: str | None
    #: a hash of how it is reached: of its name, transport and times
    fingerprint: str

    def __init__(
        self,
        name: str,
        *,
        command: str | None = None,
        args: list[str] | tuple[str, ...] | None = None,
        env: Mapping[str, str | None] | list[str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        url: str | None = None,
        headers: Mapping[str, str] | None = None,
        type: str | None = None,
        timeout: float | None = None,
        call_timeout: float | None = None,
        description: str | None = None,
        labels: Iterable[str] | None = None,
        approval: Any = None,
        required: bool = False,
        transport: Mapping[str, Any] | str | None = None,
        **options: Any,
    ) -> None:
        given = {
            "type": type, "command": command, "args": args, "env": env, "cwd": cwd, "url": url,
            "headers": headers, **options,
        }  # fmt: skip
        self._set("name", _name(name))
        self._set("transport", _frozen(keyword_transport(self.name, given, transport, options)))
        where = f"server {self.name!r}: "
        asked = CONNECT_TIMEOUT if timeout is None else timeout
        self._set("timeout", seconds(asked, f"{where}timeout"))
        asked = CALL_TIMEOUT if call_timeout is None else call_timeout
        self._set("call_timeout", seconds(asked, f"{where}call_timeout"))
        if description is not None and not isinstance(description, str):
            raise ConfigurationError(f"{where}its description is a text")
        self._set("description", description)
        self._set("labels", LABELS if labels is None else checked_labels(labels, self.name))
        self._set("approval", checked_approval(approval, self.name) if approval else None)
        self._set("required", required is True)
        self._set("origin", None)
        register_secrets(self.transport)
        self._set("fingerprint", self._hash())

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise ConfigurationError(
            f"a Server does not change: {name} cannot be set", hint="Make another one."
        )

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    def _hash(self) -> str:
        told = [self.name, _plain(self.transport), self.timeout, self.call_timeout]
        text = json.dumps(told, sort_keys=True, default=lambda o: f"{o!r}@{id(o)}")
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    # -- other ways to describe one ----------------------------------------------------------

    @classmethod
    def of(cls, thing: Server | Mapping[str, Any]) -> Server:
        """A server as it is, or from a dict.

        Parameters
        ----------
        thing : Server or mapping
            ``{"name": …, "transport": {"type": …, …}, "timeout": …, "description": …}``, or the
            transport's options beside the name. Keys that are nothing like ours are passed over.

        Raises
        ------
        ConfigurationError
            When it is neither, or says what a server cannot be.

        Examples
        --------
        >>> Server.of({"name": "files", "transport": {"type": "stdio", "command": "files-mcp"}})
        <Server files: files-mcp>
        """
        if isinstance(thing, Server):
            return thing
        name, known = described(thing)
        return cls(name, **known)

    @classmethod
    def from_json(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> ServerList:
        """Read the ``mcpServers`` that other clients keep in JSON.

        Parameters
        ----------
        source : path or mapping
            A file (``.mcp.json``, ``claude_desktop_config.json``, ``.vscode/mcp.json`` …), or
            what stands in it. Servers that are switched off there (``disabled``) are left out.

        Returns
        -------
        list of Server
            In the order of the file.

        Raises
        ------
        ConfigurationError
            When the file cannot be read, is not such JSON, or describes a server wrongly.

        Examples
        --------
        >>> Server.from_json({"mcpServers": {"memory": {"command": "npx", "args": ["-y", "m"]}}})
        [<Server memory: npx -y m>]
        """
        from .server_files import servers_of

        return servers_of(source)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        """``stdio, http, sse, websocket``, or the name of a registered transport."""
        kind: str = self.transport["type"]
        return kind

    @property
    def place(self) -> str:
        """The command line, or the address, without secrets: what a person is shown."""
        transport = self.transport
        if self.kind == "stdio":
            return secrets.redact(shlex.join([transport["command"], *transport.get("args", ())]))
        url = transport.get("url")
        return secrets.redact(without_values(url)) if isinstance(url, str) else ""

    def to_dict(self) -> dict[str, Any]:
        """The description in robot_lab's shape, as JSON.

        Values that look like keys are left out: a reference such as ``${GITHUB_TOKEN}`` stands in
        their place, which is read from the environment where it is used.
        """
        transport = _plain(self.transport)
        for field in ("env", "headers"):
            held = transport.get(field)
            if isinstance(held, dict):
                transport[field] = {
                    k: f"${{{_variable(k)}}}" if secret_looking(k) and "${" not in v else v
                    for k, v in held.items()
                }
        out: dict[str, Any] = {
            "name": self.name,
            "transport": secrets.redact_data(transport),
            "timeout": self.timeout,
            "call_timeout": self.call_timeout,
        }
        if self.description is not None:
            out["description"] = self.description
        if self.labels != LABELS:
            out["labels"] = sorted(self.labels)
        if self.approval is True:
            out["approval"] = True
        if self.required:
            out["required"] = True
        return out

    def read_from(self, origin: str) -> Server:
        """The same server, with the file that it was read from."""
        return _again(self.name, self._recipe(), origin)

    def _recipe(self) -> dict[str, Any]:
        return {
            "timeout": self.timeout, "call_timeout": self.call_timeout, "labels": self.labels,
            "approval": self.approval, "required": self.required,
            "description": self.description, "transport": _plain(self.transport),
        }  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Server):
            return NotImplemented
        fields = ("fingerprint", "description", "labels", "approval", "required")
        return all(getattr(self, name) == getattr(other, name) for name in fields)

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        kind = "" if self.kind == "stdio" else f"{self.kind} "
        more = ""
        for field, word in (("env", "variable"), ("headers", "header")):
            names = self.transport.get(field)
            if isinstance(names, Mapping) and names:
                more += f", {word}{'s' if len(names) > 1 else ''} {', '.join(names)}"
        return secrets.redact(f"<Server {self.name}: {kind}{self.place}".rstrip() + f"{more}>")

    def __reduce__(self) -> Any:
        recipe = self._recipe()
        refuse_secrets(f"server {self.name!r}", recipe["transport"])
        return _again, (self.name, recipe, self.origin)


def _again(name: str, recipe: dict[str, Any], origin: str | None = None) -> Server:
    made = Server(name, **recipe)
    made._set("origin", origin)
    return made


def _name(name: Any) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError("a tool server's name is a text that is not empty")
    if len(name) > 64 or any(not c.isprintable() for c in name):
        raise ConfigurationError(
            f"the server's name {name[:64]!r} is over 64 characters or holds invisible ones"
        )
    return name.strip()


def _variable(name: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in name).upper()


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({k: _frozen(v) for k, v in value.items()})
    return tuple(_frozen(v) for v in value) if isinstance(value, (list, tuple)) else value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value
