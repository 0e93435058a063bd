"""Pass rates, means and differences: known values, honest about few answers and about repeats."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.errors import InputError
from robotlab_nb.lab.cell import Cell
from robotlab_nb.lab.differences import difference_of
from robotlab_nb.lab.intervals import (
    Pairs,
    difference,
    effective_size,
    mean_interval,
    paired_difference,
    student,
    wilson,
)
from robotlab_nb.lab.pass_rates import pass_rates
from robotlab_nb.lab.scored import scores_table, summary_table

if TYPE_CHECKING:
    from collections.abc import Sequence


def near(*values: float) -> Any:
    return pytest.approx(values, abs=6e-4)


# -- known values --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    [
        # Newcombe 1998 (two-sided intervals for the single proportion), table I, method 3
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0000, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_wilsons_interval(passed: int, of: int, low: float, high: float) -> None:
    assert wilson(passed, of) == near(low, high)
    assert wilson(of - passed, of) == near(1 - high, 1 - low)


def test_of_nothing_nothing_is_known() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    assert difference((0, 0), (3, 4)) == (0.0, -1.0, 1.0)
    assert paired_difference(Pairs(0, 0, 0, 0)) == (0.0, -1.0, 1.0)
    assert all(math.isnan(each) for each in mean_interval([]))
    middle, low, high = mean_interval([4.0])
    assert middle == 4.0
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        # Newcombe 1998 (independent proportions), table II, method 10
        ((56, 70), (48, 80), (0.2, 0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.6, 0.1705, 0.8090)),
        ((5, 56), (0, 29), (0.0893, -0.0381, 0.1926)),
        ((10, 10), (0, 10), (1.0, 0.6075, 1.0)),
    ],
)
def test_the_difference_of_two_shares(first: Any, second: Any, found: Any) -> None:
    assert difference(first, second) == near(*found)


@pytest.mark.parametrize(
    ("pairs", "found"),
    [
        # Newcombe 1998 (paired data), table II, method 10; then where no pair differs
        ((36, 12, 2, 0), (0.2, 0.0569, 0.3404)),
        ((20, 12, 2, 16), (0.2, 0.0562, 0.3292)),
        ((0, 0, 0, 50), (0.0, -0.0713, 0.0713)),
    ],
)
def test_the_difference_of_pairs(pairs: Any, found: Any) -> None:
    assert paired_difference(Pairs(*pairs)) == near(*found)


def test_students_t() -> None:
    known = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 9: 2.262, 10: 2.228, 29: 2.045, 120: 1.980}
    for freedom, value in known.items():
        assert student(freedom) == pytest.approx(value, abs=6e-4)
    assert student(10, 0.99) == pytest.approx(3.169, abs=6e-4)
    assert student(5_000) == pytest.approx(1.960, abs=6e-4)


@pytest.mark.parametrize("wrong", [0.0, 1.0, 95.0, 1, "x"])
def test_what_is_no_confidence(wrong: Any) -> None:
    with pytest.raises(InputError, match="confidence"):
        wilson(1, 2, wrong)


counts = st.integers(0, 60)


@given(counts, counts, counts, counts)
def test_intervals_hold_their_figure_and_stay_inside(a: int, b: int, c: int, d: int) -> None:
    low, high = wilson(a, a + b)
    assert 0 <= low <= (a / (a + b) if a + b else 0.5) <= high <= 1
    for gap, below, above in (
        difference((a, a + b), (c, c + d)),
        paired_difference(Pairs(a, b, c, d)),
    ):
        assert -1 - 1e-9 <= below <= gap + 1e-9
        assert gap <= above + 1e-9 <= 1 + 2e-9


@given(counts, counts, counts, counts)
def test_a_difference_turned_round_is_the_same_with_the_other_sign(
    a: int, b: int, c: int, d: int
) -> None:
    one, two = difference((a, a + b), (c, c + d)), difference((c, c + d), (a, a + b))
    assert one == pytest.approx((-two[0], -two[2], -two[1]))
    here, there = paired_difference(Pairs(a, b, c, d)), paired_difference(Pairs(a, c, b, d))
    assert here == pytest.approx((-there[0], -there[2], -there[1]))


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0]), min_size=1, max_size=8), max_size=12))
def test_repeats_are_worth_something_between_inputs_and_answers(groups: list[list[float]]) -> None:
    size = effective_size(groups)
    answers = sum(map(len, groups))
    assert min(len(groups), answers) - 1e-9 <= size <= answers + 1e-9


def test_the_interval_holds_the_true_rate_about_as_often_as_it_says() -> None:
    random.seed(7)
    for true in (0.5, 0.9):
        held = 0
        for _ in range(2_000):
            passed = sum(random.random() < true for _ in range(12))
            low, high = wilson(passed, 12)
            held += low <= true <= high
        assert 0.92 <= held / 2_000 <= 0.99


def test_repeats_alone_do_not_make_an_interval_narrow() -> None:
    random.seed(7)

    def held(count_inputs: bool) -> float:
        good = 0
        for _ in range(400):
            # Six inputs, each always right or always wrong, and asked ten times.
            easy = [float(random.random() < 0.6) for _ in range(6)]
            groups = [[each] * 10 for each in easy]
            size = effective_size(groups) if count_inputs else 60.0
            low, high = wilson(sum(easy) / 6 * size, size)
            good += low <= 0.6 <= high
        return good / 400

    assert held(True) > 0.85
    assert held(False) < 0.6, "the test would not see repeats that were counted as inputs"


# -- cells ---------------------------------------------------------------------------------------


def cell(
    index: int,
    scores: Sequence[rl.Score] = (),
    *,
    prompt: str = "p",
    model: str = "m",
    input: str = "i",
    repeat: int = 0,
    status: str = "completed",
    **more: Any,
) -> Cell:
    return Cell(
        index, f"k{index}", prompt, model, input, repeat=repeat, status=status,
        scores=tuple(scores), **more,
    )  # fmt: skip


def grid(table: dict[str, str], *, name: str = "ok") -> list[Cell]:
    """A prompt's answers to inputs in order: ``+`` passed, ``-`` failed, ``?`` undecided, ``!``
    an evaluator that failed, ``x`` no answer."""
    cells = []
    for prompt, marks in table.items():
        for number, mark in enumerate(marks):
            score = {
                "+": rl.Score(name, passed=True), "-": rl.Score(name, passed=False),
                "?": rl.Score(name, label="inconsistent"),
                "!": rl.Score(name, error={"type": "ValueError", "message": "no"}),
            }.get(mark)  # fmt: skip
            cells.append(
                cell(
                    len(cells), [score] if score else [], prompt=prompt, input=f"i{number}",
                    status="failed" if mark == "x" else "completed",
                )
            )  # fmt: skip
    return cells


def test_only_what_was_decided_counts_and_the_rest_is_told() -> None:
    (rate,) = pass_rates(grid({"p": "++-?!x+"}))
    assert (rate.judged, rate.passed, rate.rate) == (4, 3, 0.75)
    assert (rate.low, rate.high) == wilson(3, 4)
    assert (rate.undecided, rate.errors, rate.unanswered, rate.inputs) == (1, 1, 1, 4)
    assert repr(rate) == "<ok, p × m: 3 of 4 passed, 75% (30% to 95%)>"


def test_the_lowest_rate_comes_first() -> None:
    cells = grid({"good": "+++", "bad": "---", "middling": "+-+"})
    assert [rate.group["prompt"] for rate in pass_rates(cells)] == ["bad", "middling", "good"]
    none = grid({"silent": "xxx", "good": "+++"})
    assert [rate.group["prompt"] for rate in pass_rates(none)] == ["good", "silent"]
    assert pass_rates(none)[1].rate is None
    assert "nothing judged" in repr(pass_rates(none)[1])


def test_by_any_axis() -> None:
    cells = [
        cell(n, [rl.Score("ok", passed=model == "big")], prompt=prompt, model=model, input=asked,
             params={"temperature": heat})
        for n, (prompt, model, asked, heat) in enumerate(
            (p, m, i, t) for p in "ab" for m in ("big", "small") for i in "xyz" for t in (0, 1)
        )
    ]  # fmt: skip
    by_model = {r.group["model"]: r.rate for r in pass_rates(cells, "model")}
    assert by_model == {"big": 1.0, "small": 0.0}
    assert [r.group for r in pass_rates(cells, ["temperature"])] == [
        {"temperature": 0}, {"temperature": 1},
    ]  # fmt: skip
    assert len(pass_rates(cells)) == 8
    assert pass_rates(cells, ())[0].judged == 24
    assert len(pass_rates(cells, "input")) == 3
    with pytest.raises(InputError, match="Did you mean 'model'"):
        pass_rates(cells, "modl")
    with pytest.raises(InputError, match="no score 'okay'"):
        pass_rates(cells, score="okay")
    assert pass_rates([]) == []


def test_repeats_widen_the_interval_to_what_the_inputs_tell() -> None:
    alike = [
        cell(n, [rl.Score("ok", passed=n % 4 < 2)], input=f"i{n % 4}", repeat=n // 4)
        for n in range(40)
    ]
    (rate,) = pass_rates(alike)
    assert (rate.judged, rate.passed, rate.inputs) == (40, 20, 4)
    assert (rate.low, rate.high) == wilson(2, 4)
    one = [cell(n, [rl.Score("ok", passed=n < 15)], repeat=n) for n in range(20)]
    (rate,) = pass_rates(one)
    assert (rate.low, rate.high) == wilson(15, 20), "an input's repeats are all that there is"


def test_means_of_values_count_each_input_once() -> None:
    cells = [
        cell(n, [rl.Score("tone", value)], input=asked, repeat=n)
        for n, (asked, value) in enumerate([("a", 5), ("a", 5), ("a", 5), ("b", 1), ("c", 3)])
    ]
    (rate,) = pass_rates(cells)
    assert rate.rate is None
    assert (rate.mean, rate.mean_low, rate.mean_high) == pytest.approx(mean_interval([5, 1, 3]))
    assert rate.undecided == 0
    (alone,) = pass_rates(cells[-1:])
    assert (alone.mean, alone.mean_low) == (3.0, None)
    assert repr(alone) == "<tone, p × m: mean 3>"


def test_ratings_are_a_score_like_others() -> None:
    cells = [cell(0, rating=5), cell(1, rating=2, note="dull", input="j"), cell(2, input="k")]
    (rate,) = pass_rates(cells)
    assert (rate.score, rate.mean, rate.inputs) == ("rating", 3.5, 2)
    table = scores_table(cells)
    assert table["reason"].tolist()[1] == "dull"


def test_what_is_made_up_is_said() -> None:
    cells = [cell(0, [rl.Score("a", passed=True, simulated=True), rl.Score("b", passed=True)])]
    assert [r.simulated for r in pass_rates(cells)] == [True, False]
    assert all(r.simulated for r in pass_rates([cell(0, [rl.Score("a", 1)], simulated=True)]))
    assert not difference_of(grid({"a": "+", "b": "-"}), "a", "b").simulated
    made_up = [
        *grid({"a": "+"}),
        cell(1, [rl.Score("ok", passed=False, simulated=True)], input="i0"),
    ]
    found = difference_of(made_up, "a", "p")
    assert found.simulated
    assert "simulated" in repr(found)
    assert "simulated" in str(found._repr_html_())


# -- differences ---------------------------------------------------------------------------------


def test_two_variants_are_compared_in_pairs() -> None:
    cells = grid({"a": "+++++-", "b": "++---+"})
    found = difference_of(cells, "a", "b")
    assert (found.both, found.only_a, found.only_b, found.neither) == (2, 3, 1, 0)
    assert (found.gap, found.low, found.high) == paired_difference(Pairs(2, 3, 1, 0))
    assert (found.paired, found.judged, found.inputs, found.left_out) == (True, 6, 6, 0)
    assert found.told == "neither"
    assert "no difference can be told" in repr(found)


def test_pairs_tell_more_than_two_rates_side_by_side() -> None:
    hard = "-" * 30 + "+" * 30
    cells = grid({"a": hard[:22] + "+" * 8 + hard[30:], "b": hard})
    found = difference_of(cells, "a", "b")
    assert found.told == "a"
    assert difference((38, 60), (30, 60))[1] < 0, "the two rates alone would do"


def test_what_has_no_partner_is_left_out_and_counted() -> None:
    found = difference_of(grid({"a": "++?x-", "b": "+-+++"}), "a", "b")
    assert (found.judged, found.left_out) == (3, 2)


def test_repeats_of_pairs_are_not_new_inputs() -> None:
    def cells(repeats: int) -> list[Cell]:
        return [
            cell(n, [rl.Score("ok", passed=prompt == "a" or asked > 2)], prompt=prompt,
                 input=f"i{asked}", repeat=repeat)
            for n, (prompt, asked, repeat) in enumerate(
                (p, i, r) for p in "ab" for i in range(6) for r in range(repeats)
            )
        ]  # fmt: skip

    once, often = difference_of(cells(1), "a", "b"), difference_of(cells(20), "a", "b")
    assert often.judged == 120
    assert (once.low, once.high) == pytest.approx((often.low, often.high))


def test_models_are_compared_across_prompts_and_inputs() -> None:
    cells = [
        cell(n, [rl.Score("ok", passed=model == "big" or asked == "x")], prompt=prompt,
             model=model, input=asked)
        for n, (prompt, model, asked) in enumerate(
            (p, m, i) for p in "ab" for m in ("big", "small") for i in "xyz"
        )
    ]  # fmt: skip
    found = difference_of(cells, {"model": "big"}, {"model": "small"})
    assert (found.judged, found.inputs, found.only_a) == (6, 3, 4)
    only = difference_of(cells, {"model": "big", "prompt": "a"}, {"model": "small", "prompt": "b"})
    assert only.judged == 3


def test_without_common_inputs_nothing_is_paired() -> None:
    cells = [
        cell(n, [rl.Score("ok", passed=n < 9 or 10 <= n < 13)], prompt="ab"[n >= 10], input=f"i{n}")
        for n in range(20)
    ]
    found = difference_of(cells, "a", "b")
    assert not found.paired
    assert (found.gap, found.low, found.high) == difference((9, 10), (3, 10))
    assert (found.judged, found.told) == (20, "a")


def test_values_are_compared_by_their_differences() -> None:
    cells = [
        cell(n, [rl.Score("tone", value)], prompt=prompt, input=f"i{asked}")
        for n, (prompt, asked, value) in enumerate(
            [("a", 0, 4), ("a", 1, 5), ("a", 2, 3), ("b", 0, 3), ("b", 1, 3), ("b", 2, 2)]
        )
    ]
    found = difference_of(cells, "a", "b")
    assert (found.gap, found.low, found.high) == pytest.approx(mean_interval([1, 2, 1]))
    assert (found.rate_a, found.rate_b) == (4.0, pytest.approx(8 / 3))


def test_nothing_to_compare_is_said() -> None:
    cells = [*grid({"a": "+", "b": "!"})]
    found = difference_of(cells, "a", "b")
    assert found.gap is None
    assert "nothing to compare" in repr(found)
    assert found.told == "neither"


def test_what_cannot_be_compared_is_named() -> None:
    cells = grid({"terse": "+", "long": "-"})
    two = [cell(0, [rl.Score("x", 1), rl.Score("y", 1)]), cell(1, [], prompt="q")]
    for wrong, said in (
        (("terse", "terse"), "same variant"),
        (("tersse", "long"), "Did you mean 'terse'"),
        (({"prmpt": "a"}, "long"), "Did you mean 'prompt'"),
        (({}, "long"), "named by a prompt"),
    ):
        with pytest.raises(InputError, match=said):
            difference_of(cells, *wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="which score is meant"):
        difference_of(two, "p", "q")
    with pytest.raises(InputError, match="no score 'z'"):
        difference_of(two, "p", "q", score="z")


# -- tables --------------------------------------------------------------------------------------


def test_failures_come_first_in_the_table_of_scores() -> None:
    cells = grid({"p": "+?-!+-"})
    table = scores_table(cells)
    assert table["result"].tolist() == [
        "failed", "failed", "error", "undecided", "passed", "passed",
    ]  # fmt: skip
    assert table["index"].tolist() == [2, 5, 3, 1, 0, 4]
    assert table["error"].tolist()[2] == "no"


def test_tables_keep_their_types_also_without_rows() -> None:
    full = [cell(0, [rl.Score("a", 1, True)], params={"temperature": 0.5, "deep": True, "n": 1})]
    for cells in (full, []):
        scores = scores_table(cells)
        assert str(scores["value"].dtype) == "Float64"
        assert str(scores["passed"].dtype) == "boolean"
        rates = summary_table(pass_rates(cells), ())
        assert {str(rates[name].dtype) for name in ("rate", "low", "mean")} == {"Float64"}
    assert [str(scores_table(full)[n].dtype) for n in ("temperature", "deep", "n", "prompt")] == [
        "Float64", "boolean", "Int64", "string",
    ]  # fmt: skip


def test_an_axis_called_like_a_column_is_kept_beside_it() -> None:
    cells = [cell(0, [rl.Score("a", 1)], params={"value": "high"})]
    table = scores_table(cells)
    assert (table["axis_value"][0], table["value"][0]) == ("high", 1.0)
