"""How wide words are in our pictures, and as much of them as fits.

A picture is drawn without knowing the typeface that it will be shown in: widths are those of the
broadest that is common (DejaVu Sans, much like Verdana), so that words never leave their box.
"""

from __future__ import annotations

import unicodedata
from functools import cache

from .escape import one_line

__all__ = ["shortened", "wide"]

#: width in hundredths of the type's size -> characters
_PLAIN = {
    27: "'", 28: "ijl", 29: "IJ", 32: " ,.·’\u00a0", 34: "/:;\\|", 35: "f", 36: "-", 39: "()[]t",
    40: "!", 41: "r", 46: "\"", 50: "*_`–", 52: "sz“”", 53: "?", 55: "c", 56: "L", 58: "Fk",
    59: "vxy•", 60: "P", 61: "TYao", 62: "e", 63: "ESbdghnpqu", 64: "0123456789${}€", 66: "K",
    68: "AV", 69: "BRXZ", 70: "C", 73: "U", 75: "HN", 77: "DG", 78: "&", 79: "OQ", 82: "w",
    84: "#+<=>^~±×←→≥", 86: "M", 95: "%", 97: "m", 99: "W", 100: "@—…",
}  # fmt: skip
_BOLD = {
    31: "'", 34: "ijl", 35: " \u00a0", 37: "/IJ\\|", 38: ",.·’", 40: ":;", 42: "-", 44: "f",
    46: "!()[]", 48: "t", 49: "r", 50: "_`–", 52: "\"*", 58: "?z", 59: "c", 60: "s", 64: "L•",
    65: "vxy", 66: "“”", 67: "ak", 68: "EFTe", 69: "o", 70: "0123456789$€", 71: "hnu{}",
    72: "SYbdgpq", 73: "CPZ", 76: "B", 77: "AKRVX", 81: "U", 82: "G", 83: "D",
    84: "#+<=>HN^~±×←→≥", 85: "OQ", 87: "&", 92: "w", 100: "%@M—…", 104: "m", 110: "W",
}  # fmt: skip
_WIDTHS = tuple(
    {char: width / 100 for width, chars in table.items() for char in chars}
    for table in (_PLAIN, _BOLD)
)


def wide(words: str, size: float = 11, *, bold: bool = False) -> float:
    """About how many pixels words take, rather too many than too few.

    Examples
    --------
    >>> wide("ill") < wide("abc") < wide("WWW")
    True
    """
    return sum(_em(char, bold) for char in words) * size


def shortened(words: object, room: float, size: float = 11, *, bold: bool = False) -> str:
    """Words on one line, ended by an ellipsis where they would take more than that many pixels.

    Examples
    --------
    >>> shortened("classify", 100), shortened("classify the whole message", 60)
    ('classify', 'classify t…')
    """
    line = one_line(words, 200)
    ems = room / size
    if sum(_em(char, bold) for char in line) <= ems:
        return line
    kept, used = 0, _em("…", bold)
    while kept < len(line) and used + _em(line[kept], bold) <= ems:
        used += _em(line[kept], bold)
        kept += 1
    # A letter and the signs that combine with it stay or go together.
    while kept and kept < len(line) and unicodedata.combining(line[kept]):
        kept -= 1
    return line[:kept].rstrip() + "…"


@cache
def _em(char: str, bold: bool) -> float:
    """The width of a character in parts of the type's size."""
    known = _WIDTHS[bold]
    if char in known:
        return known[char]
    if unicodedata.combining(char):
        return 0.0
    if unicodedata.east_asian_width(char) in "WF":
        return 1.05
    base = unicodedata.normalize("NFD", char)[0]
    if base in known:
        return known[base]
    # Symbols are as broad as capitals.
    broad = char.isupper() or not char.isalpha()
    return (0.85 if broad else 0.7) * (1.1 if bold else 1.0)
