"""Going on from an earlier run of a network: what it finished is not done again.

:mod:`.planning` decides which tasks are kept, :mod:`.restoring` reads what they gave, and the
scheduler carries out the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.keywords import strict_keywords
from ..runtime.notebook import show_live
from .planning import Earlier
from .restoring import source_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.config import RunConfig
    from ..core.messages import Message
    from ..memory.reactive import Memory
    from ..robot.in_force import Level
    from ..runtime.run import Run
    from .network import Network
    from .result import NetworkResult

__all__ = ["Resuming"]

#: what can be done about tasks that have changed since they were finished
CHANGED = (None, "rerun", "keep")


class Resuming:
    """Going on from what an earlier run of a network has finished."""

    __slots__ = ()

    @strict_keywords
    def resume(
        self,
        source: Any,
        *,
        rerun: Sequence[str] = (),
        changed: str | None = None,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Go on from an earlier run: what it finished is kept, everything else runs.

        A new run begins, with ``resumed_from``. Finished tasks are ``restored`` in it with their
        results, and cost nothing again; routes and halts that they made hold. Tasks that failed,
        were stopped, blocked or never began run, networks inside likewise. A task that had begun
        is done from its start: what it did before may come twice, and it is marked
        ``possibly_repeated``; of a map, the items that were done are not done again.

        Parameters
        ----------
        source : Run, NetworkResult, run id, path, or list of events or of their dicts
            The earlier run, or what is left of it: the log has it by its id (the first 6 digits
            are enough); a file holds one event as JSON on each line.
        rerun : sequence of str, optional
            Finished tasks that run again all the same, with all that comes after them.
        changed : {"rerun", "keep"}, optional
            What is done about finished tasks whose definition, prompt, model, tools or function
            has changed since. Left out, they are refused.
        context : mapping, optional
            Values over those of the earlier run. Events hold none: with a file or a list, pass
            all that it had.
        concurrency, memory, config, show
            As for :meth:`run`.

        Returns
        -------
        NetworkResult

        Raises
        ------
        InputError
            When ``source`` is no run of a network, or values of its context are missing.
        ConfigurationError
            When finished tasks have changed; or gave a value that was not kept (a DataFrame, say)
            and that a task needs which is to run.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> net = rl.create_network("count")
        >>> first = net.task("first", lambda message: len(message))
        >>> parts = {}
        >>> second = net.task("second", lambda upstream: upstream["first"].value / parts["n"],
        ...                   depends_on=["first"])
        >>> failed = net.run("hello")
        >>> failed.status, parts.update(n=2)
        ('failed', None)
        >>> result = net.resume(failed)
        >>> result.value, result.state.tasks["first"].status
        (2.5, 'restored')
        """
        earlier = Earlier(source_of(source), _names(rerun, "rerun"), changed=_checked(changed))
        return self._go_on(
            earlier, None, context=context, concurrency=concurrency, memory=memory, config=config,
            show=show,
        )  # fmt: skip

    @strict_keywords
    async def aresume(
        self,
        source: Any,
        *,
        rerun: Sequence[str] = (),
        changed: str | None = None,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Go on from an earlier run. As :meth:`resume`, for async code."""
        earlier = Earlier(source_of(source), _names(rerun, "rerun"), changed=_checked(changed))
        run = self.prepare_again(
            earlier, None, context=context, concurrency=concurrency, memory=memory, config=config
        )
        show_live(run, show)
        return await run.begin().wait()

    @strict_keywords
    def rerun(
        self,
        source: Any,
        from_: str | Sequence[str],
        *,
        message: str | Message | None = None,
        changed: str | None = None,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Run some tasks again, and all that comes after them; everything else stays as it was.

        Parameters
        ----------
        source : Run, NetworkResult, run id, path, or list of events or of their dicts
            The earlier run.
        from_ : str or sequence of str
            The tasks. An optional one runs whether it was activated or not.
        message : str or Message, optional
            What these tasks are given in place of the earlier run's message.
        changed, context, concurrency, memory, config, show
            As for :meth:`resume`.

        Returns
        -------
        NetworkResult
            Tasks that failed or were skipped, and are not run again, are so in it too.

        Raises
        ------
        InputError, ConfigurationError
            As for :meth:`resume`.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> net = rl.create_network("two")
        >>> one = net.task("one", lambda message: message.upper())
        >>> two = net.task("two", lambda message, upstream: f"{upstream} {message}",
        ...                depends_on=["one"])
        >>> net.rerun(net.run("a"), "two", message="b").text
        'A b'
        """
        earlier = Earlier(source_of(source), _from(from_), only=True, changed=_checked(changed))
        return self._go_on(
            earlier, message, context=context, concurrency=concurrency, memory=memory,
            config=config, show=show,
        )  # fmt: skip

    @strict_keywords
    async def arerun(
        self,
        source: Any,
        from_: str | Sequence[str],
        *,
        message: str | Message | None = None,
        changed: str | None = None,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        show: bool | None = None,
    ) -> NetworkResult:
        """Run some tasks again, and all that comes after them. As :meth:`rerun`, for async code."""
        earlier = Earlier(source_of(source), _from(from_), only=True, changed=_checked(changed))
        run = self.prepare_again(
            earlier, message, context=context, concurrency=concurrency, memory=memory,
            config=config,
        )  # fmt: skip
        show_live(run, show)
        return await run.begin().wait()

    def prepare_again(
        self,
        earlier: Earlier,
        message: Any,
        *,
        context: Mapping[str, Any] | None = None,
        concurrency: int | None = None,
        memory: Memory | Mapping[str, Any] | None = None,
        config: RunConfig | Mapping[str, Any] | None = None,
        blocking: bool = False,
        above: tuple[Level, ...] = (),
        label: str | None = None,
    ) -> Run[NetworkResult]:
        """Make a run that goes on from an earlier one, once everything is checked."""
        from .preparing import make_run

        network: Network = self  # type: ignore[assignment]
        return make_run(
            network, **earlier.same(message, context), concurrency=concurrency, memory=memory,
            config=config, detached=False, blocking=blocking, above=above, label=label,
            earlier=earlier,
        )  # fmt: skip

    def _go_on(
        self, earlier: Earlier, message: Any, *, show: bool | None, **options: Any
    ) -> NetworkResult:
        run = self.prepare_again(earlier, message, blocking=True, **options)
        run.check_may_block("resume() or rerun()")
        try:
            show_live(run, show)
            run.begin()
            return run.result()
        except KeyboardInterrupt:
            run.stop()
            raise


def _checked(changed: str | None) -> str | None:
    if changed not in CHANGED:
        raise ConfigurationError(
            f"changed={changed!r} has no meaning",
            hint='Use "rerun", "keep", or leave it out to have changed tasks refused.',
        )
    return changed


def _names(given: Any, what: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigurationError(f"{what}={given!r:.80} is no list of tasks")
    return tuple(given)


def _from(given: Any) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else _names(given, "from_")
