"""What is different between two runs, of networks and of robots."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.testing import ModelServer


def says(answer, name="bob", **more):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer), **more)


def letter(answer="Dear Ada, it is fine.", system="Be kind.", extra=False):
    net = rl.create_network("letter")
    net.task("look", lambda message: {"seen": message})
    net.task("write", says(answer, system_prompt=system), depends_on=["look"])
    if extra:
        net.task("check", lambda upstream: len(str(upstream)), depends_on=["write"])
    return net


def test_two_equal_runs_do_not_differ():
    a, b = letter().run("x"), letter().run("x")
    found = rl.diff(a, b)
    assert not found
    assert found.changed == ()
    assert [row["change"] for row in found.rows] == ["same", "same"]
    assert found.input is None
    assert found.config == {}
    assert found.definitions == {}
    assert "no difference" in repr(found)


def test_texts_tasks_inputs_and_definitions_are_compared():
    a = letter().run("x")
    b = letter("Dear Bob, it is fine.", system="Be short.", extra=True).run("y")
    found = rl.diff(a, b)
    assert found
    assert found.changed == ("look", "write", "check")
    changes = {row["task"]: (row["change"], row["what"]) for row in found.rows}
    assert changes == {
        "look": ("changed", ["text", "result"]),
        "write": ("changed", ["text", "definition"]),
        "check": ("added", []),
    }
    assert found.input == ("x", "y")
    assert found.definitions == {"write": ("its prompt",)}
    assert found.text("write") == "Dear [-Ada,-] {+Bob,+} it is fine."
    back = rl.diff(b, a)
    assert [row["change"] for row in back.rows] == ["changed", "changed", "removed"]
    told = repr(found)
    assert "letter" in told
    assert "3 of 3 differ" in told
    assert "added" in told
    assert "its prompt" in told
    assert "write" in told
    html = found._repr_html_()
    assert html
    assert "[−Ada,−]" in html
    assert "[+Bob,+]" in html


def test_failures_are_told_with_what_was_wrong():
    def build(fails):
        net = rl.create_network("n")
        net.task("work", lambda message: 1 / 0 if fails else "fine")
        return net

    row = rl.diff(build(False).run("x"), build(True).run("x")).rows[0]
    assert (row["status_a"], row["status_b"]) == ("completed", "failed")
    assert row["text_b"] == "division by zero"


def test_what_is_restored_counts_as_what_it_was():
    net = letter()
    first = net.run("x")
    found = rl.diff(first, net.rerun(first, "write"))
    assert not found
    assert found.rows[0]["status_b"] == "completed"


def test_costs_and_models_stand_side_by_side():
    with ModelServer(["yes", "no"]) as server:
        results = []
        for name in ("gpt-4o-mini", "gpt-4o"):
            net = rl.create_network("n")
            net.task("ask", rl.build("bob", model=server.model(name)))
            results.append(net.run("x"))
    row = rl.diff(*results).rows[0]
    assert (row["model_a"], row["model_b"]) == ("openai/gpt-4o-mini", "openai/gpt-4o")
    assert 0 < row["cost_usd_a"] < row["cost_usd_b"]
    assert row["what"] == ["text", "model", "definition"]
    frame = rl.diff(*results).frame
    assert frame["what"].tolist() == ["text, model, definition"]
    assert frame["cost_usd_a"].dtype == "Float64" == rl.diff(results[0], results[0]).frame[
        "cost_usd_b"
    ].dtype  # fmt: skip


def test_two_runs_of_robots_are_compared_by_settings_and_words():
    a = says("roses are red", temperature=0.1).run("a poem")
    b = says("roses are blue", temperature=0.9).run("a poem")
    found = rl.diff(a, [event.to_dict() for event in b.events])
    assert found.config["temperature"] == (0.1, 0.9)
    assert found.text() == "roses are [-red-] {+blue+}"
    assert found.rows[0]["task"] == "bob"
    assert "temperature: 0.1 → 0.9" in repr(found)


def test_a_run_and_a_file_can_be_compared(tmp_path):
    net = letter()
    run = net.start("x")
    run.result()
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(e.to_dict()) + "\n" for e in run.events))
    assert not rl.diff(run, path)


def test_what_cannot_be_compared_is_refused():
    result = letter().run("x")
    with pytest.raises(rl.InputError, match="a network is not compared with one of a robot"):
        rl.diff(result, result["write"])
    with pytest.raises(rl.InputError, match="has no events"):
        rl.diff(result, 7)
    with pytest.raises(rl.InputError, match="Did you mean 'write'"):
        rl.diff(result, result).words("wriet")


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_words_of_a_comparison_are_both_texts(a, b):
    from robotlab_nb.network.differing import _words

    words = list(_words(a, b))
    assert "".join(w.text for w in words if w.kind != "added") == a
    assert "".join(w.text for w in words if w.kind != "removed") == b


def test_what_was_restored_has_not_changed_its_model() -> None:
    ready: list[bool] = []

    def check(message: str) -> str:
        if not ready:
            raise ValueError("not yet")
        return "fine"

    net = rl.create_network("net")
    net.task("a", rl.build("ann", model=rl.SimulatedModel(["A"])))
    net.task("b", check, depends_on=["a"])
    first = net.run("x")
    ready.append(True)
    rows = {row["task"]: row["change"] for row in rl.diff(first, net.resume(first)).rows}
    assert rows == {"a": "same", "b": "changed"}
