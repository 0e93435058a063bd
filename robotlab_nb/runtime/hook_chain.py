"""Handlers around what the engine does: who is called, in which order, and what their word means.

before, in order; then around, the first one outermost, with the core inside; then after, in
reverse. Levels come from the outside in: global, network, robot, task, run. Nothing here knows
what the core is.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError, describe_error
from .hook_calls import call, call_around
from .hook_context import HookContext
from .hook_handlers import registrations
from .hook_points import ERROR, FAMILIES, ON, POINTS, RESULT
from .hook_registry import hooks as _process

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .hook_handlers import Hook, Registration
    from .run import Run

__all__ = ["FAMILIES", "Chain", "HookContext", "collect", "registrations"]


def collect(levels: Sequence[tuple[str, Any]] = ()) -> Chain | None:
    """Gather the handlers of all levels, those of the process first.

    Parameters
    ----------
    levels : sequence of (str, object)
        Each level's name and what was given as its ``hooks=``, outermost first.

    Returns
    -------
    Chain or None
        None when nobody hooks anything.

    Raises
    ------
    ConfigurationError
        When something that was given is no handler.

    Examples
    --------
    >>> collect([("robot", None)]) is None
    True
    >>> sorted(collect([("run", {"before_run": print, "after_tool_call": print})]).families)
    ['run', 'tool_call']
    """
    found: tuple[Registration, ...] = _process.registrations
    for level, given in levels:
        if given is not None:
            found += registrations(given, f"hooks= ({level})")
    return Chain(found) if found else None


class Chain:
    """Handlers in order, sorted by point.

    Parameters
    ----------
    registered : sequence of Registration
        Outermost first.

    Attributes
    ----------
    families : frozenset of str
        The families that somebody hooks.
    """

    __slots__ = ("_named", "_points", "_warned", "families")

    def __init__(self, registered: Sequence[Registration]) -> None:
        points: dict[str, list[Hook]] = {}
        for registration in registered:
            for hook in registration.hooks:
                points.setdefault(hook.point, []).append(hook)
        self._points = points
        self._named = [(r.namespace, r.spaces) for r in registered if r.namespace]
        self._warned: set[str] = set()
        self.families = frozenset(f for point in points for f in POINTS[point])

    async def around(
        self,
        context: HookContext,
        core: Callable[[], Awaitable[Any]],
        run: Run[Any] | None = None,
    ) -> Any:
        """Do something within the handlers of its family.

        Parameters
        ----------
        context : HookContext
        core : callable
            Coroutine function that does it. It may be called again by a handler that retries, or
            not at all.
        run : Run, optional
            Where it happens; the current run when left out.

        Returns
        -------
        object
            What ``core`` returned, or what handlers made of it.

        Raises
        ------
        Exception
            What ``core`` raised, or a handler before or around it.
        """
        family = context.family
        if family not in self.families:
            return await core()
        passing = context._passing
        passing.enter(run, self._named)
        try:
            for hook in self._points.get(f"before_{family}", ()):
                await call(hook, context)
            if passing.assigned:
                core = _given(passing.result)
            await self._through(context, core)
        except Exception as error:
            instead = await self._failed(context, error)
            if instead is error:
                raise
            raise instead from error
        await self._observe(f"after_{family}", context)
        return passing.result

    async def _through(self, context: HookContext, core: Callable[[], Awaitable[Any]]) -> None:
        """Let the around handlers do it, the first one outermost."""
        layer: Callable[[], Awaitable[Any]] = partial(self._innermost, context, core)
        for hook in reversed(self._points.get(f"around_{context.family}", ())):
            layer = partial(_layer, hook, context, layer)
        await layer()

    async def _innermost(self, context: HookContext, core: Callable[[], Awaitable[Any]]) -> Any:
        passing = context._passing
        if context.family == "compaction":
            before = passing.assigned
            await self._observe("on_compaction", context)
            if passing.assigned != before:
                return passing.result
        passing.publish(await core())
        if context.family == "learn":
            await self._observe("on_learn", context)
        return passing.result

    async def _failed(self, context: HookContext, error: Exception) -> BaseException:
        """Tell the handlers of a failure; the error to raise, which they may have replaced."""
        family = context.family
        field = ERROR.get(family)
        if field is None:
            return error
        fields = context._passing.fields
        fields[field] = error
        if ON.get(family) == "on_error":
            await self._observe("on_error", context)
        found = fields[field]
        return found if isinstance(found, Exception) else error

    async def _observe(self, point: str, context: HookContext) -> None:
        """Call those who only look on, in reverse. What they raise breaks nothing."""
        for hook in reversed(self._points.get(point, ())):
            try:
                await call(hook, context)
            except Exception as error:
                self._report(hook, error, context)

    def _report(self, hook: Hook, error: Exception, context: HookContext) -> None:
        """Make a failed observer an event of the run, and the first time a warning."""
        run = context._passing.run
        name = hook.name.removesuffix(f".{hook.point}")
        try:
            told = describe_error(error)
        except Exception:
            told = {"type": type(error).__name__, "message": "(it cannot be told)"}
        if run is not None:
            run.emit("hook.failed", {"hook": name, "point": hook.point, "error": told})
        if hook.name not in self._warned:
            self._warned.add(hook.name)
            _warn(f"hook {hook.name} failed: {told['type']}: {told['message']}")


async def _layer(hook: Hook, context: HookContext, inner: Callable[[], Awaitable[Any]]) -> Any:
    """One around handler with all that is inside it."""
    passing = context._passing
    before = passing.assigned
    value, passage = await call_around(hook, context, inner)
    if value is not None:
        passing.publish(value)
    elif not passage.completed and passing.assigned == before:
        what = "went on without awaiting it" if passage.asked else "forgot its core"
        if passage.error is not None:
            what = f"kept {type(passage.error).__name__} to itself and gave no result"
        raise RobotLabError(
            f"hook {hook.name} {what}",
            hint="Call proceed() (`await proceed()` in an async def), return a result, or set "
            f"context.{RESULT[context.family]}.",
        )
    return passing.result


def _given(value: Any) -> Callable[[], Awaitable[Any]]:
    """A core that was answered before it began."""

    async def core() -> Any:
        return value

    return core


def _warn(text: str) -> None:
    import warnings

    try:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
    except RuntimeWarning:  # warnings are errors here, and an observer breaks no run
        pass
