"""Which servers fit a message, by the words that they share. Asks nobody and connects nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..core.scoring import similarity

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["THRESHOLD", "Candidate", "Discovered", "Match", "discover"]

#: the lowest score at which a server is used
THRESHOLD = 0.05
#: characters of a message, and of what is known of a server, that are looked at
_LOOKED_AT = 20_000


class Candidate(NamedTuple):
    """A server's name, its description, and what is known of its tools: names and descriptions."""

    name: str
    description: str = ""
    tools: str = ""


class Match(NamedTuple):
    """A server, how well it fits, and whether it is used."""

    name: str
    score: float
    used: bool


class Discovered(NamedTuple):
    """What came of comparing.

    Attributes
    ----------
    matches : tuple of Match
        All, best first; equally good ones in their order.
    reason : str
        ``fits``; or why all are used: ``no message, no descriptions, no hit``.
    """

    matches: tuple[Match, ...]
    reason: str

    @property
    def used(self) -> frozenset[str]:
        """Names of the servers to use."""
        return frozenset(match.name for match in self.matches if match.used)


def discover(candidates: Sequence[Candidate], message: str) -> Discovered:
    """Choose servers for a message; all of them where nothing tells which.

    Parameters
    ----------
    candidates : sequence of Candidate
    message : str
        Its first 20,000 characters count.

    Returns
    -------
    Discovered

    Examples
    --------
    >>> shop = Candidate("shop", "Items, prices and orders of a shop.")
    >>> trains = Candidate("trains", "Connections between railway stations.")
    >>> found = discover([shop, trains], "Which railway connection is next?")
    >>> found.reason, [(m.name, m.used) for m in found.matches]
    ('fits', [('trains', True), ('shop', False)])
    >>> discover([shop, trains], "Sing a song").reason
    'no hit'
    """
    text = message[:_LOOKED_AT]
    if not text.strip():
        return _all(candidates, "no message")
    if not any(c.description.strip() or c.tools.strip() for c in candidates):
        return _all(candidates, "no descriptions")
    scored = [(similarity(text, _about(c)), c.name) for c in candidates]
    found = [Match(name, score, score >= THRESHOLD) for score, name in scored]
    if not any(match.used for match in found):
        return _all(candidates, "no hit")
    found.sort(key=lambda match: -match.score)
    return Discovered(tuple(found), "fits")


def _about(candidate: Candidate) -> str:
    return f"{candidate.name} {candidate.description} {candidate.tools}"[:_LOOKED_AT]


def _all(candidates: Sequence[Candidate], reason: str) -> Discovered:
    return Discovered(tuple(Match(c.name, 0.0, True) for c in candidates), reason)
