"""The requests of a run's model calls: which model, when, how long, how it ended, what came then.

Nothing is shown where every call was answered at the first request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import moment, seconds
from .besides import error_words
from .escape import one_line
from .parts import Fold, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..core.state import Attempt, ModelCall, RunState
    from .parts import Block, Line

__all__ = ["attempt_table", "attempts", "who_answered"]

_ROWS = 50

Row = tuple["Line", ...]


def attempts(state: RunState) -> Iterable[Block]:
    """The attempts of a run whose calls had several, or a failed one, in a fold.

    Parameters
    ----------
    state : RunState
    """
    yield from attempt_table(list(state.model_calls.values()))


def attempt_table(calls: Sequence[ModelCall]) -> Iterable[Block]:
    """The same of some model calls.

    Parameters
    ----------
    calls : sequence of ModelCall
    """
    shown = [(n, call) for n, call in enumerate(calls, 1) if _troubled(call)]
    rows = [row for n, call in shown for row in _rows("" if len(calls) == 1 else f"call {n}", call)]
    if not rows:
        return
    failed = sum(a.error is not None for _, call in shown for a in call.attempts)
    failed += sum(1 for _, call in shown for _ in _unasked(call))
    columns = ["attempt", "model", "started", "took", "outcome"]
    models = {a.model for _, call in shown for a in call.attempts}
    if len(models) < 2 and not any(call.fallbacks for _, call in shown):
        columns.remove("model")
        rows = [(row[0], *row[2:]) for row in rows]
    figures = frozenset(n for n, name in enumerate(columns) if name in ("started", "took"))
    table = Table(tuple(columns), tuple(rows[:_ROWS]), figures)
    note = f"{len(rows):,}, {'all' if failed == len(rows) else f'{failed:,}'} failed"
    yield Fold(("Attempts",), (table,), note, told=True)


def who_answered(state: RunState) -> list[str]:
    """The model that was asked; where another one answered, that and in whose place.

    Parameters
    ----------
    state : RunState
    """
    asked = one_line(state.info.get("model") or "", 100)
    calls = list(state.model_calls.values())
    found = dict.fromkeys(one_line(c.model, 100) for c in calls if c.status == "completed")
    if any(call.fallbacks for call in calls) and asked and asked not in found and found:
        return [f"{', '.join(list(found)[:3])} in place of {asked}"]
    return list(dict.fromkeys([*([asked] if asked else ()), *found]))[:3]


def _troubled(call: ModelCall) -> bool:
    return len(call.attempts) > 1 or bool(call.fallbacks) or any(a.error for a in call.attempts)


def _unasked(call: ModelCall) -> list[Any]:
    """Fallbacks from models that no request was made to: a missing key, a spent budget."""
    asked = {attempt.model for attempt in call.attempts}
    return [each for each in call.fallbacks if each.get("from_model") not in asked]


def _rows(label: str, call: ModelCall) -> Iterator[Row]:
    for each in _unasked(call):
        model = one_line(each.get("from_model"), 80)
        words = f"{error_words(each.get('error'))} · then {one_line(each.get('to_model'), 80)}"
        yield ((label or "–",), (model,), (), (), (words,))
    after = {each.get("from_model"): each.get("to_model") for each in call.fallbacks}
    for attempt in call.attempts:
        yield _row(label, attempt, after)


def _fault(error: Mapping[str, Any]) -> str:
    """What went wrong; the HTTP status stands in front where the message does not tell it."""
    words = one_line(error.get("message") or error.get("type") or "failed", 160)
    status = one_line(error["status"], 10) if error.get("status") else ""
    return words if not status or status in words else f"{status}, {words}"


def _row(label: str, attempt: Attempt, after: dict[Any, Any]) -> Row:
    error = attempt.error
    words = "✓\u00a0answered"
    if error is not None:
        wait = seconds(attempt.retry_in_s, limit=True)
        words = _fault(error)
        if wait:
            words += f" · next after {wait}"
        elif attempt.model in after:
            words += f" · then {one_line(after[attempt.model], 80)}"
    number = f"{attempt.attempt}"
    return (
        (f"{label}, {number}" if label else number,),
        (one_line(attempt.model or "", 80),),
        (moment(attempt.started_s) or "",),
        (seconds(attempt.duration_s) or "",),
        (words,),
    )
