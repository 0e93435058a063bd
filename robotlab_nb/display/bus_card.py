"""The picture of a bus: its channels, what is pending on them, and the letters that nobody took."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import count
from .escape import one_line
from .mail_card import dead_fold
from .parts import Bit, Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..bus.exchange import Bus
    from .parts import Block, Line

__all__ = ["bus"]

_CHANNELS, _RECEIVERS = 60, 8


def bus(thing: Bus) -> Picture:
    """The picture of a bus.

    Parameters
    ----------
    thing : Bus
    """
    blocks = (
        *part("channels", lambda: _channels(thing)),
        *part("dead letters", lambda: dead_fold(thing.dead_letters, thing.dropped)),
    )
    return Picture(blocks, framed=True)


def _channels(thing: Bus) -> Iterable[Block]:
    with thing.lock:
        found = [
            (c.name, c.type.__name__, [r.name for r in c.receivers], c.pending, c.max_pending)
            for c in thing.channels.values()
        ]
        dead, closed = len(thing.ledger.dead), thing.closed
    pending = sum(row[3] for row in found)
    about = dots(
        count(len(found), "channel"),
        f"{pending:,}\u00a0pending",
        count(dead, "dead letter") if dead else None,
        Bit("closed", "mark", icon="■", hue="ki") if closed else None,
    )
    yield Head(("Bus",), "bus", about)
    rows = tuple(
        (
            (one_line(name, 80),),
            _receivers(receivers),
            (f"{waiting:,}",),
            (f"{most:,}",),
            (code(one_line(kind, 60)),),
        )
        for name, kind, receivers, waiting, most in found[:_CHANNELS]
    )
    if rows:
        yield Table(("channel", "receivers", "pending", "at most", "of"), rows, frozenset({2, 3}))
    if len(found) > _CHANNELS:
        yield Para((quiet(f"… {len(found) - _CHANNELS:,} more channels"),))


def _receivers(names: Sequence[str]) -> Line:
    more = f"{len(names) - _RECEIVERS:,} more" if len(names) > _RECEIVERS else None
    return dots(*(one_line(name, 60) for name in names[:_RECEIVERS]), more) or (quiet("nobody"),)
