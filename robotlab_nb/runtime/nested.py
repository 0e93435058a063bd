"""Nested event loops for other people's code, when a person asks for them.

robotlab_nb needs none: its runs work in cells with nothing patched. But code that calls
``asyncio.run`` in a cell fails there, and for that a patch of asyncio can be applied.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, version

from ..core.errors import ConfigurationError

__all__ = ["enable_nested_loops"]

#: the first release of nest_asyncio2 under which queued cells are not lost
SAFE = (1, 7, 4)


def enable_nested_loops() -> str:
    """Patch asyncio so that ``asyncio.run`` works inside a running loop, for the whole process.

    Only for code that is not ours. Under such a patch, Stop does not cancel what runs, and widget
    clicks are lost while a cell waits.

    Returns
    -------
    str
        Which package did it, with its version.

    Raises
    ------
    ConfigurationError
        Where it is known to lose cells or to break asyncio; the message says why.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.enable_nested_loops()  # doctest: +SKIP
    'nest_asyncio2 1.7.4'
    """
    _refuse_uvloop()
    better = _release("nest-asyncio2")
    if better is not None and better >= SAFE:
        import nest_asyncio2

        nest_asyncio2.apply()
        return f"nest_asyncio2 {version('nest-asyncio2')}"
    why = _why_not_the_first()
    if why is not None:
        raise ConfigurationError(
            f"nested loops are not safe here: {why}",
            hint="pip install 'nest-asyncio2>=1.7.4', or run that code in a thread.",
        )
    import nest_asyncio

    nest_asyncio.apply()
    return f"nest_asyncio {version('nest-asyncio')}"


def _release(package: str) -> tuple[int, ...] | None:
    try:
        found = version(package)
    except PackageNotFoundError:
        return None
    return tuple(int(part) for part in found.split(".")[:3] if part.isdigit())


def _why_not_the_first() -> str | None:
    """Why nest_asyncio, whose last release is of 2024, cannot be used; None where it can."""
    if _release("nest-asyncio") is None:
        return "neither nest_asyncio2 nor nest_asyncio is installed"
    if sys.version_info >= (3, 14):
        return "nest_asyncio breaks asyncio.timeout and anyio on Python 3.14"
    kernel = _release("ipykernel")
    if kernel is not None and kernel >= (7,):
        return "nest_asyncio loses cells that are queued behind a running one on ipykernel 7"
    return None


def _refuse_uvloop() -> None:
    import asyncio

    running = asyncio._get_running_loop()
    if running is not None and type(running).__module__.partition(".")[0] == "uvloop":
        raise ConfigurationError(
            "the running loop is uvloop's, which cannot be patched",
            hint="Run that code in a thread of its own.",
        )
