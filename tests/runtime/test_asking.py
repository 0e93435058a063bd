"""Asking a person: scripted answers, waiting runs, answers from anywhere, each exactly once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.errors import InputError
from robotlab_nb.runtime import asking, console, desk
from robotlab_nb.runtime.questions import Question, read_answer
from robotlab_nb.tools.user_question import ask_user

SIZE = {"question": "Which size?", "choices": ["small", "large"]}


def asker(*steps, name="shop", tools=(), **options):
    steps = steps or (("ask_user", SIZE), "ordered")
    model = rl.SimulatedModel(list(steps))
    return rl.build(name, model=model, tools=[ask_user, *tools], **options)


def until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def types(run):
    return [event.type for event in run.events]


def answered(run):
    return [e.data for e in run.events if e.type == "hitl.answered"]


def begun(bot, *, ask_timeout):
    """A run of a robot with a deadline for its questions."""
    run = bot.prepare("go", {})
    run.ask_timeout = ask_timeout
    return run.begin()


# -- scripted --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answers",
    [
        {"Which size?": "large"},
        {"ask_user": "large"},
        {"ask_*": "large"},
        {"Which *": "2"},
        {"Which size?": lambda question: question.choices[1]},
        ["large"],
        lambda question: "LARGE" if question.kind == "question" else None,
    ],
)
def test_a_scripted_answer_is_taken_without_waiting(answers):
    result = asker().run("shoes", config={"answers": answers})
    assert result.tool_calls[0].result == "large"
    assert result.text == "ordered"
    types_ = [e.type for e in result.events]
    assert types_.count("hitl.requested") == types_.count("hitl.answered") == 1
    assert "run.waiting" not in types_


async def test_a_scripted_function_may_be_async():
    async def later(question):
        await asyncio.sleep(0)
        return "small"

    result = await asker().arun("shoes", config={"answers": later})
    assert result.tool_calls[0].result == "small"


def test_a_list_of_answers_is_used_in_order_and_what_is_left_over_waits():
    step = ("ask_user", {"question": "And?"})
    bot = asker(step, step, step, "done")
    run = bot.start("go", config={"answers": ["one", "two"]})
    assert run.result().status == "waiting"
    assert [a["answer"] for a in answered(run)] == ["one", "two"]
    assert run.answer("three").result().text == "done"


def test_a_scripted_answer_that_is_no_choice_is_a_mistake_of_the_script():
    result = asker().run("shoes", config={"answers": {"ask_user": "medium"}})
    (call,) = result.tool_calls
    assert call.error["type"] == "ConfigurationError"
    assert "a scripted answer does not fit: 'medium' is none of the choices" in call.content
    assert "hitl.requested" not in [e.type for e in result.events]


def test_none_means_not_answered_here():
    run = asker().start("shoes", config={"answers": lambda question: None})
    assert run.result().status == "waiting"
    run.stop()


# -- waiting and answering -------------------------------------------------------------------


def test_a_run_that_can_ask_nobody_waits_and_goes_on_with_an_answer():
    began = time.monotonic()
    run = asker().start("shoes")
    result = run.result()
    assert time.monotonic() - began < 2
    assert (run.status, result.status) == ("waiting", "waiting")
    assert [(q.text, q.choices, q.robot, q.tool) for q in run.pending] == [
        ("Which size?", ("small", "large"), "shop", "ask_user")
    ]
    with pytest.raises(rl.RunWaiting):
        f"{result}"
    assert "Which size?" in repr(result) or repr(result)
    assert run.answer("large") is run
    final = run.result()
    assert (final.run_id, final.text) == (run.id, "ordered")
    assert final.tool_calls[0].result == "large"
    order = [t for t in types(run) if t.partition(".")[0] in ("hitl", "tool_call", "run")]
    assert order == [
        "run.started", "tool_call.started", "hitl.requested", "run.waiting", "hitl.answered",
        "run.resumed", "tool_call.completed", "run.completed",
    ]  # fmt: skip
    assert run.pending == ()


def test_a_waiting_run_started_by_run_is_answered_through_its_result():
    assert asker().run("shoes").answer("small").text == "ordered"


def test_a_wait_comes_back_only_after_the_sibling_tools_are_done():
    ended = []

    def slow() -> str:
        "Take a while."
        time.sleep(0.6)
        ended.append(1)
        return "slow"

    run = asker([("ask_user", SIZE), ("slow", {})], "done", tools=[slow]).start("go")
    until(lambda: run.pending)
    assert run.status == "running"
    assert run.result().status == "waiting"
    assert ended == [1]
    assert run.answer("1").result().text == "done"


def test_what_is_wrong_with_an_answer_is_said_and_nothing_is_lost():
    two = [("ask_user", SIZE), ("ask_user", {"question": "Colour?"})]
    run = asker(two, "done").start("go")
    assert run.result().status == "waiting"
    first, second = run.pending
    wrong = [
        ("large", r"2 questions .* Open: .*Which size\?.*Colour\?"),
        ({"nobody": "x"}, "under 'nobody'.* Open: "),
        ({}, "Open: "),
        ({first.id: "medium", second.id: "red"}, "'medium' is none of the choices"),
        ({first.id: "small", first.tool_call_id: "large"}, "answered twice"),
        ({second.id: True}, "The answer is a text"),
        ({second.id: ["red"]}, "The answer is a text"),
    ]
    for value, message in wrong:
        with pytest.raises(InputError, match=message):
            run.answer(value)
        assert run.pending == (first, second)
        assert run.status == "waiting"
    run.answer({first.id: "small", second.tool_call_id: "red"})
    assert [c.result for c in run.result().tool_calls] == ["small", "red"]


def test_answering_twice_is_an_error_that_says_who_was_first():
    two = [("ask_user", SIZE), ("ask_user", {"question": "Colour?"})]
    run = asker(two, "done").start("go")
    run.result()
    first, second = run.pending
    run.answer({first.id: "small"})
    with pytest.raises(InputError, match="settled already: answered by answer.*Colour"):
        run.answer({first.tool_call_id: "large"})
    run.answer({second.id: "red"})
    run.result()
    with pytest.raises(InputError, match="no open question.*answered by answer"):
        run.answer("blue")
    assert [c.result for c in run.result().tool_calls] == ["small", "red"]


def test_one_answer_of_two_resumes_the_run_until_it_waits_again():
    two = [("ask_user", SIZE), ("ask_user", {"question": "Colour?"})]
    run = asker(two, "done").start("go")
    run.result()
    run.answer({run.pending[0].id: "small"})
    assert run.result().status == "waiting"
    assert [q.text for q in run.pending] == ["Colour?"]
    assert run.answer("red").result().text == "done"
    assert types(run).count("run.waiting") == types(run).count("run.resumed") == 2


def test_somebody_else_may_answer_from_a_thread_while_nobody_waits():
    run = asker().start("shoes")
    until(lambda: run.pending)
    thread = threading.Thread(target=lambda: run.answer("small"))
    thread.start()
    thread.join(5)
    assert run.result(timeout=5).text == "ordered"


async def test_arun_and_await_give_a_waiting_result_too():
    result = await asker().arun("shoes")
    assert result.status == "waiting"
    run = asker().start("shoes")
    assert (await run).status == "waiting"
    run.answer("large")
    assert (await run).text == "ordered"


async def test_on_the_callers_own_loop_a_run_waits_and_goes_on_too():
    with rl.engine(loop="current"):
        run = asker().start("shoes")
        assert (await run).status == "waiting"
        run.answer("large")
        assert (await run).text == "ordered"


async def test_a_cancelled_wait_on_the_callers_own_loop_stops_the_run():
    with rl.engine(loop="current"):
        run = rl.build("slow", model=rl.SimulatedModel(["x"], delay=30)).start("go")
        wait = asyncio.ensure_future(run.wait())
        await asyncio.sleep(0.05)
        wait.cancel()
        with pytest.raises(asyncio.CancelledError):
            await wait
        assert run.status == "interrupted"


def test_a_stream_ends_at_a_question_and_does_not_cancel():
    stream = asker().stream("shoes")
    seen = [item.type for item in stream if hasattr(item, "type")]
    assert seen[-1] == "run.waiting"
    assert stream.run.status == "waiting"
    assert stream.run.answer("small").result().text == "ordered"


async def test_an_async_stream_ends_at_a_question_too():
    stream = asker().stream("shoes")
    seen = [item.type async for item in stream if hasattr(item, "type")]
    assert seen[-1] == "run.waiting"
    assert (await stream.run.answer("small")).text == "ordered"


# -- runs inside runs ------------------------------------------------------------------------


def test_a_question_of_a_run_inside_is_answered_at_the_root():
    inner = asker(name="inner")

    async def delegate() -> str:
        "Let the other one do it."
        return (await inner.arun("shoes")).text

    outer = rl.build("outer", model=rl.SimulatedModel([("delegate", {}), "all done"]),
                     tools=[delegate])  # fmt: skip
    run = outer.start("go")
    assert run.result().status == "waiting"
    (question,) = run.pending
    assert question.robot == "inner"
    assert question.run_id != run.id
    assert run.answer("large").result().text == "all done"
    waiting = [e.scope.robot for e in run.events if e.type == "run.waiting"]
    assert sorted(waiting) == ["inner", "outer"]


def test_a_sync_tool_that_runs_a_robot_gets_its_answer_and_no_waiting_result():
    inner = asker(name="inner")

    def delegate() -> str:
        "Let the other one do it."
        return f"inner said {inner.run('shoes')}"

    outer = rl.build("outer", model=rl.SimulatedModel([("delegate", {}), "all done"]),
                     tools=[delegate])  # fmt: skip
    run = outer.start("go")
    assert run.result().status == "waiting"
    result = run.answer("large").result()
    assert result.tool_calls[0].result == "inner said ordered"


def test_a_run_inside_that_works_keeps_the_whole_from_waiting():
    inner = asker(name="inner")
    busy = rl.build("busy", model=rl.SimulatedModel(["worked"], delay=0.6))

    async def delegate(to: str) -> str:
        "Let another one do it."
        return (await {"inner": inner, "busy": busy}[to].arun("go")).text

    calls = [("delegate", {"to": "inner"}), ("delegate", {"to": "busy"})]
    model = rl.SimulatedModel([calls, "all done"])
    run = rl.build("outer", model=model, tools=[delegate]).start("go")
    assert run.result().status == "waiting"
    assert [c.status for c in run.state.tool_calls.values()] == ["running", "completed"]
    assert run.answer("small").result().text == "all done"


def test_a_question_of_a_run_that_nobody_waits_for_does_not_hold_up_the_rest():
    inner = asker(name="inner")

    async def kick() -> str:
        "Start another one."
        inner.start("shoes")
        return "started"

    model = rl.SimulatedModel([("kick", {}), "all done"], delay=0.4)
    result = rl.build("outer", model=model, tools=[kick]).run("go")
    assert (result.status, result.text) == ("completed", "all done")


def test_a_network_finishes_what_does_not_depend_on_the_answer():
    done = []

    def other(message):
        time.sleep(0.5)
        done.append(message)
        return "other"

    net = rl.create_network("n")
    net.task("ask", asker())
    net.task("other", other)
    net.task("last", lambda upstream: f"{upstream['ask'].text}+{upstream['other'].text}",
             depends_on=["ask", "other"])  # fmt: skip
    run = net.start("shoes")
    found = run.result()
    assert run.status == "waiting"
    assert done == ["shoes"]
    assert found.status == "waiting"
    assert run.answer("small").result().text == "ordered+other"


# -- deadlines and stops ---------------------------------------------------------------------


def test_without_an_answer_in_time_the_default_is_taken_or_the_model_is_told():
    run = begun(asker(("ask_user", {**SIZE, "default": "small"}), "done"), ask_timeout=0.1)
    until(lambda: run.done)
    assert run.result().text == "done"
    assert run.result().tool_calls[0].result == "small"
    assert [(a["by"], a["status"]) for a in answered(run)] == [("timeout", "default")]

    run = begun(asker(), ask_timeout=0.1)
    until(lambda: run.done)
    (call,) = run.result().tool_calls
    assert (call.status, call.error["type"]) == ("failed", "ToolError")
    assert "nobody answered 'Which size?' in time" in call.content
    assert [(a["by"], a["status"]) for a in answered(run)] == [("timeout", "timeout")]


def test_a_question_waits_longer_than_tools_may_work():
    run = asker().start("shoes", config={"tool_timeout": 0.05})
    run.result()
    time.sleep(0.2)
    assert run.answer("small").result().tool_calls[0].result == "small"


def test_stop_ends_a_question_and_leaves_each_call_one_result():
    two = [("ask_user", SIZE), ("ask_user", {"question": "Colour?"})]
    run = asker(two, "done").start("go")
    run.result()
    run.stop()
    assert run.status == "interrupted"
    assert [(a["by"], a["status"]) for a in answered(run)] == [("stop", "interrupted")] * 2
    assert types(run).count("tool_call.completed") == 2
    assert [len(m.tool_results) for m in run.state.messages if m.role == "tool"] == [2]
    assert run.pending == ()
    with pytest.raises(InputError, match="interrupted"):
        run.answer("small")


def test_a_process_with_a_waiting_run_ends():
    code = """
    import robotlab_nb as rl
    from robotlab_nb.tools.user_question import ask_user
    model = rl.SimulatedModel([("ask_user", {"question": "?"})])
    bot = rl.build("b", model=model, tools=[ask_user])
    print(bot.start("x").result().status)
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60
    )
    assert ended.stdout == "waiting\n", ended.stderr


# -- a tool's own questions ------------------------------------------------------------------


def test_a_tool_may_ask_where_there_is_a_channel():
    def sync_(run: rl.Run) -> str:
        "Ask."
        return run.ask("Colour?", choices=["red", "blue"])

    async def async_(run: rl.Run) -> str:
        "Ask."
        return await run.aask("Colour?", default="green")

    model = rl.SimulatedModel([[("sync_", {}), ("async_", {})], "done"])
    bot = rl.build("b", model=model, tools=[sync_, async_])
    result = bot.run("go", config={"answers": lambda q: "2" if q.choices else ""})
    assert [c.result for c in result.tool_calls] == ["blue", "green"]


def test_a_tool_that_asks_without_a_channel_is_told_so_soon():
    def order(run: rl.Run) -> str:
        "Order."
        return run.ask("Colour?")

    bot = rl.build("b", model=rl.SimulatedModel([("order", {}), "done"]), tools=[order])
    began = time.monotonic()
    result = bot.run("go")
    assert time.monotonic() - began < 5
    assert result.text == "done"
    assert result.tool_calls[0].error["type"] == "NoAnswerChannel"


def test_asking_on_the_loop_names_the_async_way():
    async def order(run: rl.Run) -> str:
        "Order."
        return run.ask("Colour?")

    bot = rl.build("b", model=rl.SimulatedModel([("order", {}), "done"]), tools=[order])
    (call,) = bot.run("go").tool_calls
    assert "await run.aask" in call.content


# -- channels --------------------------------------------------------------------------------


class Clicker:
    """A channel on which somebody clicks after a moment."""

    def __init__(self, run_of, value, *, works=True):
        self.run_of, self.value, self.works = run_of, value, works
        self.asked = []

    def offers(self, question):
        return True

    def ask(self, question):
        if not self.works:
            raise OSError("the page is gone")
        self.asked.append(question)
        click = {question.id: self.value}
        threading.Timer(0.3, lambda: desk.answer(self.run_of(), click, by="widget")).start()


@pytest.fixture
def channel():
    added = []

    def add(one):
        added.append(one)
        asking.add_channel(one)
        return one

    yield add
    for one in added:
        asking.remove_channel(one)


def test_a_channel_that_works_is_asked_first_and_the_wait_goes_on(channel):
    started = []
    clicker = channel(Clicker(lambda: started[0], "large"))
    started.append(asker().start("shoes"))
    result = started[0].result(timeout=10)
    assert result.text == "ordered"
    assert [q.text for q in clicker.asked] == ["Which size?"]
    assert answered(started[0])[0]["by"] == "widget"


def test_a_channel_that_fails_leaves_the_question_open(channel):
    channel(Clicker(lambda: None, "large", works=False))
    run = asker().start("shoes")
    assert run.result().status == "waiting"
    assert run.answer("large").result().text == "ordered"


def test_a_tool_may_ask_through_a_channel(channel):
    def order(run: rl.Run) -> str:
        "Order."
        return run.ask("Colour?")

    started = []
    channel(Clicker(lambda: started[0], "red"))
    bot = rl.build("b", model=rl.SimulatedModel([("order", {}), "done"]), tools=[order])
    started.append(bot.start("go"))
    assert started[0].result(timeout=10).tool_calls[0].result == "red"


# -- a terminal ------------------------------------------------------------------------------

TERMINAL = """
import robotlab_nb as rl
from robotlab_nb.tools.user_question import ask_user
steps = {steps!r}
bot = rl.build("shop", model=rl.SimulatedModel(steps), tools=[ask_user])
{call}
"""


class Terminal:
    """A script at a terminal of its own, and what a person sees there."""

    def __init__(self, code):
        pty = pytest.importorskip("pty", reason="needs pseudo-terminals")
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", code], stdin=slave, stdout=slave, stderr=slave, close_fds=True
        )
        os.close(slave)
        self.seen = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with contextlib.suppress(OSError):
            while piece := os.read(self.master, 4096):
                self.seen += piece.decode(errors="replace").replace("\r\n", "\n")

    def wait_for(self, text, seconds=30):
        until(lambda: text in self.seen or self.process.poll() is not None, seconds)
        assert text in self.seen, self.seen

    def type(self, line):
        os.write(self.master, f"{line}\n".encode())

    def end(self):
        code = self.process.wait(30)
        self._reader.join(2)
        return code


def test_at_a_terminal_the_question_stands_at_the_prompt_and_a_wrong_choice_is_asked_again():
    steps = [("ask_user", {**SIZE, "default": "small"}), ("ask_user", SIZE), "ordered"]
    script = TERMINAL.format(steps=steps, call="r = bot.run('x'); print(r.tool_calls, r)")
    terminal = Terminal(script + "\nprint([c.result for c in r.tool_calls], str(r))")
    terminal.wait_for("[shop] Which size? 1: small, 2: large [small] ")
    terminal.type("")
    terminal.wait_for("→ small\n")
    terminal.wait_for("[shop] Which size? 1: small, 2: large ")
    terminal.type("medium")
    terminal.wait_for("'medium' is none of the choices")
    terminal.type("2")
    terminal.wait_for("→ large\n")
    terminal.wait_for("['small', 'large'] ordered")
    assert terminal.end() == 0


def test_three_wrong_choices_and_the_run_waits():
    call = "run = bot.start('x'); r = run.result(); print(run.status, run.answer('1').result())"
    terminal = Terminal(TERMINAL.format(steps=[("ask_user", SIZE), "ordered"], call=call))
    for count in range(1, 4):
        until(lambda count=count: terminal.seen.count("2: large ") == count, 30)
        terminal.type("medium")
    terminal.wait_for("waiting ordered")
    assert terminal.end() == 0


def test_a_prompt_is_taken_back_when_somebody_else_answers(tmp_path):
    sign = tmp_path / "asked"
    call = f"""
import pathlib, threading, time
run = bot.start('x')
def elsewhere():
    while not pathlib.Path({str(sign)!r}).exists():
        time.sleep(0.05)
    run.answer('large')
threading.Thread(target=elsewhere, daemon=True).start()
print(run.result(), run.status)
"""
    terminal = Terminal(TERMINAL.format(steps=[("ask_user", SIZE), "ordered"], call=call))
    terminal.wait_for("Which size?")
    sign.touch()
    terminal.wait_for("no longer asked: settled by answer")
    terminal.wait_for("ordered completed")
    assert terminal.end() == 0


def test_stop_at_the_prompt_stops_the_run():
    call = "\ntry:\n    bot.run('x')\nexcept KeyboardInterrupt:\n    print('stopped')"
    terminal = Terminal(TERMINAL.format(steps=[("ask_user", SIZE), "ordered"], call=call))
    terminal.wait_for("Which size?")
    time.sleep(0.2)
    terminal.process.send_signal(2)
    terminal.wait_for("stopped")
    assert terminal.end() == 0


def test_a_prompt_shows_what_is_invisible():
    question = Question("q", "question", "pay\u202e me\x1b[31m\u200b?", "r", "b\u2066ot")
    line = console.prompt_of(question)
    assert not re.search("[\x00-\x1f\u200b\u202e\u2066]", line)
    assert r"\u202e" in line


# -- many at once ----------------------------------------------------------------------------


def test_a_hundred_questions_answered_from_random_threads_are_each_answered_once():
    rng = random.Random(7)
    many = 100
    calls = [("ask_user", {"question": f"Number {n}?"}) for n in range(many)]
    run = asker(calls, "done").start("go")
    until(lambda: len(run.pending) == many, 30)
    questions = list(run.pending)
    rng.shuffle(questions)
    attempts = [(q, f"{q.text} {turn}") for q in questions for turn in range(3)]
    rng.shuffle(attempts)
    won, lost = [], []

    def answer_some(mine):
        for question, text in mine:
            try:
                run.answer({rng.choice((question.id, question.tool_call_id)): text})
                won.append((question.tool_call_id, text))
            except InputError:
                lost.append(question.id)

    threads = [threading.Thread(target=answer_some, args=(attempts[n::8],)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    result = run.result(timeout=30)
    assert len(won) == many
    assert len(lost) == 2 * many
    assert {c.tool_call_id: c.result for c in result.tool_calls} == dict(won)
    assert types(run).count("hitl.answered") == many
    assert result.text == "done"


def test_questions_of_many_runs_at_once_go_to_their_own_runs():
    runs = [asker(name=f"r{n}").start("x") for n in range(20)]
    assert {run.result().status for run in runs} == {"waiting"}
    for n, run in enumerate(runs):
        run.answer(("small", "large")[n % 2])
    found = [run.result().tool_calls[0].result for run in runs]
    assert found == ["small", "large"] * 10


def test_a_run_without_questions_has_no_desk():
    run = rl.build("b", model=rl.SimulatedModel(["x"])).start("go")
    run.result()
    assert run.desk is None
    assert run.pending == ()


# -- what an answer may be -------------------------------------------------------------------

CHOICES = st.lists(st.text(min_size=1).map(str.strip).filter(bool), min_size=1, max_size=8,
                   unique_by=str.casefold)  # fmt: skip


@given(CHOICES, st.data())
def test_a_choice_is_meant_by_itself_by_its_case_and_by_its_number(choices, data):
    question = Question("q", "question", "?", "r", choices=tuple(choices))
    position = data.draw(st.integers(0, len(choices) - 1))
    chosen = choices[position]
    assert read_answer(question, chosen, by="input").value == chosen
    assert read_answer(question, f" {chosen} ", by="input").value == chosen
    if str(position + 1) not in choices:
        assert read_answer(question, position + 1, by="input").value == chosen


@given(CHOICES, st.text())
def test_what_is_answered_is_one_of_the_choices_or_an_error(choices, text):
    question = Question("q", "question", "?", "r", choices=tuple(choices))
    with contextlib.suppress(InputError):
        assert read_answer(question, text, by="input").value in choices


@pytest.mark.parametrize(
    ("value", "status", "kept"),
    [
        (True, "approved", True),
        ("Yes", "approved", True),
        (False, "denied", False),
        ("no", "denied", False),
        ("No, too expensive", "denied", "too expensive"),
        ("deny: not today", "denied", "not today"),
        ({"arguments": {"a": 1}}, "edited", {"arguments": {"a": 1}}),
    ],
)
def test_an_approval_is_given_refused_or_given_with_other_arguments(value, status, kept):
    found = read_answer(Question("q", "approval", "?", "r", tool="t"), value, by="answer")
    assert (found.status, found.value) == (status, kept)


@pytest.mark.parametrize("value", ["", "perhaps", 1, None, {}, {"argument": {}}, "yes, but",
                                   {"arguments": 3}, {"arguments": {}, "more": 1}])  # fmt: skip
def test_nothing_else_approves_or_denies(value):
    with pytest.raises(InputError, match="neither approves nor denies"):
        read_answer(Question("q", "approval", "?", "r", tool="t"), value, by="answer")
