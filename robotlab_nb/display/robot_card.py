"""The picture of a robot: who it is, what it was told, what it may call, what it remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.config import plain as plain_setting
from .amounts import count
from .budget_card import left_words
from .escape import cut, one_line
from .json_text import masked, value_line
from .parts import (
    Fields,
    Fold,
    Head,
    Para,
    Picture,
    Pre,
    Quote,
    Table,
    badge,
    code,
    dots,
    part,
    quiet,
    state_bit,
)
from .transcript import counted, transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..robot.robot import Robot
    from .parts import Block, Line

__all__ = ["robot"]

_EXCERPT = 130
_TOOLS, _BUDGETS = 24, 4
_ROBOTS_OWN = ("robot", "config")


def robot(thing: Robot[Any]) -> Picture:
    """The picture of a robot.

    Parameters
    ----------
    thing : Robot
    """
    blocks = (
        *part("name and model", lambda: _head(thing)),
        *part("description", lambda: _description(thing)),
        *part("system prompt", lambda: _prompt(thing)),
        *part("tools and conversation", lambda: _fields(thing)),
        *part("system prompt", lambda: _whole_prompt(thing)),
        *part("conversation", lambda: _conversation(thing)),
        *part("configuration", lambda: _configuration(thing)),
    )
    return Picture(blocks, framed=True)


def _head(thing: Robot[Any]) -> Iterable[Block]:
    about = dots(
        one_line(thing.model_name, 120), badge("simulated") if thing.is_simulated else None
    )
    yield Head((one_line(thing.name, 120),), "robot", about)


def _description(thing: Robot[Any]) -> Iterable[Block]:
    if thing.description:
        yield Para((one_line(thing.description, 400),))


def _prompt(thing: Robot[Any]) -> Iterable[Block]:
    prompt = thing.system_prompt
    if not prompt:
        if getattr(thing, "template", None) is None:
            yield Para((quiet("no system prompt"),))
        return
    yield Quote((Para((one_line(prompt, _EXCERPT),)),))


def _fields(thing: Robot[Any]) -> Iterable[Block]:
    rows = [*_told(thing), ("tools", _tools(thing)), ("conversation", _said(thing))]
    if getattr(thing, "mcp_servers", ()):
        rows.insert(-1, ("tool servers", _servers(thing)))
    rows += [("budget", left_words(each)) for each in getattr(thing, "budgets", ())[:_BUDGETS]]
    yield Fields(tuple(rows))


def _told(thing: Robot[Any]) -> Iterable[tuple[str, Line]]:
    """The templates that its system message is made of."""
    template = getattr(thing, "template", None)
    if template is not None:
        yield "template", (code(one_line(_template_name(template), 120)),)
    skills = getattr(thing, "skills", ())
    if skills:
        names = (code(one_line(_template_name(each), 64)) for each in skills[:_TOOLS])
        yield "skills", dots(*names)


def _template_name(template: Any) -> object:
    return getattr(template, "name", template)


def _tools(thing: Robot[Any]) -> Line:
    names = [one_line(tool.name, 64) for tool in thing.tools]
    more = f"{len(names) - _TOOLS:,} more" if len(names) > _TOOLS else None
    return dots(*(code(name) for name in names[:_TOOLS]), more) or (quiet("none"),)


def _servers(thing: Robot[Any]) -> Line:
    """The tool servers with their state: whether one is open now, or could not be had."""
    from ..mcp.registry import session_of

    told = []
    for server in thing.mcp_servers[:_TOOLS]:
        session = session_of(server)
        status = "failed" if server.name in thing.failed_mcp_server_names else session.status
        tools = f"ready, {count(len(session.tools), 'tool')}" if session.tools else "ready"
        words = {"ready": tools, "closed": "not connected"}.get(status, status)
        sign = state_bit("failed") if status == "failed" else quiet(words)
        told.append((code(one_line(server.name, 64)), " ", sign))
    more = f"{len(thing.mcp_servers) - _TOOLS:,} more" if len(thing.mcp_servers) > _TOOLS else None
    return dots(*told, more)


def _said(thing: Robot[Any]) -> Line:
    said = [message for message in thing.messages if message.role != "system"]
    return (count(len(said), "message"),) if said else (quiet("empty"),)


def _whole_prompt(thing: Robot[Any]) -> Iterable[Block]:
    prompt = thing.system_prompt
    if prompt and one_line(prompt, _EXCERPT) != cut(prompt, _EXCERPT)[0]:
        yield Fold(("System prompt",), (Pre(prompt),), count(len(prompt), "character"))


def _conversation(thing: Robot[Any]) -> Iterable[Block]:
    said = [message for message in thing.messages if message.role != "system"]
    if said:
        blocks = tuple(transcript(said, one_line(thing.name, 80)))
        yield Fold(("Conversation",), blocks, counted(said), told=True)


def _configuration(thing: Robot[Any]) -> Iterable[Block]:
    own: list[tuple[Line, ...]] = []
    above: list[tuple[Line, ...]] = []
    left: list[tuple[Line, ...]] = []
    for name, setting in thing.effective_config.items():
        if name == "tools":  # listed above, with those that came from elsewhere
            continue
        value = masked(name, plain_setting(name, setting.value))
        default = setting.origin == "default"
        if value is None and default:
            continue
        origin = one_line(setting.origin, 64)
        told = "no limit" if value is None else _value(value)
        cells: Line = (one_line(name, 64), told, quiet(origin) if default else origin)
        group = own if setting.origin in _ROBOTS_OWN else left if default else above
        group.append(tuple((cell,) for cell in cells))
    rows = tuple(own + above + left)
    if rows:
        counts = ((own, "set here"), (above, "from elsewhere"), (left, "by default"))
        note = ", ".join(f"{len(group):,} {words}" for group, words in counts if group)
        yield Fold(("Configuration",), (Table(("setting", "value", "from"), rows),), note)


def _value(value: object) -> str:
    return one_line(value, 200) if isinstance(value, str) else value_line(value, 200)
