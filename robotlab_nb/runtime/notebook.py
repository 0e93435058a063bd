"""The engine's one look at its surroundings: is there a notebook, and who paints there?

The engine imports no notebook code by itself. Only when IPython is already loaded does it ask
for the painter, by name, through :mod:`robotlab_nb.core.readings`.
"""

from __future__ import annotations

import contextlib
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.readings import Pictured, reading

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from ..core.state import RunState
    from .run import Run

__all__ = [
    "ShownOnce",
    "apart",
    "cell_of_caller",
    "expect_viewer",
    "painter",
    "show",
    "show_live",
    "shown_here",
    "status_line",
]

_painter: Any = None
_asked = False
#: whether what happens here belongs to no cell, whichever is being run
_apart: ContextVar[bool] = ContextVar("robotlab_nb_apart", default=False)


def painter() -> Any:
    """The notebook's painter, or None outside a notebook."""
    global _asked, _painter
    if not _asked and "IPython" in sys.modules:
        _asked = True
        with contextlib.suppress(Exception):
            _painter = reading("painter")()
    return _painter


def apart() -> None:
    """Say that what this thread starts belongs to no cell: others ask for it."""
    _apart.set(True)


def cell_of_caller() -> tuple[str, str] | None:
    """The notebook cell that is being run and which execution of it, where that is known."""
    found = None if _apart.get() else painter()
    return None if found is None else found.cell()


def status_line(run: Run[Any]) -> AbstractContextManager[Any]:
    """Show one line about a run while a thread waits for it; the line goes away afterwards."""
    found = painter() if run.parent is None else None
    if found is None:
        return contextlib.nullcontext(None)
    line: AbstractContextManager[Any] = found.status_line(run)
    return line


def show(run: Run[Any]) -> bool:
    """Show a run live in the cell that is being run. Returns whether there was a place for it."""
    found = painter()
    return found is not None and bool(found.show(run))


def show_live(run: Run[Any], wanted: bool | None) -> None:
    """Show a run live if that is wanted (by default: if ``rl.options.show`` says so)."""
    if options.show if wanted is None else wanted:
        show(run)


def expect_viewer(run: Run[Any]) -> None:
    """Have a started run stream where it may be shown: a cell shows it after its first request."""
    if painter() is not None:
        with run.root.lock:
            run.root.listeners += 1


def shown_here(run_id: str) -> bool:
    """Whether a run was shown live by the cell that is being run now."""
    found = _painter
    return found is not None and bool(found.shown_here(run_id))


class ShownOnce(Pictured):
    """Mixin: a result whose picture is one line where its run was shown live by the same cell."""

    __slots__ = ()

    state: RunState

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        if not shown_here(self.state.scope.run_id):
            return super()._repr_mimebundle_(include, exclude)
        bundle: dict[str, Any] = reading("repeat")(self.state)
        return {
            mime: drawn
            for mime, drawn in bundle.items()
            if (not include or mime in include) and mime not in (exclude or ())
        }
