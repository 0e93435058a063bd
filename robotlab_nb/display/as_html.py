"""Writes a picture as HTML. Knows the parts and the stylesheet's classes, no object.

What is written stays readable when styles, classes and folds are taken away: order, labels and
separators are in the text.
"""

from __future__ import annotations

from base64 import b64encode

from .escape import attr, cut, esc
from .markdown import answer_html
from .parts import (
    FOLD_LIMIT,
    Bit,
    Block,
    Fields,
    Fold,
    Head,
    Image,
    Line,
    Para,
    Photo,
    Picture,
    Pre,
    Prose,
    Quote,
    Table,
)

__all__ = ["image", "write"]

#: Characters of a whole picture: below 2 MB even when each takes four bytes.
_MOST = 440_000
#: Pixels: a drawing up to this width is made smaller where there is less room.
_FITTED = 1000
#: Under a drawing that is wider than the page.
_SCROLLS = '<p class="rlnb-q">wider than the page: scroll it sideways →</p>'
#: Shown when styles are not: a dot between what the stylesheet sets apart.
_APART = '<span class="rlnb-z"> · </span>'


def write(picture: Picture, most: int = _MOST) -> str:
    """One ``<div>`` holding the picture, without the stylesheet.

    Parameters
    ----------
    picture : Picture
    most : int, optional
        Characters; what comes after them is left out, and that is said.

    Returns
    -------
    str
        HTML of hardly more characters than that.

    Examples
    --------
    >>> write(Picture((Para(("5 < 6",)),)))
    '<div class="rlnb-c"><p>5 &lt; 6</p></div>'
    """
    frame = " rlnb-box" if picture.framed else ""
    return f'<div class="rlnb-c{frame}">{_Writer(most).blocks(picture.blocks)}</div>'


class _Writer:
    """Writes blocks until the picture is full."""

    def __init__(self, most: int) -> None:
        self.room = most

    def blocks(self, blocks: tuple[Block, ...]) -> str:
        out: list[str] = []
        for number, block in enumerate(blocks):
            room = self.room
            html = self._block(block) if room > 0 else ""
            if isinstance(block, (Quote, Fold)):
                size = 0  # they have counted what they hold
            else:
                size = len(html)
            if room <= 0 or size > room:
                left = len(blocks) - number
                out.append(f'<p class="rlnb-q">… {left:,} more left out here</p>')
                self.room = 0
                break
            self.room -= size
            out.append(html)
        return "".join(out)

    def _block(self, block: Block) -> str:
        match block:
            case Head():
                return _head(block)
            case Para():
                return f"<p{_class('rlnb-q' if block.quiet else '')}>{_line(block.line)}</p>"
            case Prose():
                return _prose(block)
            case Pre():
                return _pre(block)
            case Quote():
                return self._quote(block)
            case Fields():
                rows = "".join(f"<dt>{esc(k)}</dt><dd>{_line(v)}</dd>" for k, v in block.rows)
                return f"<dl>{rows}</dl>"
            case Table():
                return _table(block)
            case Fold():
                return self._fold(block)
            case Image():
                return image(block)
            case Photo():
                return _photo(block)

    def _quote(self, quote: Quote) -> str:
        self.room -= 80
        classes = {"plain": "", "person": "rlnb-u", "rail": f"rlnb-r rlnb-{quote.hue}"}
        return f"<blockquote{_class(classes[quote.kind])}>{self.blocks(quote.blocks)}</blockquote>"

    def _fold(self, fold: Fold) -> str:
        summary = f"<span>{_line(fold.title)}</span>"
        if fold.note:
            summary += f" <span>· {esc(fold.note)}</span>"
        if fold.right:
            summary += f'{_APART}<span class="rlnb-e">{_line(fold.right)}</span>'
        self.room -= len(summary) + 40
        inside = self.blocks(fold.blocks)
        opened = " open" if fold.opened else ""
        return f"<details{opened}><summary>{summary}</summary>{inside}</details>"


def image(image: Image) -> str:
    """A drawing as an ``<img>``, which an untrusted notebook shows too, in a frame that scrolls.

    Parameters
    ----------
    image : Image

    Examples
    --------
    >>> image(Image("<svg/>", "a < b", 9))[:50]
    '<div class="rlnb-w"><img width="9" alt="a &lt; b" '
    """
    data = b64encode(image.svg.encode("utf-8", "replace")).decode("ascii")
    # A wide one would become too small to read if it were fitted to the page. Many hosts hide
    # the bar by which it scrolls.
    wide = image.width > _FITTED
    look, hint = (' class="rlnb-y"', _SCROLLS) if wide else ("", "")
    size = f'width="{round(image.width)}" alt="{attr(image.alt)}"'
    drawn = f'<img{look} {size} src="data:image/svg+xml;base64,{data}">'
    return f'<div class="rlnb-w">{drawn}</div>{hint}'


def _photo(photo: Photo) -> str:
    data = f"data:{attr(photo.mime)};base64,{attr(photo.base64)}"
    size = f'width="{photo.width}" alt="{attr(photo.alt)}"'
    return f'<div class="rlnb-w"><img {size} src="{data}"></div>'


def _head(head: Head) -> str:
    right = f'{_APART}<span class="rlnb-e">{_line(head.right)}</span>' if head.right else ""
    if not head.kind:
        said = f" {_line(head.about)}" if head.about else ""
        return f'<p class="rlnb-h rlnb-q"><span>{_line(head.name)}{said}</span>{right}</p>'
    badges = [b for b in head.about if isinstance(b, Bit) and b.role == "badge"]
    about = tuple(b for b in head.about if b not in badges and b != " ")
    words = " · ".join(each for each in (esc(head.kind_apart), _line(about)) if each)
    after = "".join(f"{_APART}{_line((b,))}" for b in badges)
    return (
        f'<p class="rlnb-h"><b>{_line(head.name)}</b> <span class="rlnb-q">{words}</span>'
        f"{after}{right}</p>"
    )


def _prose(prose: Prose) -> str:
    shown, left = cut(prose.text, prose.limit)
    html = answer_html(shown)
    ending = prose.ending
    if left:
        where = f": {prose.whole} has all of it" if prose.whole else ""
        ending = f"… {left:,} more characters{where}"
    if ending:
        note = f'<span class="rlnb-q">{esc(ending)}</span>'
        if html.endswith("</p>"):
            html = f"{html[:-4]} {note}</p>"
        else:
            html += f"<p>{note}</p>"
    return f'<div class="rlnb-a">{html}</div>'


def _pre(pre: Pre) -> str:
    shown, left = cut(pre.text, FOLD_LIMIT)
    more = f'<p class="rlnb-q">… {left:,} more characters</p>' if left else ""
    # A newline right after the tag would be swallowed.
    start = "\n" if shown.startswith("\n") else ""
    return f"<pre>{start}{esc(shown)}</pre>{more}"


def _table(table: Table) -> str:
    kinds = [_class("rlnb-0" if n in table.figures else "") for n in range(len(table.columns))]
    head = "".join(f"<th{kind}>{esc(c)}</th>" for kind, c in zip(kinds, table.columns, strict=True))
    rows = []
    for row in table.rows:
        cells = [f'<th scope="row">{_line(row[0])}</th>']
        cells += [f"<td{kinds[n]}>{_line(cell)}</td>" for n, cell in enumerate(row[1:], 1)]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return (
        f'<div class="rlnb-w"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _line(line: Line) -> str:
    return "".join(
        esc(item).replace("\n", "<br>") if isinstance(item, str) else _bit(item) for item in line
    )


def _bit(bit: Bit) -> str:
    text = esc(bit.text).replace("\n", "<br>")
    match bit.role:
        case "quiet":
            return f'<span class="rlnb-q">{text}</span>'
        case "bold":
            return f"<strong>{text}</strong>"
        case "code":
            return f"<code>{f'<b>{esc(bit.lead)}</b>' if bit.lead else ''}{text}</code>"
        case "badge":
            return f'<span class="rlnb-b">{text}</span>'
        case "meter":
            return f'<progress max="1" value="{bit.share:g}"></progress>'
        case _:
            words = esc(bit.icon) + (f"&nbsp;{text}" if text else "")
            coloured = f" rlnb-i rlnb-{bit.hue}" if bit.hue else ""
            mark = f'<span class="rlnb-s{coloured}">{words}</span>'
            return f"<strong>{mark}</strong>" if bit.role == "state" else mark


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""
