"""One tool call for a model: whatever the tool does, an outcome comes of it."""

from __future__ import annotations

import asyncio
import contextvars
import json
import math
import threading
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from pydantic import BaseModel, field_validator

from robotlab_nb.core.errors import ConfigurationError, ModelError, ToolError
from robotlab_nb.runtime.stop import StopRun
from robotlab_nb.tools import call as calling
from robotlab_nb.tools import running
from robotlab_nb.tools.arguments import parsed_or_none
from robotlab_nb.tools.call import Outcome, call_tool, check_callable, unknown_tool
from robotlab_nb.tools.decorator import Tool, as_tool, tool
from robotlab_nb.tools.preview import preview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


async def call(function: Any, arguments: Any = None, **options: Any) -> Outcome:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    options.setdefault("timeout", 30)
    return await call_tool(as_tool(function), text, **options)


def raising(error: BaseException) -> list[Callable[[], Any]]:
    """A sync and an async tool that raise."""

    def broken() -> None:
        raise error

    async def async_broken() -> None:
        raise error

    return [broken, async_broken]


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Ends the blocked tools of a test when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def cell_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Another thread's running loop, as a notebook has one."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


# what comes back


async def test_a_sync_tool_runs_in_a_thread_and_an_async_one_on_the_loop() -> None:
    def where(a: int) -> str:
        return f"{a} {threading.current_thread() is threading.main_thread()}"

    async def here(a: int) -> str:
        return f"{a} {threading.current_thread() is threading.main_thread()}"

    assert (await call(where, {"a": 1})).content == "1 False"
    assert (await call(here, {"a": 1})).content == "1 True"


async def test_a_result_has_text_json_and_the_value() -> None:
    done = await call(lambda_tool(lambda: {"t": 1.5}))
    assert done == Outcome("completed", {"t": 1.5}, {"t": 1.5}, '{"t": 1.5}')


def lambda_tool(function: Callable[..., Any]) -> Tool:
    return tool(name="it")(function)


def giving(value: Any) -> Tool:
    return lambda_tool(lambda: value)


async def test_none_reads_no_output() -> None:
    done = await call(lambda_tool(lambda: None))
    assert (done.status, done.content, done.result, done.keep) == (
        "completed", "no output", None, False,
    )  # fmt: skip


async def test_nan_is_named_and_the_value_kept() -> None:
    done = await call(lambda_tool(lambda: [math.nan]))
    assert (done.content, done.result, done.keep) == ('["NaN"]', ["NaN"], True)


@pytest.mark.parametrize("value", [pd.DataFrame({"a": [1]}), b"\x00\x01", threading.Lock()])
async def test_live_objects_stay_alive_and_are_described(value: Any) -> None:
    async def give() -> Any:
        return value

    for function in (lambda_tool(lambda: value), give):
        done = await call(function)
        assert done.value is value
        assert done.keep
        assert json.dumps(done.result)
        assert "0x" not in done.content


async def test_coroutines_and_generators_are_awaited_and_collected() -> None:
    async def later() -> int:
        await asyncio.sleep(0)
        return 3

    async def pages(n: int):
        for i in range(n):
            await asyncio.sleep(0)
            yield i

    def lines(n: int):
        yield from range(n)

    async def inner() -> Any:
        return pages(2)

    assert (await call(lambda_tool(lambda: later()))).value == 3
    assert (await call(lambda_tool(lambda: pages(3)))).value == [0, 1, 2]
    assert (await call(pages, {"n": 2})).content == "[0, 1]"
    assert (await call(lines, {"n": 2})).value == [0, 1]
    assert (await call(inner)).value == [0, 1]


async def test_endless_generators_are_cut_closed_and_marked() -> None:
    closed = []

    def numbers():
        try:
            while True:
                yield 1
        finally:
            closed.append("sync")

    async def pages():
        try:
            while True:
                yield 1
        finally:
            closed.append("async")

    alive = [numbers(), pages()]  # held, so that only an explicit close ends them
    for generator in alive:
        done = await call(giving(generator))
        assert len(done.value) == 1_000
        assert done.content.endswith("[cut: the first 1,000 items; there were more]")
        assert "there were more" in done.result[-1]
        assert done.keep
    assert closed == ["sync", "async"]


async def test_an_object_that_answers_to_every_name_is_only_a_value() -> None:
    class Answers:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: None

    assert (await call(lambda_tool(lambda: Answers()))).status == "completed"


# arguments


@pytest.mark.parametrize("text", [
    "{", '{"a": 1, "a": 2}', "[" * 100_000, '{"a": ' + "7" * 5_000 + "}", '{"a": NaN}', "[]",
    '{"b": 1}', "{}", '{"a": "x"}', '{"a": 1, "run": 2}',
], ids=lambda text: text[:20])  # fmt: skip
async def test_bad_arguments_are_told_and_the_tool_is_not_called(text: str) -> None:
    called = []

    def take(a: int) -> None:
        called.append(a)

    done = await call(take, text)
    assert done.status == "failed"
    assert done.content.startswith("Error (take): ")
    assert len(done.content) < 400
    assert done.error == {
        "type": "ArgumentsError",
        "message": done.content.removeprefix("Error (take): "),
    }
    assert (called, done.traceback, done.exception) == ([], None, None)


@pytest.mark.parametrize("text", ["", "null", "  ", None])
async def test_no_arguments_are_empty_arguments(text: str | None) -> None:
    done = await call_tool(lambda_tool(lambda a=5: a), text)
    assert done.value == 5


async def test_the_event_shows_the_arguments_before_the_tool_changed_them() -> None:
    def spoil(items: list, box: dict) -> int:
        items.append("spoiled")
        box["inner"].clear()
        return len(items)

    text = '{"items": [1], "box": {"inner": [2]}}'
    shown = parsed_or_none(text)
    assert (await call(spoil, text)).value == 2
    assert shown == {"items": [1], "box": {"inner": [2]}}


async def test_the_hosts_values_win() -> None:
    @tool(inject=("robot", "context", "customer"))
    def who(question: str, robot: Any, context: dict, customer: int) -> list:
        return [question, robot, context["customer"], customer]

    text = '{"question": "?", "robot": "forged", "customer": 0}'
    host = {"robot": "ours", "run": None, "context": {"customer": 7}}
    assert (await call(who, text, injected=host)).value == ["?", "ours", 7, 7]
    assert list(who.parameters["properties"]) == ["question"]
    with pytest.raises(ConfigurationError, match="'customer'"):
        await call(who, text, injected={**host, "context": {}})


async def test_a_validator_that_breaks_is_a_failure_of_the_tool() -> None:
    class Odd(BaseModel):
        x: int

        @field_validator("x")
        @classmethod
        def break_down(cls, value: int) -> int:
            raise LookupError("no table")

    def take(odd): ...

    take.__annotations__["odd"] = Odd
    done = await call(take, '{"odd": {"x": 1}}')
    assert done.content == "Error (take): no table"
    assert "break_down" in str(done.traceback)


# exceptions


async def test_an_exception_is_short_for_the_model_and_whole_for_people() -> None:
    for function in raising(ValueError("no such city")):
        done = await call(function)
        assert done.status == "failed"
        assert done.content == f"Error ({as_tool(function).name}): no such city"
        assert done.error == {"type": "ValueError", "message": "no such city"}
        assert isinstance(done.exception, ValueError)
        assert (done.value, done.result, done.retryable) == (None, None, False)
        lines = str(done.traceback).splitlines()
        assert lines[0] == "Traceback (most recent call last):"
        assert f"in {function.__name__}" in lines[1]
        assert lines[-1] == "ValueError: no such city"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (KeyError("city"), "KeyError: 'city'"),
        (ValueError(), "ValueError"),
        (ValueError("x" * 10_000), "x" * 2_000 + "…"),
        (ExceptionGroup("g", [ExceptionGroup("h", [ValueError("inner")])]), "inner"),
        (
            ExceptionGroup("g", [ValueError("a"), KeyError("b")]),
            "2 errors: ValueError: a; KeyError: KeyError: 'b'",
        ),
        (ModelError("the child's model is down", hint="wait"), "the child's model is down. wait"),
        (StopIteration(3), "3"),
        (asyncio.CancelledError(), "the tool was cancelled from inside"),
        (GeneratorExit(), "GeneratorExit"),
        (SystemExit(2), "the tool tried to end the program (exit code 2)"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
async def test_messages_for_the_model(error: BaseException, words: str) -> None:
    done = await call(raising(error)[0])
    assert done.content == f"Error (broken): {words}"
    assert isinstance(done.exception, Exception)
    assert not isinstance(done.exception, StopIteration)


async def test_a_tool_error_may_say_that_it_can_be_repeated() -> None:
    for retryable in (True, False):
        done = await call(raising(ToolError("busy", retryable=retryable))[0])
        assert done.content == "Error (broken): busy" + " (retryable)" * retryable
        assert done.retryable is retryable


async def test_an_exception_that_cannot_be_shown_is_still_told() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    done = await call(raising(Mute())[0])
    assert "Mute" in done.content
    assert "Mute" in str(done.traceback)


async def test_long_tracebacks_are_cut_in_the_middle() -> None:
    done = await call(raising(ValueError("y" * 100_000))[0])
    assert "characters left out" in str(done.traceback)
    assert len(str(done.traceback)) < 21_000


async def test_exits_and_cancellations_of_the_tools_own_leave_the_loop_alive() -> None:
    for error in (SystemExit(1), asyncio.CancelledError(), GeneratorExit()):
        for function in raising(error)[: 1 if isinstance(error, GeneratorExit) else 2]:
            assert (await call(function)).status == "failed"
    assert (await call(lambda_tool(lambda: 1))).value == 1
    current = asyncio.current_task()
    assert current is not None
    assert current.cancelling() == 0


@pytest.mark.parametrize(
    "error",
    [
        KeyboardInterrupt(),
        StopRun(),
        BaseExceptionGroup("g", [KeyboardInterrupt()]),
        BaseExceptionGroup("g", [ValueError(), BaseExceptionGroup("h", [KeyboardInterrupt()])]),
    ],
    ids=["interrupt", "stop", "group", "deep"],
)
async def test_a_keyboard_interrupt_stops_the_run(
    error: BaseException, cell_loop: asyncio.AbstractEventLoop
) -> None:
    broken, async_broken = raising(error)
    for made in (as_tool(broken), as_tool(async_broken), tool(loop="caller")(async_broken)):
        with pytest.raises(StopRun):
            await call(made, caller_loop=cell_loop)
    assert cell_loop.is_running()


# time


async def test_an_async_tool_out_of_time_is_cancelled() -> None:
    tidied = []

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            tidied.append(True)

    done = await call(hang, timeout=0.01)
    assert done.content == "Error (hang): timed out after 0.01 s"
    assert done.error == {"type": "TimeoutError", "message": "timed out after 0.01 s"}
    assert (tidied, done.thread_leaked) == ([True], False)
    assert isinstance(done.exception, ToolError)


async def test_an_async_tool_that_refuses_to_end_is_left_and_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(running, "GRACE_S", 0.01)
    stop = asyncio.Event()

    async def stubborn() -> None:
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                continue

    done = await call(stubborn, timeout=0.01)
    assert done.thread_leaked
    assert "timed out" in done.content
    stop.set()


async def test_a_blocked_thread_is_left_reported_and_harmless(release: threading.Event) -> None:
    ended = threading.Event()

    def block() -> str:
        release.wait(30)
        ended.set()
        return "too late"

    beats = 0

    async def heartbeat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.001)

    heart = asyncio.create_task(heartbeat())
    done = await call(block, timeout=0.1)
    heart.cancel()
    assert (done.status, done.thread_leaked) == ("failed", True)
    assert done.content == "Error (block): timed out after 0.1 s"
    assert "still runs" in str(done.exception)
    assert beats > 1
    release.set()
    assert await asyncio.to_thread(ended.wait, 30)
    assert (await call(lambda_tool(lambda: 1))).value == 1


async def test_a_tool_that_got_no_thread_in_time_leaked_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def no_thread(function: Any) -> Any:
        await asyncio.Event().wait()

    monkeypatch.setattr(running, "in_thread", no_thread)
    done = await call(lambda_tool(lambda: 1), timeout=0.01)
    assert ("timed out" in done.content, done.thread_leaked) == (True, False)

    async def lost_thread(function: Any) -> Any:
        function()
        await asyncio.Event().wait()

    monkeypatch.setattr(running, "in_thread", lost_thread)
    assert (await call(lambda_tool(lambda: 1), timeout=0.01)).thread_leaked is False


async def test_infinity_is_no_deadline_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    async def note(function: Any, arguments: Any, seconds: Any) -> Any:
        seen.append(seconds)
        return running.Returned(1, preview(1))

    monkeypatch.setattr(calling, "run_sync", note)
    await call(tool(timeout=math.inf, name="it")(lambda: 1), timeout=5)
    await call(tool(timeout=3, name="it")(lambda: 1), timeout=5)
    await call(lambda_tool(lambda: 1), timeout=5)
    assert seen == [None, 3, 5]


async def test_a_tools_own_timeout_is_stronger(release: threading.Event) -> None:
    def block() -> None:
        release.wait(30)

    done = await call(tool(timeout=0.02)(block), timeout=None)
    assert "after 0.02 s" in done.content

    async def nap() -> str:
        await asyncio.sleep(0.05)
        return "done"

    assert (await call(tool(timeout=math.inf)(nap), timeout=0.001)).value == "done"


async def test_a_timeout_inside_the_tool_is_the_tools_own() -> None:
    done = await call(raising(TimeoutError("the server is slow"))[0])
    assert done.content == "Error (broken): the server is slow"
    assert done.traceback


async def test_cancelling_the_call_cancels_an_async_tool() -> None:
    began, tidied = asyncio.Event(), []

    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            tidied.append(True)

    task = asyncio.create_task(call(hang))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tidied == [True]


async def test_cancelling_the_call_leaves_a_thread(release: threading.Event) -> None:
    began = threading.Event()

    def block() -> None:
        began.set()
        release.wait(30)

    task = asyncio.create_task(call(block))
    assert await asyncio.to_thread(began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_sync_tools_run_side_by_side() -> None:
    barrier = threading.Barrier(2, timeout=30)
    meet = lambda_tool(lambda: barrier.wait() >= 0)
    done = await asyncio.gather(call(meet), call(meet))
    assert [one.value for one in done] == [True, True]


# loops and context


async def test_a_callers_tool_runs_on_the_callers_loop(
    cell_loop: asyncio.AbstractEventLoop,
) -> None:
    @tool(loop="caller")
    async def where() -> bool:
        return asyncio.get_running_loop() is cell_loop

    assert (await call(where, caller_loop=cell_loop)).value is True
    assert (await call(where, caller_loop=asyncio.get_running_loop())).value is False


async def test_a_callers_tool_is_cancelled_over_there(
    cell_loop: asyncio.AbstractEventLoop,
) -> None:
    began, tidied = threading.Event(), threading.Event()

    @tool(loop="caller")
    async def hang() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            tidied.set()

    assert "timed out" in (await call(hang, timeout=0.05, caller_loop=cell_loop)).content
    assert await asyncio.to_thread(tidied.wait, 30)
    began.clear()
    tidied.clear()
    task = asyncio.create_task(call(hang, caller_loop=cell_loop))
    assert await asyncio.to_thread(began.wait, 30)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(tidied.wait, 30)


async def test_without_a_callers_loop_a_callers_tool_is_an_error() -> None:
    @tool(loop="caller")
    async def where() -> None: ...

    with pytest.raises(ConfigurationError, match=r"'where'.*caller"):
        await call(where)
    gone = asyncio.new_event_loop()
    gone.close()
    done = await call(where, caller_loop=gone)
    assert "closed" in done.content


def test_a_run_is_refused_before_it_asks_when_a_tool_cannot_run() -> None:
    async def where() -> None: ...

    tools = [as_tool(where), tool(loop="caller", name="there")(where)]
    check_callable(tools, may_use_caller=True)
    check_callable(tools[:1], may_use_caller=False)
    with pytest.raises(ConfigurationError, match=r"'there'.*arun"):
        check_callable(tools, may_use_caller=False)


async def test_context_variables_go_along(cell_loop: asyncio.AbstractEventLoop) -> None:
    marker: contextvars.ContextVar[str] = contextvars.ContextVar("marker", default="none")
    marker.set("set")

    async def seen() -> str:
        return marker.get()

    for one in (lambda_tool(lambda: marker.get()), as_tool(seen), tool(loop="caller")(seen)):
        assert (await call(one, caller_loop=cell_loop)).value == "set"


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    done = unknown_tool("get_wether", ["get_weather", "add"])
    assert done.status == "failed"
    assert done.content == (
        "Error: there is no tool 'get_wether'. Did you mean 'get_weather'? "
        "Tools: 'get_weather', 'add'."
    )
    assert "Tools: none" in unknown_tool("x" * 5_000, []).content
    assert len(unknown_tool("x" * 5_000, []).content) < 200
