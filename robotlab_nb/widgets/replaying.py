"""Going through a run again, step by step: what was known at each, what was sent and received.

A :class:`Replay` is a reading of events, so it works as well for a run that failed, that still
goes on (as far as it is), or whose events come from a file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.event_sources import events_of
from ..core.readings import Pictured, text
from ..core.state import RunState
from ..display.exchange_events import readable
from .replay_steps import steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.events import Event
    from ..display.exchange import Exchange
    from .replay_player import Player
    from .replay_steps import Step

__all__ = ["Replay", "replay"]


class Replay(Pictured):
    """A run that can be stepped through. Shown in a notebook, it plays.

    ``len(replay)`` counts its steps; ``replay[i]`` is the state of the run after the i-th.

    Attributes
    ----------
    events : list of Event
    steps : list of Step
        The moments that matter, in order. The middle of a very long run comes in bunches.
    exchanges : list of Exchange
        Every model call of the run: ``request`` and ``response`` as JSON.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> replay = result.replay()
    >>> [f"{step.icon} {step.kind}" for step in replay.steps]
    ['○ begin', '→ ask', '← answer', '✓ end']
    >>> replay.steps[2].words
    'answers “roses are red”'
    >>> replay[1].status, replay[1].text, replay[-1].text
    ('running', '', 'roses are red')
    """

    def __init__(self, source: Any) -> None:
        self.events: list[Event] = events_of(source)
        self.steps: list[Step]
        self.steps, found = steps_of(self.events)
        self.exchanges: list[Exchange] = found.found
        self._state = found.state
        #: where it plays now
        self.players: list[Player] = []

    @property
    def state(self) -> RunState:
        """The run after its last step."""
        return self._state

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.events[0].scope.run_id

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> RunState:
        step = self.step(place)
        return RunState.fold(map(readable, self.events[: step.events.stop]))

    def __iter__(self) -> Iterator[RunState]:
        return (self[place] for place in range(len(self)))

    def step(self, place: int) -> Step:
        """One step; a negative place counts from the end.

        Parameters
        ----------
        place : int

        Raises
        ------
        IndexError
            When there is no such step.
        """
        if not isinstance(place, int):
            raise InputError(f"steps are counted by int, not by {type(place).__name__}")
        if not -len(self) <= place < len(self):
            raise IndexError(f"step {place} of a replay of {len(self)} steps")
        return self.steps[place]

    def close(self) -> None:
        """Take the player out of every place where this replay is shown; its steps stay."""
        players, self.players = self.players, []
        for player in players:
            player.close()

    def __repr__(self) -> str:
        return text(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from .replay_player import placed

        bundle = super()._repr_mimebundle_(include, exclude)
        if "text/html" in bundle:
            bundle["text/html"] = placed(self, bundle["text/html"])
        return bundle


def replay(source: Any) -> Replay:
    """Go through a run again, step by step.

    Parameters
    ----------
    source : Run, result, path, or list of events or of their dicts
        A file holds one event as JSON on each line.

    Returns
    -------
    Replay

    Raises
    ------
    InputError
        When there are no events in it, or they are of several runs.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("bob").start("Hello")
    >>> answer = run.result()
    >>> replay([event.to_dict() for event in run.events]).exchanges[0].request["messages"]
    [{'role': 'user', 'content': 'Hello'}]
    """
    return Replay(source)
