"""Notebook cells as Python: which magics mean what outside a notebook, and where checks stand.

It reads text and runs nothing. A magic that means nothing here (a plot's backend, an installation)
is left out, one that does work elsewhere (a shell command) is refused by its name.
"""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CellCode", "CheckSite", "check_sites", "names_of_checks", "read_cell", "tapes_in"]

#: cell magics whose cell is Python all the same
_SEEN_THROUGH = frozenset({"capture", "time"})
#: cell magics that only show something
_SHOWN = frozenset({"html", "javascript", "js", "latex", "markdown", "svg"})
#: cell magics of ours
OURS = frozenset({"robot", "robot_check", "prompt"})
#: line magics that set a notebook up
_SET_UP = frozenset(
    {"autoreload", "colors", "conda", "config", "load_ext", "mamba", "matplotlib", "pip", "pylab",
     "reload_ext", "unload_ext", "uv", "xmode"}
)  # fmt: skip
_INSTALLS = re.compile(r"!\s*(?:\S*python\S*\s+-m\s+)?(?:pip|uv|conda|mamba)\b")
_CELL = re.compile(r"\s*%%(\w+)[ \t]*(.*)\n?", re.MULTILINE)
_LINE = re.compile(r"(\s*)([%!].*|\?.*|[\w.]+\?{1,2}\s*|[\w, ]+=\s*[%!].*)$")


class CellCode(NamedTuple):
    """A cell as it can be run: its magic, what stands in the magic's line, and the rest.

    ``magic`` is None where the cell is Python. ``refused`` says what cannot be run, line by line.
    """

    magic: str | None
    line: str
    body: str
    refused: tuple[str, ...] = ()


class CheckSite(NamedTuple):
    """Where a check is made: cell, first and last line of the call, and its name, if it is told."""

    cell: int
    line: int
    end: int
    name: str | None
    source: str


def read_cell(source: str) -> CellCode:
    r"""A cell of a notebook.

    Parameters
    ----------
    source : str

    Examples
    --------
    >>> read_cell("%load_ext robotlab_nb\nx = 1").body
    'pass  # %load_ext robotlab_nb\nx = 1'
    >>> read_cell("!rm -r data").refused
    ('line 1: !rm -r data',)
    """
    found = _CELL.match(source)
    if found is None:
        return _python(source)
    name, line, body = found[1], found[2].strip(), source[found.end() :]
    if name in _SEEN_THROUGH:
        seen = _python(body)
        return seen._replace(body=f"# {found[0].strip()}\n{seen.body}")
    if name in _SHOWN:
        return CellCode(None, "", "")
    if name in OURS:
        if name == "robot_check":
            return _python(body)._replace(magic=name, line=line)
        return CellCode(name, line, body)
    return CellCode(None, "", "", (f"line 1: %%{name}",))


def _python(source: str) -> CellCode:
    """Python with the lines of IPython in it left out, or refused."""
    try:
        ast.parse(source)
    except SyntaxError:
        pass
    else:
        return CellCode(None, "", source)
    refused: list[str] = []
    lines = []
    for n, line in enumerate(source.split("\n"), 1):
        found = _LINE.match(line)
        told = line if found is None else _instead(found[1], found[2].strip())
        if told is None:
            refused.append(f"line {n}: {line.strip()[:60]}")
            told = f"pass  # {line.strip()}"
        lines.append(told)
    body = "\n".join(lines)
    try:
        compile(body, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        at = getattr(error, "lineno", None)
        refused.append(f"line {at or 1}: not Python ({getattr(error, 'msg', error)})")
    return CellCode(None, "", body, tuple(refused))


def _instead(space: str, told: str) -> str | None:
    """What stands for a line of IPython; None where nothing does."""
    if told.startswith("?") or told.endswith("?"):
        return f"{space}pass  # {told}"
    if told.startswith("!"):
        return f"{space}pass  # {told}" if _INSTALLS.match(told) else None
    if not told.startswith("%"):
        return None
    name, _, rest = told.lstrip("%").partition(" ")
    if name in _SET_UP:
        return f"{space}pass  # {told}"
    if name == "time" and rest.strip():
        return f"{space}{rest.strip()}"
    return None


# -- what is in it ---------------------------------------------------------------------------


def names_of_checks(trees: Iterable[ast.AST]) -> tuple[frozenset[str], frozenset[str]]:
    """What the package and its ``check`` are called in some code."""
    package, function = set(), set()
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                package |= {a.asname or a.name for a in node.names if a.name == "robotlab_nb"}
            elif isinstance(node, ast.ImportFrom) and node.module == "robotlab_nb":
                function |= {a.asname or a.name for a in node.names if a.name == "check"}
    return frozenset(package), frozenset(function)


def check_sites(
    cell: int, tree: ast.AST, names: tuple[frozenset[str], frozenset[str]]
) -> list[CheckSite]:
    """The calls of ``check`` in a cell, in order.

    Parameters
    ----------
    cell : int
    tree : ast.AST
    names : pair of frozenset
        As :func:`names_of_checks` gives them.
    """
    package, function = names
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func
        ours = (isinstance(called, ast.Name) and called.id in function) or (
            isinstance(called, ast.Attribute)
            and called.attr == "check"
            and isinstance(called.value, ast.Name)
            and called.value.id in package
        )
        if ours:
            name = next((_text(k.value) for k in node.keywords if k.arg == "name"), None)
            end = node.end_lineno or node.lineno
            found.append(CheckSite(cell, node.lineno, end, name, ast.unparse(node)))
    return sorted(found)


def tapes_in(trees: Iterable[ast.AST]) -> list[str]:
    """The tapes that some code names: ``rl.tape("…")``, ``options.tape = "…"``, ``tape="…"``."""
    found: list[str | None] = []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", None))
                if name == "tape" and node.args:
                    found.append(_text(node.args[0]))
                found += [_text(k.value) for k in node.keywords if k.arg == "tape"]
            elif isinstance(node, ast.Assign) and any(
                isinstance(t, ast.Attribute) and t.attr == "tape" for t in node.targets
            ):
                found.append(_text(node.value))
    return list(dict.fromkeys(name for name in found if name))


def _text(node: ast.AST) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
