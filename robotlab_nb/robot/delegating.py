"""Delegating: one robot has another do a task, and waits for the result or gets a promise of it.

The work is a run of the other robot: a child of the run that delegates, where there is one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, overload

from ..core.errors import AwaitTimeout, ConfigurationError, DelegationTimeout
from ..core.keywords import strict_keywords
from ..core.readings import Pictured
from ..runtime.loop import runs_here
from ..runtime.notebook import expect_viewer, show_live
from .in_force import run_level
from .result import T

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from typing_extensions import Unpack

    from ..core.config import RunConfig
    from ..core.messages import Message
    from ..runtime.run import Run
    from .asking import Asking
    from .result import RobotResult

__all__ = ["Delegating", "DelegationFuture"]


class RunKeywords(TypedDict, total=False):
    """The keywords of a run that a delegated task takes as well."""

    context: Mapping[str, Any] | None
    attachments: Sequence[Any]
    tools: Sequence[Any] | None
    mcp: Sequence[Any] | None
    output: Any
    answers: Any
    hooks: Any
    config: RunConfig | Mapping[str, Any] | None
    on_content: Callable[[str], object] | None


class DelegationFuture(Generic[T], Pictured):
    """A delegated task's result, when it comes. It always settles.

    That is: when the other robot has answered or failed, when its run was stopped, when the run
    that delegated has ended (its children end with it), and when their event loop was lost.

    Attributes
    ----------
    run : Run
        The other robot's run: its events, its state, what it asks a person.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> boss, clerk = rl.build("boss"), rl.build("clerk", model=rl.SimulatedModel(["done"]))
    >>> future = boss.delegate(clerk, "file this", wait=False)
    >>> future.value().text, future.resolved, future.error
    ('done', True, None)
    """

    __slots__ = ("by", "run")

    def __init__(self, run: Run[RobotResult[T]], by: str) -> None:
        self.run = run
        #: name of the robot that delegated
        self.by = by

    @property
    def resolved(self) -> bool:
        """Whether the task has ended, well or not."""
        return self.run.done

    def value(self, timeout: float | None = None) -> RobotResult[T]:
        """Wait for the result; as often as you like.

        Parameters
        ----------
        timeout : float, optional
            Seconds.

        Returns
        -------
        RobotResult
            Its ``delegated_by`` names the robot that delegated. Where the task waits for a person
            who cannot be asked here, its ``status`` is ``waiting``.

        Raises
        ------
        DelegationTimeout
            When the time is up. The task goes on: ask again, or ``cancel()`` it.
        RobotLabError
            What the task failed with, each time; RunInterrupted when it was stopped.
        ConfigurationError
            On the event loop that does the work; await the future there.
        """
        if not self.run.done and runs_here():
            raise ConfigurationError(
                "value() cannot wait on the event loop that does the work",
                hint="Use `await future`, or `await future.avalue(timeout)`, here.",
            )
        try:
            return self.run.result(timeout)
        except AwaitTimeout as error:
            if error is self.error:
                raise  # what the task itself failed with
            raise self._late(timeout) from None

    async def avalue(self, timeout: float | None = None) -> RobotResult[T]:
        """Wait for the result as :meth:`value` does, for async code. Cancelling stops the task."""
        if timeout is None or self.run.done:
            return await self.run.wait()
        import asyncio

        from ..runtime.waiting import Heartbeat, gate

        with gate(self.run) as opened, Heartbeat(asyncio.get_running_loop()):
            try:
                done, _ = await asyncio.wait((opened,), timeout=timeout)
            except asyncio.CancelledError:
                self.run.cancel("stopped")
                raise
        if not done:
            raise self._late(timeout)
        return self.run.outcome()

    def __await__(self) -> Generator[Any, None, RobotResult[T]]:
        return self.avalue().__await__()

    def _late(self, timeout: float | None) -> DelegationTimeout:
        error = DelegationTimeout(
            f"robot {self.run.name!r} did not finish what {self.by!r} delegated within "
            f"{timeout} s; it goes on",
            hint="Wait again, or cancel it: its run is .run of this error.",
        )
        error.run, error.run_id = self.run, self.run.id
        return error

    @property
    def error(self) -> BaseException | None:
        """What the task failed with; None while it goes on and when it ended well."""
        if not self.run.done:
            return None
        try:
            self.run.outcome()
        except BaseException as error:
            return error
        return None

    def cancel(self, reason: str = "cancelled") -> None:
        """Ask the task to stop. Returns at once; it then settles with RunInterrupted."""
        self.run.cancel(reason)

    def when_done(self, callback: Callable[[DelegationFuture[T]], object]) -> None:
        """Call something with this future when it has settled; at once when it has.

        Parameters
        ----------
        callback : callable
            Called on whatever thread settles it, the event loop's as a rule: it must not block.
        """

        def call() -> None:
            try:
                callback(self)
            except Exception as error:  # on the engine's loop it would end the run's task
                warnings.warn(
                    f"what was to be called after robot {self.run.name!r} failed: {error!r}",
                    RuntimeWarning,
                    stacklevel=2,
                )

        self.run.when_done(call)

    def __repr__(self) -> str:
        return f"<DelegationFuture of {self.run.name!r}, by {self.by!r}: {self.run.status}>"


class Delegating:
    """How a robot has others do things."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str

    @overload
    def delegate(
        self,
        to: Asking[T],
        task: str | Message | None = None,
        *,
        wait: Literal[True] = True,
        timeout: float | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> RobotResult[T]: ...

    @overload
    def delegate(
        self,
        to: Asking[T],
        task: str | Message | None = None,
        *,
        wait: Literal[False],
        timeout: float | None = None,
        **keywords: Unpack[RunKeywords],
    ) -> DelegationFuture[T]: ...

    @strict_keywords
    def delegate(
        self,
        to: Asking[T],
        task: str | Message | None = None,
        *,
        wait: bool = True,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
    ) -> RobotResult[T] | DelegationFuture[T]:
        """Have another robot do a task.

        It starts from an empty conversation and leaves the other robot's as it was. Inside a run
        (in a tool, say) the task is a run inside that one and ends with it.

        Parameters
        ----------
        to : Robot
        task : str or Message
            What to say to it.
        wait : bool, optional
            Whether to wait for the result; False returns a future at once.
        timeout : float, optional
            Seconds to wait. The task goes on when the time is up.
        context, attachments, tools, mcp, output, answers, hooks, config, on_content
            As for :meth:`run`.

        Returns
        -------
        RobotResult or DelegationFuture
            ``result.delegated_by`` is this robot's name.

        Raises
        ------
        DelegationTimeout
            When the time is up; its ``run`` is the run that goes on.
        RobotLabError
            What the task failed with.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> boss, clerk = rl.build("boss"), rl.build("clerk", model=rl.SimulatedModel(["done"]))
        >>> result = boss.delegate(clerk, "file this")
        >>> result.text, result.delegated_by, len(clerk.messages)
        ('done', 'boss', 0)
        """
        level = run_level(
            tools, config, mcp=mcp, on_content=on_content, output=output, answers=answers,
            hooks=hooks,
        )  # fmt: skip
        run = self._delegated(to, task, level, context, attachments, blocking=wait)
        future: DelegationFuture[T] = DelegationFuture(run, self.name)
        if not wait:
            if timeout is not None:
                raise ConfigurationError(
                    "delegate(wait=False) waits for nothing, and takes no timeout=",
                    hint="Say it where you wait: future.value(timeout).",
                )
            expect_viewer(run)
            run.begin()
            return future
        run.check_may_block("delegate()")
        try:
            show_live(run, None)
            run.begin()
            return future.value(timeout)
        except KeyboardInterrupt:
            run.stop()
            raise

    @strict_keywords
    async def adelegate(
        self,
        to: Asking[T],
        task: str | Message | None = None,
        *,
        timeout: float | None = None,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
    ) -> RobotResult[T]:
        """Have another robot do a task, as :meth:`delegate` does, for async code."""
        level = run_level(
            tools, config, mcp=mcp, on_content=on_content, output=output, answers=answers,
            hooks=hooks,
        )  # fmt: skip
        run = self._delegated(to, task, level, context, attachments)
        show_live(run, None)
        run.begin()
        return await DelegationFuture(run, self.name).avalue(timeout)

    def _delegated(
        self,
        to: Any,
        task: Any,
        level: Mapping[str, Any],
        context: Mapping[str, Any] | None,
        attachments: Sequence[Any],
        *,
        blocking: bool = False,
    ) -> Run[RobotResult[Any]]:
        if not isinstance(to, Delegating):
            raise ConfigurationError(
                f"robot {self.name!r} can delegate to a robot, not to {to!r:.60}",
                hint="Pass the robot itself.",
            )
        run: Run[RobotResult[Any]] = to.prepare(  # type: ignore[attr-defined]
            task, level, context=context, attachments=attachments, blocking=blocking, keep=False,
            delegated_by=self.name,
        )  # fmt: skip
        return run
