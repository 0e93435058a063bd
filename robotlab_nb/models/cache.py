"""Answers kept for equal requests, in this process: the same words, tools, parameters and model.

Only whole, good answers of real models are kept, so that using one again changes nothing but the
time and the price. Who asks what is already being asked waits for that answer. It knows answers by
their keys, and no run.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from ..core.messages import Message, ToolCallPart
from ..core.usage import Usage
from ..runtime.bells import Bell

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..core.messages import Part
    from .assembly import Assembler

__all__ = ["Cache", "Kept", "answers", "clear_cache", "keepable"]

#: how a good answer ends
_GOOD = frozenset({"stop", "tool"})


class Kept(NamedTuple):
    """An answer as it was, with its tokens, and without a cost."""

    message: Message
    stop_reason: str
    finish_reason: str | None
    response_model: str | None
    usage: Usage

    def copied(self, new_id: Callable[[], str]) -> Message:
        """The message for another run: its tool calls get ids of that run."""
        parts: list[Part] = [
            ToolCallPart(new_id(), part.name, part.arguments, part.wire_id, part.opaque)
            if isinstance(part, ToolCallPart)
            else part
            for part in self.message.parts
        ]
        return Message("assistant", parts)


def keepable(message: Message, answer: Assembler, usage: Usage) -> Kept | None:
    """An answer as it is kept; None for one that should not be given again.

    Parameters
    ----------
    message : Message
    answer : Assembler
        What it was made of.
    usage : Usage
    """
    reason = answer.stop_reason
    if reason not in _GOOD or not message.parts:
        return None
    free = Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.reasoning_tokens,
        usage.cached_tokens,
        usage.estimated,
        cost_usd=0.0,
        calls=1,
    )
    return Kept(message, reason, answer.finish_reason, answer.response_model, free)


class Cache:
    """Answers by request key; those used last stay longest. Any thread may use it.

    Parameters
    ----------
    entries : int, optional
        Most answers.
    size : int, optional
        Most bytes of all of them, as JSON.

    Examples
    --------
    >>> kept = Kept(Message("assistant", "Hello."), "stop", "stop", None, Usage(3, 2))
    >>> cache = Cache(entries=1)
    >>> cache.put("a", kept), cache.put("b", kept)
    (True, True)
    >>> cache.get("a") is None, cache.get("b").message.text
    (True, 'Hello.')
    """

    def __init__(self, entries: int = 4096, size: int = 64 * 2**20) -> None:
        self._most = entries
        self._most_bytes = size
        self._kept: OrderedDict[str, tuple[Kept, int]] = OrderedDict()
        self._bytes = 0
        #: keys that are being asked, and who waits for the answer
        self._asked: dict[str, list[Bell]] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: str) -> Kept | None:
        """The answer to an equal request, if one is kept."""
        with self._lock:
            return self._get(key)

    def put(self, key: str, kept: Kept) -> bool:
        """Keep an answer. Returns whether there was room for it."""
        size = len(json.dumps(kept.message.to_dict(), default=str))
        with self._lock:
            if size > self._most_bytes:
                return False
            self._bytes += size - self._kept.pop(key, (None, 0))[1]
            self._kept[key] = kept, size
            while self._bytes > self._most_bytes or len(self._kept) > self._most:
                _, (_, freed) = self._kept.popitem(last=False)
                self._bytes -= freed
        return True

    def clear(self) -> None:
        """Forget all answers."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    async def get_or_ask(self, key: str, until: float | None = None) -> Kept | None:
        """The answer to an equal request, waited for where it is being asked right now.

        Parameters
        ----------
        key : str
        until : float, optional
            Instant of the monotonic clock after which it waits no longer.

        Returns
        -------
        Kept or None
            None: the caller is to ask, and to call :meth:`asked` however that ends.

        Raises
        ------
        TimeoutError
            When the time was up.
        """
        while True:
            with self._lock:
                found = self._get(key)
                if found is not None:
                    return found
                waiting = self._asked.get(key)
                if waiting is None:
                    self._asked[key] = []
                    return None
                bell = Bell()
                waiting.append(bell)
            left = None if until is None else max(0.0, until - monotonic())
            if not await bell.wait(left):
                raise TimeoutError

    def asked(self, key: str) -> None:
        """Say that nobody asks any more: the answer is kept, or there is none."""
        with self._lock:
            waiting = self._asked.pop(key, ())
        for bell in waiting:
            bell.ring()

    def _get(self, key: str) -> Kept | None:
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]


#: the process's answers
answers = Cache()


def clear_cache() -> None:
    """Forget every answer that ``cache=True`` has kept.

    Examples
    --------
    >>> clear_cache()
    >>> len(answers)
    0
    """
    answers.clear()
