"""The lock files: everything that is declared, by hash, and nothing malicious."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parent.parent.parent
LOCK = REPOSITORY / "requirements.lock"
BINDER = REPOSITORY / "binder" / "requirements.txt"
#: Releases that stole credentials when they were installed.
MALICIOUS = {"1.82.7", "1.82.8"}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(path: Path) -> dict[str, tuple[str, str]]:
    """Package -> (version, the rest of its entry)."""
    text = path.read_text(encoding="utf-8")
    entries = re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE)[1:]
    found: dict[str, tuple[str, str]] = {}
    for entry in entries:
        head = re.match(r"([A-Za-z0-9._-]+)==([^\s;\\]+)", entry)
        assert head, f"not a pin: {entry[:60]!r}"
        found[normal(head[1])] = (head[2], entry)
    return found


def declared(*extras: str) -> list[str]:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras or project["optional-dependencies"]:
        lines += project["optional-dependencies"][extra]
    return lines


@pytest.mark.parametrize("path", [LOCK, BINDER], ids=lambda path: path.name)
def test_every_package_is_pinned_by_hash(path: Path) -> None:
    found = pins(path)
    assert len(found) > 50
    for name, (_, entry) in found.items():
        assert "--hash=sha256:" in entry, name
    # Indexes and local files of one machine would make it useless on another.
    assert not re.search(r"^--|file:|@ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("path", [LOCK, BINDER], ids=lambda path: path.name)
def test_no_malicious_litellm_is_locked(path: Path) -> None:
    assert pins(path)["litellm"][0] not in MALICIOUS


def test_no_malicious_litellm_can_be_resolved() -> None:
    specifier = next(line for line in declared() if line.startswith("litellm"))
    assert {f"!={version}" for version in MALICIOUS} <= set(specifier[len("litellm") :].split(","))


@pytest.mark.parametrize(
    ("path", "extras"), [(LOCK, ()), (BINDER, ("jupyter",))], ids=["lock", "binder"]
)
def test_every_declared_dependency_is_locked_within_its_bounds(
    path: Path, extras: tuple[str, ...]
) -> None:
    from packaging.requirements import Requirement

    found = pins(path)
    for line in declared(*extras):
        requirement = Requirement(line)
        version, _ = found[normal(requirement.name)]
        assert requirement.specifier.contains(version), line


def test_binder_installs_what_the_tests_ran_with() -> None:
    locked = pins(LOCK)
    for name, (version, _) in pins(BINDER).items():
        assert locked[name][0] == version, name
