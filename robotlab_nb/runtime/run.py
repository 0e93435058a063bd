"""A run: one piece of work of a robot or a network, from start to result.

Whoever starts it may wait, watch, leave and come back, and answer what it asks. A run ends in
exactly one of ``completed``, ``failed`` or ``interrupted``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import AwaitTimeout, ConfigurationError, RobotLabError, RunInterrupted
from ..core.readings import Pictured, ShownList
from . import desk as _desk
from . import loop as _loop
from .stillness import task_waits
from .watch import Watcher
from .working import T, Work, current_work, enter_work, leave_work

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Generator, Iterable

    from ..core.events import Event
    from .questions import Question

__all__ = ["Run", "current_run"]


def _given(run: Run[Any]) -> Any:
    """The result that a run has given already."""
    return run._result


def current_run() -> Run[Any] | None:
    """The run in which the calling code (a tool, say) happens, or None."""
    found = current_work()
    return found if isinstance(found, Run) else None


class Run(Work[T], Pictured):
    """A run of a robot or a network.

    You get one from ``start()``; ``run``, ``arun`` and ``stream`` make one for you.

    Attributes
    ----------
    id : str
        Twelve hexadecimal digits.
    scope : Scope
    state : RunState
        What the events so far say: messages, calls, usage, status.
    values : dict
        Live objects (DataFrames, images) that tools returned, by tool-call id.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).start("a poem")
    >>> str(run.result())
    'roses are red'
    >>> run.status, run.events[-1].type
    ('completed', 'run.completed')
    """

    __slots__ = ()

    # -- reading ---------------------------------------------------------------------------

    @property
    def status(self) -> str:
        """``pending, running, waiting, completed, failed`` or ``interrupted``."""
        return self.state.status

    @property
    def robot_name(self) -> str | None:
        """The robot's name, for a robot's run."""
        return self.scope.robot

    @property
    def events(self) -> list[Event]:
        """The events so far, in order, those of runs inside it included."""
        with self.root.lock:
            if self.parent is None:
                return ShownList(self.root.events)
            own = (e for e in self.root.events[self._first :] if e.scope.run_id in self._family)
            return ShownList(own)

    @property
    def frames(self) -> Any:
        """Tables of the run so far: ``run.frames.tool_calls`` and so on."""
        from ..core.readings import reading

        return reading("frames")(self.state, self.events)

    def replay(self) -> Any:
        """Go through the run again step by step, as far as it is: a :class:`Replay`.

        It plays in a notebook, and shows what each model was sent and what it answered.
        """
        from ..core.readings import reading

        return reading("replay")(self)

    @property
    def has_result(self) -> bool:
        """Whether the run has ended with a result; a failed network has one, a robot has none."""
        status = self.state.status
        return status == "completed" or (status == "failed" and self._keep_failed)

    def outcome(self) -> T:
        """The result of a run that has ended; raises what it failed with.

        A run that waits for a person has one as far as it goes, whose text raises RunWaiting.
        """
        if self.has_result:
            if self._result is None:
                self._result = self._finish(self)
                self._finish = _given  # what made it knows the run: only the collector frees those
            return self._result
        if not self.done and _desk.waits(self):
            return self._finish(self)
        error = self._error
        if error is None:
            error = RunInterrupted(
                f"{self.scope.kind} {self.name!r} was interrupted: {self._reason}",
                hint="Its messages and events so far are in .run.",
            )
            self._error = error
        if isinstance(error, RobotLabError) and error.run is None:
            error.run = self
            error.run_id = self.id
        raise error

    def so_far(self) -> T:
        """The result as far as it goes, whatever the run's status."""
        return self._finish(self)

    def result(self, timeout: float | None = None) -> T:
        """Wait for the run and return its result.

        Where the run asks something, this thread's prompt is used if it has one. Where nobody can
        be asked and nothing else goes on, the result of a *waiting* run comes back: answer it with
        :meth:`answer`, then ask for the result again.

        Parameters
        ----------
        timeout : float, optional
            Seconds; the run goes on when the time is up.

        Raises
        ------
        AwaitTimeout
            When the time is up.
        RobotLabError
            What the run failed with; its ``run`` is this run.
        KeyboardInterrupt
            When Stop was pressed; the run has been stopped.
        """
        from .notebook import status_line
        from .waiting import block

        if not self.has_result:  # one that failed leaves its picture, however fast it did
            if not self.done:
                self.check_may_block("result()")
            with status_line(self) as painter:
                if not self.done and not block(self, timeout, painter=painter):
                    raise AwaitTimeout(
                        f"{self.name!r} did not finish within {timeout} s; it goes on",
                        hint="Call result() again, or cancel().",
                    )
        return self.outcome()

    def check_may_block(self, what: str) -> None:
        """Raise when the calling thread is the one that the run needs."""
        if _loop.runs_here():
            raise ConfigurationError(
                f"{what} cannot wait on the event loop that does the work",
                hint="Use `await arun()` (or `await run`, `async for`) here.",
            )

    async def wait(self) -> T:
        """Wait for the run on the caller's loop. Cancelling the wait stops the run."""
        import asyncio

        from .waiting import may_wait, wait_async

        task = self._task
        if not self.done:
            if task is None or self._loop is not asyncio.get_running_loop():
                await wait_async(self)
            elif may_wait(self):
                await self._wait_for_person(task)
            else:
                await self._wait_here(task)
        return self.outcome()

    async def _wait_for_person(self, task: asyncio.Task[None]) -> None:
        """Wait for a task of the same loop to end, or for a person to be needed."""
        import asyncio

        from .waiting import gate

        with gate(self) as opened:
            try:
                await opened
            except asyncio.CancelledError:
                task.cancel()
                await asyncio.wait((task,))
                raise

    async def _wait_here(self, task: asyncio.Task[None]) -> None:
        """Wait for a task of the same loop; a cancelled wait cancels it and waits for its end."""
        import asyncio

        try:
            with task_waits():
                await task
        except asyncio.CancelledError:
            here = asyncio.current_task()
            if here is None or not here.cancelling():
                return  # the run was cancelled, not we
            raise
        here = asyncio.current_task()
        if here is not None and here.cancelling() and self.status == "interrupted":
            raise asyncio.CancelledError

    def __await__(self) -> Generator[Any, None, T]:
        return self.wait().__await__()

    def watch(self, after: int = -1, *, deltas: bool = True) -> Watcher:
        """Read the run while it happens, with ``for`` or ``async for``. Leaving does not cancel.

        Parameters
        ----------
        after : int, optional
            Only events with a greater ``seq``; -1 for all from the start.
        deltas : bool, optional
            Whether pieces of streaming text come too.

        Returns
        -------
        Watcher
            An iterable of events and deltas that ends with the run.
        """
        return Watcher(self, after=after, deltas=deltas)

    # -- asking ----------------------------------------------------------------------------

    @property
    def pending(self) -> tuple[Question, ...]:
        """The questions that wait for an answer, those of runs inside this one included."""
        return _desk.pending(self)

    def answer(self, value: Any) -> Run[T]:
        """Answer what the run asks. It goes on at once; ``result()`` waits for it again.

        Parameters
        ----------
        value : object
            The answer, when one question is open; else a dict of answers by the question's or the
            tool call's id (see :attr:`pending`). A question takes a text, a choice or its number;
            an approval takes True, False, ``"no, because …"``, or ``{"arguments": {…}}`` to have
            the tool called with other arguments.

        Returns
        -------
        Run
            This run.

        Raises
        ------
        InputError
            When a key or a value cannot be meant, or was settled already. What is open is listed,
            and nothing is answered.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> from robotlab_nb.tools.user_question import ask_user
        >>> steps = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ordered"]
        >>> run = rl.build("shop", model=rl.SimulatedModel(steps), tools=[ask_user]).start("shoes")
        >>> run.result().status, run.pending[0].text
        ('waiting', 'Which size?')
        >>> run.answer("L").result().text
        'ordered'
        """
        _desk.answer(self, value)
        return self

    def ask(self, question: str, *, choices: Iterable[str] = (), default: str | None = None) -> str:
        """Ask the person from inside a tool's body; a sync tool's thread is blocked meanwhile.

        Only where somebody can be asked while the run goes on: by ``answers=``, a widget, or the
        prompt of the thread that waits. The tool's own timeout goes on as well.

        Parameters
        ----------
        question : str
        choices : iterable of str, optional
            The possible answers.
        default : str, optional
            What an empty answer means, and what is taken when nobody answers in time.

        Returns
        -------
        str

        Raises
        ------
        NoAnswerChannel
            When nobody can be asked. The ``ask_user`` tool and approvals can wait instead.
        ToolError
            When nobody answered in time.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> def order(item: str, run: rl.Run) -> str:
        ...     "Order an item."
        ...     return f"{item} in {run.ask('Which colour?', default='black')}"
        >>> model = rl.SimulatedModel([("order", {"item": "shoes"}), "done"])
        >>> bot = rl.build("shop", model=model, tools=[order])
        >>> bot.run("shoes", config={"answers": {"Which colour?": "red"}}).tool_calls[0].result
        'shoes in red'
        """
        from .asking import ask_from_thread, text_of

        return text_of(ask_from_thread(self, question, choices=choices, default=default), question)

    async def aask(
        self, question: str, *, choices: Iterable[str] = (), default: str | None = None
    ) -> str:
        """Ask the person from inside an async tool's body. As :meth:`ask`."""
        from .asking import ask_free, text_of

        return text_of(await ask_free(self, question, choices=choices, default=default), question)

    def _register(self) -> None:
        if self.parent is None:
            from . import registry
            from .notebook import cell_of_caller

            registry.enter(self, cell_of_caller())

    async def perform(self) -> T:
        """Do the work in the calling task, as a part of the run that is going on there."""
        import asyncio

        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.caller_loop = self.parent.caller_loop if self.parent is not None else self._loop
        task, token = self._task, enter_work(self)
        try:
            await self._drive()
        finally:
            leave_work(token)
        if self._cancelled and task is not None:
            task.uncancel()  # it was this run that was cancelled, not what goes on around it
        return self.outcome()

    def _ipython_display_(self) -> None:
        """Show the run in a notebook: live while it goes on, its picture when it has ended."""
        from .notebook import show

        if not show(self):
            print(repr(self))  # noqa: T201  (that is what a plain shell shows)

    def _repr_html_(self) -> str | None:
        with self.root.lock:
            return super()._repr_html_()

    def __repr__(self) -> str:
        with self.root.lock:
            return super().__repr__()

    def stop(self) -> None:
        """Cancel the run and wait up to 2 s for it to tidy up, then abandon it."""
        from .waiting import stop_blocking

        if not self.done:
            stop_blocking(self)
