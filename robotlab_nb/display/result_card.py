"""The picture of a run, ended or not, and of its result: the answer first, then one quiet line.

Knows the state that events fold into, nothing of who runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import cost, count, seconds, tokens
from .answer_data import as_json, data, rejected, sent_back, words
from .attempt_rows import attempts, who_answered
from .besides import composed, notes, skills
from .escape import clip, one_line
from .parts import (
    Bit,
    Block,
    Fold,
    Line,
    Para,
    Picture,
    Prose,
    Quote,
    Table,
    badge,
    bold,
    code,
    dots,
    part,
    quiet,
    state_bit,
    ticked,
)
from .question_card import asked_of, open_cards, settled_fold
from .server_rows import reports, servers
from .states import STOPS, state_of
from .transcript import Beside, counted, of_calls, transcript

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.state import ModelCall, RunState
    from ..robot.result import RobotResult
    from ..runtime.run import Run

__all__ = ["after_notice", "fault_lines", "happened", "result", "run", "state", "waits"]

_ROWS = 50
_LIVE = ("pending", "running", "waiting")


def result(thing: RobotResult[Any]) -> Picture:
    """The picture of a result.

    Parameters
    ----------
    thing : RobotResult
    """
    state = thing.state
    name = one_line(thing.robot_name, 80)
    blocks = part("notice", lambda: _notice(state, "result"))
    return Picture(blocks + after_notice(state, name, "result.text"))


def run(thing: Run[Any]) -> Picture:
    """The picture of a run. Once it has ended it is that of its result.

    Parameters
    ----------
    thing : Run
    """
    state = thing.state
    name = one_line(thing.robot_name or state.info.get("name") or "run", 80)
    blocks = part("state", lambda: _live(state, name) if not state.ended else _notice(state, "run"))
    return Picture(blocks + after_notice(state, name, "run.state.text"))


def state(thing: RunState) -> Picture:
    """The picture of a run's state, as far as it has come.

    Parameters
    ----------
    thing : RunState
    """
    name = one_line(thing.scope.robot or thing.info.get("name") or "run", 80)
    blocks = part("notice", lambda: _notice(thing, "run"))
    return Picture(blocks + after_notice(thing, name, "state.text"))


def after_notice(state: RunState, name: str, whole: str) -> tuple[Block, ...]:
    """Everything about a run but its notice: answer, quiet line, folds.

    Parameters
    ----------
    state : RunState
    name : str
        Whose run it is.
    whole : str
        Code that gives the whole answer where only its start is shown.
    """
    return (
        *part("answer", lambda: _answer(state, whole)),
        *part("figures", lambda: [Para(_figures(state, name), quiet=True)]),
        *part("JSON", lambda: as_json(state)),
        *happened(state),
        *part("runs inside", lambda: _children(state)),
        *part("transcript", lambda: _transcript(state, name)),
    )


def happened(state: RunState) -> tuple[Block, ...]:
    """Folds for what happened in a run beside what was said; none where nothing did.

    Parameters
    ----------
    state : RunState
    """
    return (
        *part("rejected answers", lambda: rejected(state)),
        *part("attempts", lambda: attempts(state)),
        *part("questions", lambda: settled_fold(asked_of(state))),
        *part("notes", lambda: notes(state)),
        *part("tool servers", lambda: servers(state)),
        *part("agent skills", lambda: skills(state)),
        *part("system message", lambda: composed(state)),
    )


def _live(state: RunState, name: str) -> Iterable[Block]:
    cards = list(open_cards(asked_of(state), "run"))
    yield from cards
    if state.status == "waiting":
        if not cards:
            yield waits(name, "run")
        return
    busy = [call.tool for call in state.tool_calls.values() if call.status == "running"]
    doing = f"calls {', '.join(one_line(tool, 40) for tool in busy[:4])}" if busy else None
    wait: Line = (code("run.result()"), " waits for the answer")
    yield Para(dots(state_bit(state.status, loud=True), bold(name), doing, wait))


def waits(name: str, named: str) -> Quote:
    """A notice of a run that waits, where no question is told.

    Parameters
    ----------
    name : str
        Whose run it is.
    named : str
        What is answered in code: ``run`` or ``result``.
    """
    words = dots(state_bit("waiting", loud=True), f"{name} asks; its run goes on when you answer")
    return Quote((Para(words), Para(("Next cell: ", code(f"{named}.answer(…)")))), "rail", "kw")


def _notice(state: RunState, noun: str) -> Iterable[Block]:
    """What a person should know first when the run did not complete."""
    cards = list(open_cards(asked_of(state), noun)) if not state.ended else []
    if cards:
        yield from cards
    elif state.status == "failed":
        yield Quote(tuple(fault_lines(state.error or {})), "rail", "kf")
    elif state.status == "interrupted":
        yield Quote(tuple(_interrupted(state)), "rail", "ki")
    elif state.status == "abandoned":
        words = "its process ended before the run did; this is what was recorded"
        yield Quote((Para(dots(state_bit(state.status, loud=True), words)),), "rail", "ki")
    elif state.status in _LIVE:
        words = "this is how far the run was; look at the run itself for the rest"
        yield Quote(
            (Para(dots(state_bit(state.status, loud=True), words)),),
            "rail",
            state_of(state.status).hue or "ki",
        )


def fault_lines(error: Mapping[str, Any], named: str | None = None) -> Iterable[Block]:
    """An error as its events tell it: what was wrong, what to do, what is known beside.

    Parameters
    ----------
    error : mapping
        ``type``, ``message``, ``hint``, ``kind``, ``status``, ``retry_after``, ``retryable``;
        any may be missing.
    named : str, optional
        What it is called where nothing ran that could have failed.
    """
    message = clip(error.get("message") or "no message", 2000)
    head = state_bit("failed", loud=True)
    if named is not None:
        head = Bit(one_line(named, 60), "state", icon=head.icon, hue=head.hue)
    yield Para(dots(head, message))
    if error.get("hint"):
        yield Para(ticked(clip(error["hint"], 1000)))
    wait = seconds(error.get("retry_after"), limit=True)
    kind = error.get("kind")
    about = dots(
        one_line(error.get("type") or "error", 60) if named is None else None,
        one_line(kind, 40).replace("_", " ") if kind else None,
        f"HTTP {one_line(error['status'], 10)}" if error.get("status") else None,
        f"to be tried again after {wait}" if wait else None,
        "the same call may work when it is repeated" if error.get("retryable") is True else None,
    )
    if about:
        yield Para(about, quiet=True)


def _interrupted(state: RunState) -> Iterable[Block]:
    after = seconds(state.duration_s)
    calls = list(state.tool_calls.values())
    ended = sum(call.status in ("completed", "failed") for call in calls)
    told = f"{ended} of {count(len(calls), 'tool call')} finished" if calls else None
    state_word = state_bit("interrupted", loud=True)
    yield Para(dots((state_word, f" after {after}" if after else ""), told))
    if state.stuck:
        names = ", ".join(one_line(name, 64) for name in state.stuck[:8])
        yield Para((f"still running, and not to be stopped: {names}",))


def _answer(state: RunState, whole: str) -> Iterable[Block]:
    if state.output is not None:
        yield from data(state.output)
        return
    # Of a run that goes on, its reasoning is no answer yet.
    spoken = next((m.text for m in reversed(state.turn) if m.role == "assistant" and m.text), "")
    text = spoken if state.status in _LIVE else state.text
    if not text and state.status != "completed":
        text = next((c.text for c in reversed(list(state.model_calls.values())) if c.text), "")
    if text:
        yield Prose(text, _ending(state), whole)
    elif state.status == "completed":
        yield Para((quiet("the model gave no text"),))


def _ending(state: RunState) -> str:
    if state.status == "completed":
        return ""
    if state.status in _LIVE:
        return "… text so far"
    spoken = [message for message in state.turn if message.role == "assistant"]
    if (state.error or {}).get("kind") == "output":
        return "… the last answer, not accepted"
    cut = not spoken or spoken[-1].is_cut
    return "… cut here, text so far" if cut else "text so far"


def _was_asked(call: ModelCall) -> bool:
    """Whether a model was asked, or its answer kept from before; not where a guard refused."""
    return bool(call.attempts) or call.cached or call.status in ("running", "completed")


def _figures(state: RunState, name: str) -> Line:
    runs = list(state.walk())
    calls = sum(_was_asked(call) for each in runs for call in list(each.model_calls.values()))
    started = state.status != "pending"
    usage = state.total_usage()
    status = state_of(state.status)
    stop = STOPS.get(state.stop_reason or "") if state.status == "completed" else None
    kept = sum(call.cached for each in runs for call in list(each.model_calls.values()))
    return dots(
        f"{status.icon}\u00a0{status.word}" + (f", {stop}" if stop else ""),
        name,
        *who_answered(state),
        badge("simulated") if state.simulated else None,
        count(calls, "call") + (f", {kept:,} cached" if kept else "") if started else None,
        count(sum(len(each.tool_calls) for each in runs), "tool call") if started else None,
        tokens(usage) if calls else None,
        cost(usage) if calls else None,
        seconds(state.duration_s),
        words(state),
        "not committed: another run was first" if state.conversation == "forked" else None,
    )


def _children(state: RunState) -> Iterable[Block]:
    children = [each for each in state.walk() if each is not state]
    if not children:
        return
    rows = tuple(_child(each, state.scope.depth) for each in children[:_ROWS])
    columns = ("run", "state", "calls", "tokens", "cost", "took")
    table = Table(columns, rows, frozenset({2, 3, 4, 5}))
    more = len(children) - _ROWS
    blocks: tuple[Block, ...] = (table,)
    if more > 0:
        blocks += (Para((quiet(f"… {more:,} more"),)),)
    yield Fold(("Runs inside",), blocks, f"{len(children):,}", told=True)


def _child(state: RunState, depth: int) -> tuple[Line, ...]:
    name = one_line(state.scope.robot or state.info.get("name") or state.scope.path[-1], 60)
    indent = "› " * max(state.scope.depth - depth - 1, 0)
    return (
        (f"{indent}{name}",),
        (state_bit(state.status),),
        (f"{len(state.model_calls):,}",),
        (tokens(state.usage),),
        (cost(state.usage),),
        (seconds(state.duration_s) or "",),
    )


def _transcript(state: RunState, name: str) -> Iterable[Block]:
    turn = state.turn
    running = not state.ended
    if not turn:
        if state.tool_calls:
            yield from of_calls(list(state.tool_calls.values())[:_ROWS])
        return
    answer = next(
        (n for n in range(len(turn) - 1, -1, -1) if turn[n].role == "assistant" and turn[n].text),
        None,
    )
    start = state.turn_start
    beside = Beside(
        calls=state.tool_calls,
        moments={p - start: t - state.started_s for p, t in state.message_times.items()},
        reasons={p - start: reason for p, reason in state.stop_reasons.items()},
        answer=answer,
        running=running,
        asked={each.tool_call_id: each for each in list(state.asked.values()) if each.tool_call_id},
        checks=sent_back(state),
        reports=reports(state),
    )
    yield Fold(("Transcript",), tuple(transcript(turn, name, beside)), counted(turn), told=True)
