"""A model that needs no network and no key: its answers come from a script, a function or rules.

It is deterministic and says of itself that it is simulated. How an answer looks on its way
(pieces, pace, token counts) is here; what the rules say is in :mod:`robotlab_nb.models.rules`.
Knows no run and no screen.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, Union

from ..core.errors import ConfigurationError, ModelError
from .output_request import answer_marks
from .protocol import ANSWER_INDEX, Chunk, Model
from .tokens import estimate_input, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Iterator

    from .protocol import Request, ToolSpec

__all__ = ["READABLE_PACE", "Answer", "Call", "SimulatedModel"]

#: Seconds a word, at which people read along.
READABLE_PACE = 0.02

_WORDS = re.compile(r"\s*\S+\s*|\s+")
_FIELDS = ("text", "reasoning", "tools", "usage", "stop")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call in a made-up answer.

    Parameters
    ----------
    name : str
        The tool's name.
    arguments : str
        JSON text, or whatever a careless model might write in its place.
    id : str, optional
        The provider's id of the call.
    """

    name: str
    arguments: str = "{}"
    id: str | None = None


#: What a script holds for one model call, and what a function gives back.
Step: TypeAlias = Union[
    str,
    "tuple[str, Mapping[str, Any] | str]",
    Call,
    "Answer",
    Sequence[Any],
    Mapping[str, Any],
    Exception,
]


@dataclass(frozen=True, slots=True)
class Answer:
    """One made-up answer, in whole.

    Parameters
    ----------
    text, reasoning : str
    calls : tuple of Call
        Tools called, all at once.
    usage : mapping, optional
        Token counts; counts that it lacks are estimated. None: all are.
    stop : str, optional
        The stop reason; by default ``tool`` where tools are called, else ``stop``.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    usage: Mapping[str, Any] | None = None
    stop: str | None = None

    @classmethod
    def read(cls, step: Any, where: str = "the answer") -> Answer | Exception:
        """Read a step of a script.

        Parameters
        ----------
        step : str, tuple, list, dict, Call, Answer or Exception
            A text; ``("tool", {arguments})``; a list of such calls; a dict with some of ``text``,
            ``reasoning``, ``tools``, ``usage``, ``stop``; an error to raise.
        where : str, optional
            What to call the step when it cannot be read.

        Raises
        ------
        ConfigurationError
            When it is none of these.

        Examples
        --------
        >>> Answer.read(("get_weather", {"city": "Paris"})).calls
        (Call(name='get_weather', arguments='{"city": "Paris"}', id=None),)
        """
        if isinstance(step, str):
            return cls(step)
        if isinstance(step, (cls, Exception)):
            return step
        if isinstance(step, dict):
            return cls._from_dict(step, where)
        if isinstance(step, list):
            return cls(calls=tuple([_call(item, where) for item in step]))
        return cls(calls=(_call(step, where),))

    @classmethod
    def _from_dict(cls, step: dict[str, Any], where: str) -> Answer:
        unknown = [key for key in step if key not in _FIELDS]
        if unknown:
            raise ConfigurationError(
                f"{where} has {', '.join(map(repr, unknown))}",
                hint="A dict may hold " + ", ".join(_FIELDS) + '; a call is ("tool", {arguments}).',
            )
        calls = tuple([_call(item, where) for item in step.get("tools") or ()])
        return cls(
            step.get("text") or "", step.get("reasoning") or "", calls,
            step.get("usage"), step.get("stop"),
        )  # fmt: skip

    def pieces(self, request: Request, size: int | None = None) -> Iterator[Chunk]:
        """Cut the answer into the chunks of a stream.

        Parameters
        ----------
        request : Request
            Whose tokens are counted, and whether somebody listens: else each part is one piece.
        size : int, optional
            Characters a piece; by default a piece is a word.

        Yields
        ------
        Chunk
            Reasoning, text, tool calls, ``usage``, ``stop``.
        """
        cut = _cut if request.streaming else _whole
        for piece in cut(self.reasoning, size):
            yield Chunk("reasoning", piece)
        for piece in cut(self.text, size):
            yield Chunk("text", piece)
        for index, call in enumerate(self.calls):
            first, *rest = cut(call.arguments, size) or ("",)
            yield Chunk("tool_call", first, index, call.id, call.name)
            for piece in rest:
                yield Chunk("tool_call", piece, index)
        yield Chunk("usage", data=self._counted(request))
        yield Chunk("stop", self.stop or ("tool" if self.calls else "stop"))

    def _counted(self, request: Request) -> dict[str, Any]:
        counted = dict(self.usage or ())
        if "input_tokens" not in counted:
            counted["input_tokens"] = estimate_input(request.messages, _told(request))
        if "output_tokens" not in counted:
            written = estimate_tokens(self.text)
            for call in self.calls:
                written += estimate_tokens(call.name) + estimate_tokens(call.arguments)
            if self.reasoning:
                thought = counted.setdefault("reasoning_tokens", estimate_tokens(self.reasoning))
                written += thought
            counted["output_tokens"] = written
        return counted


def _told(request: Request) -> tuple[ToolSpec, ...]:
    """The tools of a request, the one that gives the answer included."""
    final = request.output.tool if request.output is not None else None
    return request.tools if final is None else (*request.tools, final)


def _call(item: Any, where: str) -> Call:
    if isinstance(item, Call):
        return item
    name = arguments = None
    if isinstance(item, (tuple, list)) and len(item) == 2:
        name, arguments = item
    elif hasattr(item, "name") and hasattr(item, "arguments"):
        name, arguments = item.name, item.arguments
    if isinstance(name, str) and (isinstance(arguments, (str, Mapping)) or arguments is None):
        if isinstance(arguments, str):
            return Call(name, arguments)
        return Call(name, json.dumps(dict(arguments or {}), ensure_ascii=False))
    raise ConfigurationError(
        f"{where} is no answer: {item!r:.80}",
        hint='Write a text, ("tool", {arguments}), a list of such calls, '
        '{"text": …, "tools": […]}, or an exception.',
    )


def _cut(text: str, size: int | None) -> list[str]:
    if size is None:
        return _WORDS.findall(text)
    return [text[at : at + size] for at in range(0, len(text), size)]


def _whole(text: str, size: int | None) -> tuple[str, ...]:
    return (text,) if text else ()


class SimulatedModel(Model):
    """A model that answers by itself: no network, no key, no cost, always the same.

    Parameters
    ----------
    answers : None, str, list, tuple or callable, optional
        None: simple rules. A tool that fits the user's words is called with arguments drawn from
        its schema, results are retold, a label is chosen where the prompt lists labels.

        A list is a script, one entry a model call: a text, ``("tool", {arguments})``, a list of
        such calls (made at once), a dict with ``text``, ``tools``, ``reasoning``, or an exception
        to raise. The place in the script is the number of assistant messages in the conversation
        so far, counted round and round: it is no hidden state, so runs at the same time do not
        mix, a new conversation begins at the first entry, and a script that is used up begins
        again. An exception leaves no message; it is raised before the entry that follows it, once
        for each attempt at the same request.

        A function takes the :class:`~robotlab_nb.models.protocol.Request` and gives back such an
        entry. It may be async; it runs on the event loop, so it must not block.
    delay : float, optional
        Seconds before the first piece.
    pace : float, optional
        Seconds between words where somebody listens to the stream.
    name : str, optional
        Shown after ``simulated/``.

    Raises
    ------
    ConfigurationError
        When an entry of the script cannot be read.

    Examples
    --------
    >>> import asyncio
    >>> from robotlab_nb.core.messages import Message
    >>> from robotlab_nb.models.protocol import Request
    >>> model = SimulatedModel(["Hello.", "Goodbye."])
    >>> async def ask(*messages):
    ...     return [c.text async for c in model.stream(Request(messages)) if c.kind == "text"]
    >>> hi = Message("user", "Hi")
    >>> asyncio.run(ask(hi))
    ['Hello.']
    >>> asyncio.run(ask(hi, Message("assistant", "Hello."), Message("user", "I must go")))
    ['Goodbye.']
    """

    provider = "simulated"
    simulated = True
    output_modes = frozenset({"schema", "tool", "text"})
    schema_beside_tools = True

    def __init__(
        self,
        answers: str | Sequence[Step] | Callable[[Request], Step | Awaitable[Step]] | None = None,
        *,
        delay: float = 0.0,
        pace: float = 0.0,
        name: str | None = None,
    ) -> None:
        self.delay = _seconds("delay", delay)
        self.pace = _seconds("pace", pace)
        self._function: Callable[[Request], Any] | None = None
        self._script: tuple[_Entry, ...] = ()
        #: id of a request's messages -> (the messages, failures already raised for it)
        self._failed: dict[int, tuple[Any, int]] = {}
        if answers is None:
            kind = "rules"
        elif callable(answers):
            kind, self._function = "function", answers
        else:
            kind, self._script = "script", _read_script(answers)
        self.name = f"simulated/{(name or kind).removeprefix('simulated/')}"

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one request."""
        left = request.timeout
        if self.delay:
            left = await self._wait(self.delay, left)
        if self._script:
            answer = self._next(request)
        else:
            answer = await self._made(request)
        pace = self.pace if request.streaming else 0.0
        mark = answer_marks(request)
        for chunk in answer.pieces(request):
            yield chunk if mark is None else mark(chunk)
            if pace and (chunk.kind in ("text", "reasoning") or chunk.index == ANSWER_INDEX):
                left = await self._wait(pace, left)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_failed": {}}

    async def _made(self, request: Request) -> Answer:
        if self._function is None:
            from .rules import answer as by_rules

            return Answer.read(by_rules(request))  # type: ignore[return-value]
        step = self._function(request)
        if hasattr(step, "__await__"):
            step = await step
        answer = Answer.read(step, f"what the function of {self.name} gave back")
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _next(self, request: Request) -> Answer:
        """The entry at the conversation's place in the script."""
        spoken = 0
        for message in request.messages:
            if message.role == "assistant":
                spoken += 1
        entry = self._script[spoken % len(self._script)]
        if entry.failures:
            self._fail(entry, request)
        return entry.answer or self._script[0].answer or Answer()

    def _fail(self, entry: _Entry, request: Request) -> None:
        """Raise the next failure of an entry, if there is one left for this request."""
        key = id(request.messages)
        _, raised = self._failed.pop(key, (None, 0))
        if raised >= len(entry.failures):
            if entry.answer or self._script[0].answer:
                return
            raised = 0
        while len(self._failed) >= 256:
            self._failed.pop(next(iter(self._failed)), None)
        self._failed[key] = (request.messages, raised + 1)
        raise _again(entry.failures[raised])

    async def _wait(self, seconds: float, left: float | None) -> float | None:
        """Sleep, within the time that is left for the attempt. Returns what is left then."""
        import asyncio

        if left is None:
            await asyncio.sleep(seconds)
            return None
        await asyncio.sleep(min(seconds, left))
        if seconds > left:
            raise ModelError(
                f"{self.name} did not finish within its time",
                hint="Lower delay= or pace=, or raise model_timeout.",
                kind="timeout",
            )
        return left - seconds


@dataclass(frozen=True, slots=True)
class _Entry:
    """A place in a script: what is raised first, and what is answered then."""

    failures: tuple[Exception, ...]
    answer: Answer | None


def _again(error: Exception) -> Exception:
    """A copy to raise: raised once more, the same one would drag its first traceback along."""
    try:
        return copy.copy(error)
    except Exception:
        return error


def _read_script(answers: Any) -> tuple[_Entry, ...]:
    if isinstance(answers, str):
        answers = [answers]
    if not isinstance(answers, (list, tuple)) or not answers:
        raise ConfigurationError(
            f"a simulated model cannot answer from {answers!r:.80}",
            hint="Pass a list with one entry a model call, a function, or nothing.",
        )
    entries: list[_Entry] = []
    failures: list[Exception] = []
    for number, step in enumerate(answers, 1):
        answer = Answer.read(step, f"entry {number} of the script")
        if isinstance(answer, Exception):
            failures.append(answer)
        else:
            entries.append(_Entry(tuple(failures), answer))
            failures = []
    if failures:
        entries.append(_Entry(tuple(failures), None))
    return tuple(entries)


def _seconds(name: str, value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        raise ConfigurationError(f"{name}={value!r} is no number of seconds")
    return value
