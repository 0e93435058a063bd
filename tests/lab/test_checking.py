"""Checks: what they take, what they say, and where they stop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.lab.checked_code import check_code
from robotlab_nb.lab.checking import collected

if TYPE_CHECKING:
    from robotlab_nb.lab.checking import Check


def answer(text: str, **more: Any) -> Any:
    return rl.build("guide", model=rl.SimulatedModel([text]), **more).run("Capital of France?")


def test_the_text_of_a_result_is_checked_and_what_was_asked_is_known() -> None:
    seen: list[Any] = []

    def looks(input: str, output: str) -> bool:
        seen.append((input, output))
        return True

    made = rl.check(answer("Paris."), looks, rl.contains("Paris"))
    assert made
    assert seen == [("Capital of France?", "Paris.")]
    assert made.name == "looks, contains Paris"


def test_a_network_a_shape_and_a_plain_value_are_answers_too() -> None:
    class City(BaseModel):
        """A city."""

        name: str

    shaped = answer('{"name": "Paris"}', output=City)
    assert rl.check(shaped, lambda output: output.name == "Paris", name="named")
    net = rl.create_network("n")
    net.task("t", rl.build(model=rl.SimulatedModel(["Paris."])))
    assert rl.check(net.run("hi"), rl.contains("Paris"))
    assert rl.check({"a": 1}, {"type": "object", "required": ["a"]})
    assert rl.check("Paris", expected="Paris")


def test_outside_a_notebook_a_failed_check_raises_and_says_what_came() -> None:
    with pytest.raises(rl.CheckFailed, match="'names Paris' failed.*lacks 'Paris'.*Lyon") as caught:
        rl.check(answer("Lyon."), rl.contains("Paris"), name="names Paris")
    assert isinstance(caught.value, AssertionError)
    assert caught.value.check is not None
    assert caught.value.check.place[0] == __file__
    made = rl.check(answer("Lyon."), rl.contains("Paris"), stop=False)
    assert not made
    with pytest.raises(rl.CheckFailed):
        made.assert_passed()


def test_every_evaluator_must_pass_and_give_a_verdict() -> None:
    made = rl.check("Paris", rl.contains("Paris"), len, stop=False)
    assert not made
    assert made.reasons == ("len gives 5 and no verdict",)

    def broken(output: str) -> bool:
        raise ZeroDivisionError("oh")

    made = rl.check("Paris", broken, stop=False)
    assert "ZeroDivisionError: oh" in made.reasons[0]


def test_a_condition_is_a_check() -> None:
    import numpy as np

    assert rl.check(np.bool_(1 < 2), name="less")
    assert not rl.check(2 < 1, stop=False)
    with pytest.raises(rl.InputError, match="nothing to check 'Paris' by"):
        rl.check("Paris")
    with pytest.raises(rl.ConfigurationError, match="name is a text"):
        rl.check(True, name=3)  # type: ignore[arg-type]


def test_the_picture_says_what_was_expected_and_what_came() -> None:
    hostile = "<script>alert(1)</script> Lyon"
    made = rl.check(hostile, name="<b>", expected="Paris", stop=False)
    for picture in (repr(made), made._repr_html_() or ""):
        for word in ("failed", "✕", "Paris", "Lyon", "expected"):
            assert word in picture
    assert "<script>" not in (made._repr_html_() or "")
    assert "<b>" not in (made._repr_html_() or "").split("</style>")[1]


@pytest.mark.parametrize(
    ("source", "passed", "why"),
    [
        ("'Paris' in answer", True, ""),
        ("'Rome' in answer", False, "'Rome' in answer is False"),
        ("assert 'Paris' in answer", True, ""),
        ("x = 1\nassert x == 2", False, "x == 2"),
        ("assert False, 'too short'", False, "too short"),
        ("answer.nothing", False, "AttributeError"),
        ("rl.check(answer, rl.contains('Paris'))", True, ""),
        ("rl.check(answer, rl.contains('Rome'))", False, "lacks 'Rome'"),
        ("{'passed': False, 'reason': 'no'}", False, "no"),
    ],
)
def test_a_cell_of_code_is_a_check(source: str, passed: bool, why: str) -> None:
    with collected() as found:
        made = check_code("c", source, {"answer": "Paris.", "rl": rl})
    assert made.passed is passed
    assert why in "; ".join(made.reasons)
    assert made in found


def test_a_cell_without_a_name_or_without_code_is_a_mistake() -> None:
    with pytest.raises(rl.InputError, match="a check has a name"):
        check_code(" ", "True", {})
    with pytest.raises(rl.InputError, match="nothing to check"):
        check_code("c", "# later", {})


def test_whoever_gathers_checks_gets_them_all() -> None:
    def make() -> list[Check]:
        with collected() as found:
            rl.check(False, name="no"), rl.check(True, name="yes")
        return found

    assert [(c.name, c.passed) for c in make()] == [("no", False), ("yes", True)]
