"""Tokens and money of model calls, summed without hiding what is not known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["NOTHING", "Usage"]


class _Record(dict[str, Any]):
    """A usage's JSON that remembers the usage, so that reading it back costs nothing."""

    __slots__ = ("usage",)
    usage: Usage


@dataclass(frozen=True, slots=True)
class Usage(Pictured):
    """Tokens of one call or of many, and what they cost.

    Parameters
    ----------
    input_tokens, output_tokens : int or None
        Tokens read and written; None where nobody counted.
    reasoning_tokens, cached_tokens : int or None
        Of these: tokens thought, tokens read from the provider's cache.
    estimated : bool
        Whether a count is our estimate and not the provider's.
    cost_usd : float or None
        US dollars; None where no price is known. Never 0 for an unknown price.
    cost_complete : bool
        Whether every call that was summed had a price.
    calls : int
        How many model calls were summed.

    Examples
    --------
    >>> a = Usage(10, 5, cost_usd=0.25, calls=1)
    >>> b = Usage(7, 1, cost_usd=None, cost_complete=False, calls=1)
    >>> total = a + b
    >>> total.input_tokens, total.cost_usd, total.cost_complete
    (17, 0.25, False)
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cached_tokens: int | None = None
    estimated: bool = False
    cost_usd: float | None = None
    cost_complete: bool = True
    calls: int = 0

    @property
    def total_tokens(self) -> int | None:
        """Input and output together; None when neither is known."""
        if self.input_tokens is None and self.output_tokens is None:
            return None
        return (self.input_tokens or 0) + (self.output_tokens or 0)

    def __add__(self, other: Usage) -> Usage:
        if self is NOTHING:
            return other
        return Usage(
            _sum(self.input_tokens, other.input_tokens),
            _sum(self.output_tokens, other.output_tokens),
            _sum(self.reasoning_tokens, other.reasoning_tokens),
            _sum(self.cached_tokens, other.cached_tokens),
            self.estimated or other.estimated,
            _sum(self.cost_usd, other.cost_usd),
            self.cost_complete and other.cost_complete,
            self.calls + other.calls,
        )

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        record = _Record(
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            reasoning_tokens=self.reasoning_tokens,
            cached_tokens=self.cached_tokens,
            estimated=self.estimated,
            cost_usd=self.cost_usd,
            cost_complete=self.cost_complete,
            calls=self.calls,
        )
        record.usage = self
        return record

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Usage:
        """Read what :meth:`to_dict` wrote; missing fields take their defaults."""
        if type(data) is _Record:
            return data.usage
        known = cls.__dataclass_fields__
        return cls(**{k: v for k, v in data.items() if k in known})


#: before the first call
NOTHING = Usage()


def _sum(a: Any, b: Any) -> Any:
    if a is None:
        return b
    return a if b is None else a + b
