"""The picture of an experiment: what it is at, what its columns come to, and the grid.

Rows with failures come first. A large grid is shown as far as there is room, and what is left out
is said. Knows cells, not how they are asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count, seconds
from .escape import clip, esc, one_line
from .grid_facts import all_simulated, grid_facts, has_failed, tally
from .grid_text import told_rows
from .grid_words import (
    EARLIER,
    error_words,
    figures,
    paid,
    planned,
    rated,
    score_bits,
    short,
    state_bit_of,
)
from .parts import (
    Bit,
    Fold,
    Head,
    Para,
    Picture,
    Pre,
    Quote,
    Table,
    badge,
    bold,
    code,
    dots,
    part,
    quiet,
    state_bit,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..lab.cell import Cell
    from ..lab.experiment import Experiment
    from ..lab.pass_rates import PassRate
    from ..runtime.run import Run
    from .grid_facts import GridFacts, Tally
    from .parts import Block, Inline, Line

__all__ = ["experiment", "run_of"]

#: characters of the grid as HTML; of one answer, and its lines, in a small and in a large grid
_ROOM = 400_000
_LONG, _SHORT = (600, 12), (90, 2)
#: columns that are wide
_FEW = 3
#: characters of all answers of a grid together: the more cells, the shorter each is
_ANSWERS = 60_000
#: characters of HTML around one cell's texts
_AROUND = 190
_EVALUATORS, _MOST_COLUMNS, _TOLD, _TEXTS, _WHOLE = 8, 60, 8, 12, 2_000


#: a dot at which no line breaks
_KEPT = "\u00a0·\u00a0"


def experiment(thing: Experiment) -> Picture:
    """The picture of an experiment.

    Parameters
    ----------
    thing : Experiment
    """
    return Picture(
        (
            *part("experiment", lambda: _head(thing)),
            *part("state", lambda: _notice(thing)),
            *part("figures", lambda: _figures(thing)),
            *part("columns", lambda: _columns(thing)),
            *part("grid", lambda: _grid(thing)),
            *part("prompts", lambda: _texts("Prompts", thing.prompts)),
            *part("inputs", lambda: _texts("Inputs", thing.inputs)),
            *part("hint", _hint),
        ),
        framed=True,
    )


def run_of(thing: Run[Any]) -> Picture | None:
    """The picture of the experiment that a run is; None where nobody has it any more.

    Parameters
    ----------
    thing : Run
    """
    from ..lab.experiment import of_run

    found = of_run(thing)
    return None if found is None else experiment(found)


def _head(thing: Experiment) -> Iterable[Block]:
    cells = thing.cells
    size = grid_facts(cells).size if cells else "no cells"
    made = badge("simulated") if all_simulated(cells) else None
    name = one_line(thing.name, 80) or "experiment"
    yield Head((name,), "experiment", dots(size, made), (state_bit_of(thing.status, loud=True),))


def _notice(thing: Experiment) -> Iterable[Block]:
    """What a person should know first where it did not complete."""
    status, reason = thing.status, thing.reason
    if status not in ("stopped", "interrupted", "failed"):
        return
    cells = thing.cells
    done = sum(cell.status in ("completed", "failed") for cell in cells)
    told = f"{done:,} of {count(len(cells), 'cell')} finished"
    sign = state_bit_of(status, loud=True)
    lines: list[Block] = [Para(dots(sign, one_line(reason, 600) if reason else None, told))]
    if done < len(cells):
        lines.append(Para(("run the cell again: what is finished is not asked again",), quiet=True))
    yield Quote(tuple(lines), "rail", "ki" if status == "interrupted" else "kf")


def _figures(thing: Experiment) -> Iterable[Block]:
    cells = thing.cells
    sums = tally(cells)
    states: list[Inline] = [
        Bit(f"{number:,} {_WORDS.get(name, name)}", "mark", icon=state_bit(name).icon)
        for name in _WORDS
        if (number := sums.states.get(name))
    ]
    earlier = f"{sums.cached:,} from earlier" if sums.cached else None
    ratings = f"{sums.rated:,} rated" if sums.rated else None
    if cells:
        tokens = count(sums.tokens, "token") if sums.tokens else None
        yield Para(dots(*states, earlier, tokens, paid(sums), ratings), quiet=True)
    plan = thing.estimate
    if cells and not all(cell.ended for cell in cells):
        calls, about = planned(plan)
        basis = f" ({one_line(plan.basis, 120)})" if plan.basis else ""
        known = f"{plan.cached:,} from earlier" if plan.cached else None
        line = dots(f"planned: {calls}", known, f"{about}{basis}")
        yield Para(line, quiet=True)
    same = grid_facts(cells).same if cells else ()
    if same:
        yield Para(dots(*(f"{name}: {value}" for name, value in same)), quiet=True)


#: status of a cell -> how many of them is said, in this order
_WORDS = {
    "completed": "completed", "failed": "failed", "running": "running", "pending": "to come",
    "interrupted": "interrupted", "skipped": "not asked",
}  # fmt: skip


# -- what columns come to ---------------------------------------------------------------------


def _columns(thing: Experiment) -> Iterable[Block]:
    """A row for each column of the grid: its pass rates, ratings, cost and time."""
    from ..lab.pass_rates import RATING, pass_rates

    cells = thing.cells
    if not cells:
        return
    facts = grid_facts(cells)
    columns = [facts.column(number) for number in range(len(facts.columns))]
    rates = [{each.score: each for each in pass_rates(column, ())} for column in columns]
    sums = [tally(column) for column in columns]
    names = [n for n in dict.fromkeys(name for each in rates for name in each) if n != RATING]
    if not names and len(sums) < 2:
        return
    shown = names[:_EVALUATORS]
    rows = [
        (
            (column.name,),
            (f"{total.states['completed']:,} of {total.states.total():,}",),
            *((_rate(found.get(name)),) for name in shown),
            *_figures_of(total),
        )
        for column, total, found in zip(facts.columns, sums, rates, strict=True)
    ]
    heads = ["column", "answered", *(one_line(n, 40) for n in shown), *_KINDS]
    kept = [n for n in range(len(heads)) if n < len(shown) + 2 or any(row[n][0] for row in rows)]
    table = tuple(tuple(row[n] for n in kept) for row in rows[:_MOST_COLUMNS])
    told = tuple(
        dots(line[0], *((f"{heads[n]} ", *cell) for n, cell in enumerate(row) if n and cell[0]))
        for line, row in zip(table[:_TOLD], rows, strict=False)
    )
    yield Table(tuple(heads[n] for n in kept), table, frozenset(range(1, len(kept))), told)
    left = dots(
        f"… {len(rows) - _MOST_COLUMNS:,} more columns" if len(rows) > _MOST_COLUMNS else None,
        f"… {len(names) - len(shown):,} more evaluators" if len(names) > len(shown) else None,
    )
    if left:
        yield Para(left, quiet=True)


#: what a column comes to, beside its scores
_KINDS = ("rating", "tokens", "cost", "median time")


def _figures_of(sums: Tally) -> Iterable[Line]:
    yield (f"★ {sums.rating:.1f} of {sums.rated:,}" if sums.rating is not None else "",)
    yield (f"{sums.tokens:,}" if sums.tokens else "",)
    yield ((paid(sums) or "") if sums.cost_usd else "",)
    yield (seconds(sums.seconds) or "",)


def _rate(found: PassRate | None) -> str:
    """A pass rate, or a mean, with the range in which the true one is likely."""
    if found is None:
        return ""
    if found.rate is not None:
        told = f"{found.passed:,} of {found.judged:,}, {found.rate:.0%}"
        return told + _range(found.low, found.high, "{:.0%}")
    if found.mean is not None:
        return f"mean {found.mean:.3g}" + _range(found.mean_low, found.mean_high, "{:.3g}")
    return ""


def _range(low: float | None, high: float | None, form: str) -> str:
    if low is None or high is None:
        return ""
    return f" ({form.format(low)} to {form.format(high)})".replace(" ", "\u00a0")


# -- the grid -----------------------------------------------------------------------------------


def _grid(thing: Experiment) -> Iterable[Block]:
    cells = thing.cells
    if not cells:
        return
    facts = grid_facts(cells)
    failing = {n for n in range(len(facts.rows)) if any(map(has_failed, facts.row(n)))}
    order = sorted(range(len(facts.rows)), key=lambda n: (n not in failing, n))
    some = not all_simulated(cells)
    limits = _limits(len(cells), len(facts.columns))
    rows: list[tuple[Line, ...]] = []
    room = _ROOM
    for number in order:
        line = _row(facts, number, limits, some=some)
        room -= _size(line)
        if room < 0:
            break
        rows.append(line)
    if failing and len(failing) < len(facts.rows):
        yield Para(("rows with failures first",), quiet=True)
    names = tuple(column.name for column in facts.columns)
    yield Table(("input", *names), tuple(rows), told=told_rows(facts, order))
    if len(rows) < len(order):
        left = order[len(rows) :]
        bad = sum(number in failing for number in left)
        told = f"… {count(len(left), 'more input')}" + (f", {bad:,} with failures" if bad else "")
        yield Para((quiet(told), ": ", code("experiment.frame"), " has all"), quiet=True)


def _limits(cells: int, columns: int) -> tuple[int, int]:
    """Characters and lines of an answer in a grid of so many cells and columns."""
    most = _LONG[0] if columns <= _FEW else _LONG[0] // 2
    each = min(max(_ANSWERS // cells, _SHORT[0]), most)
    return each, _LONG[1] if each == most else _SHORT[1]


def _row(facts: GridFacts, number: int, limits: tuple[int, int], *, some: bool) -> tuple[Line, ...]:
    places = [facts.slots.get((number, n), []) for n in range(len(facts.columns))]
    label = one_line(facts.rows[number], 160) or "(empty)"
    return ((label,), *(_place(place, limits, some=some) for place in places))


def _place(cells: Sequence[Cell], limits: tuple[int, int], *, some: bool) -> Line:
    line: list[Inline] = []
    for number, cell in enumerate(cells):
        if number:
            line.append("\n")
        if len(cells) > 1:
            line.append(quiet(f"{number + 1}. "))
        line += _cell(cell, limits, some=some)
    return tuple(line) or (quiet("–"),)


def _cell(cell: Cell, limits: tuple[int, int], *, some: bool) -> Iterable[Inline]:
    state = state_bit(cell.status)
    if cell.status != "completed":
        yield Bit("not asked", "mark", icon=state.icon) if cell.status == "skipped" else state
        if cell.error:
            yield " · "
            yield error_words(cell, max(limits[0], 160))
        if cell.text:
            yield "\n"
    shown, left = short(cell, *limits)
    if shown:
        yield shown
    elif cell.status == "completed":
        yield quiet("no text")
    if left:
        yield quiet(f" … {left:,} more characters")
    told = figures(cell)
    if told:
        # In one piece, so that a column of many is wide enough to read.
        line = told.replace(" · ", _KEPT).replace(f"{EARLIER}{_KEPT}", f"{EARLIER} · ")
        yield quiet(f"\n{line}")
    if some and cell.simulated:
        yield " "
        yield badge("simulated")
    for icon, words, hue in score_bits(cell):
        yield "\n"
        yield Bit(words, "mark", icon=icon, hue=hue) if hue else quiet(f"{icon}\u00a0{words}")
    if said := rated(cell):
        yield quiet(f"\n{said}")


def _size(row: tuple[Line, ...]) -> int:
    """About how many characters of HTML a row takes."""
    return sum(
        _AROUND + sum(len(esc(each if isinstance(each, str) else each.text)) for each in line)
        for line in row
    )


# -- what is folded, and what to do next ----------------------------------------------------------


def _texts(title: str, texts: Mapping[str, str]) -> Iterable[Block]:
    """Texts in full where their labels do not tell them."""
    told = [(label, text) for label, text in texts.items() if text and text != label]
    if not told:
        return
    blocks: list[Block] = []
    for label, text in told[:_TEXTS]:
        blocks += [Para((bold(one_line(label, 120)),)), Pre(clip(text, _WHOLE))]
    if len(told) > _TEXTS:
        blocks.append(Para((quiet(f"… {len(told) - _TEXTS:,} more"),)))
    yield Fold((title,), tuple(blocks), f"{len(told):,}")


def _hint() -> Iterable[Block]:
    yield Para(
        (code("experiment.frame"), " is a table of all cells, ", code("experiment.cells[0]"),
         " has a whole answer"),
        quiet=True,
    )  # fmt: skip
