"""The one line that stands under a cell while it blocks: what runs, who does what, how to stop."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .escape import esc, one_line
from .states import state_of
from .style import STYLE

if TYPE_CHECKING:
    from ..core.state import RunState

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
    parts = [p for p in (_strip(state), *_doing(state)) if p]
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
    """A mark per task, or counts where there are many."""
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


def _doing(state: RunState) -> list[str]:
    """Who asks which model, or calls which tool, now."""
    told = []
    for run in state.walk():
        if run.status != "running":
            continue
        tools = [c.tool for c in run.tool_calls.values() if c.status == "running"]
        models = [c.model for c in run.model_calls.values() if c.status == "running"]
        doing = [f"calling {one_line(t, 30)}" for t in tools]
        doing += [f"asking {one_line(m, 30)}" for m in models]
        if doing:
            who = "" if run is state else f"{one_line(run.scope.path[-1], 24)} "
            told.append(who + ", ".join(doing[:3]))
    more = [f"and {len(told) - 3} more"] if len(told) > 3 else []
    return told[:3] + more
