"""Checks: what an answer must be, said where it is given, and seen at once.

A check in a notebook shows itself and stops nothing; in a script or a test it raises. It asks
evaluators; how a notebook's checks become a test file is ``check_export``'s business.
"""

from __future__ import annotations

import contextlib
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, RobotLabError
from ..core.readings import Pictured, reading
from ..network.result import NetworkResult
from ..robot.result import RobotResult
from ..runtime.notebook import painter
from .evaluating import MOST_NAME, Score, as_evaluators
from .text_checks import equals

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Check", "CheckFailed", "check", "collected", "finish"]

#: characters of an answer that an error shows
_SHOWN = 300
_MISSING = object()

#: who gathers the checks that are made, and keeps them from raising
_gathered: ContextVar[list[Check] | None] = ContextVar("robotlab_nb_checks", default=None)


class CheckFailed(RobotLabError, AssertionError):
    """An answer is not what a check says that it must be.

    Attributes
    ----------
    check : Check
    """

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.check: Check | None = None


@dataclass(frozen=True, slots=True, repr=False)
class Check(Pictured):
    """What a check found; :func:`robotlab_nb.check` makes one.

    Attributes
    ----------
    name : str
    passed : bool
    scores : tuple of Score
        What each evaluator said.
    output, expected, input : object
        The answer, what was expected (None: nothing was said of that), what was asked.
    place : tuple of str and int
        File (in a notebook: cell) and line of the call.
    """

    name: str
    passed: bool
    scores: tuple[Score, ...]
    output: Any = None
    expected: Any = None
    input: Any = None
    place: tuple[str, int] = ("", 0)
    _shown: list[Any] = field(default_factory=list, compare=False)

    def __bool__(self) -> bool:
        return self.passed

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it failed, evaluator by evaluator; empty when it passed."""
        return tuple(_why(score, self.name) for score in self.scores if score.passed is not True)

    def assert_passed(self) -> None:
        """Raise when it failed.

        Raises
        ------
        CheckFailed
            An AssertionError that says what was expected and what came.
        """
        __tracebackhide__ = True  # pytest shows the test's line
        if self.passed:
            return
        came = " ".join(str(self.output).split())
        came = came if len(came) <= _SHOWN else f"{came[:_SHOWN]}…"
        why = "; ".join(self.reasons)
        error = CheckFailed(f"check {self.name!r} failed: {why}", hint=f"The answer: {came!r}")
        error.check = self
        raise error

    def _ipython_display_(self) -> None:
        if not reading("check")(self):
            print(repr(self))  # noqa: T201  (that is what a plain shell shows)


def _why(score: Score, check: str) -> str:
    """Why a score is none to pass with; the name is told where it is not the check's."""
    lead = "" if score.name == check else score.name
    if score.error is not None:
        said = f"{score.error.get('type')}: {score.error.get('message')}"
    elif score.passed is None:
        told = score.label if score.value is None else f"{score.value:g}"
        return f"{score.name} gives {told} and no verdict"
    else:
        said = score.reason or ""
    return ": ".join(filter(None, (lead, said))) or score.name


def check(
    answer: Any,
    *evaluators: Any,
    name: str | None = None,
    expected: Any = None,
    input: Any = None,
    stop: bool | None = None,
) -> Check:
    """Check an answer here and now.

    In a notebook the check shows itself, passed or failed, and the cell goes on. In a script or a
    test a failed one raises :class:`CheckFailed`. ``python -m robotlab_nb export-checks`` makes a
    test file of a notebook's checks, which plays its tape.

    Parameters
    ----------
    answer : RobotResult, NetworkResult, Cell, str or object
        What is checked: the text of a result, or its data where a shape was prescribed. Without
        evaluators and ``expected=`` it is a truth: ``rl.check("Paris" in answer.text)``.
    *evaluators : callable, re.Pattern, type, dict or Evaluator
        As for ``rl.compare``: functions of (input, output[, expected]), ``rl.contains(…)``,
        ``rl.matches(…)``, a pydantic model, a JSON Schema, ``rl.judge(…)``. All must pass.
    name : str, optional
        What the check is called; by default made of its evaluators' names.
    expected : object, optional
        The right answer. Without evaluators the answer must equal it.
    input : object, optional
        What was asked; a result knows it.
    stop : bool, optional
        Whether a failed check raises. By default where nobody would see it: outside a notebook.

    Returns
    -------
    Check
        True or False where a truth is wanted.

    Raises
    ------
    CheckFailed
        When it failed and is to stop.
    ConfigurationError
        When there is nothing to check by.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.check("Paris is the capital.", rl.contains("Paris"), name="names Paris")
    ✓ passed · names Paris
    >>> bool(rl.check("Lyon", expected="Paris", stop=False))
    False
    """
    output, asked = _answer(answer)
    scores = _scores(answer, evaluators, name, expected, input or asked, output)
    if expected is None:
        expected = getattr(answer, "expected", None) if hasattr(answer, "repeat") else None
    frame = sys._getframe(1)
    made = Check(
        _named(name, scores), bool(scores) and all(score.passed is True for score in scores),
        scores, output, expected, input or asked, (frame.f_code.co_filename, frame.f_lineno),
    )  # fmt: skip
    return finish(made, stop)


def finish(made: Check, stop: bool | None = None) -> Check:
    """Show a check, or raise what it found; whoever gathers checks gets it instead."""
    gathered = _gathered.get()
    if gathered is not None:
        gathered.append(made)
        return made
    here = painter() is not None
    if here:
        reading("check")(made, anew=True)
    if not here if stop is None else stop:
        made.assert_passed()
    return made


@contextlib.contextmanager
def collected() -> Iterator[list[Check]]:
    """Gather the checks that are made in the block; none of them raises or shows itself."""
    found: list[Check] = []
    token = _gathered.set(found)
    try:
        yield found
    finally:
        _gathered.reset(token)


def _answer(given: Any) -> tuple[Any, Any]:
    """The answer itself, and what was asked for it."""
    if isinstance(given, RobotResult):
        shaped = given.state.output is not None or given.state.info.get("output")
        return (given.parsed if shaped else given.text), given.state.info.get("input")
    if isinstance(given, NetworkResult):
        return given.value, given.state.info.get("input")
    if hasattr(given, "repeat") and hasattr(given, "scores"):  # a cell of a comparison
        return (given.text if given.value is None else given.value), given.input
    return given, None


def _scores(
    answer: Any, evaluators: Iterable[Any], name: str | None, expected: Any, asked: Any, output: Any
) -> tuple[Score, ...]:
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ConfigurationError(f"a check's name is a text, not {name!r:.60}")
    found = as_evaluators(list(evaluators))
    if not found and expected is not None:
        found = as_evaluators([equals(expected)])
    if found:
        return tuple(
            score
            for each in found
            for score in _listed(each(asked, output, expected))
        )  # fmt: skip
    truth = answer if isinstance(answer, bool) else getattr(answer, "item", lambda: answer)()
    if not isinstance(truth, bool):
        raise InputError(
            f"check() has nothing to check {answer!r:.60} by",
            hint='Pass evaluators, say rl.contains("Paris"), or expected=…, or a condition: '
            'rl.check("Paris" in answer.text).',
        )
    return (Score(name or "condition", passed=truth, reason=None if truth else "it is not so"),)


def _listed(found: Score | tuple[Score, ...]) -> tuple[Score, ...]:
    return (found,) if isinstance(found, Score) else found


def _named(name: str | None, scores: Iterable[Score]) -> str:
    told = name or ", ".join(dict.fromkeys(score.name for score in scores))
    return told.strip()[:MOST_NAME]
