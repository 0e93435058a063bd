"""Signatures that list their parameters, and unknown keywords that name the near one."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import UnknownKeyword, near

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ListedSettings", "strict_keywords"]

P = ParamSpec("P")
R = TypeVar("R")


def strict_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Turn Python's "unexpected keyword argument" into an error that suggests the near keyword.

    Parameters
    ----------
    function : callable
        Its signature, annotations and docstring stay as they are.

    Examples
    --------
    >>> @strict_keywords
    ... def paint(*, colour): ...
    >>> paint(color=1)
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.UnknownKeyword: paint() has no parameter 'color'. Did you mean 'colour'?
    """

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            # Only when the call itself failed: one frame (ours), none inside the function.
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:
                _explain(function, args, kwargs)
            raise

    return call


def _explain(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    import inspect

    known = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD) and p.name != "self"
    ]
    called = function.__qualname__.removesuffix(".__init__")
    owner, _, method = called.rpartition(".")
    if args and any(base.__qualname__ == owner for base in type(args[0]).__mro__):
        called = f"{type(args[0]).__name__}.{method}"  # not a base that nobody knows
    for name in kwargs:
        if name not in known:
            raise UnknownKeyword(
                f"{called.rpartition('<locals>.')[2]}() has no parameter {name!r}",
                hint=near(name, known),
            ) from None


class ListedSettings:
    """A class's signature in which ``**settings`` is spelt out, so that editors complete it.

    Examples
    --------
    >>> import inspect, robotlab_nb as rl
    >>> "temperature" in inspect.signature(rl.Robot).parameters
    True
    """

    def __get__(self, instance: object, owner: type) -> Any:
        import inspect

        from .fields import FIELDS

        own = inspect.signature(owner.__dict__["__init__"])
        listed = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD][1:]
        listed += [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
            for name in FIELDS
            if name not in own.parameters
        ]
        return inspect.Signature(listed)
