"""What a replay says was sent is what went over the wire: checked against a real HTTP server."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import asdict
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.messages import MediaPart
from robotlab_nb.display.exchange import Exchange, Exchanges
from robotlab_nb.display.exchange_card import as_json, got_rows, sent_line, sent_rows
from robotlab_nb.display.pictures import html, text
from robotlab_nb.models import call_events
from robotlab_nb.testing import ModelServer, Reply

FAST = {"attempts": 3, "retry_interval": 0.01}


@pytest.fixture(params=["specs told", "names alone"])
def told(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the first call of a run tells the schemas of its tools and the shape of its answer.

    A log may hold events without them: then nothing is made up.
    """
    whole = request.param == "specs told"
    started = call_events.call_started

    def call_started(call: Any) -> None:
        emit = call.run.emit

        def emitted(kind: str, data: dict[str, Any]) -> None:
            data = {k: v for k, v in data.items() if k not in ("tool_specs", "output")}
            if whole and call.round == 1:
                data["tool_specs"] = [asdict(tool) for tool in call.request.tools]
                if call.request.output is not None:
                    data["output"] = asdict(call.request.output)
            emit(kind, data)

        class Told:
            def __getattr__(self, name: str) -> Any:
                return getattr(call, name)

            class run:
                emit = staticmethod(emitted)

        started(Told())

    monkeypatch.setattr(call_events, "call_started", call_started)
    return whole


def exchanges(result: Any) -> list[Exchange]:
    """From JSON alone, as it is read from a file."""
    events = [json.loads(json.dumps(event.to_dict())) for event in result.events]
    return Exchanges.of(map(Event.from_dict, events)).found


def same(result: Any, server: ModelServer) -> list[Exchange]:
    """The exchanges, whose requests are those that the server received."""
    found = exchanges(result)
    assert [each.request for each in found] == [each.body for each in server.requests]
    assert all(each.missing == [] for each in found)
    return found


def get_weather(city: str, days: int = 1) -> str:
    """Weather of a city."""
    return f"18 °C in {city}"


def test_a_robot_with_tools(told: bool) -> None:
    replies = [Reply.tool_call("get_weather", {"city": "Zürich"}), "It is 18 °C."]
    with ModelServer(replies) as server:
        bot = rl.build(
            "guide", system_prompt="Be brief.", model=server.model(), tools=[get_weather],
            temperature=0.0, max_tokens=50, provider_options={"seed": 7},
        )  # fmt: skip
        result = bot.run("Weather in Zürich?")
    if told:
        first, second = same(result, server)
    else:
        first, second = exchanges(result)
        assert first.request["tools"] == [{"type": "function", "function": {"name": "get_weather"}}]
        assert first.missing == ["the description and schema of 1\u00a0tool: by name alone"]
        bodies = [{**each.body, "tools": None} for each in server.requests]
        assert [{**each.request, "tools": None} for each in (first, second)] == bodies
    assert first.way == f"POST {server.base_url}/chat/completions"
    assert first.response["tool_calls"][0]["name"] == "get_weather"
    assert json.loads(first.response["tool_calls"][0]["arguments"]) == {"city": "Zürich"}
    assert (first.fresh, second.fresh) == (0, 2)
    assert second.response["text"] == "It is 18 °C."
    assert (
        second.response["usage"]["input_tokens"]
        == result.state.model_calls[second.call.call_id].usage.input_tokens
    )
    rows = [(row.kind, row.who, row.old) for row in sent_rows(second)]
    assert rows[:4] == [
        ("text", "system prompt", True), ("text", "you", True),
        ("call", "calls get_weather", False), ("result", "get_weather gives", False),
    ]  # fmt: skip


def test_a_streamed_request_says_that_it_was() -> None:
    with ModelServer(["one two three"]) as server:
        stream = rl.build("a", model=server.model()).stream("Hi")
        events = [item for item in stream if isinstance(item, Event)]
    (found,) = Exchanges.of(events).found
    assert found.request == server.requests[0].body
    assert found.request["stream"] is True


def test_what_was_said_before_is_sent_again() -> None:
    with ModelServer(["Hello Ada.", "You are Ada."]) as server:
        bot = rl.build("a", system_prompt="Be kind.", model=server.model())
        bot.run("I am Ada")
        result = bot.run("Who am I?")
    (found,) = exchanges(result)
    assert found.request == server.requests[1].body
    assert [m["content"] for m in found.request["messages"]] == [
        "Be kind.", "I am Ada", "Hello Ada.", "Who am I?",
    ]  # fmt: skip


def test_a_template_and_its_values(tmp_path: Any) -> None:
    (tmp_path / "poet.md").write_text(
        "---\nparameters:\n  tone: null\n---\nWrite in a {{ tone }} tone.", "utf-8"
    )
    with ModelServer(["ok"]) as server:
        bot = rl.build("a", template=str(tmp_path / "poet.md"), model=server.model())
        same(bot.run("a poem", context={"tone": "dark"}), server)
    assert server.requests[0].messages[0]["content"] == "Write in a dark tone."


def test_a_conversation_that_was_compressed() -> None:
    with ModelServer(["ok"], repeat=True) as server:
        config = {"auto_compact": True, "context_window": 60, "recent_turns": 1, **FAST}
        bot = rl.build("a", model=server.model(), config=config)
        for n in range(6):
            result = bot.run(f"Question {n}: what is there to say of the number {n}?")
        assert any(event.type == "conversation.compacted" for event in result.events)
    (found,) = [each for each in exchanges(result) if each.scope.run_id == result.run_id]
    assert found.request == server.requests[-1].body
    assert found.missing == []


def test_a_handler_that_sends_less_than_there_is() -> None:
    def before_llm_generation(context: Any) -> None:
        context.request.messages = context.request.messages[1:]

    with ModelServer(["one", "two"]) as server:
        bot = rl.build("a", model=server.model())
        bot.run("first")
        result = bot.run("second", hooks=before_llm_generation)
    (found,) = exchanges(result)
    assert found.request == server.requests[1].body
    assert [m["content"] for m in found.request["messages"]] == ["one", "second"]


@pytest.mark.parametrize("mode", ["schema", "tool", "text"])
def test_an_answer_of_a_prescribed_shape(told: bool, mode: str) -> None:
    answer = '{"value": [1, 2]}'
    first = Reply.tool_call("final_answer", answer) if mode == "tool" else answer
    with ModelServer([first]) as server:
        bot = rl.build("a", model=server.model(), config={"output_mode": mode})
        result = bot.run("numbers", output=list[int])
    assert result.parsed == [1, 2]
    if told:
        same(result, server)
    else:
        (found,) = exchanges(result)
        assert found.missing == [
            f"how the model was told that its answer must be {result.state.info['output']}"
        ]
        assert found.request["messages"] == server.requests[0].messages


def test_attempts_that_failed() -> None:
    with ModelServer([Reply.error(503), Reply.error(429), "at last"]) as server:
        result = rl.build("a", model=server.model(), config=FAST).run("Hi")
    (found,) = exchanges(result)
    assert all(found.request == each.body for each in server.requests)
    assert [a["attempt"] for a in found.attempts] == [1, 2, 3]
    assert [a.get("error", {}).get("status") for a in found.attempts] == [503, 429, None]
    faults = [row for row in got_rows(found) if row.kind == "fault"]
    assert "HTTP 503" in faults[0].text
    assert "asked again after" in faults[0].text


def test_another_model_in_place_of_one_that_failed() -> None:
    with ModelServer([Reply.error(401)]) as first, ModelServer(["from the second"]) as second:
        config = {"attempts": 1, "fallback": [second.model("spare")]}
        result = rl.build("a", model=first.model("main"), config=config).run("Hi")
    (found,) = exchanges(result)
    assert found.models == ["openai/main", "openai/spare"]
    assert found.requests == [first.requests[0].body, second.requests[0].body]
    assert found.missing == ["the address of openai/spare"]
    assert sent_line(found).startswith("openai/main → openai/spare · POST http://127.0.0.1")


def png(size: int) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    pixels = chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"noIs", b"\0" * size)
    return b"\x89PNG\r\n\x1a\n" + head + pixels + chunk(b"IEND", b"")


def test_pictures_are_there_as_far_as_the_events_hold_them() -> None:
    with ModelServer(["a dot"], repeat=True) as server:
        bot = rl.build("a", model=server.model())
        small, large = png(10), png(1_100_000)
        same(
            bot.run("What is it?", attachments=[MediaPart.of(small, "image/png", "s.png")]), server
        )
        other = rl.build("b", model=server.model())
        result = other.run("And?", attachments=[MediaPart.of(large, "image/png", "large.png")])
    (found,) = exchanges(result)
    assert found.missing == ["the bytes of large.png (image 1.1 MB, bytes not kept)"]
    assert "its bytes are not in the events" in json.dumps(found.request)
    assert "base64" not in json.dumps(found.request)


def test_an_unanswered_call_has_no_response() -> None:
    with ModelServer([Reply.error(400, "no such thing")]) as server:
        with pytest.raises(rl.ModelError) as caught:
            rl.build("a", model=server.model(), config=FAST).run("Hi")
        (found,) = exchanges(caught.value.run)
    assert found.request == server.requests[0].body
    assert found.response["status"] == "failed"
    assert "no such thing" in found.response["error"]["message"]
    assert "text" not in found.response


def test_equal_calls_of_a_tool_keep_their_own_ids() -> None:
    """Without ids of a provider, ours pair calls and results; the messages have one content id."""
    script = [("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Rome"}), "done"]
    bot = rl.build("a", model=rl.SimulatedModel(script), tools=[get_weather])
    last = exchanges(bot.run("Rome, twice"))[-1].request["messages"]
    ids = [call["id"] for m in last for call in m.get("tool_calls", ())]
    assert len(set(ids)) == 2
    assert [m["tool_call_id"] for m in last if m["role"] == "tool"] == ids


def test_an_answer_that_a_handler_changed_is_told() -> None:
    bot = rl.build("a", model=rl.SimulatedModel(["rude words"]))
    result = bot.run("Hi")
    events = [event.to_dict() for event in result.events]
    for event in events:
        if event["type"] == "message.added" and event["data"]["message"]["role"] == "assistant":
            parts = [{"kind": "text", "text": "polite words"}]
            event["data"] = {"message": {"id": "x", "role": "assistant", "parts": parts}}
    (found,) = Exchanges.of(map(Event.from_dict, events)).found
    assert found.changed
    assert ("note", "a handler") in [(row.kind, row.who) for row in got_rows(found)]


# -- what is not in the events -------------------------------------------------------------------


def without_content(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As a log writes them that was told to keep no texts."""

    def cut(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                k: {"omitted": len(v)} if k in _TEXTS and isinstance(v, str) else cut(v)
                for k, v in value.items()
            }
        return [cut(v) for v in value] if isinstance(value, list) else value

    return [cut(event) for event in json.loads(json.dumps(events))]


_TEXTS = ("text", "input", "content", "content_text", "arguments_text", "arguments")


def test_texts_that_a_log_left_out_are_said_to_be_missing() -> None:
    script = [("get_weather", {"city": "Rome"}), "warm"]
    bot = rl.build("a", system_prompt="p", model=rl.SimulatedModel(script), tools=[get_weather])
    events = without_content([event.to_dict() for event in bot.run("Rome?").events])
    found = Exchanges.of(map(Event.from_dict, events)).found
    assert found[0].request["messages"][1]["content"] == "[left out: 5\u00a0characters]"
    assert "texts that the log was told to leave out" in found[0].missing
    assert found[1].response["text"] == "[left out: 4\u00a0characters]"


def test_a_history_that_is_not_in_the_events_is_said_to_be_missing() -> None:
    bot = rl.build("a", model=rl.SimulatedModel(["one", "two"]))
    bot.run("first")
    events = [e for e in bot.run("second").events if e.type != "conversation.loaded"]
    (found,) = Exchanges.of(events).found
    assert found.missing == ["2 of 3 messages"]
    assert found.request["messages"][-1] == {"role": "user", "content": "second"}
    assert [row.text for row in sent_rows(found)][:2] == ["not in these events"] * 2


def test_a_run_that_goes_on_has_what_there_is() -> None:
    scope = Scope("r", "r", None, 0, "robot", ("bot",), "bot")
    events = [
        Event("run.started", scope, 0, 0.0, {"name": "bot", "input": "Hi"}),
        Event("model_call.started", scope, 1, 0.1, {"call_id": "c", "round": 1, "model": "m/x"}),
    ]
    (found,) = Exchanges.of(events).found
    assert found.response == {}
    assert "← received" not in text(found)
    assert "running" in text(found)


# -- pictures ------------------------------------------------------------------------------------


def test_the_picture_tells_both_ways_in_words_and_as_json() -> None:
    script = [("get_weather", {"city": "Rome"}), "warm <b>"]
    bot = rl.build("a", system_prompt="p", model=rl.SimulatedModel(script), tools=[get_weather])
    found = exchanges(bot.run("Rome?"))[-1]
    told = text(found)
    for words in ("→ sent to", "Sent again", "get_weather gives", "← received", "warm <b>"):
        assert words in told
    drawn = html(found)
    assert "warm &lt;b&gt;" in drawn
    assert "&quot;messages&quot;: [" in drawn
    assert len(repr(found).splitlines()) == 1


def test_json_that_is_shown_can_be_read_again() -> None:
    value = {"a": "\u202e\x85\U000e0041</script>\x1b[31m", "b": ["é", 1.5, None, 2**70]}
    shown = as_json(value)
    assert json.loads(shown) == value
    assert "\u202e" not in shown
    assert "\x1b" not in shown
