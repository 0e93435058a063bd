"""The rules of the house that no other tool checks: dependencies, sizes, names, imports."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parent.parent.parent
PACKAGE = REPOSITORY / "robotlab_nb"
#: Rooms whose import must stay fast: nothing of a third party when they are imported.
ENGINE = {
    *("core", "runtime", "models", "tools", "prompts"),
    *("memory", "bus", "robot", "network"),
}
#: Modules that need no declaration: our own, and what every type checker brings.
OURS = {"robotlab_nb", "typing_extensions"}
#: Where a base class's method is there to be overridden, or a host is told to ask another way.
ABSTRACT = {"robotlab_nb/models/protocol.py", "robotlab_nb/lab/experiment.py"}


@cache
def modules() -> dict[str, ast.Module]:
    """Path from the repository -> syntax tree, of every module of the package."""
    return {
        path.relative_to(REPOSITORY).as_posix(): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield f"{path}:{node.lineno} {node.name}", node


@cache
def project() -> dict[str, Any]:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def normal(requirement: str) -> str:
    """A distribution's name as installers compare it, without version and extras."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


class Imports(ast.NodeVisitor):
    """Third-party imports of a module: all of them, or those of importing it alone."""

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once
        self.found: dict[str, int] = {}

    def note(self, name: str, line: int) -> None:
        first = name.partition(".")[0]
        if first not in sys.stdlib_module_names and first not in OURS:
            self.found[first] = line

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            self.note(alias.name, node.lineno)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level == 0 and node.module:
            self.note(node.module, node.lineno)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if not self.at_once:
            self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node: ast.If) -> None:
        if not (self.at_once and ast.unparse(node.test).endswith("TYPE_CHECKING")):
            self.generic_visit(node)


def imports(tree: ast.Module, *, at_once: bool = False) -> dict[str, int]:
    visitor = Imports(at_once=at_once)
    visitor.visit(tree)
    return visitor.found


def test_every_imported_package_is_declared() -> None:
    bringers = packages_distributions()
    extras = project()["optional-dependencies"]
    brought = (extras[name] for name in ("jupyter", "local", "parquet", "redis"))
    lines = [*project()["dependencies"], *(line for extra in brought for line in extra)]
    known = {normal(line) for line in lines} | {"pytest"}  # which loads its plugin itself
    undeclared = [
        f"{path}:{line} imports {module}"
        for path, tree in modules().items()
        for module, line in imports(tree).items()
        if not known & {normal(name) for name in bringers.get(module, [module])}
    ]
    assert undeclared == []


def test_the_engine_imports_no_package_of_others_when_it_is_imported() -> None:
    early = [
        f"{path}:{line} imports {module}"
        for path, tree in modules().items()
        if path.split("/")[1] in ENGINE
        for module, line in imports(tree, at_once=True).items()
    ]
    assert early == []


def test_the_import_reader_tells_early_imports_from_late_ones() -> None:
    code = (
        "import numpy, os\n"
        "if TYPE_CHECKING:\n    import pandas\n"
        "try:\n    from scipy.linalg import inv\nexcept ImportError:\n    pass\n"
        "class A:\n    import attr\n    def f(self):\n        import aiohttp\n"
        "from .core import json\n"
    )
    tree = ast.parse(code)
    assert set(imports(tree, at_once=True)) == {"numpy", "scipy", "attr"}
    assert set(imports(tree)) == {"numpy", "pandas", "scipy", "attr", "aiohttp"}


def test_every_dependency_says_what_it_is_for() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    part = text[text.index("\ndependencies = [") : text.index("\n[project.scripts]")]
    entries = re.findall(r'^  "(.+?)"(?=,)(.*)$', part, flags=re.MULTILINE)
    declared = [project()["dependencies"], *project()["optional-dependencies"].values()]
    assert [entry for entry, _ in entries] == [line for group in declared for line in group]
    assert [entry for entry, told in entries if not re.match(r", # \w.{8}", told)] == []


def test_modules_stay_below_400_lines() -> None:
    lengths = {path: (REPOSITORY / path).read_text("utf-8").count("\n") for path in modules()}
    assert {path: length for path, length in lengths.items() if length > 400} == {}


def lines_of(node: ast.AST) -> int:
    return (getattr(node, "end_lineno", None) or 0) - getattr(node, "lineno", 0) + 1


def test_functions_stay_below_60_lines() -> None:
    # A docstring is for the reader of the documentation and is not counted.
    lengths = {
        name: lines_of(node) - (lines_of(node.body[0]) if ast.get_docstring(node) else 0)
        for name, node in functions()
    }
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def test_every_module_says_first_what_it_is_for() -> None:
    assert [path for path, tree in modules().items() if not ast.get_docstring(tree)] == []


def test_nothing_is_left_unfinished() -> None:
    left = []
    for path in modules():
        allowed = r"TODO|FIXME|XXX" if path in ABSTRACT else r"TODO|FIXME|XXX|NotImplementedError"
        text = (REPOSITORY / path).read_text("utf-8")
        left += [f"{path}: {word}" for word in re.findall(rf"\b(?:{allowed})\b", text)]
    assert left == []


def test_a_thing_is_found_by_its_name() -> None:
    vague = re.compile(r"(^|_|/)(utils?|helpers?|common|managers?|misc)($|_|/|\.)", re.IGNORECASE)
    names = [path for path in modules() if vague.search(path)]
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and node.name.endswith(("Manager", "Helper")):
                names.append(f"{path} {node.name}")
    assert names == []
