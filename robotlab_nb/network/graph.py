"""The graph of a network, as pure data. Compiling it finds every fault before anything runs.

``compile_graph`` is a function of its arguments alone; :mod:`.stepping` says what is next.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from ..core.errors import GraphError, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Graph", "Node", "compile_graph"]

ON_FAILURE = ("block", "continue", "stop")


@dataclass(frozen=True, slots=True)
class Node:
    """A task as the graph sees it.

    Parameters
    ----------
    name : str
    depends_on : tuple of str
    optional : bool
        Whether it runs only when a route (or ``when``) says so.
    routes : bool
        Whether its result activates optional tasks.
    conditional : bool
        Whether a ``when=`` decides, once its dependencies are done.
    fallback : str or None
        The optional task that an unknown route goes to.
    on_failure : {"block", "continue", "stop"}
        What its failure means for the rest.
    kind : str
        Who does it: ``robot, function, network, human`` …
    group : str or None
        The parallel group that it was declared in.
    size : int
        How many tasks are inside it, for a network.
    """

    name: str
    depends_on: tuple[str, ...] = ()
    optional: bool = False
    routes: bool = False
    conditional: bool = False
    fallback: str | None = None
    on_failure: str = "block"
    kind: str = ""
    group: str | None = None
    size: int = 0


@dataclass(frozen=True, slots=True)
class Graph:
    """A compiled graph: nodes in the order declared, and what follows from them.

    Attributes
    ----------
    nodes : mapping of str to Node
    dependents : mapping of str to tuple of str
    order : tuple of str
        A topological order; ties: required tasks first, then in the order declared.
    ranks : mapping of str to int
        Length of the longest path from a root.
    activators : mapping of str to tuple of str
        For each optional task that routes decide: the routing tasks that may activate it.
    may_activate : mapping of str to tuple of str
        The same the other way round.
    sinks : tuple of str
        Tasks that nothing depends on.
    places : mapping of str to int
        Position in the order declared.
    """

    nodes: Mapping[str, Node]
    dependents: Mapping[str, tuple[str, ...]]
    order: tuple[str, ...]
    ranks: Mapping[str, int]
    activators: Mapping[str, tuple[str, ...]]
    may_activate: Mapping[str, tuple[str, ...]]
    sinks: tuple[str, ...]
    places: Mapping[str, int]


def compile_graph(
    nodes: Sequence[Node], *, name: str = "network", more: Sequence[str] = ()
) -> Graph:
    """Check a graph and work out what follows from it.

    Parameters
    ----------
    nodes : sequence of Node
        In the order declared.
    name : str, optional
        The network's name, for the error.
    more : sequence of str, optional
        Faults found elsewhere, to be told together with these.

    Raises
    ------
    GraphError
        Listing every fault: duplicates, unknown and self dependencies, cycles, bad fallbacks.

    Examples
    --------
    >>> compile_graph([Node("a"), Node("b", ("a",))]).order
    ('a', 'b')
    >>> compile_graph([Node("a", ("b",)), Node("b", ("a",))])
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.GraphError: network 'network' cannot run: a cycle: a → b → a
    """
    faults = [*_faults(nodes), *more]
    known = {n.name: n for n in nodes}
    dependents: dict[str, list[str]] = {n: [] for n in known}
    for node in known.values():
        for dep in dict.fromkeys(node.depends_on):
            if dep in known and dep != node.name:
                dependents[dep].append(node.name)
    order, ranks = _sort(known, dependents)
    if len(order) < len(known):
        faults.append("a cycle: " + " → ".join(_cycle(known, set(known) - set(order))))
    if faults:
        shown = faults[0] if len(faults) == 1 else "\n" + "\n".join(f"  - {f}" for f in faults)
        raise GraphError(f"network {name!r} cannot run: {shown}")
    activators = _activators(known, order)
    return Graph(
        known,
        {n: tuple(d) for n, d in dependents.items()},
        tuple(order),
        ranks,
        activators,
        {
            r: tuple(t for t, who in activators.items() if r in who)
            for r in known
            if known[r].routes
        },
        tuple(n for n in known if not dependents[n]),
        {n: i for i, n in enumerate(known)},
    )


def _faults(nodes: Sequence[Node]) -> Iterable[str]:
    seen: set[str] = set()
    names = [n.name for n in nodes]
    known = {n.name: n for n in nodes}
    for node in nodes:
        who = f"task {node.name!r}"
        if node.name in seen:
            yield f"{who} is there twice"
        seen.add(node.name)
        for dep in node.depends_on:
            if dep == node.name:
                yield f"{who} depends on itself"
            elif dep not in known:
                yield f"{who} depends on {dep!r}, which is not there. {near(dep, names)}"
        if node.on_failure not in ON_FAILURE:
            yield f"{who} has on_failure={node.on_failure!r}. {near(node.on_failure, ON_FAILURE)}"
        if node.fallback is None:
            continue
        if not node.routes:
            yield f"{who} has a fallback= and no route="
        elif node.fallback not in known:
            yield (
                f"{who} falls back to {node.fallback!r}, which is not there. "
                f"{near(node.fallback, names)}"
            )
        elif not known[node.fallback].optional:
            yield f"{who} falls back to {node.fallback!r}, which is not optional"


def _sort(
    known: Mapping[str, Node], dependents: Mapping[str, Sequence[str]]
) -> tuple[list[str], dict[str, int]]:
    waiting = {
        n: sum(1 for d in dict.fromkeys(node.depends_on) if d in known and d != n)
        for n, node in known.items()
    }
    place = {n: i for i, n in enumerate(known)}
    ready = [(known[n].optional, place[n], n) for n, count in waiting.items() if count == 0]
    heapify(ready)
    ranks = {n: 0 for _, _, n in ready}
    order: list[str] = []
    while ready:
        name = heappop(ready)[2]
        order.append(name)
        for child in dependents[name]:
            ranks[child] = max(ranks.get(child, 0), ranks[name] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(ready, (known[child].optional, place[child], child))
    return order, ranks


def _cycle(known: Mapping[str, Node], stuck: set[str]) -> list[str]:
    """One cycle among tasks that never become ready, as a path that ends where it began."""
    # Every stuck task has a stuck dependency: following these must come round.
    name = min(stuck, key=list(known).index)
    path: list[str] = []
    while name not in path:
        path.append(name)
        name = next(d for d in known[name].depends_on if d in stuck and d != name)
    found = path[path.index(name) :]
    found.reverse()
    start = found.index(min(found, key=list(known).index))
    turned = found[start:] + found[:start]
    return [*turned, turned[0]]


def _activators(known: Mapping[str, Node], order: Sequence[str]) -> dict[str, tuple[str, ...]]:
    routers = [n for n in order if known[n].routes]
    if not routers:
        return {n: () for n, node in known.items() if node.optional and not node.conditional}
    above: dict[str, frozenset[str]] = {}
    for name in order:
        found: set[str] = set()
        for dep in known[name].depends_on:
            found |= above[dep]
            if known[dep].routes:
                found.add(dep)
        above[name] = frozenset(found)
    place = {n: i for i, n in enumerate(order)}
    out: dict[str, tuple[str, ...]] = {}
    for name, node in known.items():
        if not node.optional or node.conditional:
            continue
        mine = [r for r in routers if r in above[name]]
        # With no router above it, any router that comes before it may call it. "Before" is the
        # topological order, so that two optional routers never wait for each other.
        out[name] = tuple(mine or [r for r in routers if place[r] < place[name]])
    return out
