"""The model server: what it sends, what it notes, how it ends."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
import time
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.testing import Call, ModelServer, Recorded, Reply

ASK = {"model": "m", "messages": [{"role": "user", "content": "Hello there"}]}


class Client:
    """A plain client, of the standard library."""

    def __init__(self, server: ModelServer) -> None:
        host, port = server.url.removeprefix("http://").split(":")
        self.connection = http.client.HTTPConnection(host, int(port), timeout=20)

    def post(self, **more: Any) -> http.client.HTTPResponse:
        self.connection.request("POST", "/v1/chat/completions", json.dumps({**ASK, **more}))
        return self.connection.getresponse()

    def get(self, path: str) -> http.client.HTTPResponse:
        self.connection.request("GET", path)
        return self.connection.getresponse()


def events(raw: bytes) -> list[Any]:
    data = [line[6:] for line in raw.decode().split("\n") if line.startswith("data: ")]
    assert data[-1] == "[DONE]"
    return [json.loads(text) for text in data[:-1]]


def deltas(raw: bytes) -> list[dict[str, Any]]:
    return [obj["choices"][0]["delta"] for obj in events(raw) if obj["choices"]]


# -- what is sent --------------------------------------------------------------------------------


def test_text_goes_out_whole_or_streamed_as_asked() -> None:
    with ModelServer(["Hello there, you", "Hello there, you"]) as server:
        client = Client(server)
        answer = client.post()
        assert answer.headers["content-type"] == "application/json"
        whole = json.loads(answer.read())
        assert whole["choices"] == [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello there, you"},
                "finish_reason": "stop",
            }
        ]
        assert whole["usage"]["total_tokens"] > 0
        assert whole["model"] == "m"
        answer = client.post(stream=True)
        assert answer.headers["content-type"].startswith("text/event-stream")
        pieces = [delta.get("content") for delta in deltas(answer.read())]
        assert pieces == ["", "Hello ", "there, ", "you", None]


@pytest.mark.parametrize("wanted", [False, True])
def test_a_stream_has_usage_only_where_it_was_asked_for(wanted: bool) -> None:
    with ModelServer(["a"]) as server:
        raw = Client(server).post(stream=True, stream_options={"include_usage": wanted}).read()
    assert [obj["choices"] for obj in events(raw) if "usage" in obj] == ([[]] if wanted else [])


def test_usage_is_counted_or_given_or_left_out() -> None:
    counts = {"prompt_tokens": 1, "completion_tokens": 2}
    with ModelServer([Reply.text("a", usage=counts), Reply.text("a", usage=None)]) as server:
        client = Client(server)
        assert json.loads(client.post().read())["usage"] == counts
        assert "usage" not in json.loads(client.post().read())


def test_calls_are_whole_or_in_pieces_and_may_take_turns() -> None:
    reply = Reply.tool_calls(("f", {"x": 1}), ("g", '{"y":', "mine"), Call("h"), text="So:")
    with ModelServer([reply, reply, Reply.tool_calls("fg", "gh", interleaved=True)]) as server:
        client = Client(server)
        choice = json.loads(client.post().read())["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["content"] == "So:"
        made = [(c["id"], *c["function"].values()) for c in choice["message"]["tool_calls"]]
        assert made == [("call_1", "f", '{"x": 1}'), ("mine", "g", '{"y":'), ("call_1", "h", "{}")]
        for turns in ([0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2], [0, 1, 0, 1]):
            sent = [
                d["tool_calls"][0]
                for d in deltas(client.post(stream=True).read())
                if d.get("tool_calls")
            ]
            assert [entry["index"] for entry in sent] == turns
            assert all(("id" in entry) == ("name" in entry["function"]) for entry in sent)
        joined = "".join(e["function"]["arguments"] for e in sent if e["index"] == 0)
        assert joined == "g"


def test_reasoning_refusals_and_filters() -> None:
    replies = [
        Reply.text("4", reasoning="Two and two"),
        Reply.refusal("No."),
        Reply.content_filter(),
    ]
    with ModelServer(replies * 2) as server:
        client = Client(server)
        choices = [json.loads(client.post().read())["choices"][0] for _ in range(3)]
        assert choices[0]["message"]["reasoning_content"] == "Two and two"
        assert choices[1]["message"] == {"role": "assistant", "content": None, "refusal": "No."}
        assert choices[2]["finish_reason"] == "content_filter"
        streams = [deltas(client.post(stream=True).read()) for _ in range(3)]
        thought = "".join(delta.get("reasoning_content", "") for delta in streams[0])
        assert thought == "Two and two"
        assert "".join(delta.get("refusal", "") for delta in streams[1]) == "No."


def test_errors_pages_and_raw_bodies() -> None:
    replies = [
        Reply.error(429, "slow", code="rate", headers={"retry-after": "1"}),
        Reply.html(502),
        Reply.raw(b"\xff\x00", content_type="x/y", status=201),
        Reply.raw({"a": 1}),
        Reply.events({"a": 1}, "plain", done=False),
    ]
    with ModelServer(replies) as server:
        client = Client(server)
        answer = client.post()
        assert (answer.status, answer.headers["retry-after"]) == (429, "1")
        assert json.loads(answer.read())["error"]["code"] == "rate"
        answer = client.post()
        assert (answer.status, answer.headers["content-type"]) == (502, "text/html")
        assert b"<title>Bad Gateway" in answer.read()
        answer = client.post()
        assert (answer.status, answer.headers["content-type"]) == (201, "x/y")
        assert answer.read() == b"\xff\x00"
        assert client.post().read() == b'{"a": 1}'
        assert client.post().read() == b'data: {"a": 1}\n\ndata: plain\n\n'


def test_a_body_may_be_split_anywhere_and_is_the_same() -> None:
    reply = Reply.text("Olá 🌍")
    with ModelServer([reply, reply.split(1, 2, 3), reply.split(1)]) as server:
        client = Client(server)
        bodies = {client.post(stream=True).read() for _ in range(3)}
    assert len(bodies) == 1
    _, blocks = reply.split(1, 2, 3).blocks({"stream": True})
    assert [len(block) for block in blocks[:5]] == [1, 2, 3, 3, 3]


@pytest.mark.parametrize("streaming", [False, True])
@pytest.mark.parametrize("after", [0, 1, 40])
def test_a_cut_body_ends_after_so_many_bytes(streaming: bool, after: int) -> None:
    reply = Reply.text("Hello there")
    whole = b"".join(reply.blocks({**ASK, "stream": streaming})[1])
    with ModelServer([reply.cut(after)]) as server:
        answer = Client(server).post(stream=streaming)
        with pytest.raises(http.client.IncompleteRead) as caught:
            answer.read()
        assert caught.value.partial == whole[:after]


def test_a_body_without_a_marked_end_ends_with_the_connection() -> None:
    reply = Reply.text("Hello there").unframed()
    with ModelServer([reply, reply.cut(9)]) as server:
        assert json.loads(Client(server).post().read())["choices"]
        assert len(Client(server).post().read()) == 9


def test_a_reply_may_be_late_and_slow() -> None:
    with ModelServer([Reply.text("a").after(0.15), Reply.text("a b c").paced(0.05)]) as server:
        client = Client(server)
        began = time.monotonic()
        client.post().read()
        assert time.monotonic() - began >= 0.15
        began = time.monotonic()
        client.post(stream=True).read()
        assert time.monotonic() - began >= 0.05 * 5


# -- what is noted -------------------------------------------------------------------------------


def test_requests_are_kept() -> None:
    with ModelServer(["a"]) as server:
        client = Client(server)
        before = time.monotonic()
        client.post(stream=True).read()
        assert client.get("/v1/models").status == 200
        asked, listed = server.requests
    assert (asked.method, asked.path, asked.streaming) == ("POST", "/v1/chat/completions", True)
    assert asked.body == {**ASK, "stream": True}
    assert asked.messages == ASK["messages"]
    assert before <= asked.arrived <= time.monotonic()
    assert asked.headers["host"]
    assert asked.finished
    assert asked.disconnected_at is None
    assert (listed.method, listed.path, listed.body) == ("GET", "/v1/models", None)


def test_a_client_that_leaves_is_noticed() -> None:
    with ModelServer([Reply.text("a b c").paced(30), Reply.text("a").after(30)]) as server:
        for n in (0, 1):
            client = Client(server)
            client.connection.request(
                "POST", "/v1/chat/completions", json.dumps({**ASK, "stream": True})
            )
            assert server.wait_for_requests(n + 1)
            asked = server.requests[n]
            assert not asked.wait(0.05)
            client.connection.close()
            assert asked.wait()
            assert asked.disconnected_at is not None
            assert asked.disconnected_at >= asked.arrived
            assert not asked.finished


def test_waiting_for_requests_that_do_not_come_ends() -> None:
    with ModelServer() as server:
        assert server.wait_for_requests(0, timeout=0.01)
        assert not server.wait_for_requests(1, timeout=0.01)


def test_bodies_in_chunks_and_with_leave_are_read() -> None:
    body = json.dumps(ASK).encode()
    with ModelServer(["a", "a"]) as server:
        connection = Client(server).connection
        connection.request("POST", "/v1/chat/completions", iter([body[:7], body[7:]]))
        assert connection.getresponse().read()
        connection = Client(server).connection
        connection.putrequest("POST", "/v1/chat/completions")
        connection.putheader("content-length", str(len(body)))
        connection.putheader("expect", "100-continue")
        connection.endheaders()
        connection.send(body)
        assert connection.getresponse().status == 200
        assert [asked.body for asked in server.requests] == [ASK, ASK]


def test_a_reply_for_each_of_many_clients_at_once() -> None:
    def script(asked: Recorded) -> str:
        return str(asked.messages[0]["content"])

    found: list[str] = []
    with ModelServer(script=script) as server:

        def one(n: int) -> None:
            raw = Client(server).post(messages=[{"role": "user", "content": f"no. {n}"}]).read()
            found.append(json.loads(raw)["choices"][0]["message"]["content"])

        threads = [threading.Thread(target=one, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert sorted(found) == sorted(f"no. {n}" for n in range(20))


# -- scripts and ends ----------------------------------------------------------------------------


def test_a_request_beyond_the_script_is_an_error_and_noted() -> None:
    with ModelServer(["a"]) as server:
        client = Client(server)
        client.post().read()
        answer = client.post()
        assert answer.status == 500
        assert answer.headers["x-should-retry"] == "false"
        assert "request 2 has no reply" in json.loads(answer.read())["error"]["message"]
        assert server.unexpected == [server.requests[1]]


def test_other_paths_are_not_found() -> None:
    with ModelServer() as server:
        answer = Client(server).get("/v2/else")
        assert answer.status == 404
        assert "GET /v2/else" in json.loads(answer.read())["error"]["message"]


def test_the_last_reply_may_be_given_again() -> None:
    with ModelServer(["a", "b"], repeat=True) as server:
        client = Client(server)
        said = [
            json.loads(client.post().read())["choices"][0]["message"]["content"] for _ in range(4)
        ]
        assert said == ["a", "b", "b", "b"]


def test_a_script_that_fails_is_an_error_to_the_client() -> None:
    def script(asked: Recorded) -> Reply:
        raise ValueError("oops")

    with ModelServer(script=script) as server:
        answer = Client(server).post()
        assert answer.status == 500
        assert "ValueError: oops" in answer.read().decode()


def test_replies_that_were_not_asked_for_are_listed() -> None:
    server = ModelServer(["used", "left over", Reply.tool_call("f", {"x": 1}), Reply.error(500)])
    with pytest.raises(AssertionError, match="3 of the server's replies") as caught, server:
        Client(server).post().read()
    for words in ("left over", 'f({"x": 1})', "500"):
        assert words in str(caught.value)
    assert "'used'" not in str(caught.value)


def test_another_error_is_not_hidden_by_unused_replies() -> None:
    with pytest.raises(KeyError, match="mine"), ModelServer(["a"]):
        raise KeyError("mine")


async def test_it_is_an_async_context_too() -> None:
    with pytest.raises(AssertionError, match="not asked for"):
        async with ModelServer(["a"]) as server:
            assert server.base_url == f"{server.url}/v1"


def test_closing_is_prompt_and_drops_connections() -> None:
    server = ModelServer([Reply.text("a").after(60)]).start()
    client = Client(server)
    client.connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
    assert server.wait_for_requests()
    threads = [threading.Thread(target=server.close) for _ in range(3)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert time.monotonic() - began < 5
    with pytest.raises(OSError):
        client.connection.getresponse()
    with pytest.raises(OSError):
        Client(server).get("/v1/models")
    assert not any(t.name == "ModelServer" and t.is_alive() for t in threading.enumerate())


def test_a_server_that_does_not_run_has_no_address() -> None:
    with pytest.raises(ConfigurationError, match="not running"):
        _ = ModelServer().url
    with pytest.raises(ConfigurationError, match="not both"):
        ModelServer(["a"], script=lambda asked: "b")


def test_a_model_of_the_server_answers() -> None:
    async def ask() -> str:
        from robotlab_nb.core.messages import Message
        from robotlab_nb.models.protocol import Request

        request = Request((Message("user", "Hello"),))
        return "".join(
            [c.text async for c in server.model("m").stream(request) if c.kind == "text"]
        )

    with ModelServer(["Hi!"]) as server:
        assert asyncio.run(ask()) == "Hi!"
        assert server.requests[0].body["model"] == "m"
        assert "test-key" not in repr(server.requests[0])
