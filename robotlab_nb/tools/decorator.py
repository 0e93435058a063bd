"""Tools as other rooms see them: the class, the collection, the decorator, and what is a tool.

The class itself stands in :mod:`.definition`, the collection in :mod:`.manifest`.
"""

from __future__ import annotations

import functools
import types
from typing import TYPE_CHECKING, Any, Literal, overload

from ..core.errors import ConfigurationError
from ..core.keywords import strict_keywords
from .definition import KNOWN, Tool
from .manifest import ToolManifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Tool", "ToolManifest", "as_tool", "tool"]


@overload
def tool(function: Callable[..., Any], /) -> Tool: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    loop: Literal["engine", "caller"] = "engine",
    raise_on_error: bool | None = None,
    inject: Iterable[str] = (),
    labels: Iterable[str] = (),
    approval: bool | Callable[[dict[str, Any]], Any] | None = None,
) -> Callable[[Callable[..., Any]], Tool]: ...
@strict_keywords
def tool(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    timeout: float | None = None,
    loop: Literal["engine", "caller"] = "engine",
    raise_on_error: bool | None = None,
    inject: Iterable[str] = (),
    labels: Iterable[str] = (),
    approval: bool | Callable[[dict[str, Any]], Any] | None = None,
) -> Tool | Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function, with options. Bare or with parentheses.

    Parameters
    ----------
    name, description : str, optional
        In place of the function's own.
    timeout : float, optional
        Seconds for one call.
    loop : {"engine", "caller"}, optional
        Where an async function runs.
    raise_on_error : bool, optional
        Whether an exception ends the run.
    inject : iterable of str, optional
        Parameters that the host fills and the model never sees.
    labels : iterable of str, optional
        ``"private"``, ``"untrusted"``, ``"outward"``: what a call does; see :class:`Tool`.
    approval : bool or callable, optional
        Whether a call needs a person's approval; a function of the arguments decides each time.

    Returns
    -------
    Tool, or a decorator that makes one

    Examples
    --------
    >>> @tool(timeout=5, inject=("context",))
    ... def price(item: str, context: dict) -> float:
    ...     '''Price of an item.'''
    ...     return 9.5
    >>> price.name, price.timeout, list(price.parameters["properties"])
    ('price', 5, ['item'])
    """

    def make(function: Callable[..., Any]) -> Tool:
        if isinstance(function, (type, Tool)):
            raise ConfigurationError(
                f"@tool is for functions, not for {function!r:.80}",
                hint="Pass it to the robot as it is; subclasses of Tool set options as attributes.",
            )
        return Tool(
            function, name=name, description=description, timeout=timeout, loop=loop,
            raise_on_error=raise_on_error, inject=inject, labels=labels, approval=approval,
        )  # fmt: skip

    return make if function is None else make(function)


def as_tool(thing: Any) -> Tool:
    """The tool that something is, or that can be made of it.

    A function has one tool for its lifetime, however often it is asked for.

    Parameters
    ----------
    thing : Tool, subclass of Tool, function, method, partial or callable object

    Returns
    -------
    Tool

    Raises
    ------
    ConfigurationError
        When it is nothing that a robot could call.

    Examples
    --------
    >>> def add(a: int, b: int) -> int: ...
    >>> as_tool(add) is as_tool(add)
    True
    """
    kind = type(thing)
    if kind is types.FunctionType or kind is functools.partial:
        known = thing.__dict__.get(KNOWN)
        # functools.wraps copies a function's attributes: look whose tool it is.
        if known is not None and known.function is thing:
            return known  # type: ignore[no-any-return]
        made = _complete(Tool(thing))
        thing.__dict__[KNOWN] = made
        return made
    if isinstance(thing, Tool):
        return _complete(thing)
    if isinstance(thing, type):
        return _instance(thing)
    if callable(thing):
        return Tool(thing)
    raise ConfigurationError(
        f"{thing!r:.80} is not a tool", hint="Pass functions, Tool objects or Tool subclasses."
    )


def _complete(made: Tool) -> Tool:
    if made.is_method:
        raise ConfigurationError(
            f"tool {made.name!r} is a method without its object",
            hint="Pass it from an object: thing.method, not Class.method.",
        )
    return made


def _instance(cls: type) -> Tool:
    if not issubclass(cls, Tool) or cls is Tool:
        raise ConfigurationError(
            f"the class {cls.__name__} is not a tool",
            hint="Pass a function, or a subclass of Tool with `execute`.",
        )
    try:
        return cls()
    except TypeError as error:
        raise ConfigurationError(
            f"{cls.__name__}() cannot be made without arguments ({error})",
            hint="Make it yourself and pass the object.",
        ) from error
