"""What the live grid is told of an experiment, its rows, columns and cells: readings of the cells.

All strings are in visible form and only ever put into text nodes. Knows no widget and no clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display.amounts import count, dollars, seconds
from ..display.escape import clip, cut, one_line, plain
from ..display.grid_facts import all_simulated, has_failed, tally
from ..display.grid_words import (
    answer_of,
    error_words,
    figures,
    paid,
    planned,
    score_bits,
    status,
)
from ..display.states import state_of
from .chat_prose import prose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..display.grid_facts import GridFacts
    from ..lab.cell import Cell
    from ..lab.experiment import Experiment

__all__ = ["ANSWER", "cell_row", "column_row", "detail_row", "eta_words", "head_row"]

#: characters of an answer in the grid, and of one that is opened
ANSWER, _WHOLE = 400, 40_000
_TEXT, _NOTE, _COLUMNS = 8_000, 120, 24

Row = dict[str, Any]


def head_row(
    thing: Experiment, cells: Sequence[Cell], facts: GridFacts | None, since: float | None
) -> Row:
    """The experiment: what it is at, and what its cells come to.

    Parameters
    ----------
    thing : Experiment
    cells : sequence of Cell
    facts : GridFacts or None
        Its plan, once there is one.
    since : float or None
        Seconds since it began; None where it does not go on.
    """
    word = thing.status
    live = word == "running" or (word == "pending" and thing.run is not None)
    found, sums = status(word), tally(cells)
    done = sum(cell.status in ("completed", "failed") for cell in cells)
    bad = sum(map(has_failed, cells))
    told = (
        f"{done:,} of {count(len(cells), 'cell')}",
        f"{sums.states['running']:,} running" if sums.states["running"] else None,
        f"{bad:,} with failures" if bad else None,
        f"{sums.cached:,} from earlier" if sums.cached else None,
        f"{sums.states['skipped']:,} not asked" if sums.states["skipped"] else None,
        f"{sums.tokens:,}\u00a0tokens" if sums.tokens else None,
        paid(sums),
    )
    return {
        "id": one_line(thing.id or "", 60),
        "name": one_line(thing.name, 80) or "experiment",
        "icon": found.icon,
        "word": found.word,
        "hue": found.hue,
        "live": live,
        "sim": all_simulated(cells),
        "size": facts.size if facts is not None else "no cells yet",
        "same": " · ".join(f"{name}: {value}" for name, value in facts.same) if facts else "",
        "done": done,
        "total": len(cells),
        "figures": " · ".join(each for each in told if each),
        "plan": f"planned: {', '.join(planned(thing.estimate))}"
        if word in ("pending", "running")
        else "",
        "eta": eta_words(cells, since),
        "reason": one_line(thing.reason, 600) if thing.reason else "",
        "rated": sums.rated,
    }


def eta_words(cells: Sequence[Cell], since: float | None) -> str:
    r"""How long it will still take, in rough words; empty where nothing tells that yet.

    Parameters
    ----------
    cells : sequence of Cell
    since : float or None
        Seconds since it began.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> cells = [Cell(n, "", "p", "m", "i", status="completed") for n in range(5)]
    >>> eta_words(cells + [Cell(n, "", "p", "m", "i") for n in range(5, 45)], 10.0)
    'about 80\xa0s left'
    """
    asked = sum(cell.ended and not cell.cached for cell in cells)
    left = sum(not cell.ended for cell in cells)
    if since is None or asked < 2 or not left:
        return ""
    rest = since * left / asked
    step = 5 if rest < 120 else 60
    return f"about {seconds(max(round(rest / step), 1) * step, limit=True)} left"


def column_row(facts: GridFacts, number: int, cells: Sequence[Cell]) -> Row:
    """A column: what it is called, and what its cells come to.

    Parameters
    ----------
    facts : GridFacts
    number : int
    cells : sequence of Cell
        Those of the column.
    """
    sums = tally(cells)
    passes = [f"{name} {good:,} of {judged:,}" for name, (good, judged) in sums.passes.items()]
    means = [f"{name} {mean:.3g}" for name, mean in sums.values.items()]
    told = (
        *passes[:3],
        *means[:3],
        f"★ {sums.rating:.1f}" if sums.rating is not None else None,
        dollars(sums.cost_usd) if sums.cost_usd else None,
        seconds(sums.seconds),
    )
    return {"name": facts.columns[number].name, "sum": " · ".join(w for w in told if w)}


def cell_row(cell: Cell, place: tuple[int, int]) -> Row:
    """A cell of the grid; its text only once there is one, since that streams.

    Parameters
    ----------
    cell : Cell
    place : (int, int)
        Its row and its column.
    """
    state = state_of(cell.status)
    row: Row = {
        "r": place[0],
        "c": place[1],
        "rep": cell.repeat,
        "icon": state.icon,
        "word": "not asked" if cell.status == "skipped" else state.word,
        "hue": state.hue,
        "on": cell.status == "running",
        "done": cell.status == "completed",
        "ended": cell.ended,
        "fig": figures(cell),
        "sim": cell.simulated,
        "scores": [list(each) for each in score_bits(cell)],
        "bad": has_failed(cell),
        "rating": cell.rating or 0,
        "note": one_line(cell.note, _NOTE) if cell.note else "",
        "err": error_words(cell, 300) if cell.error else "",
    }
    if cell.ended:
        shown, left = cut(answer_of(cell), ANSWER)
        row |= {"text": shown, "more": left, "say": ""}
    return row


def detail_row(thing: Experiment, cell: Cell) -> Row:
    """All that is known of a cell, for the reader who opens it.

    Parameters
    ----------
    thing : Experiment
    cell : Cell
    """
    answer = answer_of(cell)
    shown, left = cut(answer, _WHOLE)
    error = cell.error or {}
    columns = [[one_line(k, 60), clip(v, 1_000)] for k, v in list(cell.columns.items())[:_COLUMNS]]
    if cell.expected is not None and "expected" not in cell.columns:
        columns.insert(0, ["expected", clip(cell.expected, 1_000)])
    return {
        "text": shown,
        "more": left,
        "tree": prose(shown) if cell.text and cell.ended else [],
        "prompt": _full(thing.prompts, cell.prompt),
        "input": _full(thing.inputs, cell.input),
        "axes": " · ".join(
            f"{one_line(name, 40)}: {one_line(value, 80)}"
            for name, value in cell.axes.items()
            if name not in ("prompt", "input", "repeat")
        ),
        "error": [clip(error[k], 2_000) for k in ("message", "hint") if error.get(k)],
        "type": one_line(error.get("type") or "", 60),
        "columns": columns,
        "note": plain(cell.note or "")[:_TEXT],
        "run": one_line(cell.run_id or "", 60),
    }


def _full(texts: Mapping[str, str], label: str) -> str:
    return clip(texts.get(label) or label, _TEXT)
