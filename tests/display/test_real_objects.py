"""The real robots, tools, runs and errors have the attributes that pictures read."""

from __future__ import annotations

from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import ModelError, RobotLabError
from tests.display.trees import check_inert, flat, words_of


def get_weather(city: str, unit: str = "C") -> str:
    """Current weather of a city.

    Parameters
    ----------
    city : str
        City name, in any language.
    """
    return f"18.5 degrees {unit} in {city}, umbrella $5"


def a_bot(model: Any = None, **about: Any) -> Any:
    return rl.build(
        "assistant", system_prompt="Be brief.", tools=[get_weather], model=model, **about
    )


def both(thing: Any) -> tuple[str, str]:
    """The words of the HTML and of the text that a notebook is given."""
    bundle = thing._repr_mimebundle_()
    assert bundle["text/plain"] == repr(thing)
    assert "could not be drawn" not in bundle["text/plain"]
    assert "could not be drawn" not in bundle["text/html"]
    return words_of(check_inert(bundle["text/html"])), flat(bundle["text/plain"])


def test_a_robot() -> None:
    bot = a_bot(temperature=0.25)
    for shown in both(bot):
        assert "simulated" in shown
        assert "Be brief." in shown
        assert "get_weather" in shown
        assert "conversation empty" in shown
    assert "temperature 0.25 robot" in both(bot)[0]
    bot.run("Weather in Paris?")
    assert "conversation 4 messages" in both(bot)[1]


def test_a_tool_and_a_set_of_tools() -> None:
    manifest = a_bot().tools
    for shown in both(manifest):
        assert "1 tool" in shown
        assert "get_weather Current weather of a city." in shown
    for shown in both(manifest["get_weather"]):
        assert 'get_weather(city: string, unit: string = "C")' in shown
        assert "function in test_real_objects.py" in shown
        assert "runs in a thread" in shown


def test_a_result_and_its_markdown() -> None:
    result = a_bot().run("Weather in Paris?")
    for shown in both(result):
        assert "18.5 degrees C in Paris" in shown
        assert "✓ completed · assistant · simulated/rules" in shown
        assert "2 calls · 1 tool call" in shown
    assert "ƒ `get_weather(" in result._repr_markdown_()
    assert str(result) in flat(result._repr_markdown_().replace("<span>$</span>", "$"))


def test_a_run_that_ended_and_one_that_failed() -> None:
    run = a_bot().start("Weather in Paris?")
    answer = run.result().text
    for shown in both(run):
        assert answer in shown
        assert "✓ completed" in shown
    broken = a_bot(rl.SimulatedModel([ModelError("no model today", hint="Ask tomorrow.")]))
    with pytest.raises(RobotLabError) as caught:
        broken.run("x")
    error = caught.value
    printed = flat("\n".join(error._render_traceback_()))
    drawn = words_of(check_inert(error._repr_html_() or ""))
    for shown in (*both(error.run), printed, drawn):
        assert "no model today" in shown
        assert "Ask tomorrow." in shown


def test_a_key_given_to_a_robot_is_never_shown() -> None:
    key = "sk-canary-4f1a9c07b2"
    bot = a_bot("openai/gpt-5-mini", api_key=key)
    assert key not in "".join(bot._repr_mimebundle_().values())
