"""The picture of a tape: what it holds, and what was played and recorded so far."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .amounts import count
from .escape import one_line
from .parts import Fields, Para, Picture, Table, bold, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models.taping import Tape
    from .parts import Block, Line

__all__ = ["tape"]

_MODELS = 20
_MODES = {
    "auto": "plays what is on it, asks and adds the rest",
    "record": "asks every model and records the answers",
    "strict": "plays only: no model is asked",
}


def tape(thing: Tape) -> Picture:
    """The picture of a tape.

    Parameters
    ----------
    thing : Tape
    """
    return Picture((*part("head", lambda: _head(thing)), *part("models", lambda: _models(thing))))


def _head(thing: Tape) -> Iterable[Block]:
    yield Para(dots(bold("tape"), code(one_line(thing.name, 120)), thing.mode))
    rows: list[tuple[str, Line]] = [("mode", (_MODES.get(thing.mode, thing.mode),))]
    begun = thing.file.begun
    held = f"{count(len(thing.file.calls), 'call')}, begun {one_line(begun, 20)}"
    rows.append(("on it", (held if begun else "nothing yet",)))
    rows.append(("so far", (f"{thing.played:,} played, {thing.recorded:,} recorded",)))
    if thing.passed_over:
        told = f"{count(thing.passed_over, 'call')} to simulated models, which need no tape"
        rows.append(("passed over", (told,)))
    yield Fields(tuple(rows))


def _models(thing: Tape) -> Iterable[Block]:
    found: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for line in list(thing.file.calls.values()):
        name = str(line.get("model"))
        found[name] += 1
        failed[name] += "usage" not in line
    if not found:
        return
    rows = tuple(
        ((one_line(name, 80),), (f"{n:,}",), (f"{failed[name]:,}" if failed[name] else "",))
        for name, n in found.most_common(_MODELS)
    )
    yield Table(("model", "calls", "failed"), rows, frozenset({1, 2}))
    if len(found) > _MODELS:
        yield Para((quiet(f"… {len(found) - _MODELS:,} more models"),))
