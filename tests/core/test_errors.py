"""Errors: robot_lab's names, what may be tried again, where they happened, and their pickles."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core import errors, mcp_errors
from robotlab_nb.core.errors import RobotLabError, describe_error, unwrap
from robotlab_nb.models.direct import DirectModel
from robotlab_nb.models.litellm import LiteLLMModel
from robotlab_nb.testing import ModelServer, Reply

#: robot_lab's classes with the class above each
NAMES = {
    "ConfigurationError": "RobotLabError",
    "DependencyError": "ConfigurationError",
    "InferenceError": "RobotLabError",
    "ToolLoopError": "InferenceError",
    "ToolNotFoundError": "RobotLabError",
    "MCPError": "RobotLabError",
    "BusError": "RobotLabError",
    "ToolError": "RobotLabError",
    "BudgetExceeded": "RobotLabError",
    "AwaitTimeout": "RobotLabError",
    "RactorBoundaryError": "RobotLabError",
    "DelegationTimeout": "RobotLabError",
}
CLASSES = [
    found
    for found in (*vars(errors).values(), *vars(mcp_errors).values(), rl.NetworkFailed)
    if isinstance(found, type) and issubclass(found, RobotLabError)
]


@pytest.mark.parametrize("name", NAMES)
def test_robot_labs_names_are_there_in_their_order(name: str) -> None:
    assert issubclass(getattr(rl, name), getattr(rl, NAMES[name]))
    assert name in {*errors.__all__, *mcp_errors.__all__}


def test_what_python_calls_alike_is_caught_alike() -> None:
    assert issubclass(rl.AwaitTimeout, TimeoutError)
    assert issubclass(rl.TaskNotRun, KeyError)
    assert issubclass(rl.UnknownKeyword, TypeError)
    assert issubclass(rl.InputError, ValueError)


@pytest.mark.parametrize("name", sorted({*NAMES} - {"ToolLoopError"}))
def test_an_error_may_be_tried_again_only_where_its_maker_says_so(name: str) -> None:
    made = getattr(rl, name)
    assert not made("x").retryable
    assert made("x", retryable=True).retryable


def test_a_tool_loop_is_never_tried_again() -> None:
    with pytest.raises(TypeError):
        rl.ToolLoopError("x", retryable=True)  # type: ignore[call-arg]
    assert describe_error(rl.ToolLoopError("x"))["kind"] == "tool_loop"


def full(kind: type[RobotLabError]) -> RobotLabError:
    """An error of a class with everything set that can be."""
    if kind is rl.NetworkFailed:
        made: RobotLabError = rl.NetworkFailed("net", {"a": {"type": "E", "message": "m"}})
    else:
        made = kind("what was wrong", hint="What to do.")
    made.run_id, made.task = "abc123", "draft"
    if isinstance(made, rl.ModelError):
        made.status, made.retry_after, made.billed, made.body = 503, 1.5, True, "the body"
    if isinstance(made, rl.BudgetExceeded):
        made.budget, made.dimension, made.limit = "b", "tokens", 10.0
    made.add_note("seen on a Monday")
    return made


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_keeps_all_that_an_error_says(kind: type[RobotLabError], protocol: int) -> None:
    error = full(kind)
    error.run = object()
    again = pickle.loads(pickle.dumps(error, protocol))
    assert type(again) is kind
    assert str(again) == str(error)
    assert again.args == error.args
    assert {**vars(again), "run": None} == {**vars(error), "run": None}
    assert again.run is None
    assert describe_error(again) == describe_error(error)


@pytest.mark.parametrize(
    "model",
    [
        DirectModel("m", api_base="http://127.0.0.1:1/v1", key_name="SOME_API_KEY"),
        LiteLLMModel("groq/m", key_name="SOME_API_KEY", api_key="SOME_API_KEY"),
    ],
    ids=["direct", "litellm"],
)
def test_a_missing_key_is_told_in_one_way(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_API_KEY", raising=False)
    with pytest.raises(rl.ConfigurationError) as caught:
        model.check()
    assert str(caught.value) == (
        f"no key for {model.name}: set SOME_API_KEY, pass api_key=, "
        "or use model='simulated' to go on without one"
    )


# -- where it happened ------------------------------------------------------------------------


def test_a_models_error_names_its_run() -> None:
    with ModelServer([Reply.error(400, "no")]) as server:
        run = rl.build("bot", model=server.model()).start("x")
        with pytest.raises(rl.ModelError) as caught:
            run.result()
    assert (caught.value.run_id, caught.value.run) == (run.id, run)
    assert caught.value.task is None


def test_a_stopped_runs_error_names_its_run() -> None:
    with ModelServer([Reply.text("late").after(30)]) as server:
        run = rl.build("bot", model=server.model()).start("x")
        server.wait_for_requests()
        run.cancel("enough")
        with pytest.raises(rl.RunInterrupted) as caught:
            run.result(timeout=20)
    assert caught.value.run_id == run.id


def test_a_networks_error_names_its_run_and_the_task() -> None:
    net = rl.create_network("net")
    net.task("good", lambda message: message)
    net.task("bad", lambda: 1 / 0)
    net.task("after", lambda upstream: upstream, depends_on=["bad"])
    result = net.run("x")
    with pytest.raises(rl.NetworkFailed) as failed:
        result.raise_for_errors()
    assert (failed.value.run_id, failed.value.task) == (result.run_id, "bad")
    with pytest.raises(rl.TaskNotRun) as missing:
        result["after"]
    assert (missing.value.run_id, missing.value.task) == (result.run_id, "after")


def test_a_robots_error_in_a_network_names_its_own_run_and_its_task() -> None:
    def answer(request: Any) -> str:
        raise rl.ModelError("no")

    bot = rl.build("bot", model=rl.SimulatedModel(answer))
    seen: list[RobotLabError] = []

    def ask(message: str) -> str:
        try:
            return str(bot.run(message))
        except RobotLabError as error:
            seen.append(error)
            raise

    net = rl.create_network("net")
    net.task("call", ask)
    result = net.run("x")
    assert result["call"].error is seen[0]
    assert seen[0].task == "call"
    assert seen[0].run_id not in (None, result.run_id)


def test_an_error_that_cannot_be_printed_is_described_all_the_same() -> None:
    class Sulking(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert describe_error(Sulking())["message"] == "Sulking (its message cannot be shown)"


def test_a_person_meets_the_error_inside_the_groups() -> None:
    inner = ValueError("x")
    assert unwrap(ExceptionGroup("a", [ExceptionGroup("b", [inner])])) is inner
