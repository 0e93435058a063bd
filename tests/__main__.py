"""The one command that checks everything: ``python -m tests``.

Runs lint, format, types, import contracts and the tests, all of them whatever fails, and ends
with the exit code of the first that failed.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent

#: What each check gives to Python, in order.
CHECKS = {
    "lint": ["-m", "ruff", "check", "."],
    "format": ["-m", "ruff", "format", "--check", "."],
    "types": ["-m", "mypy"],
    "import contracts": ["-c", "from importlinter.cli import lint_imports_command as c; c()"],
}
# Two workers share the tests; those marked `browser` or `kernel` stay together in one of them
# (see conftest.py).
TESTS = ["-m", "pytest", "-n", "2", "--dist", "loadgroup"]


def _python(arguments: list[str]) -> int:
    return subprocess.run([sys.executable, *arguments], cwd=REPOSITORY).returncode


def main() -> int:
    """Run every check and return the exit code of the first that failed, else 0."""
    if find_spec("pytest") is None:
        print("The checks need their packages: pip install -e '.[test]'", file=sys.stderr)
        return 1
    codes = []
    for name, arguments in CHECKS.items():
        print(f"\n== {name}", flush=True)
        codes.append(_python(arguments))
        print(f"{name}: {'failed' if codes[-1] else 'passed'}", flush=True)
    print("\n== tests", flush=True)
    # Last, so that pytest's closing line ends the output.
    codes.append(_python(TESTS))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
