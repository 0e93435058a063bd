"""Shortening a conversation by whole turns, so that it fits the model's window.

A turn is a person's message and everything up to the next one: tool calls never part from their
results. System messages, the turn that is going on and the latest ones stay. Older ones stay if
they are like the latest, go if they are not, and are summed up in between. Within a turn nothing
is cut: what is still too long after that is for the provider to refuse.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, InputError
from ..core.messages import Message, TextPart
from ..models.tokens import estimate_input
from .conversation import as_messages, repair
from .summing_up import called, sum_up, told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.state import RunState
    from ..models.protocol import Model
    from ..runtime.run import Run

__all__ = [
    "Compacted",
    "accepted",
    "compact",
    "counted",
    "needs_compacting",
    "tokens_of",
    "turns_of",
    "window_of",
]

#: tokens that a model reads when nobody says
WINDOW = 128_000
KEEP, DROP = 0.6, 0.0
#: characters below which a turn is not worth dropping
SHORT = 20
#: what the first text of a message begins with that carries the summary of what came before it
SUMMARY = "Summary of the earlier conversation:\n"


class Compacted(NamedTuple):
    """A conversation that has become shorter.

    Parameters
    ----------
    messages : tuple of Message
        What stays, in order.
    summary : Message or None
        The one of them that carries the summary: a person's message, with the summary before
        the words that it had.
    dropped : int
        Messages that are gone.
    before, after : int
        Tokens.
    strategy : str
        What did it.
    new : tuple of Message
        Those of ``messages`` that were not there before; the summary is among them.
    """

    messages: tuple[Message, ...]
    summary: Message | None
    dropped: int
    before: int
    after: int
    strategy: str
    new: tuple[Message, ...] = ()


def window_of(model: Model, settings: Mapping[str, Any]) -> int:
    """Tokens that a model reads at once: as set, as the price file says, else 128,000."""
    if settings["context_window"] is not None:
        return int(settings["context_window"])
    from ..models.prices import context_window

    return context_window(model.name, model.provider) or WINDOW


def tokens_of(messages: Sequence[Message]) -> int:
    """Tokens of some messages, estimated (see :mod:`robotlab_nb.models.tokens`)."""
    return estimate_input(messages)


def counted(state: RunState) -> int | None:
    """Tokens that the provider counted at the run's last call, its answer included.

    None when it did not count, and when what it read is not what would be sent now: the
    conversation has been compressed since.
    """
    for call in reversed(state.model_calls.values()):
        usage = call.usage
        if call.status != "completed" or usage is None:
            continue
        read = [m.id for m in state.messages[: len(call.message_ids)]]
        if usage.estimated or usage.input_tokens is None or read != list(call.message_ids):
            return None
        return usage.input_tokens + (usage.output_tokens or 0)
    return None


def needs_compacting(
    messages: Sequence[Message],
    window: int,
    settings: Mapping[str, Any],
    known: int | None = None,
) -> bool:
    """Whether a conversation fills its share of the window.

    Parameters
    ----------
    messages : sequence of Message
    window : int
        Tokens.
    settings : mapping
        ``compact_threshold``: that share.
    known : int, optional
        What :func:`counted` gave: tokens up to the model's last message. What comes after it, or
        everything when this is None, is estimated.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> long = [Message("user", "word " * 100)]
    >>> needs_compacting(long, 100, {"compact_threshold": 0.8})
    True
    >>> needs_compacting(long, 1000, {"compact_threshold": 0.8})
    False
    """
    after = len(messages)
    while known is not None and after and messages[after - 1].role != "assistant":
        after -= 1
    tokens = tokens_of(messages) if known is None else known + tokens_of(messages[after:])
    return bool(tokens >= settings["compact_threshold"] * window)


def turns_of(messages: Sequence[Message]) -> list[tuple[Message, ...]]:
    """The turns of a conversation without system messages.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> said = [Message("user", "a"), Message("assistant", "b"), Message("user", "c")]
    >>> [len(turn) for turn in turns_of(said)]
    [2, 1]
    """
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return [tuple(turn) for turn in turns]


async def compact(
    run: Run[Any] | None,
    messages: Sequence[Message],
    settings: Mapping[str, Any],
    *,
    model: Model,
    strategy: Any = "context_window",
    keep: float = KEEP,
    drop: float = DROP,
    room: float | None = None,
) -> Compacted | None:
    """Shorten a conversation.

    Parameters
    ----------
    run : Run or None
        For whom: the turn that it is in, where the messages end with it, is left as it is.
    messages : sequence of Message
        A conversation that can be sent.
    settings : mapping
        ``recent_turns`` (turns that stay, the one going on among them) and ``summarizer``: a
        Robot, a Model, a model's name, or a function from text to text, sync or async. A model
        is asked as a run inside this one. Without one, what would be summed up goes.
    model : Model
        The one that is to read the result.
    strategy : str or callable
        A name for the record; or a function of the messages that gives those that stay. It may
        also take, by name, ``window`` (tokens), ``model``, ``settings`` and ``run``.
    keep, drop : float, optional
        Likeness (0 to 1) to the latest turns from which a turn stays, and below which it goes.
    room : float, optional
        Tokens that may stay. When what is like the latest turns is more than that, the oldest of
        it is summed up too.

    Returns
    -------
    Compacted or None
        None when it did not become shorter.

    Raises
    ------
    ConfigurationError
        When the thresholds leave no room between them, or the summarizer is nothing that can be
        asked.
    InputError
        When a function gave something that is no conversation.
    """
    given = tuple(messages)
    if callable(strategy):
        found = await _by_function(strategy, given, run, settings, model)
        return _result(given, found, None, getattr(strategy, "__name__", "function"))
    if not 0 <= drop < keep <= 1:
        raise ConfigurationError(
            f"turns are kept from {keep} and dropped below {drop}: nothing lies between",
            hint="drop is less than keep, and both are between 0 and 1.",
        )
    lead, older, latest = _apart(run, given, settings["recent_turns"])
    fates = _judged(older, latest, keep, drop)
    if room is not None:
        _make_room(older, fates, room - tokens_of([*lead, *(m for t in latest for m in t)]))
    between = [turn for turn, fate in zip(older, fates, strict=True) if fate == "sum up"]
    words = ""
    if between and settings["summarizer"] is not None:
        words = await sum_up(run, between, settings["summarizer"])
    out: list[Message] = list(lead)
    summary: Message | None = None
    missing = False  # turns of the summary stood right before this place
    for turn, fate in zip([*older, *latest], [*fates, *["keep"] * len(latest)], strict=True):
        if fate != "keep":
            missing = missing or fate == "sum up"
        elif words and missing and summary is None and turn[0].role == "user":
            summary = Message("user", [TextPart(f"{SUMMARY}{words}\n\n"), *turn[0].parts])
            out += [summary, *turn[1:]]
        else:
            out += turn
    named = strategy if isinstance(strategy, str) else "context_window"
    return _result(given, tuple(out), summary, named)


def _apart(
    run: Run[Any] | None, messages: tuple[Message, ...], recent: int
) -> tuple[tuple[Message, ...], list[tuple[Message, ...]], list[tuple[Message, ...]]]:
    """System messages, older turns and the latest.

    The turn that is going on is one of the latest, but never the only one: the summary of older
    turns goes before words that are over, not into the question that is being answered.
    """
    lead = tuple(m for m in messages if m.role == "system")
    turns = turns_of([m for m in messages if m.role != "system"])
    going_on = tuple(run.state.turn) if run is not None else ()
    ends_with_it = bool(going_on) and messages[-len(going_on) :] == going_on
    latest = max(recent, 2 if ends_with_it else 1)
    return lead, turns[:-latest], turns[-latest:]


def _judged(
    older: Sequence[tuple[Message, ...]],
    latest: Sequence[tuple[Message, ...]],
    keep: float,
    drop: float,
) -> list[str]:
    """What becomes of each older turn: ``keep``, ``drop`` or ``sum up``."""
    from ..core.scoring import TfIdf

    texts = [told(turn) for turn in older]
    near = [told(turn) for turn in latest]
    index = TfIdf(texts)
    # The likeness to the latest turn that is most like it, or to all of them together.
    columns = [index.scores(text) for text in (*near, "\n".join(near))]
    fates = []
    for turn, text, *scores in zip(older, texts, *columns, strict=True):
        score = max(scores)
        if len(text) < SHORT or score >= keep:
            fates.append("keep")
        elif score < drop and not _carries_summary(turn[0]):
            fates.append("drop")
        else:
            fates.append("sum up")
    return fates


def _make_room(older: Sequence[tuple[Message, ...]], fates: list[str], room: float) -> None:
    """Sum up the oldest of the turns that were to stay, until the rest has room."""
    sizes = {i: tokens_of(older[i]) for i, fate in enumerate(fates) if fate == "keep"}
    kept = sum(sizes.values())
    for i, size in sizes.items():
        if kept <= room:
            return
        fates[i] = "sum up"
        kept -= size


def _carries_summary(message: Message) -> bool:
    first = message.parts[0] if message.parts else None
    return isinstance(first, TextPart) and first.text.startswith(SUMMARY)


def _result(
    given: tuple[Message, ...], found: tuple[Message, ...], summary: Message | None, strategy: str
) -> Compacted | None:
    before, after = tokens_of(given), tokens_of(found)
    if after >= before:
        return None
    there, kept = Counter(m.id for m in given), Counter(m.id for m in found)
    gone = (there - kept).total() - (summary is not None)  # that one only gained words
    new = tuple(m for m in found if m.id not in there)
    return Compacted(found, summary, gone, before, after, strategy, new)


async def _by_function(
    function: Any,
    messages: tuple[Message, ...],
    run: Run[Any] | None,
    settings: Mapping[str, Any],
    model: Model,
) -> tuple[Message, ...]:
    import inspect

    offered = {"window": window_of(model, settings), "model": model, "settings": settings,
               "run": run}  # fmt: skip
    try:
        takes = set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        takes = set()
    more = {name: value for name, value in offered.items() if name in takes}
    what = f"auto_compact={getattr(function, '__name__', function)!r}"
    return accepted(await called(function, what, list(messages), **more), messages, what)


def accepted(found: Any, given: Sequence[Message], what: str) -> tuple[Message, ...]:
    """The conversation that a handler or a function gave, checked and repaired.

    Parameters
    ----------
    found : iterable
        Messages in any form.
    given : sequence of Message
        What it was given. System messages stay, whatever it gave.
    what : str
        Who gave it, for errors.

    Raises
    ------
    InputError
        When it is no conversation, or nothing is left of it.
    """
    if isinstance(found, (str, bytes, dict)) or not hasattr(found, "__iter__"):
        raise InputError(
            f"{what} gave {type(found).__name__}, not messages",
            hint="It returns the messages that stay, in order.",
        )
    try:
        kept = [m for m in as_messages(found) if m.role != "system"]
    except InputError as error:
        raise InputError(f"{what} gave no conversation: {error.message}", hint=error.hint) from None
    if not kept and any(m.role != "system" for m in given):
        raise InputError(f"{what} left no message", hint="At least the last one must stay.")
    mended, _ = repair(kept)
    return (*[m for m in given if m.role == "system"], *mended)
