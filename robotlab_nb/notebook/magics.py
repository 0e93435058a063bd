"""``%load_ext robotlab_nb``: asking robots in plain text.

``%%robot`` sends its cell to a robot, ``%robot`` its line; ``%%prompt`` keeps its cell as a
template; ``%robots`` lists who is there; ``%%robot_check`` checks what its cell says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import (
    Magics,
    cell_magic,
    line_cell_magic,
    line_magic,
    magics_class,
    needs_local_scope,
    no_var_expand,
)

from ..core.errors import InputError
from .check_magic import CheckMagics
from .magic_complete import Completions
from .magic_line import PROMPT, ROBOT, Given, read
from .magic_names import Member, checked_name, filled, member, members
from .magic_questions import Questions
from .magic_tables import Help, RobotList

if TYPE_CHECKING:
    from collections.abc import Mapping

    from IPython.core.interactiveshell import InteractiveShell

    from ..robot.robot import Robot
    from .dry_run import DryRun

__all__ = ["load", "unload"]

_CELL = "%%robot [NAME] [flags], then the message"
_LINE = "%robot [flags] NAME message"
_MAGICS = {"line": ("robot", "robots"), "cell": ("robot", "prompt", "robot_check")}


def load(shell: InteractiveShell) -> None:
    """Register the magics and their completion; those that are there are replaced.

    Parameters
    ----------
    shell : InteractiveShell
    """
    unload(shell)
    shell.register_magics(RobotMagics(shell), CheckMagics(shell))
    Completions(shell).install()
    Questions(shell).install()


def unload(shell: InteractiveShell) -> None:
    """Take the magics and their completion away.

    Parameters
    ----------
    shell : InteractiveShell
    """
    Completions(shell).remove()
    Questions(shell).remove()
    for kind, names in _MAGICS.items():
        known = shell.magics_manager.magics[kind]
        for name in names:
            if isinstance(getattr(known.get(name), "__self__", None), (_Ours, CheckMagics)):
                del known[name]
    for name in ("RobotMagics", "CheckMagics"):
        shell.magics_manager.registry.pop(name, None)


class _Ours(Magics):
    """Marks the magics of this package, whichever version of this module made them."""


@magics_class
class RobotMagics(_Ours):
    """The magics, for one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell=shell)
        self._at = shell
        #: whom a cell without a name asks, once one did
        self._plain: Robot[Any] | None = None

    # -- asking ----------------------------------------------------------------------------

    @no_var_expand
    @needs_local_scope
    @line_cell_magic
    def robot(self, line: str, cell: str | None = None, local_ns: Any = None) -> Any:
        """Ask a robot or a network; ``%%robot --help`` tells how."""
        given = self._read(line, ROBOT, _LINE if cell is None else _CELL)
        if given["help"]:
            return Help("robot", ROBOT)
        if cell is not None and given["rest"]:
            raise UsageError(
                f"{given['rest'].split()[0]!r} is one word too many: the message stands "
                f"beneath the first line. Usage: {_CELL}"
            )
        message = given["rest"] if cell is None else cell.strip("\n")
        namespace = self._namespace(local_ns)
        name = given["name"]
        if cell is None and name is None and not message:
            raise UsageError(f"Usage: {_LINE}")
        who = self._who(name, namespace, line=cell is None)
        if not message.strip():
            raise InputError(
                f"there is no message for {name or 'the robot'}",
                hint="Write it beneath the first line of the cell." if cell is not None else _LINE,
            )
        if not given["literal"]:
            where = "%robot" if cell is None else "%%robot"
            hidden = set(self._at.user_ns_hidden) - {"_"}
            message = filled(message, namespace, where=where, hidden=hidden)
        out = None if given["out"] is None else checked_name(given["out"], "-o")
        made = self._answer(who, message, given, namespace)
        if out is not None:
            self._at.user_ns[out] = made
        return made

    def _answer(self, who: Member, message: str, given: Given, namespace: Mapping[str, Any]) -> Any:
        level = {} if given["model"] is None else {"model": given["model"]}
        context = _context(given["context"], namespace)
        if given["dry"]:
            return _dry(who, message, level, context)
        show = given["show"]
        # A cell of plain text is watched by whoever wrote it.
        return who.run(
            message, context=context, config=level or None, show=True if show is None else show
        )

    def _who(self, name: str | None, namespace: Mapping[str, Any], *, line: bool) -> Member:
        if name is not None:
            otherwise = "%robot - message" if line else "%%robot"
            return member(
                name, namespace, otherwise=f"To ask a plain assistant, write {otherwise}."
            )
        if self._plain is None:
            from ..robot.robot import build

            self._plain = build("assistant")
        return self._plain

    # -- prompts and lists -----------------------------------------------------------------

    @no_var_expand
    @cell_magic
    def prompt(self, line: str, cell: str) -> Any:
        """Keep the cell as a template; ``%%prompt --help`` tells how."""
        usage = "%%prompt NAME [--text], then the prompt"
        given = self._read(line, PROMPT, usage)
        if given["help"]:
            return Help("prompt", PROMPT)
        if given["rest"] or (given["name"] and given["out"]):
            raise UsageError(f"one name is enough. Usage: {usage}")
        name = checked_name(given["name"] or given["out"], "%%prompt")
        from ..prompts.templates import Template

        before = self._at.user_ns.get(name)
        if before is not None and not isinstance(before, (str, Template)):
            raise InputError(
                f"{name} holds a {type(before).__name__}, which would be lost",
                hint="Choose another name.",
            )
        text = cell.strip("\n")
        made = text if given["text"] else Template(text, name)
        self._at.user_ns[name] = made
        return made

    @line_magic
    def robots(self, line: str) -> RobotList:
        """List the robots and networks that variables hold."""
        if line.strip():
            raise UsageError("%robots takes nothing")
        return RobotList(members(self._at.user_ns))

    # -- what they share -------------------------------------------------------------------

    def _read(self, line: str, flags: Any, usage: str) -> Given:
        try:
            return read(line, flags, usage=usage)
        except InputError as error:
            raise UsageError(str(error)) from None

    def _namespace(self, local_ns: Any) -> dict[str, Any]:
        return {**self._at.user_ns, **(local_ns or {})}


def _context(name: str | None, namespace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The dict that ``--context`` names."""
    from collections.abc import Mapping as Any_

    if name is None:
        return None
    found = namespace.get(name)
    if not isinstance(found, Any_):
        kind = f"a {type(found).__name__}" if name in namespace else "not there"
        raise InputError(f"--context takes a dict, and {name!r} is {kind}")
    return found


def _dry(
    who: Member, message: str, level: dict[str, Any], context: Mapping[str, Any] | None
) -> DryRun:
    from ..network.network import Network
    from .dry_run import dry_network, dry_robot

    if isinstance(who, Network):
        return dry_network(who, message, level=level, context=context)
    return dry_robot(who, message, level=level, context=context)
