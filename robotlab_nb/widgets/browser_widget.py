"""The widget of a log browser: it carries what is shown and asked for. Needs anywidget."""

from __future__ import annotations

from .assets import packed, sheet
from .live_widget import LiveWidget

__all__ = ["BrowserWidget"]


class BrowserWidget(LiveWidget):
    """As :class:`~robotlab_nb.widgets.live_widget.LiveWidget`, with the front end of a browser."""

    _esm = packed("browser.js")
    _css = sheet("live.css", "browser.css")
