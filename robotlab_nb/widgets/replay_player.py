"""The player of a replay: where it is shown, and when it goes away.

A replay has no end after which its output could become static, and a stored output must hold no
widget. So the output *is* static: the list of steps. The widget beside it is never displayed; its
front end finds the list by a mark and puts the player in its place. Without a front end for
widgets, in a saved file, on GitHub, the list stays what is seen; no kernel is asked while playing.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from ..runtime.notebook import painter
from .replay_data import data_of

if TYPE_CHECKING:
    from .replaying import Replay

__all__ = ["Player", "placed"]

_numbers = itertools.count(1)
#: by cell: which execution of it, and the players that it shows
_shown: dict[str, tuple[str, list[Player]]] = {}


class Player:
    """One place in which a replay plays.

    Parameters
    ----------
    replay : Replay

    Attributes
    ----------
    mark : str
        The class name of the place.
    """

    def __init__(self, replay: Replay) -> None:
        from .replay_widget import ReplayWidget

        self.mark = f"rlnb-at-{replay.run_id}-{next(_numbers)}"
        self._widget: Any = ReplayWidget(self.mark, data_of(replay))

    def close(self) -> None:
        """Leave the list of steps alone in the place. It may be called twice."""
        widget, self._widget = self._widget, None
        if widget is not None:
            widget.close()


def placed(replay: Replay, html: str) -> str:
    """The picture of a replay, with a player where the front end can have one.

    Parameters
    ----------
    replay : Replay
    html : str
        Its picture that stands still.

    Returns
    -------
    str
        HTML; the same where nobody would play it: a headless reader, a kernel without widgets.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> placed(rl.build("bob").run("Hello").replay(), "<p>steps</p>")
    '<p>steps</p>'
    """
    found = painter()
    cell = found.cell() if found is not None and found.widgets is not False else None
    if cell is None:
        return html
    try:
        player = Player(replay)
    except Exception:  # anywidget is missing or broken: the list is there all the same
        return html
    _let_go(*cell).append(player)
    replay.players.append(player)
    return f'<div class="{player.mark}">{html}</div>'


def _let_go(cell_id: str, execution: str) -> list[Player]:
    """The players of a cell's present execution; those of an earlier one are over."""
    before, players = _shown.get(cell_id, ("", []))
    if before != execution:
        for player in players:
            player.close()
        players = []
        _shown[cell_id] = (execution, players)
    return players
