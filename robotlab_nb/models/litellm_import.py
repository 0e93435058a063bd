"""Importing litellm late, off the event loop, and without what it does to the rest of the process.

The import takes seconds. On the way litellm reads ``.env`` files, asks the network for prices,
adds log handlers and silences warnings for everybody; none of that is meant to happen because
somebody wrote a model's name. Knows no model and no request.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any

from ..core.errors import DependencyError

if TYPE_CHECKING:
    import asyncio

__all__ = ["litellm", "warm"]

#: set while litellm is imported, unless they are set already: prices from its own file, no .env
_ENVIRONMENT = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}
#: other people's loggers whose level it sets
_LOGGERS = ("httpx", "apscheduler.executors.default", "apscheduler.scheduler")

_lock = threading.Lock()
_module: Any = None
_error: BaseException | None = None
_thread: threading.Thread | None = None
_waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []


def warm() -> None:
    """Start the import on a daemon thread, unless it is done or under way."""
    global _thread, _error
    with _lock:
        # A thread that is gone without a result was left behind by a fork.
        idle = _thread is None or not _thread.is_alive() or _error is not None
        if _module is None and idle:
            _error = None
            _thread = threading.Thread(target=_run, name="robotlab_nb-litellm", daemon=True)
            _thread.start()


async def litellm() -> Any:
    """The module, imported when it is not yet.

    Raises
    ------
    DependencyError
        When it is not installed, or cannot be imported.
    """
    import asyncio

    if _module is None:
        warm()
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()
        with _lock:
            pending = _module is None and _error is None
            if pending:
                _waiting.append((loop, done))
        if pending:
            await done
        if _module is None:
            raise DependencyError(
                f"litellm cannot be imported: {type(_error).__name__}: {_error}",
                hint="Install it with `pip install litellm`, or use a model that needs it not.",
            ) from _error
    return _module


def _run() -> None:
    global _module, _error
    found: Any = None
    failed: BaseException | None = None
    try:
        found = _import()
    except BaseException as error:
        failed = error
    with _lock:
        _module, _error = found, failed
        waiting = _waiting[:]
        _waiting.clear()
    for loop, future in waiting:
        try:
            loop.call_soon_threadsafe(_settle, future)
        except RuntimeError:
            pass  # that loop is closed: nobody waits any more


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def _import() -> Any:
    ours = "litellm" not in sys.modules
    kept = {name: os.environ.get(name) for name in _ENVIRONMENT}
    levels = {name: logging.getLogger(name).level for name in _LOGGERS}
    filters = list(warnings.filters)
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import litellm as module
    finally:
        for name, before in kept.items():
            if before is None and os.environ.get(name) == _ENVIRONMENT[name]:
                del os.environ[name]
    # It prints advice to stdout with every error, wherever it was first imported.
    module.suppress_debug_info = True
    if ours:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        _unsilence(filters)
        if "LITELLM_LOG" not in os.environ:
            _quiet()
        # It would ask the hub for tokenizers, only to estimate counts that we do not take.
        module.disable_hf_tokenizer_download = True
    return module


def _unsilence(before: list[Any]) -> None:
    """Take out the new filters that hide other people's warnings, by their words."""
    for entry in list(warnings.filters):
        # Its own types raise the one about ReadOnly by the dozen, whenever they are looked at.
        its_own = "ReadOnly" in getattr(entry[1], "pattern", "")
        if entry[:3:2] == ("ignore", Warning) and entry not in before and not its_own:
            warnings.filters.remove(entry)  # type: ignore[attr-defined]


def _quiet() -> None:
    """Have litellm's own loggers say nothing."""
    for name, logger in list(logging.root.manager.loggerDict.items()):
        if name.lower().startswith("litellm") and isinstance(logger, logging.Logger):
            for handler in list(logger.handlers):
                logger.removeHandler(handler)
            logger.addHandler(logging.NullHandler())
            logger.propagate = False
