"""Budgets of runs over HTTP: charged for what was billed, given back on failure, never leaked."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

import robotlab_nb as rl
from robotlab_nb.models import accounts
from robotlab_nb.runtime.budgets import Budget
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel

USAGE = {"prompt_tokens": 100, "completion_tokens": 50}
PRICE = 100 * 0.15e-6 + 50 * 0.6e-6  # of gpt-4o-mini


@pytest.fixture(autouse=True)
def no_pauses_of_others():
    accounts.forget_limits()
    yield
    accounts.forget_limits()


def bot(server: ModelServer, *, model: str = "openai/gpt-4o-mini", **config: Any) -> rl.Robot[Any]:
    config = {"retry_interval": 0.01, "retry_jitter": 0.0, **config}
    return rl.build("b", model=model, api_base=server.base_url, api_key="k", config=config)


def guards(run: Any) -> list[Any]:
    return [e.data for e in run.events if e.type == "guard.budget"]


def fine(**more: Any) -> Reply:
    return Reply.text("fine", usage=USAGE, **more)


@pytest.mark.parametrize("streaming", [False, True])
def test_what_was_billed_is_charged_and_adds_up_with_the_table(streaming: bool) -> None:
    budget = Budget(tokens=10_000, cost=1.0)
    with ModelServer([fine()] * 3) as server:
        robot = bot(server, budget=budget)
        listen = (lambda text: None) if streaming else None
        results = [robot.run("hi", on_content=listen) for _ in range(3)]
    assert budget.used[:2] == (450, pytest.approx(3 * PRICE))
    assert budget.used.calls == 3
    assert budget.used.cost == pytest.approx(sum(r.cost or 0 for r in results))
    assert budget.reserved == (0, 0.0, 0.0, 0)


async def test_a_spent_budget_refuses_before_the_request() -> None:
    budget = Budget(calls=1, name="lesson")
    async with ModelServer([fine()]) as server:
        robots = [bot(server, budget=budget) for _ in range(2)]
        await robots[0].arun("hi")
        with pytest.raises(rl.BudgetExceeded, match="'lesson' is spent: 1 of 1 calls") as caught:
            await robots[1].arun("hi")
        assert len(server.requests) == 1
    run = caught.value.run
    (told,) = guards(run)
    assert (told["budget"], told["dimension"], told["limit"]) == ("lesson", "calls", 1)
    assert run.status == "failed"
    assert [c.status for c in run.state.model_calls.values()] == ["failed"]
    # The question stays; the robot can be asked again when there is a budget.
    assert [m.role for m in run.state.messages] == ["user"]


def test_a_budget_of_the_robots_own_is_used_by_all_its_runs() -> None:
    with ModelServer([fine()] * 2) as server:
        robot = bot(server, call_budget=2, token_budget=100_000)
        robot.run("one")
        robot.run("two")
        with pytest.raises(rl.BudgetExceeded, match="2 of 2 calls"):
            robot.run("three")
    (own,) = robot.budgets
    assert own.used.tokens == 300


def test_an_answer_that_passes_the_limit_is_kept_and_the_next_call_is_refused() -> None:
    budget = Budget(tokens=120)
    with ModelServer([fine()]) as server:
        robot = bot(server, budget=budget)
        result = robot.run("hi")
        assert result.text == "fine"
        assert [g["used"] for g in guards(result)] == [150]
        with pytest.raises(rl.BudgetExceeded):
            robot.run("more")
        assert len(server.requests) == 1


def test_max_tokens_that_do_not_fit_are_refused_before_the_request() -> None:
    with ModelServer([]) as server, pytest.raises(rl.BudgetExceeded, match="too small for this"):
        bot(server, token_budget=500, max_tokens=600).run("hi")


@pytest.mark.parametrize("status", [400, 500])
def test_an_attempt_that_failed_before_any_byte_costs_nothing(status: int) -> None:
    budget = Budget(tokens=5_000, cost=0.01, calls=1)
    tries = 1 if status == 400 else 3
    with ModelServer([Reply.error(status)] * tries + [fine()]) as server:
        robot = bot(server, budget=budget)
        with pytest.raises(rl.ModelError):
            robot.run("hi")
        assert budget.used[:2] == (0, 0)
        assert budget.reserved.calls == 0
        assert robot.run("hi").text == "fine"
    assert budget.used.calls == 1


def test_an_attempt_that_broke_off_after_its_first_byte_is_charged_by_estimate() -> None:
    budget = Budget(tokens=50_000, cost=1.0)
    with ModelServer([Reply.text("word " * 300, cut_after=30_000), fine()]) as server:
        result = bot(server, budget=budget).run("hi", on_content=lambda text: None)
    assert not result.usage.cost_complete
    assert 150 + 50 < budget.used.tokens < 150 + 600
    assert budget.used.cost > PRICE
    assert budget.used.calls == 2
    assert budget.reserved.calls == 0


@pytest.mark.parametrize("begun", [False, True])
def test_stop_settles_what_had_begun_and_gives_back_what_had_not(begun: bool) -> None:
    budget = Budget(tokens=50_000, calls=10)
    reply = Reply.text("word " * 500, pause=0.02) if begun else fine().after(30)
    with ModelServer([reply]) as server:
        run = bot(server, budget=budget).start("hi", on_content=lambda text: None)
        server.wait_for_requests()
        assert budget.reserved.calls == 1
        while begun and not run.root.so_far():
            time.sleep(0.005)
        run.stop()
    assert budget.reserved == (0, 0.0, 0.0, 0)
    assert budget.used.calls == (1 if begun else 0)
    assert (budget.used.tokens > 0) == begun


def test_an_unknown_price_is_an_error_before_the_request_unless_allowed() -> None:
    with ModelServer([fine()]) as server:
        with pytest.raises(rl.ConfigurationError, match="openai/nobody.*allow_unpriced=True"):
            bot(server, model="openai/nobody", cost_budget=1.0).run("hi")
        assert not server.requests
        robot = bot(server, model="openai/nobody", cost_budget=1.0, allow_unpriced=True)
        assert robot.run("hi").text == "fine"
    assert robot.budgets[0].used[:2] == (150, 0.0)


def test_made_up_answers_cost_nothing_and_count() -> None:
    robot = rl.build("b", config={"cost_budget": 0.0, "call_budget": 2})
    robot.run("hi")
    robot.run("hi")
    with pytest.raises(rl.BudgetExceeded, match="calls"):
        robot.run("hi")


def test_a_fallback_without_a_price_is_refused_like_any_other_model() -> None:
    with ModelServer([Reply.error(401)]) as one, ModelServer([]) as other:
        models = [one.model("gpt-4o-mini"), other.model("nobody")]
        robot = rl.build("b", model=models[0], config={"fallback": models[1], "cost_budget": 1.0})
        with pytest.raises(rl.ConfigurationError, match="openai/nobody"):
            robot.run("hi")


# -- time --------------------------------------------------------------------------------------


@pytest.mark.parametrize("streaming", [False, True])
def test_when_the_time_is_up_the_call_under_way_is_stopped(streaming: bool) -> None:
    slow = Reply.text("word " * 500, pause=0.05) if streaming else fine().after(30)
    began = time.monotonic()
    with ModelServer([slow]) as server:
        robot = bot(server, time_budget=0.5)
        with pytest.raises(rl.BudgetExceeded, match=r"of 0\.5 seconds used") as caught:
            robot.run("hi", on_content=(lambda text: None) if streaming else None)
        assert time.monotonic() - began < 5
        assert [g["dimension"] for g in guards(caught.value.run)] == ["seconds"]
        with pytest.raises(rl.BudgetExceeded, match="seconds"):
            robot.run("again")
        assert len(server.requests) == 1
    assert robot.budgets[0].reserved.calls == 0


# -- side by side ------------------------------------------------------------------------------


def test_a_hundred_runs_side_by_side_pass_a_limit_by_no_more_than_is_under_way() -> None:
    """Prompt and max_tokens are known: as many are under way as there is room for."""
    budget = Budget(tokens=3_000)
    most = [0.0]

    def script(request: Any) -> Reply:
        most[0] = max(most[0], budget.reserved.calls)
        return Reply.text("fine", usage={"prompt_tokens": 10, "completion_tokens": 90}, delay=0.01)

    with ModelServer(script=script) as server:
        robots = [bot(server, budget=budget, max_tokens=90) for _ in range(100)]
        runs = [robot.start("hi") for robot in robots]
        ends = []
        for run in runs:
            try:
                ends.append(run.result().text)
            except rl.BudgetExceeded:
                ends.append("refused")
        asked = len(server.requests)
    assert ends.count("fine") == asked
    # 100 tokens each, about 97 reserved: thirty fit, whoever comes first.
    assert 29 <= asked <= 31
    assert budget.used.tokens == 100 * asked
    assert budget.used.tokens <= 3_000 + 100
    assert 1 < most[0] <= 31
    assert budget.reserved == (0, 0.0, 0.0, 0)


def test_a_run_that_only_waits_for_others_is_not_refused() -> None:
    """Estimates are far above what is used: all are served, a few at a time."""
    budget = Budget(tokens=2_000)
    with ModelServer([Reply.text("ok", usage={"prompt_tokens": 5, "completion_tokens": 5})],
                     repeat=True) as server:  # fmt: skip
        robots = [bot(server, budget=budget, max_tokens=900) for _ in range(40)]
        runs = [robot.start("hi") for robot in robots]
        assert [run.result().text for run in runs] == ["ok"] * 40
    assert budget.used.tokens == 400


def test_a_robot_inside_a_run_is_charged_to_both_once() -> None:
    outer, shared = Budget(tokens=10_000, name="outer"), Budget(tokens=10_000, name="shared")
    with ModelServer([fine()] * 3) as server:
        inner = bot(server, budget=shared)

        def ask_other(text: str) -> str:
            """Ask the other robot."""
            return str(inner.run(text))

        calls = Reply.tool_call("ask_other", {"text": "x"}, usage=USAGE)
        with ModelServer([calls, fine()]) as above:
            robot = bot(above, budget=[outer, shared], tools=[ask_other])
            robot.run("hi")
        inner.run("alone")
        inner.run("alone")
    assert outer.used.tokens == 450
    assert shared.used.tokens == 750
    assert shared.used.calls == 5


def test_where_nobody_knows_how_long_answers_get_few_are_under_way_at_once() -> None:
    budget = Budget(tokens=2_500)
    most = [0.0]

    def script(request: Any) -> Reply:
        most[0] = max(most[0], budget.reserved.calls)
        return Reply.text("ok", usage={"prompt_tokens": 5, "completion_tokens": 5}, delay=0.005)

    with ModelServer(script=script) as server:
        runs = [bot(server, budget=budget).start("hi") for _ in range(30)]
        assert [run.result().text for run in runs] == ["ok"] * 30
    assert 1 <= most[0] <= 3


def test_a_tool_gets_no_more_time_than_the_budget_has_left():
    async def dawdle() -> str:
        """Dawdle."""
        await asyncio.sleep(30)
        return "late"

    steps = [ScriptedModel.tool_call("dawdle", {}), "done"]
    tool = rl.tool(timeout=20)(dawdle)
    bot = rl.build("b", model=ScriptedModel(steps), tools=[tool], time_budget=0.5)
    began = time.monotonic()
    with pytest.raises(rl.BudgetExceeded):
        bot.run("x")
    assert time.monotonic() - began < 10
