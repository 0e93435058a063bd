"""The player of a replay in a real browser: alone on a page, and in a real JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import nbformat
import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ModelServer, Reply
from robotlab_nb.widgets.replay_data import data_of
from robotlab_nb.widgets.replay_widget import ReplayWidget
from robotlab_nb.widgets.replaying import Replay, replay

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Page

    from .conftest import Lab, Notebook

CORPUS = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("utf-8"))
HOSTILE = [text for group in CORPUS.values() for text in group]
WIDGET = "application/vnd.jupyter.widget-view+json"


def get_weather(city: str) -> str:
    """Weather of a city."""
    return f"18 °C in {city}"


def guide(*steps: Any, **more: Any) -> rl.Robot[Any]:
    script = steps or (("get_weather", {"city": "Rome"}), "It is warm, and the sun shines. " * 8)
    return rl.build("guide", model=rl.SimulatedModel(list(script)), tools=[get_weather], **more)


# -- alone on a page: a stand-in for the widget's model, which nobody displays ---------------------


class Alone:
    """The front end with a model that only a test talks to, and a place that bears its mark."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def play(self, found: Replay) -> Locator:
        page = self.page
        page.set_content(
            f"<style>{ReplayWidget._css}</style><div id=place class=mark>"
            f"{found._repr_html_()}</div>"
        )
        page.evaluate(
            "async ([source, replay]) => {"
            "const blob = new Blob([source], {type: 'text/javascript'});"
            "const module = await import(URL.createObjectURL(blob));"
            "window.over?.(); window.hurt = 0; window.alert = () => { window.hurt += 1 };"
            "const traits = {mark: 'mark', replay};"
            "const model = {get: name => traits[name]};"
            "window.over = module.default().initialize({model}) }",
            [str(ReplayWidget._esm), json.loads(json.dumps(data_of(found)))],
        )
        return page.locator(".rlnb-replay")

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def now(self) -> str:
        return self.page.locator(".rlnb-now").inner_text().replace("\u00a0", " ")

    def log(self) -> str:
        return self.page.locator(".rlnb-log").inner_text()


@pytest.fixture
def alone(page: Page) -> Alone:
    return Alone(page)


def test_the_player_takes_the_place_of_the_list_and_gives_it_back(alone: Alone) -> None:
    player = alone.play(guide().run("Rome?").replay())
    listed = alone.page.locator("#place > .rlnb-c > details").first
    assert alone.now().startswith("1. ○ guide begins with “Rome?”")
    assert not listed.is_visible()
    alone.page.get_by_role("button", name="Close").click()
    assert listed.is_visible()
    assert player.count() == 0
    alone.page.get_by_role("button", name="Play again").click()
    assert player.is_visible()
    assert not listed.is_visible()
    alone.page.evaluate("over()")
    assert listed.is_visible()
    assert alone.page.get_by_role("button").count() == 0


def test_buttons_keys_and_the_slider_go_to_a_step(alone: Alone) -> None:
    player = alone.play(guide().run("Rome?").replay())
    alone.page.get_by_role("button", name="Step ›").click()
    assert alone.now().startswith("2. → guide asks simulated/script")
    alone.press("ArrowRight", "ArrowRight")
    assert alone.now().startswith("4. ƒ guide calls get_weather")
    alone.press("ArrowLeft")
    assert alone.now().startswith("3. ← guide wants get_weather")
    alone.press("End")
    assert alone.now().startswith("8. ✓ guide ends: completed")
    assert alone.page.get_by_role("button", name="Step ›").is_disabled()
    alone.press("Home")
    assert alone.now().startswith("1. ")
    slider = alone.page.get_by_role("slider")
    slider.fill("4")
    assert alone.now().startswith("5. ✓ guide get_weather gives 18 °C in Rome")
    assert "It is warm" not in alone.log()
    told = (slider.get_attribute("aria-valuetext") or "").replace("\u00a0", " ")
    assert told.startswith("5: guide get_weather gives 18 °C in Rome")
    player.locator("summary", has_text="All steps").click()
    player.locator(".rlnb-steps button").nth(6).click()
    assert alone.now().startswith("7. ← guide answers")
    assert player.locator("[aria-current]").inner_text().startswith("7.")


def test_the_view_is_as_it_was_at_each_step_forth_and_back(alone: Alone) -> None:
    found = guide(system_prompt="Be brief.").run("Rome?").replay()
    alone.play(found)
    forth = []
    alone.press("Tab")
    for _ in found.steps:
        forth.append((alone.now(), alone.page.locator(".rlnb-stage").inner_text()))
        alone.press("ArrowRight")
    back = []
    for _ in found.steps:
        back.append((alone.now(), alone.page.locator(".rlnb-stage").inner_text()))
        alone.press("ArrowLeft")
    assert back[::-1] == forth
    assert len({view for _, view in forth}) >= 5
    assert "18 °C" in forth[4][1]
    assert "18 °C" not in forth[3][1]


def test_what_was_sent_and_received_stands_beside_its_step(alone: Alone) -> None:
    found = guide(system_prompt="Be brief.").run("Rome?").replay()
    player = alone.play(found)
    calls = player.locator(".rlnb-calls")
    assert "No model is asked" in calls.inner_text()
    player.get_by_role("slider").fill("5")
    told = calls.inner_text()
    assert "→ sent to simulated/script" in told
    assert "nothing has come back yet" in told
    calls.locator("summary", has_text="request as JSON").click()
    assert json.loads(calls.locator("pre").last.inner_text()) == found.exchanges[1].request
    assert "Be brief." in calls.locator("pre").last.inner_text()
    player.get_by_role("slider").fill("6")
    assert "← received" in calls.inner_text()
    calls.locator("summary", has_text="answer as JSON").click()
    shown = calls.locator("details[open] pre").first.inner_text()
    assert json.loads(shown) == json.loads(json.dumps(found.exchanges[1].response))
    player.get_by_role("slider").fill("2")
    assert calls.locator("details[open]", has_text="answer as JSON").count() == 1


def test_it_plays_to_the_end_and_slow_motion_is_slower(alone: Alone) -> None:
    player = alone.play(guide().run("Rome?").replay())
    player.get_by_label("speed").select_option("8×")
    player.focus()
    alone.press(" ")
    assert alone.page.get_by_role("button", name="Pause").is_visible()
    alone.page.wait_for_function(
        "() => document.querySelector('.rlnb-now').innerText.startsWith('8.')", timeout=5000
    )
    alone.page.get_by_role("button", name="▸ Play").wait_for(timeout=1000)
    player.get_by_label("speed").select_option("¼×")
    player.focus()
    alone.press(" ")
    alone.page.wait_for_timeout(900)
    assert alone.now().startswith("1. ")  # 0.7 s of even time are 2.8 s here
    alone.press(" ")
    assert alone.page.get_by_role("button", name="▸ Play").is_visible()
    player.get_by_label("speed").select_option("as it happened")
    player.focus()
    alone.press(" ")
    alone.page.wait_for_function(
        "() => document.querySelector('.rlnb-now').innerText.startsWith('8.')", timeout=1000
    )


def streamed() -> Replay:
    """Of an answer that came in pieces for a second, from a tenth of it on."""
    words = [f"word{n} " for n in range(100)]
    with ModelServer([Reply.text(words)]) as server:
        stream = rl.build("guide", model=server.model()).stream("go")
        events = [item.to_dict() for item in stream if isinstance(item, rl.Event)]
    for event in json.loads(json.dumps(events)):
        events[event["seq"]] = event
        event["elapsed"] = 1.0 if event["seq"] > 3 else 0.0
        if event["type"] == "model_call.completed":
            event["data"] |= {"duration_s": 1.0, "first_token_s": 0.1}
    return replay(events)


def test_an_answer_is_written_while_it_plays_and_whole_when_paused(alone: Alone) -> None:
    alone.page.emulate_media(reduced_motion="no-preference")
    player = alone.play(streamed())
    player.get_by_label("speed").select_option("¼×")
    player.get_by_role("slider").fill("1")
    player.focus()
    alone.press(" ")
    text = alone.page.locator(".rlnb-log .rlnb-r .rlnb-t")
    text.first.wait_for(timeout=5000)
    lengths = []
    for _ in range(8):
        lengths.append(len(text.first.inner_text()))
        alone.page.wait_for_timeout(50)
    assert lengths == sorted(lengths)
    assert len(set(lengths)) > 3
    assert 0 < lengths[-1] < 690
    assert alone.now().startswith("2. ")
    alone.press(" ")
    assert text.count() == 0
    alone.press("ArrowRight")
    assert len(text.first.inner_text()) == 690


def test_nothing_is_written_for_whoever_wants_no_motion(alone: Alone) -> None:
    player = alone.play(streamed())
    player.get_by_label("speed").select_option("½×")
    player.get_by_role("slider").fill("1")
    player.focus()
    alone.press(" ")
    alone.page.wait_for_timeout(700)
    assert alone.page.locator(".rlnb-log .rlnb-r").count() == 0


def test_hostile_text_stays_text(alone: Alone) -> None:
    for text in HOSTILE[::9]:
        steps = [("get_weather", {"city": text}), f"- {text}"]
        net = rl.create_network(f"n {text[:40]}")
        net.task(f"t {text[:40]}", guide(*steps, system_prompt=f"- {text}"))
        found = net.run(f"about {text}").replay()
        player = alone.play(found)
        player.locator("summary", has_text="All steps").click()
        for place in range(len(found)):
            player.get_by_role("slider").fill(str(place))
            alone.page.evaluate(
                "document.querySelectorAll('.rlnb-replay details').forEach(d => d.open = true)"
            )
    assert alone.page.evaluate("hurt") == 0
    assert alone.page.locator(".rlnb-replay :is(script, img, iframe, object, a)").count() == 0


def test_it_can_be_used_without_a_mouse_and_says_what_it_does(alone: Alone) -> None:
    player = alone.play(guide().run("Rome?").replay())
    assert player.get_attribute("aria-label") == "replay: arrow keys step, space plays"
    alone.page.evaluate("document.body.focus()")
    reached = []
    for _ in range(8):
        alone.press("Tab")
        reached.append(alone.page.evaluate("document.activeElement.innerText.slice(0, 6)"))
    assert [words for words in ("▸ Play", "Step ›") if words in reached] == ["▸ Play", "Step ›"]
    player.focus()
    alone.press("ArrowRight")
    assert "asks" in alone.page.locator(".rlnb-replay > [role=status]").inner_text()
    outline = alone.page.evaluate(
        "getComputedStyle(document.querySelector('.rlnb-replay')).outline"
    )
    assert "solid 2px" in outline


@pytest.mark.parametrize("width", [480, 1280])
def test_it_fits(alone: Alone, width: int) -> None:
    alone.page.set_viewport_size({"width": width, "height": 900})
    player = alone.play(guide(system_prompt="Be brief. " * 20).run("Rome?").replay())
    player.get_by_role("slider").fill("6")
    assert alone.page.evaluate("document.documentElement.scrollWidth") <= width
    stage, calls = (player.locator(each).bounding_box() for each in (".rlnb-stage", ".rlnb-calls"))
    assert stage is not None
    assert calls is not None
    beside = calls["x"] > stage["x"] + stage["width"] - 1
    assert beside == (width == 1280)


def test_a_long_run_steps_quickly(alone: Alone) -> None:
    echo = rl.build("echo", model=rl.SimulatedModel(lambda request: request.messages[-1].text))
    net = rl.create_network("big")
    net.task("m", echo, map_over=[f"item {n}" for n in range(400)])
    player = alone.play(net.run("x").replay())
    took = alone.page.evaluate(
        "() => {const s = document.querySelector('.rlnb-slide'); const began = performance.now();"
        "for (const v of [300, 20, 150, 5, 360]) { s.value = v; s.oninput() }"
        "return performance.now() - began}"
    )
    assert took < 2500
    assert "step 361 of" in player.inner_text()
    assert "its view moves on at every" in player.inner_text()


def test_a_question_of_then_cannot_be_answered_now(alone: Alone) -> None:
    asks = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ordered"]
    bot = rl.build("shop", model=rl.SimulatedModel(asks), tools=[rl.ask_user])
    run = bot.start("shoes")
    run.result()
    run.answer("L").result()
    found = run.replay()
    place = next(step.number for step in found.steps if step.kind == "person")
    player = alone.play(found)
    stage = player.locator(".rlnb-stage")
    for at in (place, len(found) - 1, place):
        player.get_by_role("slider").fill(str(at))
        card = stage.locator("blockquote.rlnb-ask")
        assert card.count() == (at == place)
        if at == place:
            assert "Which size?" in card.inner_text()
            assert card.locator("button").count() == 0
            assert "Next cell" not in card.inner_text()
    assert "answered" not in stage.inner_text()


# -- in JupyterLab ---------------------------------------------------------------------------------

SETUP = """
import robotlab_nb as rl
rl.options.log = None
def get_weather(city: str) -> str:
    "Weather of a city."
    return f"18 °C in {city}"
steps = [("get_weather", {"city": "Rome"}), "It is warm. " * 30]
bot = rl.build("guide", system_prompt="Be brief.", model=rl.SimulatedModel(steps),
               tools=[get_weather])
result = bot.run("Rome?")
"""


def step_to(page: Page, *keys: str) -> str:
    page.locator(".rlnb-replay").focus()
    for key in keys:
        page.keyboard.press(key)
    return page.locator(".rlnb-now").inner_text().replace("\u00a0", " ")


def test_in_jupyterlab_it_plays_and_the_saved_file_is_static(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any]
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).hostname or ""))
    book = notebook([SETUP, "replay = result.replay()\nreplay", "1 + 1"])
    book.run(0)
    book.run(1)
    page.locator(".rlnb-replay").wait_for(timeout=10_000)
    assert step_to(page, "ArrowRight").startswith("2. → guide asks simulated/script")
    for theme in ("light", "dark"):
        screenshot("replay_asks", theme)
    # JupyterLab's own keys did nothing: no cell was chosen, added or run.
    assert step_to(page, "b", "ArrowDown", "End", "ArrowLeft").startswith("7. ← guide answers")
    assert page.locator(".jp-Notebook .jp-Cell").count() == 3
    screenshot("replay_answers", "light")
    (output,) = book.saved_outputs(1)
    assert set(output["data"]) == {"text/html", "text/plain"}
    assert "widgets" not in book.save()["metadata"]
    assert "get_weather gives 18 °C in Rome" in "".join(output["data"]["text/html"])
    request = json.loads(book.value("import json; print(json.dumps(replay.exchanges[1].request))"))
    page.locator(".rlnb-calls summary", has_text="what had been sent").click()
    page.locator(".rlnb-calls summary", has_text="request as JSON").click()
    assert json.loads(page.locator(".rlnb-calls pre").last.inner_text()) == request
    assert set(asked) <= {"127.0.0.1", ""}
    assert book.value("replay.close()") == ""
    page.locator(".rlnb-replay").wait_for(state="detached", timeout=5000)
    assert "1. ○ guide begins" in book.output(1).inner_text().replace("\u00a0", " ")


def test_it_goes_on_without_a_kernel_and_comes_back_when_the_page_is_loaded_again(
    notebook: Callable[..., Notebook], opened: Callable[[Path], Notebook], page: Page
) -> None:
    book = notebook([SETUP, "result.replay()"])
    book.run(0)
    book.run(1)
    page.locator(".rlnb-replay").wait_for(timeout=10_000)
    book.save()
    page.goto(page.url.replace("?reset", ""))
    page.locator(".rlnb-replay").wait_for(timeout=20_000)
    assert step_to(page, "ArrowRight").startswith("2. ")
    page.evaluate(
        "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.shutdown()"
    )
    page.wait_for_timeout(500)
    assert step_to(page, "End", "ArrowLeft").startswith("7. ← guide answers")
    assert "It is warm." in page.locator(".rlnb-stage").inner_text()


def test_a_cell_that_is_run_again_has_one_player(
    notebook: Callable[..., Notebook], page: Page
) -> None:
    book = notebook([SETUP, "result.replay()"])
    book.run(0)
    for _ in range(2):
        book.run(1)
        page.locator(".rlnb-replay").wait_for(timeout=10_000)
        page.wait_for_timeout(300)
    assert page.locator(".rlnb-replay").count() == 1
    code = (
        "from ipywidgets.widgets import widget\n"
        "print(sum(type(w).__name__ == 'ReplayWidget' for w in widget._instances.values()))"
    )
    assert book.value(code) == "1"


def test_a_network_is_seen_at_each_step(
    notebook: Callable[..., Notebook], page: Page, screenshot: Callable[..., Any]
) -> None:
    code = SETUP + (
        "net = rl.create_network('desk')\n"
        "say = lambda name, text: rl.build(name, model=rl.SimulatedModel([text]))\n"
        "net.task('sort', say('sorter', 'billing'), route=lambda r: r.text)\n"
        "net.task('billing', say('billing', 'We pay back.'), optional=True, depends_on=['sort'])\n"
        "net.task('general', say('general', 'Hello.'), optional=True, depends_on=['sort'])\n"
        "net.task('reply', say('writer', 'Dear Ada, we pay back.'),"
        " depends_on=['billing', 'general'])\n"
        "net.run('I was charged twice').replay()"
    )
    page.set_viewport_size({"width": 1280, "height": 1000})
    book = notebook([code])
    book.run(0)
    page.locator(".rlnb-replay").wait_for(timeout=10_000)
    stage = page.locator(".rlnb-stage")
    step_to(page, "ArrowRight", "ArrowRight")
    assert "pending" in stage.inner_text()
    screenshot("replay_network", "light")
    step_to(page, "End")
    assert "skipped" in stage.inner_text()
    assert "completed" in stage.inner_text()
    screenshot("replay_network_end", "dark")
    page.set_viewport_size({"width": 480, "height": 1000})
    step_to(page, "Home", *["ArrowRight"] * 4)
    screenshot("replay_narrow", "light")


def test_a_saved_replay_is_a_readable_list_where_there_is_no_kernel(
    lab: Lab, page: Page, screenshot: Callable[..., Any]
) -> None:
    found = replay(guide(system_prompt="Be brief.").run("Rome?").events)
    data = found._repr_mimebundle_()
    cell = nbformat.v4.new_code_cell("replay", execution_count=1)
    cell.outputs = [nbformat.v4.new_output("execute_result", data=data, execution_count=1)]
    path = lab.folder / "saved_replay.ipynb"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), path)
    page.goto(f"{lab.url}/lab/tree/{path.name}?reset")
    listed = page.locator(".jp-OutputArea details summary")
    listed.first.wait_for(timeout=60_000)
    listed.first.click()
    page.locator(".jp-OutputArea", has_text="Be brief.").first.wait_for()
    assert WIDGET not in json.dumps(data)
    screenshot("replay_static", "light")
