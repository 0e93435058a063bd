"""A model server for measurements: fast, on the loopback, in a process of its own.

The model's name says what it answers: ``answer`` (the word ok), ``tools-N`` (N rounds of calls of
the first tool, then the word done) or ``chunks-N`` (N words, one a chunk when streamed); a last
part like ``-50ms`` makes it wait. ``python -m tests.benchmarks.server`` prints the port.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType

__all__ = ["Script", "Server", "words"]

REPOSITORY = Path(__file__).resolve().parent.parent.parent
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
#: bytes of a stream that are sent as one chunk of the transfer
BLOCK = 16_384


class Script(NamedTuple):
    """What a model of some name does.

    Examples
    --------
    >>> Script.of("tools-2-50ms")
    Script(kind='tools', number=2, wait=0.05)
    """

    kind: str
    number: int
    wait: float

    @classmethod
    def of(cls, name: str) -> Script:
        """Read a model's name."""
        kind, *rest = name.rpartition("/")[2].split("-")
        waits = [float(part[:-2]) / 1000 for part in rest if part.endswith("ms")]
        numbers = [int(part) for part in rest if part.isdigit()]
        return cls(kind, numbers[0] if numbers else 0, waits[0] if waits else 0.0)


def words(count: int) -> Iterator[str]:
    """The words of a long answer.

    Examples
    --------
    >>> list(words(2))
    ['w0 ', 'w1 ']
    """
    return (f"w{i} " for i in range(count))


def _message(body: dict[str, Any], script: Script) -> dict[str, Any]:
    rounds = sum(message["role"] == "tool" for message in body["messages"])
    if script.kind == "tools" and rounds < script.number:
        function = {"name": body["tools"][0]["function"]["name"], "arguments": '{"a": 1, "b": 2}'}
        call = {"id": f"call_{rounds}", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    long = "".join(words(script.number)) if script.kind == "chunks" else None
    return {"role": "assistant", "content": long or ("done" if rounds else "ok")}


def _whole(body: dict[str, Any], script: Script) -> bytes:
    message = _message(body, script)
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"]}
    payload = json.dumps({**answer, "choices": [choice], "usage": USAGE}).encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {len(payload)}"
    return head.encode() + b"\r\n\r\n" + payload


@lru_cache
def _streamed(model: str) -> bytes:
    """A whole response that streams, made once: what is measured is who reads it."""
    answer = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": model}
    script = Script.of(model)
    pieces = words(script.number) if script.kind == "chunks" else iter(["ok"])

    def event(delta: dict[str, Any], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return b"data: " + json.dumps({**answer, "choices": [choice]}).encode() + b"\n\n"

    events = [event({"role": "assistant", "content": ""})]
    events += [event({"content": piece}) for piece in pieces]
    events += [event({}, "stop"), b"data: [DONE]\n\n"]
    whole = b"".join(events)
    out = [b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"]
    for start in range(0, len(whole), BLOCK):
        block = whole[start : start + BLOCK]
        out.append(b"\r\n%x\r\n%b" % (len(block), block))
    return b"".join([*out, b"\r\n0\r\n\r\n"])


class _Connection(asyncio.Protocol):
    """One client: requests in, answers out, one at a time."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.left = b""

    def data_received(self, data: bytes) -> None:
        self.left += data
        while True:
            head, found, rest = self.left.partition(b"\r\n\r\n")
            if not found:
                return
            lower = head.lower()
            at = lower.find(b"\r\ncontent-length:")
            length = int(lower[at + 17 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(rest) < length:
                return
            self.left = rest[length:]
            self._answer(json.loads(rest[:length]))

    def _answer(self, body: dict[str, Any]) -> None:
        script = Script.of(body["model"])
        said = _streamed(body["model"]) if body.get("stream") else _whole(body, script)
        if script.wait:
            asyncio.get_running_loop().call_later(script.wait, self.transport.write, said)
        else:
            self.transport.write(said)


async def _serve() -> None:
    listening = await asyncio.get_running_loop().create_server(
        _Connection, "127.0.0.1", 0, backlog=1024
    )
    print(listening.sockets[0].getsockname()[1], flush=True)
    await listening.serve_forever()


class Server:
    """The server in a process of its own, while a ``with`` block lasts.

    Attributes
    ----------
    url : str
        Base URL, for ``api_base=``.
    """

    def __enter__(self) -> Server:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.server"],
            cwd=REPOSITORY,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.terminate()
        self._process.communicate()


if __name__ == "__main__":
    asyncio.run(_serve())
