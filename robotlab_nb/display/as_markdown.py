"""Writes a picture as Markdown in which untrusted text is inert. Knows no object."""

from __future__ import annotations

from .escape import clip, cut, plain
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
from .rewrite import code_span, fence, inert, rewritten

__all__ = ["write"]

_MOST = 400_000


def write(picture: Picture) -> str:
    r"""The picture as Markdown, without a newline at the end.

    Parameters
    ----------
    picture : Picture

    Examples
    --------
    >>> print(write(Picture((Head(("assistant",), "robot"), Para(("*not* bold",))))))
    **assistant** · robot
    <BLANKLINE>
    \*not\* bold
    """
    room = _MOST
    pieces: list[str] = []
    for number, block in enumerate(picture.blocks):
        piece = _block(block)
        if len(piece) > room:
            pieces.append(f"… {len(picture.blocks) - number:,} more left out here")
            break
        room -= len(piece)
        pieces.append(piece)
    return "\n\n".join(piece for piece in pieces if piece)


def _block(block: Block) -> str:
    match block:
        case Head():
            return _head(block)
        case Para():
            return _line(block.line)
        case Prose():
            return _prose(block)
        case Pre():
            return fence(clip(block.text, FOLD_LIMIT))
        case Quote():
            return "\n".join(f"> {line}".rstrip() for line in _blocks(block.blocks).split("\n"))
        case Fields():
            return "\n".join(f"- {inert(key)}: {_flat(value)}" for key, value in block.rows)
        case Table():
            return _table(block)
        case Fold():
            note = f" · {inert(block.note)}" if block.note else ""
            right = f" · {_line(block.right)}" if block.right else ""
            return f"{_line(block.title)}{note}{right}\n\n{_blocks(block.blocks)}"
        case Photo():
            return inert(block.alt)
        case Image() if not block.rows:
            return inert(block.alt)
        case Image():
            rows = (" · ".join(filter(None, map(_flat, row))) for row in block.rows)
            return "\n".join(f"- {row}" for row in rows)


def _blocks(blocks: tuple[Block, ...]) -> str:
    return "\n\n".join(_block(block) for block in blocks)


def _head(head: Head) -> str:
    name = _flat(head.name)
    if not head.kind:
        return name + (f" · {_flat(head.right)}" if head.right else "")
    about = f" · {_flat(head.about)}" if head.about else ""
    kind = f" · {inert(head.kind_apart)}" if head.kind_apart else ""
    return f"**{name}**{kind}{about}"


def _prose(prose: Prose) -> str:
    shown, left = cut(prose.text, prose.limit)
    ending = prose.ending
    if left:
        where = f": {prose.whole} has all of it" if prose.whole else ""
        ending = f"… {left:,} more characters{where}"
    text = rewritten(shown)
    return f"{text}\n\n{inert(ending)}" if ending else text


def _table(table: Table) -> str:
    head = " | ".join(inert(column) for column in table.columns)
    rule = " | ".join("---:" if n in table.figures else "---" for n in range(len(table.columns)))
    rows = [" | ".join(_flat(cell, row=True) for cell in row) for row in table.rows]
    return "\n".join(f"| {row} |" for row in (head, rule, *rows))


def _flat(line: Line, *, row: bool = False) -> str:
    return " ".join(_line(line, row=row).split())


def _line(line: Line, *, row: bool = False) -> str:
    return "".join(
        inert(item).replace("\n", "  \n") if isinstance(item, str) else _bit(item, row)
        for item in line
    )


def _bit(bit: Bit, row: bool) -> str:
    match bit.role:
        case "code":
            span = code_span(plain(bit.lead) + bit.text)
            return span.replace("|", "\\|") if row else span
        case "bold":
            return f"**{inert(bit.text)}**"
        case "badge":
            return f"({inert(bit.text)})"
        case "mark":
            return f"{bit.icon} {inert(bit.text)}".strip()
        case "meter":
            return ""  # the figures stand beside it
        case "state":
            return f"**{bit.icon} {inert(bit.text)}**"
        case _:
            return inert(bit.text)
