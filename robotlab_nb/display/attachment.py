"""What went with a message: a small picture is shown, a text can be opened, the rest is named.

Only pictures made of pixels are shown, and only where their bytes are what they say: a drawing in
SVG, a page or a sound is a line that says what it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from .escape import one_line
from .parts import Fold, Para, Photo, Picture, Pre, part, quiet
from .raster import size_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.media import MediaPart
    from .parts import Block

__all__ = ["attached", "media"]

#: bytes of a picture that is shown, and pixels of its longer side
_MOST, _SIDE = 100_000, 320


def media(thing: MediaPart) -> Picture:
    """The picture of something attached.

    Parameters
    ----------
    thing : MediaPart
    """
    return Picture(part("attachment", lambda: attached(thing)))


def attached(thing: MediaPart) -> Iterable[Block]:
    """Blocks for something attached: what it is, and what can be shown of it.

    Parameters
    ----------
    thing : MediaPart

    Yields
    ------
    Block
    """
    named = f"{one_line(thing.name, 80)}: " if thing.name else ""
    size = one_line(thing.shown, 60).partition(" ")[2]
    what = f"attached: {named}{one_line(thing.mime, 60)} {size}".rstrip()
    words = _words(thing)
    if words is not None:
        yield Fold((what,), (Pre(words),))
        return
    yield Para((quiet(what),))
    if thing.url:
        yield Para((quiet(one_line(thing.url, 200)),))
    yield from _photo(thing, one_line(thing.name or thing.mime, 80))


def _words(thing: MediaPart) -> str | None:
    return thing.as_text() if thing.base64 is not None else None


def _photo(thing: MediaPart, name: str) -> Iterable[Block]:
    if thing.base64 is None or len(thing.base64) > _MOST * 4 // 3:
        return
    data = thing.data
    size = size_of(data, thing.mime) if data is not None else None
    if size is None:
        return
    width, height = size
    shown = max(round(width * min(1.0, _SIDE / width, _SIDE / height)), 1)
    alt = f"{name}, {width:,} × {height:,} pixels"
    yield Photo(cast("Any", thing.mime), thing.base64, alt, shown)
