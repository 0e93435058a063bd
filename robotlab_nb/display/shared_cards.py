"""The pictures of what robots share: a memory, documents, a person.

Reads objects as they are now, once; values stand as previews, and nothing is written or waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools.preview import preview
from .amounts import count, seconds
from .escape import one_line
from .json_text import masked, value_line
from .parts import Fields, Fold, Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..memory.changes import Entry
    from ..memory.documents import Documents
    from ..memory.reactive import Memory
    from ..network.human import Human
    from .parts import Block, Line

__all__ = ["documents", "human", "memory"]

#: keys of a memory, documents and choices that are listed; characters of a preview
_KEYS, _DOCUMENTS, _CHOICES, _PREVIEW = 60, 60, 24, 160


def memory(thing: Memory) -> Picture:
    """The picture of a memory: its keys, versions and previews of what they hold.

    Parameters
    ----------
    thing : Memory
    """
    blocks = (*part("keys", lambda: _keys(thing)), *part("data", lambda: _data(thing)))
    return Picture(blocks, framed=True)


def _keys(thing: Memory) -> Iterable[Block]:
    names = sorted(thing.keys())
    shown = names[:_KEYS]
    entries = thing.entries(shown)
    url = thing.backend.url
    where = f"at {one_line(url, 120)}" if url is not None else None
    named = one_line(thing.name or "Memory", 120)
    yield Head((named,), "memory", dots(count(len(names), "key"), where))
    days = {entry.at.date() for entry in entries.values() if entry.at}
    day = days.pop() if len(days) == 1 else None
    rows = [_entry(key, entries[key], day is not None) for key in shown if key in entries]
    labelled = 6 if any(entry.labels for entry in entries.values()) else 5
    if rows:
        at = f"at, UTC {day}" if day else "at, UTC"
        columns = ("key", "value", "writer", at, "writes", "labels")[:labelled]
        yield Table(columns, tuple(row[:labelled] for row in rows), frozenset({4}))
    if len(names) > len(shown):
        yield Para((quiet(f"… {len(names) - len(shown):,} more keys"),))


def _entry(key: str, entry: Entry, same_day: bool) -> tuple[Line, ...]:
    at = f"{entry.at:{'%H:%M:%S' if same_day else '%Y-%m-%d %H:%M:%S'}}" if entry.at else ""
    return (
        (one_line(key, 80),),
        (_preview(key, entry.value),),
        (one_line(entry.writer, 60),),
        (at.replace(" ", "\u00a0"),) if at else (),
        (f"{entry.version:,}",),
        (one_line(", ".join(sorted(entry.labels)), 60),),
    )


def _preview(key: str, value: Any) -> str:
    shown = masked(key, preview(value).data)
    return one_line(shown, _PREVIEW) if isinstance(shown, str) else value_line(shown, _PREVIEW)


def _data(thing: Memory) -> Iterable[Block]:
    held = dict(thing.data)
    if held:
        rows = tuple(
            (one_line(str(name), 80), (_preview(str(name), value),))
            for name, value in list(held.items())[:_KEYS]
        )
        yield Fold(("Data",), (Fields(rows),), count(len(held), "value"), told=True)


def documents(thing: Documents) -> Picture:
    """The picture of documents: how many, and how each begins.

    Parameters
    ----------
    thing : Documents
    """

    def blocks() -> Iterable[Block]:
        keys = thing.keys()
        yield Head(("Documents",), "documents", (f"{len(keys):,} stored",))
        rows = []
        for key in keys[:_DOCUMENTS]:
            text = thing[key]
            rows.append(((one_line(key, 80),), (f"{len(text):,}",), (one_line(text, _PREVIEW),)))
        if rows:
            yield Table(("key", "characters", "text"), tuple(rows), frozenset({1}))
        if len(keys) > _DOCUMENTS:
            yield Para((quiet(f"… {len(keys) - _DOCUMENTS:,} more documents"),))
        yield Para((code("documents.search(…)"), " finds passages"), quiet=True)

    return Picture(part("documents", blocks), framed=True)


def human(thing: Human) -> Picture:
    """The picture of a person who does tasks of a network.

    Parameters
    ----------
    thing : Human
    """
    blocks = (
        *part("name", lambda: [Head((one_line(thing.name, 120),), "human")]),
        *part("description", lambda: _about(thing)),
        *part("answers", lambda: [Fields(tuple(_answers(thing)))]),
    )
    return Picture(blocks, framed=True)


def _about(thing: Human) -> Iterable[Block]:
    if thing.description:
        yield Para((one_line(thing.description, 400),))


def _answers(thing: Human) -> Iterable[tuple[str, Line]]:
    choices = [code(one_line(choice, 80)) for choice in thing.choices[:_CHOICES]]
    more = len(thing.choices) - len(choices)
    yield "answers", dots(*choices, f"{more:,} more" if more else None) or ("any text",)
    if thing.default is not None:
        yield "default", (code(one_line(thing.default, 80)),)
    timeout = thing.timeout
    if timeout is None:
        yield "waits", ("without a limit",)
    elif timeout >= 0:
        yield "waits", (seconds(timeout, limit=True) or "an unknown time",)
    else:
        yield "waits", ("as long as the run says",)
