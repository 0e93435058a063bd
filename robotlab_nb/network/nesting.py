"""Networks inside networks: what is wrong with them is found before anything runs.

A network that contains itself would never end, so it is refused; so are the faults of those
inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, GraphError
from ..tools.call import check_callable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .network import Network

__all__ = ["check_members", "circle", "faults_inside", "inside"]


def inside(network: Network) -> Iterator[tuple[str, Network]]:
    """The networks that do tasks of a network, by the task's name."""
    for name, task in network.tasks.items():
        if task.is_network:
            yield name, task.runner


def circle(network: Network) -> list[str] | None:
    """The names on the way from a network back to itself, or to one that comes round; or None.

    No recursion: networks may be nested as deep as they like before one is run.
    """
    path: list[Network] = [network]
    ways: list[Iterator[tuple[str, Network]]] = [inside(network)]
    done: set[int] = set()
    while ways:
        found = next(ways[-1], None)
        if found is None:
            ways.pop()
            done.add(id(path.pop()))
            continue
        inner = found[1]
        if any(inner is above for above in path):
            start = next(i for i, above in enumerate(path) if above is inner)
            return [n.name for n in (*path[start:], inner)]
        if id(inner) not in done:
            path.append(inner)
            ways.append(inside(inner))
    return None


def faults_inside(network: Network) -> Iterable[str]:
    """What is wrong with the networks inside a network, each fault with the way to it."""
    round_ = circle(network)
    if round_ is not None:
        yield "a network contains itself: " + " → ".join(round_)
        return
    for name, inner in inside(network):
        try:
            inner.validate()
        except GraphError as error:
            yield f"task {name!r}: {error.message}"


def check_members(network: Network, *, may_use_caller: bool) -> None:
    """Check that every robot can be asked, those of networks inside included.

    Raises
    ------
    ConfigurationError
        Naming the task.
    """
    tasks: list[tuple[str, Any]] = list(network.tasks.items())
    while tasks:
        name, task = tasks.pop(0)
        if task.is_network:
            tasks += [(f"{name}/{n}", t) for n, t in task.runner.tasks.items()]
        if not task.is_robot:
            continue
        try:
            task.runner.model.check()
            check_callable(task.runner.tools, may_use_caller=may_use_caller)
        except ConfigurationError as error:
            error.message = f"task {name!r}: {error.message}"
            raise
