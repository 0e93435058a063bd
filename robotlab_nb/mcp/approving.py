"""Asking a person about servers: whether a command that a file names may run, what changed.

A command that a person wrote in code is theirs: it is shown once, and runs. One that stands in a
file may be another's: it is asked for before it first runs, and the run waits for the answer.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, NoAnswerChannel
from ..core.readings import reading
from ..runtime.asking import Question, ask, new_id
from ..runtime.notebook import painter
from .trust import command_of, trust

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..runtime.run import Run
    from .servers import Server

__all__ = ["BY_PERSON", "announce", "approved_changes", "refusal"]

#: who answers as a person does; a policy and a script know nothing of what is asked
BY_PERSON = frozenset({"input", "widget", "answer"})


def announce(server: Server) -> None:
    """Show the command of a server that never ran before, in the cell that needs it."""
    does = "starts" if server.kind == "stdio" else "connects to"
    command = command_of(server).replace("`", "'")
    text = f"Tool server `{server.name.replace('`', chr(39))}` {does} `{command}`"
    if painter() is not None:
        reading("notice")(text)
    else:
        said = reading("line")(text.replace("`", ""), 1000)
        print(f"robotlab_nb: {said}", file=sys.stderr)  # noqa: T201  (that is what it is for)


async def refusal(
    server: Server, origin: str, run: Run[Any], settings: Mapping[str, Any]
) -> str | None:
    """Ask whether a server that a file names may be used; why not, or None.

    Parameters
    ----------
    server : Server
    origin : str
        What names it.
    run : Run
        It waits for the answer.
    settings : mapping
        ``approve`` and ``ask_timeout``.
    """
    known = trust()
    if known.knows(server):
        return None
    question = Question(
        new_id(), "approval", f"May tool server {server.name!r} be used?", run.id,
        robot=run.scope.robot, tool=f"tool server {server.name}",
        arguments={"command": command_of(server)}, timeout_s=settings["ask_timeout"],
        why=f"{origin} names it, and it has not been used here before",
    )  # fmt: skip
    found = await ask(run, question, run.answers, settings["approve"], check=_unchangeable)
    if found.value is not True:
        reason = f": {found.value}" if isinstance(found.value, str) else ""
        return f"it was not approved{reason}"
    if found.by in BY_PERSON:
        known.remember(server)
    return None


async def approved_changes(
    server: Server, changed: Mapping[str, str], run: Run[Any], settings: Mapping[str, Any]
) -> dict[str, bool]:
    """Ask about tools that are described otherwise than before.

    Where nobody can be asked now, none is approved: the run goes on without them.

    Returns
    -------
    dict of str to bool
        The approved ones; True where a person said so and it is to be remembered.
    """
    import asyncio

    async def one(tool: str, diff: str) -> bool | None:
        question = Question(
            new_id(), "approval", f"May tool {tool!r} of {server.name!r} be used?", run.id,
            robot=run.scope.robot, tool=f"{tool} of {server.name}",
            arguments={"change": diff.split("\n")}, timeout_s=settings["ask_timeout"],
            why=f"tool server {server.name} describes it otherwise than when it was first used",
        )  # fmt: skip
        try:
            found = await ask(
                run, question, run.answers, settings["approve"], check=_unchangeable, suspend=False
            )
        except NoAnswerChannel:
            return None
        return found.by in BY_PERSON if found.value is True else None

    names = list(changed)
    agreed = await asyncio.gather(*(one(name, changed[name]) for name in names))
    return {n: kept for n, kept in zip(names, agreed, strict=True) if kept is not None}


def _unchangeable(arguments: Mapping[str, Any]) -> None:
    raise InputError("this can be approved or not, and not changed", hint="Answer True or False.")
