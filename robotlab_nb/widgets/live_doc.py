"""What a live view shows of a run, as flat records, and how they changed since the last look.

A fold over the items of ``run.watch()``. Each record (the run, an open question, a lane, a task, a
part of the graph, an entry of the transcript, a piece of an entry) has a key; a change is
``[key, fields]``, ``[key, "more text"]`` or ``[key, None]``. The same changes in the same order
give the same records, here and in the browser. All strings are untrusted: they are in visible
form, and only ever put into text nodes. Knows no clock, no widget and no screen.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

from ..core.events import Delta
from ..core.state import RunState
from ..display.amounts import moment, seconds
from ..display.escape import clip, one_line
from ..display.json_text import arguments_line, laid_out
from ..display.network_facts import NetworkFacts, facts_of
from ..display.parts import FOLD_LIMIT
from ..display.server_rows import SERVERS, progress_words
from ..display.states import STOPS, state_of
from .live_asks import aside, ask_rows, asks, over
from .live_graph import LiveGraph
from .live_lanes import lane_rows
from .live_records import Change, LiveRecords
from .live_rows import run_row, task_rows
from .spoken import Spoken, said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.events import Event, Scope

__all__ = ["Change", "LiveDoc"]

#: Entries of the transcript that are kept; older ones make room, each task's last one stays.
ENTRIES = 200
#: Characters of one streamed text; the result has all of it.
TEXT = 40_000
#: Characters of a tool call and of its result on their one line.
LINE = 80

#: kind of delta -> kind of piece
_PIECES = {"text": "text", "reasoning": "think", "refusal": "text"}


class LiveDoc(LiveRecords):
    """The records of one run's live view.

    Parameters
    ----------
    scope : Scope
        Of the run that is shown; its first item is its ``run.started``.

    Attributes
    ----------
    records : dict of str to dict
        By key, in order of appearance: ``run``, ``Q…`` open questions, ``L0 …`` lanes, ``T0 …``
        tasks, ``G`` and ``N0 …``, ``W0 …`` the graph of them, ``E0 …`` entries, ``P0 …`` pieces.
    state : RunState
        The run, as far as its items have been taken.

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> scope = Scope("r", "r", None, 0, "robot", ("bot",), "bot")
    >>> doc = LiveDoc(scope)
    >>> started = Event("run.started", scope, 0, 0.0, {"name": "bot", "input": "Hi"})
    >>> [key for key, _ in doc.take([started])]
    ['E0', 'P0', 'run', 'L0']
    >>> doc.take([Delta(scope, "c", 1, "text", 0, "Hel")])[1]
    ['P1', {'in': 'E1', 'kind': 'text', 'text': 'Hel', 'on': True}]
    >>> doc.take([Delta(scope, "c", 1, "text", 3, "lo")])
    [['P1', 'lo']]
    """

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self.state = RunState(scope)
        #: of a network: what its pictures tell, and where its tasks stand in order
        self._facts: NetworkFacts | None = None
        self._places: dict[str, int] = {}
        self._graph = LiveGraph()
        self._count = {"E": 0, "P": 0}
        #: by task: its entries, oldest first; and how many have made room
        self._kept: dict[str, deque[str]] = {}
        self._older = 0
        #: by run id: what it does now, and the entry of its present model call
        self._doing: dict[str, str] = {}
        self._entries: dict[str, str] = {}
        #: by run id, attempt and kind: what streams
        self._streams: dict[tuple[str, int, str], Spoken] = {}
        self._tools: dict[str, str] = {}
        #: by question id: the line that tells of it
        self._asked: dict[str, str] = {}

    def take(self, items: Iterable[Event | Delta]) -> list[Change]:
        """Take items in and return what changed, in order.

        Parameters
        ----------
        items : iterable of Event or Delta
            From ``run.watch()``, in order.
        """
        news = not self.records
        for item in items:
            if isinstance(item, Delta):
                self._delta(item)
            else:
                news = True
                self.state.apply(item)
                handler = _HANDLERS.get(item.type)
                if handler is not None:
                    handler(self, item)
        if news:
            self._facts = facts_of(self.state) if self.state.tasks else None
            self.put("run", run_row(self.state, self._facts))
            self._questions()
        rows = list(lane_rows(self.state, self._doing, self._facts))
        if news and self._facts is not None:
            placed = self._graph.rows(self._facts)
            rows += [*task_rows(self._facts, self._graph.width), *placed]
        for key, row in rows:
            self.put(key, row)
        return self.changes()

    def _questions(self) -> None:
        """Show the questions that are open now, and no others."""
        if not self._asked:
            return
        rows = dict(ask_rows(self.state))
        for key in [k for k in self.records if k[0] == "Q" and k not in rows]:
            self.remove(key)
        for key, row in rows.items():
            self.put(key, row)

    # -- entries and pieces ----------------------------------------------------------------

    def _entry(self, fields: Mapping[str, Any]) -> str:
        key = f"E{self._count['E']}"
        self._count["E"] += 1
        self.put(key, fields)
        self._kept.setdefault(fields.get("task", ""), deque()).append(key)
        if self._count["E"] - self._older > ENTRIES:
            self._make_room()
        return key

    def _make_room(self) -> None:
        """Let the oldest entry go of the task that has most of them."""
        fullest = max(
            filter(None, self._kept.values()), key=lambda each: (len(each), -int(each[0][1:]))
        )
        oldest = fullest.popleft()
        gone = [k for k, record in self.records.items() if record.get("in") == oldest]
        for each in (*gone, oldest):
            self.remove(each)
        self._older += 1
        self.put("run", {"older": self._older})

    def _piece(self, entry: str, kind: str, fields: Mapping[str, Any]) -> str:
        key = f"P{self._count['P']}"
        self._count["P"] += 1
        if entry in self.records:
            self.put(key, {"in": entry, "kind": kind, **fields})
        return key

    def _entry_of(self, scope: Scope, at: float | None) -> str:
        """The entry of a run's present model call; made when there is something to show."""
        found = self._entries.get(scope.run_id)
        if found is None:
            found = self._entries[scope.run_id] = self._entry(self._head(scope, at))
        elif at is not None and not self.records.get(found, {"at": "gone"})["at"]:
            self.put(found, {"at": self._moment(at)})
        return found

    def _head(self, scope: Scope, at: float | None) -> dict[str, Any]:
        who = scope.robot or scope.path[-1]
        inside = scope.path[len(self.state.scope.path) :]
        label = one_line(" › ".join(name for name in inside if name != who), 120)
        return self._heading(who, label, inside[0] if inside else "", at)

    def _heading(self, who: str, label: str, task: str, at: float | None) -> dict[str, Any]:
        """What stands above an entry, and which task of the network it is of."""
        if len(self._places) != len(self.state.tasks):
            self._places = {name: place for place, name in enumerate(self.state.tasks)}
        head = {"who": one_line(who, 40), "label": label, "at": self._moment(at)}
        place = self._places.get(task)
        return head if place is None else {**head, "task": f"T{place}"}

    def _moment(self, at: float | None) -> str:
        return "" if at is None else moment(max(at - self.state.started_s, 0.0)) or ""

    def _stream(self, scope: Scope, attempt: int, kind: str, at: float | None) -> Spoken:
        key = (scope.run_id, attempt, kind)
        found = self._streams.get(key)
        if found is None:
            fields = {"text": "", "on": True}
            piece = self._piece(self._entry_of(scope, at), _PIECES[kind], fields)
            found = self._streams[key] = Spoken(piece, TEXT)
        return found

    def _end_streams(self, run_id: str, fields: Mapping[str, Any]) -> None:
        for key in [k for k in self._streams if k[0] == run_id]:
            spoken = self._streams.pop(key)
            self.append(spoken.key, spoken.rest())
            self.change(spoken.key, {"on": False, **fields})

    def _run(self, scope: Scope) -> RunState:
        return self.state._family.get(scope.run_id, self.state)

    # -- one method per kind of item -------------------------------------------------------

    def _delta(self, item: Delta) -> None:
        run_id = item.scope.run_id
        if item.kind not in _PIECES:
            self._doing[run_id] = "writing a tool call"
            return
        self._doing[run_id] = "thinking" if item.kind == "reasoning" else "writing"
        spoken = self._stream(item.scope, item.attempt, item.kind, None)
        self.append(spoken.key, spoken.more(item.text))

    def _started(self, event: Event) -> None:
        asked = event.data.get("input")
        if event.scope.run_id == self.state.scope.run_id and isinstance(asked, str) and asked:
            entry = self._entry({"who": "you", "label": "", "at": "", "person": True})
            self._piece(entry, "text", {"text": clip(asked, FOLD_LIMIT), "on": False})

    def _ended(self, event: Event) -> None:
        run_id = event.scope.run_id
        self._doing.pop(run_id, None)
        self._entries.pop(run_id, None)
        self._end_streams(run_id, {})

    def _call_started(self, event: Event) -> None:
        self._entries.pop(event.scope.run_id, None)
        self._doing[event.scope.run_id] = "asks the model"

    def _attempt_failed(self, event: Event) -> None:
        data: Any = event.data
        if data.get("retry_in_s") is not None:
            # What the last attempt wrote is kept, as a message that was cut.
            self._end_streams(event.scope.run_id, {"void": True})
        error = data.get("error") or {}
        status = f"{one_line(error['status'], 10)}, " if error.get("status") else ""
        told = one_line(error.get("message") or error.get("type") or "failed", 300)
        wait = seconds(data.get("retry_in_s"), limit=True)
        after = f"asks again in {wait}" if wait else "does not ask again"
        words = f"attempt {data['attempt']} failed · {status}{told} · {after}"
        self._note(self._entry_of(event.scope, event.elapsed), words, "failed")
        self._doing[event.scope.run_id] = after

    def _note(self, entry: str, words: str, status: str = "") -> str:
        sign = _sign(status, "") if status else {"icon": "", "hue": ""}
        fields = {"text": words, "icon": sign["icon"], "hue": sign["hue"]}
        return self._piece(entry, "note", {**fields, "err": True} if status == "failed" else fields)

    def _aside(self, event: Event) -> None:
        words, bad = aside(event, self._run(event.scope))
        self._note(self._entry_of(event.scope, event.elapsed), words, "failed" if bad else "")
        if event.type == "guard.limited":
            self._doing[event.scope.run_id] = words.replace("waited", "waits", 1)
        elif event.type == "model_call.fallback":
            self._doing[event.scope.run_id] = "asks another model"

    def _server(self, event: Event) -> None:
        tool = self._tools.get(event.data.get("tool_call_id") or "")  # type: ignore[call-overload]
        if event.type == "mcp.progress" and tool is not None:
            self.change(tool, {"out": one_line(progress_words(event.data), LINE)})
            return
        self._aside(event)
        if event.type == "mcp.connecting":
            self._doing[event.scope.run_id] = "connects to tool servers"

    def _question(self, event: Event) -> None:
        asked = self._run(event.scope).asked[event.data["question_id"]]  # type: ignore[index]
        if asked.task:  # done by answering: the person's own
            who = asked.robot or asked.task
            label = "" if who == asked.task else one_line(asked.task, 120)
            entry = self._entry(self._heading(who, label, asked.task, event.elapsed))
        else:
            entry = self._entry_of(event.scope, event.elapsed)
        self._asked[asked.question_id] = self._note(entry, asks(asked), "waiting")
        self.change(self._tools.get(asked.tool_call_id or "", ""), _sign("waiting", ""))

    def _answered(self, event: Event) -> None:
        asked = self._run(event.scope).asked[event.data["question_id"]]  # type: ignore[index]
        self.change(self._asked.get(asked.question_id, ""), over(asked))
        self.change(self._tools.get(asked.tool_call_id or "", ""), _sign("running", ""))

    def _message(self, event: Event) -> None:
        message = self._run(event.scope).messages[-1]
        if message.role != "assistant":
            return
        for kind, text, cut in said(message):
            self._whole(event, kind, text, cut)
        self._end_streams(event.scope.run_id, {})
        reason = str(event.data.get("stop_reason") or "")
        if reason in STOPS and reason != "tool":
            self._note(self._entry_of(event.scope, event.elapsed), STOPS[reason])

    def _whole(self, event: Event, kind: str, text: str, cut: bool) -> None:
        """The whole of a text, of which some or all has been shown as it streamed."""
        run_id = event.scope.run_id
        attempts = [k[1] for k in self._streams if k[0] == run_id and k[2] == kind]
        attempt = attempts[-1] if attempts else 1
        spoken = self._stream(event.scope, attempt, kind, event.elapsed)
        del self._streams[(run_id, attempt, kind)]
        self._entry_of(event.scope, event.elapsed)
        left = spoken.left_of(text)
        if left is None:
            self.change(spoken.key, {"text": spoken.instead(text)})
        else:
            self.append(spoken.key, left)
        self.change(spoken.key, {"on": False, "cut": True} if cut else {"on": False})

    def _tool_started(self, event: Event) -> None:
        data: Any = event.data
        asked = data.get("arguments_text") or ""
        fields = {
            "name": one_line(data["tool"], 60),
            "args": arguments_line(asked, LINE),
            "given": clip(laid_out(asked) or "none", FOLD_LIMIT),
            "out": "",
            "got": "",
            **_sign("running", ""),
        }
        entry = self._entry_of(event.scope, event.elapsed)
        self._tools[data["tool_call_id"]] = self._piece(entry, "tool", fields)

    def _tool_completed(self, event: Event) -> None:
        data: Any = event.data
        content = data.get("content") or ""
        fields = {
            "out": one_line(content, LINE),
            "got": clip(laid_out(content), FOLD_LIMIT),
            **_sign(data["status"], _took(data)),
        }
        if data["status"] == "failed":
            fields["err"] = True
        self.change(self._tools.pop(data["tool_call_id"], ""), fields)

    def _task_completed(self, event: Event) -> None:
        data: Any = event.data
        task = self._run(event.scope).tasks.get(data["task"])
        if task is not None and task.declared.get("kind") == "function" and data.get("text"):
            entry = self._entry(self._head(event.scope, event.elapsed))
            self._piece(entry, "text", {"text": clip(data["text"], FOLD_LIMIT), "on": False})

    def _task_failed(self, event: Event) -> None:
        data: Any = event.data
        error = data.get("error") or {}
        told = f"{error.get('type') or 'error'}: {error.get('message') or 'no message'}"
        entry = self._entry(self._head(event.scope, event.elapsed))
        self._note(entry, f"failed · {one_line(told, 600)}", "failed")


def _took(data: Any) -> str:
    took = seconds(data.get("duration_s")) or ""
    return f"approved · {took}" if data.get("approved_by") else took


def _sign(status: str, took: str) -> dict[str, Any]:
    """A state as icon, word and hue, with its time; one that went well shows its time alone."""
    found = state_of(status)
    words = [took] if status == "completed" and took else [w for w in (found.word, took) if w]
    return {"icon": found.icon, "word": " · ".join(words), "hue": found.hue}


_HANDLERS = {
    "run.started": LiveDoc._started,
    "run.completed": LiveDoc._ended,
    "run.failed": LiveDoc._ended,
    "run.interrupted": LiveDoc._ended,
    "task.completed": LiveDoc._task_completed,
    "task.failed": LiveDoc._task_failed,
    "message.added": LiveDoc._message,
    "model_call.started": LiveDoc._call_started,
    "attempt.failed": LiveDoc._attempt_failed,
    "tool_call.started": LiveDoc._tool_started,
    "tool_call.completed": LiveDoc._tool_completed,
    "hitl.requested": LiveDoc._question,
    "hitl.answered": LiveDoc._answered,
    "model_call.fallback": LiveDoc._aside,
    "output.rejected": LiveDoc._aside,
    "output.parsed": LiveDoc._aside,
    "prompt.skills_matched": LiveDoc._aside,
    "guard.limited": LiveDoc._aside,
    "guard.budget": LiveDoc._aside,
    "guard.loop": LiveDoc._aside,
    "cache.hit": LiveDoc._aside,
    "conversation.compacted": LiveDoc._aside,
    "hook.failed": LiveDoc._aside,
    **dict.fromkeys(SERVERS, LiveDoc._server),
}
