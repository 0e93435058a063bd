"""What servers' tools are called to a model: names that providers take, and each only once.

A tool keeps its own name where nobody else has it; else our name of its server stands before it.
What a server calls itself plays no part: it could take another's name.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

__all__ = ["legal", "named"]

#: characters that a tool's name may have with every provider
MOST = 64
_ILLEGAL = re.compile(r"[^a-zA-Z0-9_-]+")


def legal(name: str) -> str:
    """A name that every provider takes: 1 to 64 of ``a-z A-Z 0-9 _ -``.

    Examples
    --------
    >>> legal("files.read/all"), legal("naïve"), legal("東京")
    ('files_read_all', 'na_ve', 'tool_130016')
    """
    found = _ILLEGAL.sub("_", name).strip("_")
    if not found:  # nothing of it is left: told apart by what it was
        found = f"tool_{_mark(name)}"
    return found if len(found) <= MOST else f"{found[: MOST - 7]}_{_mark(name)}"


def _mark(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:6]


def named(
    servers: Sequence[tuple[str, Sequence[str]]], taken: Container[str] = ()
) -> list[list[str]]:
    """Names for the tools of several servers.

    Parameters
    ----------
    servers : sequence of (str, sequence of str)
        Our name of each, and what its tools are called there.
    taken : container of str, optional
        Names that others have: the robot's own tools.

    Returns
    -------
    list of list of str
        In the same order; all of them different.

    Examples
    --------
    >>> named([("disk", ["read", "search"]), ("web", ["search", "fetch.page"])], taken={"read"})
    [['disk__read', 'disk__search'], ['web__search', 'fetch_page']]
    """
    plain = [[legal(tool) for tool in tools] for _, tools in servers]
    often = Counter(name for names in plain for name in set(names))
    used: set[str] = set()
    found: list[list[str]] = []
    for (alias, _), names in zip(servers, plain, strict=True):
        row = []
        for name in names:
            if often[name] > 1 or name in taken or name in used:
                name = legal(f"{alias}__{name}")
            row.append(_free(name, used, taken))
            used.add(row[-1])
        found.append(row)
    return found


def _free(name: str, used: set[str], taken: Container[str]) -> str:
    """The name, with a number where even that is used."""
    made, number = name, 1
    while made in used or made in taken:
        number += 1
        end = f"_{number}"
        made = name[: MOST - len(end)] + end
    return made
