"""The picture of what is registered around runs and calls: which handler acts at which point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import count, seconds
from .escape import one_line
from .parts import Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..runtime.hook_handlers import Registration
    from ..runtime.hook_registry import Hooks
    from .parts import Block

__all__ = ["handler", "hooks"]

_ROWS = 60


def hooks(thing: Hooks) -> Picture:
    """The picture of the registry.

    Parameters
    ----------
    thing : Hooks
    """

    def blocks() -> Iterable[Block]:
        found = thing.registrations
        yield Head(("hooks",), "registry", (count(len(found), "handler"),))
        yield from _table(found)
        if not found:
            yield Para((quiet("no handlers: nothing is called around runs and calls"),))
        add = dots(code("@rl.hooks.add"), code("rl.hooks.remove(…)"), code("with rl.hooks(…):"))
        yield Para(add, quiet=True)

    return Picture(part("handlers", blocks), framed=True)


def handler(thing: Registration) -> Picture:
    """The picture of one handler as it is registered.

    Parameters
    ----------
    thing : Registration
    """

    def blocks() -> Iterable[Block]:
        points = count(len(thing.hooks), "point")
        yield Head((one_line(thing.name, 120),), "handler", (points,))
        yield from _table((thing,))

    return Picture(part("handler", blocks), framed=True)


def _table(found: Sequence[Registration]) -> Iterable[Block]:
    rows = [
        (
            (one_line(each.name, 80),),
            (code(one_line(hook.point, 60)),),
            ("async" if hook.is_async else "in a thread",),
            (seconds(hook.seconds, limit=True) or "no limit",),
        )
        for each in found
        for hook in each.hooks
    ]
    if rows:
        yield Table(("handler", "point", "runs", "at most"), tuple(rows[:_ROWS]), frozenset({3}))
    if len(rows) > _ROWS:
        yield Para((quiet(f"… {len(rows) - _ROWS:,} more points"),))
