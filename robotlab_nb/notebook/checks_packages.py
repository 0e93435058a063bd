"""Checks of what is installed. Imports none of it: versions are read from metadata."""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from .check_rows import Row, fine, notice, wrong

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_dot", "check_litellm", "check_python", "release", "release_of"]

_PACKAGE = "robotlab-nb"
#: a requirement as metadata has it: the name, and the least version
_NEEDED = re.compile(r"([\w.-]+)(?:[^;]*>=\s*([\w.]+))?")
#: releases of litellm that sent credentials away
STEALING = ((1, 82, 7), (1, 82, 8))


def release_of(package: str) -> str | None:
    """The version of a package that is installed; None where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def release(text: str | None) -> tuple[int, ...]:
    """The numbers of a version, for comparing; empty where there is none.

    Examples
    --------
    >>> release("7.4.0rc1"), release(None)
    ((7, 4, 0), ())
    """
    return tuple(int(number) for number in re.findall(r"\d+", text or "")[:3])


def check_python() -> Iterable[Row]:
    """The interpreter, and whether what the package needs is there."""
    here = ".".join(map(str, sys.version_info[:3]))
    where = "in a virtual environment" if sys.prefix != sys.base_prefix else "of the system"
    yield fine("Python", f"{here}, {where}")
    missing, old = _faults()
    if missing or old:
        told = [f"{', '.join(missing)} not installed"] if missing else []
        told += [f"{name} is older than {least}" for name, least in old]
        names = " ".join(f"'{n}'" for n in [*missing, *(f"{n}>={least}" for n, least in old)])
        yield wrong("packages", "; ".join(told), f"`{sys.executable} -m pip install {names}`")
    else:
        yield fine("packages", "all that is needed is installed, and recent enough")


def _faults() -> tuple[list[str], list[tuple[str, str]]]:
    """Packages that are missing, and those that are older than they must be."""
    missing, old = [], []
    try:
        needed = requires(_PACKAGE) or ()
    except PackageNotFoundError:  # a checkout that is not installed
        needed = ()
    for text in needed:
        name, least = _NEEDED.match(text).groups()  # type: ignore[union-attr]
        if ";" in text:  # an extra's
            continue
        found = release_of(name)
        if found is None:
            missing.append(name)
        elif least and release(found) < release(least):
            old.append((name, least))
    return missing, old


def check_litellm() -> Iterable[Row]:
    """Two releases of litellm stole credentials."""
    found = release_of("litellm")
    if found is None:
        return  # told among the packages
    if release(found) in STEALING:
        yield wrong(
            "litellm", f"{found} is one of two releases that stole credentials",
            "`pip install -U litellm`, and replace every key that this machine had.",
        )  # fmt: skip
    elif release(found) < (1, 80):
        yield notice("litellm", f"{found} is old: newer models are unknown to it",
                     "`pip install -U litellm`")  # fmt: skip
    else:
        yield fine("litellm", f"{found}")


def check_dot() -> Iterable[Row]:
    """What lays out the pictures of networks."""
    from importlib.util import find_spec
    from shutil import which

    if which("dot"):
        yield fine("network pictures", "laid out by Graphviz's dot")
    elif find_spec("fast_sugiyama") is not None:
        yield fine("network pictures", "laid out by fast-sugiyama; dot is not installed")
    else:
        yield notice("network pictures", "neither dot nor fast-sugiyama is installed",
                     "`pip install fast-sugiyama`")  # fmt: skip
