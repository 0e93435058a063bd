"""Who said what: messages with their reasoning, tool calls and results, in order.

Results of tools stand with the calls that they answer. Knows messages and tool calls, not where
they came from; everything said is untrusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.messages import (
    MediaPart,
    ReasoningPart,
    RefusalPart,
    TextPart,
    ToolCallPart,
    UnknownPart,
)
from ..core.views import message_from_view
from .amounts import count, moment, seconds
from .attachment import attached
from .escape import clip, one_line
from .json_text import arguments_line, laid_out, value_line
from .lanes import lane
from .parts import (
    FOLD_LIMIT,
    Block,
    Fold,
    Head,
    Line,
    Para,
    Picture,
    Pre,
    Prose,
    Quote,
    bold,
    code,
    dots,
    lane_name,
    part,
    quiet,
    state_bit,
)
from .question_card import outcome, settled
from .states import STOPS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set

    from ..core.messages import Message, Part, ToolResultPart
    from ..core.records import Asked
    from ..core.state import ToolCall
    from ..core.views import View
    from .lanes import Lane

__all__ = ["Beside", "counted", "message", "messages", "of_calls", "transcript", "view"]

#: Messages shown of a long conversation: its first ones and its last ones.
_FIRST, _LAST = 4, 96
_CALL, _RESULT = 80, 100
_CUT = "… cut here"


@dataclass(frozen=True, slots=True)
class Beside:
    """What is known beside the messages themselves.

    Parameters
    ----------
    calls : mapping of str to ToolCall
        Tool calls by id: their state and time.
    moments : mapping of int to float
        Seconds since the start of the run, by position.
    reasons : mapping of int to str
        Stop reasons, by position.
    answer : int, optional
        Position of the message whose text is shown elsewhere already.
    running : bool
        Whether a call without a result may still get one.
    limit : int
        Characters of one message.
    lane : Lane, optional
        The mark of the robot that speaks; the first one where it is alone.
    asked : mapping of str to Asked
        What a person was asked, by the tool call that it was about.
    checks : set of int
        Positions of what no person said: it tells the model what was wrong with its answer.
    reports : mapping of str to tuple of Block
        What was reported while a tool call ran, by its id.
    """

    calls: Mapping[str, ToolCall] = field(default_factory=dict)
    moments: Mapping[int, float] = field(default_factory=dict)
    reasons: Mapping[int, str] = field(default_factory=dict)
    answer: int | None = None
    running: bool = False
    limit: int = FOLD_LIMIT
    lane: Lane | None = None
    asked: Mapping[str, Asked] = field(default_factory=dict)
    checks: Set[int] = frozenset()
    reports: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)


def message(thing: Message) -> Picture:
    """The picture of one message.

    Parameters
    ----------
    thing : Message
    """
    return Picture(part("message", lambda: transcript([thing], None, Beside(limit=40_000))))


def view(thing: View) -> Picture:
    """The picture of one of robot_lab's messages: as that of ours.

    Parameters
    ----------
    thing : View
    """
    return Picture(part("message", lambda: message(message_from_view(thing)).blocks))


def messages(things: Sequence[Message]) -> Picture:
    """The picture of a list of messages: a transcript.

    Parameters
    ----------
    things : sequence of Message
    """

    def blocks() -> Iterable[Block]:
        yield Para((counted(things),), quiet=True)
        yield from transcript(things, None)

    return Picture(part("transcript", blocks))


def transcript(
    things: Sequence[Message], robot: str | None, beside: Beside | None = None
) -> Iterable[Block]:
    """Messages as quotes beside the rail of their speaker.

    Parameters
    ----------
    things : sequence of Message
    robot : str or None
        Who speaks as assistant; ``"assistant"`` where that is not known.
    beside : Beside, optional

    Yields
    ------
    Block
        One per message; messages that only carry results of calls shown before have none.
    """
    beside = beside or Beside()
    results = {result.id: result for thing in things for result in thing.tool_results}
    called = {call.id for thing in things for call in thing.tool_calls}
    shown = [
        position
        for position, thing in enumerate(things)
        if thing.role != "tool"
        or any(result.id not in called for result in thing.tool_results)
        or any(isinstance(piece, MediaPart) for piece in thing.parts)
    ]
    left = len(shown) - _FIRST - _LAST
    for place, position in enumerate(shown):
        if left > 0 and place == _FIRST:
            yield Para((quiet(f"… {left:,} messages left out here"),))
        if left > 0 and _FIRST <= place < _FIRST + left:
            continue
        speaker = _Speaker(robot or "assistant", results, called, beside)
        yield from part("message", lambda s=speaker, p=position: [s.says(things[p], p)])  # type: ignore[misc]


def counted(things: Sequence[Message]) -> str:
    r"""How much a transcript holds, in words.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> counted([Message("user", "Hello")])
    '1\xa0message'
    """
    told = sum(thing.role != "tool" for thing in things)
    tools = sum(len(thing.tool_calls) for thing in things)
    thought = sum(any(isinstance(p, ReasoningPart) for p in thing.parts) for thing in things)
    words = [count(told, "message")]
    if tools:
        words.append(count(tools, "tool call"))
    if thought:
        words.append(f"{thought:,}\u00a0with reasoning")
    return " · ".join(words)


def of_calls(calls: Sequence[ToolCall]) -> Iterable[Block]:
    """Tool calls as folds, for a place where there are no messages to hang them on."""
    for call in calls:
        wish = ToolCallPart(call.tool_call_id, call.tool, call.arguments_text or "")
        yield _call(wish, None, call, running=call.status == "running")


@dataclass(frozen=True, slots=True)
class _Speaker:
    """Turns one message into a quote."""

    robot: str
    results: Mapping[str, ToolResultPart]
    called: set[str]
    beside: Beside

    def says(self, thing: Message, position: int) -> Quote:
        name: Line = (bold(_NAMES.get(thing.role, thing.role)),)
        kind, hue = ("person", "") if thing.role == "user" else ("plain", "")
        if thing.role == "user" and (position in self.beside.checks or _is_check(thing)):
            name, kind = (bold("check of the answer"),), "plain"
        if thing.role == "assistant":
            mark = self.beside.lane or lane(0)
            name, kind, hue = lane_name(mark, one_line(self.robot, 80)), "rail", mark.hue
        head = Head(name, right=_when(self.beside.moments.get(position)))
        blocks: list[Block] = [head]
        for piece in _merged(thing.parts):
            blocks += self._part(piece, thing, position)
        reason = STOPS.get(self.beside.reasons.get(position, ""))
        if reason and self.beside.reasons.get(position) != "tool":
            blocks.append(Para((quiet(reason),)))
        if len(blocks) == 1:
            blocks.append(Para((quiet("no text"),)))
        return Quote(tuple(blocks), kind, hue)  # type: ignore[arg-type]

    def _part(self, piece: Part, thing: Message, position: int) -> Iterable[Block]:
        match piece:
            case TextPart():
                yield from self._text(piece, thing, position)
            case ReasoningPart():
                note = count(len(piece.text), "character")
                if piece.text:
                    yield Fold(("∴ reasoning",), (Para((clip(piece.text, FOLD_LIMIT),)),), note)
                else:
                    yield Para((quiet("∴ reasoning, kept by the provider"),))
            case RefusalPart() if position == self.beside.answer and not _spoken(thing):
                yield Para((quiet("the refusal above"),))
            case RefusalPart():
                yield Para((quiet("refused: "), clip(piece.text, self.beside.limit)))
            case ToolCallPart():
                result = self.results.get(piece.id)
                call = self.beside.calls.get(piece.id)
                asked = self.beside.asked.get(piece.id)
                more = self.beside.reports.get(piece.id, ())
                yield _call(
                    piece, result, call, running=self.beside.running, person=asked, reported=more
                )
            case MediaPart():
                yield from attached(piece)
            case UnknownPart():
                preview = value_line(piece.data, 120)
                yield Para((quiet("a part that this version does not know: "), code(preview)))
            case _:
                if piece.id not in self.called:
                    wish = ToolCallPart(piece.id, piece.name)
                    yield _call(wish, piece, self.beside.calls.get(piece.id), asked=False)

    def _text(self, piece: TextPart, thing: Message, position: int) -> Iterable[Block]:
        if position == self.beside.answer:
            yield Para((quiet("the answer above"),))
        elif thing.role == "assistant":
            ending = _CUT if piece.cut else ""
            yield Prose(piece.text, ending, limit=self.beside.limit)
        elif piece.text:
            yield Para((clip(piece.text, self.beside.limit),))


#: What a role is called on a screen.
_NAMES = {"user": "you", "system": "system prompt", "tool": "tool"}


#: how the engine begins what it tells a model of an answer that cannot be used
_CHECK = "This answer cannot be used.\n"


def _is_check(thing: Message) -> bool:
    return thing.text.startswith(_CHECK)


def _spoken(thing: Message) -> bool:
    return any(isinstance(piece, TextPart) for piece in thing.parts)


def _when(elapsed: float | None) -> Line:
    words = moment(elapsed)
    return (words,) if words else ()


def _merged(parts: Sequence[Part]) -> Iterable[Part]:
    """Text that came in pieces as one text: Markdown may go across them."""
    texts: list[TextPart] = []
    for piece in parts:
        if isinstance(piece, TextPart):
            texts.append(piece)
            continue
        if texts:
            yield _joined(texts)
            texts = []
        yield piece
    if texts:
        yield _joined(texts)


def _joined(texts: list[TextPart]) -> TextPart:
    return (
        texts[0] if len(texts) == 1 else TextPart("".join(t.text for t in texts), cut=texts[-1].cut)
    )


def _call(
    wish: ToolCallPart,
    result: ToolResultPart | None,
    call: ToolCall | None,
    *,
    running: bool = False,
    asked: bool = True,
    person: Asked | None = None,
    reported: tuple[Block, ...] = (),
) -> Fold:
    """One tool call on one line, opening to its arguments and its result."""
    content = result.content_text if result is not None else call.content if call else None
    status = _status(result, call, running)
    name = code(
        arguments_line(wish.arguments, _CALL) if asked else "", lead=one_line(wish.name, 80)
    )
    after = "no result yet" if running else "no result"
    title: Line = ("ƒ ", name, " → ", one_line(content, _RESULT) if content else after)
    took = seconds(call.duration_s) if call is not None else None
    right = _right(status, took, call, person)
    blocks: list[Block] = []
    if asked:
        blocks.append(Para((quiet("arguments"),)))
        blocks.append(Pre(laid_out(wish.arguments) or "none"))
    if person is not None and person.status != "pending":
        blocks.append(Para(settled(person), quiet=True))
    blocks += reported
    if content:
        blocks.append(Para((quiet("error" if status == "failed" else "result"),)))
        blocks.append(Pre(laid_out(content)))
    if call is not None and call.thread_leaked:
        blocks.append(Para((quiet("its thread could not be stopped and may still run"),)))
    if call is not None and call.traceback:
        blocks += [Para((quiet("traceback"),)), Pre(call.traceback)]
    return Fold(title, tuple(blocks), right=right)


def _right(status: str, took: str | None, call: ToolCall | None, person: Asked | None) -> Line:
    """How a call ended, how long it took, and whether a person agreed to it."""
    if person is not None and person.status == "pending":
        return (state_bit("waiting"),)
    if person is not None and status == "failed" and person.status in ("denied", "timeout"):
        return (outcome(person.status),)
    done = f"✓\u00a0{took}" if status == "completed" and took else None
    approved = "approved" if call is not None and call.approved_by else None
    return dots(approved, done or (state_bit(status) if status else None), None if done else took)


def _status(result: ToolResultPart | None, call: ToolCall | None, running: bool) -> str:
    if call is not None:
        return call.status
    if result is not None:
        return "failed" if result.is_error else "completed"
    return "running" if running else ""
