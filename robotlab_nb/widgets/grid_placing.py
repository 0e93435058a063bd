"""Where an experiment is shown live: once, in the place where it was shown last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display import as_html, as_markdown, as_text
from ..display.escape import one_line
from ..display.grid_words import state_bit_of
from ..display.parts import Para, Picture, dots
from ..runtime.notebook import painter
from .grid_view import GridView
from .live_view import LiveView

if TYPE_CHECKING:
    from ..lab.experiment import Experiment
    from ..runtime.run import Run

__all__ = ["place", "view_of"]

#: grids that can be rated at the same time: the oldest becomes a picture
_MOST = 12
#: the grids that are shown, oldest first, and by which cell, and which run of it
_shown: list[tuple[GridView, tuple[str, str] | None]] = []


def view_of(run: Run[Any]) -> LiveView | GridView:
    """What shows a run while it happens: of an experiment its grid.

    Parameters
    ----------
    run : Run
    """
    if run.scope.kind == "experiment":
        from ..lab.experiment import of_run

        found = of_run(run)
        if found is not None:
            return _placed(found)
    return LiveView(run)


def place(thing: Experiment) -> bool:
    """Show an experiment's grid in the cell that is being run, where somebody might rate in it.

    In the cell that has shown it while it filled, one line says so.

    Parameters
    ----------
    thing : Experiment

    Returns
    -------
    bool
        Whether it is shown; False without a notebook, or without widgets: then it is a picture.

    Examples
    --------
    >>> from robotlab_nb.lab.experiment import Experiment
    >>> from robotlab_nb.lab.state import ExperimentState
    >>> place(Experiment(ExperimentState()))
    False
    """
    found = painter()
    if found is None:
        return False
    run = thing.run
    if run is not None and found.shown_here(run.id):
        found.tell(_above(thing))
        return True
    if found.widgets is False:
        return False
    found.open(_placed(thing))
    return True


def _placed(thing: Experiment) -> GridView:
    """A grid for a place. Others of this experiment leave theirs, and those of a cell run again."""
    found = painter()
    here: tuple[str, str] | None = found.cell() if found is not None else None
    view = GridView(thing)
    for other, where in list(_shown):
        again = here is not None and where is not None and here[0] == where[0] and here != where
        if other.thing is thing or again or other.ended:
            other.leave()
            _shown.remove((other, where))
    _shown.append((view, here))
    while len(_shown) > _MOST:
        _shown.pop(0)[0].leave()
    return view


def _above(thing: Experiment) -> dict[str, str]:
    """One line, in every form, for an experiment that stands live in the same cell."""
    name = one_line(thing.name, 60) or "experiment"
    picture = Picture((Para(dots(state_bit_of(thing.status), name, "shown above"), quiet=True),))
    return {
        "text/plain": as_text.write(picture),
        "text/html": as_html.write(picture),
        "text/markdown": as_markdown.write(picture),
    }
