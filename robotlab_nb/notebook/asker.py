"""The prompt of a notebook's cell, for questions to the person who waits in it."""

from __future__ import annotations

import signal
import threading
from typing import Any

__all__ = ["Asker", "asker"]


class Asker:
    """The input line of a kernel.

    Parameters
    ----------
    shell : InteractiveShell
    """

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def can_ask(self) -> bool:
        """Whether the cell that runs here may ask for input, and Stop reaches it meanwhile.

        The front end says the first with each cell. The second fails in cells with a top-level
        ``await``: the kernel hears Stop on its loop there, which a prompt would hold up.
        """
        if threading.current_thread() is not threading.main_thread():
            return False
        if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            return False
        try:
            content = self.shell.kernel.get_parent().get("content") or {}
        except Exception:
            return False
        return bool(content.get("allow_stdin"))

    def input(self, prompt: str) -> str:
        """Show a prompt under the cell and wait for a line."""
        return input(prompt)


def asker() -> Asker | None:
    """The prompt of this kernel's cells; None where there is no kernel.

    Examples
    --------
    >>> asker() is None
    True
    """
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or getattr(shell, "kernel", None) is None:
        return None
    return Asker(shell)
