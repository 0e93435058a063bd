"""``python -m robotlab_nb export-checks NOTEBOOK``: a notebook's checks as a pytest file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

__all__ = ["add_export", "export_command"]


def add_export(commands: Any) -> None:
    """Add the command to the others.

    Parameters
    ----------
    commands : argparse action
        What ``add_subparsers`` gave.
    """
    checks = commands.add_parser("export-checks", help="a notebook's checks as a pytest file")
    checks.add_argument("notebook", help="an .ipynb file")
    checks.add_argument("-o", "--output", default=None, help="the file; test_NOTEBOOK.py beside it")
    checks.add_argument("--tape", default=None, help="its tape, where it names none or another one")


def export_command(given: argparse.Namespace) -> int:
    """Write the test file; 1 where that cannot be done."""
    from ..core.errors import RobotLabError
    from ..lab.check_export import export_checks

    try:
        made = export_checks(given.notebook, given.output, tape=given.tape)
    except RobotLabError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    tests = made.read_text("utf-8").count("\ndef test_")
    sys.stdout.write(f"{made}: {tests} {'test' if tests == 1 else 'tests'}\n")
    return 0
