"""A request that a test server received, and reading it from the bytes of a connection."""

from __future__ import annotations

import json
import threading
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EXPECTS", "Recorded", "parse"]

#: Seconds to wait for a reply to be sent.
_PATIENCE = 10.0


#: A request whose client waits to be told that it may send the body.
EXPECTS = object()


class Recorded:
    """A request that a server received.

    Attributes
    ----------
    method, path : str
    headers : dict of str to str
        Names in lower case.
    body : JSON
        None when it was not JSON.
    raw : bytes
    arrived : float
        When it was complete, in seconds of the monotonic clock.
    finished : bool
        Whether the whole reply was sent.
    disconnected_at : float or None
        When the client went away before that, in seconds of the monotonic clock.
    """

    def __init__(self, method: str, path: str, headers: dict[str, str], raw: bytes) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.raw = raw
        self.body: Any = None
        try:
            self.body = json.loads(raw)
        except (ValueError, RecursionError):
            pass
        self.arrived = monotonic()
        self.finished = False
        self.disconnected_at: float | None = None
        self._settled = threading.Event()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages of the request's body."""
        return list(self.body["messages"])

    @property
    def streaming(self) -> bool:
        """Whether a stream was asked for."""
        return isinstance(self.body, dict) and bool(self.body.get("stream"))

    def wait(self, timeout: float = _PATIENCE) -> bool:
        """Block until the reply is sent or the client has gone.

        Parameters
        ----------
        timeout : float, optional
            Seconds.

        Returns
        -------
        bool
            False when neither happened in time.
        """
        return self._settled.wait(timeout)

    def settle(self, finished: bool) -> None:
        """Note how it ended: the reply was sent, or the client went away before that."""
        if not self._settled.is_set():
            if finished:
                self.finished = True
            else:
                self.disconnected_at = monotonic()
            self._settled.set()

    def __repr__(self) -> str:
        return f"<Recorded {self.method} {self.path}, {len(self.raw)} bytes>"


def parse(received: bytearray) -> Recorded | object | None:
    r"""Take a request out of the bytes received.

    Parameters
    ----------
    received : bytearray
        What came over the connection; the request's bytes are removed.

    Returns
    -------
    Recorded or None
        None when the request is not complete; ``EXPECTS`` when its client waits for leave to send
        the rest.

    Examples
    --------
    >>> parse(bytearray(b"GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n"))
    <Recorded GET /v1/models, 0 bytes>
    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    first, *rest = received[:end].decode("latin-1").split("\r\n")
    headers = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = _body(received, end + 4, headers)
    if body is None:
        if headers.get("expect", "").lower() == "100-continue" and len(received) == end + 4:
            return EXPECTS
        return None
    raw, after = body
    del received[:after]
    method, path, *_ = (*first.split(" "), "", "")
    return Recorded(method, path.partition("?")[0], headers, raw)


def _body(received: bytearray, start: int, headers: Mapping[str, str]) -> tuple[bytes, int] | None:
    """The body that starts at an offset and where it ends; None when it is not complete."""
    if "chunked" not in headers.get("transfer-encoding", "").lower():
        end = start + int(headers.get("content-length") or 0)
        return (bytes(received[start:end]), end) if len(received) >= end else None
    parts: list[bytes] = []
    while True:
        line = received.find(b"\r\n", start)
        if line < 0:
            return None
        size = int(received[start:line].split(b";")[0], 16)
        start = line + 2
        if len(received) < start + size + 2:
            return None
        if size == 0:
            return b"".join(parts), start + 2
        parts.append(bytes(received[start : start + size]))
        start += size + 2
