"""Answers that are data: as fields or a table, and those that were sent back with what was wrong.

Knows JSON and the events that judged answers, not the types that were asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .escape import clip, one_line
from .json_text import value_line
from .parts import Fields, Fold, Para, Pre, Prose, Quote, Table, code, dots, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.events import Event
    from ..core.state import RunState
    from .parts import Block, Line

__all__ = ["as_json", "data", "faults", "judged", "rejected", "sent_back", "words"]

_FIELDS, _COLUMNS, _ROWS, _FAULTS, _ANSWERS = 40, 8, 50, 20, 10


def data(value: Any) -> Iterable[Block]:
    """A value as a person reads it: fields, a table, text or JSON.

    Parameters
    ----------
    value : JSON

    Yields
    ------
    Block
    """
    columns = _columns(value)
    if isinstance(value, Mapping) and value:
        yield Fields(tuple((one_line(k, 64), _cell(v)) for k, v in list(value.items())[:_FIELDS]))
        if len(value) > _FIELDS:
            yield Para((quiet(f"… {len(value) - _FIELDS:,} more fields"),))
    elif columns:
        rows = tuple(tuple(_cell(row.get(name)) for name in columns) for row in value[:_ROWS])
        figures = frozenset(n for n, name in enumerate(columns) if n and _figures(value, name))
        yield Table(tuple(one_line(name, 64) for name in columns), rows, figures)
        if len(value) > _ROWS:
            yield Para((quiet(f"… {len(value) - _ROWS:,} more rows"),))
    elif isinstance(value, str):
        yield Prose(value) if value else Para((quiet("an empty text"),))
    else:
        yield Pre(value_line(value, 4000))


def _columns(value: Any) -> list[str]:
    """The names of a list of flat records alike; none where it is anything else."""
    if not isinstance(value, list) or not value:
        return []
    if not all(isinstance(row, Mapping) for row in value):
        return []
    names = list(dict.fromkeys(str(name) for row in value[:_ROWS] for name in row))
    return names if 0 < len(names) <= _COLUMNS else []


def _figures(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    held = [row.get(name) for row in rows[:_ROWS]]
    return all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in held)


def _cell(value: Any) -> Line:
    if isinstance(value, str):
        return (one_line(value, 400),) if value else (quiet("empty"),)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return (value_line(value, 60),)
    return (code(value_line(value, 400)),)


def as_json(state: RunState) -> Iterable[Block]:
    """An answer that is data, as JSON in a fold.

    Parameters
    ----------
    state : RunState
    """
    if isinstance(state.output, (Mapping, list)):
        try:
            text = json.dumps(state.output, indent=2, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            text = value_line(state.output, 4000)
        yield Fold(("JSON",), (Pre(text),))


def judged(state: RunState) -> list[Event]:
    """The events that judged a run's answers, in order."""
    return [e for e in list(state.notes) if e.type in ("output.parsed", "output.rejected")]


def words(state: RunState) -> str | None:
    """What the answer had to be, how the model was told, and how often it was sent back.

    Parameters
    ----------
    state : RunState

    Returns
    -------
    str or None
        ``Invoice by schema, 1 answer sent back``; None where any answer was good.
    """
    found = judged(state)
    name = state.info.get("output")
    if not name and not found:
        return None
    mode = one_line(found[-1].data.get("mode"), 20) if found else ""
    back = sum(event.type == "output.rejected" for event in found)
    if found and found[-1].type == "output.rejected" and state.ended:
        back -= 1  # the last one was not sent back any more
    told = f"{back:,} answer{'s' if back != 1 else ''} sent back" if back > 0 else ""
    how = f"{one_line(name or 'data', 60)} by {mode}" if mode else one_line(name, 60)
    return f"{how}, {told}" if told else how


def sent_back(state: RunState) -> set[int]:
    """Where a run's messages tell its model what was wrong with an answer: no person said that.

    Parameters
    ----------
    state : RunState

    Returns
    -------
    set of int
        Positions in the turn.
    """
    start = state.turn_start
    asked = [n for n, said in enumerate(state.turn) if n and said.role == "user"]
    found: set[int] = set()
    for event in judged(state):
        if event.type == "output.rejected":
            after = (n for n in asked if state.message_times.get(start + n, 0.0) >= event.elapsed)
            found.update([n for n in after if n not in found][:1])
    return found


def rejected(state: RunState) -> Iterable[Block]:
    """The answers that were not what they had to be, each with its faults, in a fold.

    Parameters
    ----------
    state : RunState
    """
    found = [event for event in judged(state) if event.type == "output.rejected"]
    if not found:
        return
    blocks: list[Block] = []
    for event in found[:_ANSWERS]:
        told: Any = event.data
        head = dots(f"answer {one_line(told.get('attempt'), 10)}", quiet(_mode(told)))
        inside: list[Block] = [Para(head), *faults(told.get("errors"))]
        if told.get("text"):
            inside.append(Pre(clip(told["text"], 4000)))
        blocks.append(Quote(tuple(inside)))
    if len(found) > _ANSWERS:
        blocks.append(Para((quiet(f"… {len(found) - _ANSWERS:,} more"),)))
    yield Fold(("Rejected answers",), tuple(blocks), f"{len(found):,}", told=True)


def _mode(told: Mapping[str, Any]) -> str:
    return f"by {one_line(told['mode'], 20)}" if told.get("mode") else ""


def faults(errors: Any) -> Iterable[Block]:
    """What was wrong with an answer: where, and why.

    Parameters
    ----------
    errors : sequence of mapping
        ``path`` and ``message`` of each.
    """
    if not isinstance(errors, (list, tuple)) or not errors:
        return
    rows = [
        (one_line(each.get("path") or "the whole", 80), (clip(each.get("message") or "", 400),))
        for each in errors[:_FAULTS]
        if isinstance(each, Mapping)
    ]
    yield Fields(tuple(rows))
    if len(errors) > _FAULTS:
        yield Para((quiet(f"… {len(errors) - _FAULTS:,} more"),))
