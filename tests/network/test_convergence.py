"""A gate between tasks: who reconciles is asked only while the others do not agree."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.core.event_data import EVENT_TYPES
from robotlab_nb.core.state import RunState

DUPLICATE = "The second charge is a duplicate: refund it in full."
OTHER = "Ask the customer for the invoice of the order first."


def says(answer, name):
    return rl.build(name, model=rl.SimulatedModel([answer]))


def review(one, other, *, when):
    """Two analysts, and a third who reconciles them where that is needed."""
    net = rl.create_network("review")
    net.task("first", says(one, "first"))
    net.task("second", says(other, "second"))
    net.task("reconcile", says("We agree by now.", "third"), depends_on=["first", "second"],
             when=when)  # fmt: skip
    return net


def looks(result):
    return [dict(e.data) for e in result.events if e.type == "guard.convergence"]


def test_the_reconciler_is_skipped_when_two_analysts_agree():
    gate = ~rl.convergence_gate("first", "second")
    agreed = DUPLICATE.replace("refund it in full", "in full, refund it")
    result = review(DUPLICATE, agreed, when=gate).run("Charged twice!")
    assert result.status == "completed"
    assert result.state.tasks["reconcile"].status == "skipped"
    assert looks(result) == [{"score": 1.0, "threshold": 0.85, "converged": True, "texts": 2}]


def test_the_reconciler_is_asked_when_they_differ():
    result = review(DUPLICATE, OTHER, when=~rl.convergence_gate("first", "second")).run("x")
    assert result["reconcile"].text == "We agree by now."
    (look,) = looks(result)
    assert look["converged"] is False
    assert look["score"] == 0.0


def test_without_the_sign_a_task_runs_when_all_agree():
    result = review(DUPLICATE, DUPLICATE, when=rl.convergence_gate(threshold=1)).run("x")
    assert result.state.tasks["reconcile"].status == "completed"
    result = review(DUPLICATE, OTHER, when=rl.convergence_gate(threshold=1)).run("x")
    assert result.state.tasks["reconcile"].status == "skipped"


def test_what_was_found_is_in_the_runs_record_and_in_its_state():
    result = review(DUPLICATE, OTHER, when=rl.convergence_gate()).run("x")
    (event,) = (e for e in result.events if e.type == "guard.convergence")
    assert event.scope.run_id == result.state.scope.run_id
    assert set(event.data) == set(EVENT_TYPES[event.type].__annotations__)
    assert event in result.state.notes
    assert RunState.fold(result.events) == result.state


def test_a_task_that_did_not_run_said_nothing_and_one_text_alone_has_not_converged():
    net = rl.create_network("n")
    net.task("first", lambda: DUPLICATE)
    net.task("second", lambda: 1 / 0, on_failure="continue")
    net.task("third", lambda: DUPLICATE)
    net.task("both", lambda: "", depends_on=["first", "second"],
             when=rl.convergence_gate("first", "second"))  # fmt: skip
    net.task("any", lambda: "", depends_on=["first", "second", "third"],
             when=rl.convergence_gate("first", "second", "third"))  # fmt: skip
    result = net.run("x")
    assert [result.state.tasks[name].status for name in ("both", "any")] == ["skipped", "completed"]
    assert {look["texts"]: look["score"] for look in looks(result)} == {1: None, 2: 1.0}


def test_a_loop_around_a_network_ends_when_its_tasks_agree():
    drafts = iter([OTHER, DUPLICATE, "never asked"])
    pair = rl.create_network("pair")
    pair.task("writer", lambda: next(drafts))
    pair.task("critic", lambda: DUPLICATE)
    net = rl.create_network("n")
    gate = rl.convergence_gate("writer", "critic")
    net.task("settle", pair, loop=rl.Loop(until=gate))
    result = net.run("x")
    assert [look["converged"] for look in looks(result)] == [False, True]
    assert result["settle"].met
    assert len(result["settle"].turns) == 2


def test_what_failed_within_said_nothing():
    pair = rl.create_network("pair")
    pair.task("writer", lambda: 1 / 0, on_failure="continue")
    pair.task("critic", lambda: "")
    assert rl.convergence_gate("writer", "critic")(pair.run("x")) is False


def test_a_single_result_is_nothing_to_compare():
    net = rl.create_network("n")
    net.task("draft", lambda: DUPLICATE, loop=rl.Loop(until=rl.convergence_gate()))
    told = net.run("x").errors["draft"]
    assert told["message"].endswith("compares results of tasks, not a TaskResult")
    assert "must be a network" in told["hint"]


def test_a_task_that_is_not_upstream_is_an_error_of_that_task():
    net = review(DUPLICATE, OTHER, when=rl.convergence_gate("first", "secnd"))
    result = net.run("x")
    told = result.errors["reconcile"]
    assert (
        told["message"] == "a convergence gate compares 'secnd', which is not upstream of its task"
    )
    assert told["hint"].startswith("Did you mean 'second'?")


def test_a_gate_answers_outside_a_run_too():
    gate = rl.convergence_gate("a", "b", threshold=0.6)
    assert gate({"a": "Refund it.", "b": "refund it"}) is True
    assert (~gate)({"a": "Refund it.", "b": "refund it"}) is False
    assert (~~gate)({"a": "yes", "b": "no"}) is False
    assert repr(~gate) == "~convergence_gate('a', 'b', threshold=0.6)"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("first",), "compares different tasks, not 'first'"),
        (("first", "first"), "compares different tasks, not 'first', 'first'"),
        (("first", ""), "compares tasks by name, not ''"),
        ((["first", "second"],), "compares tasks by name, not"),
    ],
)
def test_names_that_make_no_sense_are_refused(names, said):
    with pytest.raises(rl.ConfigurationError, match=said):
        rl.convergence_gate(*names)
    with pytest.raises(rl.InputError, match="is no score"):
        rl.convergence_gate(threshold=85)
