"""One cell of an experiment: a prompt, a model and an input, and what came of asking."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .evaluating import Score

__all__ = ["Cell"]

#: statuses after which nothing more comes of a cell
ENDED = frozenset({"completed", "failed", "interrupted", "skipped"})


@dataclass(frozen=True, slots=True, repr=False)
class Cell(Pictured):
    """One cell of an experiment, as it is now. The experiment has a new one when it changes.

    Parameters
    ----------
    index : int
        Its place in the plan, from 0.
    key : str
        SHA-256 of everything that decides its answer: by it a cell is never paid twice.
    prompt, model, input : str
        Labels: its place on these axes.
    params : mapping
        Its values on the further axes.
    repeat : int
        From 0.
    status : str
        ``pending, running, completed, failed, interrupted``, or ``skipped`` where it was not
        asked any more.
    cached : bool
        Whether the answer is an earlier run's: nothing was sent.
    text : str or None
        The answer; of a failed cell None.
    value : object
        The answer as data, where ``output=`` asked for that; what a network gave.
    error : mapping or None
        ``type, message, hint …``
    run_id, root_id : str or None
        The run that answered, and the root around it.
    duration_s : float or None
        Seconds.
    input_tokens, output_tokens : int or None
    cost_usd : float or None
        US dollars, as they were paid once; None where no price is known.
    cost_complete : bool
        Whether every model call of it had a price.
    simulated : bool
        Whether the answer was made up.
    scores : tuple of Score
    rating : int or None
        1 to 5, as a person gave it.
    note : str or None
    expected : object
        What the input's row says that the answer should be.
    columns : mapping
        All columns of the input's row.
    possibly_repeated : bool
        Whether an earlier run had begun to ask it and was killed: it may have been paid twice.

    Examples
    --------
    >>> cell = Cell(0, "k", "short", "openai/gpt-5-mini", "rain")
    >>> cell.status, cell.ended, cell.axes["prompt"]
    ('pending', False, 'short')
    """

    index: int
    key: str
    prompt: str
    model: str
    input: str
    params: Mapping[str, Any] = field(default_factory=dict)
    repeat: int = 0
    status: str = "pending"
    cached: bool = False
    text: str | None = None
    value: Any = None
    error: Mapping[str, Any] | None = None
    run_id: str | None = None
    root_id: str | None = None
    duration_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: float | None = None
    cost_complete: bool = True
    simulated: bool = False
    scores: tuple[Score, ...] = ()
    rating: int | None = None
    note: str | None = None
    expected: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)
    possibly_repeated: bool = False

    @property
    def ended(self) -> bool:
        """Whether nothing more comes of it, but for ratings."""
        return self.status in ENDED

    @property
    def axes(self) -> dict[str, Any]:
        """Its place on every axis, in their order."""
        return {
            "prompt": self.prompt,
            "model": self.model,
            "input": self.input,
            **self.params,
            "repeat": self.repeat,
        }

    def changed(self, **fields: Any) -> Cell:
        """A cell like this one but for some fields."""
        return replace(self, **fields)

    def __repr__(self) -> str:
        where = " × ".join(str(v) for k, v in self.axes.items() if k != "repeat")
        again = f", repeat {self.repeat}" if self.repeat else ""
        said = f": {self.text!r:.60}" if self.text is not None else ""
        return f"<cell {self.index} ({where:.120}{again}), {self.status}{said}>"
