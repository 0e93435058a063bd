"""What a chat shows, as flat records: what was said before, turn after turn, what waits.

A turn's records come from :class:`~robotlab_nb.widgets.live_doc.LiveDoc`; here they get keys of
their own, and what a robot does for one answer stands under one name. Knows no robot and no widget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.messages import ReasoningPart, RefusalPart, TextPart, ToolCallPart
from ..display.escape import clip, one_line
from ..display.json_text import arguments_line, laid_out
from ..display.lanes import lane
from ..display.parts import FOLD_LIMIT
from ..display.states import state_of
from .chat_prose import prose
from .live_doc import ENTRIES, LINE, TEXT, LiveDoc
from .live_records import LiveRecords

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.events import Delta, Event, Scope
    from ..core.messages import Message, ToolResultPart

__all__ = ["ChatDoc", "ended_words"]

#: Messages from before that are shown.
BEFORE = 100


class ChatDoc(LiveRecords):
    """The records of one chat.

    Parameters
    ----------
    robot : str
        Who answers.

    Attributes
    ----------
    records : dict of str to dict
        By key: ``L0 …`` the marks of robots, ``E…`` entries, ``P…`` their pieces, ``Q…`` open
        questions, ``W0 …`` messages that wait, and what its owner puts there.
    doing : dict
        What the robot does now: ``icon, say, tone``; empty between turns.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> doc = ChatDoc("bot")
    >>> doc.said([Message("user", "Hi"), Message("assistant", "**Hello**")])
    >>> [(key, record.get("tree")) for key, record in doc.changes() if key[0] == "P"]
    [('P0.s0', None), ('P0.s1', [['p', {}, ['strong', {}, 'Hello']]])]
    """

    def __init__(self, robot: str) -> None:
        super().__init__()
        self.robot = one_line(robot, 40)
        self.doing: dict[str, Any] = {}
        self._turn: LiveDoc | None = None
        #: turns and what stands between them; entries and pieces of the latter; all entries
        self._number = self._made = self._pieces = 0
        self._entries: list[str] = []
        #: entries of the turn that are shown as part of an earlier one
        self._same: dict[str, str] = {}
        self._lanes: dict[str, str] = {}
        self._lane(self.robot)

    # -- what is not a turn ----------------------------------------------------------------

    def said(self, messages: Sequence[Message], label: str = "") -> None:
        """Show messages that were exchanged before the chat, or elsewhere while it was open.

        Parameters
        ----------
        messages : sequence of Message
        label : str, optional
            Where they come from, in words.
        """
        left = len(messages) - BEFORE
        if left > 0:
            self.remark(f"… {left:,} earlier messages are not shown")
        self._next()
        results = {result.id: result for m in messages for result in m.tool_results}
        entry, who = "", ""
        for message in messages[max(left, 0) :]:
            if message.role not in ("user", "assistant"):
                continue
            if message.role == "user" or who != "assistant":
                entry = self._entry(message.role == "user", label)
            who = message.role
            for part in message.parts:
                self._part(entry, part, results, person=who == "user")

    def remark(self, words: str, status: str = "") -> None:
        """Show a line that nobody said."""
        self._next()
        self._note(self._entry(person=False), words, status)

    def refused(self, text: str, words: str) -> None:
        """Show what a person said and why it could not be answered."""
        self._next()
        self._piece(self._entry(person=True), "text", {"text": clip(text, FOLD_LIMIT), "on": False})
        self._note(self._entry(person=False), words, "failed")

    def waiting(self, texts: Sequence[str]) -> None:
        """Show the messages that wait for their turn, and no others."""
        for number, text in enumerate(texts):
            self.put(f"W{number}", {"text": clip(text, FOLD_LIMIT)})
        number = len(texts)
        while f"W{number}" in self.records:
            self.remove(f"W{number}")
            number += 1

    def _next(self) -> None:
        if self._entries:
            self._number += 1

    def _entry(self, person: bool, label: str = "") -> str:
        who = "you" if person else self.robot
        fields = {"who": who, "label": label, "at": " ", **({"person": True} if person else {})}
        self._made += 1
        return self._add(f"E{self._number}.s{self._made}", fields)

    def _add(self, key: str, fields: Mapping[str, Any]) -> str:
        self.put(key, fields)
        self._entries.append(key)
        if len(self._entries) > ENTRIES:
            self._drop(self._entries[0])
        return key

    def _drop(self, entry: str) -> None:
        for key in [k for k, record in self.records.items() if record.get("in") == entry]:
            self.remove(key)
        if entry in self.records:
            self.remove(entry)
            self._entries.remove(entry)

    def _piece(self, entry: str, kind: str, fields: Mapping[str, Any]) -> None:
        self.put(f"P{self._number}.s{self._pieces}", {"in": entry, "kind": kind, **fields})
        self._pieces += 1

    def _note(self, entry: str, words: str, status: str = "") -> None:
        sign = state_of(status) if status else None
        mark = {"icon": sign.icon if sign else "", "hue": sign.hue if sign else ""}
        bad = {"err": True} if status == "failed" else {}
        self._piece(entry, "note", {"text": words, **mark, **bad})

    def _part(
        self, entry: str, part: Any, results: Mapping[str, ToolResultPart], *, person: bool
    ) -> None:
        match part:
            case TextPart() | RefusalPart() if part.text:
                text = clip(part.text, FOLD_LIMIT if person else TEXT)
                tree = {} if person else {"tree": prose(text)}
                self._piece(entry, "text", {"text": text, "on": False, **tree})
            case ReasoningPart() if part.text:
                self._piece(entry, "think", {"text": clip(part.text, FOLD_LIMIT), "on": False})
            case ToolCallPart():
                self._piece(entry, "tool", _called(part, results.get(part.id)))
            case TextPart() | RefusalPart() | ReasoningPart():
                pass
            case _:
                self._note(entry, "an attachment, or something else that is not text")

    # -- turns -----------------------------------------------------------------------------

    def begin(self, scope: Scope) -> None:
        """Begin a turn: the run whose items come next.

        Parameters
        ----------
        scope : Scope
        """
        self._next()
        self._turn = LiveDoc(scope)
        self._same = {}

    def take(self, items: Iterable[Event | Delta]) -> None:
        """Take items of the turn's run in, in order."""
        turn = self._turn
        if turn is None:
            return
        for key, change in turn.take(items):
            if key[0] in _ADOPTED:
                _ADOPTED[key[0]](self, key, change)
        first: Any = turn.records.get("L0") or {}
        self.doing = {name: first[name] for name in ("icon", "say", "tone") if name in first}

    def over(self) -> None:
        """End the turn: say how it ended, where that is not what one expects."""
        turn, self._turn, self.doing = self._turn, None, {}
        if turn is None:
            return
        for key in [k for k in self.records if k[0] == "Q"]:
            self.remove(key)
        words = ended_words(turn.state)
        if words:
            entry = self._continued({"who": self.robot, "label": ""})
            said = str((turn.state.error or {}).get("message") or "")
            for key in [k for k, r in self.records.items() if entry and r.get("in") == entry]:
                record = self.records[key]  # what the failed attempt said already
                if record.get("err") and said and one_line(said, 300) in record.get("text", ""):
                    self.remove(key)
            self._note(entry or self._entry(person=False), words, turn.state.status)

    def _key(self, key: str) -> str:
        return f"{key[0]}{self._number}.{key[1:]}"

    def _adopt_entry(self, key: str, change: Any) -> None:
        mine = self._key(key)
        if key in self._same:
            return
        if change is None:
            self._drop(mine)
        elif mine in self.records:
            self.put(mine, change)
        elif (last := self._continued(change)) is not None:
            self._same[key] = last
        else:
            self._add(mine, change)

    def _continued(self, entry: Mapping[str, Any]) -> str | None:
        """The entry before, where it is of the same turn and of the same robot."""
        last = self._entries[-1] if self._entries else ""
        if not last.startswith(f"E{self._number}.") or last not in self.records:
            return None
        before = self.records[last]
        same = all(before.get(name) == entry.get(name) for name in ("who", "label", "person"))
        return last if same else None

    def _adopt_piece(self, key: str, change: Any) -> None:
        mine = self._key(key)
        if change is None:
            if mine in self.records:
                self.remove(mine)
            return
        if isinstance(change, str):
            self.append(mine, change)
            return
        if "in" in change:
            inside = self._same.get(change["in"], self._key(change["in"]))
            if inside not in self.records:
                return
            change = {**change, "in": inside}
        elif mine not in self.records:
            return
        self.put(mine, change)
        self._format(mine)

    def _format(self, key: str) -> None:
        """Give a text that is whole its form."""
        record = self.records[key]
        said = record["kind"] == "text" and not record.get("on") and not record.get("void")
        if said and record["text"] and not self.records[record["in"]].get("person"):
            self.put(key, {"tree": prose(record["text"])})

    def _adopt_lane(self, key: str, change: Any) -> None:
        if isinstance(change, dict) and "name" in change:
            self._lane(change["name"])

    def _lane(self, name: str) -> None:
        if name not in self._lanes:
            mark = lane(len(self._lanes))
            self._lanes[name] = key = f"L{len(self._lanes)}"
            self.put(key, {"name": name, "shape": mark.shape, "hue": mark.hue})

    def _adopt_question(self, key: str, change: Any) -> None:
        if change is None:
            if key in self.records:
                self.remove(key)
            return
        if "how" in change:
            ways = [[code.replace("run.", "chat.", 1), what] for code, what in change["how"]]
            change = {**change, "how": ways}
        self.put(key, change)


_ADOPTED = {
    "E": ChatDoc._adopt_entry,
    "P": ChatDoc._adopt_piece,
    "L": ChatDoc._adopt_lane,
    "Q": ChatDoc._adopt_question,
}


def _called(call: ToolCallPart, result: ToolResultPart | None) -> dict[str, Any]:
    """A tool call of a kept conversation, as a piece."""
    content = result.content_text if result is not None else ""
    sign = state_of("failed" if result is not None and result.is_error else "completed")
    fields = {
        "name": one_line(call.name, 60),
        "args": arguments_line(call.arguments, LINE),
        "given": clip(laid_out(call.arguments) or "none", FOLD_LIMIT),
        "out": one_line(content, LINE),
        "got": clip(laid_out(content), FOLD_LIMIT),
        "icon": sign.icon,
        "word": "" if sign.word == "completed" else sign.word,
        "hue": sign.hue,
    }
    return {**fields, "err": True} if sign.word == "failed" else fields


def ended_words(state: Any) -> str:
    """How a turn ended, in words; empty where it was answered and kept.

    Parameters
    ----------
    state : RunState

    Examples
    --------
    >>> from robotlab_nb.core.events import Event, Scope
    >>> from robotlab_nb.core.state import RunState
    >>> scope = Scope("r", "r", None, 0, "robot", ("bot",), "bot")
    >>> failed = Event("run.failed", scope, 1, 0.1, {"error": {"message": "no key"}})
    >>> ended_words(RunState.fold([Event("run.started", scope, 0, 0.0, {}), failed]))
    'failed · no key'
    """
    if state.status == "failed":
        error = state.error or {}
        told = (error.get("message") or error.get("type") or "no message", error.get("hint"))
        return " · ".join(["failed", *(one_line(str(words), 600) for words in told if words)])
    if state.status == "interrupted":
        return "stopped"
    if state.conversation == "forked":
        return "not kept: another run of the robot was first, so it does not know of this"
    return ""
