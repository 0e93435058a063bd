"""Reading server-sent events from bytes as they arrive.

It knows the event-stream format and nothing of JSON, models or sockets.
"""

from __future__ import annotations

from typing import TypeAlias

__all__ = ["EventReader", "SSEvent"]

#: (event name or None, data)
SSEvent: TypeAlias = tuple[str | None, str]

_BOM = b"\xef\xbb\xbf"


class EventReader:
    r"""Turns blocks of bytes, cut anywhere, into events.

    Lines end in CRLF, LF or CR. Comments, ``id:``, ``retry:`` and unknown fields are dropped, so a
    line that starts with a space is dropped too. One liberty: a server that fails in mid-stream
    may write ``error: …`` as a field of its own; that is read as an event named ``error``.

    Examples
    --------
    >>> reader = EventReader()
    >>> reader.feed(b"data: on")
    []
    >>> reader.feed(b"e\n\n: hello\n\nevent: error\ndata: two\n")
    [(None, 'one')]
    >>> reader.finish()
    [('error', 'two')]
    """

    __slots__ = ("_data", "_name", "_skip_lf", "_start", "_tail")

    def __init__(self) -> None:
        self._tail: list[bytes] = []  # pieces of a line that has not ended
        self._data: list[bytes] = []  # data lines of an event that has not ended
        self._name: str | None = None
        self._skip_lf = False  # the last block ended in CR: a leading LF belongs to it
        self._start = True  # nothing but a byte order mark was seen

    def feed(self, block: bytes) -> list[SSEvent]:
        """Take bytes in.

        Parameters
        ----------
        block : bytes
            What was read, of any length.

        Returns
        -------
        list of (str or None, str)
            The events that are now complete: name (None when the server gave none) and data.
        """
        if self._start:
            block = b"".join((*self._tail, block))
            self._tail.clear()
            if len(block) < 3 and _BOM.startswith(block):
                self._tail.append(block)
                return []
            self._start = False
            block = block.removeprefix(_BOM)
        if self._skip_lf and block:
            self._skip_lf = False
            if block[:1] == b"\n":
                block = block[1:]
        if b"\n" not in block and b"\r" not in block:
            if block:
                self._tail.append(block)
            return []
        if self._tail:
            block = b"".join((*self._tail, block))
            self._tail.clear()
        if self._data or self._name is not None:
            return self._lines(block)
        end = block.rfind(b"\n\n") + 2
        plain = _plain(block[:end]) if end > 1 else None
        if plain is None:
            return self._lines(block)
        rest = block[end:]
        if b"\n" in rest or b"\r" in rest:
            plain += self._lines(rest)
        elif rest:
            self._tail.append(rest)
        return plain

    def finish(self) -> list[SSEvent]:
        """Say that no more bytes will come.

        Returns
        -------
        list of (str or None, str)
            The last event, when the stream ended without a blank line after it.
        """
        return self._lines(b"\n\n") if self._tail or self._data else []

    def _lines(self, block: bytes) -> list[SSEvent]:
        if self._tail:
            block = b"".join((*self._tail, block))
            self._tail.clear()
        if b"\r" in block:
            self._skip_lf = block[-1:] == b"\r"
            block = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = block.split(b"\n")
        if rest := lines.pop():
            self._tail.append(rest)
        found: list[SSEvent] = []
        for line in lines:
            if not line:
                if self._data:
                    text = b"\n".join(self._data).decode("utf-8", "replace")
                    found.append((self._name, text))
                    self._data.clear()
                self._name = None
                continue
            field, _, value = line.partition(b":")
            if value[:1] == b" ":
                value = value[1:]
            if field == b"data":
                self._data.append(value)
            elif field == b"event":
                self._name = value.decode("utf-8", "replace") or None
            elif field == b"error":
                found.append(("error", value.decode("utf-8", "replace")))
        return found


def _plain(block: bytes) -> list[SSEvent] | None:
    """Events of a block that holds nothing but ``data: …`` lines, each followed by a blank line.

    Nearly every block of nearly every stream is of this kind, and it is read ten times faster
    than line by line.
    """
    if block[:6] != b"data: " or b"\r" in block:
        return None
    try:
        pieces = block[6:-2].decode("utf-8").split("\n\ndata: ")
    except UnicodeDecodeError:
        return None
    if block.count(b"\n") != 2 * len(pieces):
        return None
    return [(None, piece) for piece in pieces]
