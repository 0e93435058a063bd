"""Judging answers: what a score is, what gives one, and what can be used to give one.

An evaluator looks at one answer at a time. It never raises for what it looks at: when it fails,
its score says how, and the answer is kept. Knows no grid, no log and no screen.
"""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from ..core.errors import ConfigurationError, InputError, RobotLabError, describe_error
from ..core.readings import Pictured, ShownTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Evaluator", "Judged", "Score", "as_evaluator", "as_evaluators", "text_of"]

#: characters of a label, and of an evaluator's name
MOST_NAME = 80
_TAKES = (
    "Pass a function of (input, output) or (input, output, expected), a compiled regular "
    "expression, rl.contains(…), rl.matches(…), a pydantic model, a JSON Schema, or rl.judge(…)."
)


@dataclass(frozen=True, slots=True)
class Score(Pictured):
    """What an evaluator says of one answer.

    Attributes
    ----------
    name : str
        The evaluator's name, or ``"evaluator.part"``; left out by a function that gives one back.
    value : float or None
        A number, on the evaluator's own scale.
    passed : bool or None
        Whether the answer is good enough; None where that was not asked, or not decided.
    reason : str or None
        Why, in words.
    error : mapping or None
        Why there is no score: ``type``, ``message``, perhaps ``hint``; a function's ``traceback``.
    run_id : str or None
        The run of the robot that judged.
    cost_usd : float or None
        What judging cost, in US dollars; None where it is not known, or nothing was asked.
    label : str or None
        A word in place of a number, ``"win"``, ``"formal"``.
    simulated : bool
        Whether a simulated model judged: such a verdict is made up.

    Raises
    ------
    InputError
        When a value is of another type, or no finite number.

    Examples
    --------
    >>> Score("short", passed=True, reason="12 words")
    <score short: passed, 12 words>
    >>> Score.from_dict(Score("tone", 4).to_dict()).value
    4.0
    """

    name: str = ""
    value: float | None = None
    passed: bool | None = None
    reason: str | None = None
    error: Mapping[str, Any] | None = None
    run_id: str | None = None
    cost_usd: float | None = None
    label: str | None = None
    simulated: bool = False

    def __post_init__(self) -> None:
        if self.value is not None:
            object.__setattr__(self, "value", _finite(self.value))
        if self.passed is not None and not isinstance(self.passed, bool):
            object.__setattr__(self, "passed", _truth(self.passed))
        for name in ("name", "reason", "label"):
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise InputError(f"a score's {name} is a text, not {text!r:.60}")

    @property
    def number(self) -> float | None:
        """The value; else 1 for passed and 0 for failed; None where there is neither."""
        if self.value is not None:
            return self.value
        return None if self.passed is None else float(self.passed)

    def to_dict(self) -> dict[str, Any]:
        """The score as JSON, what it does not say left out."""
        told = {name: value for name, value in asdict(self).items() if value is not None}
        if not self.simulated:
            del told["simulated"]
        return told

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Read what :meth:`to_dict` wrote; what a later version added is passed over."""
        known = {field.name for field in fields(cls)}
        return cls(**{str(name): value for name, value in data.items() if name in known})

    def __repr__(self) -> str:
        if self.error is not None:
            said = f"no score, {self.error.get('type')}: {self.error.get('message')}"
        else:
            word = None if self.passed is None else "passed" if self.passed else "failed"
            number = None if self.value is None else f"{self.value:g}"
            made_up = "simulated" if self.simulated else None
            said = ", ".join(filter(None, (word, number, self.label, made_up, self.reason)))
        return f"<score {self.name}: {_short(' '.join(said.split()), 160)}>"


E = TypeVar("E", bound="Evaluator")


class Judged(NamedTuple):
    """The answer that is looked at, and what belongs to it."""

    input: Any
    output: Any
    expected: Any = None
    #: the cell of a comparison that it stands in
    cell: Any = None
    #: the answer that it is compared with
    baseline: Any = None


class Evaluator(ABC, Pictured):
    """What gives scores. Made by :func:`as_evaluator`, ``rl.evaluator``, ``rl.judge`` and others.

    Attributes
    ----------
    name : str
    fingerprint : mapping of str to str
        Digests of what decides its scores; a score given under the same one need not be asked
        for again.
    calls : int
        Model calls that one answer takes, for an estimate; 0 for all but judges.
    baseline : mapping of str to str or None
        Axis values of the cells that answers are compared with; None where they stand alone.
    """

    #: what it is, in its repr
    kind: ClassVar[str] = "evaluator"
    calls: int = 0
    baseline: Mapping[str, str] | None = None

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    @abstractmethod
    def fingerprint(self) -> Mapping[str, str]:
        """Digests, by part, of what decides its scores."""

    def told(self) -> Iterable[tuple[str, Any]]:
        """What it is, for people: names and values."""
        return ()

    @abstractmethod
    async def look(self, judged: Judged) -> Any:
        """Look at an answer; whatever :func:`scores_of` reads, or an exception."""

    async def score(
        self,
        input: Any,
        output: Any,
        expected: Any = None,
        *,
        cell: Any = None,
        baseline: Any = None,
    ) -> tuple[Score, ...]:
        """Give an answer its scores.

        Parameters
        ----------
        input, output : object
            What was asked, and the answer: a text, or what ``output=`` asked for.
        expected : object, optional
            The right answer, where it is known.
        cell : Cell, optional
            The cell of a comparison that the answer stands in.
        baseline : object, optional
            The answer that it is compared with, for an evaluator that has a ``baseline``.

        Returns
        -------
        tuple of Score
            At least one. When the evaluator failed, one whose ``error`` says how.
        """
        from .scores import scores_of

        try:
            found = await self.look(Judged(input, output, expected, cell, baseline))
            return scores_of(self.name, found)
        except Exception as error:
            return (failed(self.name, error),)

    def __call__(
        self, input: Any, output: Any, expected: Any = None, *, baseline: Any = None
    ) -> Score | tuple[Score, ...]:
        """Give one answer its scores here and now, to try the evaluator; blocks meanwhile."""
        from ..runtime.loop import runs_here
        from ..runtime.threads import aside

        if runs_here() and self.calls:
            raise ConfigurationError(
                f"{self.name!r} asks a model and cannot be waited for on the engine's loop",
                hint="Use `await judge.score(input, output)` here.",
            )
        found = aside(self.score(input, output, expected, baseline=baseline))
        return found[0] if len(found) == 1 else ShownTuple(found)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"


def failed(name: str, error: BaseException) -> Score:
    """The score of an evaluator that could not give one."""
    told = describe_error(error)
    if not isinstance(error, RobotLabError):  # a person's own code: where in it
        from ..tools.failing import traceback_text

        told["traceback"] = traceback_text(error)
    return Score(name, error=told, run_id=getattr(error, "run_id", None))


def as_evaluator(thing: Any, name: str | None = None) -> Evaluator:
    """What gives scores, made of what a person passes.

    Parameters
    ----------
    thing : callable, re.Pattern, type, dict or Evaluator
        A function of (input, output), of (input, output, expected), or of the output alone, sync
        (it runs in a thread) or async; what it gives back is a score: True or False, a number, a
        word, a dict, a :class:`Score`, or several. A compiled regular expression that must be
        found in the answer. A pydantic model, another type, or a JSON Schema that the answer must
        fit. An evaluator is taken as it is.
    name : str, optional
        What its scores are called; the function's name when left out.

    Returns
    -------
    Evaluator

    Raises
    ------
    ConfigurationError
        When it can judge nothing.

    Examples
    --------
    >>> as_evaluator(lambda output: len(output) < 100, "short")
    <function short>
    >>> as_evaluator("be polite")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: 'be polite' is a text, and no evaluator. Write \
rl.contains(…) for words that must be in the answer, rl.matches(…) for a regular expression, \
rl.judge(…) for a model that follows the words.
    """
    if name is not None and (not isinstance(name, str) or not name.strip()):
        raise ConfigurationError(f"an evaluator's name is a text, not {name!r:.60}")
    if isinstance(thing, Evaluator):
        return thing if name in (None, thing.name) else renamed(thing, str(name))
    if isinstance(thing, str):
        raise ConfigurationError(
            f"{thing!r:.60} is a text, and no evaluator",
            hint="Write rl.contains(…) for words that must be in the answer, rl.matches(…) for a "
            "regular expression, rl.judge(…) for a model that follows the words.",
        )
    if isinstance(thing, re.Pattern):
        from .text_checks import matches

        return matches(thing, name=name)
    if isinstance(thing, (dict, type)) or hasattr(thing, "__origin__"):
        from .shape_checks import Fits

        return Fits(thing, name)
    if callable(thing):
        from .function_evaluators import FunctionEvaluator

        return FunctionEvaluator(thing, name)
    raise ConfigurationError(f"{thing!r:.60} is no evaluator", hint=_TAKES)


def as_evaluators(things: Any) -> tuple[Evaluator, ...]:
    """Several evaluators, each with a name of its own.

    Parameters
    ----------
    things : mapping, iterable, or one evaluator
        Of what :func:`as_evaluator` takes; a mapping's keys are names. (A dict is taken for a
        JSON Schema only inside a list.)

    Returns
    -------
    tuple of Evaluator
        Those of one name are numbered.

    Examples
    --------
    >>> [each.name for each in as_evaluators([len, len])]
    ['len', 'len 2']
    """
    if things is None:
        return ()
    if isinstance(things, Mapping):
        return tuple([as_evaluator(thing, str(name)) for name, thing in things.items()])
    if isinstance(things, (Evaluator, str, re.Pattern)) or callable(things):
        return (as_evaluator(things),)
    return tuple(_told_apart(as_evaluator(thing) for thing in things))


def _told_apart(found: Iterable[Evaluator]) -> list[Evaluator]:
    made: list[Evaluator] = []
    taken: set[str] = set()
    for one in found:
        name, number = one.name, 2
        while name in taken:
            name, number = f"{one.name} {number}", number + 1
        taken.add(name)
        made.append(one if name == one.name else renamed(one, name))
    return made


def renamed(evaluator: E, name: str) -> E:
    """The same evaluator under another name."""
    made = copy(evaluator)
    made.name = name
    return made


def text_of(value: Any) -> str:
    """An answer as text: itself, or its JSON where it is data."""
    if isinstance(value, str):
        return value
    dumped = getattr(value, "model_dump", None)
    if callable(dumped):
        value = dumped(mode="json")
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _finite(value: Any) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"a score's value is a number, not {value!r:.60}") from None
    if isinstance(value, (str, bytes)) or not math.isfinite(found):
        raise InputError(f"a score's value is a finite number, not {value!r:.60}")
    return found


def _truth(value: Any) -> bool:
    if type(value).__name__ in ("bool_", "bool") and hasattr(value, "item"):
        return bool(value)  # numpy's
    raise InputError(f"a score's passed is True, False or None, not {value!r:.60}")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
