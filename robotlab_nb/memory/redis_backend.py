"""A memory's values in Redis, shared by processes: exact types, one order of changes, no guessing.

Nothing is kept in this process instead when the server is away: every call then raises at once.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from ..core.errors import ConfigurationError, DependencyError
from .backends import ANY, MOST_KEPT, MemoryUnreachable
from .changes import By, Entry
from .exact_json import decoded, encoded
from .redis_listener import Listener
from .redis_scripts import DELETE, REPLACE, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .backends import _Any
    from .changes import MemoryChange

__all__ = ["RedisBackend"]

#: seconds for a connection, and for an answer
CONNECT_S, ANSWER_S = 2.0, 5.0
#: changes that the server keeps for processes that were away
MOST_CHANGES = 1_000


class RedisBackend:
    """Values in a Redis database, under a name of their own.

    Parameters
    ----------
    url : str
        ``redis://[user:password@]host:port/database``, ``rediss://…`` or ``unix://…``.
    name : str
        What all processes call the memory. Its keys in Redis begin with ``robotlab:{name}:``.

    Raises
    ------
    ConfigurationError
        Without a name, or for a URL that cannot be read.
    DependencyError
        When the package ``redis`` is not installed.
    MemoryUnreachable
        When the server does not answer.
    """

    shared = True

    def __init__(self, url: str, *, name: str | None = None) -> None:
        if not isinstance(name, str) or not name:
            raise ConfigurationError(
                "a memory in Redis needs a name, by which other processes find it",
                hint='For example create_memory(name="support", backend="redis://…").',
            )
        self.name = name
        self.url: str | None = _without_credentials(url)
        self._client = _client(url)
        self._scripts = {
            text: self._client.register_script(text) for text in (WRITE, DELETE, REPLACE)
        }
        self._listener: Listener | None = None
        self._asked(self._client.ping)

    def _key(self, part: str) -> str:
        # In braces: a cluster then keeps all of a memory in one place, as its scripts need.
        return f"robotlab:{{{self.name}}}:{part}"

    def _keys(self, area: str) -> list[str]:
        return [self._key(part) for part in (area, f"{area}:versions", "changes", "number")]

    def _asked(self, ask: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Ask the server; once more when the connection was an old one that had broken."""
        import redis

        try:
            try:
                return ask(*given, **named)
            except redis.ConnectionError:
                return ask(*given, **named)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise MemoryUnreachable(
                f"memory {self.name!r}: the Redis server at {self.url} does not answer ({error})",
                hint="Start it, or see whether the URL is right. Nothing is kept here instead.",
            ) from error
        except redis.RedisError as error:
            raise ConfigurationError(
                f"memory {self.name!r}: the Redis server at {self.url} refused: {error}"
            ) from error

    # -- values ----------------------------------------------------------------------------

    def read(self, area: str, names: Sequence[str]) -> dict[str, Entry]:
        """Those of some names that are there."""
        if not names:
            return {}
        values, versions, *_ = self._keys(area)

        def ask() -> Any:  # anew each time: a pipeline is empty once it was sent
            both = self._client.pipeline(transaction=True)
            return both.hmget(values, names).hmget(versions, names).execute()

        found = zip(names, *self._asked(ask), strict=True)
        return {
            name: _entry(payload, int(version or 1)) for name, payload, version in found if payload
        }

    def names(self, area: str) -> list[str]:
        """All names that are there, sorted."""
        return sorted(_text(name) for name in self._asked(self._client.hkeys, self._key(area)))

    def write(
        self,
        area: str,
        name: str,
        value: Any,
        labels: frozenset[str],
        by: By,
        expected: Entry | _Any | None = ANY,
    ) -> tuple[Entry | None, Entry] | None:
        """Write a value: what was there and what is. None if it was not what was expected."""
        payload = json.dumps(
            {"v": encoded(value, f"memory key {name!r}"), "l": sorted(labels),
             "id": os.urandom(6).hex(), "by": by.writer, "at": by.timestamp.isoformat()},
            separators=(",", ":"),
        )  # fmt: skip
        mode, token = "any", ""
        if expected is None:
            mode = "absent"
        elif isinstance(expected, Entry):
            mode, token = "same", expected.token
        done, *more = self._asked(
            self._scripts[WRITE],
            self._keys(area),
            [name, payload, mode, token, _by(by), MOST_CHANGES, int(area == "keys")],
        )
        if not done:
            return None
        version, before = more
        now = Entry(value, int(version), labels, payload, by.writer, by.timestamp)
        return (None if before is None else _entry(before, int(version) - 1)), now

    def delete(self, area: str, names: Iterable[str] | None, by: By) -> dict[str, Entry]:
        """Delete some names, or all with None: what was there."""
        wanted = self.names(area) if names is None else list(names)
        if not wanted:
            return {}
        gone = self._asked(
            self._scripts[DELETE],
            self._keys(area),
            [_by(by), MOST_CHANGES, int(area == "keys"), *wanted],
        )
        found = zip(gone[::3], gone[1::3], gone[2::3], strict=True)
        return {_text(name): _entry(payload, int(version)) for name, payload, version in found}

    # -- lists -----------------------------------------------------------------------------

    def push(self, which: str, values: Sequence[Any], *, anew: bool = False) -> None:
        """Add to a list; only its last 1,000 stay."""
        given = [json.dumps(encoded(value, f"one of the {which}")) for value in values]
        keys = [self._key(which), self._key(f"{which}:dropped")]
        self._asked(self._scripts[REPLACE], keys, [MOST_KEPT, int(anew), *given])

    def items(self, which: str) -> tuple[int, list[Any]]:
        """A list, and how many were before its first one."""

        def ask() -> Any:
            both = self._client.pipeline(transaction=True)
            return both.get(self._key(f"{which}:dropped")).lrange(self._key(which), 0, -1).execute()

        dropped, found = self._asked(ask)
        return int(dropped or 0), [decoded(json.loads(item)) for item in found]

    def replace(self, which: str, values: Sequence[Any]) -> None:
        """Put other values in place of a list's."""
        self.push(which, values, anew=True)

    # -- changes ---------------------------------------------------------------------------

    def listen(
        self, take: Callable[[MemoryChange], None], lost: Callable[[dict[str, Any]], None]
    ) -> None:
        """Tell of every change of ``keys`` from now on, in order, and of what went missing."""
        last = self._asked(self._client.xrevrange, self._key("changes"), count=1)
        begin = _text(last[0][0]) if last else "0-0"
        number = int(self._asked(self._client.get, self._key("number")) or 0)
        self._listener = Listener(self._client, self._key("changes"), begin, number, take, lost)

    def close(self) -> None:
        """Hear of no more changes, and close the connections; the next call opens new ones."""
        if self._listener is not None:
            self._listener.stop()
        self._client.close()

    def __repr__(self) -> str:
        return f"<RedisBackend {self.name!r} at {self.url}>"


def _client(url: str) -> Any:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise DependencyError(
            "a memory in Redis needs the package redis, which is not installed",
            hint="pip install 'robotlab-nb[redis]'",
        ) from error
    try:
        return redis.Redis.from_url(
            url,
            socket_connect_timeout=CONNECT_S,
            socket_timeout=ANSWER_S,
            # We ask again ourselves, once: the library would wait for seconds.
            retry=Retry(NoBackoff(), 0),
        )
    except ValueError as error:
        raise ConfigurationError(
            f"backend={_without_credentials(url)!r} is no URL of a Redis database: {error}",
            hint='For example backend="redis://127.0.0.1:6379/0".',
        ) from error


def _without_credentials(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _text(raw: Any) -> str:
    return raw.decode("utf-8") if isinstance(raw, bytes) else str(raw)


def _by(by: By) -> str:
    return json.dumps([by.writer, by.network, by.correlation_id, by.timestamp.isoformat()])


def _entry(payload: Any, version: int) -> Entry:
    text = _text(payload)
    found = json.loads(text)
    at = found.get("at")  # since it is kept
    when = datetime.fromisoformat(at) if isinstance(at, str) else None
    labels, writer = frozenset(found["l"]), str(found.get("by") or "")
    return Entry(decoded(found["v"]), version, labels, text, writer, when)
