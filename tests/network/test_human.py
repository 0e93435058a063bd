"""A person as a member of a network."""

from __future__ import annotations

import asyncio
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.state import RunState


def says(answer, name="robot", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer, **more))


def letter(**human):
    net = rl.create_network("letter")
    net.task("draft", says("Dear Ada"))
    net.task("check", rl.Human("editor", **human), depends_on=["draft"],
             prompt="Send this? {{ upstream }}")  # fmt: skip
    net.task("send", lambda upstream: f"sent: {upstream}", depends_on=["check"])
    net.task("beside", lambda: "done")
    return net


def test_a_network_waits_for_a_person_and_goes_on_with_the_answer():
    waiting = letter().run("x")
    assert waiting.status == "waiting"
    asked = waiting.pending[0]
    assert (asked.text, asked.robot, asked.task) == ("Send this? Dear Ada", "editor", "check")
    assert waiting["beside"].value == "done", "other tasks go on"
    with pytest.raises(rl.RunWaiting, match="Send this"):
        _ = waiting.text
    with pytest.raises(rl.TaskNotRun):
        waiting["check"]
    done = waiting.answer("as it is")
    assert done.status == "completed"
    assert done["check"].text == "as it is"
    assert done["send"].value == "sent: as it is"
    assert RunState.fold(done.events) == done.state
    with pytest.raises(rl.InputError, match="asks nothing: its run is completed"):
        done.answer("again")


def test_answers_may_be_given_beforehand_by_the_tasks_name():
    result = letter().run("x", config={"answers": {"check": "yes"}})
    assert result["check"].text == "yes"
    told = next(e for e in result.events if e.type == "hitl.answered")
    assert told.data["by"] == "scripted"
    kept = letter()
    kept = rl.create_network("n", tasks=list(kept.tasks.values()), answers={"ch*": "by glob"})
    assert kept.run("x")["check"].text == "by glob"


def test_choices_and_defaults_are_those_of_any_question():
    net = letter(choices=["send", "drop"], default="drop")
    waiting = net.run("x")
    with pytest.raises(rl.InputError, match="none of the choices"):
        waiting.answer("maybe")
    assert waiting.answer("1")["check"].text == "send"
    assert net.run("x").answer("")["check"].text == "drop"


def test_nobody_answers_in_time():
    failed = letter(timeout=0.05).run("x")
    while failed.status == "waiting":
        time.sleep(0.01)
        failed = failed._run.result() if failed._run.done else failed
    assert failed.errors["check"]["type"] == "AwaitTimeout"
    assert "editor did not answer within 0.05 s" in failed.errors["check"]["message"]
    assert failed.state.tasks["send"].status == "blocked"
    run = letter(timeout=0.05, default="as it is").start("x")
    while not run.done:
        time.sleep(0.01)
    assert run.result()["check"].text == "as it is"


def test_several_people_are_answered_by_the_names_of_their_tasks():
    net = rl.create_network("n", concurrency=1)
    for name in ("ann", "bob"):
        net.task(name, rl.Human(name))
    net.task("both", lambda upstream: str(upstream), depends_on=["ann", "bob"])
    net.task("beside", lambda: "done")
    waiting = net.run("go?")
    assert waiting["beside"].value == "done", "people take no slot from others"
    assert len(waiting.pending) == 2
    with pytest.raises(rl.InputError, match="2 questions"):
        waiting.answer("yes")
    half = waiting.answer({"bob": "no"})
    assert (half.status, half["bob"].text) == ("waiting", "no")
    assert half.answer("yes")["both"].value == "ann:\nyes\n\nbob:\nno"


def test_a_person_inside_a_network_inside_has_the_whole_wait():
    outer = rl.create_network("outer")
    outer.task("letter", letter())
    outer.task("beside", says("kept"))
    waiting = outer.run("x")
    assert waiting.status == "waiting"
    assert waiting["beside"].text == "kept"
    assert waiting.answer({"check": "fine"})["letter"]["send"].value == "sent: fine"


def test_a_person_waits_in_async_code_too():
    async def main():
        waiting = await letter().arun("x")
        assert waiting.status == "waiting"
        waiting._run.answer("later")
        return await waiting._run

    assert asyncio.run(main())["check"].text == "later"


def test_a_person_routes():
    net = rl.create_network("n")
    net.task("sort", rl.Human("clerk", choices=["a", "b"]), route=lambda r: r.text)
    net.task("a", lambda: "went to a", optional=True, depends_on=["sort"])
    net.task("b", lambda: "went to b", optional=True, depends_on=["sort"])
    assert net.run("x").answer("b").value == "went to b"


def test_stop_takes_the_question_back():
    run = letter().start("x")
    assert run.result().status == "waiting"
    run.stop()
    assert run.status == "interrupted"
    assert run.pending == ()
    assert run.state.tasks["check"].status == "interrupted"
    with pytest.raises(rl.InputError):
        run.answer("late")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"name": " "}, "a person's name"),
        ({"choices": "yes"}, "not a list of texts"),
        ({"choices": ["a"], "default": "b"}, "none of the choices"),
    ],
)
def test_what_no_person_can_be_is_refused(options, told):
    with pytest.raises(rl.ConfigurationError, match=told):
        rl.Human(**options)


def test_a_person_says_who_they_are():
    assert repr(rl.Human("ann", choices=["y"])) == "Human('ann', choices=['y'])"
