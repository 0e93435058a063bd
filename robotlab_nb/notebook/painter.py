"""Painting in a notebook: one status line while a cell blocks, and which cell is running.

The thread that is blocked in ``run()`` paints; nothing is painted from the engine's thread.
"""

from __future__ import annotations

import contextlib
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.readings import reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runtime.run import Run

__all__ = ["Painter", "painter"]

#: seconds that a run may take before its line appears: quick ones should not flicker
QUIET_S = 0.3


class Painter:
    """Paints for one kernel."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell

    def cell(self) -> tuple[str, str] | None:
        """The id of the cell being run and of this execution, where the front end tells them."""
        kernel = getattr(self.shell, "kernel", None)
        try:
            parent = kernel.get_parent() if kernel is not None else {}
        except Exception:
            return None
        cell_id = (parent.get("metadata") or {}).get("cellId")
        execution = (parent.get("header") or {}).get("msg_id")
        return (cell_id, execution) if cell_id and execution else None

    def show(self, run: Run[Any]) -> bool:
        """Show a run in the cell that is being run."""
        publish(run)
        return True

    def shown_here(self, run_id: str) -> bool:
        """Whether a run was shown live by the cell that is being run now."""
        return False

    @contextlib.contextmanager
    def status_line(self, run: Run[Any]) -> Iterator[_Line | None]:
        """One line about a run while this thread waits for it; it goes away afterwards.

        A run that fails leaves its picture instead, so that its messages are not lost.
        """
        line = _Line(run)
        try:
            yield line
        finally:
            line.close()
            if run.done and run.status != "completed":
                with contextlib.suppress(Exception):
                    publish(run)


class _Line:
    """The status line of one run."""

    def __init__(self, run: Run[Any]) -> None:
        self._run = run
        self._from = monotonic()
        self._handle: Any = None
        self._shown = ""

    def paint(self) -> None:
        """Show the line, or change it if it reads differently now. Never raises."""
        if monotonic() - self._from < QUIET_S:
            return
        with contextlib.suppress(Exception):
            with self._run.root.lock:
                text, html = reading("status")(
                    self._run.state, monotonic() - self._run.root.started
                )
            if text == self._shown:
                return
            self._shown = text
            self._send({"text/plain": text, "text/html": html})

    def _send(self, bundle: dict[str, Any]) -> None:
        from IPython.display import display

        if self._handle is None:
            self._handle = display(bundle, raw=True, display_id=True)  # type: ignore[no-untyped-call]
        else:
            self._handle.update(bundle, raw=True)

    def close(self) -> None:
        """Take the line away."""
        handle, self._handle = self._handle, None
        if handle is not None:
            # Not clear_output: that would take the cell's other outputs along.
            with contextlib.suppress(Exception):
                handle.update({}, raw=True)


def publish(thing: Any) -> None:
    """Show an object's picture in the cell that is running."""
    from IPython.display import display

    display(thing._repr_mimebundle_(), raw=True)  # type: ignore[no-untyped-call]


_made: Painter | None = None


def painter() -> Painter | None:
    """The painter of this kernel; None where there is no kernel (a script, a plain shell)."""
    global _made
    if _made is None:
        from IPython import get_ipython

        shell = get_ipython()
        if shell is None or getattr(shell, "kernel", None) is None:
            return None
        _made = Painter(shell)
    return _made
