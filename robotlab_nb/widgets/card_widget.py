"""The widget of cards that stand alone. Needs anywidget."""

from __future__ import annotations

from .assets import script, sheet
from .live_widget import LiveWidget

__all__ = ["CardWidget"]


class CardWidget(LiveWidget):
    """As :class:`~robotlab_nb.widgets.live_widget.LiveWidget`, with the front end of cards."""

    _esm = script("card.js")
    _css = sheet("live.css", "asks.css")
