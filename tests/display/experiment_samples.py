"""Experiments made by hand, in every state: for pictures and for the grid."""

from __future__ import annotations

from typing import Any

from robotlab_nb.lab.cell import Cell
from robotlab_nb.lab.estimate import Estimate
from robotlab_nb.lab.evaluating import Score
from robotlab_nb.lab.experiment import Experiment
from robotlab_nb.lab.state import ExperimentState

__all__ = [
    "a_cell", "an_experiment", "experiment_of", "large", "many", "repeated", "running", "settled",
    "stopped",
]  # fmt: skip

PROMPTS = {"v1": "Answer the complaint: {{ text }}", "v2": "Answer it in one sentence: {{ text }}"}
INPUTS = {
    "late parcel": "My parcel is six days late and nobody answers.",
    "double charge": "I was charged twice.",
}
ANSWERS = {
    ("v1", "late parcel"): "I am sorry that your parcel is late. Please send the tracking number.",
    ("v2", "late parcel"): "I am sorry: send me the number, and I will check today.",
    ("v1", "double charge"): "A second charge is a reservation.\n\n- It lapses by itself.\n- Wait.",
    ("v2", "double charge"): "One of them will be paid back.",
}


def experiment_of(
    cells: list[Cell], status: str = "completed", *, name: str = "complaints", **more: Any
) -> Experiment:
    """An experiment of these cells, as if its events had told them."""
    state = ExperimentState("e1")
    state.name, state.status, state.cells = name, status, cells
    state.estimate = Estimate(len(cells), len(cells), 0, 0.0123, "prices of litellm")
    for key, value in more.items():
        setattr(state, key, value)
    return Experiment(state)


def a_cell(index: int = 0, prompt: str = "v1", of: str = "late parcel", **more: Any) -> Cell:
    """A cell that was answered."""
    told: dict[str, Any] = {
        "status": "completed", "text": ANSWERS.get((prompt, of), f"{prompt} {of}"),
        "run_id": f"r{index}", "duration_s": 1.2 + index / 10, "input_tokens": 70 + index,
        "output_tokens": 18, "cost_usd": 0.0006 + index / 10_000, **more,
    }  # fmt: skip
    return Cell(index, f"k{index}", prompt, told.pop("model", "openai/gpt-5-mini"), of, **told)


def settled() -> list[Cell]:
    """Two prompts and two inputs: scored, rated, one from earlier, one failed."""
    short = Score("short", passed=True, value=14, reason="14 words")
    polite = Score("polite", passed=False, reason="no apology")
    error = {
        "type": "RateLimitError", "message": "rate limit (429)", "hint": "Wait 20 s and run again.",
    }  # fmt: skip
    return [
        a_cell(0, scores=(short, Score("polite", passed=True)), rating=4),
        a_cell(1, "v2", scores=(short, Score("polite", passed=True)), cached=True, rating=5,
               note="warm, and short"),
        a_cell(2, of="double charge", scores=(short, polite), rating=2),
        a_cell(3, "v2", "double charge", status="failed", text=None, error=error, cost_usd=None,
               input_tokens=None, output_tokens=None),
    ]  # fmt: skip


def an_experiment(word: str | None = None) -> Experiment:
    """An experiment that has ended; a word stands wherever others could have put it."""
    if word is None:
        return experiment_of(settled(), prompts=PROMPTS, inputs=INPUTS)
    error = {"type": word, "message": word, "hint": word}
    score = Score(word or "score", passed=False, reason=word, label=word)
    cells = [
        a_cell(0, word, word, text=word, scores=(score,), note=word, rating=3, model=word,
               params={word: word}, columns={word: word}, expected=word),
        a_cell(1, f"{word} 2", word, status="failed", text=None, error=error, model=word,
               params={word: word}, scores=(Score("x", error=error),)),
    ]  # fmt: skip
    return experiment_of(
        cells, "stopped", name=word, reason=word, prompts={word: f"{word} {word}"},
        inputs={word: f"{word} {word}"}, error=error,
    )  # fmt: skip


def running() -> Experiment:
    """One that goes on: answered, running, to come."""
    cells = settled()
    cells[1] = a_cell(1, "v2", status="running", text=None, duration_s=None, cost_usd=None,
                      input_tokens=None, output_tokens=None)  # fmt: skip
    cells[3] = Cell(3, "k3", "v2", "openai/gpt-5-mini", "double charge")
    return experiment_of(cells, "running", prompts=PROMPTS, inputs=INPUTS)


def stopped() -> Experiment:
    """One that ten failures in a row ended."""
    error = {"type": "ModelError", "message": "no such key"}
    cells = [
        a_cell(n, of=f"input {n}", status="failed", text=None, error=error, cost_usd=None,
               input_tokens=None, output_tokens=None)
        for n in range(10)
    ]  # fmt: skip
    cells += [Cell(n, "", "v1", "openai/gpt-5-mini", f"input {n}", status="skipped")
              for n in range(10, 16)]  # fmt: skip
    return experiment_of(cells, "stopped", reason="ten cells in a row failed: no such key")


def repeated() -> Experiment:
    """Repeats and a further axis; some simulated."""
    cells = [
        a_cell(
            n, of=of, params={"temperature": heat}, repeat=again, text=f"about {of}, {again}",
            simulated=heat == 0.9, model="simulated/rules" if heat == 0.9 else "openai/gpt-5-mini",
        )
        for n, (of, heat, again) in enumerate(
            (of, heat, again) for of in ("rain", "sun") for heat in (0.1, 0.9) for again in (0, 1)
        )
    ]  # fmt: skip
    return experiment_of(cells)


def large(cells: int = 1_000, *, columns: int = 4, text: str = "", failing: int = 50) -> Experiment:
    """Many inputs, with an evaluator that some answers do not satisfy."""
    said = text or "It rains in the morning, and in the afternoon the sun comes out again. " * 6
    made = [
        a_cell(
            n, f"v{n % columns}", f"input {n // columns}", text=f"{n} {said}",
            scores=(Score("short", passed=n % failing != failing - 1, reason="too long"),),
        )
        for n in range(cells)
    ]  # fmt: skip
    return experiment_of(made, prompts=PROMPTS)


def many() -> dict[str, Experiment]:
    """Experiments in every state, by name."""
    return {
        "settled": an_experiment(), "running": running(), "stopped": stopped(),
        "repeated": repeated(), "empty": experiment_of([], "pending"),
    }  # fmt: skip
