"""Tapes, checks and misses made of a word: for tests of all pictures."""

from __future__ import annotations

from pathlib import Path

import robotlab_nb as rl
from robotlab_nb.models.tape_file import TapeFile

__all__ = ["a_failed_check", "a_miss", "a_tape"]


def a_tape(word: str = "openai/small") -> rl.Tape:
    """A tape with a few calls on it, one of them failed."""
    made = rl.Tape("lesson.jsonl", "auto")
    made.file = TapeFile(Path("lesson.jsonl"))
    made.file.begun = word
    made.file.calls = {
        (word, 0): {"model": word, "usage": {}},
        (word, 1): {"model": word},
        ("other", 0): {"model": "openai/other", "usage": {}},
    }
    made.played, made.recorded, made.passed_over = 12, 3, 1
    return made


def a_failed_check(word: str = "Lyon") -> rl.Check:
    """A check that failed."""
    scores = (
        rl.Score(word, passed=False, reason=word),
        rl.Score(f"{word} 2", 3.0),
        rl.Score(word, error={"type": word, "message": word}),
    )
    return rl.Check(word, False, scores, word, f"{word} 3")


def a_miss(word: str = "temperature") -> rl.TapeMiss:
    """A request that is not on a tape."""
    told = [("model", f"{word} → b"), *[(f"message {n} ({word})", word) for n in range(1, 10)]]
    return rl.TapeMiss(f"the tape {word} has no answer", hint=word, differences=told, nearest="k")
