"""Comparing prompts, models and inputs: :func:`compare` and :func:`acompare`."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.config import options
from ..core.errors import ConfigurationError, NoAnswerChannel, RunInterrupted
from ..core.keywords import strict_keywords
from ..core.secrets import redact_data
from ..models.tape_times import on_tape
from ..models.taping import tape_of
from ..runlog.faults import LogError
from ..runtime.budgets import DIMENSIONS, Budget
from ..runtime.notebook import show_live
from ..runtime.run import Run
from .experiment import Experiment
from .journal import journal_of
from .planning import make_plan
from .reckoning import reckon
from .remembering import log_is_kept, remembered
from .running import ExperimentStopped, Limit, Running
from .state import ExperimentState

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .journal import Journal
    from .planning import Plan

__all__ = ["acompare", "compare"]

#: cells that are asked at the same time
CONCURRENCY = 8
MOST_CONCURRENCY = 1_000
#: above which a person is asked before anything is spent: US dollars, and calls of unknown price
CONFIRM: Mapping[str, float] = {"cost": 1.0, "calls": 1_000}


@strict_keywords
def compare(
    prompts: Any,
    models: Any = None,
    inputs: Any = None,
    *,
    repeats: int = 1,
    params: Mapping[str, Any] | None = None,
    tools: Sequence[Any] | None = None,
    output: Any = None,
    evaluators: Any = (),
    budget: Any = None,
    confirm_above: Any = None,
    concurrency: int = CONCURRENCY,
    answers: Any = None,
    mixed: bool = False,
    fresh: bool = False,
    dry: bool = False,
    journal: Any = None,
    name: str | None = None,
    show: bool | None = None,
) -> Experiment:
    """Ask every prompt of every model with every input, and see the answers side by side.

    An answer is paid once: whatever was answered before, in this session or an earlier one, is
    found again in the log by the cell's content, and nothing is sent for it. Run the cell again
    after Stop, an error, a killed kernel or an edited prompt: only what is missing is asked.

    Parameters
    ----------
    prompts : list, dict, or one prompt
        Texts, Templates, robots or networks; a dict's keys are labels. A text that names columns
        of the inputs (``"Summarise {{ text }}"``; ``{{ input }}`` is the input itself) is filled
        in and said. Any other text is the system prompt, and the input is what is said. So it is
        for templates and robots, which get the columns as values besides. Each answer begins
        without a conversation.
    models : str, Model, list or dict, optional
        Whom to ask; without it each prompt's own model.
    inputs : list, dict, DataFrame or Series
        Texts, or rows whose columns fill placeholders. A column ``expected`` is for evaluators;
        all others are kept.
    repeats : int, optional
        How often each cell is asked.
    params : dict, optional
        Further axes, values by name: settings (``{"temperature": [0, 1]}``), and values of
        placeholders (``{"tone": ["kind", "stern"]}``).
    tools, output : optional
        For all of them, as for ``run()`` of a robot.
    evaluators : list or dict, optional
        What scores the answers: functions of (input, output[, expected]), regular expressions,
        types, ``rl.judge(…)``.
    budget : float, Budget or dict, optional
        Most US dollars of the whole, or ``{"cost": …, "tokens": …, "calls": …, "seconds": …}``.
    confirm_above : float or dict, optional
        The estimate, in US dollars, above which a person is asked first; a dict may say
        ``{"cost": …, "calls": …}``. By default 1 US dollar, and 1,000 calls. ``float("inf")``
        never asks.
    concurrency : int, optional
        Most cells at the same time.
    answers : optional
        Answers to what it asks a person, as for ``run()``.
    mixed : bool, optional
        Whether simulated and real models may be in one grid.
    fresh : bool, optional
        Whether to ask again what was answered before.
    dry : bool, optional
        Whether only to plan: calls, known cells and cost are in ``.estimate``, and nothing is sent.
    journal : path or bool, optional
        A file that remembers in the log's place; by default one beside the usual log, where no log
        is kept. False: nothing is remembered.
    name : str, optional
    show : bool, optional
        Whether a notebook shows the grid while it fills; it does unless this is False.

    Returns
    -------
    Experiment
        Cells that failed are in it with their errors. So is what was answered before it ended
        early: by its :meth:`~Experiment.stop`, ten failed requests in a row, a spent budget, or
        models that refuse. ``status`` and ``reason`` tell.

    Raises
    ------
    ConfigurationError, InputError
        Before any request, when something cannot be meant: a placeholder without a value, say.
    NoAnswerChannel
        When a person had to be asked first and nobody can be. Nothing was sent.
    KeyboardInterrupt
        When Stop was pressed; what was answered is kept.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> def answer(request):
    ...     return "42" if "exactly" in request.messages[0].text else "about 40"
    >>> tried = rl.compare(
    ...     {"plain": "What is {{ sum }}?", "strict": "What is {{ sum }} exactly?"},
    ...     rl.SimulatedModel(answer),
    ...     [{"sum": "6 × 7", "expected": "42"}, {"sum": "2 × 21", "expected": "42"}],
    ...     evaluators={"right": lambda input, output, expected: output == expected},
    ... )
    >>> tried.status, [cell.text for cell in tried.cells]
    ('completed', ['about 40', '42', 'about 40', '42'])
    >>> tried.best()["prompt"]
    'strict'
    >>> rl.compare(["Count {{ input }}"], "simulated", ["sheep"], dry=True).estimate
    <estimate: 1 call, no cost (simulated)>
    """
    plan, journal_, limit = _planned(
        prompts, models, inputs, repeats=repeats, params=params, tools=tools, output=output,
        evaluators=evaluators, mixed=mixed, fresh=fresh, journal=journal, name=name,
        confirm_above=confirm_above,
    )  # fmt: skip
    if dry:
        return _only_planned(plan)
    running = _prepared(plan, journal_, limit, concurrency, budget, answers)
    run = running.run
    run.check_may_block("compare()")
    try:
        show_live(run, True if show is None else show)
        run.begin()
        with contextlib.suppress(RunInterrupted):  # by stop(): it says so itself
            run.result()
    except KeyboardInterrupt:
        run.stop()
        raise
    return _checked(running)


@strict_keywords
async def acompare(
    prompts: Any,
    models: Any = None,
    inputs: Any = None,
    *,
    repeats: int = 1,
    params: Mapping[str, Any] | None = None,
    tools: Sequence[Any] | None = None,
    output: Any = None,
    evaluators: Any = (),
    budget: Any = None,
    confirm_above: Any = None,
    concurrency: int = CONCURRENCY,
    answers: Any = None,
    mixed: bool = False,
    fresh: bool = False,
    dry: bool = False,
    journal: Any = None,
    name: str | None = None,
    show: bool | None = None,
) -> Experiment:
    """As :func:`compare`, for async code.

    Examples
    --------
    >>> import asyncio
    >>> import robotlab_nb as rl
    >>> tried = asyncio.run(rl.acompare(["Be brief."], "simulated", ["Hello"]))
    >>> tried.status
    'completed'
    """
    plan, journal_, limit = await _in_thread(
        lambda: _planned(
            prompts, models, inputs, repeats=repeats, params=params, tools=tools, output=output,
            evaluators=evaluators, mixed=mixed, fresh=fresh, journal=journal, name=name,
            confirm_above=confirm_above,
        )
    )  # fmt: skip
    if dry:
        return _only_planned(plan)
    running = _prepared(plan, journal_, limit, concurrency, budget, answers)
    run = running.run
    show_live(run, True if show is None else show)
    with contextlib.suppress(RunInterrupted):
        await run.begin().wait()
    return _checked(running)


async def _in_thread(work: Callable[[], Any]) -> Any:
    """Do what may wait for the log beside the caller's loop."""
    import asyncio

    return await asyncio.to_thread(work)


def _planned(
    prompts: Any,
    models: Any,
    inputs: Any,
    *,
    fresh: bool,
    journal: Any,
    confirm_above: Any,
    **more: Any,
) -> tuple[Plan, Journal | None, Limit]:
    """The plan, with what is known of it already and what it will take."""
    limit = _limit(confirm_above)
    plan = make_plan(prompts, models, inputs, **more)
    kept = journal_of(journal, logged=log_is_kept())
    tape = options.tape
    if tape is not None and tape_of(tape).mode == "strict":
        limit = Limit(None, None)  # nothing is spent
    if not fresh and tape is None:  # a tape is a memory of its own, and is to be whole
        try:
            plan.known, plan.begun = remembered({cell.key for cell in plan.cells}, kept)
        except LogError as error:
            error.hint = (
                f"{error.hint or ''} Or pass fresh=True: then nothing is looked up.".strip()
            )
            raise
    plan.estimate = reckon(plan)
    return plan, kept, limit


def _only_planned(plan: Plan) -> Experiment:
    state = ExperimentState()
    state.name = plan.name
    for told in plan.told():
        state.plan(redact_data(told))
    return Experiment(state)


def _prepared(
    plan: Plan,
    journal: Journal | None,
    limit: Limit,
    concurrency: Any,
    budget: Any,
    answers: Any,
) -> Running:
    """An experiment that is ready to begin."""
    running = Running(
        plan, limit=limit, concurrency=_checked_concurrency(concurrency), journal=journal
    )
    budgets = _budgets(budget)
    run = running.run = Run(
        plan.name, "experiment", running.work, lambda _: running.experiment, keep_failed=True
    )
    run.budgets = (*run.budgets, *budgets)
    if options.tape is not None:
        on_tape(run, options.tape)
    if answers is not None:
        run.answers = answers
    experiment = running.experiment = Experiment(ExperimentState(run.id), run, journal=journal)
    _recall_ratings(plan, experiment)
    return running


def _recall_ratings(plan: Plan, experiment: Experiment) -> None:
    """Take over what a person said of answers that are known."""
    if not plan.known:
        return
    from .ratings import kept

    ids = [known.run_id for known in plan.known.values() if known.run_id is not None]
    for run_id, (rating, note) in kept(ids, experiment._journal).items():
        experiment._state.rate(run_id, rating, note)


def _checked(running: Running) -> Experiment:
    """The experiment, now that it has ended; what is no fault of its cells is raised."""
    run, experiment = running.run, running.experiment
    running.note_end()
    error = run._error
    if isinstance(error, (ExperimentStopped, RunInterrupted)) or not isinstance(error, Exception):
        return experiment
    if isinstance(error, NoAnswerChannel):
        estimate = experiment.estimate
        raise NoAnswerChannel(
            f"{experiment.name!r} needs somebody's yes, and nobody can be asked: {estimate.text}",
            hint="Nothing was sent. Raise confirm_above=, or pass answers=['yes'].",
        ) from error
    raise error


def _checked_concurrency(value: Any) -> int:
    if type(value) is int and 1 <= value <= MOST_CONCURRENCY:
        return value
    raise ConfigurationError(
        f"concurrency={value!r:.40} is no number of cells",
        hint=f"Give a whole number from 1 to {MOST_CONCURRENCY:,}.",
    )


def _limit(given: Any) -> Limit:
    said = {"cost": given} if isinstance(given, (int, float)) else given
    if said is None:
        said = CONFIRM
    elif isinstance(given, (int, float)) and not isinstance(given, bool):
        said = {"cost": given, "calls": CONFIRM["calls"] if given < float("inf") else None}
    if not isinstance(said, Mapping) or isinstance(given, bool) or not set(said) <= set(CONFIRM):
        raise ConfigurationError(
            f"confirm_above={given!r:.60} is no limit",
            hint='Give US dollars, or {"cost": 0.5, "calls": 200}.',
        )
    for name, value in said.items():
        if value is not None and (not isinstance(value, (int, float)) or not value >= 0):
            raise ConfigurationError(f"confirm_above: {name}={value!r:.40} is no limit")
    return Limit(said.get("cost"), said.get("calls"))


def _budgets(given: Any) -> tuple[Budget, ...]:
    if given is None:
        return ()
    if isinstance(given, Budget):
        return (given,)
    if isinstance(given, Mapping) and set(given) <= set(DIMENSIONS):
        return (Budget(**given, name="experiment"),)
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return (Budget(cost=given, name="experiment"),)
    raise ConfigurationError(
        f"budget={given!r:.60} is no budget",
        hint='Give US dollars, an rl.Budget, or {"cost": 2.0, "calls": 500}.',
    )
