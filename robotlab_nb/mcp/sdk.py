"""The protocol's SDK: imported when it is first needed, and kept from talking to the screen.

Importing it takes most of a second, so a thread does it. Its loggers would write to the notebook
whatever goes wrong; what goes wrong is told by our errors.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["load_sdk", "load_validation", "root_logger_kept"]

_loaded = False
_validates = False


async def load_sdk() -> None:
    """Import the SDK without holding up the loop."""
    if not _loaded:
        await asyncio.to_thread(_load)


async def load_validation() -> None:
    """Import what checks results against their schemas, which takes more than a second."""
    if not _validates:
        await asyncio.to_thread(_load_validation)


def _load_validation() -> None:
    global _validates
    import jsonschema.validators  # noqa: F401

    _validates = True


def _load() -> None:
    global _loaded
    import mcp.types  # noqa: F401

    # A handler that does nothing: Python prints warnings of loggers that have none at all.
    for name in ("mcp", "client", "websockets", "httpx2"):
        logging.getLogger(name).addHandler(logging.NullHandler())
    _loaded = True


@contextlib.contextmanager
def root_logger_kept() -> Iterator[None]:
    """Undo what making one of the SDK's servers does to the process's root logger.

    Examples
    --------
    >>> with root_logger_kept():
    ...     logging.getLogger().setLevel("DEBUG")
    >>> logging.getLogger().level == logging.DEBUG
    False
    """
    root = logging.getLogger()
    before: tuple[int, list[Any]] = (root.level, list(root.handlers))
    try:
        yield
    finally:
        root.setLevel(before[0])
        root.handlers[:] = before[1]
