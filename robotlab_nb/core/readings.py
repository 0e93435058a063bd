"""Where an engine object finds its pictures, tables and live views.

The engine imports none of them: it asks here by the kind of reading, and the dotted path
is imported on first use. A reading that fails degrades; it never fails the cell.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeVar, overload

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["Pictured", "ShownList", "ShownTuple", "bundle", "html", "pretty", "reading", "text"]

T = TypeVar("T")

#: kind of reading -> "module:attribute"
PATHS: dict[str, str] = {
    "html": "robotlab_nb.display.pictures:html",
    "text": "robotlab_nb.display.pictures:text",
    "markdown": "robotlab_nb.display.pictures:markdown",
    "traceback": "robotlab_nb.display.traceback:lines",
    "status": "robotlab_nb.display.status_line:status",
    "save": "robotlab_nb.display.saving:save",
    "page": "robotlab_nb.display.page:page",
    "svg": "robotlab_nb.display.graph_picture:svg",
    "repeat": "robotlab_nb.widgets.live_still:repeat",
    "replay": "robotlab_nb.widgets.replaying:replay",
    "chat": "robotlab_nb.widgets.chat_box:ChatBox",
    "grid": "robotlab_nb.widgets.grid_placing:place",
    "browse": "robotlab_nb.widgets.browser_place:browse",
    "frames": "robotlab_nb.frames.tables:Frames",
    "differences": "robotlab_nb.frames.differences:differences",
    "painter": "robotlab_nb.notebook.painter:painter",
    "tool_servers": "robotlab_nb.mcp.sources:NO_SERVERS",
    "asker": "robotlab_nb.notebook.asker:asker",
    "notice": "robotlab_nb.notebook.notice:notice",
    "check": "robotlab_nb.notebook.check_display:show",
    "log": "robotlab_nb.runlog.opening:recorder_of",
    "logged": "robotlab_nb.runlog.restarting:logged",
    "conversation": "robotlab_nb.runlog.sessions:latest",
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


def bundle(thing: Any, include: Any = None, exclude: Any = None) -> dict[str, Any]:
    """The picture of an object for a notebook: its own text, also where its repr is one line.

    Parameters
    ----------
    thing : object
    include, exclude : collection of str, optional
        MIME types that are wanted, or not.
    """
    found: dict[str, Any] = {"text/plain": text(thing)}
    drawn = html(thing)
    if drawn is not None:
        found["text/html"] = drawn
    if include:
        found = {k: v for k, v in found.items() if k in include}
    if exclude:
        found = {k: v for k, v in found.items() if k not in exclude}
    return found


class Pictured:
    """Mixin: an object whose picture comes from ``display``, and whose reprs never raise."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        return html(self)

    def __repr__(self) -> str:
        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return bundle(self, include, exclude)

    def _mime_(self) -> tuple[str, str]:
        # What marimo shows.
        drawn = html(self)
        return ("text/plain", text(self)) if drawn is None else ("text/html", drawn)

    @overload
    def to_html(self) -> str: ...
    @overload
    def to_html(self, path: str | os.PathLike[str]) -> Path: ...
    def to_html(self, path: str | os.PathLike[str] | None = None) -> str | Path:
        """One page that shows this anywhere: no notebook, no network, no script.

        Parameters
        ----------
        path : str or path, optional
            Where to write it. A file that is there is replaced, whole or not at all.

        Returns
        -------
        str or Path
            The page; or where it was written.

        Raises
        ------
        ConfigurationError
            When the file cannot be written.
        """
        made: str | Path = reading("page")(self, path)
        return made


def pretty(thing: Any, printer: Any, cycle: bool) -> None:
    """IPython's text of a list of ours: its picture where it stands alone, its repr inside others.

    A host looks for a list's own printer before it asks for pictures; this is that printer.
    """
    alone = len(getattr(printer, "stack", ())) <= 1 and not cycle
    printer.text(text(thing) if alone else repr(thing))


class ShownList(list[T], Pictured):
    """A list whose notebook picture is a table of what it holds; else a list like any other.

    Examples
    --------
    >>> ShownList([1, 2]) == [1, 2], ShownList([1, 2])
    (True, [1, 2])
    """

    __slots__ = ()
    __repr__ = list.__repr__
    _repr_pretty_ = pretty

    @overload
    def __getitem__(self, place: SupportsIndex) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> ShownList[T]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> T | ShownList[T]:
        """One, or a list of some that is shown alike."""
        found = super().__getitem__(place)
        return ShownList(found) if isinstance(place, slice) else found  # type: ignore[arg-type,return-value]


class ShownTuple(tuple[T, ...], Pictured):
    """A tuple whose notebook picture is a table of what it holds; else a tuple like any other.

    Examples
    --------
    >>> ShownTuple([1, 2]) == (1, 2), ShownTuple([1, 2])
    (True, (1, 2))
    """

    __slots__ = ()
    __repr__ = tuple.__repr__
    _repr_pretty_ = pretty
