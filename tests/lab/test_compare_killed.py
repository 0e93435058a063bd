"""A comparison whose process was killed: run again, only what is missing is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.testing import ModelServer, Reply
from tests.lab.killed_comparing import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CONCURRENCY = 6


@pytest.fixture(scope="module")
def nursery() -> Iterator[Any]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.lab.killed_comparing"], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"

    def run(**job: Any) -> int:
        process.stdin.write(json.dumps({"concurrency": CONCURRENCY, **job}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if line.startswith("flagged"):
            run.flagged = int(line.split()[1])  # type: ignore[attr-defined]
            line = process.stdout.readline()
        return int(line)

    yield run
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@pytest.fixture(params=["log", "journal"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Where answers are remembered."""
    if request.param == "log":
        return {"log": str(tmp_path / "log.sqlite"), "journal": None}
    return {"log": None, "journal": str(tmp_path / "experiments.jsonl")}


def answer(request: Any) -> Reply:
    asked = request.messages[-1]["content"].removeprefix("What is ").removesuffix("?")
    return Reply.text(f"({asked})").after(0.1 if asked.startswith("slow") else 0.01)


@pytest.mark.parametrize("point", POINTS)
def test_kills_at_every_point_cost_no_answer_twice(
    nursery: Any, place: dict[str, Any], point: str
) -> None:
    with ModelServer(script=answer) as server:
        job = {**place, "url": server.base_url, "cells": 40, "word": "slow"}
        numbers = (1, 1) if point == "while it is planned" else (13, 5)
        for number in numbers:  # twice: the second one goes on from what the first one left
            assert nursery(**job, point=point, number=number) == -signal.SIGKILL
        assert nursery(**job, point="", number=0) == 0
        if point in ("request in flight", "after an answer"):
            assert 1 <= nursery.flagged <= CONCURRENCY, "what was on its way may be paid twice"
        asked = len(server.requests)
        assert 40 <= asked <= 40 + len(numbers) * CONCURRENCY
        assert nursery(**job, point="", number=0) == 0
        assert len(server.requests) == asked, "all was known already"
        assert nursery.flagged == 0


def test_killed_at_cell_400_of_900(nursery: Any, place: dict[str, Any]) -> None:
    with ModelServer(script=answer) as server:
        job = {**place, "url": server.base_url, "cells": 900, "word": "number"}
        assert nursery(**job, point="a cell is over", number=400) == -signal.SIGKILL
        assert 400 <= len(server.requests) <= 400 + CONCURRENCY
        assert nursery(**job, point="", number=0) == 0
        assert 900 <= len(server.requests) <= 900 + CONCURRENCY
