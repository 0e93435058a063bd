"""What is different between two runs, of networks or of robots: a reading of their states.

Nothing runs here, and nothing is drawn: rows for tables, words for texts.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError, near
from ..core.event_sources import events_of
from ..core.readings import Pictured, reading
from ..core.state import RunState
from .fingerprints import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.records import TaskState

__all__ = ["Diff", "Words", "diff"]

#: words past which two texts are compared line by line: word by word would take long
MANY_WORDS = 4_000
#: characters of a text in the table
_SHOWN = 34


class Words(NamedTuple):
    """A piece of two texts: ``same``, ``removed`` (only in the first) or ``added``."""

    kind: str
    text: str


class Side(NamedTuple):
    """One task of one run, or the one robot of a robot's run."""

    status: str
    text: str
    result: Any
    cost: float | None
    duration: float | None
    model: str | None
    tools: tuple[str, ...]
    fingerprint: Any


class Diff(Pictured):
    """The differences between two runs; true where there are any in what they gave.

    Attributes
    ----------
    a, b : RunState
    rows : list of dict
        A row for each task (for a robot's run: one, by the robot's name): ``task``, ``change``
        (``same, changed, added, removed``), ``what`` differs, and of either run ``status``,
        ``text``, ``cost_usd``, ``duration_s``, ``model``.
    input : tuple of (str, str) or None
        Both messages, where they differ.
    config : dict
        Settings that differ, each with both values.
    definitions : dict
        Of tasks whose definition changed: what did.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("shout")
    >>> loud = net.task("loud", lambda message: message.upper())
    >>> both = rl.diff(net.run("one fine day"), net.run("one rainy day"))
    >>> both.input
    ('one fine day', 'one rainy day')
    >>> [row["change"] for row in both.rows]
    ['changed']
    >>> print(both.text("loud"))
    ONE [-FINE-] {+RAINY+} DAY
    """

    __slots__ = ("_sides", "a", "b", "config", "definitions", "input", "rows")

    def __init__(self, a: RunState, b: RunState) -> None:
        self.a = a
        self.b = b
        first, second = _sides(a), _sides(b)
        names = [*first, *(n for n in second if n not in first)]
        self._sides = {name: (first.get(name), second.get(name)) for name in names}
        told = (str(a.info.get("input", "")), str(b.info.get("input", "")))
        self.input = told if told[0] != told[1] else None
        self.config = _config(a, b)
        self.definitions = {
            name: what
            for name, (x, y) in self._sides.items()
            if x and y and (what := changes(x.fingerprint, y.fingerprint or x.fingerprint or {}))
        }
        self.rows = [self._row(name, *sides) for name, sides in self._sides.items()]

    def _row(self, name: str, a: Side | None, b: Side | None) -> dict[str, Any]:
        # Of what was restored, nobody knows here which model said it.
        untold = a is not None and b is not None and (a.model is None) != (b.model is None)
        keys = ("status", "text", "result", *(() if untold else ("model", "tools")))
        what = [k for k in keys if a and b and getattr(a, k) != getattr(b, k)]
        if name in self.definitions:
            what.append("definition")
        change = "added" if a is None else "removed" if b is None else "changed" if what else "same"
        row: dict[str, Any] = {"task": name, "change": change, "what": what}
        for end, side in (("a", a), ("b", b)):
            for key, field in _COLUMNS:
                row[f"{key}_{end}"] = None if side is None else getattr(side, field)
        return row

    def __bool__(self) -> bool:
        return any(row["change"] != "same" for row in self.rows)

    @property
    def changed(self) -> tuple[str, ...]:
        """Tasks that differ in anything but time and cost, added and removed ones included."""
        return tuple(row["task"] for row in self.rows if row["change"] != "same")

    def words(self, task: str | None = None, most: int | None = None) -> list[Words]:
        """A task's two texts, word by word.

        Parameters
        ----------
        task : str, optional
            May be left out where there is one alone.
        most : int, optional
            Characters of each text to compare, from its start; all of them when left out.

        Raises
        ------
        InputError
            When there is no such task.
        """
        if task is None and len(self._sides) == 1:
            task = next(iter(self._sides))
        if task not in self._sides:
            raise InputError(
                f"neither run has a task {task!r}", hint=near(str(task), list(self._sides))
            )
        a, b = self._sides[task]
        first, second = (side.text[:most] if side else "" for side in (a, b))
        return list(_words(first, second))

    def text(self, task: str | None = None) -> str:
        """A task's two texts as one: ``[-only in the first-]`` and ``{+only in the second+}``."""
        marks = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
        return " ".join(marks[w.kind].format(w.text.strip(" ")) for w in self.words(task))

    @property
    def frame(self) -> Any:
        """:attr:`rows` as a DataFrame, the same columns and types whatever it holds."""
        return reading("differences")(self.rows)

    def __repr__(self) -> str:
        names = f"{_named(self.a)} and {_named(self.b)}"
        head = f"{names}: {len(self.changed)} of {len(self.rows)} differ"
        lines = [head if self else f"{names}: no difference in what they gave"]
        if self.input is not None:
            lines.append(f"input: {_line(self.input[0])} → {_line(self.input[1])}")
        lines += [f"{k}: {_line(x)} → {_line(y)}" for k, (x, y) in self.config.items()]
        lines += [f"{n}: changed {', '.join(what)}" for n, what in self.definitions.items()]
        return "\n".join([*lines, *_table(self.rows)])


_COLUMNS = (
    ("status", "status"), ("text", "text"), ("cost_usd", "cost"), ("duration_s", "duration"),
    ("model", "model"),
)  # fmt: skip


def diff(a: Any, b: Any) -> Diff:
    """Compare two runs, of networks or of robots.

    Parameters
    ----------
    a, b : result, Run, path, or list of events or of their dicts
        A file holds one event as JSON on each line.

    Returns
    -------
    Diff

    Raises
    ------
    InputError
        When one of them is no run, or one is a network's and the other a robot's.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> model = rl.SimulatedModel(["roses are red", "violets are blue"])
    >>> bot = rl.build("poet", model=model)
    >>> rl.diff(bot.run("a poem"), bot.run("a poem")).words()[0]
    Words(kind='removed', text='roses ')
    """
    first, second = (_state(given) for given in (a, b))
    if first.scope.kind != second.scope.kind:
        raise InputError(
            f"a run of a {first.scope.kind} is not compared with one of a {second.scope.kind}",
            hint="Compare two networks' runs, or two robots': result['task'] is one.",
        )
    return Diff(first, second)


def _state(given: Any) -> RunState:
    if isinstance(given, RunState):
        return given
    state = getattr(given, "state", None)
    return state if isinstance(state, RunState) else RunState.fold(events_of(given))


def _sides(state: RunState) -> dict[str, Side]:
    if state.scope.kind != "network":
        usage = state.total_usage()
        tools = tuple(c.tool for c in state.tool_calls.values())
        return {
            str(state.scope.robot): Side(
                state.status, state.text, state.output, usage.cost_usd, state.duration_s,
                state.info.get("model"), tools, _of_robot(state),
            )
        }  # fmt: skip
    return {name: _side(state, task) for name, task in state.tasks.items()}


def _of_robot(state: RunState) -> dict[str, str]:
    """What decides a robot's answer, as far as its run tells."""
    return {
        "prompt": str(state.info.get("prompt_hash")),
        "tools": " ".join(state.info.get("tools") or ()),
    }


def _side(state: RunState, task: TaskState) -> Side:
    child = state.children.get(task.child_run_id or "")
    cost = task.restored_cost if child is None else child.total_usage().cost_usd
    error = (task.error or {}).get("message", "") if task.status == "failed" else ""
    return Side(
        "completed" if task.status == "restored" else task.status,
        task.text or error,
        task.result,
        cost,
        task.duration_s,
        None if child is None else child.info.get("model"),
        () if child is None else tuple(c.tool for c in child.tool_calls.values()),
        task.declared.get("fingerprint"),
    )


def _config(a: RunState, b: RunState) -> dict[str, tuple[Any, Any]]:
    """Settings that differ between two robots' runs."""
    x, y = (state.info.get("config") or {} for state in (a, b))
    found = {}
    for name in dict.fromkeys((*x, *y)):
        values = tuple((side.get(name) or {}).get("value") for side in (x, y))
        if values[0] != values[1]:
            found[name] = (values[0], values[1])
    return found


def _words(a: str, b: str) -> Iterator[Words]:
    first, second = _pieces(a), _pieces(b)
    if len(first) + len(second) > MANY_WORDS:
        first, second = a.splitlines(keepends=True), b.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            yield Words("same", "".join(first[i:j]))
            continue
        if j > i:
            yield Words("removed", "".join(first[i:j]))
        if m > k:
            yield Words("added", "".join(second[k:m]))


def _pieces(text: str) -> list[str]:
    """A text in words, each with the space after it."""
    return re.findall(r"\s*\S+\s?|\s+", text)


def _named(state: RunState) -> str:
    return f"{state.info.get('name', state.scope.kind)} {state.scope.run_id[:6]}"


def _line(value: Any) -> str:
    found: str = reading("line")(str(value), _SHOWN)
    return found


def _table(rows: list[dict[str, Any]]) -> list[str]:
    cells = [("task", "change", "status", "text", "cost", "time")]
    for row in rows[:40]:
        status = _pair(row["status_a"], row["status_b"])
        text = _pair(_line(row["text_a"] or ""), _line(row["text_b"] or ""))
        cost = _pair(_dollars(row["cost_usd_a"]), _dollars(row["cost_usd_b"]))
        time = _pair(_seconds(row["duration_s_a"]), _seconds(row["duration_s_b"]))
        cells.append((_line(row["task"]), row["change"], status, text, cost, time))
    widths = [max(len(line[n]) for line in cells) for n in range(len(cells[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) for line in cells]
    more = [f"… {len(rows) - 40} more"] if len(rows) > 40 else []
    return [line.rstrip() for line in lines] + more


def _pair(a: str | None, b: str | None) -> str:
    return (a or "") if a == b else f"{a or '–'} → {b or '–'}"


def _dollars(value: float | None) -> str:
    return "" if value is None else f"${value:.4f}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2g} s"
