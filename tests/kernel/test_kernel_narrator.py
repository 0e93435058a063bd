"""Narration in a real kernel: each line in the cell that started its run."""

from __future__ import annotations


def test_lines_appear_in_the_cell_that_started_the_run(kernel):
    kernel.run(
        "from robotlab_nb.widgets.narrator import narrate\n"
        "def wait(seconds: float) -> str:\n    'Wait.'\n    time.sleep(seconds)\n    return 'ok'\n"
        "def bot(name, seconds):\n"
        "    steps = [('wait', {'seconds': seconds}), 'done']\n"
        "    return rl.build(name, model=rl.SimulatedModel(steps), tools=[wait])\n"
        "narrator = narrate()"
    )
    first = kernel.run("late = bot('late', 0.6).start('go'); None")
    second = kernel.run("bot('early', 0.0).run('go'); None")
    third = kernel.run("late.result(); time.sleep(0.3)")
    again = kernel.run("narrator = narrate(); bot('again', 0.0).run('go'); narrator.close()")
    kernel.drain(0.5)
    assert "[late] wait(0.6)" in first.streams
    assert "[late] done" in first.streams
    assert "[early] done" in second.streams
    assert "late" not in second.streams + third.streams
    assert again.streams.count("[again] thinking…") == 2
