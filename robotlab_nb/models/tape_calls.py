"""A model call that meets a tape: played from it, or asked and recorded.

It stands where a model would be asked, beneath fallbacks and the cache: attempts, budgets and
events of a played call are as they were, only that no request is made, no limit of requests waited
for and no time passes.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from . import call_events as events
from .admission import admit
from .assembly import Assembler
from .attempts import end_text, pass_on
from .tape_lines import about_request, attempt_line
from .tape_times import passed
from .taping import tape_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.messages import Message
    from .calls import Call
    from .protocol import Chunk
    from .tape_lines import Attempt, Piece, Take
    from .taping import Tape

__all__ = ["Heard", "ask_on_tape"]


class Heard:
    """What is heard of a call that is being recorded: its attempts, one after another."""

    __slots__ = ("attempts", "pieces")

    def __init__(self) -> None:
        self.attempts: list[dict[str, Any]] = []
        self.pieces: list[Piece] = []

    def listen(self, call: Call, add: Callable[[Chunk], None]) -> Callable[[Chunk], None]:
        """An attempt begins: what takes its pieces in, and notes them."""
        self.pieces = pieces = []
        began = call.attempt_began

        def noted(chunk: Chunk) -> None:
            pieces.append((chunk, monotonic() - began))
            add(chunk)

        return noted

    def end(self, call: Call, error: ModelError | None = None, wait: float | None = None) -> None:
        """An attempt is over."""
        line = attempt_line(
            self.pieces, started_s=call.attempt_began - call.began,
            duration_s=monotonic() - call.attempt_began, first_s=call.first, error=error,
            wait_s=wait,
        )  # fmt: skip
        self.attempts.append(line)
        self.pieces = []


async def ask_on_tape(call: Call) -> Message | ModelError:
    """The answer of a call's current model: the tape's, or its own, which is recorded.

    Raises
    ------
    TapeMiss
        When the tape is only played and the request is not on it.
    """
    tape = tape_of(call.settings["tape"])
    if call.model.simulated and not tape.simulated:
        tape.passed_over += 1
        return await call.ask_model()
    times = call.run.root.times
    key, nth = call.key, tape.claim(call.key, None if times is None else times.cell)
    try:
        take = None if tape.mode == "record" else tape.find(key, nth)
        if take is not None:
            tape.played += 1
            return await _play(call, tape, take)
        if tape.mode == "strict":
            from .tape_misses import missed

            raise missed(call, tape, nth)
        call.played = False  # a model before this one may have been
        if times is not None:
            times.go_live(call.run)
        return await _record(call, tape, nth)
    except BaseException:
        tape.give_back(key, nth)
        raise


async def _record(call: Call, tape: Tape, nth: int) -> Message | ModelError:
    """Ask the model, and put what it does on the tape."""
    call.model.check()
    heard = call.heard = Heard()
    try:
        found = await call.ask_model()
    finally:
        call.heard = None
    failed = isinstance(found, ModelError)
    if failed and not (heard.attempts and tape.keeps_errors):
        tape.give_back(call.key, nth)
        return found
    about, lines = about_request(call.request, call.message_ids, call.tools_key)
    line: dict[str, Any] = {"call": call.key, "nth": nth, "model": call.model.name}
    if call.model.endpoint:
        line["endpoint"] = call.model.endpoint
    line |= {**about, "attempts": heard.attempts}
    if not failed:
        line["usage"] = {k: v for k, v in call.usage.to_dict().items() if v is not None}
    tape.recorded += tape.keep([*lines, line])
    return found


async def _play(call: Call, tape: Tape, take: Take) -> Message | ModelError:
    """Do again what was recorded."""
    import asyncio

    call.played = True
    begun = call.began
    failure: ModelError | None = None
    for attempt in take.attempts:
        # Nothing is sent, so no limit of requests holds it up; a budget counts as it did.
        ticket = await admit(call, limits=False) if call.run.budgets else None
        try:
            if tape.paced:
                await _play_slowly(call, attempt)
            else:
                if call.run.parent is not None:
                    await asyncio.sleep(0)  # what was asked side by side is so again
                _play_at_once(call, attempt)
        except BaseException:
            call.settle_failed(ticket, None)
            raise
        call.first = attempt.first_s
        call.attempt_began = monotonic() - attempt.duration_s
        call.began = call.attempt_began - attempt.started_s
        failure = attempt.failure()
        if failure is None:
            passed(call.run, begun, take)
            end_text(call)
            events.attempt_completed(call)
            return call.answered(ticket, take.usage)
        call.settle_failed(ticket, failure)
        events.attempt_failed(call, failure, attempt.wait_s)
        if attempt.wait_s is None:
            break
        call.run.root.void(call.id, call.attempt)
        if tape.paced:
            await asyncio.sleep(attempt.wait_s)
    passed(call.run, begun, take)
    assert failure is not None  # a take has attempts
    return failure


def _begin(call: Call) -> None:
    call.attempt += 1
    call.assembler = Assembler()
    call.first = None
    call.attempt_began = monotonic()


def _play_at_once(call: Call, attempt: Attempt) -> None:
    _begin(call)
    add, streaming = call.assembler.add, call.request.streaming
    for chunk, _ in attempt.pieces:
        add(chunk)
        if streaming and chunk.text:
            pass_on(call, chunk)


async def _play_slowly(call: Call, attempt: Attempt) -> None:
    import asyncio

    _begin(call)
    for chunk, at in attempt.pieces:
        await asyncio.sleep(max(0.0, call.attempt_began + at - monotonic()))
        call.assembler.add(chunk)
        if call.request.streaming and chunk.text:
            pass_on(call, chunk)
    await asyncio.sleep(max(0.0, call.attempt_began + attempt.duration_s - monotonic()))
