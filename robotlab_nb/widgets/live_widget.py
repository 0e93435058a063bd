"""The widget that shows a live view in a browser: one ES module, one stylesheet, one trait.

It only carries: what is shown and what a click means are the view's business. Importing this
module needs anywidget; where that is missing, views are shown without widgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import anywidget
import traitlets

from .assets import packed, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Carried", "LiveWidget"]


class Carried(Protocol):
    """What a widget carries: a view of a run, a chat, cards."""

    def snapshot(self) -> dict[str, Any]:
        """All there is to show."""

    def heard(self, content: Mapping[str, Any]) -> None:
        """Take in what a front end says."""


class LiveWidget(anywidget.AnyWidget):
    """Carries the batches of a view to its front ends, and what they say back.

    Parameters
    ----------
    view : Carried
        Whom ``snapshot()`` is asked of and ``heard(content)`` is told.
    """

    _esm = packed("live.js")
    _css = sheet("live.css", "asks.css")
    #: Read from the view whenever a front end asks; the value held here is never looked at.
    snapshot = traitlets.Dict().tag(sync=True)

    def __init__(self, view: Carried) -> None:
        self._view = view
        super().__init__()
        self.on_msg(lambda _widget, content, _buffers: view.heard(content))

    def send(self, content: Any, buffers: Any = None) -> None:
        """Send a message to the front ends."""
        super().send(content, buffers)
        self._let_clicks_choose()

    def send_state(self, key: Any = None) -> None:
        """Send synced state to the front ends."""
        super().send_state(key)
        self._let_clicks_choose()

    def _let_clicks_choose(self) -> None:
        """Have what a front end says go where the front end sends it.

        ipykernel 7 remembers the subshell that last published on a widget's channel and sends
        every click there; after a page was loaded again that subshell is gone, and clicks with it.
        """
        comm = getattr(self, "comm", None)
        if comm is not None:
            vars(comm).pop("_reply_subshell_id", None)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """The synced state; the snapshot in it is always the present one."""
        state: dict[str, Any] = super().get_state(key, drop_defaults)
        if key is None or key == "snapshot":
            state["snapshot"] = self._view.snapshot()
        return state
