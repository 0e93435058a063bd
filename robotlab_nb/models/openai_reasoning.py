"""Reading what a model thought, which servers send under half a dozen names.

The text is read once, wherever it stands. What has to go back unchanged with the next turn
(signatures, encrypted blocks, the name of the field) is kept beside it.
"""

from __future__ import annotations

from typing import Any

__all__ = ["ReasoningReader"]

#: fields that hold reasoning as text, the first one that has any counts
_FIELDS = ("reasoning_content", "reasoning", "reasoning_text")
#: lists of blocks that go back as they came
_LISTS = ("reasoning_details", "thinking_blocks")
#: other extras of a message that go back as they came
_EXTRAS = ("extra_content", "thought_signature", "reasoning_opaque")
#: keys of a block whose pieces are joined
_GROWING = ("text", "summary", "thinking")


class ReasoningReader:
    """Collects the reasoning of one answer, whole or in pieces.

    Examples
    --------
    >>> reader = ReasoningReader()
    >>> reader.read({"reasoning": "Hm", "reasoning_details": [{"type": "t", "text": "Hm"}]})
    'Hm'
    >>> reader.read({"reasoning_details": [{"type": "t", "signature": "s"}]})
    ''
    >>> reader.extras()
    {'reasoning_details': [{'type': 't', 'text': 'Hm', 'signature': 's'}]}
    """

    __slots__ = ("_extras", "_field")

    def __init__(self) -> None:
        self._field: str | None = None
        self._extras: dict[str, Any] = {}

    def read(self, message: dict[str, Any]) -> str:
        """The reasoning in a message or a piece of one; "" when there is none."""
        text = ""
        for field in _FIELDS:
            value = message.get(field)
            if value and isinstance(value, str):
                text = value
                self._field = self._field or field
                break
        for name in _LISTS:
            blocks = message.get(name)
            if blocks and isinstance(blocks, list):
                self._add_blocks(self._extras.setdefault(name, []), blocks)
                if not text and self._field is None:
                    text = "".join(map(_text_of, blocks))
        for name in _EXTRAS:
            if message.get(name):
                self._extras[name] = message[name]
        return text

    def read_part(self, part: dict[str, Any]) -> str:
        """The reasoning in a content part of type ``thinking``."""
        self._field = self._field or "thinking"
        thinking = part.get("thinking")
        if isinstance(thinking, str):
            return thinking
        return "".join(map(_text_of, thinking)) if isinstance(thinking, list) else ""

    def extras(self) -> dict[str, Any]:
        """What goes back with the next turn: blocks, or the field that the text goes back in."""
        if self._field and not any(name in self._extras for name in _LISTS):
            return {"field": self._field, **self._extras}
        return self._extras

    @staticmethod
    def _add_blocks(known: list[Any], blocks: list[Any]) -> None:
        """Join pieces to the block that they continue, and keep the order of blocks."""
        for block in blocks:
            last = known[-1] if known else None
            if isinstance(last, dict) and isinstance(block, dict) and _continues(last, block):
                for key, value in block.items():
                    if key in _GROWING and isinstance(last.get(key), str):
                        last[key] += value or ""
                    elif value is not None:
                        last[key] = value
            else:
                known.append(dict(block) if isinstance(block, dict) else block)


def _continues(last: dict[str, Any], block: dict[str, Any]) -> bool:
    for key in ("type", "index", "id"):
        before, now = last.get(key), block.get(key)
        if before != now and (key == "type" or None not in (before, now)):
            return False
    if "signature" in last and _text_of(block):
        return False  # signed text is finished
    return "data" not in last and "data" not in block


def _text_of(block: Any) -> str:
    if isinstance(block, dict):
        for key in _GROWING:
            value = block.get(key)
            if isinstance(value, str):
                return value
    return block if isinstance(block, str) else ""
