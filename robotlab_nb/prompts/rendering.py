"""Rendering prompt text with Jinja, sandboxed: no attribute of Python's insides can be reached.

A prompt is text for a model, so nothing is escaped; a name without a value is an error.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError, near

if TYPE_CHECKING:
    from collections.abc import Mapping

    import jinja2

__all__ = ["check_prompt", "render"]


@functools.cache
def _environment() -> jinja2.Environment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import SandboxedEnvironment

    return SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )


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
        For a syntax error, a name without a value, or something the sandbox forbids.

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
    from jinja2 import TemplateError, UndefinedError

    try:
        return _compiled(text).render(values)
    except UndefinedError as error:
        missing = str(error).partition("'")[2].partition("'")[0]
        raise ConfigurationError(f"{where}: {error}", hint=near(missing, values)) from None
    except TemplateError as error:
        raise ConfigurationError(f"{where}: {error}", hint="See the Jinja syntax.") from error
    except RobotLabError:
        raise
    except Exception as error:
        raise ConfigurationError(f"{where}: {type(error).__name__}: {error}") from error
