"""One text that streams: what came of it, and what of that has been shown, in visible form.

Pieces arrive cut anywhere, also inside what belongs together (an emoji's joiner, a line break):
the shown pieces joined are nevertheless the visible form of the whole. Knows no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.messages import ReasoningPart, RefusalPart, TextPart
from ..display.escape import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..core.messages import Message

__all__ = ["Spoken", "said"]

#: A character that only the next one gives a meaning to.
_UNDECIDED = ("\u200c", "\u200d", "\r")


class Spoken:
    r"""A streaming text.

    Parameters
    ----------
    key : str
        Of the record that shows it.
    limit : int
        Characters that are shown at most.

    Examples
    --------
    >>> spoken = Spoken("P0", 100)
    >>> [spoken.more("one\r"), spoken.more("\ntwo\x1b"), spoken.left_of("one\r\ntwo\x1b!")]
    ['one', '\ntwo␛', '!']
    """

    __slots__ = ("_held", "_last", "_limit", "_raw", "_shown", "key")

    def __init__(self, key: str, limit: int) -> None:
        self.key = key
        self._limit = limit
        self._raw: list[str] = []
        self._held = ""
        self._last = ""
        self._shown = 0

    def more(self, text: str) -> str:
        """Take a piece in; return what is to be shown more."""
        self._raw.append(text)
        text = self._held + text
        self._held = ""
        if text.endswith(_UNDECIDED):
            text, self._held = text[:-1], text[-1]
        return self._visible(text)

    def rest(self) -> str:
        """What is still to be shown when nothing more comes."""
        held, self._held = self._held, ""
        return self._visible(held)

    def left_of(self, whole: str) -> str | None:
        """What is still to be shown of the whole text; None when it begins otherwise."""
        raw = "".join(self._raw)
        if not whole.startswith(raw):
            return None
        return self.more(whole[len(raw) :]) + self.rest()

    def instead(self, whole: str) -> str:
        """The visible form of a text that takes the place of all that was shown."""
        self._raw, self._held, self._last, self._shown = [], "", "", 0
        return self.more(whole) + self.rest()

    def _visible(self, text: str) -> str:
        if not text or self._shown >= self._limit:
            return ""
        # The character before decides whether a joiner joins.
        before = self._last
        shown = plain(before + text)[len(plain(before)) :]
        self._last = text[-1]
        room = self._limit - self._shown
        self._shown += len(shown)
        if len(shown) > room:
            return shown[:room] + " … more than is shown while it streams"
        return shown


def said(message: Message) -> Iterator[tuple[str, str, bool]]:
    """Kind, text and whether it was cut, of what a message says: one of each kind."""
    for kind, cls in (("reasoning", ReasoningPart), ("text", TextPart), ("refusal", RefusalPart)):
        parts = [p for p in message.parts if isinstance(p, cls)]
        text = "".join(p.text for p in parts)
        if text:
            yield kind, text, any(getattr(p, "cut", False) for p in parts)
