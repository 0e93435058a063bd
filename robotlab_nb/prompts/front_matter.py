"""The head of a Markdown file: YAML between two lines of three dashes.

Splits it off, and reads what the head of a template may say. Renders nothing.
"""

from __future__ import annotations

import functools
import importlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.config import FIELDS
from ..core.errors import ConfigurationError, UnknownKeyword, near
from ..core.option_files import GRANTS, check_data, sparse
from ..core.yaml_text import read_mapping
from ..tools.decorator import Tool, as_tool
from .parameters import Parameter, read_parameters

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["FrontMatter", "Split", "is_dotted", "read_front", "resolve_tool", "split"]

_OPENS = re.compile(r"---[ \t]*\r?\n")
_COMMENT = re.compile(r"\s*<!--")
_BLANK = re.compile(r"\s+")
_CLOSES = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")

#: what a template says of itself; everything else is a setting
_OWN = (
    "robot_name", "description", "tools", "mcp", "skills", "agent_skills", "parameters",
    "shell", "environment",
)  # fmt: skip
#: settings that no template can make: they are needed before one is read, or allow it more
_NOT_HERE = GRANTS | {"prompts_path", "redact", "tape", "tape_mode"}


class Split(NamedTuple):
    """A text in two: its head, or None, and the rest; and on which lines they begin."""

    front: str | None
    body: str
    front_line: int
    body_line: int


def split(text: str, where: str = "text") -> Split:
    r"""Split a front matter off a text.

    There is one when the very first line is ``---``; only HTML comments may stand before it.

    Parameters
    ----------
    text : str
    where : str, optional
        For errors.

    Returns
    -------
    Split
        Without a front matter, ``body`` is the whole text as it is.

    Raises
    ------
    ConfigurationError
        When it is opened and never closed.

    Examples
    --------
    >>> split("---\nmodel: simulated\n---\nHello")
    Split(front='model: simulated\n', body='Hello', front_line=2, body_line=4)
    >>> split("Hello").front is None
    True
    """
    opened = _OPENS.match(text, _after_comments(text))
    if opened is None:
        return Split(None, text, 1, 1)
    line = text.count("\n", 0, opened.start()) + 1
    closed = _CLOSES.search(text, opened.end())
    if closed is None:
        raise ConfigurationError(
            f"{where}: the front matter that begins on line {line} does not end",
            hint="Close it with a line `---`; a rule at the top of a text needs a blank line "
            "before it.",
        )
    end = min(closed.end() + 1, len(text))
    return Split(
        text[opened.end() : closed.start()], text[end:], line + 1, text.count("\n", 0, end) + 1
    )


def _after_comments(text: str) -> int:
    """Where the first line stands that follows the leading comments; without them, the start."""
    start = at = 1 if text.startswith("\ufeff") else 0
    while comment := _COMMENT.match(text, at):
        closed = text.find("-->", comment.end())
        if closed < 0:
            return start
        at = closed + 3
    blank = _BLANK.match(text, at)
    line = at if blank is None else blank.end()
    return line if at > start and text[line - 1] == "\n" else start


@dataclass(frozen=True)
class FrontMatter:
    """What the head of a template says, checked.

    Attributes
    ----------
    data : mapping
        As it was read.
    robot_name, description : str or None
    tools : tuple of str or None
        Names, globs and ``package.module:attribute``; None when it says nothing of tools.
    mcp : tuple or None
        Tool servers, as they were written.
    skills : tuple of str
        Template skills.
    agent_skills : bool or tuple of str or None
    parameters : tuple of Parameter
    shell, environment : bool
        Whether it asks that its ``$(commands)`` are run and its ``$NAMES`` are filled in.
    settings : mapping
        The level that it sets.
    """

    data: Mapping[str, Any] = field(default_factory=dict)
    robot_name: str | None = None
    description: str | None = None
    tools: tuple[str, ...] | None = None
    mcp: tuple[Any, ...] | None = None
    skills: tuple[str, ...] = ()
    agent_skills: bool | tuple[str, ...] | None = None
    parameters: tuple[Parameter, ...] = ()
    shell: bool = False
    environment: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


NOTHING = FrontMatter()


def read_front(front: str | None, where: str, line: int = 2) -> FrontMatter:
    r"""Read a template's front matter.

    Parameters
    ----------
    front : str or None
        The YAML; None when there is none.
    where : str
        For errors: which template, and its file.
    line : int, optional
        The line of the file on which the YAML begins.

    Raises
    ------
    ConfigurationError
        For broken YAML, an unknown key, a value of the wrong type. It names file and line.

    Examples
    --------
    >>> found = read_front("temperature: 0.2\nskills: [tone]", "a.md")
    >>> found.settings, found.skills
    ({'temperature': 0.2}, ('tone',))
    """
    if front is None:
        return NOTHING
    data, lines = read_mapping(front, where, first_line=line)
    settings: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for key, value in data.items():
        at = f"{where}, line {lines[key]}"
        if key not in _OWN:
            settings[key] = _setting(key, value, at)
        elif key == "parameters":
            own[key] = read_parameters(value, at)
        elif value is not None:
            own[key] = _READERS[key](value, f"{at}: {key}:")
    return FrontMatter(data=data, settings=sparse(settings), **own)


def _setting(key: str, value: Any, where: str) -> Any:
    if key in _NOT_HERE:
        raise ConfigurationError(
            f"{where}: a template cannot set {key}", hint=f"Set rl.options.{key}, or {key}=."
        )
    if key not in FIELDS:
        known = [*_OWN, *(name for name in FIELDS if name not in _NOT_HERE)]
        hint = "Did you mean 'robot_name'?" if key == "name" else near(key, known, limit=20)
        raise UnknownKeyword(f"{where}: no template has {key!r}", hint=hint)
    return check_data(key, value, where)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ConfigurationError(f"{where} takes a text, not {value!r:.80}")
    return value.strip()


def _yes_or_no(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise ConfigurationError(f"{where} is true or false, not {value!r:.80}")
    return value


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(v, str) and v.strip() for v in value):
        raise ConfigurationError(
            f"{where} takes a list of names, not {value!r:.80}", hint="Put it in brackets: [a, b]."
        )
    return tuple(v.strip() for v in value)


def _servers(value: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(value, list) or not all(isinstance(v, (str, dict)) for v in value):
        raise ConfigurationError(f"{where} takes a list of servers, not {value!r:.80}")
    return tuple(value)


def _all_or_names(value: Any, where: str) -> bool | tuple[str, ...]:
    return value if isinstance(value, bool) else _names(value, where)


_READERS: dict[str, Any] = {
    "robot_name": _text,
    "description": _text,
    "tools": _names,
    "mcp": _servers,
    "skills": _names,
    "agent_skills": _all_or_names,
    "shell": _yes_or_no,
    "environment": _yes_or_no,
}


@functools.lru_cache(maxsize=256)
def _made_of(cls: type[Tool]) -> Tool:
    """The one tool of a class that files name: what it holds lasts from run to run."""
    return as_tool(cls)


def is_dotted(ref: str) -> bool:
    """Whether a tool is named by where it is defined, not by its name.

    Examples
    --------
    >>> is_dotted("shop.tools:find_order"), is_dotted("find_*")
    (True, False)
    """
    return ":" in ref


def resolve_tool(ref: str, where: str) -> Tool:
    """The tool that ``package.module:attribute`` names.

    Only a :class:`Tool` or a subclass of it is taken: a file must not turn any function of any
    module into something that a model may call.

    Parameters
    ----------
    ref : str
    where : str
        For errors: which template, and its file.

    Raises
    ------
    ConfigurationError
        When the module cannot be imported, it has no such attribute, or that is no tool.

    Examples
    --------
    >>> resolve_tool("os:system", "template 'x' (x.md)")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: template 'x' (x.md): 'os:system' is a \
builtin_function_or_method, not a tool. Only what was declared as a tool can be named by a file: \
put @rl.tool above the function.
    """
    if not _DOTTED.fullmatch(ref):
        raise ConfigurationError(
            f"{where}: {ref!r:.200} names no tool", hint="Write package.module:name."
        )
    module_name, _, path = ref.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:
        raise ConfigurationError(
            f"{where}: the module of {ref!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    for name in path.split("."):
        try:
            found = getattr(found, name)
        except AttributeError:
            raise ConfigurationError(
                f"{where}: {ref!r} does not exist",
                hint=near(name, [n for n in dir(found) if not n.startswith("_")]),
            ) from None
    if isinstance(found, Tool):
        return as_tool(found)
    if isinstance(found, type) and issubclass(found, Tool):
        return _made_of(found)  # type: ignore[arg-type]
    raise ConfigurationError(
        f"{where}: {ref!r} is a {type(found).__name__}, not a tool",
        hint="Only what was declared as a tool can be named by a file: "
        "put @rl.tool above the function.",
    )
