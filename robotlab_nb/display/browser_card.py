"""The picture of a log browser that stands still, and its runs in words.

It shows what the browser shows at the moment, without anything to press: how many runs are meant,
the first of the page as rows, what is open, and the code that gives the same.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from .amounts import cost, count, dollars, seconds
from .columns import COLUMNS
from .escape import one_line, plain
from .parts import (
    Bit,
    Fields,
    Head,
    Para,
    Picture,
    Quote,
    Table,
    badge,
    code,
    dots,
    part,
    quiet,
    state_bit,
    ticked,
)
from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runlog.logged import LoggedRun
    from ..runlog.overview import Seen
    from .parts import Block, Line

__all__ = ["RunWords", "browser", "figures", "run_words"]

#: rows that are stored; digits of an id; characters of names, of tags, of what was said
_ROWS, _DIGITS, _NAME, _TAG, _SAID = 30, 6, 32, 24, 90
_TAGS = 6
#: the last column, which alone is cut in text
_SPOKEN = "asked → answered"


class RunWords(NamedTuple):
    """A run in words, each of one line, to be put into cells."""

    id: str
    name: str
    about: str
    icon: str
    state: str
    hue: str
    model: str
    simulated: bool
    began: str
    took: str
    tokens: str
    cost: str
    tags: tuple[str, ...]
    rating: str
    asked: str
    said: str
    inside: bool


def run_words(seen: Seen, said: str = "") -> RunWords:
    """A run in words.

    Parameters
    ----------
    seen : Seen
    said : str, optional
        What it answered.
    """
    row, used = seen.row, seen.usage
    total = used.total_tokens
    estimated = "\u00a0est." if total is not None and used.estimated and not row.simulated else ""
    state = state_of(row.status)
    inside = row.run_id != row.root_id
    about = "" if row.kind == "robot" else row.kind
    if inside and row.network:
        about = f"in {one_line(row.network, _NAME)}"
    if row.error_type and row.status == "failed":
        said = said or row.error_type
    return RunWords(
        one_line(row.run_id[:_DIGITS], _DIGITS),
        one_line(row.name or row.robot or row.kind, _NAME),
        about, state.icon, state.word, state.hue,
        one_line(row.model or "", _NAME), row.simulated, _clock(row.started_at),
        seconds(row.duration_s) or "",
        "" if total is None else f"{total:,}{estimated}",
        "" if used.cost_usd is None or (row.simulated and not used.cost_usd) else cost(used),
        tuple(one_line(tag, _TAG) for tag in row.tags[:_TAGS]),
        f"★{row.rating}" if row.rating else "",
        one_line(row.input or "", _SAID), one_line(said, _SAID), inside,
    )  # fmt: skip


def _clock(at: int | None) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=at or 0)
    except OverflowError:
        return ""
    return f"{moment:%Y-%m-%d %H:%M:%S}" if at is not None else ""


def browser(thing: Any) -> Picture:
    """The picture of a log browser as it is now.

    Parameters
    ----------
    thing : Browser
    """
    found = thing.found
    place = (code(one_line(found.place, COLUMNS)),) if found.place else ()

    def blocks() -> Iterable[Block]:
        figures = found.figures
        failed = f"{figures.failed:,} failed" if figures and figures.failed else None
        some = figures and (figures.runs or thing.wishes.where.given())
        many = count(figures.runs, "run") if some else None
        if found.fault:
            yield Head(("Log browser",), "log browser", place)
            yield from _fault(found.fault)
            return
        if found.place is None:
            yield Head(("Log browser",), "log browser", ("off",))
            yield Para(("runs are not kept: ", code("rl.options.log"), " is None"), quiet=True)
            return
        yield Head(("Log browser",), "log browser", dots(place, many or "no runs yet", failed))
        yield from (Para(ticked(one_line(w, 300)), quiet=True) for w in found.wrong.values())
        if found.rows:
            yield from _listed(thing)
        elif many:
            yield Para(("no run is like that",), quiet=True)
        if figures:
            yield Fields(_codes(thing))

    return Picture(part("log browser", blocks), framed=True)


def _fault(fault: Any) -> Iterable[Block]:
    blocks: list[Block] = [Para((state_bit("failed"), " ", *ticked(one_line(fault.message, 400))))]
    if fault.hint:
        blocks.append(Para(ticked(one_line(fault.hint, 300)), quiet=True))
    yield Quote(tuple(blocks), "rail", "kf")


def _codes(thing: Any) -> tuple[tuple[str, Line], ...]:
    """How to have the same as an object."""
    roots = '.query("run_id == root_id")' if thing.wishes.roots else ""
    rows: list[tuple[str, Line]] = [
        ("these runs", (code(one_line(f"{thing.code}.frames.runs{roots}", 4 * COLUMNS)),))
    ]
    if thing.opened_code:
        rows.append(("open here", (code(one_line(thing.opened_code, 2 * COLUMNS)),)))
    return tuple(rows)


def _listed(thing: Any) -> Iterable[Block]:
    found = thing.found
    rows = [run_words(seen, found.answers.get(seen.row.run_id, "")) for seen in found.rows[:_ROWS]]
    days = {row.began[:10] for row in rows}
    day = days.pop() if len(days) == 1 else None
    yield _table(rows, 11 if day else 0)
    figures = found.figures
    total = (figures.roots if thing.wishes.roots else figures.runs) if figures else len(rows)
    first = thing.first
    shown = f"{first:,}–{first + len(rows) - 1:,} of {total:,}" if total > len(rows) else None
    order = None if thing.wishes.sort == "time" else f"by {thing.wishes.sort}"
    hidden = count(figures.runs - total, "run") if figures and figures.runs > total else None
    yield Para(
        dots(
            shown, order, f"times are of {day}, UTC" if day else "times are UTC",
            hidden and f"{hidden} inside others are not listed",
        ),
        quiet=True,
    )  # fmt: skip


def _table(rows: Sequence[RunWords], cut: int) -> Table:
    names = ["run", "name", "state", "started", "tokens", "cost", "took", "tags", _SPOKEN]
    lines = [_line(row, cut) for row in rows]
    for name in ("tags", "cost"):
        place = names.index(name)
        if not any(line[place] and line[place] != ("",) for line in lines):
            names.pop(place)
            lines = [(*line[:place], *line[place + 1 :]) for line in lines]
    figures = frozenset(names.index(n) for n in ("tokens", "cost", "took") if n in names)
    return Table(tuple(names), tuple(lines), figures)


def _line(row: RunWords, cut: int) -> tuple[Line, ...]:
    price: Line = (badge("simulated"),) if row.simulated and not row.cost else (row.cost,)
    tags: list[str | Bit] = [row.rating, " "] if row.rating else []
    for tag in row.tags:
        tags += [badge(tag), " "]
    return (
        (code(row.id),),
        (row.name, quiet(f"\u00a0{row.about}")) if row.about else (row.name,),
        (Bit(row.state, "mark", icon=row.icon, hue=row.hue),),
        (row.began[cut:].replace(" ", "\u00a0"),),
        (row.tokens,),
        price,
        (row.took,),
        tuple(tags[:-1]),
        (_short(row.asked), *((quiet(f" → {_short(row.said)}"),) if row.said else ())),
    )


def _short(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:59]}…"


def figures(a: LoggedRun, b: LoggedRun) -> Picture:
    """Two runs of a log side by side: what they are, how they ended, what they took.

    Parameters
    ----------
    a, b : LoggedRun
    """
    rows: list[tuple[Line, ...]] = []
    for name, one, two in zip(_FIGURES, _of(a), _of(b), strict=True):
        if one or two:
            rows.append(((name,), (one or "–",), (two or "–",)))
    heads = tuple(one_line(f"{run.id[:_DIGITS]} {run.name or run.kind}", _NAME) for run in (a, b))
    return Picture((Table(("", *heads), tuple(rows)),))


_FIGURES = (
    "state", "model", "started", "took", "model\u00a0calls", "tool\u00a0calls", "tokens\u00a0in",
    "tokens\u00a0out", "cost", "tags", "input",
)  # fmt: skip


def _of(run: LoggedRun) -> tuple[str, ...]:
    row, used = run.row, run.state.total_usage()
    calls = [each for state in run.state.walk() for each in (state.model_calls, state.tool_calls)]
    return (
        state_of(row.status).word,
        one_line(row.model or "", _NAME),
        _clock(row.started_at),
        seconds(row.duration_s) or "",
        f"{sum(map(len, calls[::2])):,}",
        f"{sum(map(len, calls[1::2])):,}",
        "" if used.input_tokens is None else f"{used.input_tokens:,}",
        "" if used.output_tokens is None else f"{used.output_tokens:,}",
        "simulated" if row.simulated and not used.cost_usd else dollars(used.cost_usd) or "",
        ", ".join(one_line(tag, _TAG) for tag in row.tags[:_TAGS]),
        plain(one_line(row.input or "", 3 * _SAID)),
    )
