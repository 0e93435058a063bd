"""The picture of a template: what it takes, what its head sets, what it becomes, or what lacks.

Nothing is run for it: commands in a template stand as they are written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.option_files import shown_path
from .amounts import count
from .escape import clip, one_line
from .json_text import masked, value_line
from .parts import (
    Bit,
    Fields,
    Fold,
    Head,
    Para,
    Picture,
    Pre,
    Table,
    code,
    dots,
    part,
    quiet,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..prompts.templates import Template
    from .parts import Block

__all__ = ["template"]

_PARAMETERS, _HEAD, _EXCERPT = 40, 40, 200
#: what the head says of parameters stands in their own table
_ELSEWHERE = ("parameters", "description")


def template(thing: Template) -> Picture:
    """The picture of a template.

    Parameters
    ----------
    thing : Template
    """
    facts = _once(thing.facts)
    blocks = (
        *part("name", lambda: _head(facts())),
        *part("description", lambda: _description(facts())),
        *part("parameters", lambda: _parameters(facts())),
        *part("what lacks", lambda: _lacking(facts())),
        *part("head", lambda: _front(facts())),
        *part("text", lambda: _texts(facts())),
    )
    return Picture(blocks, framed=True)


def _once(read: Callable[[], dict[str, Any]]) -> Callable[[], dict[str, Any]]:
    found: list[dict[str, Any]] = []

    def facts() -> dict[str, Any]:
        if not found:
            found.append(read())
        return found[0]

    return facts


def _head(facts: dict[str, Any]) -> Iterable[Block]:
    robot = f"robot {one_line(facts['robot_name'], 80)}" if facts["robot_name"] else None
    where = one_line(shown_path(Path(facts["path"])), 160) if facts["path"] else "written here"
    yield Head((one_line(facts["name"], 120),), "template", dots(where, robot))


def _description(facts: dict[str, Any]) -> Iterable[Block]:
    if facts["description"]:
        yield Para((clip(facts["description"], 1000),))


def _parameters(facts: dict[str, Any]) -> Iterable[Block]:
    found = facts["parameters"]
    if not found:
        yield Para((quiet("takes no parameters of its own"),))
        return
    rows = tuple(
        (
            (code(one_line(each["name"], 64)),),
            (_type(each),),
            ("required",) if each["required"] else _default(each.get("default")),
            (one_line(each.get("description") or "", 300),),
        )
        for each in found[:_PARAMETERS]
    )
    yield Table(("parameter", "type", "default", "meaning"), rows)
    if len(found) > _PARAMETERS:
        yield Para((quiet(f"… {len(found) - _PARAMETERS:,} more parameters"),))


def _type(each: dict[str, Any]) -> str:
    if each.get("enum"):
        return " | ".join(value_line(choice, 40) for choice in each["enum"][:12])
    return one_line(each.get("type") or "any", 40)


def _default(value: Any) -> tuple[Any]:
    return (quiet("empty"),) if value in (None, "") else (value_line(value, 80),)


def _lacking(facts: dict[str, Any]) -> Iterable[Block]:
    """What must be given before there is a text, or why there is none as it stands."""
    if facts["missing"]:
        names = ", ".join(f'"{one_line(name, 64)}": …' for name in facts["missing"][:12])
        needs = dots(*(code(one_line(name, 64)) for name in facts["missing"][:12]))
        yield Para(("needs ", *needs, ": ", code(f"template.render({{{names}}})")))
    elif facts["error"]:
        yield Para(("cannot be rendered as it stands: ", clip(facts["error"], 2000)))


def _front(facts: dict[str, Any]) -> Iterable[Block]:
    rows = [
        (one_line(name, 64), (_setting(str(name), value),))
        for name, value in list(facts["front"].items())[:_HEAD]
        if name not in _ELSEWHERE
    ]
    if rows:
        yield Fold(("Head",), (Fields(tuple(rows)),), f"{len(rows):,} set", told=True)


def _setting(name: str, value: Any) -> str | Bit:
    value = masked(name, value)
    if isinstance(value, str):
        return one_line(value, _EXCERPT)
    try:
        return one_line(json.dumps(value, ensure_ascii=False, default=str), _EXCERPT)
    except (TypeError, ValueError, RecursionError):
        return value_line(value, _EXCERPT)


def _texts(facts: dict[str, Any]) -> Iterable[Block]:
    body = facts["body"]
    size = count(len(body), "character")
    told = facts["text"]
    rendered = told is not None and told.strip() != body.strip()
    yield Fold(("Text",), (Pre(body),), size, told=not rendered)
    if rendered:
        note = f"with its defaults, {count(len(told), 'character')}"
        yield Fold(("Rendered",), (Pre(told),), note, told=True)
