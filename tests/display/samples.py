"""Objects to draw: states folded from real events, and stand-ins for robots, tools and runs.

A stand-in has the attributes that pictures read and says that it comes from the package, so that
a picture needs no running engine.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from robotlab_nb.core.errors import ModelError
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.messages import Message, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from robotlab_nb.core.state import RunState

MODEL = "openai/gpt-5-mini"
ANSWER = (
    "Paris is **18.5 °C** and cloudy; rain is likely after 16:00. For the evening:\n\n"
    "- take the covered passages (*Panoramas*, *Jouffroy*) rather than the river walk;\n"
    "- the `Musée d’Orsay` stays open until 21:45 on Thursdays, tickets are $16 or $11."
)
STATUSES = ("pending", "running", "waiting", "completed", "failed", "interrupted", "abandoned")


class Story:
    """Tells a run event by event."""

    def __init__(
        self, robot: str = "assistant", model: str = MODEL, simulated: bool = False
    ) -> None:
        self.scope = Scope("r1", "r1", None, 0, "robot", (robot,), robot)
        self.events: list[Event] = []
        self.model = model
        self.simulated = simulated
        self.calls = 0
        self.add(
            "run.started",
            0.0,
            name=robot,
            model=model,
            simulated=simulated,
            started_at="2026-01-01T12:00:00+00:00",
        )

    def add(self, type_: str, elapsed: float, scope: Scope | None = None, **data: Any) -> Story:
        self.events.append(Event(type_, scope or self.scope, len(self.events), elapsed, data))
        return self

    def says(self, message: Message, elapsed: float, stop_reason: str | None = None) -> Story:
        data: dict[str, Any] = {"message": message.to_dict()}
        if stop_reason:
            data["stop_reason"] = stop_reason
        return self.add("message.added", elapsed, **data)

    def asks(self, text: str) -> Story:
        return self.says(Message("user", text), 0.0)

    def call(self, elapsed: float, took: float, *, attempts: int = 1, fails: bool = False,
             stop_reason: str = "stop", **usage: Any) -> Story:  # fmt: skip
        self.calls += 1
        name = f"r1.{self.calls}"
        limit = {"type": "ModelError", "message": "rate limit", "status": 429, "kind": "rate_limit"}
        self.add(
            "model_call.started", elapsed, call_id=name, round=self.calls, model=self.model,
            provider="openai", simulated=self.simulated,
        )  # fmt: skip
        for number in range(1, attempts + 1):
            last = number == attempts
            at: dict[str, Any] = {
                "call_id": name,
                "attempt": number,
                "started_s": elapsed + number - 1,
                "duration_s": 1.1,
            }
            if last and not fails:
                self.add("attempt.completed", elapsed + took, **at, status="completed")
            else:
                wait: dict[str, Any] = {} if last else {"retry_in_s": 4.0}
                self.add("attempt.failed", elapsed + took, **at, error=limit, **wait)
        usage = {"input_tokens": 600, "output_tokens": 17, "cost_usd": 0.00105, "calls": 1, **usage}
        if self.simulated:
            usage["cost_usd"] = 0.0
        if fails:
            return self.add(
                "model_call.failed", elapsed + took, call_id=name, attempts=attempts,
                duration_s=took, error=limit, usage=usage,
            )  # fmt: skip
        return self.add(
            "model_call.completed", elapsed + took, call_id=name, attempts=attempts,
            duration_s=took, usage=usage, stop_reason=stop_reason,
        )  # fmt: skip

    def tool(self, id_: str, name: str, arguments: str, elapsed: float) -> Story:
        return self.add(
            "tool_call.started", elapsed, tool_call_id=id_, call_id="r1.1", round=1, tool=name,
            source="function in weather.py", arguments_text=arguments,
        )  # fmt: skip

    def tool_ends(self, id_: str, content: str, elapsed: float, status: str = "completed",
                  **data: Any) -> Story:  # fmt: skip
        return self.add(
            "tool_call.completed", elapsed, tool_call_id=id_, status=status, content=content,
            duration_s=0.142, **data,
        )  # fmt: skip

    def ends(self, status: str, elapsed: float, **data: Any) -> Story:
        return self.add(f"run.{status}", elapsed, **data)

    @property
    def state(self) -> RunState:
        return RunState.fold(self.events)


def weather(
    *, robot: str = "assistant", question: str = "Weather in Paris tonight, and what would you do?",
    answer: str = ANSWER, tool: str = "get_weather", model: str = MODEL, simulated: bool = False,
) -> Story:  # fmt: skip
    """A turn with reasoning, one tool and an answer, not yet ended."""
    arguments = '{"city": "Paris", "unit": "C"}'
    result = '{"temp_c": 18.5, "sky": "cloudy", "rain_from": "16:00"}'
    thought = "The question needs current weather, so call the tool first. Then two ideas indoors."
    wish = ToolCallPart("c1", tool, arguments)
    story = Story(robot, model, simulated).asks(question)
    story.call(0.0, 0.9, stop_reason="tool")
    story.says(Message("assistant", [ReasoningPart(thought), wish]), 0.9, "tool")
    story.tool("c1", tool, arguments, 0.9).tool_ends("c1", result, 1.1)
    story.says(Message("tool", [ToolResultPart("c1", tool, result)]), 1.1)
    story.call(1.1, 1.3)
    return story.says(Message("assistant", answer), 2.4, "stop")


def completed(**about: Any) -> RunState:
    return weather(**about).ends("completed", 2.4, stop_reason="stop").state


def failed(
    *, robot: str = "assistant", answer: str = "The report covers three quarters. Sales rose by",
    message: str = "rate limit (429) from openai/gpt-5-mini, 3 attempts in 14.2 s",
    hint: str = 'Wait 20 s and run again, or name a second model: `model="openai/gpt-5"`.',
) -> RunState:  # fmt: skip
    error = {
        "type": "ModelError", "message": message, "hint": hint, "status": 429,
        "kind": "rate_limit", "retry_after": 20.0, "retryable": True,
    }  # fmt: skip
    story = Story(robot).asks("Summarise the report")
    story.call(0.0, 14.2, attempts=3, fails=True, estimated=True)
    story.says(Message("assistant", [TextPart(answer, cut=True)]), 14.2)
    return story.ends("failed", 14.2, error=error).state


def interrupted(
    *, robot: str = "assistant", answer: str = "Contracts 1 to 17 agree. Contract 18"
) -> RunState:
    wishes = [ToolCallPart(f"c{n}", "read_contract", f'{{"number": {n}}}') for n in (16, 17, 18)]
    story = Story(robot).asks("Compare all 40 contracts").call(0.0, 0.8, stop_reason="tool")
    story.says(Message("assistant", wishes), 0.8, "tool")
    for wish in wishes:
        story.tool(wish.id, wish.name, wish.arguments, 0.8)
    story.tool_ends("c16", "notice period 30 days", 1.0).tool_ends(
        "c17", "notice period 30 days", 1.1
    )
    gone = "interrupted: the run was stopped before this tool answered"
    story.tool_ends("c18", gone, 3.1, "interrupted", thread_leaked=True)
    results = [ToolResultPart(w.id, w.name, "notice period 30 days") for w in wishes[:2]]
    results.append(ToolResultPart("c18", "read_contract", gone, is_error=True))
    story.says(Message("tool", results), 3.1)
    story.says(Message("assistant", [TextPart(answer, cut=True)]), 3.1)
    return story.ends("interrupted", 3.1, reason="stopped", stuck=["read_contract"]).state


def running(*, robot: str = "assistant", answer: str = "Let me look that up.") -> RunState:
    wish = ToolCallPart("c1", "search_docs", '{"query": "refund policy", "limit": 5}')
    story = Story(robot).asks("What is the refund policy?").call(0.0, 0.9, stop_reason="tool")
    story.says(Message("assistant", [TextPart(answer), wish]), 0.9, "tool")
    return story.tool("c1", wish.name, wish.arguments, 0.9).state


def in_state(status: str, **about: Any) -> RunState:
    """A run in any of the states that there are."""
    if status == "pending":
        robot = about.get("robot", "assistant")
        return RunState(Scope("r1", "r1", None, 0, "robot", (robot,), robot))
    if status in ("waiting", "abandoned"):
        state = running(**about)
        state.status = status
        return state
    makers = {
        "running": running,
        "completed": completed,
        "failed": failed,
        "interrupted": interrupted,
    }
    return makers[status](**about)


class _StandIn(SimpleNamespace):
    __module__ = "robotlab_nb.robot.robot"


class Robot(_StandIn):
    __module__ = "robotlab_nb.robot.robot"


class Tool(_StandIn):
    __module__ = "robotlab_nb.tools.decorator"


class RobotResult(_StandIn):
    __module__ = "robotlab_nb.robot.result"


class Run(_StandIn):
    __module__ = "robotlab_nb.runtime.run"


def a_tool(**about: Any) -> Tool:
    parameters = {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "City name, in any language"},
            "unit": {"enum": ["C", "F"], "default": "C", "description": "Unit of the answer"},
        },
        "required": ["city"],
    }
    fields: dict[str, Any] = {
        "name": "get_weather",
        "description": "Current weather of a city, from the national service.",
        "parameters": parameters,
        "source": "function in weather.py",
        "timeout": 60.0,
        "loop": "engine",
        "is_async": False,
        "raise_on_error": None,
    }
    return Tool(**{**fields, **about})


PROMPT = (
    "You are a travel assistant. Be brief, give temperatures in °C, and say so when you do not "
    "know. Never book anything without asking.\nPrices are in $ and in €; $5 is not $50."
)


def a_robot(**about: Any) -> Robot:
    def setting(value: Any, origin: str) -> SimpleNamespace:
        return SimpleNamespace(value=value, origin=origin)

    fields: dict[str, Any] = {
        "name": "assistant",
        "model_name": "simulated/rules",
        "is_simulated": True,
        "description": "Plans evenings in a city.",
        "system_prompt": PROMPT,
        "tools": [a_tool(), a_tool(name="search_docs"), a_tool(name="send_mail")],
        "messages": (
            Message("system", PROMPT), Message("user", "Weather in Paris?"),
            Message("assistant", "Cloudy, 18.5 °C."),
        ),
        "effective_config": {
            "model": setting("simulated", "robot"),
            "temperature": setting(0.2, "robot"),
            "max_tool_rounds": setting(25, "default"),
            "model_timeout": setting(120.0, "options"),
        },
    }  # fmt: skip
    return Robot(**{**fields, **about})


def a_result(state: RunState) -> RobotResult:
    return RobotResult(state=state, robot_name=state.scope.robot, text=state.text)


def a_run(state: RunState) -> Run:
    return Run(
        state=state, robot_name=state.scope.robot, status=state.status,
        runnable_name=state.scope.robot,
    )  # fmt: skip


def an_error(**about: Any) -> ModelError:
    fields: dict[str, Any] = {
        "message": "rate limit (429) from openai/gpt-5-mini, 3 attempts in 14.2 s",
        "hint": 'Wait 20 s and run again, or name a second model: `model="openai/gpt-5"`.',
        "status": 429,
        "kind": "rate_limit",
        "retryable": True,
        "retry_after": 20.0,
        "body": '{"error": {"message": "Rate limit reached"}}',
    }
    error = ModelError(**{**fields, **about})
    error.run = a_run(failed())
    return error


def nested() -> RunState:
    """A run with two runs inside it, the second failed and of unknown cost."""
    story = weather()
    for number, (name, ends) in enumerate((("researcher", "completed"), ("writer", "failed"))):
        scope = Scope(f"k{number}", "r1", "r1", 1, "robot", ("assistant", name), name)
        story.add("run.started", 1.0, scope, name=name, model=MODEL, simulated=False)
        story.add("model_call.started", 1.0, scope, call_id=f"k{number}.1", round=1, model=MODEL)
        usage: dict[str, Any] = {"input_tokens": 90, "output_tokens": 10, "calls": 1}
        usage |= {"cost_usd": 0.0004} if ends == "completed" else {"cost_complete": False}
        story.add(
            "model_call.completed",
            1.4,
            scope,
            call_id=f"k{number}.1",
            usage=usage,
            stop_reason="stop",
        )
        story.add(f"run.{ends}", 1.5, scope, error={"type": "ToolError", "message": "no"})
    return story.ends("completed", 2.4, stop_reason="stop").state
