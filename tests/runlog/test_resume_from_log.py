"""Going on from the log after a process was killed: what is finished is not asked again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.runtime import recording
from robotlab_nb.testing import ModelServer, Reply
from tests.runlog.killed_resuming import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="module")
def nursery() -> Iterator[Any]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.runlog.killed_resuming"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def run(**job: Any) -> int:
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        return int(process.stdout.readline())

    yield run
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def named(request: Any) -> str:
    """Which request it is: by its task or item, and how many tools have answered."""
    asked = next(m["content"] for m in request.messages if m["role"] == "user")
    tools = sum(m["role"] == "tool" for m in request.messages)
    return str(asked.partition(":")[0]) + ("+" if tools else "")


def answer(request: Any) -> Reply:
    name = named(request)
    if name == "tool":
        made = Reply.tool_calls(("look_up", {"word": "pip"}))
    else:
        made = Reply.text(f"({name})")
    return made.after(0.3)


def latest(place: str) -> Any:
    with rl.open_log(place) as log:
        run = log.where(network="orchard", kind="network").runs()[0]
        return run, run.state


def finished(state: Any) -> set[str]:
    """The requests of what the log knows to be finished."""
    found: set[str] = set()
    for task in state.tasks.values():
        done = task.status in ("completed", "restored")
        if task.name == "each":
            items = [i for i, item in task.items.items() if item.status == "completed"]
            found |= {f"item {name}" for n, name in enumerate(
                ["apple", "pear", "plum", "fig"]) if done or n in items}  # fmt: skip
        elif done:
            found |= {task.name, f"{task.name}+"}
    return found


PLANS = [
    ("before a request", 2, "before a request", 2),
    ("request in flight", 2, "request in flight", 3),
    ("after the response", 2, "after the response", 1),
    ("between tasks", 1, "between tasks", 1),
    ("in a tool", 1, "in a tool", 1),
    ("in a map item", 2, "in a map item", 3),
]


def test_every_point_is_tried() -> None:
    assert {plan[0] for plan in PLANS} == {plan[2] for plan in PLANS} == set(POINTS)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan[0])
def test_resume_wire_count(nursery: Any, tmp_path: Path, plan: tuple[str, int, str, int]) -> None:
    place = str(tmp_path / "log.sqlite")
    kills = [plan[:2], plan[2:], ("", 0)]
    resume, safe, asked, before = "", set[str](), Counter[str](), None
    cut: Counter[str] = Counter()  # how often something was asked for and not finished
    with ModelServer(script=answer) as server:
        for point, number in kills:
            code = nursery(
                place=place, url=server.base_url, resume=resume[:8], point=point, number=number
            )
            assert code == (-signal.SIGKILL if point else 0)
            now = Counter(map(named, server.requests))
            assert all(now[name] == asked[name] for name in safe), "a finished one was asked again"
            run, state = latest(place)
            if before is not None:
                assert state.info["resumed_from"] == resume
                for name, task in before.tasks.items():
                    goes_on = state.tasks[name].started_s is not None
                    begun = task.started_s is not None and task.status != "completed"
                    if goes_on and task.status != "restored":
                        assert state.tasks[name].possibly_repeated == begun
            safe, asked, resume, before = finished(state), now, run.id, state
            cut.update(name for name in now if name not in safe)
    assert state.status == "completed"
    assert set(asked) == {"plan", *(f"item {i}" for i in ("apple", "pear", "plum", "fig")),
                          "tool", "tool+", "end"}  # fmt: skip
    assert all(times <= 1 + cut[name] for name, times in asked.items()), (asked, cut)
    print(plan[0], {k: v for k, v in asked.items() if v > 1})


# -- without kills ---------------------------------------------------------------------------


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        yield rl.log
        rl.log.flush(30)
    recording.look()


def counted(fails: list[Any]) -> tuple[Any, list[Any]]:
    done: list[Any] = []

    def work(item: Any) -> str:
        done.append(item)
        if item in fails:
            raise ValueError(item)
        return f"did {item}"

    net = rl.create_network("rows")
    net.task("each", work, map_over=["a", "b", "c", "d"], on_item_failure="fail", concurrency=1)
    return net, done


def test_the_items_of_a_map_that_failed_are_not_done_again(log: Any) -> None:
    fails = ["b"]
    net, done = counted(fails)
    result = net.run("go")
    assert result.status == "failed"
    run_id = result.state.scope.run_id
    fails.clear()
    done.clear()
    again, done = counted([])
    found = again.resume(run_id)
    assert done == ["b"]
    assert found["each"].values == [f"did {item}" for item in "abcd"]
    items = found.state.tasks["each"].items
    assert [items[n].restored_from for n in range(4)] == [run_id, None, run_id, run_id]
    assert not items[0].live


def test_an_item_that_is_another_now_is_done(log: Any) -> None:
    net, _ = counted(["d"])
    run_id = net.run("go").state.scope.run_id
    done: list[str] = []
    other = rl.create_network("rows")
    other.task("each", lambda item: done.append(item) or item, map_over=["a", "x", "c", "d"],
               on_item_failure="fail", concurrency=1)  # fmt: skip
    with pytest.raises(rl.ConfigurationError, match="changed since they were finished: 'each'"):
        other.resume(run_id)
    found = other.resume(run_id, changed="keep")
    assert done == ["x", "d"]
    assert found["each"].values == ["did a", "x", "did c", "d"]
    done.clear()
    assert other.resume(run_id, changed="rerun")["each"].values == ["a", "x", "c", "d"]


def test_items_that_robots_did_are_kept_through_two_resumptions(log: Any) -> None:
    asked: list[str] = []

    def say(request: Any) -> Any:
        text = request.messages[-1].text
        asked.append(text)
        if text in broken:
            raise ValueError("down")
        return f"<{text}>"

    broken = {"b", "c"}
    model = rl.SimulatedModel(say)
    net = rl.create_network("rows")
    net.task("each", rl.build("bot", model=model), map_over=["a", "b", "c"], concurrency=1,
             on_item_failure="fail")  # fmt: skip
    first = net.run("go")
    assert first.status == "failed"
    broken = {"c"}
    second = net.resume(first.state.scope.run_id)
    assert second.status == "failed"
    broken = set()
    third = net.resume(second.state.scope.run_id)
    assert third["each"].values == ["<a>", "<b>", "<c>"]
    assert asked.count("a") == 1
    assert third["each"][0].text == "<a>"
    assert third.state.tasks["each"].items[0].restored_from == first.state.scope.run_id


def test_a_robot_goes_on_by_id_or_by_its_run_in_the_log(log: Any) -> None:
    steps = [("ask_user", {"question": "Which size?"}), "ordered"]
    model = rl.SimulatedModel(steps)
    waiting = rl.build("shop", model=model, tools=[rl.ask_user]).run("shoes")
    run = waiting._run
    with pytest.raises(rl.InputError, match="still goes on: it is waiting"):
        rl.build("shop").resume(run.id)
    run.cancel()
    for source in (run.id[:7], log[run.id]):
        again = rl.build("shop", model=rl.SimulatedModel(["ordered"]), tools=[rl.ask_user])
        result = again.resume(source, answers={"Which size?": "L"})
        assert result.text == "ordered"
        assert result.state.info["resumed_from"] == run.id


def test_what_cannot_be_gone_on_from_says_why(log: Any, tmp_path: Path) -> None:
    with pytest.raises(rl.InputError, match="no run 'abcdef123456'"):
        rl.build("bob").resume("abcdef123456")
    with rl.options(log_content=False):
        net = rl.create_network("quiet")
        net.task("one", lambda message: 1 / 0)
        run_id = net.run("secret plans").state.scope.run_id
        log.flush(30)
    with pytest.raises(rl.InputError, match="recorded without its texts"):
        net.resume(run_id)
    with rl.options(log=None), pytest.raises(rl.InputError, match="runs are not kept"):
        net.resume(run_id)
