"""Reading pictures back: what a browser would make of them, and what a notebook would let pass."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import html5lib  # type: ignore[import-untyped]

from robotlab_nb.display.style import STYLE

CORPUS: dict[str, list[str]] = json.loads(
    (Path(__file__).parent.parent / "data" / "hostile.json").read_text("ascii")
)
PAYLOADS = [text for texts in CORPUS.values() for text in texts]

#: every tag a static picture may have, and its attributes
ALLOWED: dict[str, set[str]] = {
    **{tag: {"class"} for tag in ("div", "p", "span", "blockquote", "td", "th")},
    **{
        tag: set()
        for tag in (
            "b", "strong", "em", "s", "code", "pre", "br", "hr", "dl", "dt", "dd", "ul", "li",
            "details", "summary", "table", "thead", "tbody", "tr", "h3", "h4", "h5", "h6",
        )
    },
    "a": {"href", "rel"},
    "ol": {"start"},
}  # fmt: skip
ALLOWED["th"] = {"class", "scope"}
ALLOWED["img"] = {"class", "width", "alt", "src"}
ALLOWED["progress"] = {"max", "value"}
PICTURES = tuple(f"data:image/{kind};base64," for kind in ("svg+xml", "png", "jpeg", "gif", "webp"))
SCHEMES = ("http://", "https://", "mailto:")


def body_of(html: str) -> str:
    """A picture without its stylesheet, which must be there, whole and first."""
    assert html.startswith(STYLE)
    return html.removeprefix(STYLE)


def tree_of(html: str) -> Any:
    """Parse a picture's body, refusing any HTML that a browser would have to mend."""
    parser = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False)
    tree = parser.parseFragment(html)
    assert [child.tag for child in tree] == ["div"]
    assert not (tree.text or "").strip()
    assert not (tree[0].tail or "").strip()
    assert tree[0].get("class", "").split()[0] == "rlnb-c"
    return tree[0]


def check_inert(html: str) -> Any:
    """Parse a whole picture and refuse every tag, attribute, class and link not listed."""
    tree = tree_of(body_of(html))
    for element in tree.iter():
        assert element.tag in ALLOWED, element.tag
        for name, value in element.attrib.items():
            assert name in ALLOWED[element.tag], (element.tag, name)
            if name == "class":
                assert all(each.startswith("rlnb-") for each in value.split()), value
            if name == "href":
                assert value.lower().startswith(SCHEMES), value
            if name == "src":
                assert value.startswith(PICTURES), value[:60]
    return tree


def text_of(tree: Any) -> str:
    """All text below an element, a line break for each ``<br>``."""
    pieces: list[str] = []

    def walk(element: Any) -> None:
        pieces.append("\n" if element.tag == "br" else element.text or "")
        for child in element:
            walk(child)
            pieces.append(child.tail or "")

    walk(tree)
    return "".join(pieces)


#: elements that begin and end a line
_LINES = frozenset(
    [
        "p",
        "div",
        "blockquote",
        "dt",
        "dd",
        "li",
        "summary",
        "pre",
        "th",
        "td",
        "details",
        "h3",
        "h4",
    ]
)


def words_of(tree: Any) -> str:
    """All words below an element, set apart as on a page."""
    pieces: list[str] = []

    def walk(element: Any) -> None:
        apart = " " if element.tag in _LINES or element.tag == "br" else ""
        pieces.append(apart + (element.text or ""))
        for child in element:
            walk(child)
            pieces.append(child.tail or "")
        pieces.append(apart)

    walk(tree)
    return flat("".join(pieces))


def flat(text: str) -> str:
    """White space made even, so that layouts can be compared."""
    return " ".join(text.split())


#: what an untrusted notebook keeps, of the tags and attributes that pictures could use
_KEPT_TAGS = frozenset(
    [
        *("a", "abbr", "b", "big", "blockquote", "br", "button", "caption", "code", "col"),
        *("colgroup", "dd", "del", "details", "div", "dl", "dt", "em", "figure", "h1", "h2"),
        *("h3", "h4", "h5", "h6", "hr", "i", "img", "input", "ins", "kbd", "label", "li"),
        *("meter", "ol", "p", "pre", "progress", "q", "s", "samp", "section", "small", "span"),
        *("strong", "sub", "summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead"),
        *("time", "tr", "u", "ul", "var", "wbr"),
    ]
)
_KEPT_ATTRIBUTES = {
    "*": frozenset({"dir", "hidden", "lang", "title"}),
    "a": frozenset({"href", "rel", "target"}),
    "img": frozenset({"alt", "height", "src", "width"}),
    "details": frozenset({"open"}),
    "ol": frozenset({"start"}),
    "progress": frozenset({"max", "value"}),
    "td": frozenset({"colspan", "rowspan", "scope"}),
    "th": frozenset({"colspan", "rowspan", "scope"}),
}
_DROPPED_WHOLE = frozenset({"style", "script", "textarea", "option", "noscript"})


def sanitised(html: str) -> str:
    """A picture as an untrusted notebook shows it, and harder: without classes and styles too.

    Tags that are not listed go and leave their text; styles and scripts go with what they hold.
    """
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
    out: list[str] = [_escaped(tree.text)]
    for child in tree:
        _keep(child, out)
    return "".join(out)


def _keep(element: Any, out: list[str]) -> None:
    tag = element.tag
    if tag not in _DROPPED_WHOLE:
        kept = tag in _KEPT_TAGS
        if kept:
            names = _KEPT_ATTRIBUTES["*"] | _KEPT_ATTRIBUTES.get(tag, frozenset())
            attributes = "".join(
                f' {k}="{_escaped(v)}"' for k, v in element.attrib.items() if k in names
            )
            out.append(f"<{tag}{attributes}>")
        out.append(_escaped(element.text))
        for child in element:
            _keep(child, out)
        if kept and tag not in ("br", "hr", "img", "input", "wbr"):
            out.append(f"</{tag}>")
    out.append(_escaped(element.tail))


def _escaped(text: str | None) -> str:
    table = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}
    return "".join(table.get(char, char) for char in text or "")
