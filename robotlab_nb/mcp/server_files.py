"""Reading the JSON in which other clients keep their tool servers."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ..core.errors import ConfigurationError
from ..core.readings import ShownList
from .servers import Server

__all__ = ["ServerList", "servers_of"]

ServerList: TypeAlias = ShownList[Server]

#: the key under which they stand
_KEYS = ("mcpServers", "mcp_servers", "servers", "context_servers")
#: what stands beside a server's options there and means nothing to us
_OTHERS = frozenset(
    {
        "alwaysAllow", "autoApprove", "dev", "disabledTools", "enabled", "enabledTools", "envFile",
        "gallery", "icon", "id", "includeTools", "excludeTools", "metadata", "oauth", "source",
        "trust", "version",
    }
)  # fmt: skip
_NAMES = {"httpUrl": "url", "serverUrl": "url", "transportType": "type", "workingDirectory": "cwd"}
_MOST_BYTES = 5_000_000


def servers_of(source: str | os.PathLike[str] | Mapping[str, Any]) -> ServerList:
    """The servers of such a file, or of what stands in it.

    Parameters
    ----------
    source : path or mapping
    """
    if isinstance(source, Mapping):
        data, where = source, "the servers"
    else:
        data, where = _read(Path(os.fspath(source))), str(source)
    listed = next((data[k] for k in _KEYS if k in data), None)
    if listed is None and isinstance(data.get("mcp"), Mapping):  # an editor's settings
        listed = next((data["mcp"][k] for k in _KEYS if k in data["mcp"]), None)
    if listed is None and data and all(_like_a_server(v) for v in data.values()):
        listed = data
    if not isinstance(listed, Mapping):
        raise ConfigurationError(
            f"{where}: there is no mcpServers in it",
            hint='It looks like {"mcpServers": {"name": {"command": …, "args": […]}}}.',
        )
    found = (_server(str(n), told, where) for n, told in listed.items() if not _is_off(told))
    if isinstance(source, Mapping):
        return ShownList(found)
    return ShownList(server.read_from(f"file {where}") for server in found)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        path = path.expanduser()
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigurationError(f"{path} is too large to be a list of servers")
        data = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from None
    if not isinstance(data, Mapping):
        raise ConfigurationError(f"{path} holds no JSON object")
    return data


def _like_a_server(told: Any) -> bool:
    return isinstance(told, Mapping) and any(k in told for k in ("command", "url", *_NAMES))


def _is_off(told: Any) -> bool:
    return isinstance(told, Mapping) and (
        told.get("disabled") is True or told.get("enabled") is False
    )


def _server(name: str, told: Any, where: str) -> Server:
    if not isinstance(told, Mapping):
        raise ConfigurationError(f"{where}: the server {name!r} is an object, not {told!r:.60}")
    options: dict[str, Any] = {
        _NAMES.get(str(k), str(k)): v for k, v in told.items() if k not in _OTHERS
    }
    options.pop("disabled", None)
    if options.get("type") == "local":
        options["type"] = "stdio"
    try:
        return Server.of({**options, "name": name})
    except ConfigurationError as error:
        raise ConfigurationError(f"{where}: {error.message}", hint=error.hint) from None
