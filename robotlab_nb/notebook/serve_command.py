"""``python -m robotlab_nb serve``: robots of a module or a file as tools for other programs."""

from __future__ import annotations

import importlib
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError, near

if TYPE_CHECKING:
    import argparse

__all__ = ["add_serve", "serve_command"]


def add_serve(commands: Any) -> None:
    """Add the command to the others.

    Parameters
    ----------
    commands : argparse subparsers
    """
    known = commands.add_parser(
        "serve",
        help="serve robots and networks as MCP tools",
        description="Serve robots and networks as tools of the Model Context Protocol.",
    )
    known.add_argument(
        "what", nargs="+", metavar="module:object",
        help="module:object or file.py:object; a robot, a network, or a list or dict of them",
    )  # fmt: skip
    known.add_argument(
        "--transport", default="stdio", choices=["stdio", "http", "sse", "websocket"],
        help="stdio (the default: for programs that a client starts), http, sse or websocket",
    )  # fmt: skip
    known.add_argument("--host", default="127.0.0.1", help="where to listen; this machine alone")
    known.add_argument("--port", type=int, default=0, help="0 for a free one")
    known.add_argument("--name", default=None, help="what clients are told")
    known.add_argument(
        "--token", default=None, metavar="VARIABLE",
        help="environment variable with the token that clients must bear",
    )  # fmt: skip
    known.add_argument(
        "--prompt", action="append", default=[], metavar="FILE",
        help="a template that clients may have rendered; more than once for several",
    )  # fmt: skip
    known.add_argument(
        "--conversations", action="store_true", help="let calls name a conversation to go on with"
    )


def serve_command(given: argparse.Namespace) -> int:
    """Serve until the client leaves (stdio) or somebody stops it; return the exit code.

    Parameters
    ----------
    given : argparse.Namespace
        What :func:`add_serve` reads.
    """
    stdio = given.transport == "stdio"
    # What modules print as they are imported would be the first thing that the client reads.
    wire = _divert() if stdio else None
    try:
        token = _token(given.token)
        things = _things(given.what)
        if wire is not None:
            _restore(wire)
        from ..mcp.serving import serve

        serving = serve(
            things, transport=given.transport, host=given.host, port=given.port, name=given.name,
            prompts=given.prompt, conversations=given.conversations, token=token,
        )  # fmt: skip
    except RobotLabError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    where = serving.url or "standard input and output"
    tools = ", ".join(tool.name for tool in serving.tools)
    sys.stderr.write(f"{serving.name} serves {tools} on {where}\n")
    sys.stderr.flush()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        serving.wait()
    except KeyboardInterrupt:
        pass
    return _leave(0 if serving.error is None else 1)


def _leave(code: int) -> int:
    """End the process: whatever still reads the client's pipe is not waited for."""
    import atexit

    for each in (signal.SIGINT, signal.SIGTERM):  # asking twice makes it no faster
        signal.signal(each, signal.SIG_IGN)
    atexit._run_exitfuncs()  # runs are ended, the log is written; only threads are left behind
    sys.stderr.flush()
    os._exit(code)


def _token(variable: str | None) -> str | None:
    if variable is None:
        return None
    found = os.environ.get(variable)
    if not found:
        raise ConfigurationError(
            f"--token names the environment variable {variable!r}, which is not set"
        )
    return found


def _things(references: list[str]) -> Any:
    """What is to be served: one thing as it is, several as a list."""
    found: list[Any] = []
    for reference in references:
        thing = _thing(reference)
        if len(references) == 1:
            return thing
        found += thing if isinstance(thing, (list, tuple)) else [thing]
    return found


def _thing(reference: str) -> Any:
    """An object by its place: ``package.module:name`` or ``path/file.py:name``."""
    place, colon, name = reference.rpartition(":")
    if not colon or not place or not name:
        raise ConfigurationError(
            f"{reference!r} names no object", hint="Write module:object or file.py:object."
        )
    module = _from_file(Path(place)) if place.endswith(".py") else _from_name(place)
    found: Any = module
    for step in name.split("."):
        try:
            found = getattr(found, step)
        except AttributeError:
            shown = [n for n in vars(found) if not n.startswith("_")]
            raise ConfigurationError(f"{place} has no {step!r}", hint=near(step, shown)) from None
    return found


def _from_name(name: str) -> Any:
    sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(f"{error.name}.")):
            raise ConfigurationError(
                f"there is no module {name!r}", hint="A file is named with its ending: file.py:bot."
            ) from None
        raise _broken(name, error) from error
    except Exception as error:
        raise _broken(name, error) from error


def _from_file(path: Path) -> Any:
    from importlib.util import module_from_spec, spec_from_file_location

    if not path.is_file():
        raise ConfigurationError(f"there is no file {path}")
    sys.path.insert(0, str(path.resolve().parent))
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[path.stem] = module  # its classes are pickled by this name
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _broken(str(path), error) from error
    return module


def _broken(place: str, error: Exception) -> ConfigurationError:
    import traceback

    line = next((f for f in reversed(traceback.extract_tb(error.__traceback__))), None)
    where = f" ({Path(line.filename).name}, line {line.lineno})" if line is not None else ""
    return ConfigurationError(
        f"{place} cannot be loaded: {type(error).__name__}: {error}{where}",
    )


def _divert() -> int:
    """Have standard output go to standard error, also for what is not Python; gives the wire."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    return wire


def _restore(wire: int) -> None:
    sys.stdout.flush()
    os.dup2(wire, 1)
    os.close(wire)
