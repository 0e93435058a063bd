"""Nested loops: applied only when asked for, refused where they are known to do harm."""

from __future__ import annotations

import subprocess
import sys

import pytest

import robotlab_nb as rl
from robotlab_nb.runtime import nested


def test_code_that_calls_asyncio_run_in_a_loop_works_after_asking():
    code = """
import asyncio
import robotlab_nb as rl
async def inner():
    return 3
async def outer():
    return asyncio.run(inner())
try:
    asyncio.run(outer())
except RuntimeError:
    print("refused")
print(rl.enable_nested_loops())
print(asyncio.run(outer()))
print(rl.build("b", model=rl.SimulatedModel(["still works"])).run("x"))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60
    )
    lines = done.stdout.split("\n")
    assert lines[0] == "refused", done.stderr
    assert lines[1].startswith("nest_asyncio2 ")
    assert lines[2:4] == ["3", "still works"]


def test_where_only_the_unsafe_package_is_there_it_is_refused_with_the_reason(monkeypatch):
    known = {"nest-asyncio": (1, 6, 0), "ipykernel": (7, 4, 0)}
    monkeypatch.setattr(nested, "_release", known.get)
    with pytest.raises(rl.ConfigurationError, match="loses cells.*nest-asyncio2>=1.7.4"):
        rl.enable_nested_loops()
    known["nest-asyncio2"] = (1, 7, 3)
    with pytest.raises(rl.ConfigurationError, match="loses cells"):
        rl.enable_nested_loops()
    monkeypatch.setattr(nested, "_release", {}.get)
    with pytest.raises(rl.ConfigurationError, match="neither"):
        rl.enable_nested_loops()
