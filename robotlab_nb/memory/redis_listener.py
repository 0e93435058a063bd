"""Hearing of the changes of a memory in Redis: a thread that reads the memory's stream.

It begins where it is told and goes on where it was after the server was away. Changes are numbered,
so it knows, and says, how many it missed.
"""

from __future__ import annotations

import json
import threading
import weakref
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .changes import By, Entry, MemoryChange
from .exact_json import decoded
from .subscribers import missed_error

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Listener"]

#: milliseconds that the server holds a question for news
BLOCK_MS = 1_000
#: changes that are read at a time
BATCH = 100
#: seconds between two attempts to reach a server that is away: at first, and at most
FIRST_S, MOST_S = 0.1, 2.0


class Listener:
    """Reads one stream of changes until it is stopped, or forgotten.

    Parameters
    ----------
    client : redis.Redis
    stream : str
        The key of the stream.
    begin : str
        The id of the last entry that is not to be told.
    number : int
        The number of the last change that is not to be told.
    take : callable
        Called with each MemoryChange, in order.
    lost : callable
        Called with an error, as in events: what was missed, or why nothing can be heard.
    """

    def __init__(
        self,
        client: Any,
        stream: str,
        begin: str,
        number: int,
        take: Callable[[MemoryChange], None],
        lost: Callable[[dict[str, Any]], None],
    ) -> None:
        self.client = client
        self.stream = stream
        self.last = begin
        self.number = number
        self.take = take
        self.lost = lost
        self.stopped = threading.Event()
        self._away = False
        threading.Thread(
            target=_listen, args=(weakref.ref(self), self.stopped), name="robotlab_nb-redis",
            daemon=True,
        ).start()  # fmt: skip
        weakref.finalize(self, self.stopped.set)

    def stop(self) -> None:
        """Hear no more."""
        self.stopped.set()

    def read(self) -> float:
        """Read what is new, or wait a moment for it. Returns seconds to pause."""
        import redis

        try:
            found = self.client.xread({self.stream: self.last}, count=BATCH, block=BLOCK_MS)
        except redis.RedisError as error:
            if not self._away and not self.stopped.is_set():
                self._away = True
                said = f"the Redis server does not answer ({error}); changes are told when it does"
                self.lost({"type": "ConnectionError", "message": said})
            return FIRST_S
        self._away = False
        for _, entries in found or ():
            for id_, fields in entries:
                self.last = id_.decode("ascii")
                self._tell({name.decode("ascii"): value for name, value in fields.items()})
        return 0.0

    def _tell(self, fields: dict[str, bytes]) -> None:
        try:
            self._take(fields)
        except Exception as error:  # written by a later version, say
            self.lost(missed_error(f"a change that cannot be read here: {error}"))

    def _take(self, fields: dict[str, bytes]) -> None:
        number = int(fields["n"])
        if number > self.number + 1:
            missed = f"{number - self.number - 1:,} changes that the server did not keep so long"
            self.lost(missed_error(missed))
        self.number = number
        writer, network, correlation_id, at = json.loads(fields["by"])
        by = By(writer, network, correlation_id, datetime.fromisoformat(at))
        version = int(fields["version"])
        before, now = _entry(fields["before"], version), _entry(fields["now"], version)
        self.take(MemoryChange.of(fields["key"].decode("utf-8"), before, now, by))


def _entry(payload: bytes, version: int) -> Entry | None:
    if not payload:
        return None
    found = json.loads(payload)
    return Entry(decoded(found["v"]), version, frozenset(found["l"]))


def _listen(listener: weakref.ref[Listener], stopped: threading.Event) -> None:
    pause = 0.0
    while not stopped.wait(pause):
        reading = listener()
        if reading is None:
            return
        wanted = reading.read()
        pause = min(MOST_S, max(wanted, pause * 2)) if wanted else 0.0
        del reading
