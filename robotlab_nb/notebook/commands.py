"""The command line: ``demo`` here, ``notebook`` in the browser, ``doctor``, ``serve``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .demo import QUESTION, TICKET, show
from .export_command import add_export, export_command
from .local_command import add_local, local_command
from .serve_command import add_serve, serve_command

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; the process's own when left out.
    """
    parser = argparse.ArgumentParser(
        prog="python -m robotlab_nb",
        description="Language models as robots, in notebooks.",
    )
    commands = parser.add_subparsers(dest="command", required=True)
    demo = commands.add_parser("demo", help="a robot and a network, here in the terminal")
    demo.add_argument("--model", help="provider/name, or local; without it, simulated")
    demo.add_argument("--ask", default=QUESTION, help="what to ask the robot")
    demo.add_argument("--ticket", default=TICKET, help="what the network is to answer")
    book = commands.add_parser("notebook", help="open JupyterLab on the notebooks")
    book.add_argument("--dir", default="robotlab_notebooks", help="where copies go if need be")
    book.add_argument("jupyter", nargs="*", help="more arguments for JupyterLab, after --")
    look = commands.add_parser("doctor", help="what may be wrong here, and what to do about it")
    look.add_argument("--json", action="store_true", help="as JSON, to send along with a question")
    add_serve(commands)
    add_export(commands)
    add_local(commands)
    given = parser.parse_args(argv)
    if given.command == "local":
        return local_command(given)
    if given.command == "export-checks":
        return export_command(given)
    if given.command == "serve":
        return serve_command(given)
    if given.command == "doctor":
        return _doctor(as_json=given.json)
    if given.command == "demo":
        return show(given.ask, given.ticket, given.model)
    return _notebook(Path(given.dir), given.jupyter)


def _doctor(*, as_json: bool) -> int:
    """Print a check-up; 1 where something is wrong."""
    import json

    from .check_up import doctor

    found = doctor()
    told = json.dumps(found.to_dict(), indent=2, ensure_ascii=False) if as_json else repr(found)
    sys.stdout.write(f"{told}\n")
    return 0 if found.ok else 1


def _notebook(target: Path, more: Sequence[str]) -> int:
    import subprocess

    folder = _notebooks(target)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *more]
    from importlib.util import find_spec

    if find_spec("jupyterlab") is None:
        sys.stderr.write(
            "JupyterLab is not installed. Install it: pip install 'robotlab-nb[jupyter]'\n"
        )
        return 1
    sys.stdout.write(f"Opening the notebooks in {folder}\n")
    try:
        return subprocess.call(command)
    except KeyboardInterrupt:
        return 0


def _notebooks(target: Path) -> Path:
    """The folder of notebooks: the checkout's own, else copies of the shipped ones."""
    import shutil

    package = Path(__file__).resolve().parents[1]
    checkout = package.parent / "notebooks"
    if (package.parent / "pyproject.toml").is_file() and checkout.is_dir():
        return checkout
    shipped = package / "_notebooks"
    target.mkdir(parents=True, exist_ok=True)
    for source in sorted(shipped.glob("*.ipynb")):
        if not (target / source.name).exists():
            shutil.copy(source, target / source.name)
    for source in sorted(shipped.glob("servers/*.py")):
        (target / "servers").mkdir(exist_ok=True)
        if not (target / "servers" / source.name).exists():
            shutil.copy(source, target / "servers" / source.name)
    return target.resolve()
