"""The widget of a grid: it carries cells one way, ratings the other. Needs anywidget."""

from __future__ import annotations

from .assets import packed, sheet
from .live_widget import LiveWidget

__all__ = ["GridWidget"]


class GridWidget(LiveWidget):
    """As :class:`~robotlab_nb.widgets.live_widget.LiveWidget`, with the front end of a grid."""

    _esm = packed("grid.js")
    _css = sheet("live.css", "asks.css", "grid.css")
