"""What was said in the tasks of a network: a transcript for each, folded, in order of start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .amounts import seconds
from .answer_data import sent_back
from .escape import one_line
from .parts import Fold, Para, Pre, dots, lane_name, quiet, state_bit
from .result_card import happened
from .transcript import Beside, counted, transcript

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from ..core.state import RunState
    from .network_facts import NetworkFacts, TaskFacts
    from .parts import Block, Line

__all__ = ["turns"]

#: Tasks whose transcript is shown.
_MOST = 40


def turns(state: RunState, facts: NetworkFacts, above: Container[str] = ()) -> Iterable[Block]:
    """One fold that holds what each task was asked and what it said.

    Parameters
    ----------
    state : RunState
        Of the network's run.
    facts : NetworkFacts
    above : container of str, optional
        Tasks whose answer is shown already.

    Yields
    ------
    Block
        A fold; nothing where nothing was said.
    """
    runs = {run.scope.run_id: run for run in state.walk()}
    began = [task for task in facts.tasks if task.started_s is not None]
    began.sort(key=lambda task: task.started_s or 0.0)
    blocks: list[Block] = []
    said = 0
    for task in began:
        run = runs.get(state.tasks[task.name].child_run_id or "")
        if run is not None and run.turn:
            said += len(run.turn)
            if len(blocks) < _MOST:
                blocks.append(_turn(task, run, state.started_s, task.name in above))
        elif state.tasks[task.name].text and len(blocks) < _MOST:
            blocks.append(
                Fold(_title(task), (Pre(state.tasks[task.name].text or ""),), right=_right(task))
            )
    if not blocks:
        return
    if len(began) > _MOST:
        blocks.append(Para((quiet(f"… {len(began) - _MOST:,} more tasks"),)))
    note = f"{said:,}\u00a0messages" if said else ""
    yield Fold(("Transcript",), tuple(blocks), note)


def _turn(task: TaskFacts, run: RunState, start: float, above: bool) -> Fold:
    first = run.turn_start
    spoken = [n for n, said in enumerate(run.turn) if said.role == "assistant" and said.text]
    beside = Beside(
        calls=run.tool_calls,
        moments={p - first: moment - start for p, moment in run.message_times.items()},
        reasons={p - first: reason for p, reason in run.stop_reasons.items()},
        answer=spoken[-1] if spoken and above else None,
        running=not run.ended,
        lane=task.lane,
        asked={each.tool_call_id: each for each in run.asked.values() if each.tool_call_id},
        checks=sent_back(run),
    )
    blocks = tuple(transcript(run.turn, one_line(task.robot, 80) or None, beside))
    blocks += happened(run)
    return Fold(_title(task), blocks, counted(run.turn), right=_right(task))


def _title(task: TaskFacts) -> Line:
    name = one_line(task.name, 80)
    if task.lane is None:
        return ("ƒ\u00a0", name)
    robot = one_line(task.robot, 80)
    title = lane_name(task.lane, name)
    return title if robot == name else (*title, f" · {robot}")


def _right(task: TaskFacts) -> Line:
    return dots(state_bit(task.status), seconds(task.worked_s))
