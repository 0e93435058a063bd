"""The text of a web page: what a reader would see of its HTML, roughly, and nothing that runs."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["page_text"]

_SILENT = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object"})
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "fieldset",
        "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
        "hr", "li", "main", "nav", "ol", "p", "pre", "section", "table", "title", "tr", "ul",
    }
)  # fmt: skip


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._silent: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _SILENT:
            self._silent.append(tag)
        elif tag in _BLOCKS:
            self.pieces.append("\n- " if tag == "li" else "\n")
        elif tag in ("td", "th"):
            self.pieces.append(" ")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif tag in _BLOCKS:
            self.pieces.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.pieces.append(" ".join(data.split()).join(_edges(data)))


def _edges(data: str) -> tuple[str, str]:
    return " " * data[:1].isspace(), " " * data[-1:].isspace()


def page_text(html: str) -> str:
    """Read HTML as text: blocks on lines of their own, scripts and styles left out.

    Parameters
    ----------
    html : str

    Returns
    -------
    str

    Examples
    --------
    >>> print(page_text("<h1>A &amp; B</h1><script>x()</script><ul><li>one<li>two</ul>"))
    A & B
    - one
    - two
    """
    reader = _Reader()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.pieces).split("\n"))
    return "\n".join(line for line in lines if line not in ("", "-"))
