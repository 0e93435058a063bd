"""Models over HTTP: one request an attempt, deadlines, broken connections, keys."""

from __future__ import annotations

import asyncio
import gc
import gzip
import json
import os
import pickle
import socket
import subprocess
import sys
import textwrap
import threading
import warnings
from itertools import count
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, ModelError
from robotlab_nb.core.messages import Message, TextPart
from robotlab_nb.models import sessions
from robotlab_nb.models.assembly import Assembler
from robotlab_nb.models.direct import DirectModel
from robotlab_nb.models.openai_body import BodyReader
from robotlab_nb.models.protocol import Request
from robotlab_nb.testing import ModelServer, Recorded, Reply

HELLO = (Message("user", "Hello"),)
PARIS = '{"city": "Paris"}'


def request(streaming: bool = False, timeout: float | None = 20.0, **params: Any) -> Request:
    return Request(HELLO, (), params, streaming, timeout)


async def ask(
    model: DirectModel, asked: Request | None = None
) -> tuple[Assembler, BaseException | None]:
    found = Assembler()
    try:
        async for chunk in model.stream(asked or request()):
            found.add(chunk)
    except Exception as error:
        return found, error
    return found, None


def message(found: Assembler) -> Message:
    numbers = count(1)
    return found.message(lambda: f"our_{next(numbers)}")


async def failing(model: DirectModel, asked: Request | None = None) -> ModelError:
    _, error = await ask(model, asked)
    assert isinstance(error, ModelError), error
    return error


# -- answers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
async def test_an_answer_comes_from_one_request(streaming: bool) -> None:
    async with ModelServer(["Hello there, you"]) as server:
        model = server.model("m1", provider="acme")
        found, error = await ask(model, request(streaming, temperature=0))
        assert error is None
        assert message(found).text == "Hello there, you"
        assert found.stop_reason == "stop"
        assert found.response_id == "chatcmpl-test"
        assert found.response_model == "m1"
        (asked,) = server.requests
        assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
        assert asked.body["model"] == "m1"
        assert asked.body["temperature"] == 0
        assert asked.streaming is streaming
        assert asked.headers["authorization"] == "Bearer test-key"
        assert asked.headers["content-type"] == "application/json"
        assert model.name == "acme/m1"


def halting() -> Reply:
    """A stream that stops for a minute after its first piece of text."""
    choices = [{"delta": {"content": "one "}}, {"delta": {"content": "two"}}]
    lines = [f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices]
    reply = Reply.raw("".join(lines), content_type="text/event-stream")
    return reply.split(len(lines[0])).paced(60)


async def test_a_stream_arrives_while_it_is_written() -> None:
    async with ModelServer([halting()]) as server:
        stream = server.model().stream(request(True))
        assert (await anext(stream)).text == "one "
        assert not server.requests[0].finished
        await stream.aclose()  # type: ignore[attr-defined]


async def test_a_whole_answer_to_a_stream_and_a_stream_for_an_answer_are_read() -> None:
    whole = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}
    chunk = {"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    replies = [Reply.raw(whole, content_type="text/event-stream"), Reply.events(chunk)]
    async with ModelServer(replies) as server:
        for streaming in (True, False):
            found, error = await ask(server.model(), request(streaming))
            assert error is None
            assert message(found).text == "Hi"


async def test_a_compressed_body_is_read() -> None:
    whole = json.dumps({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})
    reply = Reply.raw(gzip.compress(whole.encode()), headers={"content-encoding": "gzip"})
    async with ModelServer([reply]) as server:
        found, error = await ask(server.model())
        assert error is None
        assert message(found).text == "Hi"


@pytest.mark.parametrize("streaming", [False, True])
async def test_ten_megabytes_are_one_text(streaming: bool) -> None:
    text = "0123456789" * 1_000_000
    async with ModelServer([Reply.text([text[:4_000_000], text[4_000_000:]])]) as server:
        found, error = await ask(server.model(), request(streaming))
        assert error is None
        assert message(found).parts == (TextPart(text),)


async def test_a_large_request_is_sent_whole_and_without_warnings() -> None:
    words = "wörter " * 400_000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        async with ModelServer(["ok"]) as server:
            asked = Request((Message("user", words),), timeout=20.0)
            _, error = await ask(server.model(), asked)
            assert error is None
            assert server.requests[0].messages[0]["content"] == words


async def test_lone_surrogates_are_sent_as_escapes() -> None:
    async with ModelServer(["ok"]) as server:
        _, error = await ask(server.model(), Request((Message("user", "a\ud800b"),)))
        assert error is None
        assert b"a\\ud800b" in server.requests[0].raw


# -- calls (fM5, fM7, fM9, fM16) -----------------------------------------------------------------


def call_stream() -> bytes:
    """A short stream of one call, its arguments in two pieces."""
    first = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"x":'}}
    rest = {"index": 0, "function": {"arguments": '"é"}'}}
    choices = [
        {"delta": {"content": "So:"}},
        {"delta": {"tool_calls": [first]}},
        {"delta": {"tool_calls": [rest]}},
        {"delta": {}, "finish_reason": "tool_calls"},
    ]
    lines = [json.dumps({"choices": [choice]}, ensure_ascii=False) for choice in choices]
    return "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()


def nothing_but_text(found: Assembler) -> bool:
    """Whether what is kept holds no call, and text that is marked as cut."""
    return all(isinstance(part, TextPart) and part.cut for part in found.partial())


async def test_a_stream_cut_at_any_byte_never_gives_a_finished_call() -> None:
    body = call_stream()
    told = len(body) - len(b"\n\n")  # from here on only the end of the line is lost
    reply = Reply.raw(body, content_type="text/event-stream")
    async with ModelServer([reply.cut(n) for n in range(len(body))]) as server:
        model = server.model()
        for n in range(len(body)):
            found, error = await ask(model, request(True))
            if error is None:
                assert n > told
                assert [c.arguments for c in message(found).tool_calls] == ['{"x":"é"}']
                continue
            assert isinstance(error, ModelError)
            assert (error.kind, error.retryable, error.billed) == ("cut", True, n > 0), n
            assert nothing_but_text(found)
        assert len(server.requests) == len(body)


@pytest.mark.parametrize("streaming", [False, True])
def test_a_long_answer_cut_at_any_byte_never_gives_a_finished_call(streaming: bool) -> None:
    """The same without sockets, so that every byte of a longer one can be tried."""
    whole = Reply.tool_calls(("f", PARIS), ("g", '{"city": "Ürümqi"}'), text="So:", finish="stop")
    body = b"".join(whole.blocks({"stream": streaming})[1])
    finish = body.index(b'"finish_reason": "stop"') if streaming else len(body)
    for n in range(len(body)):
        reader, found = BodyReader("m"), Assembler()
        for chunk in reader.feed(body[:n]) + reader.finish():
            found.add(chunk)
        if n < finish:
            assert reader.failure is not None
            assert reader.failure.kind == "cut", n
            assert nothing_but_text(found)
        elif reader.failure is None:
            assert [c.name for c in message(found).tool_calls] == ["f", "g"]


async def test_without_a_marked_end_the_finish_reason_tells_whether_the_answer_is_whole() -> None:
    whole = Reply.tool_call("get_weather", PARIS, usage=None).unframed()
    body = b"".join(whole.blocks({"stream": True})[1])
    finish = body.index(b'"finish_reason": "tool_calls"')
    end = body.index(b"\n", finish)
    places = [0, 1, finish - 300, finish - 1, finish + 10, end - 1, end, end + 2, len(body) - 3]
    async with ModelServer([whole.cut(n) for n in places]) as server:
        for n in places:
            found, error = await ask(server.model(), request(True))
            if n < end:
                assert isinstance(error, ModelError)
                assert error.kind == "cut", n
            else:
                assert error is None, n
                assert [c.arguments for c in message(found).tool_calls] == [PARIS]
                assert found.stop_reason == "tool"


@pytest.mark.parametrize("streaming", [False, True])
async def test_two_calls_with_one_id_are_both_kept(streaming: bool) -> None:
    reply = Reply.tool_calls(("f", "{}", "same"), ("g", "{}", "same"), interleaved=True)
    async with ModelServer([reply]) as server:
        found, _ = await ask(server.model(), request(streaming))
        calls = [(c.name, c.wire_id, c.id) for c in message(found).tool_calls]
        assert calls == [("f", "same", "our_1"), ("g", "same_2", "our_2")]


async def test_interleaved_arguments_go_to_their_calls() -> None:
    sent = [(f"f{n}", json.dumps({"n": "x" * n}), f"id{n}") for n in range(5)]
    async with ModelServer([Reply.tool_calls(*sent, interleaved=True)]) as server:
        found, _ = await ask(server.model(), request(True))
        got = [(c.name, c.arguments, c.wire_id) for c in message(found).tool_calls]
        assert got == sent


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("label", ["length", "tool_calls"])
async def test_a_length_stop_inside_a_call_is_one_under_either_label(
    streaming: bool, label: str
) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 16}
    reply = Reply.tool_call("f", '{"city": "Par', finish=label, usage=usage)
    async with ModelServer([reply]) as server:
        found, error = await ask(server.model(), request(streaming, max_tokens=16))
        assert error is None
        assert found.stop_reason == "length"


@pytest.mark.parametrize(
    "arguments", ["", "null", '{"a": 1, "a": 2}', "{" * 3, "9" * 5000, "[" * 100_000]
)
async def test_arguments_arrive_as_they_were_written(arguments: str) -> None:
    async with ModelServer([Reply.tool_call("f", arguments)] * 2) as server:
        for streaming in (False, True):
            found, error = await ask(server.model(), request(streaming))
            assert error is None
            assert message(found).tool_calls[0].arguments == arguments


# -- odd answers (fM10, fM11, fM12, fM14, fM15, fM17) --------------------------------------------


@pytest.mark.parametrize("payload", [{"choices": []}, {"choices": None}, {"note": "hm"}])
async def test_no_choices_is_a_typed_error_with_an_excerpt(payload: Any) -> None:
    async with ModelServer([Reply.raw(payload), Reply.events(payload)]) as server:
        for streaming in (False, True):
            error = await failing(server.model(), request(streaming))
            assert (error.kind, error.retryable, error.status) == ("protocol", True, 200)
            assert json.dumps(payload) in (error.body or "")


async def test_null_content_is_an_empty_text() -> None:
    null = {"choices": [{"message": {"content": None}, "finish_reason": "stop"}]}
    async with ModelServer([Reply.raw(null)]) as server:
        found, error = await ask(server.model())
        assert error is None
        assert message(found).text == ""
        assert not found.empty


@pytest.mark.parametrize("streaming", [False, True])
async def test_refusals_and_filters_are_stop_reasons_and_no_errors(streaming: bool) -> None:
    async with ModelServer([Reply.refusal("No, thanks."), Reply.content_filter()]) as server:
        found, error = await ask(server.model(), request(streaming))
        assert (error, found.stop_reason, message(found).text) == (None, "refused", "No, thanks.")
        found, error = await ask(server.model(), request(streaming))
        assert (error, found.stop_reason) == (None, "content_filter")


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_filtered_prompt_is_an_error_not_worth_another_try(streaming: bool) -> None:
    async with ModelServer([Reply.error(400, "filtered", code="content_filter")]) as server:
        error = await failing(server.model(), request(streaming))
        assert (error.kind, error.retryable, error.billed) == ("content_filter", False, False)


@pytest.mark.parametrize("streaming", [False, True])
async def test_a_page_or_an_error_under_status_200_is_an_error(streaming: bool) -> None:
    oops = Reply.raw({"error": {"code": 502, "message": "upstream"}})
    async with ModelServer([Reply.html(200, "Sign in"), oops]) as server:
        error = await failing(server.model(), request(streaming))
        assert error.kind == "protocol"
        assert "Sign in" in str(error)
        assert "api_base" in str(error)
        error = await failing(server.model(), request(streaming))
        assert (error.kind, error.status, error.retryable) == ("server", 502, True)


# -- waiting and trying again (fM1, fM18) --------------------------------------------------------


async def test_how_long_to_wait_is_reported_and_not_waited() -> None:
    headers = [{"retry-after": "7"}, {"retry-after-ms": "250"}, {"retry-after": "99999999"}, {}]
    async with ModelServer([Reply.error(429, headers=h) for h in headers]) as server:
        model = server.model()
        waits = [(await failing(model)).retry_after for _ in headers]
        assert waits == [7.0, 0.25, 99999999.0, None]
        assert len(server.requests) == 4


@pytest.mark.parametrize(
    "reply",
    [
        Reply.error(500),
        Reply.error(429, headers={"retry-after": "0"}),
        Reply.error(503),
        Reply.text("Hello").cut(10),
        Reply.raw(b"", status=307, headers={"location": "/v1/chat/completions"}),
    ],
)
async def test_whatever_happens_there_is_one_request(reply: Reply) -> None:
    async with ModelServer([reply], repeat=True) as server:
        for streaming in (False, True):
            before = len(server.requests)
            await failing(server.model(), request(streaming))
            assert len(server.requests) == before + 1


async def test_a_connection_that_was_closed_meanwhile_is_not_tried_twice() -> None:
    """The client may not know yet that the server closed it; that is for the caller to retry."""
    seen = 0

    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                seen += 1
                if seen > 1:
                    break
                body = b'{"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}'
                head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await reader.readuntil(b"}")
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    server = await asyncio.start_server(once, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    model = DirectModel("m", api_base=f"http://127.0.0.1:{port}/v1")
    assert (await ask(model))[1] is None
    error = await failing(model)
    assert (error.kind, error.retryable, error.billed) == ("connection", True, False)
    assert seen == 2
    await model.aclose()
    server.close()


# -- time (fM4) ----------------------------------------------------------------------------------


async def test_the_deadline_holds_before_the_answer_begins() -> None:
    async with ModelServer([Reply.text("late").after(60)] * 2) as server:
        for streaming in (False, True):
            error = await failing(server.model(), request(streaming, timeout=0.1))
            assert (error.kind, error.retryable, error.billed) == ("timeout", True, False)
            assert "0.1 s" in str(error)


async def test_no_time_left_is_a_deadline_too() -> None:
    async with ModelServer(script=lambda asked: Reply.text("late").after(60)) as server:
        for left in (0.0, -1.0):
            assert (await failing(server.model(), request(timeout=left))).kind == "timeout"


async def test_the_deadline_holds_though_bytes_keep_coming() -> None:
    drip = Reply.text("x " * 50).dribble(0.01)
    async with ModelServer([drip, drip]) as server:
        for streaming in (False, True):
            error = await failing(server.model(), request(streaming, timeout=1.0))
            assert (error.kind, error.billed) == ("timeout", True)
            gone = server.requests[-1]
            assert await asyncio.to_thread(gone.wait)
            assert gone.disconnected_at is not None


async def test_the_deadline_holds_for_errors_that_come_slowly() -> None:
    async with ModelServer([Reply.error(500, "x" * 5000).dribble(0.01)]) as server:
        error = await failing(server.model(), request(timeout=0.2))
        # What came of it says enough.
        assert error.kind in ("server", "timeout")


async def test_a_server_that_accepts_nobody_is_a_timeout() -> None:
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        address = full.getsockname()
        fillers = [socket.socket() for _ in range(4)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(address)
        model = DirectModel("m", api_base=f"http://127.0.0.1:{address[1]}/v1")
        error = await failing(model, request(timeout=0.3))
        assert (error.kind, error.retryable, error.billed) == ("timeout", True, False)
        await model.aclose()
        for filler in fillers:
            filler.close()


async def test_without_a_deadline_a_slow_answer_is_waited_for() -> None:
    async with ModelServer([Reply.text("late").after(0.2)]) as server:
        found, error = await ask(server.model(), request(timeout=None))
        assert error is None
        assert message(found).text == "late"


# -- leaving early -------------------------------------------------------------------------------


async def gone(server: ModelServer, n: int = -1) -> Recorded:
    left = server.requests[n]
    assert await asyncio.to_thread(left.wait)
    return left


@pytest.mark.parametrize("reply", [halting(), Reply.text("a").after(60)])
async def test_cancelling_closes_the_connection_at_once(reply: Reply) -> None:
    async with ModelServer([reply]) as server:
        model = server.model()
        task = asyncio.create_task(ask(model, request(True, timeout=None)))
        assert await asyncio.to_thread(server.wait_for_requests, 1)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        left = await gone(server)
        assert left.disconnected_at is not None
        assert not left.finished


async def test_leaving_a_stream_closes_the_connection() -> None:
    async with ModelServer([halting()]) as server:
        stream = server.model().stream(request(True))
        async for chunk in stream:
            assert chunk.kind == "text"
            break
        await stream.aclose()  # type: ignore[attr-defined]
        assert (await gone(server)).disconnected_at is not None


# -- connections ---------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
async def test_connections_are_used_again_by_all_models_of_a_loop(streaming: bool) -> None:
    async with ModelServer(["a b", "c d", "e f"]) as server:
        one, two = server.model("one"), server.model("two")
        for model in (one, two, one):
            _, error = await ask(model, request(streaming))
            assert error is None
            draining = sessions._pools[asyncio.get_running_loop()]._draining
            await asyncio.gather(*draining)  # what follows [DONE] is read in the background
        assert server.connected == 1
        await one.aclose()
        await two.aclose()


async def test_the_end_of_a_body_that_comes_late_does_not_cost_the_connection() -> None:
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        body = b"".join(Reply.text("Hi").blocks({"stream": True})[1])
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(head.lower().split(b"content-length: ")[1].split()[0]))
                writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
                writer.write(b"%x\r\n%b\r\n" % (len(body), body))
                await asyncio.sleep(0.05)
                writer.write(b"0\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    model = DirectModel("m", api_base=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    for _ in range(3):
        found, error = await ask(model, request(True))
        assert error is None
        assert message(found).text == "Hi"
        await asyncio.gather(*sessions._pools[asyncio.get_running_loop()]._draining)
    assert connections == 1
    await model.aclose()
    server.close()


async def test_a_session_is_closed_when_its_last_user_lets_go_and_opens_again() -> None:
    async with ModelServer(["a", "b", "c"]) as server:
        one, two = server.model("one"), server.model("two")
        await ask(one)
        await ask(two)
        pool = sessions._pools[asyncio.get_running_loop()]
        await one.aclose()
        assert not pool.session.closed
        await two.aclose()
        assert pool.session.closed
        assert asyncio.get_running_loop() not in sessions._pools
        found, error = await ask(one)
        assert error is None
        assert message(found).text == "c"
        await one.aclose()


async def test_two_hundred_calls_at_once_wait_for_nothing_but_the_server() -> None:
    async with ModelServer(script=lambda asked: Reply.text("ok").after(0.3)) as server:
        model = server.model()
        loop = asyncio.get_running_loop()
        began = loop.time()
        found = await asyncio.gather(*(ask(model) for _ in range(200)))
        assert [error for _, error in found if error is not None] == []
        arrivals = [asked.arrived for asked in server.requests]
        # Nobody waited for another's answer before asking.
        assert len(arrivals) == 200
        assert loop.time() - began < 200 * 0.3 / 4
        await model.aclose()


def test_a_model_works_on_one_loop_after_another_and_on_two_at_once() -> None:
    with ModelServer(["x"], repeat=True) as server:
        model = server.model()
        for _ in range(3):
            assert asyncio.run(ask(model))[1] is None
        errors: list[BaseException | None] = []
        threads = [
            threading.Thread(target=lambda: errors.append(asyncio.run(ask(model))[1]))
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert errors == [None] * 4


def test_a_loop_that_ends_leaves_no_open_session() -> None:
    with warnings.catch_warnings(record=True) as caught, ModelServer(["x", "x"]) as server:
        warnings.simplefilter("always")
        asyncio.run(ask(server.model()))
        loop = asyncio.new_event_loop()
        loop.run_until_complete(ask(server.model()))
        loop.close()  # without a word to its generators
        del loop
        gc.collect()
    assert [w for w in caught if "client session" in str(w.message)] == []


ENDS = {
    "run": "asyncio.run(ask())",
    "kept open": "loop = asyncio.new_event_loop(); loop.run_until_complete(ask())",
    "closed": "loop = asyncio.new_event_loop(); loop.run_until_complete(ask()); loop.close()",
    "thread": """
        import threading
        ready = threading.Event()
        async def for_ever():
            await ask()
            ready.set()
            await asyncio.sleep(1000)
        threading.Thread(target=lambda: asyncio.run(for_ever()), daemon=True).start()
        ready.wait(20)
    """,
}


@pytest.mark.parametrize("end", sorted(ENDS))
def test_an_interpreter_ends_without_a_word_about_sessions(end: str) -> None:
    code = """
        import asyncio, sys
        from robotlab_nb.core.messages import Message
        from robotlab_nb.models.direct import DirectModel
        from robotlab_nb.models.protocol import Request
        model = DirectModel("m", api_base=sys.argv[1])
        async def ask():
            request = Request((Message("user", "Hello"),))
            print("".join([c.text async for c in model.stream(request) if c.kind == "text"]))
    """
    code = textwrap.dedent(code) + textwrap.dedent(ENDS[end])
    with ModelServer(["Hi!"]) as server:
        done = subprocess.run(
            [sys.executable, "-c", code, server.base_url],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.stdout, done.stderr, done.returncode) == ("Hi!\n", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_opens_its_own_connections() -> None:
    code = """
        import asyncio, os, signal, sys, threading
        from robotlab_nb.core.messages import Message
        from robotlab_nb.models.direct import DirectModel
        from robotlab_nb.models.protocol import Request
        model = DirectModel("m", api_base=sys.argv[1])
        async def ask():
            request = Request((Message("user", "Hello"),))
            return [c.text async for c in model.stream(request)][0]
        async def ask_and_close():
            answer = await ask()
            await model.aclose()
            return answer
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever, daemon=True).start()
        def run(coroutine):
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result(20)
        said = [run(ask())]
        child = os.fork()
        if child == 0:
            signal.alarm(20)
            os._exit(0 if asyncio.run(ask_and_close()) == "2" else 1)
        said.append(os.waitpid(child, 0)[1])
        said.append(run(ask_and_close()))
        print(said)
    """
    with ModelServer(["1", "2", "3"]) as server:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), server.base_url],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        # The parent went on with the connection that it had.
        assert (done.stdout, done.stderr) == ("['1', 0, '3']\n", "")
        assert server.connected == 2


async def test_a_refused_connection_says_where_and_what_to_do() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    model = DirectModel("m", api_base=f"http://127.0.0.1:{port}/v1")
    error = await failing(model)
    assert (error.kind, error.retryable, error.billed) == ("connection", True, False)
    assert f"127.0.0.1:{port}" in str(error)
    assert "Is the server running?" in str(error)
    await model.aclose()


# -- proxies -------------------------------------------------------------------------------------


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with ModelServer(["through", "through"]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//us%65r:p%40ss@"))
        monkeypatch.delenv("no_proxy", raising=False)
        model = DirectModel("m", api_base="http://model.example/v1", api_key="secret-key")
        found, error = await ask(model)
        assert error is None
        assert message(found).text == "through"
        (asked,) = proxy.requests
        assert asked.path == "http://model.example/v1/chat/completions"
        assert asked.headers["authorization"] == "Bearer secret-key"
        assert asked.headers["proxy-authorization"] == "Basic dXNlcjpwQHNz"  # user:p@ss
        await model.aclose()
        monkeypatch.setenv("no_proxy", "model.example")
        error = await failing(model, request(timeout=5.0))
        assert error.kind in ("connection", "timeout")
        assert len(proxy.requests) == 1
        await model.aclose()
        proxy._left.clear()


async def test_the_loopback_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    async with ModelServer(["Hi"]) as server:
        _, error = await ask(server.model())
        assert error is None


# -- addresses and keys ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("{url}/v1", "/v1/chat/completions"),
        ("{url}/v1/", "/v1/chat/completions"),
        (" {url}/v1/chat/completions ", "/v1/chat/completions"),
        ("{url}", "/chat/completions"),
        ("{url}/deployments/x?api-version=2", "/deployments/x/chat/completions"),
    ],
)
async def test_the_address_is_made_from_the_base(base: str, path: str) -> None:
    async with ModelServer(["Hi"]) as server:
        model = DirectModel("m", api_base=base.format(url=server.url))
        _, error = await ask(model)
        assert error is None
        assert server.requests[0].path == path
        assert not (model.endpoint or "").endswith("/")


@pytest.mark.parametrize("base", ["", "127.0.0.1:8000", "ftp://x/v1", "http://me:secret@x/v1"])
def test_bases_that_are_no_web_address_are_refused(base: str) -> None:
    with pytest.raises(ConfigurationError, match="api_base of openai/m"):
        DirectModel("m", api_base=base)


async def test_a_key_may_be_given_or_fetched_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", " from-environment\n")
    async with ModelServer(["a", "b", "c", "d"]) as server:
        for more, expected in (
            ({"api_key": "given-key"}, "Bearer given-key"),
            ({"api_key": lambda: "fetched-key"}, "Bearer fetched-key"),
            ({"key_name": "ACME_KEY"}, "Bearer from-environment"),
            ({}, None),
        ):
            model = DirectModel("m", api_base=server.base_url, **more)
            model.check()
            assert (await ask(model))[1] is None
            assert server.requests[-1].headers.get("authorization") == expected


async def test_a_named_key_that_is_missing_is_an_error_before_any_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("ACME_KEY", raising=False)
    async with ModelServer() as server:
        model = DirectModel("m", api_base=server.base_url, key_name="ACME_KEY")
        with pytest.raises(ConfigurationError, match="ACME_KEY"):
            model.check()
        _, error = await ask(model)
        assert isinstance(error, ConfigurationError)
        assert server.requests == []


def test_a_key_that_cannot_be_sent_is_an_error_that_does_not_show_it() -> None:
    model = DirectModel("m", api_base="http://127.0.0.1/v1", api_key="sécret\nkey")
    with pytest.raises(ConfigurationError) as caught:
        model.check()
    assert "cret" not in str(caught.value)


async def test_further_headers_are_sent() -> None:
    async with ModelServer(["Hi"]) as server:
        await ask(server.model(headers={"X-Title": "tests"}))
        assert server.requests[0].headers["x-title"] == "tests"


CANARY = "canary-5f0c1e7a"


async def test_a_key_is_in_no_repr_error_or_pickle() -> None:
    def echo(asked: Recorded) -> Reply:
        told = f"bad key {asked.headers['authorization']} and {asked.headers['x-key']}"
        texts = [
            Reply.error(401, told),
            Reply.raw(told, status=500, content_type="text/plain"),
            Reply.html(200, told),
            Reply.raw({"error": {"message": told}}),
            Reply.events({"error": {"message": told}}),
            Reply.events("{" + told),
            Reply.raw({"choices": [], "note": told}),
            Reply.raw({"message": told}, status=404),
        ]
        return texts[len(server.requests) - 1]

    async with ModelServer(script=echo) as server:
        model = DirectModel(
            "m", api_base=server.base_url, api_key=CANARY, headers={"x-key": f"{CANARY}-2"}
        )
        for _ in range(8):
            error = await failing(model)
            seen: BaseException | None = error
            while seen is not None:
                assert CANARY not in f"{seen!s} {seen!r} {vars(seen)}"
                seen = seen.__cause__ or seen.__context__
            assert CANARY.encode() not in pickle.dumps(error)
        assert CANARY not in f"{model!r} {model.name} {model.endpoint} {model._key!r}"
        with pytest.raises(ConfigurationError, match="key"):
            pickle.dumps(model)
        await model.aclose()


async def test_a_redirect_is_not_followed_with_the_key() -> None:
    async with ModelServer() as other:
        elsewhere = {"location": f"{other.base_url}/chat/completions"}
        async with ModelServer([Reply.raw(b"", status=307, headers=elsewhere)]) as server:
            error = await failing(server.model())
            assert "307" in str(error)
            assert error.retryable is False
        assert other.requests == []


def test_a_model_is_made_without_aiohttp() -> None:
    code = (
        "import sys; from robotlab_nb.models.direct import DirectModel;"
        "DirectModel('m', api_base='http://127.0.0.1:1/v1').check();"
        "sys.exit('aiohttp' in sys.modules or 'asyncio' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode == 0
