"""The ways to run a network: start, run, arun, stream. Each makes a run and waits differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig
from ..core.keywords import strict_keywords
from ..runtime.notebook import expect_viewer, show_live
from ..runtime.watch import Stream

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.messages import Message
    from ..memory.reactive import Memory
    from ..runtime.run import Run
    from .result import NetworkResult

__all__ = ["Asking"]


class Asking:
    """What can be asked of a network. A network itself only says how a run is prepared."""

    __slots__ = ()

    if TYPE_CHECKING:

        def prepare(
            self,
            message: Any,
            *,
            context: Mapping[str, Any] | None = None,
            concurrency: int | None = None,
            memory: Memory | Mapping[str, Any] | None = None,
            config: RunConfig | Mapping[str, Any] | None = None,
            detached: bool = False,
            blocking: bool = False,
        ) -> Run[NetworkResult]:
            """Check everything that can be checked before a request, and make the run."""
            ...

    @strict_keywords
    def start(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        answers: Any = None,
        hooks: Any = None,
        detached: bool = False,
    ) -> Run[NetworkResult]:
        """Start a run and return at once. Parameters as for :meth:`run`."""
        run = self.prepare(
            message, context=context, concurrency=concurrency, memory=memory,
            config=_level(config, answers, hooks), detached=detached,
        )  # fmt: skip
        expect_viewer(run)
        return run.begin()

    @strict_keywords
    def run(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        answers: Any = None,
        hooks: Any = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Run the network and wait for its result.

        Parameters
        ----------
        message : str or Message
            What every task may refer to as ``message``.
        context : mapping, optional
            Values for prompts, functions and tools.
        concurrency : int, optional
            Most tasks at the same time, for this run.
        memory : Memory or dict, optional
            What the run shares in place of the network's memory. The values of a dict are there
            in a copy of it, for this run alone: nothing that the run writes stays.
        config : RunConfig or mapping, optional
            Settings for this run, over the network's; the robots' own are stronger.
        answers : mapping, list or callable, optional
            Answers to what the run asks a person, given beforehand.
        hooks : handler or list, optional
            Handlers for this run, besides those of the network.
        show : bool, optional
            Whether a notebook shows the run live; ``rl.options.show`` when left out.

        Returns
        -------
        NetworkResult
            Its ``status`` is ``failed`` when a task failed; nothing is raised for that. It is
            ``waiting`` when only a person's answer is missing: go on with ``result.answer(…)``.

        Raises
        ------
        GraphError, InputError, ConfigurationError
            Before any request.
        KeyboardInterrupt
            When Stop was pressed.
        """
        run = self.prepare(
            message, context=context, concurrency=concurrency, memory=memory,
            config=_level(config, answers, hooks), blocking=True,
        )  # fmt: skip
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
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        answers: Any = None,
        hooks: Any = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Run the network and await its result. As :meth:`run`, for async code."""
        run = self.prepare(
            message,
            context=context,
            concurrency=concurrency,
            memory=memory,
            config=_level(config, answers, hooks),
        )
        show_live(run, show)
        return await run.begin().wait()

    @strict_keywords
    def stream(
        self,
        message: str | Message | None = None,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        answers: Any = None,
        hooks: Any = None,
    ) -> Stream[NetworkResult]:
        """Run the network and read what happens, with ``for`` or ``async for``."""
        run = self.prepare(
            message,
            context=context,
            concurrency=concurrency,
            memory=memory,
            config=_level(config, answers, hooks),
        )
        return Stream(run, run.begin)


def _level(
    config: RunConfig | Mapping[str, Any] | None, answers: Any, hooks: Any
) -> RunConfig | Mapping[str, Any] | None:
    """What a run sets, as one level: its keywords are stronger than its ``config=``."""
    if answers is None and hooks is None:
        return config
    return RunConfig.of(config).merge({"answers": answers, "hooks": hooks})
