"""Tools of servers in a robot's turn: results, failures, reports, questions, labels, names."""

from __future__ import annotations

import asyncio
import base64
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp.elicited import read_field
from robotlab_nb.mcp.naming import legal, named
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request
from robotlab_nb.testing import MCPFaultServer, ModelServer, Reply, ScriptedModel
from tests.tool_servers.in_process import Desk
from tests.tool_servers.test_robot_servers import offered, told

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"0" * 50).decode()


def ask(*servers, calls, **more):
    """Run a robot whose model makes these calls and then is done."""
    bot = rl.build("b", model=ScriptedModel([*calls, "done"]), mcp=list(servers), **more)
    return bot.run("go")


def form(message, **properties):
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"message": message, "requestedSchema": schema}


# -- results -----------------------------------------------------------------------------------


def test_structured_content_is_data_and_its_text_is_what_the_model_reads():
    def weigh(text=""):
        return {"content": [{"type": "text", "text": "7 kg"}], "structuredContent": {"kg": 7}}

    desk = Desk("scales").tool("weigh", weigh)
    result = ask(desk.server, calls=[("weigh", {})])
    (call,) = result.tool_calls
    assert (call.content, call.result) == ("7 kg", {"kg": 7})
    row = result.frames.tool_calls.iloc[0]
    assert row["result"] == '{"kg": 7}'


def picture(text=""):
    return [
        {"type": "text", "text": "Here it is."},
        {"type": "image", "data": PNG, "mimeType": "image/png"},
    ]


def test_a_picture_reaches_a_model_that_sees_after_all_results():
    desk = Desk("camera").tool("shoot", picture).tool("other")
    with ModelServer([Reply.tool_calls(("shoot", {}), ("other", {})), "nice"]) as server:
        bot = rl.build("b", model=server.model("gpt-5-mini"), mcp=[desk.server], sees_media=True)
        result = bot.run("Take one")
        sent = server.requests[-1].messages
    assert [m["role"] for m in sent[-3:]] == ["tool", "tool", "user"]
    assert "Here it is." in sent[-3]["content"]
    assert "shown below" in sent[-3]["content"]
    image = sent[-1]["content"][1]
    assert image["image_url"]["url"] == f"data:image/png;base64,{PNG}"
    (tool_message,) = [m for m in result.state.messages if m.role == "tool"]
    assert [p.kind for p in tool_message.parts] == ["tool_result", "tool_result", "media"]
    assert "image/png" in result._repr_html_()


@pytest.mark.parametrize(
    ("model", "said", "seen"),
    [
        ("openai/gpt-5-mini", None, True),
        ("openai/gpt-5-mini", False, False),
        ("openai/nobody-knows-this", None, False),
        ("openai/nobody-knows-this", True, True),
        ("openai/gpt-3.5-turbo", None, False),
    ],
)
def test_who_cannot_see_reads_that_there_is_a_picture(model, said, seen):
    desk = Desk("camera").tool("shoot", picture)
    scripted = ScriptedModel([("shoot", {}), "done"])
    scripted.name = model
    bot = rl.build("b", model=scripted, mcp=[desk.server], sees_media=said)
    result = bot.run("x")
    (tool_message,) = [m for m in result.state.messages if m.role == "tool"]
    assert any(p.kind == "media" for p in tool_message.parts) == seen
    assert ("not shown" in result.tool_calls[0].content) != seen
    body = encode(Request(tuple(result.state.messages)), "m")
    assert any(m["role"] == "user" and isinstance(m["content"], list) for m in body["messages"]) \
        == seen  # fmt: skip


def test_bytes_that_are_no_picture_are_not_sent_as_one():
    fake = base64.b64encode(b"MZ not a picture").decode()
    desk = Desk("camera").tool(
        "shoot", lambda text="": [{"type": "image", "data": fake, "mimeType": "image/png"}]
    )
    result = ask(desk.server, calls=[("shoot", {})], sees_media=True)
    assert "its bytes are not image/png" in result.tool_calls[0].content
    assert all(p.kind != "media" for m in result.state.messages for p in m.parts)


def test_what_the_fault_server_sends_becomes_typed_parts():
    result = ask(MCPFaultServer(), calls=[("media", {})])
    (call,) = result.tool_calls
    assert call.status == "completed"
    for word in ("image/png", "audio/wav", "not shown"):
        assert word in call.content


def test_what_is_too_large_is_cut_and_the_model_reads_where_all_of_it_is():
    result = ask(MCPFaultServer(), calls=[("huge", {"megabytes": 3})])
    (call,) = result.tool_calls
    assert len(call.content) <= 50_000
    assert "all of it is in" in call.content[-300:]


# -- failures ----------------------------------------------------------------------------------


def test_what_a_tool_calls_a_failure_is_one_to_the_model():
    result = ask(MCPFaultServer(), calls=[[("fail", {}), ("refuse", {}), ("misfit", {})]])
    assert [c.status for c in result.tool_calls] == ["failed"] * 3
    assert all(c.content.startswith(f"Error ({c.tool}): ") for c in result.tool_calls)
    assert result.tool_calls[0].error["type"] == "MCPToolError"
    assert result.text == "done"


def test_a_server_that_dies_in_a_call_fails_that_call_and_is_there_again_for_the_next():
    other = Desk("other").tool("read")
    model = ScriptedModel(
        [[("die", {}), ("read", {"text": "a"})], ("echo", {"text": "again"}), "done"]
    )
    bot = rl.build("b", model=model, mcp=[MCPFaultServer(), other.server])
    result = bot.run("go")
    died, read, echo = result.tool_calls
    assert (died.status, died.error["type"]) == ("failed", "MCPConnectionError")
    assert died.duration_s < 5
    assert "out of luck" in died.error["message"], "people read what it wrote to standard error"
    assert (
        died.content
        == "Error (die): its server is gone; whether it did what was asked is not known"
    )
    assert (read.status, read.result) == ("completed", "read: a")
    assert (echo.status, echo.result) == ("completed", "again")


def test_the_servers_own_time_counts_else_the_robots():
    slow = {"type": "object", "properties": {"seconds": {"type": "number"}}}

    async def wait(seconds=5.0):
        await asyncio.sleep(seconds)
        return "slept"

    quick = Desk("quick").tool("wait", wait, "", slow)
    result = ask(quick.server, calls=[("wait", {})], tool_timeout=0.3)
    assert result.tool_calls[0].error["type"] == "MCPTimeout"
    patient = Desk("patient", call_timeout=30).tool("wait", wait, "", slow)
    result = ask(patient.server, calls=[("wait", {"seconds": 0.6})], tool_timeout=0.3)
    assert result.tool_calls[0].result == "slept"


def test_stop_ends_a_call_that_hangs():
    bot = rl.build("b", model=ScriptedModel([("hang", {}), "done"]), mcp=[MCPFaultServer()])
    run = bot.start("go")
    deadline = time.monotonic() + 60
    while not run.state.tool_calls and time.monotonic() < deadline:
        time.sleep(0.01)
    run.stop()
    assert run.status == "interrupted"
    assert run.state.tool_calls
    assert all(c.status == "interrupted" for c in run.state.tool_calls.values())


def test_a_variable_that_is_missing_is_named(monkeypatch):
    monkeypatch.delenv("FAULT_TOKEN", raising=False)
    bot = rl.build("b", model=ScriptedModel(["done"]), mcp=[MCPFaultServer("needs_variable")])
    result = bot.run("x")
    (failed,) = told(result, "mcp.failed")
    assert "FAULT_TOKEN" in failed["error"]["message"] + failed.get("stderr_tail", "")
    there = MCPFaultServer("needs_variable", env={"FAULT_TOKEN": "x"})
    assert "echo" in offered(ask(there, calls=[]))


# -- reports -----------------------------------------------------------------------------------


def test_progress_and_log_lines_are_events_of_the_call():
    result = ask(MCPFaultServer(), calls=[[("progress", {}), ("log", {})]])
    progress, log = told(result, "mcp.progress"), told(result, "mcp.log")
    assert progress
    assert log
    ids = {c.tool: c.tool_call_id for c in result.tool_calls}
    assert {p["tool_call_id"] for p in progress} == {ids["progress"]}
    assert {p["tool_call_id"] for p in log} <= set(ids.values())
    shown = result._repr_html_()
    assert "reported" in shown
    assert str(log[-1]["text"])[:20] in shown


def test_a_flood_of_reports_is_thinned_out():
    async def flood(text="", wire=None, token=None):
        for n in range(2_000):
            wire.tell("notifications/progress",
                      {"progressToken": token, "progress": n, "total": 5_000})  # fmt: skip
        await asyncio.sleep(0.3)
        return "ok"

    result = ask(Desk("d").tool("flood", flood).server, calls=[("flood", {})])
    assert result.tool_calls[0].result == "ok"
    assert 0 < len(told(result, "mcp.progress")) < 100


# -- questions ---------------------------------------------------------------------------------


def asking(params, seen):
    async def order(text="", wire=None, token=None):
        seen.append(await wire.ask("elicitation/create", params))
        return str(seen[-1]["action"])

    return Desk("shop").tool("order", order)


def test_a_servers_question_goes_to_the_runs_person():
    seen = []
    params = form(
        "How many?", pieces={"type": "integer", "minimum": 1}, gift={"type": "boolean"},
        colour={"type": "string", "enum": ["red", "blue"]},
    )  # fmt: skip
    desk = asking(params, seen)
    answers = {"*pieces*": "3", "*gift*": "yes", "*colour*": "2"}
    result = ask(desk.server, calls=[("order", {})], answers=answers)
    assert result.tool_calls[0].result == "accept"
    assert seen[0]["content"] == {"pieces": 3, "gift": True, "colour": "blue"}
    asked = list(result.state.asked.values())
    assert len(asked) == 3
    assert all(a.text.startswith("Tool server 'shop' asks: How many?") for a in asked)
    assert {a.tool_call_id for a in asked} == {result.tool_calls[0].tool_call_id}


def test_without_anybody_to_ask_it_is_declined():
    seen = []
    desk = asking(form("Who are you?", name={"type": "string"}), seen)
    result = ask(desk.server, calls=[("order", {})])
    assert result.status == "completed"
    assert seen[0] == {"action": "decline"}


def test_a_person_may_decline_and_is_asked_again_for_what_does_not_fit():
    seen = []
    desk = asking(form("How many?", pieces={"type": "integer"}), seen)
    result = ask(desk.server, calls=[("order", {})], answers=["many", "decline"])
    assert seen[0] == {"action": "decline"}
    texts = [a.text for a in result.state.asked.values()]
    assert "'many' is no whole number" in texts[1]


def test_the_time_that_a_person_takes_is_not_the_tools():
    seen = []
    desk = asking(form("Sure?", sure={"type": "boolean"}), seen)

    async def later(question):
        await asyncio.sleep(0.8)
        return "yes"

    result = ask(desk.server, calls=[("order", {})], answers=later, tool_timeout=0.4)
    assert result.tool_calls[0].result == "accept"


@pytest.mark.parametrize(
    ("schema", "said", "value"),
    [
        ({"type": "string", "minLength": 3}, "ab", None),
        ({"type": "string", "maxLength": 3}, "abcd", None),
        ({"type": "string"}, " ab ", "ab"),
        ({"type": "number"}, "nan", None),
        ({"type": "number", "minimum": 0}, "-1", None),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": "integer"}, "1.5", None),
        ({"type": "boolean"}, "perhaps", None),
        ({"type": "array", "items": {"type": "string"}}, "a, b", ["a", "b"]),
    ],
)
def test_words_become_what_a_field_wants_or_a_reason(schema, said, value):
    fault, found = read_field(schema, said)
    assert found == value
    assert (fault is None) == (value is not None)


# -- labels, approval --------------------------------------------------------------------------


def send(text: str) -> str:
    """Send a text to somebody."""
    return "sent"


def secret() -> str:
    """Read a secret."""
    return "the secret"


def test_what_servers_give_counts_as_written_by_strangers():
    private = rl.tool(labels={"private"})(secret)
    outward = rl.tool(labels={"outward"})(send)
    desk = Desk("web").tool("fetch")
    calls = [("fetch", {"text": "x"}), ("send", {"text": "x"})]
    waiting = ask(desk.server, calls=calls, tools=[private, outward])
    assert waiting.status == "waiting"
    assert "fetch" in waiting.pending[0].why
    harmless = Desk("mine", labels=[]).tool("fetch")
    assert ask(harmless.server, calls=calls, tools=[private, outward]).text == "done"


def test_a_servers_calls_may_need_approval_by_its_description_or_a_policy():
    desk = Desk("disk", approval=lambda arguments: arguments.get("text") == "all").tool("remove")
    assert ask(desk.server, calls=[("remove", {"text": "one"})]).text == "done"
    assert ask(desk.server, calls=[("remove", {"text": "all"})]).status == "waiting"
    plain = Desk("disk").tool("remove")
    waiting = ask(plain.server, calls=[("remove", {"text": "one"})], approve=["remo*"])
    assert waiting.status == "waiting"


def test_annotations_change_nothing():
    hints = {"readOnlyHint": True, "openWorldHint": False, "destructiveHint": False}
    desk = Desk("d").tool("safe", annotations=hints)
    bot = rl.build("b", mcp=[desk.server]).connect_mcp()
    assert bot.mcp_tools["safe"].labels == {"untrusted"}


# -- names -------------------------------------------------------------------------------------


def test_clashing_tools_are_told_apart_by_our_names_not_the_servers_own():
    one = MCPFaultServer(name="mine", calls_itself="yours")
    two = MCPFaultServer(name="yours", calls_itself="mine", seconds=2.0)
    result = ask(
        one, two, calls=[[("mine__echo", {"text": "a"}), ("yours__add", {"a": 1, "b": 2})]]
    )
    assert all(n.startswith(("mine__", "yours__")) for n in offered(result))
    assert [c.status for c in result.tool_calls] == ["completed"] * 2
    assert list(result.frames.tool_calls["source"]) == ["mcp:mine", "mcp:yours"]


def test_a_robots_own_tool_and_the_tool_that_answers_keep_their_names():
    desk = Desk("d").tool("send").tool("final_answer")
    model = ScriptedModel([("final_answer", {"value": 3})])
    bot = rl.build(
        "b", model=model, tools=[send], mcp=[desk.server], output=int, output_mode="tool"
    )
    result = bot.run("x")
    assert result.parsed == 3
    assert bot.mcp_tools.names == ("d__send", "d__final_answer")


def test_names_are_legal_for_every_provider_and_never_the_same_twice():
    import re

    odd = ["a b", "a.b", "a/b", "x" * 100, "x" * 101, "", "é", "東京", "a b"]
    rows = named([("öl", odd), ("s" * 64, odd)], taken={"a_b"})
    names = [name for row in rows for name in row]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names)
    assert legal("get_weather") == "get_weather"
