"""An answer's Markdown as a tree of elements, for a front end that only ever makes nodes.

The tree says what :func:`~robotlab_nb.display.markdown.answer_html` says; elements and attributes
are those named here, and everything else is text. Knows no chat.
"""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

from ..display.markdown import allowed, answer_html

__all__ = ["prose"]

#: element -> the attributes that it keeps
_ELEMENTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "p strong em s del code pre ul li blockquote h3 h4 h5 h6 table thead tbody tr th td "
            "div span br hr"
        ).split(),
        (),
    ),
    "a": ("href",),
    "ol": ("start",),
}
_EMPTY = ("br", "hr")
#: The one class of each element that may have one, and of a table's frame.
_CLASSES = {"th": "rlnb-0", "td": "rlnb-0", "div": "rlnb-w", "span": "rlnb-q"}
#: Longer answers are shown as they were written.
MOST = 40_000

#: A text, or ``[element, attributes, *children]``.
Node = str | list[Any]


def prose(text: str) -> list[Node]:
    """The nodes of an answer.

    Parameters
    ----------
    text : str
        Markdown, untrusted.

    Returns
    -------
    list
        Texts, and lists of an element's name, its attributes and its children.

    Examples
    --------
    >>> prose("**Hi** <b>")
    [['p', {}, ['strong', {}, 'Hi'], ' <b>']]
    >>> prose("[x](https://example.org)")[0][2]
    ['a', {'href': 'https://example.org'}, 'x']
    """
    if len(text) > MOST:
        return [["pre", {}, text]]
    reader = _Reader()
    reader.feed(answer_html(text))
    reader.close()
    return reader.nodes


class _Reader(HTMLParser):
    """Reads HTML of our own making."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.nodes: list[Node] = []
        self._open: list[list[Any]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _ELEMENTS:
            return
        kept = {name: value for name, value in attrs if value and _keeps(tag, name, value)}
        node: list[Any] = [tag, kept]
        self._add(node)
        if tag not in _EMPTY:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1][0] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        blank = not self._open or self._open[-1][0] in ("ul", "ol", "table", "thead", "tbody", "tr")
        if not blank or data.strip():
            self._add(data)

    def _add(self, node: Node) -> None:
        (self._open[-1] if self._open else self.nodes).append(node)


def _keeps(tag: str, name: str, value: str) -> bool:
    if name == "class":
        return value == _CLASSES.get(tag)
    if name == "href":
        return tag == "a" and allowed(value)
    return name in _ELEMENTS[tag]
