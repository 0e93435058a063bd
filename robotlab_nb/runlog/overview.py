"""What the index says of runs at once: figures over all that are meant, and the latest of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, case, func, select

from ..core.state import RunState
from ..core.usage import Usage
from .conditions import ALL
from .event_text import clean, original
from .querying import condition

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .conditions import Where
    from .records import RunRow
    from .store import Store

__all__ = ["Figures", "Seen", "figures", "latest", "tagged"]

#: events of a network's root that are read at most for the states of its tasks
MOST_EVENTS = 2_000
_TASK_TYPES = ("run.started", "task.started", "task.completed", "task.restored", "task.failed",
               "task.settled", "run.completed", "run.failed", "run.interrupted",
               "run.abandoned")  # fmt: skip


class Figures(NamedTuple):
    """What the runs that are meant come to, their own calls alone."""

    runs: int
    roots: int
    failed: int
    model_calls: int
    tool_calls: int

    def tables(self) -> Mapping[str, int]:
        """How many rows tables of these runs have."""
        return {
            "runs": self.runs,
            "model_calls": self.model_calls,
            "tool_calls": self.tool_calls,
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """A run as a list shows it: of a root, with all that ran inside.

    Parameters
    ----------
    row : RunRow
    usage : Usage
    tasks : tuple of str
        The states of a network's tasks, in order.
    """

    row: RunRow
    usage: Usage
    tasks: tuple[str, ...] = ()


def figures(store: Store, where: Where) -> Figures:
    """Figures over the runs that are meant."""
    backend = store._backend
    runs = backend.tables.runs.c
    own = case((runs.run_id == runs.root_id, 1), else_=0)
    failed = case((runs.status == "failed", 1), else_=0)
    sums = [func.coalesce(func.sum(c), 0) for c in (own, failed, runs.model_calls, runs.tool_calls)]
    query = select(func.count(), *sums).select_from(backend.tables.runs)
    with store._reading() as connection:
        found = connection.execute(query.where(condition(where, backend))).one()
    return Figures(*(int(number) for number in found))


def tagged(store: Store, where: Where) -> list[tuple[str, int, int | None, int | None]]:
    """The tags of the runs that are meant: how many have each, and when the first and last began.

    Times are microseconds since 1970.
    """
    backend = store._backend
    runs, tags = backend.tables.runs.c, backend.tables.tags.c
    query = (
        select(tags.tag, func.count(), func.min(runs.started_at), func.max(runs.started_at))
        .select_from(backend.tables.tags.join(backend.tables.runs, tags.run_id == runs.run_id))
        .where(tags.by != "removed", condition(where, backend))
        .group_by(tags.tag)
        .order_by(func.count().desc(), tags.tag)
    )
    with store._reading() as connection:
        return [(original(row[0]), row[1], row[2], row[3]) for row in connection.execute(query)]


def latest(store: Store, where: Where, most: int) -> list[Seen]:
    """The newest runs that are meant; of all of a log, its roots."""
    rows = _roots(store, most) if where == ALL else islice(store.select(where), most)
    return seen(store, list(rows))


def _roots(store: Store, most: int) -> list[RunRow]:
    backend = store._backend
    runs = backend.tables.runs.c
    query = (
        select(runs.root_id)
        .where(condition(ALL, backend), runs.run_id == runs.root_id)
        .order_by(runs.root_started_at.desc(), runs.root_id.desc())
        .limit(most)
    )
    with store._reading() as connection:
        names = [original(name) for name in connection.execute(query).scalars()]
    return list(store.select(replace(ALL, run_id=names))) if names else []


def seen(store: Store, rows: Sequence[RunRow]) -> list[Seen]:
    """Runs as a list shows them."""
    roots = [row.run_id for row in rows if row.run_id == row.root_id]
    usages = _inside(store, roots)
    tasks = _tasks(store, [row for row in rows if row.kind == "network"])
    return [
        Seen(row, usages.get(row.run_id) or _own(row), tasks.get(row.run_id, ())) for row in rows
    ]


def _own(row: RunRow) -> Usage:
    return Usage(
        row.input_tokens, row.output_tokens, row.reasoning_tokens, row.cached_tokens,
        cost_usd=row.cost_usd, cost_complete=row.cost_complete, estimated=row.tokens_estimated,
    )  # fmt: skip


def _inside(store: Store, roots: Sequence[str]) -> dict[str, Usage]:
    """What whole roots used."""
    if not roots:
        return {}
    runs = store._backend.tables.runs.c
    gaps = func.sum(case((runs.cost_complete, 0), else_=1))
    guessed = func.sum(case((runs.tokens_estimated, 1), else_=0))
    query = (
        select(
            runs.root_id, func.sum(runs.input_tokens), func.sum(runs.output_tokens),
            func.sum(runs.cost_usd), gaps, guessed,
        )
        .where(runs.root_id.in_([clean(root) for root in roots]))
        .group_by(runs.root_id)
    )  # fmt: skip
    with store._reading() as connection:
        rows = connection.execute(query).all()
    return {
        original(row[0]): Usage(
            _whole(row[1]), _whole(row[2]), cost_usd=row[3], cost_complete=not row[4],
            estimated=bool(row[5]),
        )
        for row in rows
    }  # fmt: skip


def _whole(value: object) -> int | None:
    return None if value is None else int(value)  # type: ignore[call-overload]


def _tasks(store: Store, networks: Sequence[RunRow]) -> dict[str, tuple[str, ...]]:
    """The states of the tasks of networks whose roots are of a moderate size."""
    named = {row.root_id for row in networks}
    if not named:
        return {}
    roots = store._backend.tables.roots.c
    query = select(roots.root_id).where(
        and_(roots.root_id.in_([clean(r) for r in named]), roots.last_seq < MOST_EVENTS)
    )
    with store._reading() as connection:
        small = [original(name) for name in connection.execute(query).scalars()]
    states: dict[str, RunState] = {}
    for event in store.events(small, types=_TASK_TYPES):
        state = states.get(event.scope.root_id)
        if state is None:
            state = states[event.scope.root_id] = RunState(event.scope)
        state.apply(event)
    found = {run.scope.run_id: run for state in states.values() for run in state.walk()}
    return {
        row.run_id: tuple(task.status for task in found[row.run_id].tasks.values())
        for row in networks
        if row.run_id in found
    }
