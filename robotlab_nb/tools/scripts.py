"""Tools made of scripts: a file with a ``#!`` line, or an executable one, that a model may run.

The script gets its arguments as a list, never through a shell, with few environment variables and
always within a time. It is **not confined**: it runs with the rights of the person who runs
Python. What it declares of its needs is shown, and only its time limit is enforced.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolError
from ..core.keywords import strict_keywords
from .capabilities import Capabilities, seconds_in
from .definition import Tool
from .failing import ToldError
from .programs import run_program
from .traits import clean_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["Script", "ScriptFailed", "is_script", "script_tool", "words_about"]

#: Seconds for one call where nobody says otherwise.
TIMEOUT_S = 60.0
#: Seconds that the engine gives a script beyond its own, to end its processes and tell its output.
_MORE_S = 5.0
#: environment variables that a script gets without being named; on Windows nothing starts
#: without some of them
_PASSED = (
    "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "USER", "LOGNAME",
    "SYSTEMROOT", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE",
)  # fmt: skip
_PARAMETERS: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Command-line arguments, one entry each, passed as they are: "
            "no shell reads them, so nothing is to be quoted.",
        },
        "stdin": {"type": "string", "description": "Text for its standard input."},
    },
    "additionalProperties": False,
}
_COMMENT = re.compile(r"\s*(?:#|//|--|;+|%+)(?!!)\s?(.*)")
#: comments that are meant for tools
_FOR_TOOLS = re.compile(
    r"-\*-|vim?:|coding[:=]|shellcheck |pylint:|ruff:|type:|/// ?|SPDX-|Copyright"
)
_READ = 8_192


class ScriptFailed(ToldError):
    """A script could not be started, ended with an error, or took too long."""


@dataclass(frozen=True)
class Script:
    """A script that can be run: what the tool's function is.

    Parameters
    ----------
    path : Path
    folder : Path
        Where it runs.
    timeout : float
        Seconds for one run.
    environment : tuple of str
        Names of further variables that it gets.
    capabilities : Capabilities
        What it says that it needs.
    """

    path: Path
    folder: Path
    timeout: float = TIMEOUT_S
    environment: tuple[str, ...] = ()
    capabilities: Capabilities = field(default_factory=Capabilities)

    async def __call__(self, args: Sequence[Any] = (), stdin: str | None = None) -> str | None:
        """Run it once.

        Returns
        -------
        str or None
            What it wrote to stdout and stderr, or None when that was nothing.

        Raises
        ------
        ScriptFailed
            When it cannot be started, ends with an exit code other than 0, or takes too long.
        """
        environment = self._variables()
        argv = [*self._command(environment.get("PATH")), *map(_argument, args)]
        try:
            ended = await run_program(
                argv,
                folder=self.folder,
                environment=environment,
                stdin=stdin or "",
                seconds=self.timeout,
            )
        except (OSError, ValueError) as error:
            raise ScriptFailed(f"Error (not started): {self._why(error, argv)}") from error
        if ended.code == 0:
            return ended.output or None
        if ended.code is None:
            how = f"timed out after {self.timeout:g} s"
        else:
            how = f"exit {ended.code}"
        raise ScriptFailed(f"Error ({how}):\n{ended.output}".rstrip())

    def _variables(self) -> dict[str, str]:
        names = (*_PASSED, *self.environment)
        return {name: os.environ[name] for name in names if name in os.environ}

    def _command(self, path: str | None) -> list[str]:
        """What to start: the interpreter that its first line names, or the file itself."""
        try:
            with open(self.path, "rb") as file:
                first = file.readline(_READ)
        except OSError as error:
            raise ScriptFailed(
                f"Error (not started): {error.strerror}: {self.path.name}"
            ) from error
        interpreter = _interpreter(first)
        if not interpreter:
            return [str(self.path)]
        program = shutil.which(interpreter[0], path=path)
        if program is None:
            raise ScriptFailed(
                f"Error (not started): the first line of {self.path.name} names "
                f"{interpreter[0]!r}, which is not installed here"
            )
        return [program, *interpreter[1:], str(self.path)]

    def _why(self, error: Exception, argv: Sequence[str]) -> str:
        if not self.folder.is_dir():
            return f"its folder is gone: {self.folder.name}"
        said = getattr(error, "strerror", None) or str(error)
        if getattr(error, "errno", None) == 8:  # ENOEXEC
            said = "it is no program, and has no first line like `#!/usr/bin/env python3`"
        return f"{self.path.name}: {said}"


def _argument(value: Any) -> str:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        return str(value)
    raise ToolError(f"args holds {value!r:.80}, which is no text")


def _interpreter(first: bytes) -> list[str]:
    """The program that a ``#!`` line names, with its arguments; empty when it is no such line."""
    if not first.startswith(b"#!"):
        return []
    line = first[2:].decode("utf-8", "surrogateescape").strip()
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if words and os.path.basename(words[0]) == "env":
        rest = words[1:]
        if rest and rest[0] in ("-S", "--split-string"):
            rest = rest[1:]
        # With options or assignments it is env itself that has to act.
        if rest and not rest[0].startswith("-") and "=" not in rest[0]:
            return rest
        return [words[0], *rest]
    return words


def is_script(path: Path) -> bool:
    """Whether a file can be run: it is executable, or its first line names an interpreter.

    Parameters
    ----------
    path : Path

    Returns
    -------
    bool
        False for what cannot be read.
    """
    try:
        if not path.is_file():
            return False
        if os.name == "posix" and os.access(path, os.X_OK):
            return True
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def words_about(path: Path) -> str:
    """What a script says of itself: its first comment, or a Python script's docstring.

    Parameters
    ----------
    path : Path

    Returns
    -------
    str
        On one line; ``""`` when it says nothing.
    """
    try:
        with open(path, "rb") as file:
            text = file.read(_READ).decode("utf-8", "replace")
    except OSError:
        return ""
    said: list[str] = []
    for line in text.splitlines():
        found = _COMMENT.match(line)
        if found is None:
            if said or (line.strip() and not line.startswith("#!")):
                break
        elif said and not found[1].strip():
            break
        elif found[1].strip() and not _FOR_TOOLS.match(found[1]):
            said.append(found[1].strip())
    return " ".join(said) or _docstring(path)


def _docstring(path: Path) -> str:
    import ast

    if path.suffix != ".py" or path.stat().st_size > 1_000_000:
        return ""
    try:
        found = ast.get_docstring(ast.parse(path.read_bytes()))
    except (SyntaxError, ValueError, RecursionError, OSError):
        return ""
    return " ".join((found or "").split("\n\n")[0].split())


@strict_keywords
def script_tool(
    path: str | os.PathLike[str],
    *,
    timeout: float = TIMEOUT_S,
    name: str | None = None,
    description: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    environment: Iterable[str] = (),
    capabilities: Mapping[str, Any] | Capabilities | None = None,
    labels: Iterable[str] | None = None,
    approval: bool | Callable[[dict[str, Any]], Any] = False,
    source: str | None = None,
) -> Tool:
    r"""Make a tool of a script.

    The model gives a list of arguments, and perhaps text for its standard input; it reads what
    the script wrote (the first and the last 24,000 bytes, should that be too much), or the exit
    code with it. When a call ends, all processes that the script started are ended too. The
    script is not confined: it may do whatever you may do.

    Parameters
    ----------
    path : str or Path
        A file with a ``#!`` line, executable or not, or any executable file.
    timeout : float, optional
        Seconds for one call.
    name : str, optional
        The default is the file's name without its ending.
    description : str, optional
        What the model is told. The default is the script's first comment.
    folder : str or Path, optional
        Where it runs. The default is the folder above when it lies in one called ``scripts``,
        else its own.
    environment : iterable of str, optional
        Names of environment variables that it gets beside the usual few (``PATH``, ``HOME``,
        ``LANG`` and such).
    capabilities : mapping, optional
        What it says that it needs: ``fs_read``, ``fs_write``, ``network``, ``timeout``,
        ``trust``. The smaller timeout holds; the rest is shown, not enforced.
    labels, approval
        As for :class:`~robotlab_nb.Tool`. By default ``"outward"`` when it declares ``network``.
    source : str, optional
        Where it comes from, for people.

    Returns
    -------
    Tool

    Raises
    ------
    ConfigurationError
        When the file is not there or cannot be run, or a named variable is not set.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = pathlib.Path(folder, "shout.py")
    ...     _ = script.write_text("#!/usr/bin/env python3\n# Say it loud.\nprint('HEY')\n")
    ...     shout = script_tool(script, timeout=10)
    >>> shout.name, shout.description
    ('shout', 'Say it loud.')
    """
    file = Path(path).expanduser().absolute()
    if not is_script(file):
        what = "is not there" if not file.exists() else "cannot be run"
        raise ConfigurationError(
            f"the script {file} {what}",
            hint="It must be executable, or begin with a line like `#!/usr/bin/env python3`.",
        )
    names = (environment,) if isinstance(environment, str) else tuple(environment)
    for variable in names:
        if variable not in os.environ:
            raise ConfigurationError(
                f"the script {file.name} is to get {variable}, which is not set",
                hint="Set it, or leave it out of environment=.",
            )
    if not isinstance(capabilities, Capabilities):
        capabilities = Capabilities.of(capabilities or {})
    seconds = min(_limit(timeout, file), capabilities.timeout or timeout)
    above = file.parent.parent if file.parent.name == "scripts" else file.parent
    script = Script(
        file,
        above if folder is None else Path(folder).expanduser().absolute(),
        seconds,
        names,
        capabilities,
    )
    said = words_about(file) if description is None else description
    return Tool(
        script,
        name=clean_name(file.stem) if name is None else name,
        description=said or f"Run the script {file.name}.",
        parameters=_PARAMETERS,
        timeout=seconds + _MORE_S,
        source=source or f"script {file.name} (not confined: it runs with your rights)",
        labels=(("outward",) if capabilities.network else ()) if labels is None else labels,
        approval=approval,
    )


def _limit(timeout: float, file: Path) -> float:
    try:
        return seconds_in(timeout)
    except ValueError as error:
        raise ConfigurationError(
            f"the script {file.name}: timeout={timeout!r} is not {error}",
            hint="A script always has a time limit.",
        ) from None
