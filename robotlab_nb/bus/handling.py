"""Calling a person's handler of messages: in a worker thread, or on the loop when it is async.

No exception leaves by itself, for some would end the event loop: each is handed over as a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError
from ..runtime.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Handler", "Outcome", "called"]


class Outcome(NamedTuple):
    """What a function returned, or what it raised."""

    value: Any = None
    error: BaseException | None = None


class Handler:
    """A function that takes messages.

    Parameters
    ----------
    function : callable
        Sync or async. With one parameter it gets the message, which is acknowledged beforehand;
        with two, message and delivery, and says itself what becomes of it.
    where : str
        Whose it is, for errors.

    Raises
    ------
    ConfigurationError
        When it cannot be called so.

    Examples
    --------
    >>> Handler(print, "robot 'a'").takes_delivery
    False
    >>> Handler(lambda message, delivery: delivery.ack(), "robot 'a'").takes_delivery
    True
    """

    __slots__ = ("function", "is_async", "takes_delivery")

    def __init__(self, function: Callable[..., Any], where: str) -> None:
        if not callable(function):
            raise ConfigurationError(
                f"{where}: a handler is a function, not {type(function).__name__}",
                hint="Pass a function of the message, or of message and delivery.",
            )
        self.function = function
        self.takes_delivery = _takes_delivery(function, where)
        self.is_async = _is_async(function)


def _takes_delivery(function: Callable[..., Any], where: str) -> bool:
    import inspect

    try:
        signature = inspect.signature(function)
    except ValueError:  # written in C, without a signature
        return False
    plain = [
        p for p in signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    needed = sum(p.default is p.empty for p in plain)
    both = needed == 2 or [p.name for p in plain[1:2]] == ["delivery"]
    try:
        signature.bind(*[None] * (1 + both))
    except TypeError as error:
        raise ConfigurationError(
            f"{where}: the handler {getattr(function, '__name__', function)!r} cannot be called "
            f"with a message ({error})",
            hint="It takes the message, or message and delivery.",
        ) from None
    return both


def _is_async(function: Any) -> bool:
    import inspect

    inside = type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(inside)


async def called(function: Callable[..., Any], *given: Any, is_async: bool) -> Outcome:
    """Call a function, on the running loop or in a worker thread, and await what it returns."""
    import asyncio

    def body() -> Outcome:
        try:
            return Outcome(function(*given))
        except BaseException as error:
            return Outcome(None, error)

    try:
        outcome = body() if is_async else await in_thread(body)
        if outcome.error is None and hasattr(type(outcome.value), "__await__"):
            outcome = Outcome(await outcome.value)
    except asyncio.CancelledError as error:
        here = asyncio.current_task()
        if here is None or here.cancelling():
            raise
        return Outcome(None, error)
    except GeneratorExit:
        raise
    except BaseException as error:
        return Outcome(None, error)
    return outcome
