"""How large a picture is that came as bytes, read from its first bytes. Nothing is decoded.

Only kinds that hold pixels alone are known: nothing in them can act.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["size_of"]


def size_of(data: bytes, mime: str) -> tuple[int, int] | None:
    r"""Width and height in pixels; None for bytes that are not what their type says.

    Parameters
    ----------
    data : bytes
    mime : str

    Examples
    --------
    >>> size_of(b"GIF89a\x02\x00\x01\x00", "image/gif"), size_of(b"<svg/>", "image/png")
    ((2, 1), None)
    """
    read = _READERS.get(mime)
    try:
        found = read(data) if read is not None else None
    except IndexError:
        return None
    return found if found is not None and all(side > 0 for side in found) else None


def _png(data: bytes) -> tuple[int, int] | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20]), int.from_bytes(data[20:24])


def _gif(data: bytes) -> tuple[int, int] | None:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> tuple[int, int] | None:
    """The first frame header, past the segments before it."""
    at = 2
    while data[:2] == b"\xff\xd8" and data[at] == 0xFF:
        kind = data[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    match data[12:16]:
        case b"VP8X":
            return (
                1 + int.from_bytes(data[24:27], "little"),
                1 + int.from_bytes(data[27:30], "little"),
            )
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            sides = (int.from_bytes(data[at : at + 2], "little") & 0x3FFF for at in (26, 28))
            return tuple(sides)  # type: ignore[return-value]
    return None


_READERS: dict[str, Callable[[bytes], tuple[int, int] | None]] = {
    "image/png": _png,
    "image/gif": _gif,
    "image/jpeg": _jpeg,
    "image/webp": _webp,
}
