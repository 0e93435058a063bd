"""Tool servers in a run's picture: which were used, what they offer, which failed, what changed.

Reads the events that a run's state keeps as notes. Whatever a server says is a stranger's word.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count, moment, seconds
from .escape import clip, one_line
from .parts import Bit, Fold, Para, Pre, Table, code, dots, quiet, state_bit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ..core.events import Event
    from ..core.state import RunState
    from .parts import Block, Line

__all__ = ["REPORTS", "SERVERS", "progress_words", "reports", "servers"]

_ROWS, _NAMES, _LINES = 60, 12, 20
#: events that tell of a call that runs
REPORTS = frozenset({"mcp.progress", "mcp.log"})


def servers(state: RunState) -> Iterable[Block]:
    """The tool servers of a run, in a fold: their state, tools and commands, and what changed.

    Parameters
    ----------
    state : RunState
    """
    told = [event for event in list(state.notes) if event.type in SERVERS]
    if not told:
        return
    latest: dict[str, Event] = {}
    for event in told:
        data: Any = event.data
        if event.type in _STATES:
            latest[str(data.get("server"))] = event
    rows = tuple(_row(name, latest[name]) for name in list(latest)[:_ROWS])
    columns = ("server", "state", "tools", "took", "command")
    blocks: list[Block] = [Table(columns, rows)] if rows else []
    for event in told:
        blocks += _besides(event)
    logged = [event for event in told if event.type == "mcp.log" and not _call_of(event)]
    if logged:
        blocks.append(Para((quiet("what they logged"),)))
        blocks.append(_lines(logged, state))
    bad = sum(event.type == "mcp.failed" for event in latest.values())
    good = sum(event.type == "mcp.ready" for event in latest.values())
    words = [f"{good:,} ready" if good else "", f"{bad:,} failed" if bad else ""]
    note = ", ".join(word for word in words if word)
    right: Line = (state_bit("failed"),) if bad else ()
    yield Fold(("Tool servers",), tuple(blocks), note, right=right, told=True)


#: events that say how a server is -> the state's word
_STATES = {"mcp.connecting": "running", "mcp.ready": "completed", "mcp.failed": "failed"}


def _row(name: str, event: Event) -> tuple[Line, ...]:
    data: Any = event.data
    if event.type == "mcp.ready":
        sign: Line = ("✓\u00a0ready",)
    elif event.type == "mcp.failed":
        sign = (state_bit("failed"),)
    else:
        sign = (Bit("connecting", "state", icon="◐", hue="kr"),)
    tools = _named(data.get("tools")) if event.type == "mcp.ready" else (quiet("none"),)
    took = "already open" if data.get("reused") else seconds(data.get("duration_s")) or ""
    command = data.get("command")
    shown: Line = (code(one_line(command, 200)),) if command else ()
    return ((one_line(name, 64),), sign, tools, (took,), shown)


def _listed(value: Any) -> list[Any]:
    """A list of an event; empty where something else stands in its place."""
    return list(value) if isinstance(value, (list, tuple)) else []


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in _listed(value) if isinstance(each, dict)]


def _named(names: Any) -> Line:
    listed = [one_line(n, 64) for n in _listed(names)]
    more = f"{len(listed) - _NAMES:,} more" if len(listed) > _NAMES else None
    return dots(*(code(name) for name in listed[:_NAMES]), more) or (quiet("none"),)


def _besides(event: Event) -> Iterable[Block]:
    """What does not fit into the table."""
    data: Any = event.data
    if event.type == "mcp.failed":
        yield Para(_failed(data))
        if data.get("stderr_tail"):
            yield Pre(clip(str(data["stderr_tail"]), 2_000))
    elif event.type == "mcp.chosen":
        yield Para(_chosen(data))
    elif event.type == "mcp.tools_changed":
        yield Para(_changed(data))
        for each in _dicts(data.get("changed"))[:_NAMES]:
            yield Pre(clip(str(each.get("diff") or ""), 4_000))
    elif event.type == "mcp.ready":
        for each in _dicts(data.get("left_out"))[:_NAMES]:
            why = one_line(each.get("why"), 200)
            yield Para((code(one_line(each.get("tool"), 64)), f" is not offered: {why}"))
        if data.get("paused"):
            name = one_line(data.get("server"), 64)
            listed = _named(data["paused"])
            yield Para((*listed, f" of {name}: paused, for it changed and nobody approved"))


# -- one line each ---------------------------------------------------------------------------


def _connecting(data: Any) -> Line:
    how = "starts" if data.get("transport") == "stdio" else "connects to"
    new = quiet("it never ran here before") if data.get("first") else None
    name = one_line(data.get("server"), 64)
    return dots((f"{how} tool server {name}: ", code(one_line(data.get("command"), 300))), new)


def _ready(data: Any) -> Line:
    name, tools = one_line(data.get("server"), 64), _listed(data.get("tools"))
    paused = _listed(data.get("paused"))
    took = "already open" if data.get("reused") else seconds(data.get("duration_s"))
    return dots(
        f"tool server {name} is ready", count(len(tools), "tool"), took,
        f"{len(paused):,} paused" if paused else None,
    )  # fmt: skip


def _failed(data: Any) -> Line:
    error = data.get("error") if isinstance(data.get("error"), dict) else {}
    name, message = one_line(data.get("server"), 64), one_line(error.get("message") or "", 400)
    bit = Bit(f"tool server {name} failed", "mark", icon="✕", hue="kf")
    rest = None if data.get("required") else quiet("the run goes on without it")
    return dots((bit, f": {message}"), rest)


def _chosen(data: Any) -> Line:
    matches = _dicts(data.get("matches"))
    scored = [f"{one_line(m.get('name'), 64)} {_score(m.get('score'))}" for m in matches[:_NAMES]]
    used = [one_line(m.get("name"), 64) for m in matches if m.get("used")]
    if data.get("reason") == "fits":
        return dots(
            f"chose {', '.join(used)} for the message",
            quiet(f"scores: {', '.join(scored)}; used from {_score(data.get('threshold'))} up"),
        )
    why = one_line(data.get("reason"), 40)
    return dots("uses all tool servers", quiet(f"nothing tells which fits: {why}"))


def _score(score: object) -> str:
    known = isinstance(score, (int, float)) and not isinstance(score, bool)
    return f"{score:.2f}" if known else "unknown"


def _changed(data: Any) -> Line:
    parts = []
    for word, names in (
        ("new", data.get("added")),
        ("gone", data.get("removed")),
        ("described otherwise", [c.get("tool") for c in _dicts(data.get("changed"))]),
        ("paused until approved", data.get("paused")),
    ):
        listed = [one_line(name, 64) for name in _listed(names)]
        more = f" and {len(listed) - _NAMES:,} more" if len(listed) > _NAMES else ""
        if listed:
            parts.append(f"{word}: {', '.join(listed[:_NAMES])}{more}")
    name = one_line(data.get("server"), 64)
    if data.get("paused"):
        mark = Bit("tools changed", "mark", icon="?", hue="kw")
        return dots((mark, f" on server {name}"), *parts)
    return dots(f"the tools of server {name} changed", *parts)


def progress_words(data: Mapping[str, Any]) -> str:
    """How far a call is, in words.

    Examples
    --------
    >>> progress_words({"progress": 2.0, "total": 4.0, "text": "counted boots"})
    '2 of 4 · counted boots'
    """
    done, total = data.get("progress"), data.get("total")
    far = f"{done:g} of {total:g}" if _is_number(total) and _is_number(done) else ""
    if not far and _is_number(done):
        far = f"{done:g}"
    text = one_line(data.get("text") or "", 200)
    return " · ".join(word for word in (far, text) if word)


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _progress(data: Any) -> Line:
    return (f"{one_line(data.get('tool') or 'a tool', 64)}: {progress_words(data)}",)


def _log(data: Any) -> Line:
    logger = one_line(data.get("logger") or "", 40)
    level = one_line(data.get("level") or "log", 20)
    who = one_line(data.get("server"), 64)
    return (quiet(" ".join(w for w in (who, logger, level) if w)), f" {_said(data)}")


def _said(data: Any) -> str:
    return one_line(data.get("text") or "", 300)


#: event type -> its line
SERVERS: dict[str, Callable[[Any], Line]] = {
    "mcp.chosen": _chosen,
    "mcp.connecting": _connecting,
    "mcp.ready": _ready,
    "mcp.failed": _failed,
    "mcp.tools_changed": _changed,
    "mcp.progress": _progress,
    "mcp.log": _log,
}


# -- what a call reported --------------------------------------------------------------------


def reports(state: RunState) -> dict[str, tuple[Block, ...]]:
    """What servers reported while calls of theirs ran, by the call's id.

    Parameters
    ----------
    state : RunState
    """
    by_call: dict[str, list[Event]] = {}
    for event in list(state.notes):
        call = _call_of(event) if event.type in REPORTS else None
        if call:
            by_call.setdefault(call, []).append(event)
    return {
        call: (Para((quiet("reported"),)), _lines(events, state))
        for call, events in by_call.items()
    }


def _call_of(event: Event) -> str | None:
    data: Any = event.data
    found = data.get("tool_call_id")
    return found if isinstance(found, str) else None


def _lines(events: list[Event], state: RunState) -> Block:
    """The last ones of some lines, each with its time."""
    rows = []
    for event in events[-_LINES:]:
        data: Any = event.data
        at = moment(max(event.elapsed - state.started_s, 0.0)) or ""
        words: Line = (
            (progress_words(data),)
            if event.type == "mcp.progress"
            else (quiet(one_line(data.get("level") or "log", 20)), f" {_said(data)}")
        )
        rows.append(((at,), words))
    return Table(("at", "what"), tuple(rows))
