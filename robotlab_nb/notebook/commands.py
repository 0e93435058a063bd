"""The command line: ``demo`` in the terminal, ``notebook`` in the browser."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

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
    demo = commands.add_parser("demo", help="a robot with tools, here in the terminal")
    demo.add_argument("--model", default=None, help="provider/name; without it, simulated")
    demo.add_argument("message", nargs="?", default=QUESTION, help="what to ask")
    book = commands.add_parser("notebook", help="open JupyterLab on the notebooks")
    book.add_argument("--dir", default="robotlab_notebooks", help="where copies go if need be")
    book.add_argument("jupyter", nargs="*", help="more arguments for JupyterLab, after --")
    given = parser.parse_args(argv)
    if given.command == "demo":
        return _demo(given.message, given.model)
    return _notebook(Path(given.dir), given.jupyter)


QUESTION = "What is the weather in Paris, and how far is it from Lyon to Marseille?"


def get_weather(city: str) -> dict[str, object]:
    """Current weather of a city.

    Parameters
    ----------
    city : str
        The city's name.
    """
    return {"city": city, "sky": "cloudy", "temperature_c": 18.5}


def distance(origin: str, destination: str) -> str:
    """Distance in kilometres from one city to another, how far it is.

    Parameters
    ----------
    origin : str
        From where.
    destination : str
        To where.
    """
    known = {("Lyon", "Marseille"): 314, ("Paris", "Lyon"): 465}
    km = known.get((origin, destination)) or known.get((destination, origin))
    return f"{km} km" if km else f"the distance from {origin} to {destination} is not known"


def _demo(message: str, model: str | None) -> int:
    import robotlab_nb as rl

    bot = rl.build(
        "guide",
        system_prompt="You are a travel guide. Use your tools. Be brief.",
        model=model,
        tools=[get_weather, distance],
    )
    print(f"{bot!r}\n")
    try:
        result = bot.run(message)
    except rl.RobotLabError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print(f"{result!r}\n")
    table = result.frames.tool_calls[["round", "tool", "arguments", "result", "status"]]
    print("result.frames.tool_calls, some of its columns:")
    print(table.to_string(index=False))
    if result.simulated:
        print("\nThe answer is simulated: no model was asked. Try --model openai/gpt-5-mini.")
    return 0


def _notebook(target: Path, more: Sequence[str]) -> int:
    import subprocess

    folder = _notebooks(target)
    command = [sys.executable, "-m", "jupyterlab", f"--ServerApp.root_dir={folder}", *more]
    from importlib.util import find_spec

    if find_spec("jupyterlab") is None:
        print(
            "JupyterLab is not installed. Install it: pip install 'robotlab-nb[jupyter]'",
            file=sys.stderr,
        )
        return 1
    print(f"Opening the notebooks in {folder}")
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
    return target.resolve()
