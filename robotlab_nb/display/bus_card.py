"""The picture of a bus: its channels, what is pending on them, and the letters that nobody took."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.preview import preview
from .amounts import count
from .besides import death_words, error_words
from .escape import one_line
from .json_text import value_line
from .parts import Bit, Fold, Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..bus.exchange import Bus
    from ..bus.letters import DeadLetter
    from .parts import Block, Line

__all__ = ["bus"]

_CHANNELS, _LETTERS, _RECEIVERS = 60, 40, 8


def bus(thing: Bus) -> Picture:
    """The picture of a bus.

    Parameters
    ----------
    thing : Bus
    """
    blocks = (
        *part("channels", lambda: _channels(thing)),
        *part("dead letters", lambda: _dead(thing)),
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
    yield Head(("Bus",), "exchange", about)
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


def _dead(thing: Bus) -> Iterable[Block]:
    letters = thing.dead_letters
    if not letters:
        return
    rows = tuple(_letter(letter) for letter in letters[-_LETTERS:])
    blocks: list[Block] = [Table(("channel", "why", "message", "error"), rows)]
    earlier = len(letters) - len(rows) + thing.dropped
    if earlier:
        blocks.append(Para((quiet(f"… {earlier:,} earlier ones"),)))
    blocks.append(Para((code("bus.redeliver()"), " publishes them again"), quiet=True))
    yield Fold(("Dead letters",), tuple(blocks), f"{len(letters):,}", told=True)


def _letter(letter: DeadLetter) -> tuple[Line, ...]:
    message: Any = letter.message
    content = getattr(message, "content", message)
    shown = content if isinstance(content, str) else value_line(preview(content).data, 160)
    return (
        (one_line(letter.channel, 80),),
        (death_words(letter.reason, letter.receiver),),
        (one_line(shown, 160),),
        (error_words(dict(letter.error)),) if letter.error else (),
    )
