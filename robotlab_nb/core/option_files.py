"""Settings that a person keeps outside of the notebook: in files and in the environment.

Reads them and says where each stood; what they mean beside other levels is :mod:`.config`'s
work. Nothing is read when this module is imported.
"""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import FIELDS, check, key_name_only
from .errors import ConfigurationError, UnknownKeyword, near
from .fields import NONE_IS_A_VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .fields import Field

    Level = tuple[str, Mapping[str, Any]]

__all__ = ["GRANTS", "LIVE", "check_data", "load", "shown_path", "sparse"]

#: settings that are objects of a running program, which no text can be
LIVE = frozenset(
    {"budget", "hooks", "on_content", "on_tool_call", "on_tool_result", "tool_strategy"}
)
#: settings that let files do more; a file that came with the work must not grant them to it
GRANTS = frozenset({"allow_environment", "allow_shell"})

_PREFIX = "ROBOTLAB_"
#: begins the names of variables that steer the package's own tests and tools
_NOT_SETTINGS = "ROBOTLAB_NB_"
_WORDS = {"true": True, "yes": True, "on": True, "1": True,
          "false": False, "no": False, "off": False, "0": False}  # fmt: skip


def load(
    *,
    environ: Mapping[str, str] | None = None,
    folder: str | Path = ".",
    user_folder: str | Path | None = None,
) -> list[Level]:
    """Read the user's file, the project's file and the environment.

    The user's is ``config.yml`` in the folder for settings that the operating system has
    (``~/.config/robotlab_nb`` on Linux). The project's is ``robotlab_nb.yml``, or
    ``config/robotlab_nb.yml``, in the working folder. Each is one flat mapping. Variables are
    called ``ROBOTLAB_`` and the setting's name in capitals; empty ones count as left out.

    Parameters
    ----------
    environ : mapping, optional
        In place of the process's variables.
    folder : str or Path, optional
        The project's folder.
    user_folder : str or Path, optional
        In place of the operating system's.

    Returns
    -------
    list of (origin, mapping)
        Weakest first.

    Raises
    ------
    ConfigurationError
        When a file cannot be read, or a setting is unknown, of a wrong type, or cannot stand
        there. It names file and line, or the variable.

    Examples
    --------
    >>> load(environ={"ROBOTLAB_TEMPERATURE": "0.2"}, folder="/no", user_folder="/no")
    [('environment ROBOTLAB_TEMPERATURE', {'temperature': 0.2})]
    """
    if user_folder is None:
        from platformdirs import user_config_dir

        user_folder = user_config_dir("robotlab_nb", appauthor=False)
    user, project = Path(user_folder), Path(folder)
    files = (
        (_only_one(user / "config.yml", user / "config.yaml"), True),
        (_only_one(*(project / where / f"robotlab_nb.{kind}" for where in (".", "config")
                     for kind in ("yml", "yaml"))), False),
    )  # fmt: skip
    levels = [_of_file(path, may_grant=own) for path, own in files if path is not None]
    levels.extend(_of_environment(os.environ if environ is None else environ))
    return [(origin, level) for origin, level in levels if level]


def check_data(name: str, value: Any, where: str) -> Any:
    """Check a setting that was written down as data.

    Parameters
    ----------
    name : str
    value : JSON
    where : str
        For errors: which file and line.

    Raises
    ------
    ConfigurationError
        As :func:`~robotlab_nb.core.config.check`; also for a setting that is a live object, for
        a key itself in place of its variable's name, and for a number that is none.

    Examples
    --------
    >>> check_data("temperature", 0.2, "a.yml, line 1")
    0.2
    >>> check_data("api_key", "sk-secret", "a.yml, line 1")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: a.yml, line 1: a key does not belong in a file. \
Write the name of the environment variable that holds it: api_key: OPENAI_API_KEY
    """
    if name in LIVE:
        raise ConfigurationError(
            f"{where}: {name} is an object of a running program; no file can hold it",
            hint=f"Set it in the notebook: rl.options.{name} = …, or {name}= of a robot.",
        )
    if name == "api_key" and value is not None and key_name_only(value) is None:
        raise ConfigurationError(
            f"{where}: a key does not belong in a file",
            hint="Write the name of the environment variable that holds it: "
            "api_key: OPENAI_API_KEY",
        )
    if isinstance(value, float) and not isfinite(value):
        raise ConfigurationError(f"{where}: {name} takes a finite number, not {value}")
    return check(name, value, where)


def shown_path(path: Path) -> str:
    """A path as a person would write it: from the working folder, or from home.

    Examples
    --------
    >>> shown_path(Path.cwd() / "robotlab_nb.yml"), shown_path(Path.home() / "a.yml")
    ('robotlab_nb.yml', '~/a.yml')
    """
    whole = path if path.is_absolute() else Path.cwd() / path
    for base, start in ((Path.cwd, ""), (Path.home, "~/")):
        try:
            return start + whole.relative_to(base()).as_posix()
        except (ValueError, RuntimeError, OSError):
            continue
    return str(path)


def _only_one(*candidates: Path) -> Path | None:
    found = [path for path in candidates if path.is_file()]
    if len(found) > 1:
        raise ConfigurationError(
            f"there are two files of settings: {' and '.join(map(shown_path, found))}",
            hint="Keep one of them.",
        )
    return found[0] if found else None


def _of_file(path: Path, *, may_grant: bool) -> Level:
    from .yaml_text import read_mapping

    shown = shown_path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{shown} cannot be read: {error}") from error
    data, lines = read_mapping(text, shown)
    level = {}
    for name, value in data.items():
        where = f"{shown}, line {lines[name]}"
        if isinstance(value, dict) and name not in FIELDS:
            raise UnknownKeyword(
                f"{where}: {name!r} is a section, and there are none",
                hint="All settings stand side by side: `name: value`, one a line.",
            )
        if name in GRANTS and not may_grant:
            raise ConfigurationError(
                f"{where}: {name} cannot be granted by a file of the project itself",
                hint=f"Set rl.options.{name}, or the variable {_PREFIX}{name.upper()}, or write "
                "it into your own config.yml.",
            )
        level[name] = check_data(name, value, where)
    return f"file {shown}", sparse(level)


def _of_environment(environ: Mapping[str, str]) -> Iterable[Level]:
    for variable in sorted(environ):
        if not variable.startswith(_PREFIX) or variable.startswith(_NOT_SETTINGS):
            continue
        text = environ[variable]
        name = variable.removeprefix(_PREFIX).lower()
        where = f"environment variable {variable}"
        if name not in FIELDS:
            raise UnknownKeyword(f"{where}: there is no setting {name!r}", hint=near(name, FIELDS))
        if not text.strip():
            continue
        value: Any
        if name == "api_key" and key_name_only(text) is None:
            value = variable  # a reference: the key itself is read when a call is made
        else:
            value = check_data(name, _typed(text.strip(), FIELDS[name], where), where)
        yield f"environment {variable}", sparse({name: value})


def _typed(text: str, field: Field, where: str) -> Any:
    """What a variable's text means for a setting; text where it means nothing else."""
    kinds = field.types
    if kinds == (str,):
        return text
    word = text.lower()
    if word in ("none", "null"):
        return None
    if word in _WORDS and (bool in kinds or (kinds == (object,) and word in ("true", "false"))):
        return _WORDS[word]
    if text[0] in "[{":
        from .yaml_text import read_value

        return read_value(text, where)
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(text)
            except ValueError:
                continue
    return text


def sparse(level: Mapping[str, Any]) -> dict[str, Any]:
    """A level without the settings whose None says nothing.

    Examples
    --------
    >>> sparse({"seed": None, "max_tools": None, "top_k": 3})
    {'max_tools': None, 'top_k': 3}
    """
    return {k: v for k, v in level.items() if v is not None or k in NONE_IS_A_VALUE}
