"""An answer's Markdown, written anew so that nothing in it is live wherever it is pasted.

The structure is read with the same parser as for HTML; all text is escaped, links and images
obey the same rules. Knows Markdown only.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .escape import plain
from .markdown import tokens_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it.token import Token

__all__ = ["code_span", "fence", "inert", "rewritten"]

# An exclamation mark at the end of a text makes an image of the link that follows it; underscores
# within words and the sharp of C# mark nothing.
_MARKS = re.compile(r"[\\`*\[\]<>&|~]|(?<![^\W_])_|_(?![^\W_])|(?<![^\s#])#|!(?=\[|\Z)")
#: Where a line would start a list, a rule or a heading, and a backslash keeps it text.
_STARTS = re.compile(
    r"^(\s*)(\d{1,9}(?=[.)](?:\s|$))|(?=[-+](?:\s|$))|(?=[-=]+\s*$))", re.MULTILINE
)


def inert(text: str, *, math: bool = False) -> str:
    r"""Text that Markdown shows as it is.

    Parameters
    ----------
    text : str
    math : bool, optional
        Leave formulas to the notebook; amounts are guarded in any case.

    Examples
    --------
    >>> print(inert("*a* <b> 1. [x](y)"))
    \*a\* \<b\> 1. \[x\](y)
    """
    quoted = _MARKS.sub(r"\\\g<0>", plain(text))
    quoted = _STARTS.sub(r"\1\2\\", quoted)
    # A dollar sign in its own element pairs with no other one, as in HTML.
    return re.sub(r"\$(?=\d)" if math else r"\$", "<span>$</span>", quoted)


def code_span(text: str) -> str:
    """Text as inline code.

    Examples
    --------
    >>> print(code_span("a`b"))
    ``a`b``
    """
    shown = " ".join(plain(text).split("\n"))
    ticks = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    space = " " if not shown.strip() or shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fence(text: str) -> str:
    """Text as a block of code."""
    shown = plain(text).rstrip("\n")
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    return f"{ticks}text\n{shown}\n{ticks}"


def rewritten(text: str) -> str:
    r"""Markdown that looks as `text` would, without HTML, foreign links or images.

    Parameters
    ----------
    text : str
        Markdown, untrusted. The caller bounds its length.

    Examples
    --------
    >>> print(rewritten("# Hi\n<script> ![x](http://a.b/c)"))
    ### Hi
    <BLANKLINE>
    \<script\> \[image: x, http://a.b/c\]
    """
    tokens = tokens_of(text)
    if tokens is None:
        return fence(text)
    return _Walk(tokens).blocks()


class _Walk:
    """Goes over block tokens once, keeping the prefix of the lists and quotes around."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.prefix: list[str] = []
        self.out: list[str] = []
        self.marker: str | None = None
        self.numbers: list[int | None] = []

    def blocks(self) -> str:
        heading = 0
        for at, token in enumerate(self.tokens):
            match token.type:
                case "heading_open":
                    heading = min(int(token.tag[1]) + 2, 6)
                case "inline":
                    if not self._in_row(at):
                        text = _inline(token.children or ())
                        if heading:
                            text = f"{'#' * heading} {' '.join(text.split())}"
                        self._put(text)
                        heading = 0
                case "fence" | "code_block":
                    self._put(fence(token.content))
                case "hr":
                    self._put("---")
                case "blockquote_open":
                    self._enter("> ", "> ")
                case "bullet_list_open":
                    self.numbers.append(None)
                case "ordered_list_open":
                    self.numbers.append(int(token.attrGet("start") or 1))
                case "list_item_open":
                    self._item()
                case "blockquote_close" | "list_item_close":
                    self.marker = None
                    self.prefix.pop()
                case "bullet_list_close" | "ordered_list_close":
                    self.numbers.pop()
                case "tr_open":
                    self._put(self._row(at), tight=self.tokens[at - 1].type != "thead_open")
                case _:
                    pass
        return "\n".join(self.out)

    def _enter(self, first: str, later: str) -> None:
        if self.marker is not None:
            first = self.marker + first
        self.marker = "".join(self.prefix) + first if self.marker is None else first
        self.prefix.append(later)

    def _item(self) -> None:
        number = self.numbers[-1]
        if number is None:
            self._enter("- ", "  ")
            return
        self.numbers[-1] = number + 1
        mark = f"{number}. "
        self._enter(mark, " " * len(mark))

    def _put(self, text: str, *, tight: bool = False) -> None:
        around = "".join(self.prefix)
        if self.out and not tight:
            self.out.append(around.rstrip() if self.marker is None else self._between())
        for number, line in enumerate(text.split("\n")):
            first = number == 0 and self.marker is not None
            self.out.append(((self.marker if first else around) or "") + line)
        self.marker = None

    def _between(self) -> str:
        return "".join(self.prefix[:-1]).rstrip()

    def _in_row(self, at: int) -> bool:
        return self.tokens[at - 1].type in ("th_open", "td_open")

    def _row(self, at: int) -> str:
        cells: list[str] = []
        head = False
        for token in self.tokens[at + 1 :]:
            if token.type == "tr_close":
                break
            head = head or token.type == "th_open"
            if token.type == "inline":
                cells.append(_inline(token.children or (), row=True).replace("\n", " "))
        row = f"| {' | '.join(cells)} |"
        return f"{row}\n|{' --- |' * len(cells)}" if head else row


def _inline(tokens: Sequence[Token], *, row: bool = False) -> str:
    out: list[str] = []
    links: list[str] = []
    for token in tokens:
        match token.type:
            case "text":
                out.append(inert(token.content, math=True))
            case "code_inline":
                span = code_span(token.content)
                out.append(span.replace("|", "\\|") if row else span)
            case "softbreak" | "hardbreak":
                out.append("  \n")
            case "link_open":
                links.append(_address(str(token.attrGet("href") or "")))
                out.append("[")
            case "link_close":
                out.append(f"](<{links.pop()}>)")
            case "image":
                name = f"{token.content}, " if token.content else ""
                out.append(inert(f"[image: {name}{token.attrGet('src') or ''}]"))
            case _:
                out.append(token.markup)
    return "".join(out)


def _address(href: str) -> str:
    return re.sub(r"[<>|\\\s]", lambda found: f"%{ord(found[0]):02X}", plain(href))
