"""Who is in a network: its robots by task name, adding and removing them, telling all something."""

from __future__ import annotations

import inspect
import warnings
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, GraphError, InputError, near
from ..robot.robot import Robot

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from .task import Task

__all__ = ["Crew"]

#: the key under which the last broadcast stands in the network's memory
BROADCAST = "_network_broadcast"


class Crew:
    """What a network says of its members. Keys are names of tasks, everywhere."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str
        _handlers: list[Callable[[dict[str, Any]], object]]
        _tasks: dict[str, Task]

        @property
        def memory(self) -> Any:
            """What the network's runs share."""

        def _remove(self, task: str) -> None: ...

    # -- who is there ----------------------------------------------------------------------

    @property
    def robots(self) -> dict[str, Robot[Any]]:
        """The robots by task name."""
        return {n: t.runner for n, t in self._tasks.items() if t.is_robot}

    @property
    def available_robots(self) -> list[Robot[Any]]:
        """The robots, in the order declared; one that does several tasks stands there once."""
        return list({id(robot): robot for robot in self.robots.values()}.values())

    def robot(self, name: str) -> Robot[Any]:
        """The robot of a task.

        Raises
        ------
        KeyError
            When there is no such task, or no robot does it.
        """
        robots = self.robots
        try:
            return robots[name]
        except KeyError:
            what = "is done by no robot" if name in self._tasks else "is not there"
            raise KeyError(f"task {name!r} {what}. {near(str(name), robots)}") from None

    def __getitem__(self, task: str) -> Any:
        """The robot, function, network or person of a task."""
        try:
            return self._tasks[task].runner
        except KeyError:
            raise KeyError(f"there is no task {task!r}. {near(str(task), self._tasks)}") from None

    def __contains__(self, task: object) -> bool:
        return task in self._tasks

    # Not a sequence: without this, `for x in network` would ask for item 0.
    __iter__ = None

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._tasks)

    @property
    def crew(self) -> tuple[Robot[Any], ...]:
        """All robots, those of networks inside included, each once."""
        found: dict[int, Robot[Any]] = {}
        seen: set[int] = set()
        networks: list[Any] = [self]
        while networks:
            network = networks.pop(0)
            if id(network) in seen:
                continue
            seen.add(id(network))
            found |= {id(robot): robot for robot in network.available_robots}
            networks += [t.runner for t in network.tasks.values() if t.is_network]
        return tuple(found.values())

    @property
    def chief(self) -> Robot[Any] | None:
        """The first robot; None where there is none."""
        return next(iter(self.crew), None)

    @property
    def robot_count(self) -> int:
        """How many robots there are, those of networks inside included."""
        return len(self.crew)

    @property
    def is_network(self) -> bool:
        """Whether it is a network."""
        return True

    @property
    def is_single(self) -> bool:
        """Whether it is one robot."""
        return False

    # -- changing it -----------------------------------------------------------------------

    def add_robot(self, robot: Robot[Any], name: str | None = None, **options: Any) -> Self:
        """Add a robot as a task. Returns the network, so that calls chain.

        Parameters
        ----------
        robot : Robot
        name : str, optional
            The task's name; the robot's when left out.
        **options
            As for :meth:`Network.task`.

        Raises
        ------
        GraphError
            When there is a task of that name.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> net = rl.create_network("team").add_robot(rl.build("ann")).add_robot(rl.build("bob"))
        >>> list(net.robots), net.remove_robot("bob").name, net.remove_robot("bob")
        (['ann', 'bob'], 'bob', None)
        """
        if not isinstance(robot, Robot):
            raise ConfigurationError(
                f"network {self.name!r}: add_robot() takes a Robot, not {robot!r:.60}",
                hint="Other runners are added with network.task(…).",
            )
        key = robot.name if name is None else name
        if key in self._tasks:
            raise GraphError(
                f"network {self.name!r}: task {key!r} is there already",
                hint="Give another name=, or remove_robot() first.",
            )
        network: Any = self
        network.task(key, robot, **options)
        return self

    def remove_robot(self, name: str) -> Robot[Any] | None:
        """Remove a robot and its task.

        Tasks that depend on it make the network invalid until they are changed.

        Parameters
        ----------
        name : str
            The task's name.

        Returns
        -------
        Robot or None
            None when no robot does such a task.
        """
        task = self._tasks.get(name)
        if task is None or not task.is_robot:
            return None
        self._remove(name)
        robot: Robot[Any] = task.runner
        return robot

    # -- telling all -----------------------------------------------------------------------

    def on_broadcast(self, handler: Callable[[dict[str, Any]], object]) -> Self:
        """Have a function called with each broadcast.

        Parameters
        ----------
        handler : callable
            Sync or async; takes the message, a dict whose ``"payload"`` is what was sent.

        Raises
        ------
        InputError
            When it cannot be called.
        """
        if not callable(handler):
            raise InputError(f"on_broadcast() takes a function, not {handler!r:.60}")
        self._handlers.append(handler)
        return self

    def broadcast(self, payload: Any) -> Self:
        """Tell all handlers something, and keep it in the memory as ``_network_broadcast``.

        A handler that raises disturbs no other: it is warned of. Async ones go on by themselves.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> net, heard = rl.create_network("team"), []
        >>> _ = net.on_broadcast(lambda message: heard.append(message["payload"]))
        >>> _ = net.broadcast({"news": "lunch"})
        >>> heard, net.memory.get("_network_broadcast")["payload"]
        ([{'news': 'lunch'}], {'news': 'lunch'})
        """
        from datetime import UTC, datetime

        message = {
            "payload": payload, "network": self.name, "timestamp": datetime.now(UTC).isoformat(),
        }  # fmt: skip
        self.memory.set(BROADCAST, message)
        for handler in tuple(self._handlers):
            try:
                found = handler(dict(message))
                if inspect.isawaitable(found):
                    _go_on(handler, found)
            except Exception as error:
                _warn(handler, error)
        return self

    def reset_memory(self) -> Self:
        """Empty the network's memory. Conversations of robots stay."""
        self.memory.reset()
        return self


def _go_on(handler: Any, found: Any) -> None:
    """Let an async handler run on the engine's loop."""
    import asyncio

    from ..runtime.loop import engine_loop

    async def body() -> None:
        try:
            await found
        except Exception as error:
            _warn(handler, error)

    asyncio.run_coroutine_threadsafe(body(), engine_loop().loop)


def _warn(handler: Any, error: Exception) -> None:
    name = getattr(handler, "__qualname__", type(handler).__name__)
    text = f"a broadcast's handler {name} failed: {type(error).__name__}: {error}"
    try:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    except RuntimeWarning:  # warnings are errors here, and one handler disturbs no other
        pass
