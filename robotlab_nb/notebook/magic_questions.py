"""A line ``%robot bot … ?`` is a question to a robot, and IPython would take it for one to itself.

IPython reads any line that ends in ``?`` as a wish for help on its last word. Lines of ours are
rewritten before it sees them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Questions"]

_LINE = re.compile(r"(\s*)%robot[ \t]+(\S.*\?)\s*\Z")


class Questions:
    """Lets lines of ``%robot`` end in a question mark.

    Parameters
    ----------
    shell : InteractiveShell
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def install(self) -> None:
        """Read such lines from now on."""
        self.shell.input_transformers_cleanup.append(self)

    def remove(self) -> None:
        """Read them no more."""
        kept = [t for t in self.shell.input_transformers_cleanup if type(t).__name__ != "Questions"]
        self.shell.input_transformers_cleanup[:] = kept

    def __call__(self, lines: list[str]) -> list[str]:
        """The lines of a cell, those of ours as calls."""
        if _first(lines).startswith("%%"):
            return lines
        return [
            self._call(line) if _LINE.match(line) and not _open_text(lines[:number]) else line
            for number, line in enumerate(lines)
        ]

    def _call(self, line: str) -> str:
        found = _LINE.match(line)
        assert found is not None
        return f"{found[1]}get_ipython().run_line_magic('robot', {found[2]!r})\n"


def _first(lines: list[str]) -> str:
    return next((line for line in lines if line.strip()), "").lstrip()


def _open_text(before: list[str]) -> bool:
    """Whether a text in quotes is still open after some lines."""
    import io
    import tokenize

    try:
        for _ in tokenize.generate_tokens(io.StringIO("".join(before)).readline):
            pass
    except tokenize.TokenError as error:
        return "string" in str(error)
    except SyntaxError:
        return False
    return False
