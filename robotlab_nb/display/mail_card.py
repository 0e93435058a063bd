"""The pictures of what goes over a bus: letters, receipts, deliveries, an outbox, a channel.

A message stands first, then what became of it; ids come last, where anybody needs one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.preview import preview
from .amounts import count, seconds
from .besides import death_words, error_words
from .escape import clip, one_line
from .json_text import laid_out, masked, value_line
from .parts import (
    Bit,
    Fields,
    Fold,
    Head,
    Para,
    Picture,
    Pre,
    Quote,
    Table,
    bold,
    code,
    dots,
    part,
    quiet,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..bus.channels import Channel
    from ..bus.letters import DeadLetter, Delivery, Receipt
    from ..bus.mailboxes import OutboxEntry
    from ..bus.receiving import Subscription
    from ..core.envelopes import RobotMessage
    from .parts import Block, Line

__all__ = [
    "channel", "dead_fold", "dead_letter", "dead_letters", "delivery", "entry", "fate", "message",
    "outbox", "receipt", "subscription",
]  # fmt: skip

_ROWS, _RECEIVERS, _REPLIES = 40, 8, 20

#: what became of a message -> icon, words, hue
_FATES: dict[str, tuple[str, str, str]] = {
    "pending": ("○", "under way", ""),
    "sent": ("→", "sent", ""),
    "acked": ("✓", "taken", ""),
    "replied": ("✓", "answered", ""),
    "dead": ("✕", "dead", "kf"),
    "queued": ("○", "waits to be taken", ""),
    "delivered": ("◐", "being handled", "kr"),
    "nacked": ("✕", "refused", "kf"),
    "timeout": ("✕", "not taken in time", "kf"),
    "failed": ("✕", "handler failed", "kf"),
    "closed": ("■", "closed", "ki"),
}


def fate(status: object) -> Bit:
    """What became of a message, as icon and words.

    Examples
    --------
    >>> fate("acked").text, fate("dead").icon
    ('taken', '✕')
    """
    known = _FATES.get(status) if isinstance(status, str) else None
    icon, words, hue = known or ("·", one_line(status, 24), "")
    return Bit(words, "mark", icon=icon, hue=hue)


def message(thing: RobotMessage) -> Picture:
    """The picture of a message from one robot to another.

    Parameters
    ----------
    thing : RobotMessage
    """
    return Picture(part("message", lambda: [_said(thing)]))


def _said(thing: Any) -> Quote:
    """A message beside its rail: who sent it, and what it says."""
    sender = getattr(thing, "sender", None)
    answers = getattr(thing, "in_reply_to", None)
    name = (bold(one_line(sender, 80)),) if sender is not None else ("message",)
    right = dots(
        f"answers {one_line(answers, 80)}" if answers else None,
        one_line(thing.key, 80) if sender is not None else None,
    )
    return Quote((Head(name, right=right), _content(thing)))


def _content(thing: Any) -> Block:
    content = getattr(thing, "content", thing)
    if isinstance(content, str):
        return Para((clip(content, 4000),)) if content else Para((quiet("an empty text"),))
    return Pre(laid_out(value_line(masked("", preview(content).data), 4000)))


def _short(thing: Any, limit: int = 160) -> str:
    content = getattr(thing, "content", thing)
    if isinstance(content, str):
        return one_line(content, limit)
    return value_line(masked("", preview(content).data), limit)


def dead_letter(thing: DeadLetter) -> Picture:
    """The picture of a message that nobody took, and why.

    Parameters
    ----------
    thing : DeadLetter
    """

    def notice() -> Iterable[Block]:
        on = f"on {one_line(thing.channel, 80)}"
        why = death_words(thing.reason, thing.receiver)
        lines: list[Block] = [Para(dots(_loud("dead letter"), on, why))]
        if thing.error:
            lines.append(Para((error_words(dict(thing.error)),)))
        lines.append(Para((code("bus.redeliver()"), " publishes it again"), quiet=True))
        yield Quote(tuple(lines), "rail", "kf")

    said = part("message", lambda: [_said(thing.message)])
    return Picture((*part("reason", notice), *said))


def _loud(words: str) -> Bit:
    return Bit(words, "state", icon="✕", hue="kf")


def dead_letters(things: Sequence[DeadLetter]) -> Picture:
    """The picture of a bus's dead letters, oldest first.

    Parameters
    ----------
    things : sequence of DeadLetter
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "dead letter"),), quiet=True)
        yield from _dead_table(things)

    return Picture(part("dead letters", blocks))


def _dead_table(things: Sequence[DeadLetter], earlier: int = 0) -> Iterable[Block]:
    """The last dead letters as rows, and what may be done about them."""
    rows = tuple(_dead(letter) for letter in things[-_ROWS:])
    yield Table(("channel", "why", "message", "error"), rows)
    earlier += len(things) - len(rows)
    if earlier:
        yield Para((quiet(f"… {earlier:,} earlier ones"),))
    yield Para((code("bus.redeliver()"), " publishes them again"), quiet=True)


def _dead(letter: DeadLetter) -> tuple[Line, ...]:
    return (
        (one_line(letter.channel, 80),),
        (death_words(letter.reason, letter.receiver),),
        (_short(letter.message),),
        (error_words(dict(letter.error)),) if letter.error else (),
    )


def receipt(thing: Receipt) -> Picture:
    """The picture of what a sender holds of a message: what became of it.

    Parameters
    ----------
    thing : Receipt
    """

    def line() -> Iterable[Block]:
        why = death_words(thing.reason, None) if thing.reason else None
        error = error_words(dict(thing.error)) if thing.error else None
        on = f"on {one_line(thing.channel, 80)}"
        yield Para(dots(fate(thing.status), on, why, error))
        if thing.status == "pending":
            yield Para((code("receipt.wait()"), " waits for its end"), quiet=True)
        for name, told in thing.failures[:_RECEIVERS]:
            yield Para((f"handler of {one_line(name, 80)} failed: {error_words(dict(told))}",))

    said = part("message", lambda: [_said(thing.message)])
    return Picture((*part("receipt", line), *said))


def delivery(thing: Delivery) -> Picture:
    """The picture of a message as one receiver has it.

    Parameters
    ----------
    thing : Delivery
    """

    def line() -> Iterable[Block]:
        to = f"to {one_line(thing.receiver, 80)} on {one_line(thing.channel, 80)}"
        yield Para(dots(fate(thing.status), to))
        if not thing.settled:
            take, refuse = code("delivery.ack()"), code('delivery.nack("why")')
            yield Para((take, " takes it, ", refuse, " refuses it"), quiet=True)

    return Picture((*part("delivery", line), *part("message", lambda: [_said(thing.message)])))


def entry(thing: OutboxEntry) -> Picture:
    """The picture of a message that a robot sent, with the answers that came.

    Parameters
    ----------
    thing : OutboxEntry
    """

    def line() -> Iterable[Block]:
        error = error_words(dict(thing.error)) if thing.error and not thing.replies else None
        yield Para(dots(fate(thing.status), f"to {one_line(thing.to, 80)}", error))

    def replies() -> Iterable[Block]:
        yield from (_said(each) for each in thing.replies[:_REPLIES])
        if len(thing.replies) > _REPLIES:
            yield Para((quiet(f"… {len(thing.replies) - _REPLIES:,} more answers"),))

    said = part("message", lambda: [_said(thing.message)])
    return Picture((*part("state", line), *said, *part("answers", replies)))


def outbox(thing: Mapping[str, OutboxEntry]) -> Picture:
    """The picture of all that a robot sent: newest last.

    Parameters
    ----------
    thing : mapping of str to OutboxEntry
    """

    def blocks() -> Iterable[Block]:
        entries = list(thing.values())
        yield Para((f"outbox: {count(len(entries), 'message')}",), quiet=True)
        rows = tuple(_sent(each) for each in entries[-_ROWS:])
        if len(entries) > len(rows):
            yield Para((quiet(f"… {len(entries) - len(rows):,} earlier ones"),))
        if rows:
            yield Table(("key", "to", "state", "message", "answer"), rows)

    return Picture(part("outbox", blocks))


def _sent(each: OutboxEntry) -> tuple[Line, ...]:
    answer = _short(each.replies[-1]) if each.replies else ""
    if not answer and each.error:
        answer = error_words(dict(each.error))
    return (
        (one_line(each.key, 80),),
        (one_line(each.to, 80),),
        (fate(each.status),),
        (_short(each.message),),
        (answer,) if answer else (),
    )


def channel(thing: Channel) -> Picture:
    """The picture of a channel.

    Parameters
    ----------
    thing : Channel
    """

    def blocks() -> Iterable[Block]:
        kind = getattr(thing.type, "__name__", type(thing.type).__name__)
        yield Head((one_line(thing.name, 120),), "channel", (f"of {one_line(kind, 60)}",))
        names = [one_line(each.name, 60) for each in thing.receivers]
        more = f"{len(names) - _RECEIVERS:,} more" if len(names) > _RECEIVERS else None
        yield Fields(
            (
                ("receivers", dots(*names[:_RECEIVERS], more) or (quiet("nobody"),)),
                ("pending", (f"{thing.pending:,} of at most {thing.max_pending:,}",)),
                ("taken within", (_limit(thing.timeout),)),
                ("begun within", (_limit(thing.queue_timeout),)),
            )
        )

    return Picture(part("channel", blocks), framed=True)


def _limit(given: object) -> str:
    return seconds(given, limit=True) or "no limit"


def subscription(thing: Subscription) -> Picture:
    """The picture of one who receives on a channel.

    Parameters
    ----------
    thing : Subscription
    """

    def blocks() -> Iterable[Block]:
        on = f"on {one_line(thing.channel.name, 80)}"
        waiting = len(thing._queue) + (thing._now is not None)
        state = Bit("left", "mark", icon="■", hue="ki") if thing._gone else f"{waiting:,} waiting"
        yield Head((one_line(thing.name, 120),), "receiver", dots(on, state))

    return Picture(part("receiver", blocks), framed=True)


def dead_fold(things: Sequence[DeadLetter], dropped: int) -> Iterable[Block]:
    """The dead letters of a bus in a fold; nothing where there are none."""
    if things:
        rows = tuple(_dead_table(things, dropped))
        yield Fold(("Dead letters",), rows, f"{len(things):,}", told=True)
