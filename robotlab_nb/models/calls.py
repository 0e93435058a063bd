"""One model call as the loop sees it: attempts, waits, fallbacks, deadlines, the cache.

This is the only place that asks a model again. One attempt is in ``attempts``, what it needs
before in ``admission``, what is told of it in ``call_events``.
"""

from __future__ import annotations

import random
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from ..core.keys import request_key
from ..core.usage import NOTHING
from ..runtime.reservations import ends_at
from . import accounts
from . import call_events as events
from .admission import admit
from .assembly import Assembler
from .attempts import attempt, pass_on, timed_out
from .cache import answers, keepable
from .protocol import Chunk

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping, Sequence

    from ..core.messages import Message, Part
    from ..core.usage import Usage
    from ..runtime.run import Run
    from .admission import Ticket
    from .cache import Kept
    from .protocol import Model, Request
    from .tape_calls import Heard

__all__ = ["Call"]

#: stands in before the first attempt; nothing is added to it
_EMPTY = Assembler()
#: what another model would say no better: the request itself is wrong, or unwanted
_NO_FALLBACK = frozenset({"bad_request", "content_filter"})
#: where there is no deadline, a provider that asks to wait longer is not waited for
_LONGEST_WAIT_S = 86_400.0


class Call:
    """A call to a model, and to its fallbacks: ``attempts`` requests each, in one deadline.

    ``model_timeout`` counts for the whole call. As long as there are fallbacks, a model has an
    equal share of what is left of it; the last one has all that is left.

    Parameters
    ----------
    run : Run
        Events are emitted through it, and its budgets are charged.
    model : Model
    request : Request
    settings : mapping
        ``attempts, model_timeout, retry_interval, retry_backoff, retry_jitter, on_content,
        requests_per_minute, tokens_per_minute, allow_unpriced, cache, tape``.
    tools_key : str
        Digest of the tool schemas in the request.
    round_ : int
        Which round of the model-tool loop this is, from 1.
    fallbacks : sequence of Model
        Asked in turn when the model fails for good with what another may do better: anything but
        a request that is wrong or that a filter stopped.
    """

    __slots__ = (
        "assembler", "attempt", "attempt_began", "began", "ends", "fallbacks", "first", "heard",
        "id", "key", "message_ids", "model", "played", "request", "round", "run", "seconds",
        "settings", "tools_key", "tried", "until", "usage", "wasted",
    )  # fmt: skip

    def __init__(
        self,
        run: Run[Any],
        model: Model,
        request: Request,
        settings: Mapping[str, Any],
        *,
        tools_key: str = "",
        round_: int = 1,
        fallbacks: Sequence[Model] = (),
    ) -> None:
        self.run = run
        self.model = model
        self.request = request
        self.settings = settings
        self.tools_key = tools_key
        self.round = round_
        self.fallbacks = fallbacks
        self.id = f"{run.id}.{round_}"
        self.message_ids = [m.id for m in request.messages]
        self.key = self._key()
        #: of all models together
        self.attempt = 0
        self.assembler: Assembler = _EMPTY
        #: seconds from the call's start to the first piece of an answer
        self.first: float | None = None
        #: what the answer took; what attempts that failed were billed, estimated
        self.usage = self.wasted = NOTHING
        #: models that failed for good, and how
        self.tried: tuple[str, ...] = ()
        #: instants of the monotonic clock: of the call's start, of its attempt's
        self.began = self.attempt_began = 0.0
        #: seconds that the current model has, and when they are over; when a budget's time is
        self.seconds = 0.0
        self.until: float | None = None
        self.ends: float | None = None
        #: what a tape hears while it records; whether the answer came from one
        self.heard: Heard | None = None
        self.played = False

    async def complete(self) -> Message:
        """Ask until there is an answer, the attempts are used up, or the time is.

        Returns
        -------
        Message
            The assistant's message. Stop reason and usage are in the run's state.

        Raises
        ------
        ModelError
            The last attempt's.
        BudgetExceeded
            When a budget has not enough left.
        """
        seat = self.run.seat
        if seat is not None:
            await seat.take()
        self.began = monotonic()
        events.call_started(self)
        try:
            if self.run.budgets:
                self.ends = ends_at(self.run.budgets)
            self._allow(len(self.fallbacks))
            found = await (self._ask_once() if self._cached() else self._ask())
            if isinstance(found, ModelError):
                found = await self._ask_others(found)
        except BaseException as error:
            events.call_failed(self, error)
            raise
        finally:
            if seat is not None:
                seat.settle()
        return found

    def partial(self) -> list[Part]:
        """What an unfinished answer had: its text, marked as cut, and no half tool calls."""
        return self.assembler.partial()

    # -- whom to ask -----------------------------------------------------------------------

    async def _ask_others(self, error: ModelError) -> Message:
        """Ask the fallbacks in turn, if they may do better."""
        found: Message | ModelError = error
        for n, model in enumerate(self.fallbacks, 1):
            if not isinstance(found, ModelError) or found.kind in _NO_FALLBACK:
                break
            self._fall_back(model, found)
            self._allow(len(self.fallbacks) - n)
            found = await (self._ask_once() if self._cached() else self._ask())
        if isinstance(found, ModelError):
            raise self._named(found)
        return found

    def _fall_back(self, model: Model, error: ModelError) -> None:
        events.fallback(self, model, error)
        self.run.root.void(self.id, self.attempt)
        self.tried = (*self.tried, f"{self.model.name} ({error.kind})")
        self.model = model
        self.key = self._key()

    def _named(self, error: ModelError) -> ModelError:
        """The last error, with the models that failed before."""
        if self.tried:
            error.message += f" (failed before it: {', '.join(self.tried)})"
        return error

    def _key(self) -> str:
        request, model = self.request, self.model
        return request_key(
            self.message_ids, self.tools_key, request.params, model.name, model.endpoint
        )

    def _allow(self, others: int) -> None:
        """Say how long the current model has, if so many others are to have their share."""
        timeout = self.settings["model_timeout"]
        if timeout is not None:
            self.seconds, self.until = timeout, self.began + timeout
            if self.fallbacks:
                now = monotonic()
                self.seconds = max(0.0, self.until - now) / (others + 1)
                self.until = now + self.seconds
        if self.ends is not None and (self.until is None or self.ends < self.until):
            self.seconds, self.until = max(0.0, self.ends - monotonic()), self.ends

    def _cached(self) -> bool:
        # Scripts of simulated models share a name, and with it their keys.
        return self.settings["cache"] and not self.model.simulated

    async def _ask_once(self) -> Message | ModelError:
        """Ask unless an equal request was answered before, or is being answered now."""
        try:
            kept = await answers.get_or_ask(self.key, self.until)
        except TimeoutError:
            return timed_out(self)
        if kept is not None:
            return self._use(kept)
        try:
            found = await self._ask()
            if not isinstance(found, ModelError):
                kept = keepable(found, self.assembler, self.usage)
                if kept is not None and answers.put(self.key, kept):
                    events.stored(self)
            return found
        finally:
            answers.asked(self.key)

    def _use(self, kept: Kept) -> Message:
        """Take an answer from the cache, as if it came now."""
        message = kept.copied(_Numbered(self.run))
        if self.request.streaming:
            for kind, text in (("reasoning", message.reasoning), ("text", message.text)):
                if text:
                    pass_on(self, Chunk(kind, text))
        events.found(self, kept, message)
        return message

    # -- attempts --------------------------------------------------------------------------

    def _ask(self) -> Awaitable[Message | ModelError]:
        """Ask the current model, or the tape in its place."""
        if self.settings["tape"] is None:
            return self.ask_model()
        from .tape_calls import ask_on_tape

        return ask_on_tape(self)

    async def ask_model(self) -> Message | ModelError:
        """Make up to ``attempts`` requests of the current model."""
        tries = 0
        while True:
            ticket: Ticket | None = None
            if self._guarded():
                try:
                    ticket = await admit(self)
                except ModelError as error:
                    return error
            try:
                failed = await attempt(self)
            except BaseException:
                self.settle_failed(ticket, None)
                raise
            if failed is None:
                if self.heard is not None:
                    self.heard.end(self)
                return self.answered(ticket)
            self.settle_failed(ticket, failed)
            tries += 1
            wait = self._wait_before_next(failed, tries)
            events.attempt_failed(self, failed, wait)
            if self.heard is not None:
                self.heard.end(self, failed, wait)
            if wait is None:
                return failed
            await self._sleep(wait)

    def answered(self, ticket: Ticket | None, usage: Usage | None = None) -> Message:
        """Make the answer of what came; ``usage`` is known where it was recorded."""
        message = self.assembler.message(_Numbered(self.run))
        self.usage = events.usage_of(self, message) if usage is None else usage
        if ticket is not None:
            ticket.settle(self.usage)
        events.call_completed(self, message, self.usage)
        return message

    def _guarded(self) -> bool:
        """Whether anything is to be asked for before a request."""
        settings = self.settings
        return bool(
            self.run.budgets
            or accounts.known
            or settings["requests_per_minute"] is not None
            or settings["tokens_per_minute"] is not None
        )

    def settle_failed(self, ticket: Ticket | None, error: ModelError | None) -> None:
        """Charge an attempt that failed with what it has probably cost: from its first byte on."""
        usage = None
        if self.first is not None or (error is not None and error.billed):
            usage = events.estimated(self)
            self.wasted = self.wasted + usage
        if ticket is not None:
            status = error.status if error is not None else None
            ticket.settle(usage, refused=usage is None and status is not None)
        if self.played or error is None:
            return
        if error.kind == "rate_limit" and error.retry_after is not None:
            accounts.pause(self.model, error.retry_after)

    def _wait_before_next(self, error: ModelError, tries: int) -> float | None:
        """Seconds to wait before asking again; None when that makes no sense."""
        s = self.settings
        if not error.retryable or tries >= s["attempts"]:
            return None
        wait: float = s["retry_interval"] * s["retry_backoff"] ** (tries - 1)
        wait *= 1 + s["retry_jitter"] * random.random()
        if error.retry_after is not None:
            wait = max(0.0, error.retry_after)
        left = _LONGEST_WAIT_S if self.until is None else self.until - monotonic()
        if wait > left:
            asked = "" if error.retry_after is None else f"; it asks to wait {wait:g} s"
            seconds = _LONGEST_WAIT_S if self.until is None else self.seconds
            error.hint = (
                f"Another attempt would come after the deadline of {seconds:.4g} s"
                f"{asked}. Raise model_timeout, or run again later."
            )
            return None
        return wait

    async def _sleep(self, wait: float) -> None:
        import asyncio

        self.run.root.void(self.id, self.attempt)
        await asyncio.sleep(wait)


class _Numbered:
    """Gives our ids to the tool calls of a run, in order."""

    __slots__ = ("count", "run")

    def __init__(self, run: Run[Any]) -> None:
        self.run = run
        self.count = len(run.state.tool_calls)

    def __call__(self) -> str:
        self.count += 1
        return f"call_{self.run.id}_{self.count}"
