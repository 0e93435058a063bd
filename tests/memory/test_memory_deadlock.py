"""Deadlocks are told at once: the cases, in a process where no other test has left a thread."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("deadlock_cases.py")


def test_waits_that_nobody_could_end_are_ended_and_no_others():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)],
        capture_output=True, text=True, timeout=280, cwd=CASES.parents[2],
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout
