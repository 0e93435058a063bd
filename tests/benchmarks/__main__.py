"""What the package costs: ``python -m tests.benchmarks [words …] [--out FILE] [--quick]``.

Every figure is measured beside a floor, the same work written by hand on asyncio or aiohttp, in
the same minute and against the same server; the median of three counts. Figures are reported,
never a gate: the exit code is 0. The log is off.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from . import (
    grids,
    in_process,
    log_browsing,
    log_recording,
    log_store,
    log_tables,
    networks,
    over_http,
    pictures,
    processes,
    tape_answers,
    tool_servers,
)
from .figure import Figure, Measured, Setting, table
from .server import Server

ROUNDS = 3
# Also in the processes that figures start; those of the log name one.
os.environ["ROBOTLAB_NB_LOG"] = "off"


def chosen(wanted: list[str]) -> list[Figure]:
    """The figures whose name has one of some words; all without any."""
    figures = [
        *processes.FIGURES,
        *in_process.FIGURES,
        *over_http.FIGURES,
        *networks.FIGURES,
        *grids.FIGURES,
        *log_store.FIGURES,
        *pictures.FIGURES,
        *log_recording.FIGURES,
        *log_tables.FIGURES,
        *log_browsing.FIGURES,
        *tape_answers.FIGURES,
        *tool_servers.FIGURES,
    ]
    return [f for f in figures if not wanted or any(word in f.what for word in wanted)]


def _measured(figure: Figure, setting: Setting) -> Measured:
    found = Measured(figure)
    for _ in range(1 if setting.quick else ROUNDS):
        try:
            found.pairs.append(figure.measure(setting))
        except Exception as error:
            found.error = f"{type(error).__name__}: {error}"
            print(f"{figure.what}: {found.error}", file=sys.stderr)
            break
    return found


def _surroundings() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "cores": os.cpu_count(),
        "load": list(os.getloadavg()),
    }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print one table, and write it as JSON where ``--out`` says so."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("words", nargs="*", help="only figures whose name has one of these")
    parser.add_argument("--out", type=Path, help="write the figures to this file as JSON")
    parser.add_argument("--quick", action="store_true", help="one round, few repetitions")
    given = parser.parse_args(arguments)
    before = _surroundings()
    with Server() as server:
        setting = Setting(server.url, given.quick)
        found = [_measured(figure, setting) for figure in chosen(given.words)]
    after = _surroundings()
    print(table(found))
    loads = " to ".join(f"{where['load'][0]:.1f}" for where in (before, after))
    print(f"Python {after['python']}, {after['cores']} cores, load {loads}.")
    if given.out is not None:
        whole = {**after, "load_before": before["load"], "figures": [f.to_dict() for f in found]}
        given.out.write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
