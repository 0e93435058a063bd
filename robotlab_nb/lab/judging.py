"""A model as judge: a robot with a rubric, whose verdict is data with its reason first.

Two answers are compared in both orders, since judges prefer a place; where the two verdicts do
not agree there is none. What a judge reads is told in :mod:`.verdicts`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, OutputError
from ..core.keys import digest, task_fingerprint
from ..robot.in_force import model_params
from ..robot.json_in_text import unfenced
from ..robot.robot import Robot
from ..tools.preview import preview
from .evaluating import Evaluator, Score, text_of
from .verdicts import (
    comparison_type,
    instructions,
    letter,
    scale_of,
    slugs,
    verdict_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.config import RunConfig
    from ..robot.result import RobotResult
    from .evaluating import Judged
    from .verdicts import Scale

__all__ = ["Judge", "judge"]

#: changes when what judges are told does: their verdicts are asked for again then
_EDITION = 1
MOST_REASON = 2_000
_CUT = "(judged by the beginning of a long text)"
_SWAPPED = {"first": "second", "second": "first", "tie": "tie"}
_WORTH = {"win": 1.0, "tie": 0.5, "loss": 0.0}
_PASSED = {"win": True, "loss": False}


class Judge(Evaluator):
    """A robot that judges answers; made by :func:`judge`."""

    kind = "judge"

    def __init__(
        self,
        rubric: str,
        *,
        name: str,
        model: Any,
        criteria: Mapping[str, str],
        scale: Scale,
        passes: float | None,
        baseline: Mapping[str, str] | None,
        config: RunConfig | Mapping[str, Any] | None,
    ) -> None:
        super().__init__(name)
        self.rubric = rubric
        self.criteria = dict(criteria)
        self.scale = scale
        self.passes = passes
        self.baseline = None if baseline is None else dict(baseline)
        self.calls = 1 if baseline is None else 2
        self._config = config
        self._model = model
        self._alone: Robot[Any] | None = None
        self._pair: Robot[Any] | None = None
        #: what was in force when the fingerprint was made, and the fingerprint
        self._known: tuple[Any, dict[str, str]] | None = None
        self._robot(pair=baseline is not None)  # what cannot be meant is told now

    def _robot(self, *, pair: bool) -> Robot[Any]:
        """The robot that judges one answer, or two."""
        known = self._pair if pair else self._alone
        if known is not None:
            return known
        shape = comparison_type() if pair else verdict_type(self.criteria, self.scale)
        settings: dict[str, Any] = {} if self._model is None else {"model": self._model}
        made: Robot[Any] = Robot(
            self.name,
            system_prompt=instructions(self.rubric, self.criteria, self.scale, pair=pair),
            config=self._config, tools=[], output=shape, **settings,
        )  # fmt: skip
        if pair:
            self._pair = made
        else:
            self._alone = made
        return made

    @property
    def model_names(self) -> tuple[str, ...]:
        """Whom it asks now."""
        return (self._robot(pair=self.baseline is not None).model_name,)

    @property
    def simulated(self) -> bool:
        """Whether its verdicts would be made up."""
        return self._robot(pair=self.baseline is not None).is_simulated

    @property
    def instructions(self) -> str:
        """What it is told before each answer."""
        return self._robot(pair=self.baseline is not None).system_prompt or ""

    def told(self) -> Iterable[tuple[str, Any]]:
        """What it is, for people: names and values."""
        if self.criteria:
            yield "criteria", ", ".join(self.criteria)
        if self.scale.words:
            yield "scale", ", ".join(self.scale.words)
        elif self.scale.highest:
            yield "scale", f"{self.scale.lowest} to {self.scale.highest}"
        if self.passes is not None:
            yield "passes", f"from {self.passes:g}"
        if self.baseline is not None:
            yield "against", ", ".join(map(str, self.baseline.values()))

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Digests of what it is told, of its model and its settings."""
        robot = self._robot(pair=self.baseline is not None)
        found, _ = robot.look()
        if self._known is not None and self._known[0] is found:
            return self._known[1]
        values = found.effective.values_
        # Simulated models share names, whatever their scripts and functions say.
        function = getattr(found.model, "_function", None)
        script = repr(getattr(found.model, "_script", ""))
        shape = values["output"].model_json_schema()
        made = task_fingerprint(
            {
                "evaluator": [_EDITION, robot.system_prompt, shape, self.passes, self.baseline],
                "model": [found.model.name, digest(script)],
                "settings": preview(model_params(values)).data,
            },
            [] if function is None else [function],
        )
        self._known = found, made
        return made

    # -- judging -----------------------------------------------------------------------------

    async def look(self, judged: Judged) -> Any:
        """Ask the robot; once, or twice where two answers are compared."""
        if judged.baseline is not None:
            return await self._compare(judged)
        if self.baseline is not None:
            raise InputError(f"judge {self.name!r} was given no answer to compare with")
        message, was_cut = letter(
            question=judged.input, reference=judged.expected, answer=judged.output
        )
        result = await self._ask(message, pair=False, label=self.name)
        verdict = result.parsed
        about: dict[str, Any] = {
            "run_id": result.run_id, "cost_usd": result.cost, "simulated": result.simulated,
        }  # fmt: skip
        if not self.criteria:
            return Score(reason=_reason(verdict.reason, was_cut), **self._said(verdict), **about)
        return self._by_criteria(verdict, was_cut, about)

    def _said(self, verdict: Any) -> dict[str, Any]:
        """A verdict's field as those of a score."""
        said = getattr(verdict, self.scale.kind)
        if self.scale.kind == "passed":
            return {"passed": said}
        value = self.scale.place(said)
        found: dict[str, Any] = {"value": value, "label": said if self.scale.words else None}
        if self.passes is not None:
            found["passed"] = value >= self.passes
        return found

    def _by_criteria(self, verdict: Any, was_cut: bool, about: dict[str, Any]) -> list[Score]:
        """A score for each criterion, and the whole before them: all passed, their mean."""
        parts: list[Score] = []
        for name, field in slugs(self.criteria).items():
            one = getattr(verdict, field)
            parts.append(
                Score(
                    name, reason=_reason(one.reason, was_cut), run_id=about["run_id"],
                    simulated=about["simulated"], **self._said(one),
                )
            )  # fmt: skip
        numbers = [score.number for score in parts if score.number is not None]
        decided = [score.passed for score in parts if score.passed is not None]
        told = "; ".join(f"{each.name}: {(each.reason or '').rstrip('.')}" for each in parts)
        whole = Score(
            value=sum(numbers) / len(numbers), passed=all(decided) if decided else None,
            reason=_reason(told, False), **about,
        )  # fmt: skip
        return [whole, *parts]

    async def _compare(self, judged: Judged) -> Score:
        """Compare two answers in both orders."""
        if text_of(judged.output) == text_of(judged.baseline):
            return Score(value=0.5, label="tie", reason="the two answers are the same")
        messages = [
            letter(question=judged.input, reference=judged.expected, first=first, second=second)
            for first, second in (
                (judged.output, judged.baseline),
                (judged.baseline, judged.output),
            )
        ]
        async with asyncio.TaskGroup() as group:
            asked = [
                group.create_task(self._ask(message, pair=True, label=f"{self.name}:{order}"))
                for (message, _), order in zip(messages, ("as is", "swapped"), strict=True)
            ]
        results = [each.result() for each in asked]
        here, there = results[0].parsed, results[1].parsed
        costs = [result.cost for result in results]
        about: dict[str, Any] = {
            "run_id": results[0].run_id,
            "cost_usd": None if None in costs else sum(c for c in costs if c is not None),
            "simulated": any(result.simulated for result in results),
        }
        was_cut = any(cut for _, cut in messages)
        if here.better != _SWAPPED[there.better]:
            reason = (
                f"the verdict changes with the order. Told first, it is {_placed(here.better)}: "
                f"{here.reason} Told second, it is {_placed(_SWAPPED[there.better])}: "
                f"{there.reason}"
            )
            return Score(label="inconsistent", reason=_reason(reason, was_cut), **about)
        label = {"first": "win", "second": "loss", "tie": "tie"}[here.better]
        return Score(
            value=_WORTH[label], passed=_PASSED.get(label), label=label,
            reason=_reason(here.reason, was_cut), **about,
        )  # fmt: skip

    async def _ask(self, message: str, *, pair: bool, label: str) -> RobotResult[Any]:
        """A run of the robot, inside the run that goes on."""
        run = self._robot(pair=pair).prepare(message, {}, label=label, keep=False)
        result = await run.begin().wait()
        last = result.state.turn[-1] if result.state.turn else None
        if last is not None and last.role == "assistant":
            # Among words it may be what the judged answer holds, quoted.
            try:
                json.loads(unfenced(last.text))
            except ValueError:
                raise OutputError(
                    f"judge {self.name!r} gave its verdict among other words",
                    hint="Only an answer that is the verdict and nothing else counts.",
                    text=last.text,
                ) from None
        return result


def judge(
    rubric: str,
    *,
    model: Any = None,
    criteria: Mapping[str, str] | Sequence[str] = (),
    scale: int | Sequence[Any] | None = None,
    passes: float | str | None = None,
    baseline: str | Mapping[str, str] | None = None,
    name: str = "judge",
    config: RunConfig | Mapping[str, Any] | None = None,
) -> Judge:
    """An evaluator that asks a model: it reads the question, the answer and a rubric.

    The verdict is data, its reason first. What is judged is marked as data, so that texts in it
    are not taken for instructions; a model may obey them all the same. The judge has no tools.
    Its runs are inside the experiment's, so their cost is part of it.

    Parameters
    ----------
    rubric : str
        What a good answer is. It is taken literally; no placeholders.
    model : str or Model, optional
        Who judges; ``rl.options.model`` when left out. A model is kinder to its own answers: let
        another one judge.
    criteria : mapping of str to str, or sequence of str, optional
        Names and what each asks for; every one gets a score of its own, ``"judge.name"``, and the
        whole has passed when all have.
    scale : int, pair of int, or sequence of str, optional
        5 for 1 to 5; ``(0, 10)``; or words from the worst to the best. Left out, the answer passes
        or fails.
    passes : int or str, optional
        The lowest grade on the scale that passes.
    baseline : str or mapping, optional
        A prompt's label, or values by axis (``{"model": "openai/gpt-5-mini"}``): every answer is
        compared with the one that was given there to the same input. Both orders are asked: a
        win has passed, a loss failed; a tie, or verdicts that change with the order
        (``label="inconsistent"``), neither.
    name : str, optional
        What its scores are called.
    config : RunConfig or dict, optional
        Settings of the robot that judges: ``{"temperature": 0}``.

    Returns
    -------
    Judge

    Raises
    ------
    ConfigurationError
        When something cannot be meant.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> model = rl.SimulatedModel(['{"reason": "It is friendly.", "score": 4}'])
    >>> polite = rl.judge("Is it polite?", model=model, scale=5, passes=3, name="polite")
    >>> polite("Where is the station?", "Just around the corner, madam.")
    <score polite: passed, 4, simulated, It is friendly.>

    Two answers are compared when a baseline is given:

    >>> model = rl.SimulatedModel(['{"reason": "It is shorter.", "better": "first"}'])
    >>> rl.judge("Shorter is better.", model=model)("Hi", "Hello", baseline="Good evening").label
    'inconsistent'
    """
    if not isinstance(rubric, str) or not rubric.strip():
        raise ConfigurationError(
            f"a rubric is a text, not {rubric!r:.60}", hint="Say what a good answer is."
        )
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(f"an evaluator's name is a text, not {name!r:.60}")
    on = scale_of(scale)
    if baseline is not None and (scale is not None or passes is not None):
        raise ConfigurationError(
            "a judge that compares with a baseline gives no grades",
            hint="Leave scale= and passes= out, or use two judges.",
        )
    return Judge(
        rubric, name=name, model=model, criteria=_criteria(criteria), scale=on,
        passes=_least(passes, on), baseline=_baseline(baseline), config=config,
    )  # fmt: skip


def _reason(text: str, was_cut: bool) -> str:
    text = " ".join(text.split())
    text = text if len(text) <= MOST_REASON else f"{text[: MOST_REASON - 1]}…"
    return f"{text} {_CUT}" if was_cut else text


def _placed(better: str) -> str:
    return {"first": "better", "second": "worse", "tie": "as good"}[better]


def _criteria(given: Any) -> dict[str, str]:
    if isinstance(given, Mapping):
        found = {str(name): str(text) for name, text in given.items()}
    elif isinstance(given, (list, tuple)):
        found = {str(text): str(text) for text in given}
    else:
        raise ConfigurationError(
            f"criteria={given!r:.60} names none", hint="Pass a list of texts, or a dict by name."
        )
    if not all(name.strip() and text.strip() for name, text in found.items()):
        raise ConfigurationError("a criterion is empty", hint="Say what each one asks for.")
    return found


def _least(passes: Any, scale: Scale) -> float | None:
    if passes is None:
        return None
    if scale.kind == "passed":
        raise ConfigurationError(
            f"passes={passes!r:.40} needs a scale", hint="Add scale=5, say, or leave it out."
        )
    if scale.words and passes in scale.words:
        return scale.place(passes)
    number = isinstance(passes, (int, float)) and not isinstance(passes, bool)
    if number and not scale.words and scale.lowest <= passes <= scale.highest:
        return float(passes)
    on = ", ".join(scale.words) or f"{scale.lowest} to {scale.highest}"
    raise ConfigurationError(f"passes={passes!r:.40} is not on the scale ({on})")


def _baseline(given: Any) -> dict[str, str] | None:
    if given is None:
        return None
    found = {"prompt": given} if isinstance(given, str) else dict(given)
    if not found or "input" in found or "repeat" in found:
        raise ConfigurationError(
            f"baseline={given!r:.60} names no variant",
            hint='Name a prompt, or values of other axes: {"model": "openai/gpt-5-mini"}.',
        )
    return found
