"""The one line that stands under a cell while it blocks: what runs, who does what, how to stop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .amounts import seconds
from .escape import esc, one_line
from .question_card import asked_of
from .states import state_of
from .style import STYLE

if TYPE_CHECKING:
    from ..core.state import ModelCall, RunState

__all__ = ["status"]

_MOST_MARKS = 24


def status(state: RunState, elapsed: float) -> tuple[str, str]:
    """A run that is going on, in one line.

    Parameters
    ----------
    state : RunState
    elapsed : float
        Seconds since its start; shown whole, so that the line changes once a second.

    Returns
    -------
    (str, str)
        Text and HTML.

    Examples
    --------
    >>> from robotlab_nb.core.events import Scope
    >>> from robotlab_nb.core.state import RunState
    >>> state = RunState(Scope("r", "r", None, 0, "robot", ("bot",), "bot"))
    >>> state.status = "running"
    >>> status(state, 2.6)[0]
    '◐ running · bot · 2 s · interrupt the kernel to stop'
    """
    found = state_of(state.status)
    name = one_line(str(state.info.get("name") or state.scope.path[-1]), 40)
    parts = [p for p in (_strip(state), *_asking(state), *_doing(state, elapsed)) if p]
    parts.append(f"{int(elapsed)} s")
    told = " · ".join(parts)
    text = f"{found.icon} {found.word} · {name} · {told} · interrupt the kernel to stop"
    hue = f" rlnb-{found.hue}" if found.hue else ""
    html = (
        f'{STYLE}<div class="rlnb-c"><p class="rlnb-q"><span class="rlnb-i{hue}">{found.icon} '
        f"{found.word}</span> · <b>{esc(name)}</b> · {esc(told)} · "
        "interrupt the kernel to stop</p></div>"
    )
    return text, html


def _strip(state: RunState) -> str:
    """A mark per task, or counts where there are many; of an experiment the cells that ended."""
    if state.scope.kind == "experiment":
        ended = sum(child.ended for child in list(state.children.values()))
        return f"{ended:,} of {len(state.children):,} cells answered"
    if not state.tasks:
        return ""
    marks = [state_of(t.status).icon for t in state.tasks.values()]
    done = sum(t.status not in ("pending", "running", "waiting") for t in state.tasks.values())
    shown = (
        "".join(marks)
        if len(marks) <= _MOST_MARKS
        else " ".join(f"{icon}{n}" for icon, n in Counter(marks).items())
    )
    return f"{shown} {done} of {len(marks)} done"


def _asking(state: RunState) -> list[str]:
    """What a person is asked now."""
    opened = [asked for asked in asked_of(state) if asked.status == "pending"]
    told = []
    for asked in opened[:2]:
        who = "" if asked.robot == state.scope.robot else f"{one_line(asked.robot, 24)} "
        if asked.kind == "approval":
            told.append(f"{who}waiting for approval of {one_line(asked.tool, 40)}")
        else:
            told.append(f"{who}waiting for an answer: {one_line(asked.text, 60)}")
    more = [f"and {len(opened) - 2} more"] if len(opened) > 2 else []
    return told + more


def _doing(state: RunState, elapsed: float) -> list[str]:
    """Who asks which model, waits for it, or calls which tool, now."""
    now = state.started_s + elapsed
    told = []
    for run in state.walk():
        if run.status != "running":
            continue
        tools = [c.tool for c in run.tool_calls.values() if c.status == "running"]
        calls = [c for c in run.model_calls.values() if c.status == "running"]
        doing = [f"calling {one_line(t, 30)}" for t in tools]
        doing += [_wait(run, c, now) or _model(c) for c in calls]
        if doing:
            who = "" if run is state else f"{one_line(run.scope.path[-1], 24)} "
            told.append(who + ", ".join(doing[:3]))
    more = [f"and {len(told) - 3} more"] if len(told) > 3 else []
    return told[:3] + more


def _model(call: ModelCall) -> str:
    """The model that is asked; after a fallback the one in the other's place."""
    if not call.fallbacks:
        return f"asking {one_line(call.model, 30)}"
    last = call.fallbacks[-1]
    model, before = one_line(last.get("to_model"), 30), one_line(last.get("from_model"), 30)
    return f"asking {model} in place of {before}"


def _wait(run: RunState, call: ModelCall, now: float) -> str:
    """What a call waits for before it is made, while that lasts."""
    limits = [
        (note.elapsed, note.data)
        for note in run.notes
        if note.type == "guard.limited" and note.data.get("call_id") == call.call_id
    ]
    if limits:
        since, data = limits[-1]
        wait: Any = data.get("wait_s") or 0.0
        if now < since + wait:
            return f"waiting {seconds(wait, limit=True)} for {one_line(data.get('limit'), 30)}"
    last = call.attempts[-1] if call.attempts else None
    if last is None or last.error is None or not last.retry_in_s:
        return ""
    ended = call.started_s + (last.started_s or 0.0) + (last.duration_s or 0.0)
    if now >= ended + last.retry_in_s:
        return ""
    why = one_line(last.error.get("kind") or last.error.get("type"), 24).replace("_", " ")
    return f"waiting {seconds(last.retry_in_s, limit=True)} to ask again ({why})"
