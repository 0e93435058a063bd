"""What an answer from a tape costs: no model, no socket, the times of the recording."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import robotlab_nb as rl
from robotlab_nb.core.messages import Message

from . import bare
from .clock import best_of_async
from .figure import Figure, Pair
from .in_process import Instant

if TYPE_CHECKING:
    from .figure import Setting

__all__ = ["FIGURES"]


def _played(setting: Setting) -> Pair:
    robot = rl.build("robot", model=Instant())
    history = [
        Message("assistant" if n % 2 else "user", f"message {n}, of a few words") for n in range(9)
    ]
    times = setting.times(400)

    async def run() -> None:
        tape.rewind()
        result = await robot.replace_messages(history).arun("and the tenth")
        assert result.text == "ok", result.text

    with tempfile.TemporaryDirectory() as folder, rl.engine(loop="current"):
        path = Path(folder) / "tape.jsonl"
        with rl.tape(path, mode="record") as tape:
            asyncio.run(run())
        with rl.tape(path, mode="strict") as tape:
            ours = asyncio.run(best_of_async(run, calls=5, batches=times))
        assert tape.played > times
    floor = asyncio.run(best_of_async(bare.ask_in_process, calls=5, batches=times))
    return Pair(floor.cpu * 1e6, ours.cpu * 1e6)


FIGURES = [Figure("one answer from tape, 10-message history", "µs", 200, _played, 2)]
