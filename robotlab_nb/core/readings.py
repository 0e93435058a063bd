"""Where an engine object finds its pictures, tables and live views.

The engine imports none of them: it asks here by the kind of reading, and the dotted path
is imported on first use. A reading that fails degrades; it never fails the cell.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["html", "reading", "text"]

#: kind of reading -> "module:attribute"
PATHS: dict[str, str] = {
    "html": "robotlab_nb.display.pictures:html",
    "text": "robotlab_nb.display.pictures:text",
    "markdown": "robotlab_nb.display.pictures:markdown",
    "traceback": "robotlab_nb.display.traceback:lines",
    "status": "robotlab_nb.display.status_line:status",
    "save": "robotlab_nb.display.saving:save",
    "svg": "robotlab_nb.display.graph_picture:svg",
    "repeat": "robotlab_nb.widgets.live_still:repeat",
    "frames": "robotlab_nb.frames.tables:Frames",
    "differences": "robotlab_nb.frames.differences:differences",
    "painter": "robotlab_nb.notebook.painter:painter",
    "asker": "robotlab_nb.notebook.asker:asker",
    "plain": "robotlab_nb.display.escape:plain",
    "line": "robotlab_nb.display.escape:one_line",
}

_loaded: dict[str, Any] = {}


def reading(kind: str) -> Any:
    """Import and return the reader of a kind.

    Parameters
    ----------
    kind : str
        One of the keys of ``PATHS``.

    Raises
    ------
    KeyError
        When nothing reads that kind.
    """
    try:
        return _loaded[kind]
    except KeyError:
        module, _, name = PATHS[kind].partition(":")
        found = _loaded[kind] = getattr(importlib.import_module(module), name)
        return found


def html(thing: Any) -> str | None:
    """HTML of an object, or None (so that the host falls back to text) when it cannot be drawn."""
    try:
        found: str | None = reading("html")(thing)
    except Exception:
        return None
    return found


def text(thing: Any) -> str:
    """Text of an object; a plain description when it cannot be drawn."""
    try:
        found: str = reading("text")(thing)
    except Exception as error:
        return f"<{type(thing).__name__}: no picture ({type(error).__name__})>"
    return found


class Pictured:
    """Mixin: an object whose picture comes from ``display``, and whose reprs never raise."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return html(self)

    def __repr__(self) -> str:
        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        # The picture's own text, also of objects whose repr is one line.
        bundle: dict[str, Any] = {"text/plain": text(self)}
        drawn = html(self)
        if drawn is not None:
            bundle["text/html"] = drawn
        if include:
            bundle = {k: v for k, v in bundle.items() if k in include}
        if exclude:
            bundle = {k: v for k, v in bundle.items() if k not in exclude}
        return bundle
