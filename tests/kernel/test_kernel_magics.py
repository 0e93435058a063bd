"""Magics in a real kernel: asking, filling, dry runs, completion, reloading, the status line."""

from __future__ import annotations

import os
import time

import pytest

from robotlab_nb.testing import ModelServer

SETUP = """
%load_ext robotlab_nb
bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"] * 40), system_prompt="Rhyme.")
net = rl.create_network("team")
both = net.task("draft", bot), net.task("check it", bot, depends_on=["draft"])
topic, trap = "rain", "{{ topic }}"
"""
WIDGET = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def ready(kernel):
    assert kernel.run(SETUP).status == "ok"
    return kernel


def test_a_cell_asks_a_robot_with_the_notebooks_values_and_its_result_is_kept(ready):
    cell = ready.run("%%robot bot -o answer\nA poem on {{ topic }} and {{ trap }}; done;")
    assert cell.status == "ok"
    assert "completed" in cell.text
    assert ready.run("answer is _, answer.text").text == "(True, 'roses are red')"
    assert ready.run("bot.messages[1].text").text == "'A poem on rain and {{ topic }}; done;'"


def test_it_is_shown_live_and_once_unless_told_otherwise(ready):
    shown = ready.run("%%robot bot\nhello")
    assert sum("Robot poet" in told["text/plain"] for told in shown.displays) == 1
    assert "shown above" in shown.text
    settled = shown.updates[-1]
    assert WIDGET not in settled
    assert "roses are red" in settled["text/plain"]
    plain = ready.run("%%robot bot --no-show\nhello")
    assert not plain.displays
    assert plain.text.startswith("roses are red")


def test_a_line_asks_too_and_may_end_in_a_question_mark(ready):
    cell = ready.run("%robot --no-show bot Isn't {{ topic }} wet?\n%robot --no-show bot Really?")
    assert cell.text.startswith("roses are red")
    assert "Isn't rain wet?" in ready.run("[m.text for m in bot.messages]").text
    assert "Really?" in ready.run("bot.messages[-2].text").text
    held = ready.run("bot.clear_messages()\nx = '''\n%robot bot hm?\n'''\nx")
    assert "%robot bot hm?" in held.text


def test_a_network_and_a_plain_assistant_can_be_asked(ready):
    ready.run("%%robot net -o done --no-show\nGo")
    assert ready.run("done.status, list(done)").text == "('completed', ['draft', 'check it'])"
    assert "simulated" in ready.run("%%robot --no-show\nWhat is up?").text
    assert "simulated" in ready.run("%robot --no-show - What is up?").text


@pytest.mark.parametrize(
    ("code", "error", "says"),
    [
        ("%%robot bto\nhi", "InputError", "Did you mean 'bot'"),
        ("%%robot topic\nhi", "InputError", "neither a robot nor a network"),
        ("%%robot bot --shwo\nhi", "UsageError", "Did you mean '--show'"),
        ("%%robot bot too many\nhi", "UsageError", "one word too many"),
        ("%%robot bot\nhi {{ topc }}", "InputError", "Did you mean 'topic'"),
        ("%%robot bot\nhi {{ topic", "InputError", "--literal"),
        ("%%robot bot\n  \n", "InputError", "no message"),
        ("%%robot bot -c topic\nhi", "InputError", "--context takes a dict"),
        ("%%robot bot -o a.b --no-show\nhi", "InputError", "name of a variable"),
        ("%%prompt bot\nhi", "InputError", "would be lost"),
    ],
)
def test_what_is_wrong_is_told_before_anything_is_asked(ready, code, error, says):
    ready.run("bot.clear_messages()")
    cell = ready.run(code)
    assert cell.status == "error"
    assert cell.error == error or error in cell.streams
    assert says in cell.streams
    assert "magics.py" not in cell.streams
    assert ready.run("len(bot.messages)").text == "1"


def test_a_dry_run_asks_nothing(ready):
    with ModelServer(["late"]) as server:
        ready.run(f"far = rl.build('far', model='openai/m', api_base={server.base_url!r})")
        cell = ready.run("%%robot far --dry -o dry\nHello {{ topic }}")
        assert "dry run" in cell.text
        assert "Hello rain" in cell.text
        assert ready.run("[m.text for m in dry.messages]").text == "['Hello rain']"
        assert not server.requests
        assert "late" in ready.run("%robot far --no-show Hello").text


def test_prompts_lists_and_help(ready):
    assert "Template tone" in ready.run("%%prompt tone\nBe {{ how }}.").text
    assert ready.run("tone.render({'how': 'kind'})").text == "'Be kind.'"
    ready.run("%%prompt tone --text\nBe {{ how }}.")
    assert ready.run("tone").text == "'Be {{ how }}.'"
    listed = ready.run("%robots").text
    for word in ("bot", "net", "2 tasks", "robot poet"):
        assert word in listed
    assert "--no-show" in ready.run("%robot --help").text


def test_stop_reaches_a_magic_and_the_next_cell_works(ready):
    ready.run("slow = rl.build('slow', model=rl.SimulatedModel(['x'], delay=30))")
    cell = ready.submit("%%robot slow\nhello")
    ready.drain(1.0)
    began = time.monotonic()
    ready.interrupt()
    ready.wait(cell, 10)
    assert time.monotonic() - began < 3
    assert cell.error == "KeyboardInterrupt"
    assert ready.run("len(rl.runs())").text == "0"


def test_unloading_takes_everything_away_and_loading_again_adds_it_once(ready):
    counts = (
        "ip = get_ipython(); len(ip.Completer.custom_matchers), "
        "len(ip.input_transformers_cleanup), 'robot' in ip.magics_manager.magics['cell']"
    )
    before = ready.run(counts).text
    for _ in range(3):
        ready.run("%reload_ext robotlab_nb")
        ready.run("rl.load_ipython_extension(get_ipython())")
    assert ready.run(counts).text == before
    ready.run("%unload_ext robotlab_nb")
    assert "False" in ready.run(counts).text
    assert "not found" in ready.run("%%robot bot\nhi").streams
    assert ready.run(SETUP).status == "ok"


# -- completion --------------------------------------------------------------------------------


def completed(kernel, code: str) -> list[str]:
    asked = kernel.client.complete(code, len(code))
    while True:
        reply = kernel.client.shell_channel.get_msg(timeout=30)
        if reply["parent_header"].get("msg_id") == asked:
            found: list[str] = reply["content"]["matches"]
            return found


def test_tab_completes_keys_names_flags_and_models(ready):
    ready.run(
        'def lookup(word: str) -> str:\n    "Look up."\n    return word\n'
        'tooled = rl.build("t", tools=[lookup])\nresult = net.run("x")\n'
        'memory = rl.create_memory({"city": "Paris"}); memory["plan"] = 1\n'
        "frames = result.frames\nrun = tooled.start('x'); run.result()\n"
        "run.values['abc'] = 1"
    )
    for code, expected in {
        'net["': ["check it", "draft"],
        'result["dr': ["draft"],
        'tooled.tools["': ["lookup"],
        'net.robots["ch': ["check it"],
        'memory["': ["plan"],
        'memory.data["': ["city"],
        'run.values["': ["abc"],
        'frames["too': ["tool_calls"],
        "rl.options.temp": ["temperature"],
        "%%robot n": ["net"],
        "%%robot bot --d": ["--dry"],
        "%robot too": ["tooled"],
    }.items():
        assert completed(ready, code) == expected, code
    assert "openai/gpt-5-mini" in completed(ready, 'rl.build("x", model="openai/gpt-5-m')
    assert "openai/gpt-5-mini" in completed(ready, "%%robot bot -m openai/gpt-5-m")
    assert "messages" in completed(ready, "frames.mes")
    assert "doctor" in completed(ready, "rl.doc")
    assert "topic" in completed(ready, "%%robot bot\nHello {{ top")


# -- reloading ---------------------------------------------------------------------------------

MODULE = """
import robotlab_nb as rl
from pydantic import BaseModel

class Answer(BaseModel):
    city: str

class Mine(rl.Robot):
    def greet(self):
        return "ONE"

def lookup(word: str) -> str:
    "Look up."
    return "ONE " + word

@rl.hooks.add
class Count:
    def before_run(self, context):
        heard.append("ONE")

heard = []
"""


def test_autoreload_keeps_classes_alike_and_replaces_what_is_registered(kernel, tmp_path):
    file = tmp_path / "mine_reloaded.py"
    file.write_text(MODULE)
    kernel.run(f"%load_ext autoreload\n%autoreload 2\nsys.path.insert(0, {str(tmp_path)!r})")
    kernel.run(
        "import mine_reloaded as m\n"
        "steps = [('lookup', {'word': 'x'}), 'done'] * 9\n"
        "bot = rl.build('b', model=rl.SimulatedModel(steps), tools=[m.lookup])\n"
        "mine = m.Mine('m', model=rl.SimulatedModel(['hi'] * 9))\n"
        "typed = rl.build('t', model=rl.SimulatedModel(['{\"city\": \"Paris\"}'] * 9),"
        " output=m.Answer)"
    )
    look = (
        "(bot.run('x').tool_calls[0].result, mine.greet(), m.heard[-1:],"
        " isinstance(typed.run('x').parsed, m.Answer), isinstance(mine, (m.Mine)),"
        " isinstance(mine, rl.Robot), len(rl.hooks))"
    )
    assert kernel.run(look).text == "('ONE x', 'ONE', ['ONE'], True, True, True, 1)"
    file.write_text(MODULE.replace("ONE", "TWO"))
    os.utime(file, (time.time() + 9,) * 2)
    assert kernel.run(look).text == "('TWO x', 'TWO', ['TWO'], True, True, True, 1)"
    team = "net = rl.create_network('n'); _ = net.task('a', mine), net.task('b', bot)\n"
    assert kernel.run(f"{team}net.run('x').status").text == "'completed'"
    kernel.run("import importlib; importlib.reload(rl)")
    assert kernel.run(look).text == "('TWO x', 'TWO', ['TWO'], True, True, True, 1)"
    kernel.run("rl.hooks.clear()\n%autoreload 0")


# -- the status line ---------------------------------------------------------------------------


def test_a_status_line_of_many_tasks_counts_them_stays_short_and_goes_away(kernel):
    kernel.run(
        "wide = rl.create_network('wide')\n"
        "for n in range(60):\n"
        "    slow = rl.SimulatedModel(['x'], delay=0.4 + n / 100)\n"
        "    _ = wide.task(f't{n}', rl.build(f'robot{n}', model=slow))"
    )
    cell = kernel.run("began = time.monotonic(); done = wide.run('x')")
    took = float(kernel.run("time.monotonic() - began").text)
    lines = [cell.displays[0], *cell.updates]
    told = [one["text/plain"] for one in lines]
    assert "of 60 done" in told[0]
    assert all(len(line) < 400 for line in told)
    assert told[-1] == ""
    assert len(lines) <= 10 * took


def test_the_doctor_looks_at_this_kernel(kernel):
    cell = kernel.run("found = rl.doctor(); found")
    assert "check-up" in cell.text
    assert kernel.run("found.ok").text == "True"
    assert "ipykernel" in kernel.run("found['notebook'].found").text
    assert "none is going on" in kernel.run("found['runs'].found").text
