"""Which tools a robot has at a level: what ``tools=`` means, the same everywhere.

Left out: what the level above gives. A list: exactly that. Nothing here calls or connects.
"""

from __future__ import annotations

import fnmatch
import warnings
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolNotFoundError, near
from .decorator import as_tool
from .manifest import ToolManifest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .definition import Tool

__all__ = ["cap", "draws_from_above", "select"]

_WORDS = ("none", "inherit")


def select(value: Any, above: ToolManifest, elsewhere: list[str] | None = None) -> ToolManifest:
    """The tools that a ``tools=`` value leaves.

    Parameters
    ----------
    value : list or None
        None (left out) takes all from above. In a list, functions and tools attach; names and
        globs (``"get_*"``) and classes of tools that are there select from above; ``...`` stands
        for all from above; ``[]`` is none.
    above : ToolManifest
        What the level above gives.
    elsewhere : list, optional
        Where there are tools that are not known yet, on servers: names and globs that may mean
        some of these are added to it.

    Returns
    -------
    ToolManifest
        In the order of the list.

    Raises
    ------
    ToolNotFoundError
        When a name is not known above; it lists the known ones.
    ConfigurationError
        When the value is no list, holds one of the words ``"none"`` and ``"inherit"``, or two
        tools share a name.

    Warns
    -----
    UserWarning
        When a glob matches nothing.

    Examples
    --------
    >>> def get_time() -> str: ...
    >>> def get_date() -> str: ...
    >>> above = select([get_time, get_date], ToolManifest())
    >>> select(["get_d*"], above).names
    ('get_date',)
    >>> select([], above).names, select(None, above).names
    ((), ('get_time', 'get_date'))
    """
    if value is None:
        return above
    if isinstance(value, ToolManifest):
        return value
    found: list[Tool] = []
    for item in _items(value):
        found.extend(_selected(item, above, elsewhere))
    return ToolManifest(found)


def draws_from_above(value: Any) -> bool:
    """Whether a ``tools=`` value can select anything from the level above.

    When it cannot, nothing above (a tool server, say) needs to be asked.

    Examples
    --------
    >>> draws_from_above(None), draws_from_above([...]), draws_from_above([])
    (True, True, False)
    """
    if value is None:
        return True
    if isinstance(value, ToolManifest):
        return False
    return any(i is Ellipsis or isinstance(i, (str, type)) for i in _items(value))


def _items(value: Any) -> list[Any] | tuple[Any, ...]:
    if isinstance(value, (list, tuple)):
        return value
    if isinstance(value, str) and value.lower() in _WORDS:
        raise _no_word(value)
    if value is Ellipsis:
        raise ConfigurationError("tools=... is no list", hint="Write tools=[...], or leave it out.")
    raise ConfigurationError(
        f"tools={value!r:.80} is no list", hint="Put it in brackets: tools=[…]; [] for none."
    )


def _no_word(word: str) -> ConfigurationError:
    return ConfigurationError(
        f"tools={word!r} has no meaning",
        hint="tools=[] means none; leave tools= out, or put ... into the list, "
        "for all from the level above.",
    )


def _selected(item: Any, above: ToolManifest, elsewhere: list[str] | None) -> list[Tool]:
    if item is Ellipsis:
        return list(above)
    if isinstance(item, str):
        return _by_name(item, above, elsewhere)
    if isinstance(item, type):
        # A class stands for the object made of it above; there should not be a second one.
        return [one for one in above if type(one) is item] or [as_tool(item)]
    return [as_tool(item)]


def _by_name(name: str, above: ToolManifest, elsewhere: list[str] | None) -> list[Tool]:
    known = above.get(name)
    if known is not None:
        return [known]
    if any(c in name for c in "*?["):
        found = [one for one in above if fnmatch.fnmatchcase(one.name, name)]
        if elsewhere is not None:
            elsewhere.append(name)
        elif not found:
            listed = ", ".join(map(repr, above.names)) or "none"
            warnings.warn(f"no tool matches {name!r}; known: {listed}", stacklevel=4)
        return found
    if name.lower() in _WORDS:
        raise _no_word(name)
    if elsewhere is not None:
        elsewhere.append(name)
        return []
    hint = near(name, above.names)
    if above.names and "Known" not in hint:
        hint += f" Known: {', '.join(map(repr, above.names))}."
    raise ToolNotFoundError(f"there is no tool {name!r} to select", hint=hint)


def cap(
    tools: ToolManifest,
    max_tools: int | None,
    strategy: Callable[[ToolManifest, int], Iterable[Tool]] | None = None,
) -> ToolManifest:
    """Keep a number of tools at most: providers refuse requests with too many.

    Parameters
    ----------
    tools : ToolManifest
    max_tools : int or None
        None for no cap.
    strategy : callable, optional
        Given the tools and the number, returns those to keep. The default keeps the first.

    Returns
    -------
    ToolManifest
        The tools kept, in their order.

    Raises
    ------
    ConfigurationError
        When ``max_tools`` is below 1.

    Warns
    -----
    UserWarning
        When tools are dropped; it names them.

    Examples
    --------
    >>> def one(): ...
    >>> cap(select([one], ToolManifest()), 128).names
    ('one',)
    """
    if max_tools is None or len(tools) <= max_tools:
        return tools
    if max_tools < 1:
        raise ConfigurationError(
            f"max_tools={max_tools} is no cap", hint="None means no cap; tools=[] means no tools."
        )
    chosen = list(tools) if strategy is None else list(strategy(tools, max_tools))
    keep = {one.name for one in chosen[:max_tools]}
    dropped = ", ".join(name for name in tools.names if name not in keep)
    warnings.warn(
        f"{len(tools)} tools, and max_tools is {max_tools}; not offered: {dropped}", stacklevel=3
    )
    return ToolManifest(one for one in tools if one.name in keep)
