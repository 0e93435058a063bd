"""A run's events grouped into the moments that a person steps through.

Every event belongs to exactly one step, so that a step's end is a state of the run. Long runs are
told in full at their start and their end, and in bunches between. Knows no widget and no screen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..display.amounts import count, seconds
from ..display.escape import one_line
from ..display.exchange import Exchanges
from ..display.exchange_events import readable
from ..display.json_text import arguments_line, value_line
from ..display.narration import Narration
from ..display.states import state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.events import Event, Scope
    from ..display.exchange import Exchange

__all__ = ["MOST_STEPS", "Step", "steps_of"]

#: Steps of one replay; of a longer run the middle is told in bunches.
MOST_STEPS = 400
_FULL_START, _FULL_END = 150, 100
#: Characters of what is quoted in a step's words.
_QUOTE = 120


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One moment of a run.

    Parameters
    ----------
    number : int
        From 0.
    at : float
        Seconds since the run started.
    kind : str
        ``begin, ask, answer, attempt, tool, result, task, person, memory, message, note, end``;
        ``bunch`` for several moments in one.
    who : str
        The robot, the network, or who else it is about.
    where : str
        Names from the run down to it.
    words : str
        What happened, on one line.
    icon, hue : str
        As for states; an arrow for what is sent and received, ``ƒ`` for tools.
    events : range
        Its events' places in the run.
    exchange : Exchange or None
        The model call that it is a part of.
    tool_call_id : str
        The tool call that it is about.
    """

    number: int
    at: float
    kind: str
    who: str
    where: str
    words: str
    icon: str
    hue: str
    events: range
    exchange: Exchange | None = None
    tool_call_id: str = ""

    @property
    def moment(self) -> str:
        """When it was, in words."""
        return seconds(self.at) or ""

    def __repr__(self) -> str:
        return f"<step {self.number}: {self.moment} {self.icon} {self.who} {self.words}>"

    def __str__(self) -> str:
        return f"{self.number + 1}. {self.moment} {self.icon} {self.who} {self.words}"


def steps_of(events: Sequence[Event], most: int = MOST_STEPS) -> tuple[list[Step], Exchanges]:
    r"""The steps of a run, and its model calls.

    Parameters
    ----------
    events : sequence of Event
        From its ``run.started``.
    most : int, optional
        How many steps there are at most.

    Returns
    -------
    (list of Step, Exchanges)

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> run = rl.build("poet", model=rl.SimulatedModel(["roses"])).start("a poem")
    >>> answer = run.result()
    >>> [f"{step.icon} {step.words}" for step in steps_of(run.events)[0]][1:3]
    ['→ asks simulated/script · 1\xa0message', '← answers “roses”']
    """
    maker = _Steps(events[0].scope, events[0].elapsed)
    for place, event in enumerate(events):
        maker.take(place, event)
    return _bunched(maker.done(len(events)), most), maker.exchanges


class _Steps:
    """Makes steps of events, in order."""

    def __init__(self, scope: Scope, start: float) -> None:
        self.scope = scope
        self.start = start
        self.exchanges = Exchanges(scope)
        self.steps: list[Step] = []
        self._narration = Narration()
        self._last: Event | None = None

    def take(self, place: int, event: Event) -> None:
        found = self.exchanges.take(event)
        told = readable(event)
        line = self._narration.line(told)
        words = line.partition("] ")[2] if line else ""
        made = self._made(told, words, found)
        if made is not None:
            self._close(place)
            self.steps.append(replace(made, number=len(self.steps), events=range(place, place)))
        elif found is not None and event.type == "message.added" and self.steps:
            self._answered(found)
        self._last = event

    def done(self, places: int) -> list[Step]:
        self._close(places)
        return self.steps

    def _close(self, place: int) -> None:
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, events=range(last.events.start, place))

    def _answered(self, found: Exchange) -> None:
        """The answer's message is recorded after the call's end: its words are the step's."""
        for place in range(len(self.steps) - 1, max(len(self.steps) - 9, -1), -1):
            step = self.steps[place]
            if step.kind == "answer" and step.exchange is found:
                self.steps[place] = replace(step, words=_answer(found))
                return

    def _made(self, event: Event, words: str, found: Exchange | None) -> Step | None:
        """The step that an event begins; None where it belongs to the one before."""
        data: Any = event.data
        match event.type:
            case "run.started":
                return self._begun(event, data)
            case "model_call.started" if found is not None:
                return self._step(event, "ask", _asks(found), "→", exchange=found)
            case "model_call.completed" if found is not None:
                return self._step(event, "answer", _answer(found), "←", exchange=found)
            case "model_call.failed" if found is not None:
                told = f"gets no answer: {_fault(data.get('error'))}"
                return self._step(event, "answer", told, "✕", "kf", exchange=found)
            case "attempt.failed" if data.get("retry_in_s") is not None:
                return self._step(event, "attempt", words, "✕", "kf", exchange=found)
            case "model_call.fallback":
                return self._step(event, "attempt", words, "→", exchange=found)
            case "tool_call.started":
                name = one_line(data.get("tool") or "a tool", 60)
                told = f"calls {name}{arguments_line(data.get('arguments_text'), 100)}"
                return self._tool(event, "tool", told, "ƒ", "")
            case "tool_call.completed":
                return self._tool_ended(event, data)
        return self._other(event, words, data)

    def _other(self, event: Event, words: str, data: Any) -> Step | None:
        family, _, what = event.type.partition(".")
        match family:
            case "run" if what in ("completed", "failed", "interrupted", "abandoned"):
                if event.scope.run_id != self.scope.run_id and what == "completed":
                    return None
                found = state_of(what)
                told = f"ends: {found.word}"
                if what == "failed":
                    told += f" · {_fault(data.get('error'))}"
                return self._step(event, "end", told, found.icon, found.hue)
            case "run" if what == "waiting":
                return self._step(event, "person", "waits for a person", "?", "kw")
            case "task" if words:
                return self._task(event, words, what, data)
            case "map" if what != "item":
                items = data.get("items")
                told = words or f"task {one_line(data['task'], 40)}: {count(items, 'item')}"
                return self._step(event, "task", told, "·")
            case "hitl":
                icon, hue = ("?", "kw") if what == "requested" else ("✓", "")
                return self._step(event, "person", words, icon, hue)
            case "memory" if what in ("set", "deleted", "cleared", "waiting", "deadlock"):
                return self._step(event, "memory", _memory(what, data, words), "·")
            case "bus" if what in ("sent", "nacked", "dead", "handler_failed"):
                return self._step(event, "message", _letter(what, data, words), "·")
            case "guard" | "output" | "loop" | "hook" | "conversation" if words:
                return self._step(event, "note", words, "·")
        return None

    def _begun(self, event: Event, data: Any) -> Step | None:
        last = self.steps[-1] if self.steps else None
        began = self._last is not None and self._last.type == "task.started"
        if began and last is not None and event.scope.depth:
            return None  # the task that it does has just been told
        asked = data.get("input")
        told = f"begins with {_quoted(asked)}" if isinstance(asked, str) and asked else "begins"
        if data.get("resumed_from"):
            told = f"goes on from run {one_line(data['resumed_from'], 20)}"
        tasks = data.get("graph")
        if tasks:
            told += f" · {count(len(tasks), 'task')}"
        return self._step(event, "begin", told, "○")

    def _task(self, event: Event, words: str, what: str, data: Any) -> Step:
        status = str(data.get("status") or {"started": "running"}.get(what, what))
        found = state_of("failed" if what == "retried" else status)
        return self._step(event, "task", words, found.icon, found.hue)

    def _tool_ended(self, event: Event, data: Any) -> Step:
        run = self.exchanges.state._family.get(event.scope.run_id, self.exchanges.state)
        call = run.tool_calls.get(data["tool_call_id"])
        name = one_line(call.tool, 60) if call is not None else "a tool"
        found = state_of(data.get("status"))
        verb = "gives" if data.get("status") == "completed" else f"{found.word}:"
        told = f"{name} {verb} {one_line(data.get('content') or 'nothing', _QUOTE)}"
        took = seconds(data.get("duration_s"))
        return self._tool(event, "result", f"{told} · {took}" if took else told, *found[::2])

    def _tool(self, event: Event, kind: str, words: str, icon: str, hue: str) -> Step:
        made = self._step(event, kind, words, icon, hue)
        return replace(made, tool_call_id=str(event.data["tool_call_id"]))

    def _step(
        self,
        event: Event,
        kind: str,
        words: str,
        icon: str,
        hue: str = "",
        *,
        exchange: Exchange | None = None,
    ) -> Step:
        scope = event.scope
        who = scope.robot or scope.path[-1]
        if kind == "task" and scope.kind == "task":
            who = scope.path[-2] if len(scope.path) > 1 else who
        where = " › ".join(scope.path[len(self.scope.path) :])
        at = max(event.elapsed - self.start, 0.0)
        who = one_line(who, 40)
        return Step(0, at, kind, who, one_line(where, 120), words, icon, hue, range(0), exchange)


def _asks(found: Exchange) -> str:
    tools = len(found.call.tools)
    words = [
        f"asks {one_line(found.models[0], 80)}",
        count(len(found.messages), "message"),
        count(tools, "tool") if tools else "",
    ]
    return " · ".join(word for word in words if word)


def _answer(found: Exchange) -> str:
    answer = found.answer
    cached = "from the cache: " if found.call.cached else ""
    if answer is None:
        return f"{cached}answers {_quoted(found.call.text or '')}"
    calls = [f"{one_line(c.name, 60)}{arguments_line(c.arguments, 80)}" for c in answer.tool_calls]
    if calls:
        said = f"says {_quoted(answer.text)} and " if answer.text.strip() else ""
        return f"{cached}{said}wants {', '.join(calls[:4])}" + (" …" if len(calls) > 4 else "")
    if answer.text or not answer.reasoning:
        return f"{cached}answers {_quoted(answer.text)}"
    return f"{cached}only thinks: {_quoted(answer.reasoning)}"


def _quoted(text: str) -> str:
    return f"“{one_line(text, _QUOTE)}”" if text.strip() else "nothing"


def _fault(error: Any) -> str:
    found = error if isinstance(error, dict) else {}
    return one_line(f"{found.get('type') or 'error'}: {found.get('message') or ''}", 200)


def _memory(what: str, data: Any, words: str) -> str:
    if what == "set":
        verb = "adds to" if data.get("appended") else "writes"
        return (
            f"{verb} memory {one_line(data.get('key'), 60)}: {value_line(data.get('value'), 100)}"
        )
    keys = data.get("keys") or [data.get("key")]
    named = ", ".join(one_line(key, 40) for key in keys[:6])
    return words or {
        "deleted": f"deletes memory {named}",
        "cleared": f"clears memory: {named}",
        "waiting": f"waits for memory {named}",
    }.get(what, what)


def _letter(what: str, data: Any, words: str) -> str:
    channel = one_line(data.get("channel"), 40)
    if what == "sent":
        told = value_line(data.get("content"), 100)
        return f"sends on {channel}: {told}"
    return words or f"{what.replace('_', ' ')} on {channel}"


# -- bunches -------------------------------------------------------------------------------


def _bunched(steps: list[Step], most: int) -> list[Step]:
    """No more steps than may be: those in the middle of a long run become bunches."""
    if len(steps) <= most:
        return steps
    head = min(_FULL_START, most * 3 // 8)
    tail = min(_FULL_END, most // 4)
    middle = steps[head : len(steps) - tail]
    places = max(most - head - tail, 1)
    size = -(-len(middle) // places)
    bunches = [_bunch(middle[at : at + size]) for at in range(0, len(middle), size)]
    whole = [*steps[:head], *bunches, *steps[len(steps) - tail :]]
    return [replace(step, number=number) for number, step in enumerate(whole)]


def _bunch(steps: list[Step]) -> Step:
    if len(steps) == 1:
        return steps[0]
    counted = Counter(_PLURAL.get(step.kind, "notes") for step in steps)
    words = ", ".join(f"{number:,} {kind}" for kind, number in counted.most_common())
    failed = any(step.hue == "kf" for step in steps)
    return Step(
        0, steps[-1].at, "bunch", "many", "", f"{len(steps):,} steps: {words}", "⋯",
        "kf" if failed else "", range(steps[0].events.start, steps[-1].events.stop),
    )  # fmt: skip


_PLURAL = {
    "begin": "starts", "ask": "questions to models", "answer": "answers", "attempt": "failures",
    "tool": "tool calls", "result": "results", "task": "task changes", "person": "for a person",
    "memory": "memory changes", "message": "messages", "end": "ends",
}  # fmt: skip
