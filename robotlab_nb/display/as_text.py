"""Writes a picture as plain text of at most 40 lines and 96 columns. Knows no object.

The order and the words are those of the HTML. Folds tell their contents where there is room;
answers give way before states, figures and errors do.
"""

from __future__ import annotations

from .columns import COLUMNS, fit, pad, width, wrap
from .escape import cut, one_line, plain
from .parts import (
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

__all__ = ["LINES", "write"]

#: Lines of a picture.
LINES = 40
#: Never fewer lines of an answer than these.
_LEAST = 4
_CELL = 36
_BAR = 10


def write(picture: Picture) -> str:
    """The picture as text.

    Parameters
    ----------
    picture : Picture

    Returns
    -------
    str
        At most 40 lines of at most 96 columns, without a newline at the end.

    Examples
    --------
    >>> print(write(Picture((Head(("assistant",), "robot", ("simulated/rules",)),))))
    Robot assistant · simulated/rules
    """
    lines = _Writer(LINES + 1, told=True).blocks(picture.blocks, COLUMNS)
    if len(lines) > LINES:
        fixed = len(_Writer(0, told=False).blocks(picture.blocks, COLUMNS))
        room = max(LINES - fixed, _LEAST)
        lines = _Writer(room, told=False).blocks(picture.blocks, COLUMNS)
    if len(lines) > LINES:
        left = len(lines) - LINES + 1
        lines = [*lines[: LINES - 1], f"… {left:,} more lines"]
    return "\n".join(line.replace("\u00a0", " ").rstrip() for line in lines)


class _Writer:
    """Writes blocks with so many lines for each answer, with or without what folds hold."""

    def __init__(self, prose: int, *, told: bool) -> None:
        self.prose = prose
        self.told = told

    def blocks(self, blocks: tuple[Block, ...], columns: int) -> list[str]:
        lines: list[str] = []
        for block in blocks:
            lines += self._block(block, columns)
        return lines

    def _block(self, block: Block, columns: int) -> list[str]:
        match block:
            case Head():
                return [fit(_head(block), columns)]
            case Para():
                return _wrapped(_line(block.line), columns, 12)
            case Prose():
                return self._prose(block, columns)
            case Pre():
                return _indented(_wrapped(cut(block.text, 2000)[0], columns - 2, 12))
            case Quote():
                return self._quote(block, columns)
            case Fields():
                return _fields(block, columns)
            case Table() if block.told:
                return [line for told in block.told for line in _told(_line(told), columns)]
            case Table():
                return _table(block, columns)
            case Fold():
                return self._fold(block, columns)
            case Image():
                return _outline(block, columns)
            case Photo():
                return _wrapped(plain(block.alt), columns, 2)

    def _prose(self, prose: Prose, columns: int) -> list[str]:
        if not self.prose:
            return []
        shown, left = cut(prose.text, LINES * COLUMNS)
        lines, more = wrap(shown.strip("\n"), columns, self.prose)
        ending = plain(prose.ending)
        if more or left:
            where = f": {plain(prose.whole)} has all of it" if prose.whole else ""
            ending = f"… of {len(prose.text):,} characters{where}"
            lines = lines[: self.prose - 1]
        if ending and lines and width(lines[-1]) + width(ending) < columns and not (more or left):
            lines[-1] = f"{lines[-1]} {ending}"
        elif ending:
            lines.append(fit(ending, columns))
        return lines

    def _quote(self, quote: Quote, columns: int) -> list[str]:
        inner = self if self.told else _Writer(min(self.prose, 6), told=False)
        if not quote.blocks or not isinstance(quote.blocks[0], Head):
            return inner.blocks(quote.blocks, columns)
        head = inner.blocks(quote.blocks[:1], columns)
        return head + _indented(inner.blocks(quote.blocks[1:], columns - 2))

    def _fold(self, fold: Fold, columns: int) -> list[str]:
        title = _line(fold.title)
        if not title.startswith(("ƒ", "∴")):
            title = f"▸ {title}"
        if fold.note:
            title += f" · {plain(fold.note)}"
        right = f" · {_line(fold.right)}" if fold.right else ""
        lines = [fit(title, columns - width(right)) + right]
        if fold.told and self.told:
            lines += _indented(self.blocks(fold.blocks, columns - 2))
        return lines


def _head(head: Head) -> str:
    name = one_line(_line(head.name), COLUMNS)
    kind = f"{plain(head.kind_apart).capitalize()} " if head.kind_apart else ""
    apart = " " if head.about and isinstance(head.about[0], Bit) else " · "
    about = f"{apart}{_line(head.about)}" if head.about else ""
    right = f" · {_line(head.right)}" if head.right else ""
    return " ".join(f"{kind}{name}{about}{right}".split("\n"))


def _fields(fields: Fields, columns: int) -> list[str]:
    space = min(max((width(plain(k)) for k, _ in fields.rows), default=0), 20) + 2
    lines: list[str] = []
    for key, value in fields.rows:
        wrapped = _wrapped(_line(value), columns - space - 2, 4)
        for number, line in enumerate(wrapped or [""]):
            label = fit(plain(key), space - 2) if number == 0 else ""
            lines.append(f"  {pad(label, space)}{line}")
    return lines


def _table(table: Table, columns: int) -> list[str]:
    last = len(table.columns) - 1
    rows = [
        [fit(_flat(cell), COLUMNS if n == last else _CELL) for n, cell in enumerate(row)]
        for row in table.rows
    ]
    rows.insert(0, [plain(column) for column in table.columns])
    spaces = [max(width(row[n]) for row in rows) for n in range(len(table.columns))]
    return [
        fit(
            "  "
            + "  ".join(
                pad(cell, spaces[n], right=n in table.figures) for n, cell in enumerate(row)
            ).rstrip(),
            columns,
        )
        for row in rows
    ]


def _told(text: str, columns: int) -> list[str]:
    """What stands for a row of a table: at most two lines, the second one indented further."""
    space = 2 + len(text) - len(text.lstrip())
    lines = _wrapped(text.lstrip(), columns - space - 4, 2)
    return [" " * (space + 4 * (number > 0)) + line for number, line in enumerate(lines)]


def _outline(image: Image, columns: int) -> list[str]:
    """The rows that stand for a drawing: columns without names, the last one as wide as it gets."""
    if not image.rows:
        return _wrapped(plain(image.alt), columns, 4)
    rows = [[*(fit(_flat(cell), _CELL) for cell in row[:-1]), _flat(row[-1])] for row in image.rows]
    spaces = [max(map(width, cells)) for cells in zip(*(row[:-1] for row in rows), strict=False)]
    return [
        fit("  " + "  ".join([*map(pad, row[:-1], spaces), row[-1]]).rstrip(), columns)
        for row in rows
    ]


def _flat(line: Line) -> str:
    return " ".join(_line(line).split())


def _line(line: Line) -> str:
    return "".join(plain(item) if isinstance(item, str) else _bit(item) for item in line)


def _bit(bit: Bit) -> str:
    text = plain(bit.text)
    match bit.role:
        case "code":
            return plain(bit.lead) + text
        case "badge":
            return f"({text})"
        case "meter":
            full = round(bit.share * _BAR)
            return "▰" * full + "▱" * (_BAR - full)
        case "mark" | "state":
            return f"{plain(bit.icon)} {text}" if text else plain(bit.icon)
        case _:
            return text


def _wrapped(text: str, columns: int, most: int) -> list[str]:
    lines, more = wrap(text, columns, most)
    if more and lines:
        lines[-1] = fit(lines[-1], columns - 2) + " …"
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
