"""The picture of an experiment: every state whole, failures first, and large grids bounded."""

from __future__ import annotations

import re
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.readings import ShownList
from robotlab_nb.display.grid_facts import grid_facts, tally
from robotlab_nb.display.grid_words import figures, score_bits
from robotlab_nb.display.page import page
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.lab.cell import Cell
from robotlab_nb.lab.evaluating import Score
from tests.display import experiment_samples as lab
from tests.display.test_sanitiser import in_order, words_left
from tests.display.trees import body_of, flat, tree_of, words_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

STATES = lab.many()


@pytest.mark.parametrize("name", STATES)
def test_whole_pictures(name: str, snapshot: SnapshotAssertion) -> None:
    assert body_of(html(STATES[name])).replace("><", ">\n<") == snapshot(name="html")
    assert text(STATES[name]) == snapshot(name="text")
    assert markdown(STATES[name]) == snapshot(name="markdown")


def test_with_styles_and_folds_away_it_still_reads_in_order() -> None:
    """As GitHub shows it: the experiment, what it came to, then each input with its answers."""
    assert in_order(
        words_left(lab.an_experiment()),
        "complaints", "experiment · 2 prompts × 2 inputs", "✓ completed",
        "✓ 3 completed", "✕ 1 failed", "1 from earlier", "$0.0014", "3 rated",
        "model: openai/gpt-5-mini",
        "column", "answered", "short", "polite", "rating",
        "v1", "2 of 2", "1 of 2, 50%", "★ 3.0 of 2", "v2", "1 of 2",
        "rows with failures first", "input", "v1", "v2",
        "double charge", "A second charge", "1.4 s · 90 tokens · $0.0008", "✓ short passed 14",
        "✕ polite failed: no apology", "★★☆☆☆ rated 2 of 5",
        "✕ failed", "RateLimitError · rate limit (429) · Wait 20 s and run again.",
        "late parcel", "I am sorry that", "rated 4 of 5", "I am sorry: send", "from earlier",
        "rated 5 of 5 · note: warm, and short",
        "Prompts", "Answer the complaint: {{ text }}", "Inputs", "I was charged twice.",
        "experiment.frame",
    )  # fmt: skip


def test_an_experiment_that_stopped_says_why_first_and_how_it_goes_on() -> None:
    told = words_left(lab.stopped())
    assert in_order(
        told, "stopped early", "ten cells in a row failed: no such key", "10 of 16 cells finished",
        "run the cell again: what is finished is not asked again", "✕ 10 failed", "↷ 6 not asked",
        "ModelError · no such key", "↷ not asked",
    )  # fmt: skip
    assert "simulated" not in told


def test_one_that_goes_on_says_what_it_was_planned_to_take() -> None:
    told = words_left(lab.running())
    assert in_order(told, "◐ running", "○ 1 to come", "planned: 4 calls", "about $0.0123",
                    "prices of litellm", "○ pending", "◐ running")  # fmt: skip


def test_repeats_stand_in_one_place_and_only_what_was_made_up_is_called_so() -> None:
    thing = lab.repeated()
    table = tree_of(body_of(html(thing))).findall(".//table")[-1]
    heads = [flat(words_of(each)) for each in table.findall("./thead/tr/th")]
    assert heads == [
        "input", "openai/gpt-5-mini · temperature 0.1", "simulated/rules · temperature 0.9",
    ]  # fmt: skip
    real, made_up = [flat(words_of(cell)) for cell in table.findall(".//td")[:2]]
    assert in_order(real, "1. about rain, 0", "1.2 s", "2. about rain, 1", "1.3 s")
    assert "simulated" not in real
    assert made_up.count("simulated") == 2
    alike = lab.experiment_of([lab.a_cell(n, simulated=True, of=f"i{n}") for n in range(3)])
    assert words_left(alike).count("simulated") == 1, "once for all, in the head"


def test_a_thousand_cells_make_a_bounded_picture_that_says_what_it_leaves_out() -> None:
    for thing in (
        lab.large(), lab.large(text="<$&>\n" * 5_000, columns=10), lab.large(columns=1_000),
        lab.large(5_000, columns=50), lab.large(columns=1),
    ):  # fmt: skip
        drawn = html(thing)
        assert len(drawn.encode()) <= 2_000_000
        assert "could not be drawn" not in drawn
        assert "more left out here" not in drawn, "the picture measures itself"
        lines = text(thing).split("\n")
        assert len(lines) <= 40
        assert max(map(len, lines)) <= 96
        assert len(markdown(thing)) <= 2_000_000
    thing = lab.large(text="<$&>" * 500, columns=10)
    shown = len(tree_of(body_of(html(thing))).findall(".//table")[-1].findall("./tbody/tr"))
    left = 100 - shown
    assert 0 < left < 70
    assert f"… {left} more inputs" in words_left(thing)


def test_every_row_with_a_failure_comes_before_those_without() -> None:
    thing = lab.large(400, failing=100)
    rows = tree_of(body_of(html(thing))).findall(".//table")[-1].findall("./tbody/tr")
    bad = ["✕ short failed: too long" in flat(words_of(row)) for row in rows]
    assert bad == sorted(bad, reverse=True)
    assert sum(bad) == 4


def test_a_large_grid_is_drawn_in_a_time_that_grows_with_its_cells() -> None:
    """Generous, and timed in the same run: a picture that looked at all pairs would not pass."""

    def took(cells: int) -> float:
        thing = lab.large(cells)
        html(thing)
        began = perf_counter()
        html(thing)
        return perf_counter() - began

    assert took(1_000) < 60 * took(100)


def test_a_cell_shows_its_whole_answer_and_all_that_is_known_of_it() -> None:
    cell = lab.a_cell(text="word " * 300 + "END", columns={"text": "A parcel", "expected": "sorry"},
                      scores=(Score("short", passed=False, reason="too long"),), rating=3,
                      note="long-winded", params={"temperature": 0.2})  # fmt: skip
    told = words_left(cell)
    assert in_order(
        told, "word word", "END", "✓ completed", "prompt: v1", "model: openai/gpt-5-mini",
        "input: late parcel", "temperature: 0.2", "1.2 s · 88 tokens", "rated 3 of 5",
        "long-winded", "✕ short failed: too long", "Input", "A parcel", "expected", "sorry",
    )  # fmt: skip
    failed = lab.settled()[3]
    assert in_order(words_left(failed), "✕ failed", "rate limit (429)", "Wait 20 s", "prompt: v2")
    listed = text(ShownList(lab.settled()))
    assert listed.startswith("4 cells")
    assert "✕ failed" in listed


def test_figures_never_turn_what_is_unknown_into_nothing() -> None:
    def told(**more: Any) -> str:
        return figures(lab.a_cell(**more)).replace("\u00a0", " ")

    assert told(cost_usd=None) == "1.2 s · 88 tokens · cost unknown"
    assert told(cost_complete=False) == "1.2 s · 88 tokens · at least $0.0006"
    assert told(simulated=True, cost_usd=None) == "1.2 s · 88 tokens"
    assert told(cached=True) == "from earlier · 1.2 s · 88 tokens · $0.0006"
    assert figures(Cell(0, "", "p", "m", "i")) == ""
    unknown = tally([lab.a_cell(0), lab.a_cell(1, cost_usd=None)])
    assert (unknown.cost_usd, unknown.complete) == (0.0006, False)
    assert tally([lab.a_cell(0, cached=True)]).cost_usd is None, "paid once, not again"


def test_scores_say_in_words_what_their_marks_say() -> None:
    error = {"message": "the judge was silent"}
    scores = (
        Score("short", passed=True, value=14), Score("polite", passed=False, reason="rude"),
        Score("tone", value=0.25), Score("rank", label="win", simulated=True),
        Score("judge", error=error),
    )  # fmt: skip
    found = [f"{icon} {words}" for icon, words, _ in score_bits(lab.a_cell(scores=scores))]
    assert found == [
        "✓ short passed 14", "✕ polite failed: rude", "· tone 0.25", "· rank win (simulated)",
        "⊘ judge gave no score: the judge was silent",
    ]  # fmt: skip


def test_columns_are_named_by_what_tells_them_apart() -> None:
    cells = [
        Cell(n, "", prompt, model, "i", {"heat": heat, "top": 1})
        for n, (prompt, model, heat) in enumerate(
            (p, m, h) for p in ("a", "b") for m in ("x", "y") for h in (0, 1)
        )
    ]
    facts = grid_facts(cells)
    assert [c.name for c in facts.columns][:3] == ["a · x · heat 0", "a · x · heat 1",
                                                   "a · y · heat 0"]  # fmt: skip
    assert facts.same == (("top", "1"),)
    assert facts.size == "2 prompts × 2 models × 2 heats × 1 input"
    assert [c.name for c in grid_facts(cells[:1]).columns] == ["a"]


def test_its_page_stands_alone() -> None:
    made = str(page(lab.an_experiment()))
    assert "<h1>complaints</h1>" in made
    assert "<script" not in made
    assert re.search(r"<details open><summary><span>Inputs", made)
