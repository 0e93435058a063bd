"""The pictures of settings: each value, and the level that set it; the weakest step back.

Keys are never shown. Knows mappings of settings, not who they are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import FIELDS
from ..core.config import plain as plain_setting
from .amounts import count
from .escape import one_line
from .json_text import masked, value_line
from .parts import Fold, Head, Para, Picture, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.config import Effective, Options, RunConfig
    from .parts import Block, Line

__all__ = ["config", "effective", "options", "setting_value"]

#: levels of one robot or network, weakest first; files, environment and options are below them
_STRENGTH = ("network", "skill", "template", "config", "robot", "task", "run")


def setting_value(name: str, value: Any) -> str:
    """A setting's value on one line; no limit where None means that.

    Parameters
    ----------
    name : str
    value : object
    """
    shown = masked(name, plain_setting(name, value))
    if shown is None:
        return "none"
    return one_line(shown, 200) if isinstance(shown, str) else value_line(shown, 200)


def config(thing: RunConfig) -> Picture:
    """The picture of a sparse set of settings.

    Parameters
    ----------
    thing : RunConfig
    """

    def blocks() -> Iterable[Block]:
        yield Head(("RunConfig",), "settings", (f"{len(thing):,} set",))
        if thing:
            rows = tuple(_row(name, value, _meaning(name)) for name, value in thing.items())
            yield Table(("setting", "value", "meaning"), rows)
        else:
            yield Para((quiet("nothing is set: what other levels say holds"),))

    return Picture(part("settings", blocks), framed=True)


def effective(thing: Effective) -> Picture:
    """The picture of what is in force: the strongest level first, defaults in a fold.

    Parameters
    ----------
    thing : Effective
    """

    def blocks() -> Iterable[Block]:
        found = [(name, each.value, each.origin) for name, each in thing.items()]
        placed = [each for each in found if each[2] != "default"]
        placed.sort(key=lambda each: (-_strength(each[2]), each[0]))
        about = dots(f"{len(placed):,} set", f"{len(found) - len(placed):,} by default")
        yield Head(("effective_config",), "settings", about)
        yield from _placed(placed)
        yield from _defaults([each for each in found if each[2] == "default"])

    return Picture(part("settings", blocks), framed=True)


def options(thing: Options) -> Picture:
    """The picture of the process's options, files and environment included.

    Parameters
    ----------
    thing : Options
    """

    def blocks() -> Iterable[Block]:
        found: dict[str, tuple[Any, str]] = {}
        for origin, level in thing.levels():
            found.update({name: (value, origin) for name, value in level.items()})
        about = dots(f"{len(found):,} set", "for all that runs in this process")
        yield Head(("options",), "settings", about)
        yield from _placed([(name, *each) for name, each in sorted(found.items())], dim=False)
        ways = dots(code("rl.options.temperature = 0"), code("with rl.options(…):"))
        yield Para(ways, quiet=True)
        left = [(n, field.default, "default") for n, field in FIELDS.items() if n not in found]
        yield from _defaults(left)

    return Picture(part("settings", blocks), framed=True)


def _strength(origin: str) -> int:
    """How near a level is to the run; 0 for what holds in the whole process."""
    name = origin.partition(":")[0]
    return _STRENGTH.index(name) + 1 if name in _STRENGTH else 0


def _placed(found: list[tuple[str, Any, str]], *, dim: bool = True) -> Iterable[Block]:
    if not found:
        yield Para((quiet("nothing is set: the defaults hold"),))
        return
    rows = []
    for name, value, origin in found:
        row = _row(name, value, one_line(origin, 120))
        rows.append(_dimmed(row) if dim and not _strength(origin) else row)
    yield Table(("setting", "value", "from"), tuple(rows))


def _defaults(found: list[tuple[str, Any, str]]) -> Iterable[Block]:
    if found:
        rows = tuple(_dimmed(_row(name, value, _meaning(name))) for name, value, _ in found)
        fold = Table(("setting", "value", "meaning"), rows)
        yield Fold(("Defaults",), (fold,), count(len(found), "setting"))


def _row(name: str, value: Any, beside: str) -> tuple[Line, ...]:
    return (one_line(name, 64),), (setting_value(name, value),), (beside,)


def _dimmed(row: tuple[Line, ...]) -> tuple[Line, ...]:
    return tuple((quiet("".join(x if isinstance(x, str) else x.text for x in c)),) for c in row)


def _meaning(name: str) -> str:
    field = FIELDS.get(name)
    return field.doc if field is not None else ""
