"""What carries a replay to its front ends: one ES module, one stylesheet, the data, a mark.

Nobody displays it. Its front end looks for the mark in the page and plays where it finds it, so
that no stored output ever holds a widget. Importing this module needs anywidget.
"""

from __future__ import annotations

from typing import Any

import anywidget
import traitlets

from .assets import packed, sheet

__all__ = ["ReplayWidget"]


class ReplayWidget(anywidget.AnyWidget):
    """Carries one replay.

    Parameters
    ----------
    mark : str
        A class name of the places where it is shown.
    data : dict
        Of :func:`~robotlab_nb.widgets.replay_data.data_of`.
    """

    _esm = packed("replay.js")
    _css = sheet("live.css", "asks.css", "replay.css")
    mark = traitlets.Unicode().tag(sync=True)
    replay = traitlets.Dict().tag(sync=True)

    def __init__(self, mark: str, data: dict[str, Any]) -> None:
        super().__init__(mark=mark, replay=data)
