"""The ways to run a robot: start, run, arun, stream. Each makes a run and waits differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic

from ..core.keywords import strict_keywords
from ..runtime.notebook import expect_viewer, show_live
from ..runtime.watch import Stream
from .in_force import run_level
from .result import T

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..core.config import RunConfig
    from ..core.messages import Message
    from ..memory.reactive import Memory
    from ..runtime.run import Run
    from .result import RobotResult

__all__ = ["Asking"]


class Asking(Generic[T]):
    """What can be asked of a robot. A robot itself only says how a run is prepared."""

    __slots__ = ()

    if TYPE_CHECKING:

        def prepare(
            self,
            message: Any,
            level: Mapping[str, Any],
            *,
            context: Mapping[str, Any] | None = None,
            attachments: Sequence[Any] = (),
            memory: Memory | Mapping[str, Any] | None = None,
            detached: bool = False,
            blocking: bool = False,
        ) -> Run[RobotResult[T]]:
            """Check everything that can be checked before a request, and make the run."""
            ...

    @strict_keywords
    def start(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
        detached: bool = False,
    ) -> Run[RobotResult[T]]:
        """Start a run and return at once.

        Parameters
        ----------
        message, context, attachments, tools, mcp, output, answers, hooks, memory, config
            As for :meth:`run`.
        on_content : callable, optional
            Called with each piece of text as it streams.
        detached : bool, optional
            Inside another run, a run is its child and ends with it; a detached one is on its own.

        Returns
        -------
        Run
            Await it, watch it, ask for its ``result()``, or ``cancel()`` it.
        """
        level = run_level(
            tools, config, mcp=mcp, on_content=on_content, output=output, answers=answers,
            hooks=hooks,
        )  # fmt: skip
        run = self.prepare(
            message,
            level,
            context=context,
            attachments=attachments,
            memory=memory,
            detached=detached,
        )
        expect_viewer(run)
        return run.begin()

    @strict_keywords
    def run(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
        show: bool | None = None,
    ) -> RobotResult[T]:
        """Say something to the robot and wait for the answer.

        Works in a notebook cell, a script, a thread and inside a sync tool; the thread is
        blocked meanwhile. In async code use ``await arun(…)``.

        Parameters
        ----------
        message : str or Message
            What to say.
        context : dict, optional
            Values for the template's parameters, and for tools that ask for ``context``.
        attachments : sequence, optional
            What belongs to the message: files (images, PDFs, audio, text), bytes, URLs of images,
            figures, DataFrames.
        tools : list, optional
            The exact set for this run: functions and Tools attach, names and globs select the
            robot's own, ``...`` stands for all of these, ``[]`` for none.
        mcp : list, optional
            The exact set of tool servers for this run: Servers and dicts attach, names and globs
            select the robot's own, ``...`` stands for all of these, ``[]`` for none.
        output : type or dict, optional
            What the answer must be: a pydantic model, any other type, or a JSON Schema;
            ``result.parsed`` is then that.
        answers : mapping, list or callable, optional
            Answers to what the run asks a person, given beforehand.
        hooks : handler or list, optional
            Handlers for this run, besides those of the robot and the process.
        memory : Memory or dict, optional
            What the run shares, in place of the robot's own memory. The values of a dict are there
            in a copy of it, for this run alone.
        config : RunConfig or dict, optional
            Settings for this run.
        on_content : callable, optional
            Called with each piece of text as it streams.
        show : bool, optional
            Whether a notebook shows the run live; ``rl.options.show`` when left out.

        Returns
        -------
        RobotResult
            ``str(result)`` is the answer. When a person has to be asked and there is no way to
            ask, its ``status`` is ``waiting``: go on with ``result.answer(…)``.

        Raises
        ------
        InputError, ConfigurationError
            Before any request, when something cannot be meant.
        ModelError, ToolLoopError
            When the model failed; ``error.run`` has the run with everything up to then.
        KeyboardInterrupt
            When Stop was pressed. The run has been stopped and its messages are kept.
        """
        level = run_level(
            tools, config, mcp=mcp, on_content=on_content, output=output, answers=answers,
            hooks=hooks,
        )  # fmt: skip
        run = self.prepare(
            message, level, context=context, attachments=attachments, memory=memory, blocking=True
        )
        run.check_may_block("run()")
        try:
            show_live(run, show)
            run.begin()
            return run.result()
        except KeyboardInterrupt:
            run.stop()
            raise

    @strict_keywords
    async def arun(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        on_content: Callable[[str], object] | None = None,
        show: bool | None = None,
    ) -> RobotResult[T]:
        """Say something to the robot and await the answer. As :meth:`run`, for async code."""
        level = run_level(
            tools, config, mcp=mcp, on_content=on_content, output=output, answers=answers,
            hooks=hooks,
        )  # fmt: skip
        run = self.prepare(message, level, context=context, attachments=attachments, memory=memory)
        show_live(run, show)
        return await run.begin().wait()

    @strict_keywords
    def stream(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        attachments: Sequence[Any] = (),
        tools: Sequence[Any] | None = None,
        mcp: Sequence[Any] | None = None,
        output: Any = None,
        answers: Any = None,
        hooks: Any = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
    ) -> Stream[RobotResult[T]]:
        """Say something to the robot and read what happens, with ``for`` or ``async for``.

        Parameters
        ----------
        message, context, attachments, tools, mcp, output, answers, hooks, memory, config
            As for :meth:`run`.

        Returns
        -------
        Stream
            Events and deltas as they come; ``.text`` for the answer's text alone. Leaving the
            loop cancels the run.
        """
        level = run_level(tools, config, mcp=mcp, output=output, answers=answers, hooks=hooks)
        run = self.prepare(message, level, context=context, attachments=attachments, memory=memory)
        return Stream(run, run.begin)
