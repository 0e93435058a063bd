"""The picture of a check: one line when it passed, else what was expected and what came."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .escape import clip, one_line
from .parts import Bit, Fields, Para, Picture, Quote, bold, dots, part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..lab.checking import Check
    from .parts import Block, Line

__all__ = ["check"]

_REASONS = 12


def check(thing: Check) -> Picture:
    """The picture of a check.

    Parameters
    ----------
    thing : Check
    """
    if thing.passed:
        return Picture((_head(thing),))
    blocks = (_head(thing), *part("answer", lambda: _body(thing)))
    return Picture((Quote(blocks, "rail", "kf"),))


def _head(thing: Check) -> Block:
    if thing.passed:
        verdict = Bit("passed", "mark", icon="✓")
    else:
        verdict = Bit("failed", "state", icon="✕", hue="kf")
    return Para(dots(verdict, bold(one_line(thing.name, 120)), *_made_up(thing)))


def _made_up(thing: Check) -> Iterable[str]:
    if any(score.simulated for score in thing.scores):
        yield "judged by a simulated model"


def _body(thing: Check) -> Iterable[Block]:
    rows: list[tuple[str, Line]] = [
        ("because" if n == 0 else "", (clip(why, 400),))
        for n, why in enumerate(thing.reasons[:_REASONS])
    ]
    if len(thing.reasons) > _REASONS:
        rows.append(("", (f"… {len(thing.reasons) - _REASONS:,} more",)))
    if thing.expected is not None:
        rows.append(("expected", (clip(str(thing.expected), 600),)))
    if thing.output is not None:
        rows.append(("answer", (clip(str(thing.output), 600),)))
    yield Fields(tuple(rows))
