"""What pictures of networks cost, beside ``json.dumps`` of the events that they are drawn from.

It knows nothing of browsers: what is measured ends with the HTML.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from robotlab_nb.core.state import RunState
from robotlab_nb.display import graph_layout
from robotlab_nb.display.graph_picture import img
from robotlab_nb.display.page import page
from robotlab_nb.display.pictures import html
from tests.display.network_samples import NetworkStory, a_result, declared

from .clock import best
from .figure import Figure, Pair

if TYPE_CHECKING:
    from collections.abc import Callable

    from .figure import Setting

__all__ = ["FIGURES"]


def _story(count: int) -> NetworkStory:
    """A network whose tasks each need two of those shortly before, all done by robots."""
    tasks = [
        declared(f"task {n}", f"robot {n % 9}", [f"task {m}" for m in {n - 1, n - 4} if m >= 0])
        for n in range(count)
    ]
    story = NetworkStory(tasks, "large")
    for n in range(count):
        task, robot = f"task {n}", f"robot {n % 9}"
        story.starts(task, n * 0.1, robot=robot, waited=0.05)
        story.asks(task, robot, n * 0.1, 0.5, 900, 0.01, "Two sentences of an answer. " * 4)
        story.ends(task, n * 0.1 + 0.6, "Two sentences of an answer. " * 4)
    return story.closes("completed", count * 0.1 + 1)


def _pair(draw: Callable[[Any], object], count: int, setting: Setting) -> Pair:
    """Milliseconds of processor time; places are worked out anew each time."""
    story = _story(count)
    data = [event.to_dict() for event in story.events]
    result = a_result(RunState.fold(story.events))

    def ours() -> None:
        graph_layout._layout.cache_clear()
        draw(result)

    ours()
    floor = best(lambda: json.dumps(data), calls=setting.times(20), batches=5)
    drawn = best(ours, calls=1, batches=setting.times(10))
    return Pair(floor.cpu * 1e3, drawn.cpu * 1e3)


FIGURES = [
    Figure("a network's graph drawn, 100 tasks", "ms", 50, lambda s: _pair(img, 100, s), 1.0),
    Figure("a network's result shown, 100 tasks", "ms", 50, lambda s: _pair(html, 100, s), 1.0),
    Figure("a network's result as a page, 100 tasks", "ms", 50, lambda s: _pair(page, 100, s), 1.0),
    Figure("a network's result shown, 1,000 tasks", "ms", 500, lambda s: _pair(html, 1000, s), 10),
]
