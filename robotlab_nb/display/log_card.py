"""The pictures of a log, of a selection of its runs, of lists of them, and of their tables.

A log's newest runs are read, never all of them; what they come to, the log's index says.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError
from .amounts import cost, count, seconds
from .columns import COLUMNS
from .escape import one_line
from .parts import (
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
from .task_rows import marks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..frames.charts import Plot
    from ..frames.log_frames import LogFrames
    from ..runlog.logged import LoggedRun
    from ..runlog.opened import Log
    from ..runlog.overview import Seen
    from ..runlog.records import RunRow
    from ..runlog.selecting import Selection
    from ..runlog.store import Store
    from .parts import Block, Line

__all__ = ["frames", "log", "logged_run", "logged_runs", "plot", "runs", "selection"]

#: runs that are shown; digits of an id; characters of what was asked, and of a name
_ROWS, _DIGITS, _INPUT, _NAME = 20, 6, 60, 24
#: bytes from which on it is worth a word how large a log is
_LARGE = 10_000_000


def log(thing: Log) -> Picture:
    """The picture of a log: where it is, how much it has, and its newest runs.

    Parameters
    ----------
    thing : Log
    """
    target = thing.target
    if target is None:
        head = Head(("Log",), "log", ("off",))
        said: Line = ("runs are not kept: ", code("rl.options.log"), " is None")
        return Picture((head, Para(said, quiet=True)), framed=True)
    place = (code(one_line(target.shown, COLUMNS)),)
    return Picture(part("log", lambda: _whole(thing, place)), framed=True)


def _whole(thing: Log, place: Line) -> Iterable[Block]:
    try:
        store = thing.store
    except RobotLabError as error:
        yield Head(("Log",), "log", place)
        yield from _fault(error)
        return
    counts = thing.count() if store is not None else None
    if store is None or counts is None or not counts.runs:
        yield Head(("Log",), "log", dots(place, "no runs yet"))
    else:
        size = f"{counts.bytes / 1e6:,.0f}\u00a0MB" if counts.bytes >= _LARGE else None
        has = (count(counts.runs, "run"), count(counts.events, "event"), size)
        yield Head(("Log",), "log", dots(place, *has))
    if thing.trouble:
        yield Quote((Para((state_bit("failed"), " ", one_line(thing.trouble, 300))),), "rail", "kf")
    if store is not None and counts is not None and counts.runs:
        yield from _newest(thing, store, counts.roots)
        call = 'rl.log.where(robot="…", status="failed", since="7d")'
        yield Para(
            (code(call), " selects, ", code("rl.log.frames.runs"), " is a table"), quiet=True
        )


def selection(thing: Selection) -> Picture:
    """The picture of a selection: its conditions, what the runs come to, and the newest.

    Parameters
    ----------
    thing : Selection
    """

    def blocks() -> Iterable[Block]:
        given = thing.query.given()
        said = ", ".join(f"{name}={one_line(repr(value), 60)}" for name, value in given.items())
        where: Line = (code(one_line(said, 2 * COLUMNS)),) if said else ()
        try:
            store = thing.store
        except RobotLabError as error:
            yield Head(("Runs",), "runs", where)
            yield from _fault(error)
            return
        if store is None:
            yield Head(("Runs",), "runs", dots(where, "none"))
            return
        from ..runlog.overview import figures

        found = figures(store, thing.query)
        failed = f"{found.failed:,} failed" if found.failed else None
        yield Head(("Runs",), "runs", dots(where, count(found.runs, "run"), failed))
        if found.runs:
            yield from _newest(thing, store, found.runs)
            yield Para(
                (code(".where(…)"), " narrows them, ", code(".frames.runs"), " is a table"),
                quiet=True,
            )

    return Picture(part("runs", blocks), framed=True)


def _fault(error: RobotLabError) -> Iterable[Block]:
    blocks: list[Block] = [Para((state_bit("failed"), " ", *ticked(one_line(error.message, 400))))]
    if error.hint:
        blocks.append(Para(ticked(one_line(error.hint, 300)), quiet=True))
    yield Quote(tuple(blocks), "rail", "kf")


def runs(thing: Any) -> Iterable[Block]:
    """How many runs are meant, and the newest; not where they are kept.

    Parameters
    ----------
    thing : Log or Selection
    """
    from ..runlog.overview import figures

    store = thing.store
    found = 0 if store is None else figures(store, thing.query).runs
    yield Head(("Runs",), "runs", (count(found, "run") or "no runs",))
    if store is not None and found:
        yield from _newest(thing, store, found if thing.query.given() else store.count().roots)


def _newest(thing: Any, store: Store, total: int) -> Iterable[Block]:
    from ..runlog.overview import latest

    yield from _listed(latest(store, thing.query, _ROWS), total)


def _listed(rows: Sequence[Seen], total: int) -> Iterable[Block]:
    """Runs as rows, and what is not among them; a day that is the same for all is said once."""
    days = {at.date() for row in rows if (at := _started(row.row)) is not None}
    day = days.pop() if len(days) == 1 else None
    yield _table(rows, "%H:%M:%S" if day else "%Y-%m-%d %H:%M:%S")
    more = f"… {total - len(rows):,} more" if total > len(rows) else None
    yield Para(dots(more, f"times are of {day}, UTC" if day else "times are UTC"), quiet=True)


def logged_runs(things: Sequence[LoggedRun]) -> Picture:
    """The picture of a list of runs of a log: the first of them as rows.

    Parameters
    ----------
    things : sequence of LoggedRun
    """

    def blocks() -> Iterable[Block]:
        yield Para((count(len(things), "run"),), quiet=True)
        yield from _listed(_seen(things[:_ROWS]), len(things))

    return Picture(part("runs", blocks))


def _seen(things: Sequence[LoggedRun]) -> list[Seen]:
    from ..runlog.overview import seen

    store = things[0]._log.store
    return [] if store is None else seen(store, [thing.row for thing in things])


def logged_run(thing: LoggedRun) -> Picture:
    """The picture of a run that a log has: as of the run itself.

    Parameters
    ----------
    thing : LoggedRun
    """
    drawn = _run_itself(thing)
    clock = _clock(thing.row, "%Y-%m-%d %H:%M:%S")
    began = f"started {clock} UTC" if clock else None
    tags = tuple(badge(one_line(tag, 40)) for tag in thing.tags[:8])
    line = dots(code(thing.id[:_DIGITS]), began, rating(thing), *tags)
    told = [Para(line, quiet=True), *noted(thing)]
    return Picture((*part("run", lambda: told), *drawn.blocks), drawn.framed)


def _run_itself(thing: LoggedRun) -> Picture:
    """What the run was: an experiment's grid, else the run itself."""
    if thing.kind == "experiment":
        from ..lab.listing import experiment_of
        from .experiment_card import experiment

        return experiment(experiment_of(thing))
    from .state_card import state

    return state(thing.state)


def rating(thing: LoggedRun) -> str | None:
    """What a person gave a run, in words."""
    return f"rated\u00a0{thing.rating}\u00a0of\u00a05" if thing.rating is not None else None


def noted(thing: LoggedRun) -> Iterable[Block]:
    """What a person wrote of a run."""
    if thing.note:
        yield Para(("note: ", one_line(thing.note, 400)))


def _table(rows: Sequence[Seen], clock: str) -> Table:
    """Runs as rows. What was asked comes last, so that in text it alone is cut."""
    names = ["run", "name", "state", "tasks", "started", "tokens", "cost", "took", "input"]
    lines = [_row(row, clock) for row in rows]
    if not any(row.tasks for row in rows):
        names, lines = [n for n in names if n != "tasks"], [(*x[:3], *x[4:]) for x in lines]
    figures = frozenset(names.index(name) for name in ("tokens", "cost", "took"))
    return Table(tuple(names), tuple(lines), figures)


def _row(seen: Seen, clock: str) -> tuple[Line, ...]:
    row, used = seen.row, seen.usage
    name, kind = _name(seen)
    told = f"{used.total_tokens:,}" if used.total_tokens is not None else ""
    price: Line = ()
    if row.simulated and not used.cost_usd:
        price = (badge("simulated"),)
    elif used.cost_usd is not None or used.total_tokens is not None:
        price = (cost(used),)
    return (
        (code(row.run_id[:_DIGITS]),),
        (name, quiet(kind)) if kind else (name,),
        (state_bit(row.status),),
        marks(seen.tasks),
        (_clock(row, clock),),
        (told + ("\u00a0est." if told and used.estimated and not row.simulated else ""),),
        price,
        (seconds(row.duration_s) or "",),
        (one_line(row.input or "", _INPUT).replace(" ", "\u00a0"),),
    )


def _name(seen: Seen) -> tuple[str, str]:
    """What a run is called, and what it is where marks of tasks do not tell."""
    row = seen.row
    name = one_line(row.name or row.robot or row.kind, _NAME)
    if row.kind != "robot":
        return name, "" if seen.tasks else f" {row.kind}"
    return name, f" in {one_line(row.network, _NAME)}" if _is_inside(row) else ""


def _is_inside(row: RunRow) -> bool:
    return row.run_id != row.root_id and bool(row.network)


def _started(row: RunRow) -> datetime | None:
    if row.started_at is None:
        return None
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=row.started_at)
    except OverflowError:
        return None


def _clock(row: RunRow, form: str) -> str:
    at = _started(row)
    return "" if at is None else f"{at:{form}}".replace(" ", "\u00a0")


def frames(thing: LogFrames) -> Picture:
    """The picture of a log's tables: which there are, and how many rows, where that is known.

    Parameters
    ----------
    thing : LogFrames
    """

    def blocks() -> Iterable[Block]:
        yield Head((one_line(thing.whose, COLUMNS),), "tables")
        totals = thing.totals
        rows: list[tuple[str, Line]] = []
        for name in thing.names:
            known = totals.get(name)
            made = thing.__dict__.get(name)
            known = len(made) if made is not None else known
            said: Line = (count(known, "row"),) if known is not None else (quiet("not read yet"),)
            rows.append((name, said))
        yield Fields(tuple(rows))
        yield Para((code("frames.runs"), " is a DataFrame, read when it is asked for"), quiet=True)

    return Picture(part("tables", blocks), framed=True)


def plot(thing: Plot) -> Picture:
    """A chart where none can be drawn: its title, and the table that it shows.

    Parameters
    ----------
    thing : Plot
    """

    def blocks() -> Iterable[Block]:
        table = thing.data[thing.columns]
        yield Head((one_line(thing.title, 2 * COLUMNS),), "chart")
        if len(table):
            names = tuple(one_line(name, _NAME) for name in table)
            rows = tuple(
                tuple((_cell(value),) for value in row)
                for row in table.head(_ROWS).itertuples(index=False, name=None)
            )
            yield Table(
                names, rows, frozenset(n for n, d in enumerate(table.dtypes) if d.kind in "if")
            )
        if len(table) > _ROWS:
            yield Para((quiet(f"… {len(table) - _ROWS:,} more"),))

    return Picture(part("chart", blocks))


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d}"
    return "" if value is None or str(value) in ("<NA>", "NaT") else one_line(value, _INPUT)
