"""Models behind litellm: same answers and errors as the direct way, one request an attempt."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap
import threading
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, DependencyError, ModelError
from robotlab_nb.core.messages import Message
from robotlab_nb.models import litellm_import
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.litellm import LiteLLMModel
from robotlab_nb.models.litellm_errors import translated
from robotlab_nb.models.protocol import Request, ToolSpec
from robotlab_nb.testing import CASES, ModelServer, Reply, run_case

# One worker imports litellm, not two.
pytestmark = pytest.mark.xdist_group("litellm")
ROOT = Path(__file__).parents[2]
SECRET = "sk-canary-0123456789"
#: litellm leaves the words of a refusal out of a stream,
ALLOWED = {"refusal"}
#: and refuses an answer whose content is a list.
SAME = [case for case in CASES if "content parts" not in case.about]
WEATHER = ToolSpec("get_weather", "The weather.", {"type": "object", "properties": {"city": {}}})


@pytest.fixture(scope="module")
def litellm() -> Any:
    if find_spec("litellm") is None:
        pytest.skip("litellm is not installed")
    module = asyncio.run(litellm_import.litellm())
    with ModelServer(["first"]) as server:
        ask(behind(server))  # the first call takes longer than any other
    return module


def behind(server: ModelServer, name: str = "openai/test-model") -> LiteLLMModel:
    return LiteLLMModel(name, api_base=server.base_url, api_key=SECRET)


def ask(model: LiteLLMModel, **more: Any) -> Assembler:
    more.setdefault("timeout", 30.0)
    found = Assembler()

    async def collect() -> None:
        async for chunk in model.stream(Request((Message("user", "Hi"),), **more)):
            found.add(chunk)

    asyncio.run(collect())
    return found


def failure(model: LiteLLMModel, **more: Any) -> ModelError:
    with pytest.raises(ModelError) as raised:
        ask(model, **more)
    return raised.value


# -- like the direct way ---------------------------------------------------------------------


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("case", SAME, ids=lambda case: case.name)
def test_it_does_what_every_model_must_do(case):
    # litellm makes a new client for each loop, which takes it a while.
    patient = replace(case, timeout=max(case.timeout, 2.0))
    asyncio.run(run_case(patient, behind, allow=ALLOWED))


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("name", ["openai/x", "mistral/x", "hosted_vllm/x", "deepseek/x"])
def test_every_attempt_is_one_request(name, streaming):
    with ModelServer([Reply.error(429), Reply.error(500), "fine"]) as server:
        model = behind(server, name)
        for status in (429, 500):
            error = failure(model, streaming=streaming)
            assert (error.status, error.retryable) == (status, True)
        assert ask(model, streaming=streaming).message(str).text == "fine"
        assert len(server.requests) == 3


@pytest.mark.usefixtures("litellm")
def test_what_is_asked_is_what_the_direct_way_would_ask():
    with ModelServer(["one", "two"]) as server:
        more = {"tools": (WEATHER,), "params": {"temperature": 0.5, "stop": ["x"]}}
        ask(behind(server), **more)
        request = Request((Message("user", "Hi"),), timeout=30.0, **more)

        async def direct() -> None:
            async for _ in server.model(api_key=SECRET).stream(request):
                pass

        asyncio.run(direct())
        mine, other = server.requests
    assert mine.body.pop("stream", False) is False
    assert mine.body == other.body
    assert mine.headers["authorization"] == other.headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.usefixtures("litellm")
def test_counts_that_only_litellm_made_up_are_left_out(litellm):
    with ModelServer([Reply.text("Hi", usage=None)] * 2) as server:
        assert ask(behind(server), streaming=True).usage is None
        assert ask(behind(server)).usage is None


@pytest.mark.usefixtures("litellm")
def test_a_cost_that_only_litellm_made_up_is_left_out():
    counts = {"prompt_tokens": 10, "completion_tokens": 5}
    replies = [Reply.text("Hi", usage=counts), Reply.text("Hi", usage={**counts, "cost": 0.25})]
    with ModelServer(replies) as server:
        model = behind(server, "openai/gpt-4o")
        assert "cost_usd" not in ask(model, streaming=True).usage
        assert ask(model, streaming=True).usage["cost_usd"] == 0.25


# -- deadlines and Stop ----------------------------------------------------------------------


@pytest.mark.usefixtures("litellm")
@pytest.mark.parametrize("reply", [Reply.text("late").after(60), Reply.text("a b c").paced(60)])
def test_a_cancelled_call_closes_its_connection(reply):
    arrived = threading.Event()

    def script(request: Any) -> Reply:
        arrived.set()
        return reply

    async def main(server: ModelServer) -> None:
        model = behind(server)

        async def read() -> None:
            request = Request((Message("user", "Hi"),), streaming=True)
            async for _ in model.stream(request):
                pass

        task = asyncio.create_task(read())
        assert await asyncio.to_thread(arrived.wait, 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        gone = await asyncio.to_thread(server.requests[0].wait)
        assert gone
        assert not server.requests[0].finished

    with ModelServer(script=script) as server:
        asyncio.run(main(server))


@pytest.mark.usefixtures("litellm")
def test_a_stream_that_is_left_is_closed():
    async def main(server: ModelServer) -> None:
        stream = behind(server).stream(Request((Message("user", "Hi"),), streaming=True))
        async for _ in stream:
            break
        await stream.aclose()
        assert await asyncio.to_thread(server.requests[0].wait)
        assert not server.requests[0].finished

    with ModelServer([Reply.text("a b c " * 50).paced(0.1)]) as server:
        asyncio.run(main(server))


@pytest.mark.parametrize("leave", ["early", "cancelled"])
def test_what_litellm_opened_is_closed(monkeypatch, leave):
    class Opened:
        closed = False

        def __init__(self) -> None:
            self.asked = asyncio.Event()

        def __aiter__(self) -> Any:
            return self

        async def __anext__(self) -> Any:
            self.asked.set()
            if leave == "cancelled":
                await asyncio.sleep(60)
            return {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}

        async def aclose(self) -> None:
            self.closed = True

    opened = Opened()

    async def module() -> Any:
        async def acompletion(**arguments: Any) -> Any:
            return opened

        return SimpleNamespace(acompletion=acompletion)

    async def main() -> None:
        model = LiteLLMModel("groq/x", api_key=SECRET)
        stream = model.stream(Request((Message("user", "Hi"),), streaming=True))
        task = asyncio.ensure_future(anext(stream))
        await opened.asked.wait()
        if leave == "cancelled":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            await task
            await stream.aclose()
        assert opened.closed

    monkeypatch.setattr(litellm_import, "litellm", module)
    asyncio.run(main())


@pytest.mark.usefixtures("litellm")
def test_the_deadline_counts_for_the_whole_answer():
    with ModelServer([Reply.text("a " * 100).paced(0.2)]) as server:
        error = failure(behind(server), streaming=True, timeout=2.0)
    assert (error.kind, error.billed, error.retryable) == ("timeout", True, True)


def test_an_import_that_takes_too_long_is_a_timeout_that_says_so(monkeypatch):
    async def never() -> Any:
        await asyncio.sleep(60)

    monkeypatch.setattr(litellm_import, "litellm", never)
    error = failure(LiteLLMModel("groq/x", api_key=SECRET), timeout=0.05)
    assert error.kind == "timeout"
    assert "litellm was not imported in time" in str(error)


@pytest.mark.usefixtures("litellm")
def test_many_calls_at_once_and_on_several_loops():
    async def many(server: ModelServer) -> list[str]:
        async def one(n: int) -> str:
            found = Assembler()
            async for chunk in behind(server).stream(Request((Message("user", str(n)),))):
                found.add(chunk)
            return found.message(str).text

        return await asyncio.gather(*[one(n) for n in range(8)])

    with ModelServer(script=lambda request: request.messages[0]["content"]) as server:
        for _ in range(2):
            assert asyncio.run(many(server)) == [str(n) for n in range(8)]


# -- keys ------------------------------------------------------------------------------------


def test_a_missing_key_is_an_error_before_litellm_is_imported(monkeypatch):
    monkeypatch.delenv("GROQ_API_KEY", raising=False)
    monkeypatch.delenv("MY_KEY", raising=False)
    monkeypatch.setattr(litellm_import, "litellm", None)
    for model, variable in (
        (LiteLLMModel("groq/x"), "GROQ_API_KEY"),
        (LiteLLMModel("groq/x", api_key="MY_KEY"), "MY_KEY"),
        (LiteLLMModel("groq/x", api_key=lambda: None, key_name="OTHER"), "OTHER"),
    ):
        with pytest.raises(ConfigurationError, match=f"no key for groq/x: set {variable}"):
            ask(model)


def test_a_provider_without_a_table_is_asked_about_by_litellm(litellm, monkeypatch):
    monkeypatch.delenv("BYTEZ_API_KEY", raising=False)
    LiteLLMModel("bytez/x").check()
    asked: list[str] = []
    found = {"keys_in_environment": False, "missing_keys": ["BYTEZ_API_KEY"]}
    monkeypatch.setattr(litellm, "validate_environment", lambda name: asked.append(name) or found)
    with pytest.raises(ConfigurationError, match="set BYTEZ_API_KEY"):
        ask(LiteLLMModel("bytez/x"))
    assert asked == ["bytez/x"]


@pytest.mark.usefixtures("litellm")
def test_an_address_gets_no_key_that_was_not_named(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    with ModelServer(["Hi"]) as server:
        model = LiteLLMModel("openai/x", api_base=server.base_url)
        model.check()
        ask(model)
        assert SECRET not in server.requests[0].headers.get("authorization", "")


@pytest.mark.usefixtures("litellm")
def test_a_key_shows_up_in_no_error():
    said = f"Incorrect API key: {SECRET}"
    replies = [Reply.error(401, said), Reply.error(500, said), Reply.html(200, said)]
    with ModelServer(replies) as server:
        for _ in replies:
            error = failure(behind(server))
            shown = [str(error), repr(error.body), repr(error.__dict__), repr(error.__cause__)]
            assert SECRET not in "".join(shown)


@pytest.mark.parametrize("name", ["", "gpt-4o", "/x", "openai/"])
def test_a_name_without_provider_or_model_is_refused(name):
    with pytest.raises(ConfigurationError, match="Write provider/name"):
        LiteLLMModel(name)


# -- other wires -----------------------------------------------------------------------------


def recorded(shared: Path, wire: str) -> list[dict[str, Any]]:
    lines = (shared / "wire" / "exchanges.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row["wire"] == wire]


async def _replay(row: dict[str, Any], name: str) -> Assembler:
    """Ask through litellm, and answer as the provider did."""
    response = row["response"]
    body = response["body"].encode()
    head = [f"HTTP/1.1 {response['status']} Recorded"]
    head += [f"{key}: {value}" for key, value in response["headers"].items()]
    head += [f"content-length: {len(body)}", "connection: close", "", ""]
    asked = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        received = await reader.readuntil(b"\r\n\r\n")
        length = int(received.lower().partition(b"content-length:")[2].split(b"\r")[0])
        await reader.readexactly(length)
        writer.write("\r\n".join(head).encode() + body)
        await writer.drain()
        writer.close()

    found = Assembler()
    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        model = LiteLLMModel(name, api_base=f"http://127.0.0.1:{port}", api_key=SECRET)
        streaming = "event-stream" in response["headers"].get("content-type", "")
        request = Request((Message("user", "Hi"),), (WEATHER,), {}, streaming, 30.0)
        try:
            async for chunk in model.stream(request):
                found.add(chunk)
        finally:
            assert asked == 1
    return found


@pytest.mark.usefixtures("litellm")
def test_anthropics_answers_are_read(shared):
    found = {}
    for row in recorded(shared, "anthropic-messages"):
        if row["response"]["status"] == 200:
            found[row["id"]] = asyncio.run(_replay(row, "anthropic/claude-sonnet-4-5"))
    assert len(found) > 5
    for name, answer in found.items():
        assert answer.stop_reason in ("stop", "tool", "length"), name
        assert answer.usage["input_tokens"] > 0, name
        assert "cost_usd" not in answer.usage, name
    parallel = found["anthropic-json-tool-parallel"].message(str)
    assert [call.name for call in parallel.tool_calls] == ["get_weather", "get_time"]
    thinking = found["anthropic-sse-thinking-tool"].message(str)
    assert thinking.reasoning
    assert thinking.parts[0].opaque["thinking_blocks"][0]["signature"]
    assert thinking.tool_calls[0].name == "fixed_version"
    assert found["anthropic-sse-text-ping"].stop_reason == "length"
    assert found["anthropic-json-cache-creation"].usage["cached_tokens"] == 1217


@pytest.mark.usefixtures("litellm")
def test_geminis_answers_are_read(shared):
    rows = {row["id"]: row for row in recorded(shared, "gemini-generate-content")}

    def replay(name: str) -> Assembler:
        return asyncio.run(_replay(rows[name], "gemini/gemini-2.5-flash"))

    calls = replay("gemini-sse-tool-parallel").message(str).tool_calls
    assert [(c.name, json.loads(c.arguments)) for c in calls] == [
        ("add", {"a": 2, "b": 3}),
        ("multiply", {"a": 2, "b": 3}),
    ]
    assert "thought_signature" in str(calls[0].opaque)
    assert replay("gemini-sse-thought").message(str).reasoning
    assert replay("gemini-json-safety-block").stop_reason == "content_filter"
    assert replay("gemini-json-max-tokens-no-parts").stop_reason == "length"


@pytest.mark.usefixtures("litellm")
def test_errors_of_other_wires_mean_what_they_say(shared):
    for row in [
        *recorded(shared, "anthropic-messages"),
        *recorded(shared, "gemini-generate-content"),
    ]:
        if row["response"]["status"] < 400:
            continue
        name = f"{row['provider']}/some-model"
        with pytest.raises(ModelError) as raised:
            asyncio.run(_replay(row, name))
        error = raised.value
        assert error.status == row["response"]["status"], row["id"]
        assert error.retryable == (error.status == 429), row["id"]
        assert not error.billed
    assert error.retry_after is None or error.retry_after > 0


@pytest.mark.usefixtures("litellm")
def test_a_stream_of_another_wire_that_breaks_off_is_cut(shared):
    row = next(
        r for r in recorded(shared, "anthropic-messages") if r["id"].endswith("thinking-tool")
    )
    body = row["response"]["body"]
    row["response"]["body"] = body[: body.rindex("event: message_delta")]
    with pytest.raises(ModelError) as raised:
        asyncio.run(_replay(row, "anthropic/claude-sonnet-4-5"))
    assert (raised.value.kind, raised.value.retryable, raised.value.billed) == ("cut", True, True)


# -- errors without a server -----------------------------------------------------------------


def test_an_error_that_goes_round_in_circles_ends():
    first, second = ValueError("a"), ValueError("b")
    first.__cause__, second.__cause__ = second, first
    assert translated(first, "groq/x").kind == "protocol"


def test_an_error_of_ours_is_passed_on():
    error = ModelError("mine")
    wrapped = RuntimeError("theirs")
    wrapped.__cause__ = error
    assert translated(wrapped, "groq/x") is error


def test_the_innermost_answer_of_a_chain_is_read():
    class Failed(Exception):
        def __init__(self, status: int, headers: dict[str, str], content: bytes) -> None:
            self.response = SimpleNamespace(status_code=status, headers=headers, content=content)

    outer = Failed(500, {"content-length": "2"}, b"{}")
    outer.__cause__ = Failed(429, {"Retry-After": "7"}, b'{"error": {"message": "slow down"}}')
    error = translated(outer, "groq/x")
    assert (error.status, error.kind, error.retry_after) == (429, "rate_limit", 7.0)
    assert str(error) == "groq/x answered 429: slow down"


def test_what_litellm_trips_over_is_an_answer_that_it_cannot_read():
    class InternalServerError(Exception):
        status_code = 500
        message = "litellm.InternalServerError: GroqException - 'x' object has no attribute 'y'"

    outer = InternalServerError()
    outer.__cause__ = AttributeError("'x' object has no attribute 'y'")
    error = translated(outer, "groq/x")
    assert (error.kind, error.retryable, error.billed) == ("protocol", True, True)
    assert str(error) == (
        "groq/x gave an answer that litellm cannot read: 'x' object has no attribute 'y'"
    )


def test_what_litellm_refuses_to_send_was_not_asked():
    class BadRequestError(Exception):
        status_code = 400
        message = "litellm.BadRequestError: no such parameter"

    error = translated(BadRequestError(), "groq/x")
    assert (error.kind, error.retryable, error.billed) == ("bad_request", False, False)
    assert str(error) == "groq/x was not asked: no such parameter"


# -- the import ------------------------------------------------------------------------------

IMPORTED = """
    import asyncio, logging, os, socket, sys, threading, warnings

    def refuse(*address, **more):
        raise AssertionError(f"looked up {address}")

    socket.getaddrinfo = refuse
    logging.getLogger("httpx").setLevel(logging.DEBUG)
    handler = logging.StreamHandler(sys.stdout)
    logging.root.addHandler(handler)

    def state():
        return {
            "environment": dict(os.environ),
            "root": (logging.root.level, list(logging.root.handlers)),
            "httpx": logging.getLogger("httpx").level,
            "policy": type(asyncio.get_event_loop_policy()),
            "hooks": (sys.excepthook, threading.excepthook, warnings.showwarning),
            "asyncio": (asyncio.Task, asyncio.run, asyncio.sleep),
        }

    def hidden():
        with warnings.catch_warnings(record=True) as seen:
            warnings.warn("field has conflict with protected namespace", UserWarning)
        return not seen

    from robotlab_nb.models.litellm import LiteLLMModel
    from robotlab_nb.models.litellm_import import litellm

    before = state()
    model = LiteLLMModel("groq/x", api_key="k")
    model.warm()
    model.warm()

    async def main():
        ticks = 0
        task = asyncio.create_task(litellm())
        while not task.done():
            await asyncio.sleep(0.005)
            ticks += 1
        module = await task
        assert ticks > 5, ticks
        assert module is await litellm()
        return module

    module = asyncio.run(main())
    after = state()
    assert after == before, [k for k in before if before[k] != after[k]]
    assert not hidden()
    assert "FROM_DOTENV" not in os.environ
    assert module.suppress_debug_info
    assert len(module.model_cost) > 100
    logging.getLogger("LiteLLM").error("this must not be seen")
    for thread in threading.enumerate():
        if thread.name == "robotlab_nb-litellm":
            thread.join(60)
            assert thread.daemon and not thread.is_alive()
    print("done")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("litellm")
def test_importing_litellm_changes_nothing_else_and_blocks_no_loop(tmp_path):
    (tmp_path / ".env").write_text("FROM_DOTENV=1\n")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(IMPORTED))
    # With -i, as in a notebook, litellm would look for .env in the working directory.
    told = subprocess.run(
        [sys.executable, "-c", f"exec(open({str(script)!r}).read())"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    assert told.stdout == "done\n"
    assert "must not be seen" not in told.stderr


def test_a_litellm_that_cannot_be_imported_is_named_and_tried_again(monkeypatch):
    tries: list[int] = []

    def broken() -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise ImportError("no module named litellm")
        return "the module"

    monkeypatch.setattr(litellm_import, "_module", None)
    monkeypatch.setattr(litellm_import, "_thread", None)
    monkeypatch.setattr(litellm_import, "_error", None)
    monkeypatch.setattr(litellm_import, "_import", broken)
    with pytest.raises(DependencyError, match="pip install litellm"):
        ask(LiteLLMModel("groq/x", api_key=SECRET))
    assert asyncio.run(litellm_import.litellm()) == "the module"
    assert asyncio.run(litellm_import.litellm()) == "the module"
    assert len(tries) == 2
