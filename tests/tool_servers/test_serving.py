"""Robots and networks that are served: called by the SDK's own client, over real sockets."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import time
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from pydantic import BaseModel

import robotlab_nb as rl

#: the generations of the protocol: with a handshake, and without
ERAS = ("legacy", "auto")
KEY = "sk-canary-serving-0123456789"


@asynccontextmanager
async def client(serving, mode="auto", **options):
    from mcp import Client
    from mcp.client.sse import sse_client

    from tests.benchmarks.tool_servers import bare_websocket

    made = {"sse": sse_client, "websocket": bare_websocket, "http": str}
    target = made[serving.transport](serving.url)
    async with Client(target, mode=mode, **options) as found:
        yield found


@pytest.fixture
def serve():
    """``serve(robot, …)``, stopped after the test."""
    begun = []

    def start(*args, **options):
        begun.append(rl.mcp.serve(*args, **options))
        return begun[-1]

    yield start
    for each in begun:
        each.stop()
    assert rl.mcp.servings() == []


def text_of(result):
    return result.content[0].text


async def until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.01)


# -- what is offered ---------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["http", "sse", "websocket"])
@pytest.mark.parametrize("mode", ERAS)
async def test_a_robot_is_a_tool_that_answers(serve, transport, mode):
    bot = rl.build("my poet", description="Writes.", model=rl.SimulatedModel(["roses are red"]))
    serving = serve(bot, transport=transport)
    async with client(serving, mode) as peer:
        (tool,) = (await peer.list_tools()).tools
        assert (tool.name, tool.title, tool.description) == ("my_poet", "my poet", "Writes.")
        assert tool.input_schema["required"] == ["message"]
        assert tool.output_schema is None
        found = await peer.call_tool("my_poet", {"message": "a poem"})
    assert not found.is_error
    assert text_of(found) == "roses are red"
    assert found.meta["robotlab_nb/simulated"] is True
    assert serving.count == 1
    assert serving.recent[0].run_id == found.meta["robotlab_nb/run_id"]


async def test_a_template_s_parameters_are_the_context_that_a_call_gives(serve):
    text = (
        "---\nparameters:\n  tone: {type: string, description: how it sounds}\n"
        "  lines: {type: integer, default: 4}\n---\nWrite in a {{ tone }} tone, {{ lines }} lines."
    )
    seen = []

    def answer(request):
        seen.append(request.messages[0].text)
        return "done"

    bot = rl.build("poet", template=rl.Template(text), model=rl.SimulatedModel(answer))
    async with client(serve(bot)) as peer:
        (tool,) = (await peer.list_tools()).tools
        assert tool.input_schema["properties"]["context"] == {
            "type": "object",
            "properties": {
                "tone": {"type": "string", "description": "how it sounds"},
                "lines": {"type": "integer", "default": 4},
            },
            "required": ["tone"],
        }
        assert "context" in tool.input_schema["required"]
        given = {"message": "tea", "context": {"tone": "dry"}}
        assert text_of(await peer.call_tool("poet", given)) == "done"
        missing = await peer.call_tool("poet", {"message": "tea"})
    assert seen == ["Write in a dry tone, 4 lines."]
    assert missing.is_error
    assert "tone" in text_of(missing)


class Line(BaseModel):
    words: str
    syllables: int


@pytest.mark.parametrize(
    ("output", "said", "expected"),
    [
        (Line, '{"words": "tea", "syllables": 1}', {"words": "tea", "syllables": 1}),
        (list[int], '{"value": [1, 2]}', {"value": [1, 2]}),
    ],
)
async def test_a_prescribed_answer_is_structured_and_fits_the_schema_that_is_told(
    serve, output, said, expected
):
    import jsonschema

    bot = rl.build("poet", output=output, model=rl.SimulatedModel([said]))
    async with client(serve(bot)) as peer:
        (tool,) = (await peer.list_tools()).tools
        found = await peer.call_tool("poet", {"message": "go"})
    assert found.structured_content == expected == json.loads(text_of(found))
    jsonschema.validate(found.structured_content, tool.output_schema)


async def test_several_are_told_apart_by_their_names(serve):
    a, b = (rl.build("same", model=rl.SimulatedModel([w])) for w in ("one", "two"))
    with pytest.raises(rl.ConfigurationError, match="two of what is to be served"):
        rl.mcp.serve([a, b])
    async with client(serve({"first": a, "second": b})) as peer:
        assert text_of(await peer.call_tool("second", {"message": "?"})) == "two"
        unknown = await peer.call_tool("secnd", {"message": "?"})
    assert unknown.is_error
    assert "Did you mean 'second'?" in text_of(unknown)


async def test_templates_that_are_given_are_prompts_and_a_robot_s_own_is_not_shown(serve):
    prompt = rl.Template(
        "---\ndescription: An order.\nparameters:\n  n: {type: integer}\n---\nTake {{ n + 1 }}.",
        "order",
    )
    bot = rl.build("poet", system_prompt=f"The secret is {KEY}.")
    async with client(serve(bot, prompts=[prompt])) as peer:
        (listed,) = (await peer.list_prompts()).prompts
        assert (listed.name, listed.description) == ("order", "An order.")
        found = await peer.get_prompt("order", {"n": "2"})
        assert found.messages[0].content.text == "Take 3."
        with pytest.raises(Exception, match="takes integer"):
            await peer.get_prompt("order", {"n": "many"})
        told = str(await peer.list_tools())
    assert KEY not in told


# -- networks ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ERAS)
async def test_a_network_tells_task_by_task_how_far_it_is(serve, mode):
    tries = []

    def read(message):
        tries.append(message)
        if len(tries) == 1:
            raise rl.ToolError("not yet", retryable=True)
        return message.upper()

    net = rl.create_network("support")
    net.task("read", read, retries=1)
    net.task("never", lambda: 1, when=lambda: False, depends_on=["read"])
    net.task("count", lambda upstream: {"letters": 5}, depends_on=["read"])
    told = []

    async def heard(done, total, message):
        told.append((done, total, message))

    async with client(serve(net), mode) as peer:
        found = await peer.call_tool("support", {"message": "hello"}, progress_callback=heard)
        await until(lambda: told and told[-1][0] == 3)
    steps = [done for done, _, _ in told]
    assert steps == sorted(set(steps))
    assert {total for _, total, _ in told} == {3}
    assert [m for _, _, m in told if m.startswith("read")] == ["read: started", "read: completed"]
    assert "never: skipped" in [m for _, _, m in told]
    tasks = found.structured_content["tasks"]
    assert tasks["read"] == {"status": "completed", "text": "HELLO"}
    assert tasks["never"] == {"status": "skipped"}
    assert found.structured_content["value"] == {"letters": 5}


# -- what goes wrong ---------------------------------------------------------------------------


async def test_errors_are_words_without_secrets_and_tracebacks(serve):
    def broken(message):
        raise OSError(f"postgres://u:{KEY}@db /home/ada/customers.csv")

    net = rl.create_network("audit")
    net.task("look", broken)
    model = rl.SimulatedModel([rl.ModelError("the model is busy", hint="Wait.", retryable=False)])
    bot = rl.build("poet", model=model)
    async with client(serve([net, bot])) as peer:
        of_network = await peer.call_tool("audit", {"message": "go"})
        of_robot = await peer.call_tool("poet", {"message": "go"})
        empty = await peer.call_tool("poet", {"message": "  "})
        stray = await peer.call_tool("poet", {"mesage": "hi"})
    assert of_network.is_error
    assert "network 'audit' failed: look: OSError" in text_of(of_network)
    for secret in (KEY, "customers", "Traceback", "postgres"):
        assert secret not in str(of_network)
    assert of_robot.is_error
    assert "the model is busy. Wait." in text_of(of_robot)
    assert empty.is_error
    assert stray.is_error
    assert "Did you mean 'message'?" in text_of(stray)


async def test_registered_secrets_are_masked_in_answers(serve):
    rl.register_secret(KEY, "VAULT")
    bot = rl.build("poet", model=rl.SimulatedModel([f"the key is {KEY}"]))
    async with client(serve(bot)) as peer:
        found = await peer.call_tool("poet", {"message": "tell"})
    assert text_of(found) == "the key is [redacted: VAULT]"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_call_that_the_client_cancels_stops_its_run(serve, mode):
    bot = rl.build("slow", model=rl.SimulatedModel(["never"], delay=60))
    serving = serve(bot)
    async with client(serving, mode) as peer:
        call = asyncio.create_task(peer.call_tool("slow", {"message": "go"}))
        await until(lambda: serving.active == 1)
        (run,) = rl.runs()
        call.cancel()
        await asyncio.wait([call])
        await until(lambda: run.done)
    assert run.status == "interrupted"
    await until(lambda: serving.active == 0)
    assert serving.recent[-1].status == "cancelled"


async def test_stopping_ends_what_goes_on_and_frees_the_port(serve):
    bot = rl.build("slow", model=rl.SimulatedModel(["never"], delay=60))
    serving = serve(bot)
    address = urlsplit(serving.url)
    async with client(serving, "legacy") as peer:
        call = asyncio.create_task(peer.call_tool("slow", {"message": "go"}))
        await until(lambda: serving.active == 1)
        (run,) = rl.runs()
        await asyncio.to_thread(serving.stop)
        await until(lambda: run.done)
        call.cancel()
        await asyncio.wait([call])
    assert run.status == "interrupted"
    assert serving.status == "stopped"
    serving.stop()
    with socket.socket() as again:
        assert again.connect_ex((address.hostname, address.port)) != 0
    with serve(bot, port=address.port) as second:
        assert second.url == serving.url


@pytest.mark.parametrize("transport", ["http", "sse", "websocket"])
def test_stopping_closes_what_is_open_and_complains_of_nothing(serve, transport, caplog):
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    caplog.set_level(logging.WARNING)
    serving = serve(rl.build("poet"), transport=transport)
    address = urlsplit(serving.url)
    if transport == "websocket":
        with connect(serving.url, subprotocols=["mcp"]) as peer:
            serving.stop()
            with pytest.raises(ConnectionClosed):
                peer.recv(timeout=20)
    else:
        from http.client import HTTPConnection

        peer = HTTPConnection(address.hostname, address.port, timeout=20)
        headers = {"Accept": "text/event-stream, application/json"}
        if transport == "http":
            hello = {"protocolVersion": "2025-11-25", "capabilities": {}}
            hello["clientInfo"] = {"name": "t", "version": "1"}
            request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
            own = {**headers, "Content-Type": "application/json"}
            peer.request("POST", address.path, json.dumps(request), own)
            answer = peer.getresponse()
            answer.read()
            headers["Mcp-Session-Id"] = answer.getheader("Mcp-Session-Id")
        peer.request("GET", address.path, headers=headers)
        stream = peer.getresponse()
        assert stream.status == 200
        serving.stop()
        stream.read()  # it ends
        peer.close()
    assert serving.error is None
    assert [r for r in caplog.records if r.name.startswith(("uvicorn", "mcp", "sse"))] == []


async def test_calls_are_bounded(serve):
    bot = rl.build("slow", model=rl.SimulatedModel(["a"] * 3, delay=0.05))
    serving = serve(bot, max_calls=1)
    most = []
    async with client(serving) as peer:
        calls = [asyncio.create_task(peer.call_tool("slow", {"message": "go"})) for _ in range(3)]
        while not all(call.done() for call in calls):
            most.append(len(rl.runs()))
            await asyncio.sleep(0.005)
    assert max(most) == 1
    assert [text_of(call.result()) for call in calls] == ["a", "a", "a"]


# -- conversations -----------------------------------------------------------------------------


def repeating():
    """A robot that says how many messages it was sent, and what the latest was."""

    def answer(request):
        people = [m.text for m in request.messages if m.role == "user"]
        return f"{len(people)}: {people[-1]}"

    return rl.build("echo", model=rl.SimulatedModel(answer, delay=0.01))


async def test_calls_at_the_same_time_know_nothing_of_each_other(serve):
    bot = repeating()
    bot.run("mine")
    async with client(serve(bot)) as peer:
        calls = [peer.call_tool("echo", {"message": f"m{n}"}) for n in range(8)]
        found = await asyncio.gather(*calls)
        refused = await peer.call_tool("echo", {"message": "m", "conversation": "ann"})
    assert [text_of(each) for each in found] == [f"1: m{n}" for n in range(8)]
    assert refused.is_error
    assert len([m for m in bot.messages if m.role == "user"]) == 1


async def test_calls_that_name_a_conversation_go_on_with_it_in_turns(serve):
    async with client(serve(repeating(), conversations=True)) as peer:
        named = [
            peer.call_tool("echo", {"message": f"{who}{n}", "conversation": who})
            for n in range(3)
            for who in ("ann", "bob")
        ]
        found = [text_of(each) for each in await asyncio.gather(*named)]
        alone = await peer.call_tool("echo", {"message": "m"})
    for who in ("ann", "bob"):
        own = [text for text in found if who in text]
        assert sorted(text.partition(":")[0] for text in own) == ["1", "2", "3"]
    assert text_of(alone) == "1: m"


# -- questions ---------------------------------------------------------------------------------


def asking():
    """A robot that asks for a size and then says what it was told."""
    steps = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ok: {results}"]

    def answer(request):
        results = [p.content_text for m in request.messages for p in m.tool_results]
        return f"told {results[0]}" if results else steps[0]

    return rl.build("shop", model=rl.SimulatedModel(answer), tools=[rl.ask_user])


def answering(action, content=None):
    from mcp.types import ElicitResult

    asked = []

    async def answer(ctx, params):
        asked.append(params)
        return ElicitResult(action=action, content=content)

    return asked, answer


@pytest.mark.parametrize("mode", ERAS)
async def test_a_question_goes_to_the_client_s_person(serve, mode):
    asked, answer = answering("accept", {"answer": "L"})
    async with client(serve(asking()), mode, elicitation_callback=answer) as peer:
        found = await peer.call_tool("shop", {"message": "shoes"})
    assert text_of(found) == "told L"
    assert asked[0].message == "Which size?"
    assert asked[0].requested_schema["properties"]["answer"]["enum"] == ["S", "L"]


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("action", "content", "told"),
    [
        ("decline", None, "no answer to 'Which size?': declined"),
        ("cancel", None, "closed the question"),
        ("accept", {"answer": "XXL"}, "gave no answer that fits"),
        (None, None, "it can ask nobody"),
    ],
)
async def test_a_question_that_nobody_answers_is_refused_clearly(
    serve, mode, action, content, told
):
    options = {}
    if action is not None:
        options["elicitation_callback"] = answering(action, content)[1]
    async with client(serve(asking()), mode, **options) as peer:
        found = await peer.call_tool("shop", {"message": "shoes"})
    assert told in text_of(found)


@pytest.mark.parametrize("mode", ERAS)
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ({"approve": True}, "paid 7"),
        ({"approve": False, "reason": "too much"}, "denied by the client that called: too much"),
    ],
)
async def test_an_approval_goes_to_the_client_with_the_arguments(serve, mode, content, told):
    @rl.tool(approval=True)
    def pay(amount: int) -> str:
        "Pay."
        return f"paid {amount}"

    def answer(request):
        results = [p.content_text for m in request.messages for p in m.tool_results]
        return results[0] if results else ("pay", {"amount": 7})

    bot = rl.build("cashier", model=rl.SimulatedModel(answer), tools=[pay])
    asked, answer_it = answering("accept", content)
    async with client(serve(bot), mode, elicitation_callback=answer_it) as peer:
        found = await peer.call_tool("cashier", {"message": "pay"})
    assert told in text_of(found)
    assert 'pay({"amount": 7})' in asked[0].message


@pytest.mark.parametrize("able", [True, False])
async def test_a_person_s_task_is_put_to_the_client_or_fails_with_words(serve, able):
    net = rl.create_network("letter")
    net.task("draft", lambda message: f"Dear {message}")
    net.task("check", rl.Human("editor", choices=["send", "drop"]), depends_on=["draft"])
    options = {"elicitation_callback": answering("accept", {"answer": "send"})[1]} if able else {}
    async with client(serve(net), **options) as peer:
        found = await peer.call_tool("letter", {"message": "Ada"})
    assert found.is_error is not able
    assert ("send" if able else "no answer of editor: it can ask nobody") in text_of(found)


@pytest.mark.parametrize("mode", ERAS)
async def test_a_person_who_says_nothing_is_waited_for_as_long_as_the_robot_says(serve, mode):
    async def silent(ctx, params):
        await asyncio.sleep(600)

    serving = serve(asking().update(ask_timeout=0.3))
    async with client(serving, mode, elicitation_callback=silent) as peer:
        call = asyncio.create_task(peer.call_tool("shop", {"message": "shoes"}))
        await until(lambda: rl.runs())
        (run,) = rl.runs()
        await until(lambda: run.done)
        assert "nobody answered" in run.result().text
        if mode == "legacy":  # in the newer one the client would come back first
            assert "nobody answered" in text_of(await call)
        call.cancel()
        await asyncio.wait([call])


async def test_a_client_that_does_not_come_back_with_an_answer_ends_its_call(serve, monkeypatch):
    from mcp.types import InputRequiredResult

    from robotlab_nb.mcp import serving_protocol

    monkeypatch.setattr(serving_protocol, "HOLD_S", 0.2)
    serving = serve(asking())
    asked, answer = answering("accept", {"answer": "L"})
    async with client(serving, elicitation_callback=answer) as peer:
        first = await peer.session.call_tool(
            "shop", {"message": "shoes"}, allow_input_required=True
        )
        assert isinstance(first, InputRequiredResult)
        (run,) = rl.runs()
        await until(lambda: run.done)
        again = await peer.session.call_tool(
            "shop", {"message": "shoes"}, request_state=first.request_state
        )
    assert run.status == "interrupted"
    assert again.is_error
    assert serving.active == 0
    assert asked == []


# -- who may come ------------------------------------------------------------------------------


def asked_over(url, method="POST", body=b"{}", **headers):
    """A bare request; gives the status."""
    from http.client import HTTPConnection

    address = urlsplit(url)
    connection = HTTPConnection(address.hostname, address.port, timeout=20)
    own = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    connection.request(method, address.path, body, {**own, **headers})
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("transport", ["http", "sse"])
def test_pages_of_elsewhere_and_large_requests_are_refused(serve, transport):
    url = serve(rl.build("poet"), transport=transport, max_request_bytes=2000).url
    method = "POST" if transport == "http" else "GET"
    assert asked_over(url, method, Host="evil.example") == 421
    assert asked_over(url, method, Origin="https://evil.example") == 403
    target = url if transport == "http" else url.replace("/sse", "/messages/?session_id=1")
    assert asked_over(target, body=b"x" * 3000) == 413


@pytest.mark.parametrize(("given", "status"), [("", 401), ("Bearer wrong-token-1", 401)])
def test_a_token_is_needed_where_there_is_one(serve, given, status):
    serving = serve(rl.build("poet"), token="right-token-1")
    headers = {"Authorization": given} if given else {}
    assert asked_over(serving.url, **headers) == status
    assert asked_over(serving.url, Authorization="Bearer right-token-1") not in (401, 403)
    for shown in (repr(serving), serving._repr_html_(), str(serving.config)):
        assert "right-token-1" not in shown


def test_other_machines_are_let_in_with_a_token_only():
    bot = rl.build("poet")
    with pytest.raises(rl.ConfigurationError, match="other machines could call"):
        rl.mcp.serve(bot, host="0.0.0.0")
    with pytest.raises(rl.ConfigurationError, match="at least 8"):
        rl.mcp.serve(bot, token="short")
    assert rl.mcp.servings() == []


def test_a_page_s_websocket_is_refused_and_a_large_message_ends_one(serve):
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import connect

    url = serve(rl.build("poet"), transport="websocket", max_request_bytes=2000).url
    with pytest.raises(InvalidStatus):
        connect(url, origin="https://evil.example")
    with connect(url, subprotocols=["mcp"]) as peer:
        assert peer.subprotocol == "mcp"
        peer.send("x" * 3000)
        with pytest.raises(ConnectionClosed):
            peer.recv(timeout=20)


# -- around it ---------------------------------------------------------------------------------


def test_what_cannot_be_meant_is_said_before_anything_is_served():
    bot = rl.build("poet")
    for wrong, said in (
        ({"transport": "htttp"}, "Did you mean 'http'"),
        ({"port": 70_000}, "port"),
        ({"max_calls": 0}, "max_calls"),
        ({"token": 7}, "token="),
        ({"name": "///"}, "makes no tool name"),
    ):
        with pytest.raises(rl.ConfigurationError, match=said):
            rl.mcp.serve(bot, **wrong)
    for thing in (7, [], {"a": 7}):
        with pytest.raises(rl.ConfigurationError):
            rl.mcp.serve(thing)
    assert rl.mcp.servings() == []


def test_a_taken_port_is_named_and_so_is_who_has_it(serve):
    serving = serve(rl.build("poet"))
    port = urlsplit(serving.url).port
    with pytest.raises(rl.ConfigurationError, match="'poet' is served there: stop it first"):
        rl.mcp.serve(rl.build("other"), port=port)
    assert serving.status == "serving"


async def test_runs_are_found_in_the_log_by_where_they_came_from(serve, tmp_path, monkeypatch):
    monkeypatch.setattr(rl.options, "log", str(tmp_path / "log.sqlite"))
    bot = rl.build("poet", model=rl.SimulatedModel(["roses"]), tags=["trial"])
    net = rl.create_network("net")
    net.task("a", lambda message: message)
    async with client(serve([bot, net], name="shop")) as peer:
        await peer.call_tool("poet", {"message": "a poem"})
        await peer.call_tool("net", {"message": "a poem"})
    rl.log.flush()
    found = rl.log.where(tag="mcp:shop").frames.runs
    assert sorted(found["kind"]) == ["network", "robot"]
    assert len(rl.log.where(tag="trial").frames.runs) == 1


async def test_what_a_client_starts_belongs_to_no_cell(serve, monkeypatch):
    """A cell that is run again stops what it started: not what others asked for meanwhile."""
    from robotlab_nb.runtime import notebook, registry

    class Painter:
        def cell(self):
            return ("the cell that is being run", "first time")

    cells = []
    enter = registry.enter
    serving = serve(repeating())
    monkeypatch.setattr(notebook, "painter", Painter)
    monkeypatch.setattr(registry, "enter", lambda run, cell: cells.append(cell) or enter(run, None))
    async with client(serving) as peer:
        assert text_of(await peer.call_tool("echo", {"message": "m"})) == "1: m"
    assert cells == [None]


def test_logging_is_left_alone_and_the_sdk_is_not_imported_before(serve):
    import subprocess
    import sys

    code = (
        "import sys, robotlab_nb as rl; rl.mcp; "
        "assert not {'mcp', 'uvicorn', 'starlette'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
    root = logging.getLogger()
    before = (root.level, list(root.handlers))
    serve(rl.build("poet"))
    assert (root.level, list(root.handlers)) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_serves_nothing(serve):
    import subprocess
    import sys

    code = (
        "import os, robotlab_nb as rl\n"
        "s = rl.mcp.serve(rl.build('poet'))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    ok = s.status == 'stopped' and not rl.mcp.servings() and s._bound.fileno() == -1\n"
        "    os._exit(0 if ok else 1)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert s.status == 'serving'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_its_configuration_is_what_other_clients_keep(serve):
    serving = serve(rl.build("poet"), token=True)
    (server,) = rl.mcp.Server.from_json(serving.config)
    assert (server.name, server.kind) == ("poet", "http")
    assert serving.server.transport["url"] == serving.url
    assert serving.url in repr(serving)
