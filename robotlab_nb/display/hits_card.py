"""The pictures of what searches found, in a conversation or in documents: best first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import count
from .escape import one_line
from .parts import Para, Picture, Table, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..memory.documents import DocumentHit
    from ..robot.history_search import Hit
    from .parts import Block

__all__ = ["hits", "passages"]

_ROWS = 60


def hits(thing: Sequence[Hit]) -> Picture:
    """The picture of hits.

    Parameters
    ----------
    thing : sequence of Hit
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(thing), "message") + " found",), quiet=True)
        rows = tuple(
            (
                (f"{hit.score:.2f}",),
                (_NAMES.get(hit.role, one_line(hit.role, 40)),),
                (f"{hit.index:,}",),
                (one_line(hit.text, 300),),
            )
            for hit in thing[:_ROWS]
        )
        if rows:
            yield Table(("score", "said by", "message", "text"), rows, frozenset({2}))
        if len(thing) > _ROWS:
            yield Para((quiet(f"… {len(thing) - _ROWS:,} more"),))

    return Picture(part("hits", blocks))


def passages(things: Sequence[DocumentHit]) -> Picture:
    """The picture of what a search through documents found.

    Parameters
    ----------
    things : sequence of DocumentHit
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "passage") + " found",), quiet=True)
        rows = tuple(
            ((one_line(hit.key, 80),), (f"{hit.score:.2f}",), (one_line(hit.text, 300),))
            for hit in things[:_ROWS]
        )
        yield Table(("document", "score", "passage"), rows, frozenset({1}))
        if len(things) > _ROWS:
            yield Para((quiet(f"… {len(things) - _ROWS:,} more"),))

    return Picture(part("passages", blocks))


#: what a role is called on a screen, as in a transcript
_NAMES = {"user": "you", "tool": "tool"}
