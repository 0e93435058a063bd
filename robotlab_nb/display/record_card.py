"""The pictures of plain records: usage, events, changes of a memory, and whatever has named fields.

A record is shown as its fields in their own order, without those that say nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ..tools.preview import preview
from .amounts import cost, count, moment, tokens
from .besides import told
from .escape import one_line
from .json_text import masked, value_line
from .narration import Narration
from .parts import Fields, Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ..core.events import Event
    from ..core.usage import Usage
    from ..memory.changes import MemoryChange
    from .parts import Block, Line

__all__ = ["change", "event", "events", "record", "usage"]

_FIELDS, _ROWS, _VALUE = 60, 60, 400
#: how many of many events are shown from the start
_FIRST = 10


def record(thing: Any) -> Picture:
    """The picture of a record: its fields.

    Parameters
    ----------
    thing : object
        A dataclass, a named tuple, or an object with slots.
    """

    def blocks() -> Iterable[Block]:
        named = list(_named(thing))
        title = next((value for name, value in named if name in _TITLES and value), None)
        kind = _words(type(thing).__name__)
        yield Head((one_line(title, 120) if isinstance(title, str) else kind.capitalize(),), kind)
        rows = [
            (name.replace("_", " "), _value(name, value)) for name, value in named if _says(value)
        ]
        if rows:
            yield Fields(tuple(rows[:_FIELDS]))
        if len(rows) > _FIELDS:
            yield Para((quiet(f"… {len(rows) - _FIELDS:,} more fields"),))

    return Picture(part("record", blocks), framed=True)


#: fields that name a record
_TITLES = ("name", "tool", "model", "task", "key")


def _named(thing: Any) -> Iterator[tuple[str, Any]]:
    if is_dataclass(thing):
        names = [each.name for each in fields(thing) if each.repr]
    else:
        kind: Any = type(thing)
        names = list(getattr(kind, "_fields", ()) or getattr(kind, "__slots__", ()))
    for name in names:
        if not name.startswith("_"):
            yield name, getattr(thing, name)


def _says(value: Any) -> bool:
    return value is not None and not (isinstance(value, (str, tuple, list, Mapping)) and not value)


def _value(name: str, value: Any) -> Line:
    value = _safe(name, value)
    if isinstance(value, str):
        return (one_line(value, _VALUE),)
    if isinstance(value, (bool, int, float)):
        return (value_line(value, 60),)
    return (code(value_line(_safe(name, preview(value).data), _VALUE)),)


def _safe(name: str, value: Any) -> Any:
    """A value without keys and passwords; what is called just ``key`` here is a name."""
    return value if name == "key" and isinstance(value, str) else masked(name, value)


def _words(name: str) -> str:
    """A class's name in words: ``ModelCall`` is a model call."""
    pieces = "".join(f" {char.lower()}" if char.isupper() else char for char in name)
    return one_line(pieces.strip(), 60)


def usage(thing: Usage) -> Picture:
    """The picture of tokens and what they cost.

    Parameters
    ----------
    thing : Usage
    """

    def blocks() -> Iterable[Block]:
        calls = count(thing.calls, "call") if thing.calls else None
        yield Para(dots(tokens(thing), cost(thing), calls))
        names = ("input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens")
        counts = [(name.partition("_")[0], getattr(thing, name)) for name in names]
        if any(number is not None for _, number in counts):
            yield Fields(tuple((n, (f"{k:,}",)) for n, k in counts if isinstance(k, int)))

    return Picture(part("usage", blocks))


def change(thing: MemoryChange) -> Picture:
    """The picture of one change of a memory.

    Parameters
    ----------
    thing : MemoryChange
    """

    def blocks() -> Iterable[Block]:
        about = dots(f"{one_line(thing.kind, 20)} by {one_line(thing.writer, 80)}")
        yield Head((one_line(thing.key, 120),), "change of a memory", about)
        rows: list[tuple[str, Line]] = []
        for name, value in (("now", thing.value), ("before", thing.previous)):
            if value is not None:
                shown = masked(thing.key, preview(value).data)
                text = one_line(shown, _VALUE) if isinstance(shown, str) else ""
                rows.append((name, (text or value_line(shown, _VALUE),)))
        rows.append(("writes", (f"{thing.version:,}",)))
        if thing.network_name:
            rows.append(("network", (one_line(thing.network_name, 80),)))
        rows.append(("at", (f"{thing.timestamp:%Y-%m-%d %H:%M:%S} UTC",)))
        yield Fields(tuple(rows))

    return Picture(part("change", blocks), framed=True)


def event(thing: Event) -> Picture:
    """The picture of one event: what, when and where, then what it says.

    Parameters
    ----------
    thing : Event
    """

    def blocks() -> Iterable[Block]:
        at = moment(thing.elapsed)
        yield Head((one_line(thing.type, 80),), "event", dots(_place(thing), f"at {at}"))
        rows = [(one_line(k, 64), _value(k, v)) for k, v in _data(thing).items() if _says(v)]
        if rows:
            yield Fields(tuple(rows[:_FIELDS]))

    return Picture(part("event", blocks), framed=True)


def events(things: Sequence[Event]) -> Picture:
    """The picture of a list of events: a row for each, of many the first and the last ones.

    Parameters
    ----------
    things : sequence of Event
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "event"),), quiet=True)
        left = max(len(things) - _ROWS, 0)
        start = _FIRST if left else len(things)
        narrated = Narration()
        rows = [_row(each, narrated) for each in things[:start]]
        if left:
            rows.append(((), (), (), (quiet(f"… {left:,} more events"),), ()))
            rows += [_row(each, narrated) for each in things[-(_ROWS - _FIRST) :]]
        columns = ("number", "at", "where", "event", "what it says")
        yield Table(columns, tuple(rows), frozenset({0, 1}))

    return Picture(part("events", blocks))


def _row(each: Event, narrated: Narration) -> tuple[Line, ...]:
    return (
        (f"{each.seq:,}",),
        (moment(each.elapsed) or "",),
        (_place(each),),
        (one_line(each.type, 60),),
        _words_of(each, narrated),
    )


def _words_of(each: Event, narrated: Narration) -> Line:
    """What an event says: in words where there are some, else its data in short."""
    line = narrated.line(each)
    found: Any = each.data.get("message")
    if isinstance(found, Mapping):
        parts = [part for part in found.get("parts") or () if isinstance(part, Mapping)]
        texts = [part.get("text") or f"({one_line(part.get('kind'), 40)})" for part in parts]
        said = " ".join(text for text in texts if isinstance(text, str))
        return (quiet(f"{one_line(found.get('role'), 20)}: "), one_line(said, 160))
    words = told(each)
    if words != (one_line(each.type, 60),):
        return words
    if line is not None:
        return (one_line(line.partition("] ")[2], 160),)
    rest = {k: v for k, v in _data(each).items() if _says(v) and not k.endswith(_IDS)}
    if "key" in rest and "value" in rest:
        return (f"{one_line(rest['key'], 60)} = {value_line(rest['value'], 120)}",)
    if "attempt" in rest:
        return (f"attempt {one_line(rest['attempt'], 10)}",)
    text = next((rest[name] for name in ("text", "input", "stop_reason") if name in rest), None)
    if isinstance(text, str):
        return (one_line(text, 160),)
    return (value_line(rest, 160),) if rest else ()


def _data(each: Event) -> dict[str, Any]:
    """What an event says without keys and passwords, those kept in a memory included."""
    key = each.data.get("key")
    found: dict[str, Any] = {name: _safe(name, value) for name, value in each.data.items()}
    if isinstance(key, str) and "value" in found:
        found["value"] = _safe(key, found["value"])
    return found


#: fields that nobody reads in a row
_IDS = ("_id", "_ids", "_key", "schema_version", "hash", "started_at", "_s")


def _place(each: Event) -> str:
    path = each.scope.path
    if each.scope.kind == "session":
        return "session"
    return "\u00a0›\u00a0".join(one_line(step, 40) for step in path[-3:])
