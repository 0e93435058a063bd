"""The pictures of agent skills: what one is for, what lies in it, and what its scripts may do.

What a bundle says of itself is a stranger's word: it is shown as such.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.option_files import shown_path
from .amounts import count, seconds
from .escape import clip, one_line
from .parts import Fields, Fold, Head, Para, Picture, Pre, Table, code, dots, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..prompts.agent_skills import AgentSkill, Catalog
    from .parts import Block, Line

__all__ = ["catalog", "skill"]

_LISTED, _ROWS = 24, 60
#: what a bundle says of its scripts, told with them
_NEEDS = ("fs_read", "fs_write", "network", "timeout", "trust")


def skill(thing: AgentSkill) -> Picture:
    """The picture of an agent skill.

    Parameters
    ----------
    thing : AgentSkill
    """
    blocks = (
        *part("name", lambda: _head(thing)),
        *part("description", lambda: [Para((clip(thing.description, 1000),))]),
        *part("contents", lambda: [Fields(tuple(_fields(thing)))]),
        *part("scripts", lambda: _rights(thing)),
        *part("instructions", lambda: _instructions(thing)),
    )
    return Picture(blocks, framed=True)


def catalog(thing: Catalog) -> Picture:
    """The picture of a catalog: a row for each skill, and what was left out.

    Parameters
    ----------
    thing : Catalog
    """

    def table() -> Iterable[Block]:
        found = list(thing.skills.values())
        roots = dots(*(one_line(root, 120) for root in thing.roots[:8]))
        yield Para(dots(count(len(found), "agent skill"), roots), quiet=True)
        rows = tuple(
            ((code("", lead=one_line(each.name, 64)),), (one_line(each.description, 200),))
            for each in found[:_ROWS]
        )
        if rows:
            yield Table(("skill", "what it is for"), rows)
        if len(found) > _ROWS:
            yield Para((quiet(f"… {len(found) - _ROWS:,} more"),))
        faults = list(thing.faults.items())
        if faults:
            lines = [Para((f"{one_line(f.name, 80)}: {one_line(why, 300)}",)) for f, why in faults]
            yield Fold(("Left out",), tuple(lines[:_ROWS]), f"{len(faults):,}", told=True)

    return Picture(part("agent skills", table), framed=True)


def _head(thing: AgentSkill) -> Iterable[Block]:
    yield Head(
        (one_line(thing.name, 120),), "agent skill", (one_line(shown_path(thing.path), 160),)
    )


def _fields(thing: AgentSkill) -> Iterable[tuple[str, Line]]:
    yield "licence", (one_line(thing.licence, 200),) if thing.licence else (quiet("not stated"),)
    if thing.compatibility:
        yield "works with", (one_line(thing.compatibility, 300),)
    yield "scripts", _named([path.name for path in thing.scripts])
    yield "files", _named(list(thing.files))
    if thing.allowed_tools:
        named = _named(list(thing.allowed_tools))
        yield "allowed-tools", dots(named, quiet("shown; nothing is approved by it"))
    for name, value in list(thing.metadata.items())[:_LISTED]:
        if name not in _NEEDS:
            yield one_line(name, 40), (one_line(value, 200),)


def _named(names: list[str]) -> Line:
    more = f"{len(names) - _LISTED:,} more" if len(names) > _LISTED else None
    return dots(*(code(one_line(name, 80)) for name in names[:_LISTED]), more) or (quiet("none"),)


def _rights(thing: AgentSkill) -> Iterable[Block]:
    """What its scripts can do, whatever they say of themselves."""
    if not thing.scripts:
        return
    yield Para(("Its scripts run with your rights: nothing confines them.",))
    declared = _declared(thing.capabilities)
    if declared:
        words = f"they say that they need {', '.join(declared)}"
        yield Para((f"{words}; only a time limit is enforced",), quiet=True)


def _declared(needs: Any) -> list[str]:
    reads, writes = (", ".join(one_line(p, 80) for p in x) for x in (needs.fs_read, needs.fs_write))
    limit = seconds(needs.timeout, limit=True)
    network = {True: "the network", False: "no network"}.get(needs.network)
    found = (
        f"to read {reads}" if reads else None,
        f"to write {writes}" if writes else None,
        network,
        f"at most {limit}" if limit else None,
    )
    return [words for words in found if words]


def _instructions(thing: AgentSkill) -> Iterable[Block]:
    text = thing.instructions
    yield Fold(("Instructions",), (Pre(text),), count(len(text), "character"), told=True)
