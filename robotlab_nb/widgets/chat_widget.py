"""The widget of a chat box: it carries what is said, both ways. Needs anywidget."""

from __future__ import annotations

from .assets import script, sheet
from .live_widget import LiveWidget

__all__ = ["ChatWidget"]


class ChatWidget(LiveWidget):
    """As :class:`~robotlab_nb.widgets.live_widget.LiveWidget`, with the front end of a chat."""

    _esm = script("chat.js")
    _css = sheet("live.css", "asks.css", "chat.css")
