"""A model for tests that says what it was told to say, and notices when that was not needed.

Each call takes the next step, in the order of the calls; what was asked is kept. It knows
nothing of robots: it stands in wherever a model is expected.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from ..models.output_request import answer_marks
from ..models.protocol import Model
from ..models.simulated import Answer, Call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from types import TracebackType

    from ..models.protocol import Chunk, Request

__all__ = ["ScriptedModel"]


class ScriptedModel(Model):
    """A model that follows a script: one step a call, whoever calls.

    Parameters
    ----------
    steps : iterable
        A step is a text; a call made by :meth:`tool_call` or written ``("tool", {arguments})``; a
        list of calls, made at once; a dict with some of ``text``, ``reasoning``, ``tools``,
        ``usage``, ``stop``; an exception to raise; or a function of the request that gives back
        any of these (it may be async).
    delay : float, optional
        Seconds before each answer.
    chunks : int, optional
        Characters a piece where the stream is listened to; by default a piece is a word.
    name : str, optional
        ``provider/model``. A name from the price list makes the answers cost something.
    usage : mapping, optional
        Token counts of every answer that brings none of its own; by default they are estimated.

    Attributes
    ----------
    requests : list of Request
        Every request, in order, those without a step included.

    Examples
    --------
    >>> import asyncio
    >>> from robotlab_nb.core.messages import Message
    >>> from robotlab_nb.models.protocol import Request
    >>> async def ask(model, text):
    ...     request = Request((Message("user", text),))
    ...     return "".join([c.text async for c in model.stream(request) if c.kind == "text"])
    >>> with ScriptedModel(["Yes.", "No."]) as model:
    ...     asyncio.run(ask(model, "Ready?")), asyncio.run(ask(model, "Sure?"))
    ('Yes.', 'No.')
    >>> model.requests[1].messages[0].text
    'Sure?'
    """

    simulated = True
    output_modes = frozenset({"schema", "tool", "text"})
    schema_beside_tools = True

    def __init__(
        self,
        steps: Iterable[Any],
        *,
        delay: float = 0.0,
        chunks: int | None = None,
        name: str = "scripted/model",
        usage: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.provider = name.partition("/")[0]
        self.delay = delay
        self.chunks = chunks
        self.usage = usage
        self.requests: list[Request] = []
        self._steps = [steps] if isinstance(steps, str) else list(steps)
        for number, step in enumerate(self._steps, 1):
            if not callable(step) or isinstance(step, type):
                Answer.read(step, f"step {number} of the script")
        self._taken = 0
        self._missing: list[int] = []
        self._lock = threading.Lock()

    @staticmethod
    def tool_call(
        name: str, arguments: Mapping[str, Any] | str | None = None, *, id: str | None = None
    ) -> Call:
        """Make a step that calls a tool.

        Parameters
        ----------
        name : str
            The tool's name.
        arguments : mapping or str, optional
            The arguments; a text is sent as it is, well-formed or not.
        id : str, optional
            The provider's id of the call.

        Examples
        --------
        >>> ScriptedModel.tool_call("get_weather", {"city": "Paris"})
        Call(name='get_weather', arguments='{"city": "Paris"}', id=None)
        """
        read = Answer.read((name, {} if arguments is None else arguments), "the tool call")
        assert isinstance(read, Answer)
        return Call(name, read.calls[0].arguments, id)

    @property
    def unused(self) -> tuple[Any, ...]:
        """The steps that no call has taken yet."""
        with self._lock:
            return tuple(self._steps[self._taken :])

    def assert_done(self) -> None:
        """Check that every step was taken and no call went without one.

        Raises
        ------
        AssertionError
            Naming the steps that are left, or the calls for which there was no step.
        """
        unused = self.unused
        if unused:
            first = len(self._steps) - len(unused) + 1
            listed = "".join(f"\n  {n}. {step!r:.100}" for n, step in enumerate(unused, first))
            raise AssertionError(
                f"{len(unused)} of {len(self._steps)} steps were not used:{listed}"
            )
        if self._missing:
            calls = ", ".join(map(str, self._missing))
            raise AssertionError(
                f"the script has {len(self._steps)} steps, and calls beyond them: {calls}"
            )

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer with the next step.

        Raises
        ------
        ModelError
            When there is no step left; :meth:`assert_done` then fails too.
        """
        number, step = self._take(request)
        if self.delay:
            import asyncio

            await asyncio.sleep(self.delay)
        if callable(step) and not isinstance(step, type):
            step = step(request)
            if hasattr(step, "__await__"):
                step = await step
        answer = Answer.read(step, f"step {number} of the script")
        if isinstance(answer, Exception):
            raise answer
        if answer.usage is None and self.usage is not None:
            answer = Answer(answer.text, answer.reasoning, answer.calls, self.usage, answer.stop)
        mark = answer_marks(request)
        for chunk in answer.pieces(request, self.chunks):
            yield chunk if mark is None else mark(chunk)

    def _take(self, request: Request) -> tuple[int, Any]:
        with self._lock:
            self.requests.append(request)
            number = self._taken + 1
            if number <= len(self._steps):
                self._taken = number
                return number, self._steps[number - 1]
            number += len(self._missing)
            self._missing.append(number)
        raise ModelError(
            f"the script has no step {number}: it ends after {len(self._steps)}",
            hint="Add a step, or see in .requests who asked.",
            kind="bad_request",
        )

    def __enter__(self) -> ScriptedModel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # A test that already fails should show its own failure.
        if error is None:
            self.assert_done()
