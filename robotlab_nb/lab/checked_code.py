"""A cell of Python as a check: it passes when nothing in it fails and its last value is not false.

``%%robot_check`` cells and the tests made of them mean the same by it.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .checking import Check, finish
from .evaluating import MOST_NAME, Score, failed
from .scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_code"]


def check_code(
    name: str,
    source: str,
    namespace: dict[str, Any],
    *,
    place: tuple[str, int] = ("<check>", 0),
    compiled: Callable[[str], str] | None = None,
) -> Check:
    """Run a cell as a check.

    Parameters
    ----------
    name : str
    source : str
        Python. Its last expression is what is checked: True or False, a :class:`Check`, a score;
        None where ``assert`` statements say it all.
    namespace : dict
        Where it runs.
    place : tuple of str and int, optional
        What the cell is called in tracebacks.
    compiled : callable, optional
        Turns IPython's own syntax into Python.

    Returns
    -------
    Check
        A failed one also where something else was raised; nothing stops.

    Examples
    --------
    >>> check_code("is short", "len(answer) < 10", {"answer": "Paris"})
    ✓ passed · is short
    """
    title = name.strip()
    if not title:
        raise InputError(
            "a check has a name", hint="Write it after the magic: %%robot_check names Paris"
        )
    tree = ast.parse(compiled(source) if compiled is not None else source)
    if not tree.body:
        raise InputError(f"there is nothing to check in {title!r}")
    scores, value = _scores(title, tree, namespace, place[0])
    passed = all(score.passed is True for score in scores)
    return finish(Check(title[:MOST_NAME], passed, scores, value, place=place), stop=False)


def _scores(
    title: str, tree: ast.Module, namespace: dict[str, Any], file: str
) -> tuple[tuple[Score, ...], Any]:
    """What the cell says, and the value of what it compares, to be shown."""
    last = tree.body[-1]
    try:
        if not isinstance(last, ast.Expr):
            exec(compile(tree, file, "exec"), namespace)
            return (Score(title, passed=True),), None
        exec(compile(ast.Module(tree.body[:-1], []), file, "exec"), namespace)
        value = eval(compile(ast.Expression(last.value), file, "eval"), namespace)
    except AssertionError as error:
        said = str(error) or ast.unparse(_asserted(tree, error)) or "an assertion failed"
        return (Score(title, passed=False, reason=said),), None
    except Exception as error:
        return (failed(title, error),), None
    if isinstance(value, Check):
        return value.scores, value.output
    if value is None:
        return (Score(title, passed=True),), None
    scores = scores_of(title, value)
    if all(score.passed is not True and score.reason is None for score in scores):
        told = ast.unparse(last.value)
        scores = tuple(
            Score(s.name, s.value, s.passed, f"{told} is {value!r:.80}") for s in scores
        )  # fmt: skip
    return scores, None


def _asserted(tree: ast.Module, error: AssertionError) -> ast.AST:
    """The assertion that failed, where it stands in the cell itself."""
    traceback = error.__traceback__
    line = None
    while traceback is not None:
        line, traceback = traceback.tb_lineno, traceback.tb_next
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno == line:
            return node.test
    return ast.Constant("an assertion failed")
