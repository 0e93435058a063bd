"""Groups of tasks: those declared side by side under one name, and those under one cap.

A parallel group is a way to write dependencies down; compiling resolves it into them. A poller
group's cap is on robots at work, whatever they depend on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near
from ..runtime.seats import Cap, Gate, Seat

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Self

    from ..runtime.run import Run
    from .graph import Node
    from .task import Task

__all__ = [
    "Caps", "Grouped", "Parallel", "cap_faults", "checked_caps", "checked_concurrency", "expanded",
    "say_replaced",
]  # fmt: skip

#: most tasks at the same time
CONCURRENCY = 32


class Parallel:
    """A group of tasks that share dependencies. Made by ``network.parallel(…)``.

    Used with ``with``: the tasks declared inside belong to it. Where other tasks name the group in
    ``depends_on``, all its members are meant.

    Attributes
    ----------
    name : str or None
        None for a group that nobody can depend on.
    depends_on : tuple of str
        What all members depend on, besides dependencies of their own.
    members : tuple of str
        Tasks by name, in the order declared.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("trip")
    >>> with net.parallel("look") as look:
    ...     flights = net.task("flights", lambda message: f"to {message}")
    ...     hotels = net.task("hotels", lambda message: f"in {message}")
    >>> plan = net.task("plan", lambda upstream: " and ".join(map(str, upstream.values())),
    ...                 depends_on=["look"])
    >>> look.members, net.run("Rome").value
    (('flights', 'hotels'), 'to Rome and in Rome')
    """

    __slots__ = ("_names", "_open", "depends_on", "name")

    def __init__(self, name: str | None, depends_on: tuple[str, ...], opened: list[Any]) -> None:
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ConfigurationError(f"a group's name is a text, not {name!r}")
        self.name = name
        self.depends_on = depends_on
        self._names: dict[str, None] = {}
        #: the network's groups whose ``with`` blocks the code is in
        self._open = opened

    @property
    def members(self) -> tuple[str, ...]:
        """The names of its tasks."""
        return tuple(self._names)

    def add(self, task: str) -> None:
        """Make a task a member."""
        self._names[task] = None

    def remove(self, task: str) -> None:
        """Make a task no member any more."""
        self._names.pop(task, None)

    def __enter__(self) -> Self:
        self._open.append(self)
        return self

    def __exit__(self, *_: Any) -> None:
        self._open.remove(self)

    def __repr__(self) -> str:
        return f"<parallel {self.name or '(unnamed)'}: {', '.join(self._names) or 'no tasks'}>"


class Grouped:
    """What a network says of its parallel groups."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str
        _groups: list[Parallel]
        _open: list[Parallel]

        def _add(self, task: Task) -> None: ...

        def _changed(self) -> None: ...

    def parallel(
        self,
        name: str | None = None,
        *,
        depends_on: Sequence[str] = (),
        tasks: Sequence[Task] = (),
    ) -> Parallel:
        """Declare a group of tasks that go on side by side.

        Parameters
        ----------
        name : str, optional
            Other tasks that name it in ``depends_on`` come after all its members.
        depends_on : sequence of str, optional
            Tasks or groups that all members come after, besides dependencies of their own.
        tasks : sequence of Task, optional
            Members that are added now. More are declared inside ``with network.parallel(…):``.

        Returns
        -------
        Parallel
        """
        from .task import names

        group = Parallel(name, names(depends_on, f"group {name!r}"), self._open)
        if name is not None and any(known.name == name for known in self._groups):
            say_replaced(self.name, "group", name)
            self._groups[:] = [known for known in self._groups if known.name != name]
        self._groups.append(group)
        with group:
            for task in tasks:
                self._add(task)
        self._changed()
        return group

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """The members of each parallel group that has a name."""
        return {g.name: g.members for g in self._groups if g.name is not None}


def say_replaced(network: str, what: str, name: str) -> None:
    """Warn that a name was there."""
    import warnings

    warnings.warn(f"network {network!r}: {what} {name!r} was there and is replaced", stacklevel=4)


def expanded(tasks: Mapping[str, Task], groups: Sequence[Parallel]) -> tuple[list[Node], list[str]]:
    """The nodes of a network's tasks, groups resolved, and what is wrong with the groups.

    Parameters
    ----------
    tasks : mapping of str to Task
    groups : sequence of Parallel

    Returns
    -------
    tuple of list of Node, list of str
    """
    nodes = {name: task.node() for name, task in tasks.items()}
    if not groups:
        return list(nodes.values()), []
    named = {g.name: g for g in groups if g.name is not None}
    faults = list(_faults(nodes, groups))
    for group in groups:
        for name in group.members:
            node = nodes[name]
            deps = (*group.depends_on, *node.depends_on)
            nodes[name] = replace(node, depends_on=deps, group=node.group or group.name)
    for name, node in nodes.items():
        found: dict[str, None] = {}
        for dep in node.depends_on:
            members = (dep,) if dep in tasks or dep not in named else named[dep].members
            if dep in named and name in members:
                faults.append(f"task {name!r} is in group {dep!r} and depends on it")
                continue
            found.update(dict.fromkeys(members))
        nodes[name] = replace(node, depends_on=tuple(found))
    return list(nodes.values()), faults


def _faults(nodes: Mapping[str, Node], groups: Iterable[Parallel]) -> Iterable[str]:
    for group in groups:
        if not group.members:
            yield f"group {group.name or '(unnamed)'!r} has no tasks"
        if group.name in nodes:
            yield f"{group.name!r} is a task and a group"


def checked_caps(given: Mapping[str, int] | None, network: str) -> dict[str, int]:
    """What ``group_caps=`` says, checked.

    Raises
    ------
    ConfigurationError
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"network {network!r}: group_caps={given!r:.80} is no mapping",
            hint='Write group_caps={"name of the poller group": 2}.',
        )
    for name, limit in given.items():
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise ConfigurationError(
                f"network {network!r}: the cap of group {name!r} is a whole number from 1, "
                f"not {limit!r}"
            )
    return dict(given)


def cap_faults(tasks: Mapping[str, Task], caps: Mapping[str, int]) -> Iterable[str]:
    """Caps of groups that no task is in: a slip, most likely."""
    used = {t.poller_group for t in tasks.values() if t.poller_group is not None}
    for name in caps:
        if name not in used:
            yield f"group_caps names {name!r}, and no task is in that group. {near(name, used)}"


class Caps:
    """What limits the tasks of one run of a network. All caps hold together.

    Parameters
    ----------
    run : Run
        The network's run; robots inside it are counted under ``robots`` from now on.
    concurrency : int
        Most tasks at the same time.
    robots : int or None
        Most robots at the same time, in the network and inside it.
    groups : mapping of str to int
        Most robots at the same time, by poller group.
    """

    __slots__ = ("groups", "tasks")

    def __init__(
        self, run: Run[Any], concurrency: int, robots: int | None, groups: Mapping[str, int]
    ) -> None:
        gate = run.caps[0].gate if run.caps else Gate()
        if robots is not None:
            run.caps = (*run.caps, Cap(robots, gate))
        self.tasks = Cap(concurrency, gate)
        self.groups = {name: Cap(limit, gate) for name, limit in groups.items()}

    def of(self, run: Run[Any], group: str | None) -> tuple[Cap, ...]:
        """The caps on robots inside a task of a group."""
        own = None if group is None else self.groups.get(group)
        return run.caps if own is None else (*run.caps, own)

    def seat(self, run: Run[Any], task: Task) -> Seat:
        """What a task needs to begin: a place among the tasks, and as a robot a slot.

        A function in a capped group takes its slot there, and robots that it calls go instead of
        it. A person needs nothing.
        """
        if task.way == "human":
            return Seat(())
        if task.map_over is not None:
            return Seat((), (self.tasks,))
        if task.is_robot:
            return Seat(self.of(run, task.poller_group), (self.tasks,))
        own = None if task.is_network else self.groups.get(task.poller_group or "")
        return Seat(() if own is None else (own,), (self.tasks,))

    def item_seat(self, run: Run[Any], task: Task) -> Seat | None:
        """What an item of a map needs to begin; a robot's run has a slot of its own."""
        if task.way == "step":
            return Seat(self.of(run, task.poller_group))
        own = self.groups.get(task.poller_group or "") if task.way == "function" else None
        return None if own is None else Seat((own,))


def checked_concurrency(value: Any) -> int:
    """How many tasks may run at the same time.

    Raises
    ------
    ConfigurationError
    """
    if value is None:
        return CONCURRENCY
    if isinstance(value, str):
        raise ConfigurationError(
            f"concurrency={value!r}: there is one scheduler, and it is neither threads nor fibres",
            hint="Give the number of tasks that may run at the same time.",
        )
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigurationError(f"concurrency is a whole number from 1, not {value!r}")
    return value
