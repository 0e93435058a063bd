"""What an experiment will take, said before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Estimate"]


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Pictured):
    """How much an experiment will ask for and cost, and what that is reckoned from.

    Parameters
    ----------
    cells : int
        How many there are.
    calls : int
        Cells that will be asked; each is one request at least, more with tools.
    cached : int
        Cells whose answers are known from earlier runs: nothing is sent for them.
    cost_usd : float or None
        US dollars; None where the price of a model is not known.
    basis : str
        What the cost is reckoned from, in words.
    simulated : int
        Of the calls: those that a simulated model answers.
    judging : int
        Calls of models that judge answers.
    unknown : tuple of str
        Models whose price is not known.

    Examples
    --------
    >>> Estimate(12, 9, 3, 0.25, "1 run in the log")
    <estimate: 9 calls, 3 cells known already, about 0.25 US dollars (1 run in the log)>
    """

    cells: int
    calls: int
    cached: int
    cost_usd: float | None
    basis: str
    simulated: int = 0
    judging: int = 0
    unknown: tuple[str, ...] = ()

    @property
    def real(self) -> int:
        """Calls, judges' included, that are not simulated."""
        return self.calls + self.judging - self.simulated

    @property
    def text(self) -> str:
        """In one line."""
        said = [f"{self.calls:,} call{'' if self.calls == 1 else 's'}"]
        if self.judging:
            said.append(f"{self.judging:,} more to judge")
        if self.cached:
            said.append(f"{self.cached:,} cell{'' if self.cached == 1 else 's'} known already")
        said.append(self.cost)
        return f"{', '.join(said)} ({self.basis})" if self.basis else ", ".join(said)

    @property
    def cost(self) -> str:
        """The cost in words."""
        if self.real <= 0:
            return "no cost"
        if self.cost_usd is None:
            return f"cost not known: no price of {', '.join(self.unknown) or 'the model'}"
        return f"about {self.cost_usd:.2g} US dollars"

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**told, "unknown": list(self.unknown)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Estimate:
        """Read what :meth:`to_dict` wrote; fields of other versions are passed over."""
        told: dict[str, Any] = dict.fromkeys(("cells", "calls", "cached"), 0)
        told |= {"cost_usd": None, "basis": ""}
        told |= {each.name: data[each.name] for each in fields(cls) if each.name in data}
        unknown = told.get("unknown")
        told["unknown"] = tuple(unknown) if isinstance(unknown, (list, tuple)) else ()
        return cls(**told)

    def __repr__(self) -> str:
        return f"<estimate: {self.text}>"
