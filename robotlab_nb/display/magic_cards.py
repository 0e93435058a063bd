"""The pictures of what magics show: a dry run, who can be asked, how a magic is written.

Reads the attributes of what the notebook room makes, and knows its classes by name alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.usage import Usage
from .amounts import cost as cost_words
from .amounts import count, tokens
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
    Quote,
    Table,
    badge,
    bold,
    code,
    dots,
    part,
    quiet,
)
from .transcript import counted, transcript

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .parts import Block, Line

__all__ = ["dry", "help_of", "robots"]

#: characters of the message that stand open; tools, tasks and members that are listed
_MESSAGE, _ROWS = 4000, 60
_USAGE = {
    "robot": (
        ("%%robot [NAME] [flags]", "sends the text beneath it, to a plain assistant without NAME"),
        ("%robot [flags] NAME message", "the same in one line"),
    ),
    "prompt": (("%%prompt NAME [flags]", "keeps the text beneath it as a template"),),
}
_MORE = {
    "robot": (
        "NAME is a variable that holds a robot or a network. {{ name }} in the text is filled "
        "from the notebook's variables. The result is the cell's value: _, or the variable of -o."
    ),
    "prompt": (
        "Use it as template= of a robot. {{ name }} stays and becomes a parameter; a head between "
        "two lines --- may set anything that a template's file may."
    ),
}


def dry(thing: Any) -> Picture:
    """The picture of what would be sent.

    Parameters
    ----------
    thing : DryRun
    """
    blocks = (
        *part("name", lambda: _head(thing)),
        *part("refusal", lambda: _refusal(thing)),
        *part("message", lambda: _message(thing)),
        *part("figures", lambda: [Para(_figures(thing), quiet=True)]),
        *part("notes", lambda: [Para((quiet(one_line(n, 300)),)) for n in thing.notes]),
        *part("tasks", lambda: _tasks(thing)),
        *part("system message", lambda: _system(thing)),
        *part("conversation", lambda: _before(thing)),
        *part("tools", lambda: _tools(thing)),
        *part("settings", lambda: _params(thing)),
    )
    return Picture(blocks, framed=True)


def _head(thing: Any) -> Iterable[Block]:
    model = one_line(thing.model, 120) if thing.model else count(len(thing.tasks), "task")
    about = dots(model, badge("simulated") if thing.simulated else None)
    yield Head((one_line(thing.name, 120),), thing.kind, about, (badge("dry run: nothing sent"),))


def _refusal(thing: Any) -> Iterable[Block]:
    if thing.refused:
        mark = Bit("it would be refused", "state", icon="✕", hue="kf")
        yield Quote((Para(dots(mark, clip(thing.refused, 2000))),), "rail", "kf")


def _message(thing: Any) -> Iterable[Block]:
    yield Quote((Para((clip(thing.message, _MESSAGE),)),), "person")
    last = thing.messages[-1].parts if thing.messages else ()
    media = sum(part.kind == "media" for part in last)
    if media:
        yield Para((quiet(f"with {count(media, 'attachment')}"),))


def _figures(thing: Any) -> Line:
    first = "" if thing.kind == "robot" else " for the tasks that come first"
    usage = Usage(thing.tokens, 0, estimated=True, cost_usd=thing.cost_usd)
    share = None
    if thing.window:
        filled = thing.tokens / thing.window
        share = f"{filled:.1%}" if filled >= 0.001 else "under 0.1%"
        share += " of the model's window"
    price = None if thing.simulated else f"{cost_words(usage)} to read"
    return dots(
        f"{tokens(usage)}{first}",
        count(len(thing.messages), "message") if thing.messages else None,
        count(len(thing.tools), "tool") if thing.tools else None,
        share,
        price,
    )


def _system(thing: Any) -> Iterable[Block]:
    if thing.system:
        note = count(len(thing.system), "character")
        yield Fold(("System message",), (Pre(thing.system),), note, told=True)


def _before(thing: Any) -> Iterable[Block]:
    before = [m for m in thing.messages[:-1] if m.role != "system"]
    if before:
        blocks = tuple(transcript(before, one_line(thing.name, 80)))
        yield Fold(("Conversation before it",), blocks, counted(before))


def _tools(thing: Any) -> Iterable[Block]:
    if not thing.tools:
        return
    rows = tuple(
        ((code("", lead=one_line(one.name, 64)),), (one_line(one.description, 200),))
        for one in thing.tools[:_ROWS]
    )
    more = len(thing.tools) - len(rows)
    blocks: list[Block] = [Table(("tool", "what the model is told of it"), rows)]
    if more > 0:
        blocks.append(Para((quiet(f"… {more:,} more"),)))
    yield Fold(("Tools",), tuple(blocks), f"{len(thing.tools):,}", told=True)


def _params(thing: Any) -> Iterable[Block]:
    if thing.params:
        rows = tuple((one_line(k, 64), (_value(k, v),)) for k, v in thing.params.items())
        yield Fold(("Settings sent",), (Fields(rows),), f"{len(rows):,}", told=True)


def _value(name: str, value: Any) -> str:
    shown = masked(name, value)
    return one_line(shown, 200) if isinstance(shown, str) else value_line(shown, 200)


def _tasks(thing: Any) -> Iterable[Block]:
    if not thing.tasks:
        return
    rows = tuple(_task_row(one) for one in thing.tasks[:_ROWS])
    yield Table(("task", "by", "is asked", "tokens"), rows, frozenset({3}))
    if len(thing.tasks) > _ROWS:
        yield Para((quiet(f"… {len(thing.tasks) - _ROWS:,} more tasks"),))


def _task_row(one: Any) -> tuple[Line, ...]:
    who = one_line(one.runner, 60)
    if one.asks is not None:
        model = f" ({one_line(one.asks.model, 60)})" if one.asks.model else ""
        asked: Line = (one_line(one.asks.message, 160),)
        return (bold(one_line(one.name, 60)),), (f"{who}{model}",), asked, (f"{one.asks.tokens:,}",)
    when = f"after {', '.join(one_line(n, 40) for n in one.after[:6])}" if one.after else one.kind
    if len(one.after) > 6:
        when += f" and {len(one.after) - 6:,} more"
    said = f": {one_line(one.prompt, 120)}" if one.prompt else ""
    optional = ", if it is chosen" if one.optional else ""
    return (
        (bold(one_line(one.name, 60)),), (f"{who}, a {one.kind}" if one.kind != "robot" else who,),
        (quiet(f"{when}{optional}{said}"),), ("",),
    )  # fmt: skip


def robots(thing: Any) -> Picture:
    """The picture of the robots and networks of a notebook.

    Parameters
    ----------
    thing : RobotList
    """

    def blocks() -> Iterable[Block]:
        found = list(thing.members.items())
        yield Head(("robots and networks",), "notebook", (count(len(found), "variable"),))
        if not found:
            yield Para(("none yet: ", code('bot = rl.build("bot")')))
            return
        rows: list[tuple[Line, ...]] = []
        for variable, one in found[:_ROWS]:
            rows.extend(_member(variable, one))
        yield Table(("variable", "what", "model", "holds"), tuple(rows))
        if len(found) > _ROWS:
            yield Para((quiet(f"… {len(found) - _ROWS:,} more"),))
        yield Para(
            (code(f"%%robot {one_line(found[0][0], 40)}"), " asks the first one"), quiet=True
        )

    return Picture(part("robots", blocks), framed=True)


def _member(variable: str, one: Any) -> Iterable[tuple[Line, ...]]:
    """A row; one that cannot be read says so, and the others stand."""
    name = (code(one_line(variable, 64)),)
    try:
        if hasattr(one, "tasks"):
            models = sorted({robot.model_name for robot in one.crew})
            shown = ", ".join(one_line(m, 60) for m in models[:3]) + ("…" if models[3:] else "")
            yield (
                name, (f"network {one_line(one.name, 60)}",), (shown or quiet("none"),),
                dots(count(len(one.tasks), "task"), count(one.robot_count, "robot")),
            )  # fmt: skip
            return
        said = sum(m.role != "system" for m in one.messages)
        simulated = badge("simulated") if one.is_simulated else None
        yield (
            name, (f"robot {one_line(one.name, 60)}",),
            dots(one_line(one.model_name, 60), simulated),
            dots(count(len(one.tools), "tool"), count(said, "message") if said else None),
        )  # fmt: skip
    except Exception as error:
        yield name, (f"cannot be used: {one_line(error, 120)}",), ("",), ("",)


def help_of(thing: Any) -> Picture:
    """The picture of how a magic is written.

    Parameters
    ----------
    thing : Help
    """

    def blocks() -> Iterable[Block]:
        for usage, meaning in _USAGE[thing.magic]:
            yield Para((code(usage), f"  {meaning}"))
        rows = tuple(
            ((code(", ".join(flag.names) + (f" {flag.value}" if flag.value else "")),), (flag.doc,))
            for flag in thing.flags
        )
        yield Table(("flag", "what it does"), rows)
        yield Para((quiet(_MORE[thing.magic]),))

    return Picture(part("help", blocks), framed=True)
