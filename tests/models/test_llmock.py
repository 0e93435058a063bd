"""Another project's server breaks our calls in its own ways, and grades how we took it.

It runs beside us in a process of its own, from wherever ``llmock`` is installed: on the path, in
this environment, or where ROBOTLAB_NB_TEST_LLMOCK says.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.models import accounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FAST = {"retry_interval": 0.05, "retry_jitter": 0.2}


class Judge:
    """The server, driven over HTTP."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def call(self, path: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self.url + path, data, {"content-type": "application/json"}, method=method
        )
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return json.load(answer)

    def behave(self, *behaviors: dict[str, Any]) -> None:
        self.call("/_llmock/reset", {})
        self.call("/_llmock/scenario", {"behaviors": behaviors})

    def bot(self, **config: Any) -> rl.Robot[Any]:
        return rl.build(
            "b", model="openai/m", api_base=f"{self.url}/v1", api_key="k", config={**FAST, **config}
        )

    def assert_resilient(self, requests: int) -> None:
        verdict = self.call("/_llmock/verdict")
        assert verdict["attempts"] == requests, verdict
        assert verdict["faults_injected"] > 0
        assert verdict["findings"] == [], verdict


@pytest.fixture(scope="module")
def serving() -> Iterator[Judge | None]:
    beside = shutil.which("llmock", path=str(Path(sys.executable).parent))
    command = os.environ.get("ROBOTLAB_NB_TEST_LLMOCK") or beside or shutil.which("llmock")
    if command is None:
        yield None
        return
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # Paced like a real model: a stream that is sent at once is over before we can hang up, and
    # hanging up is what is graded.
    server = subprocess.Popen(
        [command, "serve", "--port", str(port), "--stream-chunk-delay-ms", "20"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert server.poll() is None
                assert time.monotonic() < until, "llmock did not start"
                time.sleep(0.05)
        yield Judge(port)
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
def judge(serving: Judge | None, require: Callable[[str, object, str], None]) -> Judge:
    require("llmock", serving, "llmock is not installed")
    assert serving is not None
    accounts.forget_limits()
    return serving


Listen = pytest.mark.parametrize("listen", [None, lambda text: None], ids=["whole", "streamed"])


@Listen
@pytest.mark.parametrize("wait", [0.5, 1])
def test_retry_after_is_obeyed(judge: Judge, wait: float, listen: Any) -> None:
    judge.behave({"type": "fail", "status": 429, "retry_after": wait, "times": 2})
    assert judge.bot().run("hi", on_content=listen).text
    judge.assert_resilient(requests=3)


@Listen
@pytest.mark.parametrize("status", [500, 502, 503, 529])
async def test_an_outage_is_no_storm(judge: Judge, status: int, listen: Any) -> None:
    judge.behave({"type": "fail", "status": status, "times": None})
    with pytest.raises(rl.ModelError) as caught:
        await judge.bot(attempts=4).arun("hi", on_content=listen)
    assert caught.value.status == status
    judge.assert_resilient(requests=4)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_what_cannot_succeed_is_asked_once(judge: Judge, status: int) -> None:
    judge.behave({"type": "fail", "status": status, "times": None})
    with pytest.raises(rl.ModelError):
        judge.bot().run("hi")
    judge.assert_resilient(requests=1)


@pytest.mark.parametrize("kind", ["truncate", "disconnect", "malformed"])
async def test_a_broken_stream_is_never_taken_for_an_answer(judge: Judge, kind: str) -> None:
    judge.behave({"type": "stream_fault", "kind": kind, "after_chunks": 3, "times": 1})
    result = await judge.bot().arun("hi", on_content=lambda text: None)
    assert result.text
    assert list(result.frames.attempts["status"]) == ["failed", "completed"]
    judge.assert_resilient(requests=2)


def test_a_stream_that_stalls_is_left_at_the_deadline(judge: Judge) -> None:
    judge.behave({"type": "stream_fault", "kind": "stall", "stall_seconds": 30, "after_chunks": 2})
    began = time.monotonic()
    with pytest.raises(rl.ModelError) as caught:
        judge.bot(model_timeout=1).run("hi", on_content=lambda text: None)
    assert caught.value.kind == "timeout"
    assert time.monotonic() - began < 10


def test_a_broken_tool_call_is_not_carried_out(judge: Judge) -> None:
    called: list[str] = []

    def get_weather(city: str) -> str:
        """Weather of a city."""
        called.append(city)
        return "sunny"

    judge.behave({"type": "tool_fault", "kind": "malformed_arguments", "times": 1})
    result = judge.bot(tools=[get_weather]).run("What is the weather in Paris?")
    assert result.tool_calls[0].status == "failed"
    assert all(isinstance(city, str) for city in called)
