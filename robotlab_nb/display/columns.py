"""Text in the columns of a terminal: how wide it is, wrapping it, fitting it. Knows no object."""

from __future__ import annotations

import unicodedata

__all__ = ["COLUMNS", "fit", "pad", "width", "wrap"]

#: Columns of a line of text/plain.
COLUMNS = 96


def width(text: str) -> int:
    """Columns that a visible text takes: East Asian wide characters two, combining ones none.

    Examples
    --------
    >>> width("abc"), width("日本")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    return sum(map(_columns, text))


def fit(text: str, columns: int) -> str:
    """The text, ended by an ellipsis where it is wider than that.

    Examples
    --------
    >>> fit("abcdef", 4)
    'abc…'
    """
    if width(text) <= columns:
        return text
    return _start(text, columns - 1).rstrip() + "…"


def pad(text: str, columns: int, *, right: bool = False) -> str:
    """The text filled up with spaces, at its end or (``right``) in front."""
    space = " " * max(columns - width(text), 0)
    return space + text if right else text + space


def wrap(text: str, columns: int, most: int) -> tuple[list[str], bool]:
    """Break a text into lines, at spaces where there are any.

    Parameters
    ----------
    text : str
        Visible text; its own newlines are kept.
    columns : int
        Width of a line.
    most : int
        How many lines to make at most; what follows is not looked at.

    Returns
    -------
    tuple of list of str and bool
        The lines, and whether something was left.

    Examples
    --------
    >>> wrap("aa bb cc", 5, 9), wrap("abcdef", 3, 1)
    ((['aa bb', 'cc'], False), (['abc'], True))
    """
    lines: list[str] = []
    for source in text.split("\n", most + 1):
        rest = source.split("\n", 1)[0].expandtabs(4).rstrip()
        while True:
            if len(lines) >= most:
                return lines, True
            if width(rest) <= columns:
                lines.append(rest)
                break
            head = _start(rest, columns)
            space = head.rfind(" ") if rest[len(head) : len(head) + 1] != " " else len(head)
            # A break in the left third would waste the line: cut the long word instead.
            at = space if space > columns // 3 else len(head)
            lines.append(rest[:at].rstrip())
            rest = rest[at:].lstrip()
    return lines, False


def _start(text: str, columns: int) -> str:
    used = 0
    for number, char in enumerate(text):
        used += _columns(char)
        if used > columns:
            return text[:number]
    return text


def _columns(char: str) -> int:
    if char < "\u0300":
        return 1
    if unicodedata.combining(char) or char in "\u200c\u200d\ufe0e\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
