"""Answers as HTML: Markdown of a model, in which nothing is live.

Raw HTML is text. Links lead to http, https or mail and nowhere else; others stay text. Images
are never fetched: an address can carry away what the model has read. Knows no object.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from .escape import attr, esc, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["answer_html", "tokens_of"]

_SCHEMES = ("http://", "https://", "mailto:")
#: A parser's time grows with the square of open brackets, and short rows of a table are filled
#: up to its widest one; no honest answer has so many.
_MOST_BRACKETS = 2000
_MOST_CELLS = 20_000
_MOST_HTML = 400_000


def answer_html(text: str) -> str:
    """Markdown as HTML without raw HTML, scripts, foreign links or images.

    Parameters
    ----------
    text : str
        Markdown, untrusted. The caller bounds its length.

    Returns
    -------
    str
        Block elements; text in ``<pre>`` where it cannot be read as Markdown in good time.

    Examples
    --------
    >>> answer_html("**Hi** <b>")
    '<p><strong>Hi</strong> &lt;b&gt;</p>'
    >>> answer_html("[x](javascript:alert)")
    '<p>[x](javascript:alert)</p>'
    """
    tokens = tokens_of(text)
    if tokens is not None:
        html: str = _parser().renderer.render(tokens, _parser().options, {})
        if len(html) <= _MOST_HTML:
            return html.strip()
    return f"<pre>{esc(text)}</pre>"


def tokens_of(text: str) -> Sequence[Token] | None:
    """The Markdown's structure, its text made visible; None where reading it would take long.

    Parameters
    ----------
    text : str
    """
    bars = [line.count("|") for line in text.split("\n")]
    if text.count("[") > _MOST_BRACKETS or max(bars) * len(bars) > _MOST_CELLS:
        return None
    try:
        tokens = _parser().parse(plain(text))
    except Exception:  # a parser's fault is no reason to lose an answer
        return None
    for token in tokens:
        _drop_empty_links(token.children or ())
    return tokens


def allowed(url: str) -> bool:
    """Whether a link may be followed.

    Examples
    --------
    >>> allowed("https://example.org"), allowed(" JavaScript:alert(1)"), allowed("/etc")
    (True, False, False)
    """
    return url.strip().lower().startswith(_SCHEMES)


def _drop_empty_links(tokens: Sequence[Token]) -> None:
    """A link to nowhere would lead to the notebook itself: keep its text only."""
    empty = False
    for token in tokens:
        if token.type == "link_open":
            empty = not token.attrGet("href")
        if empty and token.type in ("link_open", "link_close"):
            token.type, token.markup = "text", ""


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt(
        "commonmark", {"html": False, "linkify": False, "breaks": True, "maxNesting": 100}
    ).enable(["table", "strikethrough"])
    parser.validateLink = allowed  # type: ignore[method-assign]
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
    return parser


def _said(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return esc(tokens[at].content, math=True)


def _code(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f"<code>{esc(tokens[at].content)}</code>"


def _block(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f"<pre>{esc(tokens[at].content)}</pre>\n"


def _image(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    address = esc(str(tokens[at].attrGet("src") or ""))
    name = esc(tokens[at].content, math=True)
    return f'<span class="rlnb-q">[image{": " if name else ""}{name}, {address}]</span>'


def _link(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return f'<a href="{attr(tokens[at].attrGet("href") or "")}" rel="noopener noreferrer">'


def _heading(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    # Two levels down: the notebook's own headings stand above an answer's.
    level = min(int(tokens[at].tag[1]) + 2, 6)
    return f"</h{level}>\n" if tokens[at].nesting < 0 else f"<h{level}>"


def _list(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    start = tokens[at].attrGet("start")
    return f'<ol start="{int(start)}">\n' if start is not None else "<ol>\n"


def _table(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    return "</table></div>\n" if tokens[at].nesting < 0 else '<div class="rlnb-w"><table>'


def _cell(self: Any, tokens: Sequence[Token], at: int, options: Any, env: Any) -> str:
    right = "right" in str(tokens[at].attrGet("style") or "")
    return f'<{tokens[at].tag} class="rlnb-0">' if right else f"<{tokens[at].tag}>"


_RULES = {
    "text": _said,
    "code_inline": _code,
    "code_block": _block,
    "fence": _block,
    "image": _image,
    "link_open": _link,
    "heading_open": _heading,
    "heading_close": _heading,
    "ordered_list_open": _list,
    "table_open": _table,
    "table_close": _table,
    "th_open": _cell,
    "td_open": _cell,
}
