"""Weights that are loaded in this process, each once, and a door to them on loopback.

The runtime (llama.cpp, through ``xllamacpp``) generates on threads of its own, outside of
Python's lock. It is asked through the OpenAI-compatible door that it opens on 127.0.0.1, behind a
key that only this process knows: a connection that is closed stops what is being generated, also
while a long prompt is still read.
"""

from __future__ import annotations

import atexit
import os
import secrets
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ModelError
from .direct import DirectModel

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Loaded", "Wanted", "default_threads", "load", "unload"]

#: tokens of a prompt that are read at a time: Stop is heard in between
_BATCH = 128
#: megabytes of prompts that the runtime may keep to go on from
_KEPT_PROMPTS_MIB = 64


class Wanted(NamedTuple):
    """What is to be loaded, and how it is to run."""

    path: Path
    #: of the processor
    threads: int
    #: tokens, of prompt and answer together
    context: int
    #: answers at the same time
    slots: int


class Loaded:
    """Weights that are loaded.

    Attributes
    ----------
    model : DirectModel
        Asks them.
    users : set of int
        Who uses them, by identity.
    """

    __slots__ = ("_server", "model", "users")

    def __init__(self, wanted: Wanted, name: str) -> None:
        key = secrets.token_hex(16)
        self._server = _served(wanted, name, key)
        self.model = DirectModel(
            name, provider="local", api_base=f"{self._server.listening_address}/v1", api_key=key
        )
        self.users: set[int] = set()

    def close(self) -> None:
        """Stop the runtime's threads and free the memory."""
        self._server = None


_loaded: dict[Wanted, Loaded] = {}
_lock = threading.Lock()
#: of a parent process: never freed here, since freeing would wait for threads of the parent
_inherited: list[Loaded] = []


def default_threads() -> int:
    """Half of the processors: with all of them, anything else that runs slows it down manyfold."""
    return max(1, (os.cpu_count() or 2) // 2)


def load(wanted: Wanted, name: str, user: object) -> Loaded:
    """Load weights, unless they are; it takes seconds and is not for an event loop.

    Parameters
    ----------
    wanted : Wanted
    name : str
        What the model is called.
    user : object
        Who uses them; they stay as long as :func:`unload` was not called by all users.

    Raises
    ------
    ModelError
        When the runtime cannot load them.
    """
    with _lock:
        found = _loaded.get(wanted)
        if found is None:
            found = _loaded[wanted] = Loaded(wanted, name)
        found.users.add(id(user))
        return found


def unload(wanted: Wanted, user: object) -> None:
    """Say that a user needs them no longer; without users they leave the memory."""
    with _lock:
        found = _loaded.get(wanted)
        if found is None:
            return
        found.users.discard(id(user))
        if not found.users:
            del _loaded[wanted]
            found.close()


def _served(wanted: Wanted, name: str, key: str) -> Any:
    """The runtime's server, with the weights in memory."""
    import xllamacpp

    told = xllamacpp.CommonParams()
    told.model.path = str(wanted.path)
    told.model_alias = {name}
    told.n_ctx = wanted.context * wanted.slots
    told.n_parallel = wanted.slots
    told.n_batch = told.n_ubatch = _BATCH
    told.cpuparams.n_threads = told.cpuparams_batch.n_threads = wanted.threads
    told.cache_ram_mib = _KEPT_PROMPTS_MIB
    told.hostnames = ["127.0.0.1"]
    told.api_keys = [key]
    told.endpoint_slots = told.ui = told.warmup = False
    told.verbosity = -1  # its own log would be printed into the cell
    try:
        return xllamacpp.Server(told)
    except Exception as error:
        raise ModelError(
            f"local/{name} could not be loaded: {error}",
            hint=f"Is {wanted.path} whole, of a kind that xllamacpp knows, and is there memory?",
            retryable=False, kind="bad_request",
        ) from error  # fmt: skip


def _after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _inherited.extend(_loaded.values())
    _loaded.clear()


@atexit.register
def _unload_all() -> None:
    with _lock:
        for found in _loaded.values():
            found.close()
        _loaded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
