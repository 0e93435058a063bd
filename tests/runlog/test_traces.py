"""Traces: the spans of real runs, in memory and at a collector on loopback."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SimpleSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

import robotlab_nb as rl
from robotlab_nb.runtime import sinks
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

    from opentelemetry.sdk.trace import ReadableSpan


class Kept:
    """A provider that keeps its spans, and what they are."""

    def __init__(self) -> None:
        self.exporter = InMemorySpanExporter()
        self.provider = TracerProvider()
        self.provider.add_span_processor(SimpleSpanProcessor(self.exporter))

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    def one(self, name: str) -> ReadableSpan:
        (found,) = [span for span in self.spans if span.name == name]
        return found

    def tree(self) -> list[str]:
        """Names from the root down, siblings by start, two spaces a level."""
        spans = sorted(self.spans, key=lambda span: (span.start_time, span.name))
        lines: list[str] = []

        def walk(parent: int | None, depth: int) -> None:
            for span in spans:
                above = span.parent.span_id if span.parent else None
                if above == parent:
                    lines.append("  " * depth + span.name)
                    walk(span.context.span_id, depth + 1)

        walk(None, 0)
        return lines


@pytest.fixture
def kept() -> Kept:
    return Kept()


def script(*steps: Any, **options: Any) -> Any:
    return rl.SimulatedModel(list(steps), **options)


def test_a_robot_is_an_agent_with_calls_and_tools(kept: Kept) -> None:
    def look(word: str) -> str:
        "Look a word up."
        return word.upper()

    model = script(("look", {"word": "cat"}), "CAT")
    bot = rl.build("reader", model=model, tools=[look], temperature=0.5, session_id="s1")
    with rl.trace(kept.provider):
        result = bot.run("cat", config={"tags": ["demo"]})
    assert kept.tree() == [
        "invoke_agent reader",
        "  chat script",
        "  execute_tool look",
        "  chat script",
    ]
    agent = kept.one("invoke_agent reader")
    told = dict(agent.attributes or {})
    assert told["gen_ai.operation.name"] == "invoke_agent"
    assert told["gen_ai.agent.name"] == "reader"
    assert told["gen_ai.conversation.id"] == "s1"
    assert told["robotlab.tags"] == ("demo",)
    assert told["robotlab.run_id"] == result.run_id
    assert told["robotlab.simulated"] is True
    usage = result.state.total_usage()
    assert told["gen_ai.usage.input_tokens"] == usage.input_tokens
    assert told["gen_ai.usage.output_tokens"] == usage.output_tokens
    assert agent.status.status_code is StatusCode.UNSET
    tool = dict(kept.one("execute_tool look").attributes or {})
    assert tool["gen_ai.tool.name"] == "look"
    assert tool["gen_ai.tool.call.id"] == result.tool_calls[0].tool_call_id
    assert agent.start_time is not None
    assert agent.end_time is not None
    took = (agent.end_time - agent.start_time) / 1e9
    assert took == pytest.approx(result.state.duration_s, abs=1e-3)
    assert abs(agent.start_time / 1e9 - time.time()) < 60
    text = json.dumps([json.loads(span.to_json()) for span in kept.spans])
    assert "cat" not in text.lower()  # content is off


def test_content_is_told_when_asked_for_and_keys_never(kept: Kept) -> None:
    rl.register_secret("sk-canary-314159265")
    model = script(("look", {"word": "cat"}), "the answer")
    bot = rl.build("reader", model=model, tools=[look_up], system_prompt="Be brief.")
    with rl.trace(kept.provider, content=True):
        bot.run("which cat?")
    first, second = [dict(s.attributes or {}) for s in kept.spans if s.name == "chat script"]
    assert json.loads(str(first["gen_ai.system_instructions"])) == [
        {"type": "text", "content": "Be brief."}
    ]
    assert json.loads(str(first["gen_ai.input.messages"])) == [
        {"role": "user", "parts": [{"type": "text", "content": "which cat?"}]}
    ]
    kinds = [
        part["type"]
        for message in json.loads(str(second["gen_ai.input.messages"]))
        for part in message["parts"]
    ]
    assert kinds == ["text", "tool_call", "tool_call_response"]
    (said,) = json.loads(str(second["gen_ai.output.messages"]))
    assert said["parts"] == [{"type": "text", "content": "the answer"}]
    tool = dict(kept.one("execute_tool look").attributes or {})
    assert json.loads(str(tool["gen_ai.tool.call.arguments"])) == {"word": "cat"}
    assert "cat: " in str(tool["gen_ai.tool.call.result"])
    text = json.dumps([json.loads(span.to_json()) for span in kept.spans])
    assert "canary" not in text


@rl.tool(name="look")
def look_up(word: str) -> str:
    "Look a word up."
    return f"{word}: sk-canary-314159265"


def test_a_network_is_a_workflow_of_tasks(kept: Kept) -> None:
    inner = rl.create_network("inner")
    inner.task("deep", rl.build("diver", model=script("deep answer")))
    net = rl.create_network("outer")
    net.task("a", rl.build("ann", model=script("from a", delay=0.02)))
    net.task("b", rl.build("ben", model=script("from b", delay=0.05)))
    net.task("sub", inner, depends_on=["a", "b"])
    net.task("count", lambda message: len(message), depends_on=["sub"])
    with rl.trace(kept.provider):
        net.run("go")
    assert kept.tree() == [
        "invoke_workflow outer",
        "  task a",
        "    invoke_agent ann",
        "      chat script",
        "  task b",
        "    invoke_agent ben",
        "      chat script",
        "  task sub",
        "    invoke_workflow inner",
        "      task deep",
        "        invoke_agent diver",
        "          chat script",
        "  task count",
    ]
    traces = {span.context.trace_id for span in kept.spans}
    assert len(traces) == 1


def test_a_robot_that_a_tool_runs_is_inside_the_tool_call(kept: Kept) -> None:
    helper = rl.build("helper", model=script("helped"))

    def ask_helper(question: str) -> str:
        "Ask the helper."
        return helper.run(question).text

    model = script(("ask_helper", {"question": "how?"}), "done")
    with rl.trace(kept.provider):
        rl.build("boss", model=model, tools=[ask_helper]).run("work")
    assert kept.tree() == [
        "invoke_agent boss",
        "  chat script",
        "  execute_tool ask_helper",
        "    invoke_agent helper",
        "      chat script",
        "  chat script",
    ]


def test_attempts_fallback_and_failure(kept: Kept) -> None:
    replies = [Reply.error(503), "ok", Reply.error(401)]
    with ModelServer(replies) as server, rl.trace(kept.provider):
        bot = rl.build("bot", model=server.model("m"), retry_interval=0.01, attempts=2)
        bot.run("one")
        with pytest.raises(rl.ModelError):
            bot.run("two")
        port = int(server.base_url.rpartition(":")[2].partition("/")[0])
    good, bad = [span for span in kept.spans if span.name == "chat m"]
    assert [event.name for event in good.events] == ["robotlab.attempt.failed"]
    assert (good.events[0].attributes or {})["http.response.status_code"] == 503
    assert (good.attributes or {})["server.address"] == "127.0.0.1"
    assert (good.attributes or {})["server.port"] == port
    assert (good.attributes or {})["gen_ai.provider.name"] == "openai"
    assert good.kind is SpanKind.CLIENT
    assert good.status.status_code is StatusCode.UNSET
    assert bad.status.status_code is StatusCode.ERROR
    assert (bad.attributes or {})["error.type"] == "ModelError"
    agents = [span for span in kept.spans if span.name == "invoke_agent bot"]
    assert [a.status.status_code for a in agents] == [StatusCode.UNSET, StatusCode.ERROR]


def test_stop_ends_every_span(kept: Kept) -> None:
    with rl.trace(kept.provider):
        run = rl.build("slow", model=script("never", delay=30)).start("go")
        deadline = time.monotonic() + 10
        while not run.state.model_calls and time.monotonic() < deadline:
            time.sleep(0.01)
        run.stop()
    assert kept.tree() == ["invoke_agent slow", "  chat script"]
    assert all(span.status.status_code is StatusCode.ERROR for span in kept.spans)
    told = {span.name: (span.attributes or {})["error.type"] for span in kept.spans}
    assert told == {"invoke_agent slow": "interrupted", "chat script": "RunInterrupted"}


def test_a_run_is_inside_the_callers_span(kept: Kept) -> None:
    tracer = kept.provider.get_tracer("mine")
    bot = rl.build("bot", model=script("a", "b"))
    with rl.trace(kept.provider), tracer.start_as_current_span("my work"):
        bot.run("x")
        bot.start("y").result()
    assert kept.tree() == [
        "my work",
        "  invoke_agent bot",
        "    chat script",
        "  invoke_agent bot",
        "    chat script",
    ]


class Broken(SpanExporter):
    def export(self, spans: Any) -> SpanExportResult:
        time.sleep(0.2)
        raise OSError("no collector")


def test_a_slow_and_broken_exporter_holds_up_no_run(caplog: pytest.LogCaptureFixture) -> None:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(Broken()))
    bot = rl.build("bot", model=rl.SimulatedModel(lambda message: "hi"))
    bot.run("warm")
    tracing = rl.trace(provider)
    began = time.monotonic()
    for _ in range(5):
        assert bot.run("x").text == "hi"
    assert time.monotonic() - began < 1.0  # 10 spans take 2 s
    tracing.close()


def test_closing_and_replacing_and_what_is_no_provider(kept: Kept) -> None:
    bot = rl.build("bot", model=rl.SimulatedModel(lambda message: "hi"))
    first = rl.trace(kept.provider)
    second = rl.trace(kept.provider)
    assert first.closed
    bot.run("x")
    second.close()
    assert len(kept.spans) == 2
    bot.run("y")
    assert len(kept.spans) == 2
    assert not [s for s in sinks._sinks if type(s).__name__ == "Tracing"]
    with pytest.raises(rl.ConfigurationError, match="takes a tracer provider"):
        rl.trace("http://127.0.0.1")  # type: ignore[arg-type]
    with pytest.raises(rl.ConfigurationError, match="no tracer provider"):
        rl.trace()


@pytest.fixture
def collector() -> Iterator[tuple[str, list[ExportTraceServiceRequest]]]:
    """A collector of the OTLP protocol on loopback, and what it got."""
    got: list[ExportTraceServiceRequest] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            import gzip

            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            got.append(ExportTraceServiceRequest.FromString(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", got
    server.shutdown()
    server.server_close()


def test_a_collector_gets_the_spans(
    collector: tuple[str, list[ExportTraceServiceRequest]],
) -> None:
    url, got = collector
    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(url)))
    net = rl.create_network("net")
    net.task("a", rl.build("ann", model=script("from a")))
    with rl.trace(provider):
        net.run("go")
    provider.shutdown()
    spans = [
        span
        for request in got
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    names = {span.name: span for span in spans}
    assert set(names) == {"invoke_workflow net", "task a", "invoke_agent ann", "chat script"}
    assert names["chat script"].parent_span_id == names["invoke_agent ann"].span_id
    told = {a.key: a.value for a in names["chat script"].attributes}
    assert told["gen_ai.operation.name"].string_value == "chat"
    assert told["gen_ai.usage.output_tokens"].int_value > 0
