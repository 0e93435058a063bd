"""The one place where untrusted text becomes safe to show: in HTML, and in a terminal.

Models, tools, servers and logs write what is shown, so all of it is hostile here. This module
knows nothing of what a text means; it only makes the invisible visible and markup inert, and
masks registered secrets that came this far.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from html import escape as _entities

from ..core import secrets

__all__ = ["attr", "clip", "cut", "esc", "one_line", "plain"]

# Joiners and variation selectors are part of the spelling of some scripts and of emoji, and
# are invisible anywhere else: they stay only between characters that they can join.
_EMOJI = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_CURSIVE = "\u0620-\u0655\u066e-\u06d5\u06fa-\u06ff\u0710-\u074f\u08a0-\u08c9"
_BRAHMIC = "\u0900-\u0dff\u1000-\u109f\u1780-\u17b3\u17b6-\u17d3"
_JOINED = _EMOJI + _CURSIVE + _BRAHMIC

_UNSEEN = re.compile(
    # controls; a lone carriage return overwrites its line
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)"
    # soft hyphen, fillers, zero width, line separators, bidi controls, invisible operators
    "|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    # lone surrogates and noncharacters
    "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff\U0001fffe\U0001ffff\U0002fffe\U0002ffff"
    # format characters of single scripts; planes without letters, tags and selectors in them
    "\U00013430-\U00013440\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U0003fffe-\U0010ffff]"
    f"|(?<![{_JOINED}\ufe0f])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
    f"|(?<![{_EMOJI}#*0-9])[\ufe0e\ufe0f]"
)

# A notebook's mathematics pairs delimiters only within one text node: an element around
# each keeps "$5 of $10" an amount.
_AMOUNT = re.compile(r"\$\d(?:[\d.,]*\d)?")
_DELIMITER = re.compile(
    _AMOUNT.pattern + r"|\$|\\(?=[()\[\]]|begin\{|end\{|(?:eq)?ref\{)",
)


def plain(value: object) -> str:
    r"""Make every character of a text visible, for terminals and as the base of all other forms.

    Newlines and tabs stay. Control characters (terminal escapes among them) become their
    control pictures, other invisible characters become backslash escapes.

    Parameters
    ----------
    value : object
        A text, or anything with a ``str()``; one that raises is named by its type.

    Returns
    -------
    str
        Text that cannot move a cursor, hide, reorder or colour anything.

    Examples
    --------
    >>> print(plain("a\x1b[31mb\u202ec"))
    a␛[31mb\u202ec
    """
    text = _text(value)
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_visible, text).replace("\r\n", "\n")


def esc(value: object, *, math: bool = False) -> str:
    """Escape a text for HTML content.

    Parameters
    ----------
    value : object
        A text, or anything with a ``str()``.
    math : bool, optional
        Leave formulas such as ``$x^2$`` to the notebook; amounts are guarded in any case.

    Returns
    -------
    str
        Characters, entities and bare ``<span>`` around what the notebook would typeset.

    Examples
    --------
    >>> esc("<b> & $5")
    '&lt;b&gt; &amp; <span>$5</span>'
    """
    text = attr(value)
    if math:
        return _AMOUNT.sub(r"<span>\g<0></span>", text) if "$" in text else text
    if "$" in text or "\\" in text:
        return _DELIMITER.sub(r"<span>\g<0></span>", text)
    return text


def attr(value: object) -> str:
    """Escape a text for a quoted HTML attribute, where amounts need no guard.

    Examples
    --------
    >>> attr('"$5"')
    '&quot;$5&quot;'
    """
    return _entities(plain(value))


def cut(value: object, limit: int) -> tuple[str, int]:
    """Take the start of a text in its visible form.

    Parameters
    ----------
    value : object
        A text, or anything with a ``str()``. No more than `limit` characters of it are read.
    limit : int
        How many visible characters to keep at most.

    Returns
    -------
    tuple of str and int
        The start, and how many characters of the text were left out.

    Examples
    --------
    >>> cut("abcdef", 4)
    ('abcd', 2)
    """
    text = _text(value)
    head = text[:limit]
    shown = plain(head)
    if len(shown) > limit:
        kept = bisect_right(range(len(head) + 1), limit, key=lambda n: len(plain(head[:n]))) - 1
        head = head[:kept]
        shown = plain(head)
    return shown, len(text) - len(head)


def clip(value: object, limit: int) -> str:
    """The start of a text in its visible form, and a word on how much was left out.

    Parameters
    ----------
    value : object
        A text, or anything with a ``str()``.
    limit : int
        How many characters to keep.

    Examples
    --------
    >>> clip("abcdef", 10), clip("abcdef" * 1000, 6)
    ('abcdef', 'abcdef … 5,994 more characters')
    """
    shown, left = cut(value, limit)
    return f"{shown} … {left:,} more character{'' if left == 1 else 's'}" if left else shown


def one_line(value: object, limit: int) -> str:
    r"""A text on one line: white space becomes a space, an ellipsis ends what was cut, at a word.

    Examples
    --------
    >>> one_line("a\n  b" + "c" * 50, 8)
    'a bcccc…'
    """
    text = _text(value)
    shown = " ".join(plain(text[: limit * 4]).split())
    if len(shown) > limit or len(text) > limit * 4:
        head = shown[: limit - 1]
        word = head.rfind(" ") if shown[limit - 1 : limit] != " " else len(head)
        return head[: word if word > limit * 2 // 3 else len(head)].rstrip() + "…"
    return shown


def _text(value: object) -> str:
    if isinstance(value, str):
        text = str.__str__(value)
    else:
        try:
            text = str(value)
        except Exception:
            return f"<{type(value).__name__} that cannot be printed>"
    return secrets.redact(text) if secrets.any_known else text


def _visible(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point < 0x20:
        return chr(0x2400 + point)
    if point == 0x7F:
        return "\u2421"
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
