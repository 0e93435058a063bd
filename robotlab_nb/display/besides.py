"""What happened beside the conversation: waits, limits, warnings, failed hooks, the prompt's parts.

Reads the events that a run's state keeps as notes. Questions and judged answers have modules of
their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count, dollars, moment, seconds
from .escape import clip, one_line
from .parts import Bit, Fold, Para, Pre, Table, code, dots, quiet
from .server_rows import SERVERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..core.events import Event
    from ..core.state import RunState
    from .parts import Block, Line

__all__ = ["composed", "death_words", "error_words", "notes", "skills", "told"]

_ROWS = 60


def notes(state: RunState) -> Iterable[Block]:
    """What guards, cache, compression and hooks did, in a fold: when, and what.

    Parameters
    ----------
    state : RunState
    """
    found = [event for event in list(state.notes) if event.type in _TELL]
    if not found:
        return
    rows = tuple(
        ((moment(max(event.elapsed - state.started_s, 0.0)) or "",), told(event))
        for event in found[:_ROWS]
    )
    blocks: list[Block] = [Table(("at", "what"), rows)]
    if len(found) > _ROWS:
        blocks.append(Para((quiet(f"… {len(found) - _ROWS:,} more"),)))
    yield Fold(("Notes",), tuple(blocks), _summary(found), told=True)


def told(event: Event) -> Line:
    """One event in words, for a row of a table or of a live view.

    Parameters
    ----------
    event : Event
        Of a type that is told here; of another one its type is named.
    """
    tell = _TELL.get(event.type) or SERVERS.get(event.type)
    return tell(event.data) if tell is not None else (one_line(event.type, 60),)


def _summary(found: list[Event]) -> str:
    counted = {
        words: sum(event.type == kind for event in found)
        for kind, words in (
            ("guard.budget", "budget refusal"),
            ("guard.loop", "loop warning"),
            ("hook.failed", "failed hook"),
            ("guard.limited", "wait"),
            ("cache.hit", "cached answer"),
            ("conversation.compacted", "compression"),
            ("guard.convergence", "comparison"),
            ("memory.deadlock", "deadlock"),
            ("memory.subscriber_failed", "failed subscriber"),
            ("bus.dead", "dead letter"),
            ("bus.handler_failed", "failed handler"),
            ("bus.blocked", "full channel"),
        )
    }
    return ", ".join(count(number, words) for words, number in counted.items() if number)


def _bad(words: str) -> Bit:
    return Bit(words, "mark", icon="✕", hue="kf")


def _limited(data: Any) -> Line:
    wait = seconds(data.get("wait_s"), limit=True) or "a moment"
    return (f"waited {wait} for its turn: ", one_line(data.get("limit"), 40).replace("_", " "))


def _budget(data: Any) -> Line:
    kind = data.get("dimension")
    used = f"{_amount(kind, data.get('used'))} of {_amount(kind, data.get('limit'))} used"
    held = f"{_amount(kind, data['reserved'])} reserved" if data.get("reserved") else None
    asked = f"{_amount(kind, data['asked'])} needed" if data.get("asked") else None
    name = one_line(data.get("budget"), 60)
    return dots((_bad("stopped"), f" by budget {name}"), used, held, asked)


def _amount(kind: object, number: object) -> str:
    if kind == "cost":
        return dollars(number) or "an unknown cost"
    if kind == "seconds":
        return seconds(number, limit=True) or "an unknown time"
    known = isinstance(number, (int, float)) and not isinstance(number, bool)
    return f"{number:,.0f}\u00a0{one_line(kind, 20)}" if known else "an unknown number"


def _loop(data: Any) -> Line:
    tool = code("", lead=one_line(data.get("tool"), 80))
    times = f"{one_line(data.get('count'), 12)} times"
    if data.get("kind") == "repeat":
        return ("warned the model: ", tool, f" called {times} with the same arguments")
    calls = count(data.get("length"), "call")
    return (f"warned the model: {calls} in a circle, {times}, ending in ", tool)


def _cached(data: Any) -> Line:
    return ("an answer came from the cache: an equal request was paid before",)


def _compacted(data: Any) -> Line:
    dropped = count(data.get("dropped"), "message")
    done = "summed up" if data.get("summary") else "left out"
    before, after = (_amount("tokens", data.get(f"{x}_tokens")) for x in ("before", "after"))
    how = one_line(data.get("strategy"), 60)
    return dots(f"{dropped} {done}, {before.split(chr(0xA0))[0]} → {after}", quiet(how))


def _hook(data: Any) -> Line:
    name = one_line(data.get("hook"), 80)
    why = error_words(data.get("error"))
    return dots((_bad("hook failed"), " ", code(name)), why, quiet("the run went on"))


def _converged(data: Any) -> Line:
    told = "the same" if data.get("converged") else "not the same"
    score = f"score {_score(data.get('score'))}, {_score(data.get('threshold'))} is enough"
    return dots(f"compared {count(data.get('texts'), 'text')}: {told}", score)


def _deadlock(data: Any) -> Line:
    keys, waiting = _named(data.get("keys")), _named(data.get("waiting"))
    who = f"{waiting} waited" if waiting else "a wait"
    return dots((_bad("deadlock"), f" {who} for {keys or 'keys'}"), "nobody was left to write them")


def _subscriber(data: Any) -> Line:
    name = code(one_line(data.get("subscriber"), 60))
    told = f" was to be told of {one_line(data.get('key'), 80)}"
    return dots((_bad("subscriber failed"), " ", name, told), error_words(data.get("error")))


#: why a message is a dead letter, in words
_DEATHS = {
    "nack": "refused",
    "timeout": "not taken in time",
    "no_receiver": "nobody receives there",
    "handler_error": "its handler failed",
    "rejected_type": "of the wrong type",
    "closed": "the bus was closed",
}


def _dead(data: Any) -> Line:
    on = f" on {one_line(data.get('channel'), 60)}"
    error = error_words(data["error"]) if data.get("error") else None
    why = death_words(data.get("reason"), data.get("receiver"))
    return dots((_bad("dead letter"), on), why, error)


def death_words(reason: Any, receiver: Any) -> str:
    """Why a message is a dead letter, and who refused it."""
    why = _DEATHS.get(reason) if isinstance(reason, str) else None
    who = f" by {one_line(receiver, 60)}" if reason == "nack" and receiver else ""
    return (why or one_line(reason, 40)) + who


def _handler(data: Any) -> Line:
    who = one_line(data.get("receiver"), 60)
    on = f" {who} on what it took from {one_line(data.get('channel'), 60)}"
    return dots((_bad("handler failed"), on), error_words(data.get("error")))


def _blocked(data: Any) -> Line:
    full = f"{one_line(data.get('pending'), 12)} of {one_line(data.get('max_pending'), 12)} pending"
    return dots(f"waited for room on channel {one_line(data.get('channel'), 60)}", full)


def _named(names: Any) -> str:
    """Names on one line, the first few of many."""
    if not isinstance(names, (list, tuple)):
        return ""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return ", ".join(one_line(name, 60) for name in names[:5]) + more


def error_words(error: Any) -> str:
    """An error of an event on one line: its type and what it said."""
    found = error if isinstance(error, dict) else {}
    message = one_line(found.get("message") or "", 200)
    kind = one_line(found.get("type") or "error", 60)
    return f"{kind}: {message}" if message else kind


_TELL: dict[str, Callable[[Any], Line]] = {
    "guard.limited": _limited,
    "guard.budget": _budget,
    "guard.loop": _loop,
    "cache.hit": _cached,
    "conversation.compacted": _compacted,
    "hook.failed": _hook,
    "guard.convergence": _converged,
    "memory.deadlock": _deadlock,
    "memory.subscriber_failed": _subscriber,
    "bus.dead": _dead,
    "bus.handler_failed": _handler,
    "bus.blocked": _blocked,
}

# -- what the model was told first -----------------------------------------------------------


#: what a part is called, where its own name says too little
_KINDS: dict[Any, str] = {"output": "form of the answer"}


def _of(state: RunState, type_: str) -> list[Any]:
    return [event.data for event in list(state.notes) if event.type == type_]


def composed(state: RunState) -> Iterable[Block]:
    """What the system message was made of, in a fold.

    Parameters
    ----------
    state : RunState
    """
    for data in _of(state, "prompt.composed")[-1:]:
        parts = data.get("parts") or ()
        rows = tuple(
            (
                (_KINDS.get(each.get("kind"), one_line(each.get("kind"), 40)).replace("_", " "),),
                (one_line(each.get("name") or "", 80),),
                (_number(each.get("chars")),),
            )
            for each in parts[:_ROWS]
        )
        table = Table(("part", "name", "characters"), rows, frozenset({2}))
        chars = sum(n for each in parts if isinstance(n := each.get("chars"), int))
        note = f"{count(len(parts), 'part')}, {count(chars, 'character')}"
        first = state.messages[0] if state.messages else None
        text = (Pre(clip(first.text, 4000)),) if first is not None and first.is_system else ()
        yield Fold(("System message",), (table, *text), note, told=True)


def _number(value: object) -> str:
    known = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if known else "unknown"


def skills(state: RunState) -> Iterable[Block]:
    """Which agent skills were scored against the message, and used, in a fold.

    Parameters
    ----------
    state : RunState
    """
    for data in _of(state, "prompt.skills_matched")[-1:]:
        matches = data.get("matches") or ()
        rows = tuple(
            (
                (one_line(each.get("name"), 80),),
                (_score(each.get("score")),),
                ("✓\u00a0used",) if each.get("used") else (quiet("not used"),),
            )
            for each in matches[:_ROWS]
        )
        scorer = one_line(data.get("scorer"), 60)
        about = dots(f"scored by {scorer}", f"used from {_score(data.get('threshold'))} up")
        blocks: list[Block] = [Table(("skill", "score", ""), rows, frozenset({1}))] if rows else []
        blocks.append(Para(about, quiet=True))
        if data.get("error"):
            blocks.append(Para((_bad("scoring failed"), f" {error_words(data['error'])}")))
        used = sum(bool(each.get("used")) for each in matches)
        note = f"{used:,} of {len(matches):,} used"
        yield Fold(("Agent skills",), tuple(blocks), note, told=True)


def _score(score: object) -> str:
    known = isinstance(score, (int, float)) and not isinstance(score, bool)
    return f"{score:.2f}" if known else "unknown"
