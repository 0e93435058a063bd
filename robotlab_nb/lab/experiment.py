"""An experiment: cells in a grid, with all that was asked, answered, scored and rated."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from ..core.errors import InputError, near
from ..core.readings import Pictured, ShownList, reading
from .estimate import Estimate
from .scored import Scored
from .tabulated import Tabulated

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.events import Event
    from ..network.differing import Diff
    from ..runtime.run import Run
    from .cell import Cell
    from .journal import Journal
    from .state import ExperimentState

__all__ = ["Experiment", "Progress", "of_run"]

_NOTHING = Estimate(0, 0, 0, None, "nothing was planned")
#: experiments of runs in this process, by the run's id
_live: WeakValueDictionary[str, Experiment] = WeakValueDictionary()


class Progress(NamedTuple):
    """How far an experiment is; ``left_s`` is what is still to come, as far as can be told."""

    done: int
    total: int
    cached: int
    failed: int
    cost_usd: float | None
    elapsed_s: float
    left_s: float | None


class Experiment(Tabulated, Scored, Pictured):
    """The cells of a grid as they are now. Made by :func:`compare` and :func:`experiments`.

    It is read while it goes on, and afterwards; one of an earlier session is read from the log.

    Attributes
    ----------
    run : Run or None
        The run that it is, where it happens in this process.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> echo = rl.SimulatedModel(lambda request: request.messages[-1].text.upper())
    >>> tried = rl.compare(["Say {{ input }}", "Sing {{ input }}"], echo, ["la", "lo"])
    >>> tried.status, [cell.text for cell in tried.cells]
    ('completed', ['SAY LA', 'SING LA', 'SAY LO', 'SING LO'])
    >>> print(tried.diff(0, 1).text())
    [-SAY-] {+SING+} LA
    """

    __slots__ = ("__weakref__", "_journal", "_seen", "_state", "run")

    def __init__(
        self,
        state: ExperimentState,
        run: Run[Any] | None = None,
        *,
        journal: Journal | None = None,
    ) -> None:
        self._state = state
        self.run = run
        self._journal = journal
        #: number of the last event of the run's root that was taken in
        self._seen = -1
        if run is not None:
            self._seen = run._first - 1
            _live[run.id] = self

    def _now(self) -> ExperimentState:
        """The state, with everything that has happened by now."""
        run, state = self.run, self._state
        if run is not None and run.root.last > self._seen:
            with run.root.lock:
                for event in run.root.events[self._seen + 1 :]:
                    state.apply(event)
                self._seen = run.root.last
        return state

    # -- what it is ------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """What people call it."""
        return self._now().name

    @property
    def id(self) -> str | None:
        """The id of its run; None for one that was only planned."""
        return self._now().run_id

    run_id = id

    @property
    def status(self) -> str:
        """``pending, running, completed, interrupted, failed``, or ``stopped`` early."""
        return self._now().status

    @property
    def reason(self) -> str | None:
        """Why it stopped, where it did."""
        return self._now().reason

    @property
    def started_at(self) -> str | None:
        """UTC time of its start, ISO 8601; None where its root is another run."""
        return self._now().started_at

    @property
    def version(self) -> int:
        """A number that grows whenever a cell, a score or a rating changes."""
        return self._now().version

    @property
    def axes(self) -> Mapping[str, tuple[Any, ...]]:
        """Labels and values by axis: ``prompt, model, input``, further ones, ``repeat``."""
        return self._now().axes

    @property
    def cells(self) -> Sequence[Cell]:
        """All cells, in the order of the plan. Cells that did not change are the same objects."""
        return ShownList(self._now().cells)

    @property
    def failures(self) -> Sequence[Cell]:
        """The cells that failed."""
        return ShownList(cell for cell in self._now().cells if cell.status == "failed")

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts' texts in full, by label."""
        return self._now().prompts

    @property
    def inputs(self) -> Mapping[str, str]:
        """The inputs' texts in full, by label."""
        return self._now().inputs

    @property
    def estimate(self) -> Estimate:
        """What it was thought to take."""
        return self._now().estimate or _NOTHING

    @property
    def evaluators(self) -> tuple[str, ...]:
        """The names of its evaluators."""
        return tuple(self._now().evaluators)

    @property
    def run_ids(self) -> tuple[str, ...]:
        """The runs that answered, those of earlier experiments included."""
        return tuple(cell.run_id for cell in self._now().cells if cell.run_id is not None)

    @property
    def cost_usd(self) -> float | None:
        """US dollars that its own cells cost, those taken over not; None where none is known."""
        known = [c.cost_usd for c in self._now().cells if not c.cached and c.cost_usd is not None]
        return sum(known) if known else None

    @property
    def progress(self) -> Progress:
        """How far it is."""
        state = self._now()
        ended = [cell for cell in state.cells if cell.ended]
        cached = sum(cell.cached for cell in ended)
        elapsed = (state.latest_s if state.ended_s is None else state.ended_s) - state.started_s
        asked, left = len(ended) - cached, len(state.cells) - len(ended)
        pace = elapsed * left / asked if asked and state.status == "running" else None
        failed = sum(cell.status == "failed" for cell in ended)
        return Progress(
            len(ended), len(state.cells), cached, failed, self.cost_usd, elapsed,
            pace if left else 0.0,
        )  # fmt: skip

    def cell(self, index: int | None = None, /, **axes: Any) -> Cell:
        """One cell, by its place in the plan or by its values on the axes.

        Parameters
        ----------
        index : int, optional
        **axes
            ``prompt=, model=, input=`` and so on, as many as it takes to mean one.

        Raises
        ------
        InputError
            When none, or more than one, is meant.
        """
        cells = self._now().cells
        if index is not None:
            if isinstance(index, int) and -len(cells) <= index < len(cells):
                return cells[index]
            raise InputError(
                f"there is no cell {index!r:.40}", hint=f"It has cells 0 to {len(cells) - 1}."
            )
        for name in axes:
            if name not in self.axes:
                raise InputError(f"there is no axis {name!r}", hint=near(name, self.axes))
        for name, value in axes.items():
            if value not in self.axes[name]:
                raise InputError(
                    f"there is no {name} {value!r:.60}", hint=near(str(value), self.axes[name])
                )
        found = [c for c in cells if all(c.axes[name] == value for name, value in axes.items())]
        if len(found) == 1:
            return found[0]
        axis = next((n for n, v in self.axes.items() if n not in axes and len(v) > 1), "index")
        raise InputError(f"{len(found)} cells are meant", hint=f"Say which with {axis}=.")

    def _meant(self, cell: Any) -> Cell:
        from .cell import Cell

        if isinstance(cell, Cell):
            return self.cell(cell.index)
        return self.cell(**cell) if isinstance(cell, dict) else self.cell(cell)

    # -- while it goes on ------------------------------------------------------------------

    def wait(self, timeout: float | None = None) -> Experiment:
        """Wait for its end; a failure of the whole is raised.

        Parameters
        ----------
        timeout : float, optional
            Seconds; it goes on when the time is up.
        """
        if self.run is not None:
            self.run.result(timeout)
        return self

    def stop(self) -> None:
        """Stop it: nothing more is asked, and what was answered is kept."""
        if self.run is not None and not self.run.done:
            self.run.cancel("stopped")

    # -- reading it ------------------------------------------------------------------------

    @property
    def frames(self) -> Any:
        """The usual tables of everything that happened in it: runs, model calls, messages …"""
        if self.run is not None:
            return self.run.frames
        run_id = self.id
        if run_id is None:
            raise InputError("nothing has happened yet", hint="It was only planned.")
        return reading("logged")(run_id).frames

    def diff(self, a: Any, b: Any) -> Diff:
        """The answers of two cells, word by word.

        Parameters
        ----------
        a, b : Cell, int or dict
            Cells, their places in the plan, or values on the axes.

        Returns
        -------
        Diff

        Raises
        ------
        InputError
            When one of them has no answer.
        """
        from .comparing_cells import difference

        return difference(self, self._meant(a), self._meant(b))

    # -- rating and keeping it --------------------------------------------------------------

    def rate(self, cell: Any, rating: int | None, note: str | None = None) -> Cell:
        """Say how good an answer is; it is kept with the answer.

        Parameters
        ----------
        cell : Cell, int or dict
        rating : int or None
            1 to 5; None takes the rating away.
        note : str, optional
            Words; left out, those that are there stay, and ``""`` takes them away.

        Returns
        -------
        Cell
            As it is now.

        Raises
        ------
        InputError
            When it has no answer, or the rating is no number from 1 to 5.
        """
        from .ratings import keep

        meant = self._meant(cell)
        if meant.run_id is None or not meant.ended:
            raise InputError(f"cell {meant.index} is {meant.status}: there is nothing to rate")
        note = meant.note if note is None else note or None
        keep(self, meant, rating, note)
        for each in {id(each): each for each in (self, *live())}.values():
            each._rated(meant.run_id, rating, note)
        return self.cell(meant.index)

    @property
    def events(self) -> list[Event]:
        """What it is made of: the events of its own run, without those of its cells' runs."""
        if self.run is None:
            raise InputError(
                f"experiment {self.name!r} did not happen in this process",
                hint="Its runs are in the log: rl.log[experiment.id].events.",
            )
        return ShownList(e for e in self.run.events if e.scope.run_id == self.run.id)

    def to_dict(self) -> dict[str, Any]:
        """The whole of it as JSON; :meth:`from_dict` reads it."""
        from .keeping import written

        return written(self._now())

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Experiment:
        """Read what :meth:`to_dict` wrote."""
        from .keeping import read

        return cls(read(data))

    def __reduce__(self) -> Any:
        from ..core.pickling import refuse_secrets

        told = self.to_dict()
        refuse_secrets(f"experiment {self.name!r}", told)
        return Experiment.from_dict, (told,)

    def _ipython_display_(self) -> None:
        if not reading("grid")(self):
            raise NotImplementedError  # the host then asks for pictures

    def __len__(self) -> int:
        return len(self._now().cells)

    def __bool__(self) -> bool:
        return True

    def _rated(self, run_id: str, rating: int | None, note: str | None) -> None:
        """Take a rating in, if the answer is among those here."""
        with self.run.root.lock if self.run is not None else nullcontext():
            self._now().rate(run_id, rating, note)


def of_run(run: Run[Any]) -> Experiment | None:
    """The experiment that a run is; None for other runs."""
    return _live.get(run.id)


def live() -> list[Experiment]:
    """The experiments of this process that somebody still has."""
    return list(_live.values())
