"""What a person presses and types in a log browser, as new wishes; nonsense is passed over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..runlog.paging import SORTS
from .browser_wishes import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .browser_found import Found
    from .browser_wishes import Wishes

__all__ = ["heard_wish"]

#: characters that may be typed as a condition
_TYPED = 200


def heard_wish(
    wishes: Wishes,
    said: Mapping[str, Any],
    found: Found,
    meant: Callable[[Any], tuple[str, str | None] | None],
) -> Wishes | None:
    """The wishes after what a front end said; None where it is about something else.

    Parameters
    ----------
    wishes : Wishes
        As they are.
    said : mapping
        ``pick`` or ``drop``: the number of a value; ``words, since, until``: texts; ``sort``;
        ``inside``; ``page``: ``next, prev`` or ``first``; ``clear``.
    found : Found
        What was read for them.
    meant : callable
        The condition and the value that a number stands for.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from robotlab_nb.widgets.browser_wishes import Wishes
    >>> heard_wish(Wishes(rl.log), {"since": "7d"}, None, None).code
    "rl.log.where(since='7d')"
    """
    for name in TEXTS:
        if isinstance(said.get(name), str):
            typed = said[name][:_TYPED].encode("utf-8", "ignore").decode()
            return wishes.changed(**{name: typed})
    for name in ("pick", "drop"):
        value = meant(said[name]) if name in said else None
        if value is not None:
            return wishes.picked(*value) if name == "pick" else wishes.dropped(*value)
    if said.get("sort") in SORTS:
        same = said["sort"] == wishes.sort
        return wishes.changed(sort=said["sort"], falling=not (same and wishes.falling))
    if isinstance(said.get("inside"), bool):
        return wishes.changed(inside=said["inside"])
    if "page" in said:
        return _turned(wishes, said["page"], found)
    return wishes.cleared() if "clear" in said else None


def _turned(wishes: Wishes, where: Any, found: Found) -> Wishes:
    starts = wishes.starts
    if where == "next" and found.following is not None and found.following != starts[-1]:
        return replace(wishes, starts=(*starts, found.following))
    if where == "prev" and len(starts) > 1:
        return replace(wishes, starts=starts[:-1])
    return wishes.changed() if where == "first" else wishes
