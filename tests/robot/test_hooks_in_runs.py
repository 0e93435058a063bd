"""Handlers around real runs of robots and networks, at every level."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState
from robotlab_nb.runtime.hook_points import POINTS
from robotlab_nb.runtime.hook_registry import hooks
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel


@pytest.fixture(autouse=True)
def no_handlers_left():
    yield
    hooks.clear()


def add(a: int, b: int) -> int:
    """Add."""
    return a + b


def adder(**settings):
    steps = [ScriptedModel.tool_call("add", {"a": 1, "b": 2}), "three"]
    return rl.build("adder", model=ScriptedModel(steps), tools=[add], **settings)


def everything(seen):
    """A handler for every point, that notes its name."""

    def plain(point):
        return lambda context: seen.append(point)

    def around(point):
        async def handler(context, proceed):
            seen.append(f"{point} in")
            await proceed()
            seen.append(f"{point} out")

        return handler

    return {p: around(p) if p.startswith("around_") else plain(p) for p in POINTS}


def wrapped(family, *inside):
    return [
        f"before_{family}", f"around_{family} in", *inside, f"around_{family} out",
        f"after_{family}",
    ]  # fmt: skip


def test_a_run_its_model_calls_and_its_tool_calls_are_within_handlers():
    seen = []
    result = adder(hooks=everything(seen)).run("1 + 2?")
    assert str(result) == "three"
    generation = wrapped("llm_generation")
    assert seen == wrapped("run", *generation, *wrapped("tool_call"), *generation)
    assert RunState.fold(result.events) == result.state


def test_a_network_and_its_tasks_are_within_handlers():
    seen = []
    net = rl.create_network("n", config={"hooks": everything(seen)})
    net.task("sum", adder())
    net.task("say", lambda upstream: f"it is {upstream}", depends_on=["sum"])
    result = net.run("1 + 2?")
    assert result.text == "it is three"
    assert (seen[0], seen[-1]) == ("before_network_run", "after_network_run")
    assert seen.count("before_task") == seen.count("after_task") == 2
    assert seen.count("before_run") == 1
    assert seen.index("before_task") < seen.index("before_run") < seen.index("before_tool_call")


def test_all_levels_act_from_the_outside_in():
    seen = []

    def named(name):
        def before_run(context):
            seen.append(name)

        return before_run

    hooks.add(named("global"))
    bot = adder(config={"hooks": named("config")}, hooks=[named("robot"), named("robot too")])
    with rl.options(hooks=named("options")):
        bot.run("go", hooks=named("run"))
    assert seen == ["global", "options", "config", "robot", "robot too", "run"]


def test_handlers_know_what_they_are_around():
    told = {}

    class Look:
        def before_run(self, context):
            told["run"] = (context.robot.name, context.request.text, context.run.name)

        def before_llm_generation(self, context):
            told.setdefault("iterations", []).append(context.iteration)

        def after_tool_call(self, context):
            told["tool"] = (context.tool_name, context.tool_args, context.tool_result)

        def after_run(self, context):
            told["response"] = str(context.response)

    adder().run("1 + 2?", hooks=Look)
    assert told == {
        "run": ("adder", "1 + 2?", "adder"),
        "iterations": [0, 1],
        "tool": ("add", {"a": 1, "b": 2}, 3),
        "response": "three",
    }


def test_a_question_can_be_changed_and_an_answer_can_be_given_without_the_model():
    def before_run(context):
        context.request = context.request.text.upper()

    bot = rl.build("echo", model=rl.SimulatedModel(lambda request: request.messages[-1].text))
    assert str(bot.run("quiet", hooks=before_run)) == "QUIET"

    def around_llm_generation(context, proceed):
        return "from the cache"

    def around_run(context, proceed):
        context.response = "closed today"

    result = bot.run("x", hooks=around_llm_generation)
    assert str(result) == "from the cache"
    assert not result.state.model_calls
    assert str(bot.run("x", hooks=around_run)) == "closed today"
    assert bot.messages[-1].text == "closed today"
    assert str(bot.run("and now?")) == "and now?"


def test_a_tool_calls_result_can_be_replaced_forbidden_or_withheld():
    def after_tool_call(context):
        context.tool_result = "four"

    def before_tool_call(context):
        raise rl.ToolError("not on Sundays")

    def veto(context):
        raise PermissionError("never")

    result = adder().run("x", hooks=after_tool_call)
    assert result.tool_calls[0].content == "four"
    result = adder().run("x", hooks=before_tool_call)
    assert "not on Sundays" in result.tool_calls[0].content
    assert str(result) == "three"
    with pytest.raises(PermissionError, match="never") as caught:
        adder().run("x", hooks={"before_tool_call": veto})
    assert caught.value.__notes__ == ["raised by hook hooks.before_tool_call"]


def test_a_handler_that_raises_fails_the_run_and_is_named_in_its_event():
    class Guard:
        def before_run(self, context):
            raise rl.InputError("too long")

    bot = adder()
    with pytest.raises(rl.InputError, match="too long") as caught:
        bot.run("x" * 100, hooks=Guard)
    run = caught.value.run
    assert run.status == "failed"
    assert run.events[-1].data["error"]["notes"] == ["raised by hook Guard.before_run"]
    assert not bot.messages


def test_a_failing_run_is_told_to_on_error_and_observers_break_nothing():
    seen = []

    class Watch:
        def on_error(self, context):
            seen.append(type(context.error).__name__)
            raise ValueError("the watch itself fails")

    with ModelServer([Reply.error(400)]) as server:
        bot = rl.build("far", model=server.model("m"), hooks=Watch)
        with (
            pytest.warns(RuntimeWarning, match="Watch.on_error"),
            pytest.raises(rl.ModelError) as c,
        ):
            bot.run("x")
    assert seen == ["ModelError"]
    failed = [e.data for e in c.value.run.events if e.type == "hook.failed"]
    assert [(d["hook"], d["point"]) for d in failed] == [("Watch", "on_error")]


def test_a_handler_may_ask_the_model_again():
    class Stubborn:
        async def around_llm_generation(self, context, proceed):
            message = await proceed()
            while "?" in message.text:
                message = await proceed()
            return message

    bot = rl.build("b", model=ScriptedModel(["which?", "which one?", "that one"]), hooks=Stubborn)
    result = bot.run("x")
    assert str(result) == "that one"
    assert len(result.state.model_calls) == 3
    assert [m.role for m in result.state.turn] == ["user", "assistant"]


def test_parallel_tool_calls_count_in_one_state_and_runs_each_have_their_local():
    class Meter:
        def before_run(self, context):
            context.local.calls = 0

        def before_tool_call(self, context):
            context.local.calls += 1
            context.state.total += 1

        def after_run(self, context):
            context.state.each.append(context.local.calls)

    many = [("add", {"a": n, "b": n}) for n in range(20)]
    hooks.add(Meter, total=0, each=[])
    state = hooks.registrations[0].spaces.state
    for _ in range(3):
        step = [ScriptedModel.tool_call(*call) for call in many]
        rl.build("b", model=ScriptedModel([step, "done"]), tools=[add]).run("x")
    assert (state.total, state.each) == (60, [20, 20, 20])


def test_local_is_shared_with_runs_inside():
    def inner(question: str) -> str:
        """Ask another robot."""
        return str(adder().run(question))

    class Depth:
        def before_run(self, context):
            names = getattr(context.local, "names", [])
            context.local.names = [*names, context.robot.name]

        def after_run(self, context):
            if context.run.parent is None:
                seen.append(context.local.names)

    seen = []
    hooks.add(Depth)
    steps = [ScriptedModel.tool_call("inner", {"question": "1 + 2?"}), "done"]
    rl.build("outer", model=ScriptedModel(steps), tools=[inner]).run("x")
    assert seen == [["outer", "adder"]]


def test_a_handler_may_ask_another_robot_and_the_record_stays_whole():
    judge = rl.build("judge", model=rl.SimulatedModel(["allowed"]))

    class Asks:
        def before_run(self, context):
            if context.robot is not judge:
                seen.append(str(judge.run(context.request)))

    seen = []
    result = adder().run("may I?", hooks=Asks)
    assert seen == ["allowed"]
    assert result.events[0].type == "run.started"
    assert result.events[0].scope.run_id == result.state.scope.run_id
    assert RunState.fold(result.events) == result.state


def test_stop_inside_a_sync_around_handler_leaves_a_valid_conversation():
    began = threading.Event()

    def slow() -> str:
        """Slow."""
        began.set()
        time.sleep(30)
        return "late"

    def around_run(context, proceed):
        return proceed()

    model = ScriptedModel([ScriptedModel.tool_call("slow", {}), "never", "fine"])
    bot = rl.build("b", model=model, tools=[slow])
    run = bot.start("x", hooks=around_run)
    assert began.wait(10)
    run.stop()
    assert run.status == "interrupted"
    results = [m for m in bot.messages if m.role == "tool"]
    assert len(results) == 1


def test_sync_and_async_callers_see_the_same():
    seen = []
    bot = adder(hooks=everything(seen))
    bot.run("x")
    sync = list(seen)
    seen.clear()
    asyncio.run(adder(hooks=everything(seen)).arun("x"))
    assert seen == sync
    seen.clear()
    with rl.engine(loop="current"):
        asyncio.run(adder(hooks=everything(seen)).arun("x"))
    assert seen == sync


def test_what_is_no_handler_is_refused_before_any_request():
    class Misspelt:
        def befor_run(self, context):
            """Nothing begins like this."""

    with pytest.raises(rl.ConfigurationError, match="Misspelt.befor_run is no point. Did you"):
        adder().run("x", hooks=Misspelt)


def test_learning_is_within_handlers():
    seen = []
    bot = rl.build("b", hooks={
        "before_learn": lambda c: seen.append((c.text, c.learnings_before)),
        "on_learn": lambda c: seen.append(c.stored),
    })  # fmt: skip
    bot.learn("the user likes tea")
    assert seen == [("the user likes tea", ()), True]

    def before_learn(context):
        context.stored = False

    assert not bot.update(hooks=before_learn).learn("a secret")
