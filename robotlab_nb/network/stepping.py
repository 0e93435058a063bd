"""What is next in a network: a pure function from where its tasks stand and what happened.

``advance`` runs nothing, asks no model and knows no loop; the scheduler does what it says.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .graph import Graph, Node

__all__ = ["Change", "Happening", "States", "advance"]

#: statuses of a task after which it does not change any more
SETTLED = frozenset(
    {"completed", "restored", "failed", "blocked", "skipped", "halted", "interrupted"}
)
#: statuses that give dependents something to work with
FINISHED = frozenset({"completed", "restored"})
START = ("", "")


@dataclass(slots=True)
class States:
    """Where every task stands. ``advance`` only reads it; its owner applies the changes.

    Attributes
    ----------
    status : dict of str to str
    waiting : dict of str to int
        How many dependencies of a task are not settled yet.
    activated : set of str
        Optional tasks that a route named.
    left : int
        Tasks that are not settled.
    halted : bool
    """

    status: dict[str, str]
    waiting: dict[str, int]
    activated: set[str]
    left: int
    halted: bool = False

    @classmethod
    def begin(
        cls,
        graph: Graph,
        kept: Mapping[str, str] | None = None,
        *,
        activated: Iterable[str] = (),
        halted: bool = False,
    ) -> States:
        """All tasks pending, but for those that an earlier run settled.

        Parameters
        ----------
        graph : Graph
        kept : mapping of str to str, optional
            The settled tasks with their statuses.
        activated : iterable of str, optional
            Optional tasks that were activated there.
        halted : bool, optional
            Whether nothing new starts.
        """
        status = dict.fromkeys(graph.nodes, "pending")
        if not kept:
            waiting = {n: len(set(node.depends_on)) for n, node in graph.nodes.items()}
            return cls(status, waiting, set(activated), len(status), halted)
        status |= kept
        waiting = {n: len(set(d.depends_on) - kept.keys()) for n, d in graph.nodes.items()}
        return cls(status, waiting, set(activated), len(status) - len(kept), halted)

    def apply(self, change: Change) -> None:
        """Take a change in. Costs as much as the change is large, not as the graph is."""
        self.status.update(change.status)
        self.waiting.update(change.waiting)
        self.activated.update(change.activated)
        self.left = change.left
        self.halted = change.halted


@dataclass(frozen=True, slots=True)
class Happening:
    """What the scheduler tells ``advance``.

    Parameters
    ----------
    kind : {"begin", "ended", "halt", "stop"}
        ``halt``: nothing new starts, what runs goes on. ``stop``: a person interrupted.
    task, status : str
        For ``ended``: which task, and how (a settled status).
    activate : tuple of str
        For a completed task: the optional tasks that it activates.
    halts : bool
        For a completed task: whether nothing new starts after it.
    """

    kind: str
    task: str | None = None
    status: str | None = None
    activate: tuple[str, ...] = ()
    halts: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What follows from a happening.

    Attributes
    ----------
    start : tuple of str
        Tasks to start now, in the order declared; ``running`` in the new states.
    settled : tuple of (str, str, str)
        Tasks that will not run: name, status, and why, in the order declared.
    status, waiting, activated, left, halted
        The new values, for :meth:`States.apply`.
    """

    start: tuple[str, ...]
    settled: tuple[tuple[str, str, str], ...]
    status: Mapping[str, str]
    waiting: Mapping[str, int]
    activated: tuple[str, ...]
    left: int
    halted: bool

    @property
    def done(self) -> bool:
        """Whether nothing runs and nothing will."""
        return self.left == 0


def advance(graph: Graph, states: States, happening: Happening) -> Change:
    """Work out what follows from something that happened.

    Parameters
    ----------
    graph : Graph
    states : States
        Only read.
    happening : Happening

    Returns
    -------
    Change

    Examples
    --------
    >>> from robotlab_nb.network.graph import Node, compile_graph
    >>> graph = compile_graph([Node("a"), Node("b", ("a",))])
    >>> states = States.begin(graph)
    >>> change = advance(graph, states, Happening("begin"))
    >>> change.start
    ('a',)
    >>> states.apply(change)
    >>> advance(graph, states, Happening("ended", "a", "failed")).settled
    (('b', 'blocked', 'needs a'),)
    """
    step = _Step(graph, states)
    if happening.kind == "begin" and states.halted:
        step.halt("halted")
    elif happening.kind == "begin":
        step.look(graph.nodes)
    elif happening.kind == "ended":
        step.end(happening)
    elif happening.kind in ("halt", "stop"):
        step.halt("interrupted" if happening.kind == "stop" else "halted")
    return step.change()


class _Step:
    """One step in the making: the old states, and what is new over them."""

    __slots__ = (
        "activated", "graph", "halted", "left", "new", "settled", "start", "states", "todo",
        "waiting",
    )  # fmt: skip

    def __init__(self, graph: Graph, states: States) -> None:
        self.graph = graph
        self.states = states
        self.new: dict[str, str] = {}
        self.waiting: dict[str, int] = {}
        self.activated: tuple[str, ...] = ()
        self.left = states.left
        self.halted = states.halted
        self.start: list[str] = []
        self.settled: list[tuple[str, str, str]] = []
        self.todo: deque[str] = deque()

    def change(self) -> Change:
        """The step as a Change, its tasks in the order declared."""
        place = self.graph.places
        return Change(
            tuple(sorted(self.start, key=place.__getitem__)),
            tuple(sorted(self.settled, key=lambda s: place[s[0]])),
            self.new,
            self.waiting,
            self.activated,
            self.left,
            self.halted,
        )

    def status(self, name: str) -> str:
        return self.new.get(name) or self.states.status[name]

    def end(self, happening: Happening) -> None:
        """A task ended: activate what it names, then look at what waited for it."""
        name, status = str(happening.task), str(happening.status)
        self.activated = happening.activate
        node = self.graph.nodes[name]
        self._settled(name, status)
        if happening.halts or (status == "failed" and node.on_failure == "stop"):
            self.halt("halted")
        elif not self.halted:
            self._decide_all()

    def halt(self, status: str) -> None:
        """Settle whatever has not begun; what runs goes on."""
        self.halted = True
        self.todo.clear()
        for name in self.graph.nodes:
            if self.status(name) == "pending":
                self.new[name] = status
                self.left -= 1
                self.settled.append((name, status, "the network was halted"))

    def look(self, names: Iterable[str]) -> None:
        """Decide about tasks that wait for nothing."""
        self.todo.extend(n for n in names if self.states.waiting[n] == 0)
        self._decide_all()

    def _settled(self, name: str, status: str) -> None:
        self.new[name] = status
        self.left -= 1
        for child in self.graph.dependents[name]:
            left = self.waiting.get(child, self.states.waiting[child]) - 1
            self.waiting[child] = left
            if left == 0:
                self.todo.append(child)
        # A router that is settled decides about the optional tasks that wait for its word.
        for task in self.graph.may_activate.get(name, ()):
            if self.waiting.get(task, self.states.waiting[task]) == 0:
                self.todo.append(task)

    def _decide_all(self) -> None:
        """Decide about tasks, and about those that depend on what is decided. No recursion."""
        while self.todo:
            name = self.todo.popleft()
            if self.status(name) != "pending":
                continue
            decided = self._decide(self.graph.nodes[name])
            if decided is None:
                continue
            if decided == START:
                self.new[name] = "running"
                self.start.append(name)
            else:
                self.settled.append((name, *decided))
                self._settled(name, decided[0])

    def _decide(self, node: Node) -> tuple[str, str] | None:
        """START, or a status with its reason to settle with, or None to wait."""
        nodes = self.graph.nodes
        deps = node.depends_on
        stand = [(d, self.status(d)) for d in deps]
        bad = [
            d
            for d, status in stand
            if status in ("blocked", "halted", "interrupted")
            or (status == "failed" and nodes[d].on_failure == "block")
        ]
        if bad:
            return "blocked", f"needs {', '.join(bad)}"
        if deps and not any(s in FINISHED or s == "failed" for _, s in stand):
            return "skipped", f"none of {', '.join(deps)} ran"
        if node.optional and not node.conditional:
            if node.name in self.activated or node.name in self.states.activated:
                return START
            if any(self.status(r) not in SETTLED for r in self.graph.activators[node.name]):
                return None
            return "skipped", "route not taken"
        return START
