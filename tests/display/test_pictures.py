"""Every object, in every state, with hostile text: drawn whole, inert, and the same in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.errors import RobotLabError, RunInterrupted, RunWaiting
from robotlab_nb.core.messages import (
    Message,
    Part,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from robotlab_nb.core.usage import Usage
from robotlab_nb.display import as_html, as_text
from robotlab_nb.display.columns import width
from robotlab_nb.display.escape import one_line, plain
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.display.states import STATES
from tests.display import samples
from tests.display.samples import (
    STATUSES,
    a_result,
    a_robot,
    a_run,
    a_tool,
    an_error,
    completed,
    failed,
    in_state,
    nested,
)
from tests.display.trees import CORPUS, PAYLOADS, check_inert, flat, text_of, words_of

if TYPE_CHECKING:
    from collections.abc import Callable


def hostile_message(role: str, payload: str) -> Message:
    if role != "assistant":
        return Message(role, payload)
    parts: list[Part] = [
        ReasoningPart(payload),
        TextPart(payload),
        ToolCallPart("c1", payload, payload),
        ToolResultPart("c2", payload, payload, is_error=True),
        RefusalPart(payload),
        UnknownPart({"kind": payload, payload: [payload]}),
    ]
    return Message("assistant", parts)


def setting(value: Any, origin: str) -> SimpleNamespace:
    return SimpleNamespace(value=value, origin=origin)


def hostile_robot(payload: str) -> Any:
    return a_robot(
        name=payload,
        model_name=payload,
        description=payload,
        system_prompt=payload,
        tools=[a_tool(name=payload)],
        messages=(Message("user", payload), Message("assistant", payload)),
        effective_config={
            payload: setting(payload, payload),
            "x": setting({payload: payload}, "robot"),
        },
    )


def hostile_tool(payload: str) -> Any:
    schema = {"type": payload, "description": payload, "default": payload, "enum": [payload]}
    return a_tool(
        name=payload,
        description=payload,
        source=payload,
        parameters={"type": "object", "properties": {payload: schema}, "required": [payload]},
    )


def hostile_error(payload: str) -> Any:
    error = an_error(message=payload, hint=payload, kind=payload, body=payload)
    error.__cause__ = ValueError(payload)
    return error


OBJECTS: dict[str, Callable[[str], Any]] = {
    "robot": hostile_robot,
    "tool": hostile_tool,
    "user": lambda p: hostile_message("user", p),
    "assistant": lambda p: hostile_message("assistant", p),
    "transcript": lambda p: [hostile_message(role, p) for role in ("system", "user", "assistant")],
    "completed": lambda p: a_result(completed(robot=p, question=p, answer=p, tool=p, model=p)),
    "failed": lambda p: a_result(failed(robot=p, answer=p, message=p, hint=p)),
    "run": lambda p: a_run(in_state("running", robot=p, answer=p)),
    "error": hostile_error,
}


def check_text(thing: Any) -> str:
    """The text form keeps its measures and holds nothing that acts."""
    found = text(thing)
    lines = found.split("\n")
    assert len(lines) <= 40
    assert max(map(width, lines)) <= 96
    assert plain(found) == found
    return found


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_every_payload_is_inert_in_one_object_at_least(number: int) -> None:
    kind = list(OBJECTS)[number % len(OBJECTS)]
    thing = OBJECTS[kind](PAYLOADS[number])
    tree = check_inert(html(thing))
    check_text(thing)
    shown = one_line(PAYLOADS[number], 20).removesuffix("…").split("`")[0].strip()
    assert shown in words_of(tree)


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("make", [a_result, a_run], ids=["result", "run"])
def test_text_and_html_name_the_same_state_robot_and_answer(
    make: Callable[[Any], Any], status: str
) -> None:
    about = {} if status == "pending" else {"answer": "The fare is forty."}
    thing = make(in_state(status, robot="fares", **about))
    tree = check_inert(html(thing))
    for shown in (words_of(tree), flat(check_text(thing))):
        assert f"{STATES[status].icon} {STATES[status].word}" in shown
        assert "fares" in shown
        if about:
            assert shown.count("The fare is forty.") == 1


def test_order_is_notice_answer_figures_folds() -> None:
    thing = a_result(failed(robot="fares", answer="So far so good"))
    for shown in (words_of(check_inert(html(thing))), flat(text(thing))):
        places = [
            shown.index(words)
            for words in (
                "✕ failed", "rate limit", "Wait 20 s", "So far so good", "cut here, text so far",
                "✕ failed · fares", "617 tokens (estimated)", "Attempts", "Transcript", "you",
            )
        ]  # fmt: skip
        assert places == sorted(places)


def test_a_result_tells_its_figures_and_never_repeats_the_answer() -> None:
    shown = words_of(check_inert(html(a_result(completed(answer="Bring an umbrella.")))))
    assert "✓ completed · assistant · openai/gpt-5-mini · 2 calls · 1 tool call" in shown
    assert "1,234 tokens · $0.0021 · 2.4 s" in shown
    assert shown.count("Bring an umbrella.") == 1
    assert "the answer above" in shown
    assert 'ƒ get_weather(city="Paris", unit="C")' in shown
    assert "✓ 142 ms" in shown


@pytest.mark.parametrize("draw", [html, text, markdown])
def test_what_was_simulated_says_so(draw: Callable[[Any], str]) -> None:
    made_up = completed(model="simulated/rules", simulated=True)
    for thing in (a_robot(effective_config={}), a_result(made_up), a_run(made_up)):
        assert draw(thing).replace("simulated/rules", "").count("simulated") == 1
    real = a_robot(effective_config={}, is_simulated=False, model_name="x/y")
    for thing in (real, a_result(completed())):
        assert "simulated" not in draw(thing)


def test_a_tool_tells_its_call_and_its_limits() -> None:
    shown = words_of(check_inert(html(a_tool())))
    assert 'get_weather(city: string, unit: "C" | "F" = "C")' in shown
    assert "city string required City name, in any language" in flat(text(a_tool()))
    assert "timeout 60 s · runs in a thread" in shown
    slow = a_tool(is_async=True, loop="caller", raise_on_error=True, timeout=None)
    assert (
        "timeout as the robot says · async · runs on the cell's loop · an exception ends"
        in text(slow)
    )


def test_a_robot_tells_what_it_was_told_and_what_it_may_call() -> None:
    for shown in (words_of(check_inert(html(a_robot()))), flat(text(a_robot()))):
        for words in (
            "assistant", "simulated/rules", "Plans evenings", "You are a travel assistant",
            "get_weather", "send_mail", "2 messages", "System prompt", "Cloudy, 18.5 °C.",
            "2 set here, 1 from elsewhere, 1 by default",
        ):  # fmt: skip
            assert words in shown
    bare = a_robot(tools=[], messages=(), system_prompt=None, effective_config={}, description=None)
    assert text(bare).split("\n") == [
        "Robot assistant · simulated/rules (simulated)",
        "no system prompt",
        "  tools         none",
        "  conversation  empty",
    ]


def test_unknown_and_incomplete_costs_are_told() -> None:
    shown = text(a_result(nested()))
    assert "at least" in shown
    assert "(some prices unknown)" in flat(shown)
    assert "cost unknown" in shown
    assert "Runs inside · 2" in shown
    assert "writer" in shown


def test_tool_calls_tell_how_they_ended() -> None:
    shown = flat(text(a_result(in_state("interrupted"))))
    assert "ƒ read_contract(number=16) → notice period 30 days · ✓ 142 ms" in shown
    assert "■ interrupted · 142 ms" in shown
    assert "2 of 3 tool calls finished" in shown
    assert "still running, and not to be stopped: read_contract" in shown
    story = samples.Story().asks("go").call(0, 1, stop_reason="tool")
    story.says(Message("assistant", [ToolCallPart("c1", "pay", "{}")]), 1.0)
    story.tool("c1", "pay", "{}", 1.0)
    story.tool_ends("c1", "Error (pay): no funds", 1.1, "failed", traceback="Traceback …")
    story.says(Message("tool", [ToolResultPart("c1", "pay", "Error (pay): no funds", True)]), 1.1)
    thing = a_result(story.ends("completed", 1.2, stop_reason="refused").state)
    shown = words_of(check_inert(html(thing)))
    assert "ƒ pay() → Error (pay): no funds · ✕ failed · 142 ms" in shown
    assert "error Error (pay): no funds traceback Traceback …" in shown
    assert "✓ completed, refused by the model" in shown


def test_a_list_of_messages_is_a_transcript() -> None:
    said = completed().messages
    shown = words_of(check_inert(html(said)))
    assert shown.startswith("3 messages · 1 tool call · 1 with reasoning you Weather in Paris")
    assert "18.5 °C and cloudy" in shown
    assert html([]) != html(said)


def test_a_long_conversation_keeps_its_start_and_its_end() -> None:
    said = [Message("user", f"question {n}.") for n in range(1000)]
    shown = text_of(check_inert(html(said)))
    assert "question 0." in shown
    assert "question 999." in shown
    assert "900 messages left out here" in shown
    assert "question 500." not in shown


@pytest.mark.parametrize(
    "error", [RunWaiting("fares asks", hint="Answer it."), RunInterrupted("s")]
)
def test_waiting_and_stopped_are_no_failures(error: RobotLabError) -> None:
    shown = text(error)
    assert "failed" not in shown
    assert ("? waiting for you" in shown) == isinstance(error, RunWaiting)
    check_inert(html(error))


def test_an_error_tells_hint_causes_and_its_run() -> None:
    error = an_error()
    error.__cause__ = ConnectionError("refused")
    for shown in (words_of(check_inert(html(error))), flat(text(error))):
        for words in (
            "✕ failed · rate limit (429)", 'model="openai/gpt-5"', "ModelError", "HTTP 429",
            "tried again after 20 s", "caused by ConnectionError: refused", "error.run",
            "Sales rose by", "Attempts · 3, all failed",
        ):  # fmt: skip
            assert words in shown, words


class Broken:
    """Gives some attributes and raises for one, or for all."""

    def __init__(self, thing: Any, broken: str | None) -> None:
        self.__dict__["thing"] = thing
        self.__dict__["broken"] = broken

    def __getattr__(self, name: str) -> Any:
        if self.__dict__["broken"] in (None, name):
            raise RuntimeError(f"<b>{name}</b>")
        return getattr(self.__dict__["thing"], name)


def broken(thing: Any, name: str | None) -> Any:
    cls = type(type(thing).__name__, (Broken,), {"__module__": "robotlab_nb.broken"})
    return cls(thing, name)


SOUND = [a_robot(), a_tool(), a_result(completed()), a_result(failed()), a_run(in_state("running"))]


@pytest.mark.parametrize("thing", SOUND, ids=lambda thing: type(thing).__name__)
def test_a_part_that_cannot_be_drawn_says_so_and_the_rest_stands(thing: Any) -> None:
    for name in [*vars(thing), None]:
        poor = broken(thing, name)
        tree = check_inert(html(poor))
        assert words_of(tree)
        assert check_text(poor)
        assert markdown(poor)
    if type(thing).__name__ == "Robot":
        shown = text(broken(thing, "tools"))
        assert "tools and conversation could not be drawn (RuntimeError)" in shown
        assert "You are a travel assistant" in shown


@pytest.mark.parametrize("name", [n for n in completed().__slots__ if n != "scope"])
def test_a_broken_state_still_has_a_picture(name: str) -> None:
    for value in (None, 7, "<b>", object()):
        state = completed()
        things = (a_result(state), a_run(state))
        setattr(state, name, value)
        for thing in things:
            check_inert(html(thing))
            check_text(thing)


def test_wrong_kinds_of_values_have_a_picture() -> None:
    odd: list[Any] = [None, 7, float("nan"), [1], {"a": object()}, "x", b"y"]
    for value in odd:
        for name in vars(a_tool()):
            check_inert(html(a_tool(**{name: value})))
        for name in vars(a_robot()):
            check_inert(html(a_robot(**{name: value})))
    usage = Usage(float("inf"), -5, cost_usd=float("nan"))  # type: ignore[arg-type]
    state = completed()
    state.usage = usage
    assert "cost unknown" in text(a_result(state))


def test_a_writer_that_fails_leaves_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(picture: Any) -> str:
        raise RecursionError("deep")

    monkeypatch.setattr(as_html, "write", fail)
    thing = a_result(completed(answer="[/path] <b>"))
    shown = text_of(check_inert(html(thing)))
    assert shown == text(thing)
    assert "[/path] <b>" in shown
    monkeypatch.setattr(as_text, "write", fail)
    assert text(thing).startswith("RobotResult(") or text(thing).startswith("<RobotResult")
    check_inert(html(thing))


def test_what_is_no_object_of_ours_is_shown_by_its_repr_without_addresses() -> None:
    class Other:
        pass

    class Sulking:
        def __repr__(self) -> str:
            raise RuntimeError("no")

    assert "0x" not in text(Other())
    assert "Other object" in text_of(check_inert(html(Other())))
    assert text(Sulking()) == "<Sulking>"
    assert text("<b>") == "'<b>'"
    assert words_of(check_inert(html("<b>"))) == "'<b>'"


def test_a_repr_that_leads_back_here_ends() -> None:
    from robotlab_nb.core.readings import Pictured

    class Unknown(Pictured):
        pass

    assert repr(Unknown()) == "<Unknown>"
    assert "&lt;Unknown&gt;" in html(Unknown())


@pytest.mark.parametrize("draw", [html, text, markdown])
@pytest.mark.parametrize("canary", CORPUS["canaries"])
def test_keys_in_the_configuration_are_not_shown(canary: str, draw: Callable[[Any], str]) -> None:
    config = {
        "api_key": setting(canary, "robot"),
        "client_secret": setting(canary, "robot"),
        "provider_options": setting(
            {"headers": {"Authorization": canary, "x-api-key": canary}, "token": [canary]}, "robot"
        ),
        "max_tokens": setting(100, "robot"),
    }
    shown = draw(a_robot(effective_config=config))
    assert canary not in shown
    assert "100" in shown or draw is text


def test_pictures_are_the_same_for_the_same_data() -> None:
    for kind, make in OBJECTS.items():
        assert html(make("x <y>")) == html(make("x <y>")), kind
        assert text(make("x <y>")) == text(make("x <y>")), kind


def test_nothing_of_the_engine_is_loaded_for_a_picture() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from robotlab_nb.display.pictures import text; text(3);"
        "rooms = {m.split('.')[1] for m in sys.modules if m.startswith('robotlab_nb.')};"
        "heavy = {'markdown_it', 'IPython', 'pandas', 'pydantic'} & set(sys.modules);"
        "print(sorted(rooms), sorted(heavy))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "['core', 'display'] []"
