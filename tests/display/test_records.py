"""Calls, events, letters, tables and usage: what their pictures say, as people reach them."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.core.errors import ModelError
from robotlab_nb.core.readings import ShownList, pretty
from robotlab_nb.display.pictures import html, text
from tests.display.test_pictures import check_text
from tests.display.trees import check_inert, flat, words_of


def both(thing: Any) -> tuple[str, str]:
    """The words of the HTML and of the text that a notebook is given."""
    bundle = thing._repr_mimebundle_()
    assert "could not be drawn" not in bundle["text/plain"] + bundle["text/html"]
    assert check_text(thing) == bundle["text/plain"]
    return words_of(check_inert(bundle["text/html"])), flat(bundle["text/plain"])


class Line(BaseModel):
    item: str
    price: float


def two_rejections() -> Any:
    answers = ['[{"item": "soup"}]', '[{"item": "soup", "price": 8.5}]']
    bot = rl.build("till", model=rl.SimulatedModel(answers), output=list[Line])
    return bot, bot.run("Soup 8.50")


def test_a_type_is_named_as_it_was_written_and_a_check_is_no_person() -> None:
    bot, result = two_rejections()
    for shown in both(result):
        assert "list[Line] by schema, 1 answer sent back" in shown
        assert "check of the answer" in shown
        assert shown.count("you") == shown.count("you 0.0 s") + shown.count("you · 0.0 s") == 1
    for shown in both(bot):
        assert "list_Line" not in shown
    with pytest.raises(rl.OutputError, match=r"gave no valid list\[Line\]"):
        rl.build("till", model=rl.SimulatedModel(["x"]), output=list[Line]).run("Soup 8.50")


def with_a_tool() -> Any:
    def pay(amount: int, api_key: str = "sk-1") -> str:
        """Pay."""
        return f"paid {amount}"

    model = rl.SimulatedModel([("pay", {"amount": 3}), "Paid."])
    return rl.build("teller", model=model, tools=[pay]).run("Pay 3.")


def test_tool_calls_are_a_list_and_a_picture() -> None:
    result = with_a_tool()
    calls = result.tool_calls
    assert isinstance(calls, list)
    assert calls == list(result.state.tool_calls.values())
    for shown in (*both(calls), *both(calls[:1]), *both(calls[0])):
        assert "ƒ pay(amount=3) → paid 3" in shown
    assert "1 tool call" in both(calls)[1]


def test_a_list_is_a_table_where_it_stands_alone_and_its_repr_inside_others() -> None:
    from IPython.core.formatters import DisplayFormatter
    from IPython.lib.pretty import pretty as printed

    calls, error = with_a_tool().tool_calls, rl.InputError("no", hint="Say more.")
    for thing in (calls, error, rl.build("x").messages):
        told, _ = DisplayFormatter().format(thing)
        if thing:
            assert told["text/plain"] == text(thing)
    assert "Say more." in DisplayFormatter().format(error)[0]["text/plain"]
    assert printed((calls, 1)).startswith("([ToolCall(")
    assert callable(pretty)


def test_events_are_told_in_words_and_without_keys() -> None:
    memory = rl.create_memory(name="desk")
    memory["api_key"] = "sk-canary-1"
    memory["draft"] = "Dear Ada,"
    events = rl.session_events()[-2:]
    for shown in both(events):
        assert 'draft = "Dear Ada,"' in shown
        assert "canary" not in shown
    for shown in both(events[0]):
        assert shown.lower().startswith(("memory.set event", "event memory.set"))
        assert "canary" not in shown
    result = with_a_tool()
    shown = both(result.events)[0]
    for words in ("user: Pay 3.", "assistant: Paid.", "teller", "tool_call.completed"):
        assert words in shown


def test_of_many_events_the_first_and_the_last_are_shown() -> None:
    events = ShownList(with_a_tool().events * 20)
    shown = both(events)[0]
    assert f"… {len(events) - 60:,} more events" in shown


def test_tables_are_previewed_without_being_made() -> None:
    frames = with_a_tool().frames
    shown, told = both(frames)
    assert "runs · 1 row × " in told
    assert "tool_calls · 1 row × 17 columns" in shown
    assert "run_id root_id" in shown
    assert "string string" in shown  # the names stand over the types
    assert "without rows: tasks, questions" in shown
    assert "… " in shown
    assert not set(frames.names) & set(vars(frames))
    assert frames.beginning("runs").total == len(frames.runs)


def test_usage_and_model_calls_tell_their_figures() -> None:
    result = with_a_tool()
    for shown in both(result.usage):
        assert "tokens · $0 · 2 calls" in shown
        assert "input" in shown
    for shown in both(next(iter(result.state.model_calls.values()))):
        assert "simulated/script" in shown
        assert "tools pay" in shown


def test_runs_that_go_on_are_a_table() -> None:
    import time

    run = rl.build("slow", model=rl.SimulatedModel("x", delay=30)).start("go")
    while not run.state.model_calls:
        time.sleep(0.01)
    try:
        for shown in both(rl.runs()):
            assert "slow robot ◐ running asks its model" in shown
    finally:
        run.stop()


# -- a bus -----------------------------------------------------------------------------------


def a_chat() -> Any:
    bus = rl.Bus()
    critic = rl.build("critic", model=rl.SimulatedModel("REJECTED")).with_bus(bus).serve()
    comedian = rl.build("comedian").with_bus(bus)
    comedian.send_message(critic.name, "A joke.").reply()
    comedian.send_message("nobody", "Hello?")
    return comedian, bus


def test_an_outbox_tells_what_became_of_each_message() -> None:
    comedian, _ = a_chat()
    for shown in both(comedian.outbox):
        assert "outbox: 2 messages" in shown
        assert "comedian:1 critic ✓ answered A joke. REJECTED" in shown
        assert "comedian:2 nobody ✕ dead Hello? BusError" in shown
    assert list(comedian.outbox) == ["comedian:1", "comedian:2"]
    assert repr(comedian.outbox["comedian:1"]) == "<comedian:1 to 'critic': replied>"
    for shown in both(comedian.outbox["comedian:1"]):
        assert "✓ answered · to critic" in shown
        assert "REJECTED" in shown


def test_letters_begin_with_what_matters_and_have_no_random_ids() -> None:
    _, bus = a_chat()
    letters = bus.dead_letters
    assert isinstance(letters, tuple)
    assert repr(letters[0]).startswith("<DeadLetter on 'nobody', no_receiver: nobody receives")
    for thing in (letters, letters[0], bus, letters[0].receipt):
        for shown in (*both(thing), repr(thing)):
            assert letters[0].message_id not in shown
    for shown in both(letters[0]):
        assert shown.startswith("✕ dead letter · on nobody · nobody receives there")
    for shown in both(bus.channels["critic"]):
        assert "0 of at most 1,000" in shown


# -- errors and networks ---------------------------------------------------------------------


def test_a_mistake_is_named_and_a_failure_is_called_failed() -> None:
    with pytest.raises(rl.ConfigurationError) as caught:
        rl.build("x", temprature=1)
    for shown in both(caught.value):
        assert shown.startswith("✕ UnknownKeyword · robot 'x' has no setting")
        assert "failed" not in shown
        assert "temperature" in shown
    assert text(ModelError("no answer")).startswith("✕ failed · no answer")


def test_a_cause_that_says_the_same_is_told_once() -> None:
    inner = ConnectionError("the server is gone")
    error = ModelError("openai/x: the server is gone")
    error.__cause__ = inner
    inner.__cause__ = OSError("no route")
    for shown in both(error):
        assert shown.count("the server is gone") == 1
        assert "caused by OSError: no route" in shown


def test_an_attempt_tells_its_status_once() -> None:
    from tests.display.samples import Story, a_result

    for message, words in (
        ("openai/x answered 503: busy", "openai/x answered 503: busy"),
        ("busy", "503, busy"),
    ):
        story = Story().asks("go")
        story.add("model_call.started", 0.0, call_id="r1.1", round=1, model="m", provider="p")
        story.add("attempt.failed", 1.0, call_id="r1.1", attempt=1, started_s=0.0, duration_s=1.0,
                  error={"message": message, "status": 503}, retry_in_s=None)  # fmt: skip
        shown = words_of(check_inert(html(a_result(story.ends("failed", 1.0).state))))
        assert f"1.0 s {words} " in shown
        assert f"503, {message}" not in shown or message == "busy"


def test_a_run_tells_the_caps_of_its_groups() -> None:
    net = rl.create_network("busy", group_caps={"slow": 2})
    net.task("read", rl.build("bot", model=rl.SimulatedModel("ok")), poller_group="slow")
    result = net.run("go")
    assert "group slow, at most 2" in flat(check_text(result))
    assert "group slow, at most 2" in words_of(check_inert(html(result)))
