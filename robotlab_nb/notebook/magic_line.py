"""The line of a magic: its flags, its name, and in the line form the message. Knows no notebook.

What follows the flags is a message as it was typed: quotes, braces and dollars stay.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from ..core.errors import InputError, near

__all__ = ["HELP", "PROMPT", "ROBOT", "Flag", "Given", "names_of", "read"]


class Flag(NamedTuple):
    """A flag of a magic: how it is written, what it means, and the value it takes, if any."""

    names: tuple[str, ...]
    doc: str
    value: str = ""
    #: under which name :class:`Given` has it, where that is not the flag's own
    under: str = ""
    #: what it means when it is there
    const: Any = True

    @property
    def dest(self) -> str:
        """Under which name :class:`Given` has it."""
        return self.under or self.names[-1].lstrip("-").replace("-", "_")


HELP = Flag(("-h", "--help"), "show this")

ROBOT = (
    Flag(("-o", "--out"), "keep the result in this variable", "VAR"),
    Flag(("-m", "--model"), "another model, for this message alone", "PROVIDER/NAME"),
    Flag(("-c", "--context"), "a dict of values for the robot's template, or the tasks", "VAR"),
    Flag(("-d", "--dry"), "show what would be sent; nothing is asked, nothing is spent"),
    Flag(("--show",), "show the run live", under="show"),
    Flag(("--no-show",), "show the result alone", under="show", const=False),
    Flag(("--literal",), "send the text as it is: {{ }} is not filled"),
    HELP,
)
PROMPT = (
    Flag(("-o", "--out"), "another way to name the variable", "VAR"),
    Flag(("-t", "--text"), "keep it as a plain text, for system_prompt="),
    HELP,
)

#: a word, or what stands in quotes
_WORD = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[^\s"'])+|["'])""")


class Given(dict[str, Any]):
    """What a line says: the flags' values by name, ``name``, and ``rest``.

    Examples
    --------
    >>> given = read("bot -o answer It's {{ late }}", ROBOT, usage="%robot NAME message")
    >>> given["name"], given["out"], given["rest"]
    ('bot', 'answer', "It's {{ late }}")
    """


def read(line: str, flags: tuple[Flag, ...], *, usage: str) -> Given:
    """Read a magic's line.

    Flags may stand before the name and after it; ``-`` is no name, ``--`` ends the flags.

    Parameters
    ----------
    line : str
    flags : tuple of Flag
    usage : str
        How the magic is written, for errors.

    Returns
    -------
    Given
        ``name`` is None where there is none, and ``rest`` what follows flags and name.

    Raises
    ------
    InputError
        For an unknown flag, with the near one, and for one without its value.
    """
    by_name = {name: flag for flag in flags for name in flag.names}
    given = Given({flag.dest: None if flag.value or flag.under else False for flag in flags})
    given["name"], at, named = None, 0, False
    while match := _WORD.match(line, at):
        word = match.group(1)
        if word == "--":
            at = match.end()
            break
        if not word.startswith("-") or word == "-":
            if named:
                break
            named, at = True, match.end()
            given["name"] = None if word == "-" else word
            continue
        at = match.end()
        written, equals, value = word.partition("=")
        flag = by_name.get(written)
        if flag is None:
            raise InputError(
                f"there is no flag {written}",
                hint=f"{near(written, by_name)} Usage: {usage}; -- ends the flags.",
            )
        if flag.value and not equals:
            following = _WORD.match(line, at)
            if following is None:
                raise InputError(f"{written} takes a value: {written} {flag.value}")
            value, at = following.group(1), following.end()
        elif equals and not flag.value:
            raise InputError(f"{written} takes no value", hint=f"Usage: {usage}")
        given[flag.dest] = _unquoted(value) if flag.value else flag.const
    given["rest"] = line[at:].strip()
    return given


def _unquoted(value: str) -> str:
    quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
    return value[1:-1] if quoted else value


def names_of(flags: tuple[Flag, ...]) -> list[str]:
    """All spellings of flags, for completion."""
    return [name for flag in flags for name in flag.names]
