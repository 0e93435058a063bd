"""Handlers: how they are read, who is called when, what their word means, and what they keep."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import sys
import threading
import time
import weakref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.errors import describe_error
from robotlab_nb.runtime import hook_registry
from robotlab_nb.runtime.hook_chain import HookContext, collect
from robotlab_nb.runtime.hook_handlers import hook, read, registrations
from robotlab_nb.runtime.hook_points import FAMILIES, FIELDS, POINTS, RESULT, WRITABLE
from robotlab_nb.runtime.hook_registry import hooks
from robotlab_nb.runtime.run import Run, current_run
from robotlab_nb.runtime.stop import StopRun


@pytest.fixture(autouse=True)
def no_handlers_left():
    yield
    hooks.clear()


def passage(chain, family="run", core=lambda: "core", **fields):
    """Pass through a chain, without a run. What came of it."""

    async def whole():
        value = core()
        return await value if hasattr(value, "__await__") else value

    return asyncio.run(chain.around(HookContext(family, **fields), whole))


def through(handlers, family="run", core=lambda: "core", **fields):
    return passage(collect([("run", handlers)]), family, core, **fields)


def in_run(work):
    """Do something in a real run; the run."""

    async def whole(run):
        run.started({"name": "job"})
        await work(run)

    return Run("job", "robot", whole, lambda run: run.state.status, robot="job").begin()


class Recorder:
    """Notes what it is called for."""

    def __init__(self, name, seen):
        self.name = name
        self.seen = seen

    def before_run(self, context):
        self.seen.append(f"before {self.name}")

    def around_run(self, context, proceed):
        self.seen.append(f"into {self.name}")
        value = proceed()
        self.seen.append(f"out of {self.name}")
        return value

    def after_run(self, context):
        self.seen.append(f"after {self.name}")

    def on_error(self, context):
        self.seen.append(f"error {self.name}")


# -- reading handlers ------------------------------------------------------------------------


def before_run(context):
    """A function named after a point."""


@hook("after_tool_call", "before_tool_call")
def watch_tools(context):
    """A function marked for points."""


class Static:
    namespace = "fixed"

    @staticmethod
    def before_run(context):
        """As in robot_lab."""

    @classmethod
    def after_run(cls, context):
        """As in robot_lab."""

    def __init__(self):
        raise AssertionError("a class without methods of objects is not made")


class Made:
    def before_run(self, context):
        """Of an object."""

    @hook("around_llm_generation")
    async def timed(self, context, proceed):
        """Marked."""
        return await proceed()

    @staticmethod
    @hook("after_run")
    def late(context):
        """Marked, and static."""


@pytest.mark.parametrize(
    ("handler", "points"),
    [
        (before_run, ["before_run"]),
        (watch_tools, ["after_tool_call", "before_tool_call"]),
        (functools.partial(before_run), ["before_run"]),
        (Static, ["after_run", "before_run"]),
        (Made, ["after_run", "around_llm_generation", "before_run"]),
        (Made(), ["after_run", "around_llm_generation", "before_run"]),
        (Made().before_run, ["before_run"]),
        ({"before_learn": before_run, "on_learn": print}, ["before_learn", "on_learn"]),
        ({"before_learn": before_run, "on_learn": None}, ["before_learn"]),
    ],
)
def test_objects_classes_functions_and_mappings_are_handlers(handler, points):
    assert sorted(h.point for h in read(handler).hooks) == points


def test_every_family_has_its_points_and_its_writable_fields_are_fields():
    for family in FAMILIES:
        for prefix in ("before", "around", "after"):
            assert POINTS[f"{prefix}_{family}"] == (family,)
        assert RESULT[family] in WRITABLE[family]
        assert set(WRITABLE[family]) <= set(FIELDS[family])
    assert POINTS["on_error"] == ("run", "network_run", "task")


class Misspelt:
    def before_run(self, context):
        """Right."""

    def afer_run(self, context):
        """Not recognisable as a point."""

    def after_rum(self, context):
        """Misspelt."""


class Empty:
    """No points."""


class Needs:
    def __init__(self, limit):
        self.limit = limit

    def before_run(self, context):
        """Fine."""


class Yields:
    def around_run(self, context, proceed):
        yield proceed()


@pytest.mark.parametrize(
    ("handler", "told"),
    [
        (Misspelt, "there is no point 'after_rum'. Did you mean 'after_run'"),
        ({"before_tool": print}, "no point 'before_tool'. Did you mean 'before_tool_call'"),
        (len, "no point 'len'"),
        (Empty, "no point.*before_run"),
        (Empty(), "no point.*before_run"),
        ("before_run", "no point"),
        ({}, "no point"),
        (Needs, r"Needs\(\) cannot be made without arguments.*give the object"),
        ({"before_run": lambda: None}, r"cannot be called.*Write before_run\(context\)"),
        ({"around_run": lambda context: None}, r"Write around_run\(context, proceed\)"),
        ({"before_run": 5}, "before_run is 5"),
        (Yields, "around_run yields"),
    ],
)
def test_what_is_no_handler_is_an_error_when_it_is_given(handler, told):
    with pytest.raises(rl.ConfigurationError, match=told):
        hooks.add(handler)
    with pytest.raises(rl.ConfigurationError, match=told):
        collect([("robot", [handler])])
    assert len(hooks) == 0


def test_marking_a_function_for_a_point_that_is_not_there_is_an_error():
    with pytest.raises(rl.ConfigurationError, match="before_run"):
        hook("befor_run")
    with pytest.raises(rl.ConfigurationError, match="no point 'anything'"):

        @hook()
        def anything(context):
            """No point of that name."""


def test_a_handler_that_cannot_be_referred_to_weakly_says_so_where_that_matters():
    class Slotted:
        __slots__ = ()

        def before_run(self, context):
            """Fine otherwise."""

    hooks.add(Slotted())
    with pytest.raises(rl.ConfigurationError, match="__weakref__"):
        collect([("robot", Slotted())])


# -- order -----------------------------------------------------------------------------------


def test_levels_nest_from_the_outside_in():
    seen = []
    hooks.add(Recorder("global", seen))
    chain = collect(
        [(n, Recorder(n, seen)) for n in ("network", "robot", "task")]
        + [("run", [Recorder("run", seen), Recorder("last", seen)])]
    )
    assert passage(chain, core=lambda: seen.append("core")) is None
    order = ["global", "network", "robot", "task", "run", "last"]
    assert seen == [
        *(f"before {n}" for n in order),
        *(f"into {n}" for n in order),
        "core",
        *(f"out of {n}" for n in reversed(order)),
        *(f"after {n}" for n in reversed(order)),
    ]


def test_nobody_who_hooks_means_no_chain_and_other_families_call_the_core_alone():
    assert collect([("network", None), ("run", None), ("robot", [])]) is None
    chain = collect([("run", Recorder("r", seen := []))])
    assert chain.families == {"run", "network_run", "task"}  # on_error belongs to three

    async def core():
        return current_task.append(asyncio.current_task())

    current_task: list[object] = []

    async def main():
        await chain.around(HookContext("learn", text="x"), core)
        assert current_task == [asyncio.current_task()]

    asyncio.run(main())
    assert seen == []


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(["plain", "retry", "replace", "skip", "none"]), max_size=5),
    st.booleans(),
)
def test_nested_around_handlers_do_what_nested_functions_do(kinds, is_async):
    calls = []

    def expected(n):
        if n == len(kinds):
            calls.append("core")
            return "core"
        match kinds[n]:
            case "plain" | "none":
                return expected(n + 1)
            case "retry":
                expected(n + 1)
                return expected(n + 1)
            case "replace":
                return expected(n + 1) + f"+{n}"
            case _:
                return f"skipped {n}"

    def sync(n, kind):
        def around(context, proceed):
            if kind == "skip":
                context.response = f"skipped {n}"
                return None
            value = proceed()
            if kind == "retry":
                value = proceed()
            return {"replace": f"{value}+{n}", "none": None}.get(kind, value)

        return around

    def coroutine(n, kind):
        async def around(context, proceed):
            if kind == "skip":
                return f"skipped {n}"
            value = await proceed()
            if kind == "retry":
                value = await proceed()
            return {"replace": f"{value}+{n}", "none": None}.get(kind, value)

        return around

    make = coroutine if is_async else sync
    handlers = [{"around_run": make(n, kind)} for n, kind in enumerate(kinds)]
    wanted, wanted_calls = expected(0), calls.count("core")
    calls.clear()
    chain = collect([("run", [*handlers, {"before_run": lambda context: None}])])
    found = passage(chain, core=lambda: calls.append("core") or "core")
    assert found == wanted
    assert calls.count("core") == wanted_calls


# -- what a handler's word means ---------------------------------------------------------------


def test_a_result_that_is_set_before_stands_in_for_the_core():
    called = []

    def before_tool_call(context):
        context.tool_result = "not permitted"

    found = through(before_tool_call, "tool_call", lambda: called.append(1))
    assert found == "not permitted"
    assert called == []


def test_after_handlers_see_the_result_and_may_set_another():
    def after_llm_generation(context):
        context.generation_response = context.generation_response.upper()

    assert through(after_llm_generation, "llm_generation", lambda: "quiet") == "QUIET"


def test_none_and_false_are_results_like_others():
    looked = []

    async def around_learn(context, proceed):
        looked.append(await proceed())

    assert through({"around_learn": around_learn}, "learn", lambda: False) is False
    assert through({"around_compaction": lambda c, proceed: proceed()}, "compaction",
                   lambda: None) is None  # fmt: skip
    assert looked == [False]


@pytest.mark.parametrize("is_async", [False, True])
def test_an_around_handler_that_forgets_its_core_is_named(is_async):
    def lazy(context, proceed):
        return None

    async def lazy_async(context, proceed):
        return None

    with pytest.raises(rl.RobotLabError, match=r"hooks.around_run forgot its core.*response"):
        through({"around_run": lazy_async if is_async else lazy})


def test_an_around_handler_that_swallows_the_error_of_its_core_is_named():
    def quiet(context, proceed):
        try:
            proceed()
        except ValueError:
            pass

    with pytest.raises(rl.RobotLabError, match="kept ValueError to itself and gave no result"):
        through({"around_run": quiet}, core=lambda: int("x"))


def test_an_around_handler_that_forgets_to_await_is_named():
    async def hasty(context, proceed):
        proceed()

    def forgetful():
        with pytest.raises(rl.RobotLabError, match="went on without awaiting it.*await proceed"):
            through({"around_run": hasty})
        gc.collect()

    with pytest.warns(RuntimeWarning, match="never awaited"):
        forgetful()


def test_an_around_handler_may_retry_and_may_answer_in_place_of_a_failure():
    tries = []

    def core():
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionError("busy")
        return "third"

    def stubborn(context, proceed):
        while True:
            try:
                return proceed()
            except ConnectionError:
                pass

    async def consoling(context, proceed):
        try:
            return await proceed()
        except ConnectionError:
            return "sorry"

    assert through({"around_run": stubborn}, core=core) == "third"
    tries.clear()
    assert through({"around_run": consoling}, core=core) == "sorry"


class Guard:
    def before_tool_call(self, context):
        raise PermissionError("not on Sundays")


class GuardAround:
    async def around_tool_call(self, context, proceed):
        raise PermissionError("not on Sundays")


@pytest.mark.parametrize("handler", [Guard, GuardAround])
def test_a_handler_that_raises_forbids_what_follows_and_is_named(handler):
    called = []
    with pytest.raises(PermissionError, match="not on Sundays") as caught:
        through(handler, "tool_call", lambda: called.append(1))
    assert called == []
    point = "before" if handler is Guard else "around"
    note = f"raised by hook {handler.__name__}.{point}_tool_call"
    assert caught.value.__notes__ == [note]
    assert describe_error(caught.value)["notes"] == [note]


def test_what_the_core_raises_passes_all_handlers_unchanged_and_unnamed():
    error = KeyError("from inside")

    def core():
        raise error

    chain = [Recorder("a", seen := []), {"around_run": lambda c, proceed: proceed()}]
    with pytest.raises(KeyError) as caught:
        through(chain, core=core)
    assert caught.value is error
    assert not hasattr(error, "__notes__")
    assert seen == ["before a", "into a", "error a"]


def test_on_error_sees_the_error_and_may_put_another_in_its_place():
    seen = []

    def on_error(context):
        seen.append((context.family, type(context.error).__name__))
        if context.family == "task":
            context.error = rl.RobotLabError("told differently")

    with pytest.raises(ZeroDivisionError):
        through(on_error, "network_run", lambda: 1 / 0)
    with pytest.raises(rl.RobotLabError, match="differently") as caught:
        through(on_error, "task", lambda: 1 / 0)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert seen == [("network_run", "ZeroDivisionError"), ("task", "ZeroDivisionError")]


def test_on_compaction_may_bring_its_own_messages_and_on_learn_sees_what_was_stored():
    called = []

    def on_compaction(context):
        context.compacted_messages = context.messages_before[-1:]

    found = through(on_compaction, "compaction", lambda: called.append(1), messages_before=[1, 2])
    assert found == [2]
    assert called == []

    def on_learn(context):
        called.append((context.text, context.stored))

    assert through(on_learn, "learn", lambda: True, text="x") is True
    assert called == [("x", True)]


# -- observers -----------------------------------------------------------------------------------


class Clumsy:
    def after_run(self, context):
        raise ValueError("no pen")

    def on_learn(self, context):
        raise ValueError("no paper")

    def on_error(self, context):
        sys.exit(3)


def test_an_observer_that_raises_is_an_event_and_one_warning_and_the_run_goes_on():
    found = []
    chain = collect([("robot", Clumsy)])

    async def core():
        return "fine"

    async def failing():
        raise KeyError("k")

    async def work(run):
        found.append(await chain.around(HookContext("run"), core, run))
        found.append(await chain.around(HookContext("run"), core, run))
        found.append(await chain.around(HookContext("learn"), core, run))
        with pytest.raises(KeyError):
            await chain.around(HookContext("run"), failing, run)

    with pytest.warns(RuntimeWarning) as warned:
        (run := in_run(work)).result()
    assert run.status == "completed"
    assert found == ["fine"] * 3
    failed = [e.data for e in run.events if e.type == "hook.failed"]
    assert [(d["hook"], d["point"], d["error"]["type"]) for d in failed] == [
        ("Clumsy", "after_run", "ValueError"),
        ("Clumsy", "after_run", "ValueError"),
        ("Clumsy", "on_learn", "ValueError"),
        ("Clumsy", "on_error", "RobotLabError"),
    ]
    told = [str(w.message) for w in warned]
    assert told[0] == "hook Clumsy.after_run failed: ValueError: no pen"
    assert len(told) == 3


@pytest.mark.filterwarnings("error")
def test_an_observer_breaks_nothing_even_where_warnings_are_errors():
    class Untellable(Exception):
        def __str__(self):
            raise RuntimeError("not even this")

    def after_run(context):
        raise Untellable

    assert through(after_run) == "core"
    assert through(Clumsy, "learn") == "core"


@pytest.mark.parametrize("point", ["before_run", "around_run", "after_run"])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_keyboard_interrupt_in_a_handler_stops_the_run(point, is_async):
    def press(*_):
        raise KeyboardInterrupt

    async def press_async(*_):
        raise KeyboardInterrupt

    chain = collect([("run", {point: press_async if is_async else press})])

    async def core():
        return 1

    async def work(run):
        await chain.around(HookContext("run"), core, run)

    run = in_run(work)
    with pytest.raises(KeyboardInterrupt):
        run.result()
    assert run.status == "interrupted"
    assert in_run(lambda run: asyncio.sleep(0)).result() == "completed"  # the loop is alive


@pytest.mark.parametrize("error", [SystemExit(1), asyncio.CancelledError(), BaseException("odd")])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_would_end_a_loop_becomes_an_error_that_names_the_handler(error, is_async):
    def before(context):
        raise error

    async def before_async(context):
        raise error

    with pytest.raises(rl.RobotLabError, match="hook hooks.before_run"):
        through({"before_run": before_async if is_async else before})


# -- threads, loops, time ------------------------------------------------------------------------


def test_sync_handlers_may_block_while_others_work():
    ticks = []

    def before_run(context):
        while len(ticks) < 5:
            time.sleep(0.005)

    async def work(run):
        async def tick():
            while True:
                ticks.append(1)
                await asyncio.sleep(0.005)

        ticker = asyncio.create_task(tick())
        await collect([("run", before_run)]).around(HookContext("run"), nothing, run)
        ticker.cancel()

    assert in_run(work).result(20) == "completed"


async def nothing():
    return None


def test_a_sync_handler_may_run_a_robot():
    inner = rl.build("inner", model=rl.SimulatedModel(["yes"]))
    seen = []

    def before_run(context):
        seen.append((str(inner.run("may I?")), current_run().name, context.run.name))

    async def work(run):
        await collect([("run", before_run)]).around(HookContext("run"), nothing, run)

    run = in_run(work)
    run.result(20)
    assert seen == [("yes", "job", "job")]
    assert [s.scope.robot for s in run.state.children.values()] == ["inner"]


@pytest.mark.parametrize("is_async", [False, True])
def test_the_current_run_and_context_variables_go_into_handlers_and_through_them(is_async):
    variable = contextvars.ContextVar("variable", default="unset")
    seen = []

    def around(context, proceed):
        seen.append((variable.get(), current_run().name))
        variable.set("from the handler")
        return proceed()

    async def around_async(context, proceed):
        seen.append((variable.get(), current_run().name))
        variable.set("from the handler")
        return await proceed()

    async def core():
        seen.append((variable.get(), current_run().name))

    async def work(run):
        variable.set("from the run")
        chain = collect([("run", {"around_run": around_async if is_async else around})])
        await chain.around(HookContext("run"), core, run)

    in_run(work).result(20)
    assert seen == [("from the run", "job"), ("from the handler", "job")]


@pytest.mark.parametrize("is_async", [False, True])
def test_stopping_a_run_inside_an_around_handler_ends_its_core_first(is_async):
    inside, order = threading.Event(), []

    def around(context, proceed):
        try:
            return proceed()
        finally:
            order.append("handler")

    async def around_async(context, proceed):
        try:
            return await proceed()
        finally:
            order.append("handler")

    async def core():
        inside.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            order.append("core")

    async def work(run):
        chain = collect([("run", {"around_run": around_async if is_async else around})])
        await chain.around(HookContext("run"), core, run)

    run = in_run(work)
    assert inside.wait(10)
    run.when_done(lambda: order.append("run"))
    run.stop()
    assert run.status == "interrupted"
    assert "abandoned" not in run.events[-1].data
    deadline = time.monotonic() + 5
    while len(order) < 3 and time.monotonic() < deadline:
        time.sleep(0.005)  # the handler's thread cannot be joined from here
    assert order[0] == "core"
    assert sorted(order) == ["core", "handler", "run"]


def test_stopping_a_run_does_not_wait_for_a_sync_handler_that_hangs():
    hangs, goes_on = threading.Event(), threading.Event()

    def before_run(context):
        hangs.set()
        goes_on.wait(30)

    async def work(run):
        await collect([("run", before_run)]).around(HookContext("run"), nothing, run)

    run = in_run(work)
    assert hangs.wait(10)
    run.stop()
    assert run.status == "interrupted"
    assert "abandoned" not in run.events[-1].data
    goes_on.set()


def test_each_handler_has_a_deadline_that_does_not_count_its_core():
    goes_on = threading.Event()

    @hook("before_run", "after_run", timeout=0.05)
    def slow(context):
        goes_on.wait(30)

    @hook("around_run", timeout=0.05)
    def patient(context, proceed):
        return proceed()

    @hook("around_run", timeout=0.05)
    async def patient_async(context, proceed):
        return await proceed()

    @hook("around_run", timeout=0.05)
    async def slow_afterwards(context, proceed):
        await proceed()
        await asyncio.sleep(30)

    for handler in (patient, patient_async):
        assert through(handler, core=lambda: asyncio.sleep(0.2, "long")) == "long"
    try:
        with pytest.raises(rl.RobotLabError, match=r"slow.before_run took longer than 0.05 s; its"):
            through(slow)
        after = {"after_run": slow}
        with pytest.warns(RuntimeWarning, match="took longer than 0.05 s"):
            assert through(after) == "core"
    finally:
        goes_on.set()
    with pytest.raises(rl.RobotLabError, match=r"slow_afterwards.around_run took longer"):
        through(slow_afterwards)


def test_a_handlers_own_timeout_error_is_not_taken_for_its_deadline():
    def before_run(context):
        raise TimeoutError("the audit service is slow")

    with pytest.raises(TimeoutError, match="audit"):
        through(before_run)


def test_a_sync_handler_that_returns_a_coroutine_has_it_awaited_but_may_not_block_the_loop():
    async def inner(context, proceed):
        return await proceed()

    async def tell(context):
        seen.append(context.family)

    seen = []
    through({"before_run": lambda context: tell(context)})
    assert seen == ["run"]
    with pytest.raises(rl.RobotLabError, match="would block the event loop.*async def"):
        through({"around_run": lambda context, proceed: inner(context, proceed)})


def test_going_on_after_the_handler_has_ended_is_refused():
    kept = []

    async def around_run(context, proceed):
        kept.append(proceed)
        return await proceed()

    async def main():
        await collect([("run", around_run)]).around(HookContext("run"), nothing)
        with pytest.raises(rl.RobotLabError, match="after it had ended"):
            await kept[0]()

    asyncio.run(main())


# -- contexts ------------------------------------------------------------------------------------


def test_a_context_says_what_it_has_and_what_may_be_set():
    context = HookContext("tool_call", tool_name="add")
    assert context.tool_name == "add"
    assert context.tool_result is None
    with pytest.raises(AttributeError, match="Did you mean 'tool_name'"):
        _ = context.tool_nmae
    with pytest.raises(rl.ConfigurationError, match="may set: tool_result, tool_error"):
        context.tool_args = {}
    with pytest.raises(rl.ConfigurationError, match="Did you mean 'tool_call'"):
        HookContext("tool_cal")
    assert "tool_args" in dir(context)
    assert repr(context) == "<tool_call context: tool_name>"
    assert not hasattr(context, "_ipython_display_")


def test_an_unset_name_is_an_attribute_error_that_lists_those_that_are_set():
    def before_run(context):
        context.local.count = 1
        with pytest.raises(AttributeError, match="'cuont' is not set here. Did you mean 'count'"):
            _ = context.local.cuont
        assert "count" in context.local
        assert list(context.local) == ["count"]
        assert getattr(context.local, "other", 7) == 7

    through(before_run)


class Meter:
    def before_run(self, context):
        if "calls" not in context.local:
            context.local.calls = []

    def before_llm_generation(self, context):
        context.local.calls.append("model")
        context.state.total += 1

    def before_tool_call(self, context):
        context.local.calls.append("tool")
        context.state.total += 1

    def after_run(self, context):
        context.response = list(context.local.calls)


class Reporter:
    def after_run(self, context):
        context.response = (context.response, context.ext("meter").calls)
        with pytest.raises(rl.ConfigurationError, match="Did you mean 'meter'"):
            context.ext("metre")


def test_local_is_shared_by_all_families_of_a_root_run_and_state_outlives_it():
    hooks.add(Reporter)
    hooks.add(Meter, total=10)
    chain = collect()
    results = []

    async def calls():
        await chain.around(HookContext("llm_generation"), nothing)
        await chain.around(HookContext("tool_call"), nothing)

    async def outer():
        await calls()
        child = Run("child", "robot", lambda run: chain.around(HookContext("run"), calls, run),
                    lambda run: None)  # fmt: skip
        await child.begin()

    async def work(run):
        results.append(await chain.around(HookContext("run"), outer, run))

    for _ in range(2):
        in_run(work).result(20)
    assert results == [(["model", "tool"] * 2,) * 2] * 2
    assert hooks.registrations[1].spaces.state.total == 18


def test_a_registration_has_its_own_state_and_a_handler_given_elsewhere_keeps_its_own():
    class Counter:
        def before_run(self, context):
            context.state.count = getattr(context.state, "count", 0) + 1

    one, other = Counter(), Counter()
    for _ in range(3):
        through([one])
    through(other)
    counts = [registrations(h)[0].spaces.state.count for h in (one, other)]
    assert counts == [3, 1]
    mapping = {"before_run": one.before_run}
    through(mapping)
    through(mapping)
    assert registrations(mapping)[0].spaces.state.count == 2
    through(Counter)
    through([Counter])
    assert registrations(Counter)[0].spaces.state.count == 2
    made = {registrations(Counter)[0].hooks[0].function.__self__ for _ in range(2)}
    assert len(made) == 1


def test_handlers_and_ended_runs_are_not_kept_alive():
    class Light:
        @hook(timeout=None)  # asyncio keeps a cancelled timer, and with it the run, for a while
        def before_run(self, context):
            context.local.big = bytearray(10)

    handler = Light()
    through(handler)

    chains = [collect([("run", handler)])]

    async def work(run):
        await chains.pop().around(HookContext("run"), nothing, run)

    run = in_run(work)
    run.result()
    spaces = registrations(handler)[0].spaces
    gone_run, gone_handler, gone_spaces = (weakref.ref(x) for x in (run, handler, spaces.state))
    assert len(spaces._local) == 1
    del run
    assert gone(gone_run)
    assert len(spaces._local) == 0
    del handler, spaces
    assert gone(gone_handler)
    assert gone(gone_spaces)


def gone(reference):
    """Whether something is collected; a worker thread lets go of its last work a moment later."""
    deadline = time.monotonic() + 10
    while reference() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.001)
    return reference() is None


def test_names_set_from_many_threads_are_not_lost():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    class Counter:
        def before_tool_call(self, context):
            for _ in range(500):
                context.state.count += 1
            setattr(context.state, f"call_{context.tool_name}", True)

    hooks.add(Counter, count=0)
    chain = collect()

    async def main():
        await asyncio.gather(
            *(chain.around(HookContext("tool_call", tool_name=n), nothing) for n in range(20))
        )

    try:
        asyncio.run(main())
    finally:
        sys.setswitchinterval(before)
    state = hooks.registrations[0].spaces.state
    assert state.count == 10_000
    assert all(f"call_{n}" in state for n in range(20))


# -- the process's registry ------------------------------------------------------------------------


def test_handlers_are_added_listed_and_removed():
    assert hooks.add(before_run) is before_run

    @hooks.add(limit=3)
    class Limiter:
        def before_run(self, context):
            assert context.state.limit == 3

    assert repr(hooks) == "<hooks: before_run (before_run), Limiter (before_run)>"
    through(None)
    hooks.remove(before_run)
    hooks.remove(Limiter)
    assert repr(hooks) == "<hooks: none>"
    with pytest.raises(rl.ConfigurationError, match="not registered"):
        hooks.remove(Limiter)


def test_handlers_can_be_registered_for_a_while():
    seen = []
    hooks.add(Recorder("always", seen))
    with hooks(Recorder("now", seen), {"after_run": lambda c: seen.append(c.state.word)}, word="x"):
        through(None)
    assert seen.count("before now") == seen.count("before always") == seen.count("x") == 1
    through(None)
    assert seen.count("before now") == 1
    assert seen.count("before always") == 2


def test_adding_the_same_handler_again_replaces_its_state_and_keeps_its_place():
    guard = Made()
    hooks.add(guard, count=1)
    hooks.add(before_run)
    hooks.add(guard, count=2)
    assert [r.name for r in hooks.registrations] == ["Made", "before_run"]
    assert hooks.registrations[0].spaces.state.count == 2
    hooks.add(guard.before_run)
    hooks.add(guard.before_run)
    assert len(hooks) == 3
    hooks.add(Made().before_run)  # the method of another object stands beside it
    assert len(hooks) == 4
    hooks.remove(guard.before_run)
    assert len(hooks) == 3


DEFINITION = """
class Auditor:
    def before_run(self, context):
        pass
def before_run(context):
    pass
"""


def define():
    """Run the same definitions again, as a cell does."""
    names = {"__name__": "__main__"}
    exec(DEFINITION, names)
    return names


def test_a_definition_that_is_run_again_replaces_the_one_before():
    first, second = define(), define()
    for names in (first, second):
        hooks.add(names["Auditor"])
        hooks.add(names["before_run"])
    assert [r.handler for r in hooks.registrations] == [second["Auditor"], second["before_run"]]
    hooks.clear()
    hooks.add(first["Auditor"]())
    hooks.add(second["Auditor"]())
    hooks.add(second["Auditor"]())  # another object of the same class stands beside it
    assert len(hooks) == 2
    made = [lambda context: None for _ in range(2)]
    for one in made:
        hooks.add(hook("before_run")(one))
    assert len(hooks) == 4


def test_what_a_cell_added_is_replaced_when_it_is_run_again(monkeypatch):
    cell = ["cell-1", "first"]
    monkeypatch.setattr(hook_registry, "cell_of_caller", lambda: tuple(cell))
    points = {"before_run": print}

    def run_cell():
        hooks.add(Made())
        hooks.add(Made())
        hooks.add(dict(points))

    run_cell()
    first = hooks.registrations
    assert len(first) == 3
    cell[1] = "second"
    run_cell()
    assert len(hooks) == 3
    assert not set(first) & set(hooks.registrations)
    cell[:] = "cell-2", "third"
    hooks.add(Made())
    assert len(hooks) == 4


def test_the_registry_may_be_changed_from_many_threads():
    lost = []

    def change():
        for _ in range(100):
            handler = {"before_run": print}
            hooks.add(handler)
            collect()
            try:
                hooks.remove(handler)
            except rl.ConfigurationError as error:
                lost.append(error)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=change) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(before)
    assert not lost
    assert len(hooks) == 0


def test_stop_passes_through_a_sync_around_handler():
    async def core():
        raise StopRun

    async def work(run):
        chain = collect([("run", {"around_run": lambda c, proceed: proceed()})])
        await chain.around(HookContext("run"), core, run)

    run = in_run(work)
    with pytest.raises(KeyboardInterrupt):
        run.result(20)
