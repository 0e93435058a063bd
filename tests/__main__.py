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
    # Browsers and kernels want the machine for themselves.
    "tests in browsers and kernels": ["-m", "pytest", "-m", "browser or kernel"],
    # Last, so that pytest's closing line ends the output.
    "tests": ["-m", "pytest", "-m", "not (browser or kernel)", "-n", "2"],
}


def main() -> int:
    """Run every check and return the exit code of the first that failed, else 0."""
    if find_spec("pytest") is None:
        print("The checks need their packages: pip install -e '.[test]'", file=sys.stderr)
        return 1
    codes: dict[str, int] = {}
    for name, arguments in CHECKS.items():
        failed = ", ".join(earlier for earlier, code in codes.items() if code)
        print(f"\n== {name}{' (failed before: ' + failed + ')' if failed else ''}", flush=True)
        codes[name] = subprocess.run([sys.executable, *arguments], cwd=REPOSITORY).returncode
    return next((code for code in codes.values() if code), 0)


if __name__ == "__main__":
    sys.exit(main())
