"""Rendering prompt text with Jinja, sandboxed: no attribute of Python's insides can be reached.

A prompt is text for a model, so nothing is escaped; a name without a value is an error, and so
is a text that grows past ``LONGEST`` characters.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError, near

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import jinja2

__all__ = ["LONGEST", "bounded", "check_prompt", "placeholders", "render", "sandbox"]

#: characters of a rendered text
LONGEST = 2_000_000
#: bits of a number that a template may make with ``**``
_MOST_BITS = 10_000


@functools.cache
def sandbox() -> type[jinja2.Environment]:
    """Jinja's sandbox, in which values cannot be changed and a short text stays short."""
    from jinja2.exceptions import SecurityError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Sandbox(ImmutableSandboxedEnvironment):
        #: worked out below, and not while a template is compiled
        intercepted_binops = frozenset({"*", "**"})

        def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
            if _size_of(operator, left, right) > LONGEST:
                raise SecurityError(f"the result of {operator} is too large")
            return super().call_binop(context, operator, left, right)

    return Sandbox


def _size_of(operator: str, left: Any, right: Any) -> float:
    """How long a product would be, at least; 0 where it cannot be long."""
    if operator == "**":
        whole = isinstance(left, int) and isinstance(right, int)
        return LONGEST + 1 if whole and left.bit_length() * right > _MOST_BITS else 0
    for many, times in ((left, right), (right, left)):
        if isinstance(times, int) and hasattr(many, "__len__"):
            return len(many) * times
    return 0


@functools.cache
def _environment() -> jinja2.Environment:
    from jinja2 import StrictUndefined

    return sandbox()(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)


@functools.lru_cache(maxsize=512)
def _compiled(text: str) -> jinja2.Template:
    return _environment().from_string(text)


def check_prompt(text: str) -> str | None:
    """Say what is wrong with a prompt's syntax; None when nothing is.

    Examples
    --------
    >>> check_prompt("Answer {{ message }}")
    >>> check_prompt("Answer {{ message")
    "unexpected end of template, expected 'end of print statement'. (line 1)"
    """
    from jinja2 import TemplateSyntaxError

    try:
        _compiled(text)
    except TemplateSyntaxError as error:
        return f"{error.message} (line {error.lineno})"
    return None


@functools.lru_cache(maxsize=512)
def placeholders(text: str) -> frozenset[str]:
    """The names that a prompt takes from outside; none for a text that is no Jinja.

    Examples
    --------
    >>> sorted(placeholders("{% for city in cities %}{{ city }} in {{ season }}{% endfor %}"))
    ['cities', 'season']
    >>> placeholders("Say {{")
    frozenset()
    """
    if "{" not in text:
        return frozenset()
    from jinja2 import TemplateSyntaxError, meta

    try:
        return frozenset(meta.find_undeclared_variables(_environment().parse(text)))
    except TemplateSyntaxError:
        return frozenset()


def render(text: str, values: Mapping[str, Any], *, where: str = "prompt") -> str:
    """Fill a prompt's placeholders.

    Parameters
    ----------
    text : str
        Jinja: ``{{ message }}``, ``{% if … %}``.
    values : mapping
        What the names stand for.
    where : str, optional
        For errors.

    Returns
    -------
    str

    Raises
    ------
    ConfigurationError
        For a syntax error, a name without a value, something the sandbox forbids, or a text of
        more than ``LONGEST`` characters.

    Examples
    --------
    >>> render("Hello {{ name }}", {"name": "Ada"})
    'Hello Ada'
    >>> render("Hello {{ nam }}", {"name": "Ada"})
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: prompt: 'nam' is undefined. Did you mean 'name'?
    """
    if "{" not in text:
        return text
    try:
        return bounded(_compiled(text).generate(values), where)
    except RobotLabError:
        raise
    except Exception as error:
        raise explain(error, where, values) from error


def bounded(pieces: Iterable[str], where: str) -> str:
    """Join what a template yields, and stop when it is too much.

    Examples
    --------
    >>> bounded(["a", "b"], "prompt")
    'ab'
    """
    kept: list[str] = []
    length = 0
    for piece in pieces:
        length += len(piece)
        if length > LONGEST:
            raise ConfigurationError(
                f"{where}: the text is longer than {LONGEST:,} characters",
                hint="Pass less context, or loop over less.",
            )
        kept.append(piece)
    return "".join(kept)


def explain(error: Exception, where: str, values: Mapping[str, Any]) -> ConfigurationError:
    """What went wrong in a rendering, as an error that says where.

    Parameters
    ----------
    error : Exception
    where : str
    values : mapping
        What was given, for the near name.
    """
    from jinja2 import TemplateError, UndefinedError

    if isinstance(error, UndefinedError):
        absent = str(error).partition("'")[2].partition("'")[0]
        return ConfigurationError(f"{where}: {error}", hint=near(absent, values))
    if isinstance(error, TemplateError):
        return ConfigurationError(f"{where}: {error}", hint="See the Jinja syntax.")
    return ConfigurationError(f"{where}: {type(error).__name__}: {error}")
