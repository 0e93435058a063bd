"""What a server's process gets of our environment: the few usual variables, and what is named."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from ..core.mcp_errors import MCPConnectionError
from .secret_options import filled, references

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .servers import Server

__all__ = ["child_environment", "refuse_missing", "usual_variables"]

_USUAL = (
    (
        "APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT",
        "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME",
        "USERPROFILE",
    )
    if sys.platform == "win32"
    else ("HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR",
          "USER")
)  # fmt: skip


def usual_variables() -> dict[str, str]:
    """What every server gets: where programs are, whose home it is, the language. No keys."""
    found = {name: os.environ[name] for name in _USUAL if name in os.environ}
    # A shell's functions travel as variables; they are code.
    return {name: value for name, value in found.items() if not value.startswith("()")}


def child_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The whole environment of a server's process."""
    return {**usual_variables(), **filled(dict(env))}


def refuse_missing(server: Server) -> None:
    """Raise when variables that a server's options refer to are not set.

    Raises
    ------
    MCPConnectionError
        Naming all of them.
    """
    options = [v for k, v in server.transport.items() if k in ("env", "headers", "url", "post_url")]
    missing = [n for n in dict.fromkeys(references(options)) if not os.environ.get(n)]
    if missing:
        error = MCPConnectionError(
            f"server {server.name!r} needs {' and '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not set",
            hint="Set it in the environment of this notebook, or give its value.",
            server=server.name,
        )
        error.transport = server.kind
        raise error
