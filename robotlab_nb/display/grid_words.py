"""What is told of one cell of a grid, in words: its answer, figures, scores and rating.

The picture that stands still and the live grid say the same. All texts are untrusted.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .amounts import count, dollars, seconds
from .escape import cut, one_line, plain
from .parts import Bit
from .states import State, state_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..lab.cell import Cell
    from ..lab.estimate import Estimate
    from ..lab.evaluating import Score
    from .grid_facts import Tally

__all__ = [
    "EARLIER", "answer_of", "error_words", "figures", "paid", "planned", "rated", "score_bits",
    "short", "stars", "state_bit_of", "status",
]  # fmt: skip

#: Scores of a cell that are told.
_SCORES = 8
#: what is said of an answer that nothing was sent for
EARLIER = "from\u00a0earlier"
_STOPPED = State("✕", "stopped early", "kf")


def status(word: str) -> State:
    """How the state of an experiment looks.

    Examples
    --------
    >>> status("stopped").word, status("running").icon
    ('stopped early', '◐')
    """
    return _STOPPED if word == "stopped" else state_of(word)


def state_bit_of(word: str, *, loud: bool = False) -> Bit:
    """The state of an experiment as icon and word."""
    found = status(word)
    return Bit(found.word, "state" if loud else "mark", icon=found.icon, hue=found.hue)


def answer_of(cell: Cell) -> str:
    """What a cell answered: its text, or its value as JSON; empty where there is none.

    Parameters
    ----------
    cell : Cell
    """
    if cell.text:
        return cell.text
    if cell.value is None:
        return ""
    if isinstance(cell.value, str):
        return cell.value
    try:
        return json.dumps(cell.value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return plain(cell.value)


def error_words(cell: Cell, limit: int) -> str:
    """Why a cell has no answer, on one line."""
    error = cell.error or {}
    told = [error.get("type"), error.get("message"), error.get("hint")]
    return one_line(" · ".join(str(each) for each in told if each), limit)


def figures(cell: Cell) -> str:
    r"""Where an answer comes from, how long it took, what it took; empty before there is one.

    Parameters
    ----------
    cell : Cell

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> cell = Cell(0, "", "p", "m", "i", cached=True, status="completed", cost_usd=0.002)
    >>> figures(cell)
    'from\xa0earlier · $0.0020'
    """
    tokens = [n for n in (cell.input_tokens, cell.output_tokens) if n is not None]
    price = dollars(cell.cost_usd)
    if price is not None and not cell.cost_complete:
        price = f"at\u00a0least\u00a0{price}"
    elif price is None and tokens and not cell.simulated:
        price = "cost\u00a0unknown"
    if cell.simulated and not cell.cost_usd:
        price = None
    told = (
        EARLIER if cell.cached else None,
        seconds(cell.duration_s),
        count(sum(tokens), "token") if tokens else None,
        price,
    )
    return " · ".join(each for each in told if each)


def score_bits(cell: Cell) -> Iterator[tuple[str, str, str]]:
    """The scores of a cell: icon, words, hue.

    Parameters
    ----------
    cell : Cell
    """
    for score in cell.scores[:_SCORES]:
        yield _score(score)
    if len(cell.scores) > _SCORES:
        yield "·", f"{len(cell.scores) - _SCORES:,} more scores", ""


def _score(score: Score) -> tuple[str, str, str]:
    name = one_line(score.name, 40) or "score"
    told = [] if score.value is None else [f"{score.value:.4g}"]
    told += [one_line(score.label, 40)] if score.label else []
    figure = f" {' '.join(told)}" if told else ""
    why = f": {one_line(score.reason, 160)}" if score.reason else ""
    made = " (simulated)" if score.simulated else ""
    if score.error is not None:
        message = one_line(score.error.get("message") or score.error.get("type") or "", 160)
        return "⊘", f"{name} gave no score: {message}", ""
    if score.passed is None:
        return "·", f"{name}{figure}{made}{why}", ""
    if score.passed:
        return "✓", f"{name} passed{figure}{made}", ""
    return "✕", f"{name} failed{figure}{made}{why}", "kf"


def paid(sums: Tally) -> str | None:
    """What cells have cost that were asked now; None where nothing is to be said of it.

    Parameters
    ----------
    sums : Tally
    """
    price = dollars(sums.cost_usd)
    if price is None:
        return None if sums.complete else "cost\u00a0unknown"
    if sums.complete:
        return price if sums.cost_usd else None
    return f"at\u00a0least\u00a0{price}"


def planned(plan: Estimate) -> tuple[str, str]:
    """What was planned, and what it was thought to cost, in words.

    Parameters
    ----------
    plan : Estimate
    """
    calls = count(plan.calls, "call")
    if plan.calls and plan.calls == plan.simulated:
        return calls, "simulated: they cost nothing"
    price = dollars(plan.cost_usd)
    return calls, "cost\u00a0unknown" if price is None else f"about\u00a0{price}"


def stars(rating: int) -> str:
    """A rating as five stars.

    Examples
    --------
    >>> stars(4)
    '★★★★☆'
    """
    return "★" * rating + "☆" * (5 - rating)


def rated(cell: Cell) -> str:
    """The rating and the note of a person, in words; empty where there are none."""
    told = []
    if cell.rating is not None:
        number = min(max(cell.rating, 0), 5)
        told.append(f"{stars(number)} rated\u00a0{cell.rating}\u00a0of\u00a05")
    if cell.note:
        told.append(f"note: {one_line(cell.note, 200)}")
    return " · ".join(told)


def short(cell: Cell, limit: int, lines: int) -> tuple[str, int]:
    r"""The start of an answer without its empty lines, and how many characters are left out.

    Parameters
    ----------
    cell : Cell
    limit, lines : int
        Characters and lines at most.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> short(Cell(0, "", "p", "m", "i", text="one\n\ntwo\nthree"), 100, 2)
    ('one\ntwo', 5)
    """
    whole = answer_of(cell)
    shown, left = cut(whole, limit)
    kept = [line.rstrip() for line in shown.split("\n") if line.strip()]
    left += sum(map(len, kept[lines:]))
    return "\n".join(kept[:lines]), left
