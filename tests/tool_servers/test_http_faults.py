"""What goes wrong over HTTP: refusals, redirects, restarts, cut lines, streams that end."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from socket import SHUT_RDWR, socket

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp import Client, Server, Session

from .peers import Loop, free_port


class Faulty(BaseHTTPRequestHandler):
    """A server of the handshake era with a session, and whatever the test wants broken."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def reply(self, status: int, body: object = None, **headers: str) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.reply(405)

    do_DELETE = do_GET

    def do_POST(self) -> None:
        state = self.server.state  # type: ignore[attr-defined]
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        state["seen"].append((message.get("method"), dict(self.headers)))
        method = message.get("method")
        if state.get("status"):
            return self.reply(state["status"], **state.get("headers", {}))
        if state.get("busy"):
            state["busy"] -= 1
            return self.reply(503)
        if "id" not in message:
            return self.reply(202)
        if method == "initialize":
            state["session"] += 1
            result = {
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "web", "version": "1"},
            }  # fmt: skip
            said = {"jsonrpc": "2.0", "id": message["id"], "result": result}
            return self.reply(200, said, mcp_session_id=f"s{state['session']}")
        if method == "server/discover":
            refusal = {"code": -32601, "message": "no"}
            return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "error": refusal})
        if self.headers.get("mcp-session-id") != f"s{state['session']}":
            return self.reply(404)
        if method == "tools/call":
            if state.get("cut"):
                self.close_connection = True
                return self.connection.shutdown(SHUT_RDWR)
            if state.get("call_status"):
                return self.reply(state["call_status"])
            text = f"s{state['session']}" + state.get("padding", "")
            result = {"content": [{"type": "text", "text": text}]}
        else:
            result = {"tools": [{"name": "who", "inputSchema": {"type": "object"}}]}
        return self.reply(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})


@pytest.fixture
def web():
    """``(url, state)`` of a faulty web server."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Faulty)
    server.state = {"seen": [], "session": 0}  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/mcp", server.state  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()


def test_headers_are_sent_and_read_from_the_environment(web, monkeypatch):
    url, state = web
    monkeypatch.setenv("WEB_TOKEN", "token-0123456789")
    server = Server("web", url=url, headers={"Authorization": "Bearer ${WEB_TOKEN}"})
    with Client(server) as client:
        assert client.call_tool("who").text == "s1"
    assert {h["Authorization"] for _, h in state["seen"] if "Authorization" in h} == {
        "Bearer token-0123456789"
    }
    assert "token-0123456789" not in repr(server) + json.dumps(server.to_dict())


def test_a_session_that_is_known_already_is_taken_up(web):
    url, state = web
    with Client(Server("web", url=url, session_id="s41")) as client:
        client.list_tools()
    asked = {method: headers.get("mcp-session-id") for method, headers in state["seen"]}
    assert asked["server/discover"] == "s41"
    assert asked["tools/list"] == "s1"  # the server has given another


@pytest.mark.parametrize(("status", "says"), [(401, "not signed in"), (500, "status 500")])
def test_a_refused_connection_has_its_status(web, status, says):
    url, state = web
    state["status"] = status
    with pytest.raises(rl.MCPConnectionError, match=says) as raised:
        Client(Server("web", url=url)).connect()
    assert (raised.value.status, raised.value.transport) == (status, "http")


def test_a_redirect_to_somebody_else_is_not_followed(web):
    url, state = web
    state["status"], state["headers"] = 307, {"location": "http://127.0.0.1:9/mcp"}
    with pytest.raises(rl.MCPError) as raised:
        Client(Server("web", url=url, headers={"Authorization": "Bearer k"})).connect()
    assert "127.0.0.1:9" in str(raised.value)


def test_a_busy_server_is_tried_again_as_often_as_retry_says(web):
    url, state = web
    state["busy"] = 4
    with pytest.raises(rl.MCPConnectionError):
        Client(Server("web", url=url)).connect()
    state["busy"] = 4
    with Client(Server("web", url=url, retry=3, timeout=60)) as client:
        assert client.call_tool("who").text == "s1"


def test_a_server_that_was_restarted_forgets_the_session_and_gets_another(web):
    url, state = web
    with Client(Server("web", url=url)) as client:
        assert client.call_tool("who").text == "s1"
        state["session"] = 7
        assert client.call_tool("who").text == "s8"
        assert client.connected


def test_a_call_whose_connection_is_cut_fails_and_the_next_one_works(web):
    url, state = web
    with Client(Server("web", url=url)) as client:
        client.call_tool("who")
        state["cut"] = True
        began = time.monotonic()
        with pytest.raises(rl.MCPConnectionError, match="ended during the tool 'who'"):
            client.call_tool("who")
        assert time.monotonic() - began < 10
        state["cut"] = False
        assert client.call_tool("who").text == "s2"


def test_the_very_next_call_does_not_meet_the_connection_that_has_just_died(web):
    url, state = web

    async def scene() -> str:
        async with Client(Server("web", url=url)) as client:
            state["cut"] = True
            with pytest.raises(rl.MCPConnectionError):
                await client.acall_tool("who")
            state["cut"] = False
            return (await client.acall_tool("who")).text

    with rl.engine(loop="current"):  # nothing else runs between the two
        assert asyncio.run(scene()) == "s2"


def test_a_status_in_place_of_an_answer_is_told(web):
    url, state = web
    with Client(Server("web", url=url)) as client:
        state["call_status"] = 502
        with pytest.raises(rl.MCPConnectionError, match="HTTP status 502") as raised:
            client.call_tool("who")
        assert raised.value.status == 502


@pytest.mark.parametrize("kind", ["http", "sse", "ws"])
def test_where_nobody_listens(kind):
    scheme = "ws" if kind == "ws" else "http"
    server = Server("nobody", type=kind, url=f"{scheme}://127.0.0.1:{free_port()}/mcp", timeout=20)
    began = time.monotonic()
    with pytest.raises(rl.MCPConnectionError, match="did not answer") as raised:
        Client(server).connect()
    assert time.monotonic() - began < 15
    assert raised.value.retryable


def test_a_page_that_is_no_stream_of_events(web):
    url, _ = web
    with pytest.raises(rl.MCPConnectionError, match="405"):
        Client(Server("web", type="sse", url=url)).connect()


class Events(BaseHTTPRequestHandler):
    """A server of the older HTTP transport: a stream of events, and posts beside it."""

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        state = self.server.state  # type: ignore[attr-defined]
        told = state["told"] = Queue()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        if state["endpoint"]:
            self.wfile.write(f"event: endpoint\ndata: {state['endpoint']}\n\n".encode())
        while (said := told.get()) is not None:
            self.wfile.write(f": a comment\n\nevent: message\ndata: {said}\n\n".encode())

    def do_POST(self) -> None:
        state = self.server.state  # type: ignore[attr-defined]
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        state["posts"].append((self.path, self.headers.get("X-Team")))
        if message.get("method") == "tools/call" and state["status"]:
            self.send_response(state["status"])
            self.end_headers()
            return
        if "id" in message and not (state.get("mute") and message["method"] == "tools/call"):
            asked = Loop({})
            asyncio.run(asked.send(message))
            state["told"].put(json.dumps(asked.said.get_nowait()))
        self.send_response(202)
        self.end_headers()


@pytest.fixture
def events():
    """``(url, state)`` of a server of events."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Events)
    server.daemon_threads = True
    state = {"endpoint": "/post?s=1", "told": Queue(), "posts": [], "status": 0}
    server.state = state  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/sse", state
    state["told"].put(None)
    server.shutdown()
    server.server_close()


def test_posts_go_where_the_server_says_or_where_we_say(events):
    url, state = events
    with Client(Server("old", url=url, headers={"X-Team": "blue"})) as client:
        assert client.call_tool("any").text == '"any"'
    assert set(state["posts"]) == {("/post?s=1", "blue")}
    state["endpoint"] = None
    with Client(Server("old", url=url, post_url=url.replace("sse", "mine"))) as client:
        assert client.call_tool("any").text == '"any"'
    assert ("/mine", None) in state["posts"]


def test_posts_are_sent_to_nobody_else_whatever_the_server_says(events):
    url, state = events
    state["endpoint"] = "http://127.0.0.2:9/post"
    with pytest.raises(rl.MCPConnectionError, match="wants posts sent elsewhere"):
        Client(Server("old", url=url, headers={"Authorization": "Bearer k"})).connect()


def test_a_post_that_is_not_taken_fails_its_call_at_once(events):
    url, state = events
    with Client(Server("old", url=url)) as client:
        client.list_tools()
        state["status"] = 500
        with pytest.raises(rl.MCPConnectionError, match="HTTP status 500"):
            client.call_tool("any")
        state["status"] = 0
        assert client.call_tool("any").text == '"any"'


def test_a_stream_that_ends_ends_what_is_waited_for(events):
    url, state = events
    with Client(Server("old", url=url)) as client:
        client.list_tools()
        waiting = threading.Timer(0.3, state["told"].put, (None,))
        state["mute"] = True
        waiting.start()
        with pytest.raises(rl.MCPConnectionError, match="closed its stream"):
            client.call_tool("any", timeout=30)


def test_an_answer_past_all_bounds_is_broken_off(web, monkeypatch):
    url, state = web
    monkeypatch.setattr("robotlab_nb.mcp.http_transport.LARGEST_MESSAGE", 1_000_000)
    with Client(Server("web", url=url)) as client:
        client.call_tool("who")
        state["padding"] = "x" * 2_000_000
        with pytest.raises(rl.MCPError, match="more than 1 MB"):
            client.call_tool("who")
        state["padding"] = ""
        assert client.call_tool("who").text == "s1"


def test_an_http_server_that_never_answers_is_given_up_at_the_deadline():
    with socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
        for kind in ("http", "sse", "ws"):
            address = url.replace("http", "ws") if kind == "ws" else url
            session = Session(Server("mute", type=kind, url=address, timeout=1))
            began = time.monotonic()
            with pytest.raises(rl.MCPTimeout, match="did not say hello within 1 s"):
                asyncio.run(session.ready())
            assert time.monotonic() - began < 15


def test_what_a_server_does_not_offer_is_not_asked_for(web):
    url, state = web
    with Client(Server("web", url=url)) as client:
        assert client.list_resources() == ()
        assert client.list_prompts() == ()
        with pytest.raises(rl.MCPError, match="offers no resources. It offers: tools."):
            client.read_resource("web://any")
        with pytest.raises(rl.MCPError, match="offers no completions"):
            client.complete("any", "argument")
    assert not [m for m, _ in state["seen"] if m and m.startswith(("resources", "prompts"))]
