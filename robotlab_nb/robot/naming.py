"""Names for robots that nobody has named: robots of books and films, and some of our own."""

from __future__ import annotations

__all__ = ["names"]

NAMES = (
    "Adam Link", "Andrew", "Astro", "Awesom-O", "Baymax", "Bender", "Bishop", "Bumblebee",
    "C-3PO", "Chitti", "Clank", "Cortana", "Daneel", "Data", "Dewey", "Dot Matrix", "EVE",
    "Elektro", "Gerty", "Gigantor", "Gort", "HAL", "Helios", "Huey", "Johnny Five", "K-9",
    "KITT", "Kryten", "Lore", "Louie", "Maria", "Marvin", "Max 404", "Mechagodzilla", "Mother",
    "Optimus", "Pris", "Quick", "R2-D2", "Rachael", "Robbie", "Robby", "Rodney", "Roll-Oh",
    "Rosie", "Roy", "Sonny", "Speedy", "T-800", "TARS", "Talos", "Tik-Tok", "Tima", "Tobor",
    "Twiki", "Ultron", "V.I.N.CENT", "Vision", "WALL-E", "Zhora",
)  # fmt: skip


def names(count: int = 1, *, seed: int | None = None) -> list[str]:
    """Pick names of fictional robots.

    Parameters
    ----------
    count : int, optional
        How many; different ones as long as they last, then numbered.
    seed : int, optional
        The same seed gives the same names.

    Returns
    -------
    list of str

    Examples
    --------
    >>> len(set(names(5)))
    5
    >>> names(2, seed=1) == names(2, seed=1)
    True
    """
    from random import Random

    rounds = -(-max(count, 0) // len(NAMES))
    pool: list[str] = []
    for turn in range(rounds):
        picked = list(NAMES)
        Random(None if seed is None else seed + turn).shuffle(picked)
        pool += picked if turn == 0 else [f"{n} {turn + 1}" for n in picked]
    return pool[:count]
