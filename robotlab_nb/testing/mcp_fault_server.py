"""The fault server as a server that a client or a robot can be given."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from ..core.errors import ConfigurationError, near
from ..mcp.servers import Server
from .mcp_faults import MODES

__all__ = ["MCPFaultServer"]

_TIMEOUT = 30.0


class MCPFaultServer(Server):
    """A tool server that does what real ones do wrong, for tests of what you build with them.

    It is a program of the standard library alone, started over stdio like any other server.
    :mod:`.mcp_faults` lists its modes and its tools.

    Parameters
    ----------
    mode : str, optional
        What is wrong with it: ``well`` (nothing), ``garbage, hang, slow, exit, needs_variable,
        pages, same_page, unknown_ids, noisy, deaf, stubborn, orphan``. Its tools ``die, hang,
        huge, fail, refuse, misfit, ask, change`` … go wrong in every mode.
    name : str, optional
        Our name for it; ``faults``.
    seconds : float, optional
        How long the mode ``slow`` takes to start.
    calls_itself : str, optional
        Its own name for itself.
    **options
        What :class:`~robotlab_nb.mcp.servers.Server` takes: ``env, description`` …; ``timeout`` is
        30 here, for tests also run on machines that are busy.

    Raises
    ------
    ConfigurationError
        For a mode that is not there.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> with rl.mcp.Client(MCPFaultServer("garbage")) as client:
    ...     client.call_tool("add", {"a": 1, "b": 2}).structured
    {'total': 3}
    """

    __slots__ = ()

    def __init__(
        self,
        mode: str = "well",
        *,
        name: str = "faults",
        seconds: float = 1.0,
        calls_itself: str = "faults",
        **options: Any,
    ) -> None:
        if mode not in MODES:
            raise ConfigurationError(
                f"the fault server has no mode {mode!r}", hint=near(str(mode), MODES)
            )
        script = str(Path(__file__).with_name("mcp_faults.py"))
        # Isolated and without site-packages: it starts in a few hundredths of a second.
        args = ["-I", "-S", "-u", script, mode, "--seconds", str(seconds), "--name", calls_itself]
        options.setdefault("timeout", _TIMEOUT)
        super().__init__(name, command=sys.executable, args=args, **options)
