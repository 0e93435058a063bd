"""What looks at answers: functions, texts, patterns, shapes; what becomes of those that fail."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, field_validator

import robotlab_nb as rl
from robotlab_nb.core.errors import ConfigurationError, InputError
from robotlab_nb.core.json import canonical
from robotlab_nb.lab.evaluating import as_evaluator, as_evaluators
from robotlab_nb.lab.scores import scores_of
from robotlab_nb.runtime.run import current_run

if TYPE_CHECKING:
    from pathlib import Path


def only(found: Any) -> rl.Score:
    assert isinstance(found, rl.Score), found
    return found


# -- what functions give back --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "value", "passed", "label", "reason"),
    [
        (True, None, True, None, None),
        (False, None, False, None, None),
        (3, 3.0, None, None, None),
        (0.25, 0.25, None, None, None),
        ("formal", None, None, "formal", None),
        ({"value": 2, "passed": True, "reason": "so"}, 2.0, True, None, "so"),
        ((False, "too long"), None, False, None, "too long"),
        ((0.5, "half"), 0.5, None, None, "half"),
        (rl.Score(value=1, label="win"), 1.0, None, "win", None),
    ],
)
def test_a_function_gives_a_score(
    given: Any, value: Any, passed: Any, label: Any, reason: Any
) -> None:
    score = only(rl.evaluator(lambda output: given, name="it")("q", "a"))
    assert (score.name, score.value, score.passed, score.label, score.reason) == (
        "it", value, passed, label, reason,
    )  # fmt: skip
    assert score.error is None


def test_a_function_gives_several_scores() -> None:
    several = rl.evaluator(lambda output: {"tone": 0.9, "rude": False}, name="style")("q", "a")
    assert [(s.name, s.number) for s in several] == [("style.tone", 0.9), ("style.rude", 0.0)]

    def listed(output: str) -> Any:
        yield rl.Score("words", len(output.split()))
        yield rl.Score("ok", passed=True)

    assert [s.name for s in as_evaluator(listed)("q", "two words")] == ["listed.words", "listed.ok"]


def test_numbers_of_numpy_and_others_are_numbers() -> None:
    np = pytest.importorskip("numpy")
    from decimal import Decimal
    from fractions import Fraction

    assert only(as_evaluator(lambda o: np.bool_(True))("q", "a")).passed is True
    for number in (np.float32(0.5), np.int64(2), Decimal("0.5"), Fraction(1, 2)):
        assert only(as_evaluator(lambda o, n=number: n)("q", "a")).value == float(number)


@pytest.mark.parametrize(
    "given",
    [
        None, float("nan"), float("inf"), [], {}, [1, 2], object(), {"value": "x"},
        {"passed": "yes"}, [rl.Score("a", 1), rl.Score("a", 2)], {str(n): n for n in range(51)},
    ],
)  # fmt: skip
def test_what_is_no_score_is_an_error_and_not_raised(given: Any) -> None:
    score = only(as_evaluator(lambda output: given, "odd")("q", "a"))
    assert score.error is not None
    assert score.error["type"] == "InputError"
    assert (score.passed, score.value, score.name) == (None, None, "odd")


def test_a_forgotten_return_is_said() -> None:
    score = only(as_evaluator(lambda output: None, "odd")("q", "a"))
    assert score.error is not None
    assert "forget to return" in score.error["hint"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(json_values)
def test_whatever_comes_is_scores_or_an_error_of_ours(value: Any) -> None:
    try:
        found = scores_of("x", value)
    except InputError:
        return
    for score in found:
        assert score.name == "x" or score.name.startswith("x.")
        canonical(score.to_dict())
        assert rl.Score.from_dict(score.to_dict()) == score


def test_a_threshold_makes_a_number_pass() -> None:
    close = rl.evaluator(lambda output: len(output) / 10, name="long", passes=0.5)
    assert only(close("q", "12345")).passed is True
    assert only(close("q", "1234")).passed is False
    assert only(rl.evaluator(lambda output: True, passes=0.5)("q", "a")).passed is True


# -- what functions are given --------------------------------------------------------------------


def test_parameters_are_filled_by_name_or_by_place() -> None:
    def by_place(question: str, answer: str, right: str) -> Any:
        return (True, f"{question}|{answer}|{right}")

    def by_name(expected: str, output: str) -> Any:
        return (True, f"{output}|{expected}")

    def one(answer: str) -> Any:
        return (True, answer)

    def more(output: str, *, cell: Any = None, strict: bool = False) -> Any:
        return (True, f"{output}|{cell}|{strict}")

    def reason(function: Any) -> str | None:
        return only(as_evaluator(function)("q", "a", "e")).reason

    assert reason(by_place) == "q|a|e"
    assert reason(by_name) == "a|e"
    assert reason(one) == "a"
    assert reason(more) == "a|None|False"
    assert reason(partial(by_place, "fixed")) == "fixed|q|a"
    assert reason(lambda *found: (True, "|".join(found))) == "q|a"
    assert only(as_evaluator(len)("q", "four")).value == 4
    assert only(as_evaluator(str.isdigit)("q", "12")).passed is True


@pytest.mark.parametrize(
    "thing",
    [
        lambda: True, lambda a, b, c, d: True, lambda a, *, strange: True, 5, None, "be polite",
        object(),
    ],
)  # fmt: skip
def test_what_cannot_judge_is_refused_at_once(thing: Any) -> None:
    with pytest.raises(ConfigurationError):
        as_evaluator(thing)


def test_a_bare_text_is_told_what_it_may_have_meant() -> None:
    with pytest.raises(ConfigurationError, match=r"rl\.contains.*rl\.matches.*rl\.judge"):
        as_evaluators(["Paris"])


def test_names_are_told_apart() -> None:
    assert [e.name for e in as_evaluators([len, len, rl.equals(), len])] == [
        "len", "len 2", "equals", "len 3",
    ]  # fmt: skip
    assert [e.name for e in as_evaluators({"short": len, "right": rl.equals()})] == [
        "short", "right",
    ]  # fmt: skip
    assert as_evaluators(None) == ()
    assert [e.name for e in as_evaluators(len)] == ["len"]


# -- functions that fail -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [ValueError("no"), KeyboardInterrupt(), SystemExit(3), StopIteration(), GeneratorExit()],
)
def test_a_function_that_raises_leaves_a_score_that_says_so(error: BaseException) -> None:
    def bad(output: str) -> bool:
        raise error

    async def bad_async(output: str) -> bool:
        if isinstance(error, GeneratorExit):
            raise ValueError("no")
        raise error

    for function in (bad, bad_async):
        score = only(as_evaluator(function, "bad")("q", "a"))
        assert score.error is not None
        assert score.error["message"]
        assert score.passed is None
    assert only(rl.equals()("q", "a", "a")).passed is True, "the loop was ended"


def test_where_a_function_failed_is_told() -> None:
    def wrong(output: str) -> float:
        return 1 / output.count("!")

    error = only(as_evaluator(wrong)("q", "a")).error
    assert error is not None
    assert 'return 1 / output.count("!")' in error["traceback"]
    assert "running.py" not in error["traceback"], "frames of this package stand before it"


def test_a_function_that_takes_too_long_is_left() -> None:
    go = threading.Event()

    def slow(output: str) -> bool:
        return go.wait(60)

    async def slow_async(output: str) -> bool:
        await asyncio.sleep(60)
        return True

    for function in (slow, slow_async):
        score = only(rl.evaluator(function, timeout=0.05)("q", "a"))
        assert score.error is not None
        assert score.error["type"] == "AwaitTimeout"
        assert "took longer than 0.05 s" in score.error["message"]
    go.set()
    for wrong in (0, -1, "1"):
        with pytest.raises(ConfigurationError):
            rl.evaluator(slow, timeout=wrong)  # type: ignore[call-overload]


def test_sync_functions_run_in_a_thread_and_async_ones_on_the_loop() -> None:
    threads: list[Any] = []

    def sync(output: str) -> bool:
        threads.append(threading.current_thread())
        return True

    async def on_loop(output: str) -> bool:
        threads.append(threading.current_thread())
        return True

    as_evaluator(sync)("q", "a")
    as_evaluator(on_loop)("q", "a")
    assert threads[0] is not threads[1]
    assert threading.current_thread() not in threads


def test_a_robot_that_a_function_asks_is_inside_the_run_that_goes_on() -> None:
    seen: list[Any] = []

    def asks(output: str) -> Any:
        seen.append(current_run())
        return rl.build("helper", model=rl.SimulatedModel(["yes"])).run(output).text == "yes"

    async def work() -> Any:
        run = current_run()
        found = await as_evaluator(asks).score("q", "a")
        return run, found

    net = rl.create_network("around")
    net.task("score", work)
    result = net.run("go", show=False)
    run, found = result["score"].value
    assert found[0].passed is True
    assert seen[0] is run
    assert [child.scope.robot for child in result.state.children.values()] == ["helper"]


async def test_stopping_is_not_a_score() -> None:
    async def endless(output: str) -> bool:
        await asyncio.sleep(60)
        return True

    task = asyncio.ensure_future(as_evaluator(endless).score("q", "a"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


# -- texts, patterns, shapes ---------------------------------------------------------------------


def test_words_in_an_answer() -> None:
    both = rl.contains("red", "Green")
    assert only(both("q", "red Green blue")).passed is True
    assert only(both("q", "red green")).reason == "it lacks 'Green'"
    assert only(rl.contains("red", "Green", any_of=True)("q", "red")).passed is True
    assert only(rl.contains("STRASSE", ignore_case=True)("q", "Straße")).passed is True
    assert only(rl.lacks("sorry", ignore_case=True)("q", "Sorry, no")).passed is False
    assert only(rl.lacks("sorry")("q", "Sorry, no")).passed is True
    for wrong in ((), ("",), (5,)):
        for make in (rl.contains, rl.lacks):
            with pytest.raises(ConfigurationError):
                make(*wrong)


def test_patterns() -> None:
    assert only(as_evaluator(re.compile(r"\bno\b", re.I))("q", "Well, NO.")).passed is True
    assert only(rl.matches("[0-9]+", whole=True)("q", " 42 ")).passed is True
    assert only(rl.matches("[0-9]+", whole=True)("q", "42 or so")).passed is False
    assert only(rl.matches("paris", ignore_case=True)("q", "PARIS")).passed is True
    for wrong in ("(", re.compile(b"x"), 5):
        with pytest.raises(ConfigurationError, match="no regular expression"):
            rl.matches(wrong)  # type: ignore[arg-type]


def test_the_right_answer() -> None:
    assert only(rl.equals()("q", " 42\n", 42)).passed is True
    assert only(rl.equals("Paris")("q", "paris")).passed is False
    assert only(rl.equals()("q", {"a": 1}, {"a": 1})).passed is True
    missing = only(rl.equals()("q", "a"))
    assert missing.error is not None
    assert "column 'expected'" in missing.error["hint"]


class Order(BaseModel):
    """An order."""

    item: str
    count: int

    @field_validator("count")
    @classmethod
    def _positive(cls, value: int) -> int:
        if value == 13:
            raise RuntimeError("the validator itself failed")
        if value < 1:
            raise ValueError("at least one")
        return value


def test_shapes() -> None:
    fits = as_evaluator(Order)
    assert fits.name == "fits Order"
    assert only(fits("q", '{"item": "pen", "count": 2}')).passed is True
    assert only(fits("q", '```json\n{"item": "pen", "count": 2}\n```')).passed is True
    assert only(fits("q", Order(item="pen", count=2))).passed is True
    assert "at least one" in str(only(fits("q", '{"item": "pen", "count": 0}')).reason)
    assert "no JSON" in str(only(fits("q", 'Here: {"item": "pen", "count": 2}')).reason)
    assert "more than once" in str(only(fits("q", '{"item": "pen", "item": "x"}')).reason)
    deep = only(fits("q", "[" * 100_000 + "]" * 100_000))
    assert (deep.passed, deep.error) == (False, None)
    broken = only(fits("q", '{"item": "pen", "count": 13}'))
    assert broken.passed is None
    assert broken.error is not None
    schema = {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}
    (by_schema,) = as_evaluators([schema])
    assert only(by_schema("q", '{"city": "Paris"}')).passed is True
    assert only(by_schema("q", '{"city": 5}')).passed is False
    with pytest.raises(ConfigurationError):
        as_evaluator({"type": "nonsense"})


# -- scores --------------------------------------------------------------------------------------


def test_a_score_says_what_it_is() -> None:
    assert repr(rl.Score("a", 0.5, True, "so\nlong")) == "<score a: passed, 0.5, so long>"
    failed = rl.Score("a", error={"type": "ValueError", "message": "no"})
    assert repr(failed) == "<score a: no score, ValueError: no>"
    assert rl.Score("a", passed=True).number == 1.0
    assert rl.Score("a").number is None
    with pytest.raises(InputError):
        rl.Score("a", "high")  # type: ignore[arg-type]
    with pytest.raises(InputError):
        rl.Score("a", passed="yes")  # type: ignore[arg-type]
    with pytest.raises(InputError):
        rl.Score(5)  # type: ignore[arg-type]
    later = {**rl.Score("a", 1).to_dict(), "confidence": 0.9}
    assert rl.Score.from_dict(later) == rl.Score("a", 1)


# -- fingerprints --------------------------------------------------------------------------------


def fingerprints(modules: list[str], folder: Path) -> list[list[dict[str, str]]]:
    """Those of the evaluators in each of some modules, made in a process of its own."""
    for number, code in enumerate(modules):
        (folder / f"judges_{number}.py").write_text(code, "utf-8")
    tell = (
        "import importlib, json, sys\n"
        "from robotlab_nb.lab.evaluating import as_evaluators\n"
        "found = [importlib.import_module(f'judges_{n}').EACH for n in range(int(sys.argv[1]))]\n"
        "print(json.dumps([[dict(e.fingerprint) for e in as_evaluators(f)] for f in found]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", tell, str(len(modules))],
        capture_output=True, text=True, timeout=120, check=True, cwd=folder,
    )  # fmt: skip
    made: list[list[dict[str, str]]] = json.loads(done.stdout)
    return made


MODULE = """
import re, functools
import robotlab_nb as rl
from pydantic import BaseModel

WORDS = 12

class Order(BaseModel):
    item: str

def short(output, most=12):
    return len(output) < most

def made(most):
    return lambda output: len(output) < most

EACH = [short, made(3), functools.partial(short, most=5), rl.evaluator(short, passes=0.5),
        rl.contains("a"), re.compile("a"), Order, {"type": "integer"}, rl.equals(),
        rl.judge("Is it good?", model="openai/gpt-5-mini"),
        rl.judge("x", model="openai/a", scale=5)]
"""


def test_fingerprints_are_the_same_in_every_process_and_change_with_what_decides(
    tmp_path: Path,
) -> None:
    changes = {
        "len(output) < most\n\ndef": ("len(output) <= most\n\ndef", {0, 2, 3}),
        "made(3)": ("made(4)", {1}),
        "most=5": ("most=6", {2}),
        "passes=0.5": ("passes=0.6", {3}),
        'contains("a")': ('contains("b")', {4}),
        'compile("a")': ('compile("a", re.I)', {5}),
        "item: str": ("item: int", {6}),
        '"integer"': ('"number"', {7}),
        "equals()": ("equals(5)", {8}),
        "Is it good?": ("Is it bad?", {9}),
        "openai/a": ("openai/b", {10}),
        "scale=5": ("scale=6", {10}),
    }
    assert all(old in MODULE for old in changes)
    edited = [MODULE.replace(old, new, 1) for old, (new, _) in changes.items()]
    (before,) = fingerprints([MODULE], tmp_path)
    again, *after = fingerprints([MODULE, *edited], tmp_path)
    assert again == before
    assert len({canonical(each) for each in before}) == len(before), "two are alike"
    for (old, (_, places)), now in zip(changes.items(), after, strict=True):
        assert {n for n, (a, b) in enumerate(zip(before, now, strict=True)) if a != b} == places, (
            old
        )
