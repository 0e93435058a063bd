"""What a magic finds in the notebook's variables: robots and networks by name, values for a text.

Knows no IPython: a namespace is a mapping.
"""

from __future__ import annotations

from inspect import isroutine
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from ..core.errors import ConfigurationError, InputError, near
from ..network.network import Network
from ..prompts.rendering import check_prompt, render
from ..robot.robot import Robot

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["Member", "checked_name", "filled", "member", "members"]

Member: TypeAlias = "Robot[Any] | Network"


def members(namespace: Mapping[str, Any]) -> dict[str, Member]:
    """The robots and networks among variables, by name, in order of definition.

    Parameters
    ----------
    namespace : mapping

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> list(members({"bot": rl.build("a"), "x": 1, "_": rl.build("b")}))
    ['bot']
    """
    return {
        name: thing
        for name, thing in list(namespace.items())
        if isinstance(thing, (Robot, Network)) and not name.startswith("_")
    }


def member(name: str, namespace: Mapping[str, Any], *, otherwise: str) -> Member:
    """The robot or network that a variable holds.

    Parameters
    ----------
    name : str
    namespace : mapping
    otherwise : str
        What to write for none in particular.

    Raises
    ------
    InputError
        When there is no such variable, with the near names, or it holds something else.
    """
    found = namespace.get(name)
    if isinstance(found, (Robot, Network)):
        return found
    known = members(namespace)
    if name in namespace:
        what = "is a class" if isinstance(found, type) else f"holds a {type(found).__name__}"
        problem = f"{name} {what}, which is neither a robot nor a network"
    else:
        problem = f"there is no robot {name!r}"
    listed = near(name, known) if known else f'Make one: {_made(name)} = rl.build("{_made(name)}").'
    raise InputError(problem, hint=f"{listed} {otherwise}")


def _made(name: str) -> str:
    return name if name.isidentifier() else "bot"


def checked_name(name: str | None, what: str) -> str:
    """A name under which something can be kept.

    Raises
    ------
    InputError
        When it is none.

    Examples
    --------
    >>> checked_name("answer", "-o")
    'answer'
    """
    from keyword import iskeyword

    if not name or not name.isidentifier() or iskeyword(name):
        raise InputError(f"{what} takes the name of a variable, not {name or ''!r}")
    return name


def filled(text: str, namespace: Mapping[str, Any], *, where: str, hidden: Collection[str]) -> str:
    """Fill ``{{ name }}`` of a message with the notebook's variables.

    Modules, functions, classes, robots and networks fill nothing: a text that was pasted should
    call none of them. What a value says is data and is not filled again.

    Parameters
    ----------
    text : str
    namespace : mapping
    where : str
        For errors.
    hidden : collection of str
        Names that are the shell's own.

    Raises
    ------
    InputError
        For broken Jinja and for a name without a value; it names the near ones.

    Examples
    --------
    >>> filled("Hello {{ who }}", {"who": "{{ x }}"}, where="%%robot", hidden=())
    'Hello {{ x }}'
    """
    if "{" not in text:
        return text
    wrong = check_prompt(text)
    if wrong is not None:
        raise InputError(
            f"{where}: {wrong}", hint="--literal sends the text as it is, braces and all."
        )
    values = {
        name: thing
        for name, thing in list(namespace.items())
        if name not in hidden and _is_value(name, thing)
    }
    try:
        return render(text, values, where=where)
    except ConfigurationError as error:
        raise InputError(error.message, hint=_why_not(error, namespace) or error.hint) from None


def _is_value(name: str, thing: Any) -> bool:
    if name.startswith("_") and not (name == "_" or name[1:].isdigit()):
        return False
    kinds = (ModuleType, type, Robot, Network)
    return not (isinstance(thing, kinds) or isroutine(thing))


def _why_not(error: ConfigurationError, namespace: Mapping[str, Any]) -> str | None:
    """What to do where the name is there and fills nothing."""
    absent = error.message.partition("'")[2].partition("'")[0]
    if "is undefined" not in error.message or absent not in namespace:
        return None
    kind = type(namespace[absent]).__name__
    return f"{absent} is a {kind}. Give its result a name of its own, and write that."
