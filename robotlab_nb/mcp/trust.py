"""What a person has seen of tool servers: their commands, and how their tools were described.

Kept as plain JSON in the user's data directory, so that it holds for all notebooks. What is not
known yet is shown before it runs; a tool that is described otherwise than before waits for a
person. Asking is :mod:`.approving`'s work.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import threading
import warnings
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core import secrets
from .secret_options import secret_looking

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .remote_tools import RemoteTool
    from .servers import Server

__all__ = ["Differences", "Trust", "command_of", "definition", "identity", "trust"]

#: an environment variable that names another file; "off" keeps nothing beyond the process
VARIABLE = "ROBOTLAB_NB_TRUST"
#: characters of a definition that are kept, so that a change can be shown
_MOST_KEPT = 20_000
_MOST_DIFF = 8_000
#: tools of one server that are remembered
_MOST_TOOLS = 2_000


class Differences(NamedTuple):
    """How a server's tools differ from those that were known. Names, and texts that show it."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def command_of(server: Server) -> str:
    """What will run, or where it is: the exact command with its folder and its variables.

    Of what looks like a key only the name is shown, and the variable that it is read from.

    Examples
    --------
    >>> from robotlab_nb.mcp.servers import Server
    >>> files = Server("files", command="files-mcp", args=["/tmp/a b"], env={"LANG": "C"})
    >>> command_of(files)
    "LANG=C files-mcp '/tmp/a b'"
    """
    transport = server.transport
    text = server.place
    if transport.get("cwd"):
        text = f"cd {shlex.quote(str(transport['cwd']))} && {text}"
    before = " ".join(f"{k}={v}" for k, v in _shown(transport.get("env"), shlex.quote))
    after = ", ".join(f"{k}: {v}" for k, v in _shown(transport.get("headers"), str))
    whole = f"{before} {text}".strip() + (f" ({after})" if after else "")
    return secrets.redact(whole) or server.kind


def _shown(fields: Any, written: Callable[[str], str]) -> list[tuple[str, str]]:
    """Variables or headers, as they may be shown: a value can change what a command does."""
    if not isinstance(fields, Mapping):
        return []
    return [
        (name, written(str(value)) if "${" in str(value) or not secret_looking(name) else "…")
        for name, value in fields.items()
    ]


def identity(server: Server) -> str:
    """What tells servers apart here: our name, and all of what is run or called."""
    told = {
        key: dict(value) if isinstance(value, Mapping) else _listed(value)
        for key, value in server.transport.items()
    }
    text = json.dumps([server.name, told], sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def definition(tool: RemoteTool) -> str:
    """All that a server says of a tool, as text that can be compared line by line."""
    told = {
        "title": tool.title, "description": tool.description, "parameters": tool.input_schema,
        "output": tool.output_schema, "annotations": dict(tool.annotations or {}),
    }  # fmt: skip
    return json.dumps(
        {k: v for k, v in told.items() if v not in (None, "", {})},
        indent=1, sort_keys=True, ensure_ascii=False, default=str,
    )  # fmt: skip


class Trust:
    """What is known of servers, in a file or in this process alone. Any thread may use it.

    Two processes that write at the same moment may lose one's entry: it is then asked for again.

    Parameters
    ----------
    path : Path or None
        None keeps it in the process.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._stamp: tuple[int, ...] | None = None
        self._servers: dict[str, dict[str, Any]] = {}
        self._damaged = False

    def knows(self, server: Server) -> bool:
        """Whether a person has seen this server's command, and it was not refused."""
        with self._lock:
            return bool(self._read().get(identity(server), {}).get("approved"))

    def remember(self, server: Server) -> None:
        """Note that a person has seen, or approved, this server's command."""
        from datetime import UTC, datetime

        with self._lock:
            servers = self._read()
            known = servers.get(identity(server), {})
            since = known.get("since") or datetime.now(UTC).isoformat(timespec="seconds")
            servers[identity(server)] = {
                **_told(server), "since": since, "approved": True, "tools": known.get("tools", {}),
            }  # fmt: skip
            self._write(servers)

    def forget(self, meant: Callable[[str, Mapping[str, Any]], bool]) -> int:
        """Forget the servers that are meant, by identity and record; how many there were."""
        with self._lock:
            servers = self._read()
            gone = [key for key, told in servers.items() if meant(key, told)]
            for key in gone:
                del servers[key]
            if gone:
                self._write(servers)
            return len(gone)

    def records(self) -> list[dict[str, Any]]:
        """What is known: name, command, since when, whether approved, names of tools."""
        with self._lock:
            return [
                {**told, "tools": sorted(told.get("tools", ()))} for told in self._read().values()
            ]

    # -- definitions -------------------------------------------------------------------------

    def differences(self, server: Server, tools: Sequence[RemoteTool]) -> Differences:
        """How tools differ from those that are known. The first ones of a server differ in none."""
        with self._lock:
            known = self._tools(server)
        if not known:
            return Differences()
        now = {tool.name: tool for tool in tools}
        changed = {
            name: _diff(known[name], tool)
            for name, tool in now.items()
            if name in known and known[name].get("digest") != tool.digest
        }
        return Differences(
            tuple(n for n in now if n not in changed and (n not in known or known[n].get("gone"))),
            tuple(n for n in known if n not in now and not known[n].get("gone")),
            changed,
        )

    def accept(self, server: Server, tools: Sequence[RemoteTool], *, but: Sequence[str]) -> None:
        """Take definitions as known, but those of some tools: what was known of these stays."""
        with self._lock:
            servers = self._read()
            # One that a policy let in has no person's approval, and tools all the same.
            entry = servers.setdefault(identity(server), {**_told(server), "approved": False})
            before = entry.get("tools", {})
            # What is gone is kept: else a tool could come back as another one.
            after = {name: {**told, "gone": True} for name, told in before.items()}
            after |= {t.name: before.get(t.name, {}) if t.name in but else _kept(t) for t in tools}
            if len(after) > _MOST_TOOLS:
                after = dict(list(after.items())[-_MOST_TOOLS:])
            if after != before:
                entry["tools"] = after
                self._write(servers)

    def descriptions(self, server: Server) -> str:
        """What is known of a server's tools in words, to compare messages with."""
        with self._lock:
            known = self._tools(server)
        return " ".join(f"{name} {told.get('about', '')}" for name, told in known.items())

    def _tools(self, server: Server) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = self._read().get(identity(server), {}).get("tools") or {}
        return found

    # -- the file ----------------------------------------------------------------------------

    def _read(self) -> dict[str, dict[str, Any]]:
        if self.path is None:
            return self._servers
        try:
            found = os.stat(self.path)
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if stamp != self._stamp:
                self._servers = self._load()
                self._stamp = stamp
        except OSError:
            if self._stamp is not None:  # it is gone: so is what it said
                self._servers, self._stamp = {}, None
        return self._servers

    def _load(self) -> dict[str, dict[str, Any]]:
        assert self.path is not None
        try:
            data = json.loads(self.path.read_text("utf-8"))
            servers = data["servers"]
            return {str(k): dict(v) for k, v in servers.items()}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            if not self._damaged:
                self._damaged = True
                warnings.warn(
                    f"what is known of tool servers, {self.path}, cannot be read: commands are "
                    "shown again. The file goes to ….damaged when something is noted.",
                    RuntimeWarning,
                    stacklevel=4,
                )
            return {}

    def _write(self, servers: dict[str, dict[str, Any]]) -> None:
        self._servers = servers
        if self.path is None:
            return
        text = json.dumps({"version": 1, "servers": servers}, indent=1, ensure_ascii=False)
        fresh = self.path.with_name(f"{self.path.name}.{os.getpid()}.{threading.get_ident()}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self._damaged and self.path.exists():
                os.replace(self.path, self.path.with_name(self.path.name + ".damaged"))
                self._damaged = False
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                      encoding="utf-8", errors="backslashreplace") as file:  # fmt: skip
                file.write(text)
            os.replace(fresh, self.path)
            found = os.stat(self.path)
            self._stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        except OSError as error:
            # A full or read-only disk: it holds for this process all the same.
            warnings.warn(
                f"what is known of tool servers cannot be kept in {self.path}: {error}",
                RuntimeWarning,
                stacklevel=3,
            )
            self.path = None
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink()


def _told(server: Server) -> dict[str, Any]:
    return {"name": server.name, "command": command_of(server)}


def _kept(tool: RemoteTool) -> dict[str, Any]:
    text = secrets.redact(definition(tool))
    kept = {"digest": tool.digest, "about": secrets.redact(tool.description or "")[:1000]}
    return {**kept, "definition": text} if len(text) <= _MOST_KEPT else kept


def _diff(known: Mapping[str, Any], tool: RemoteTool) -> str:
    """What changed, line by line; where the old text is not known, the new one."""
    new = definition(tool)
    old = known.get("definition")
    if not isinstance(old, str):
        return secrets.redact(new)[:_MOST_DIFF]
    lines = list(unified_diff(old.split("\n"), new.split("\n"), "known", "now", n=1, lineterm=""))
    return secrets.redact("\n".join(lines))[:_MOST_DIFF]


_held: tuple[str, Trust] | None = None
_holding = threading.Lock()


def trust() -> Trust:
    """What is known, of this process: in the file that the environment names, else the usual one.

    Examples
    --------
    >>> trust() is trust()
    True
    """
    global _held
    where = os.environ.get(VARIABLE) or ""
    with _holding:
        if _held is None or _held[0] != where:
            _held = (where, Trust(_path(where)))
        return _held[1]


def _path(where: str) -> Path | None:
    if where.lower() == "off":
        return None
    if where:
        return Path(where).expanduser()
    from platformdirs import user_data_path

    return user_data_path("robotlab_nb", appauthor=False) / "tool_servers.json"
