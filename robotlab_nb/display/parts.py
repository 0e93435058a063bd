"""The neutral parts that every picture is made of, before anyone decides on HTML or text.

An object's drawer gives a :class:`Picture` of blocks; a block holds lines; a line holds plain
strings and :class:`Bit` s. All strings are untrusted: only the writers escape them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from .states import state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .lanes import Lane

__all__ = [
    "FOLD_LIMIT",
    "Bit",
    "Block",
    "Fields",
    "Fold",
    "Head",
    "Image",
    "Inline",
    "Line",
    "Para",
    "Photo",
    "Picture",
    "Pre",
    "Prose",
    "Quote",
    "Table",
    "badge",
    "bold",
    "code",
    "dots",
    "lane_name",
    "meter",
    "part",
    "quiet",
    "state_bit",
    "ticked",
]

#: Characters of one collapsed item. Where folds are shown open, a page must stay readable.
FOLD_LIMIT = 4000


@dataclass(frozen=True, slots=True)
class Bit:
    """A piece of a line that is more than text.

    Parameters
    ----------
    text : str
    role : {"quiet", "bold", "code", "badge", "mark", "state", "meter"}
        A state is a mark in bold; a meter is a bar, whose figures stand beside it.
    icon : str
        In front of the text, in the same colour.
    hue : str
        A hue of the stylesheet (``k0`` … ``k7, kr, kw, kf``), ``""`` for the host's ink.
    lead : str
        Start of a code bit, in bold: what is called.
    share : float
        How full a meter is, 0 to 1.
    """

    text: str
    role: Literal["quiet", "bold", "code", "badge", "mark", "state", "meter"] = "quiet"
    icon: str = ""
    hue: str = ""
    lead: str = ""
    share: float = field(default=0.0, repr=False)


Inline: TypeAlias = str | Bit
Line: TypeAlias = tuple[Inline, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The first line of an object or a message: what it is called, what it is, what it is at.

    Parameters
    ----------
    name : Line
    kind : str
        What it is (``robot``); empty for a message, whose head is small.
    about : Line
        After name and kind.
    right : Line
        At the far end.
    """

    name: Line
    kind: str = ""
    about: Line = ()
    right: Line = ()

    @property
    def kind_apart(self) -> str:
        """The kind, where the name does not say it already."""
        said = "".join(each if isinstance(each, str) else each.text for each in self.name)
        return "" if said.lower() == self.kind.lower() else self.kind


@dataclass(frozen=True, slots=True)
class Para:
    """One line or more of text; newlines are kept."""

    line: Line
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Prose:
    """An answer: Markdown of a model. ``ending`` says what follows it, ``whole`` where all is."""

    text: str
    ending: str = ""
    whole: str = ""
    limit: int = 40_000


@dataclass(frozen=True, slots=True)
class Pre:
    """Text as it is: arguments, results, prompts. Cut at :data:`FOLD_LIMIT`."""

    text: str


@dataclass(frozen=True, slots=True)
class Quote:
    """Blocks that belong together beside a rail.

    Parameters
    ----------
    blocks : tuple of Block
    kind : {"plain", "person", "rail"}
    hue : str
        Of the rail.
    """

    blocks: tuple[Block, ...]
    kind: Literal["plain", "person", "rail"] = "plain"
    hue: str = ""


@dataclass(frozen=True, slots=True)
class Fields:
    """Names and what they hold."""

    rows: tuple[tuple[str, Line], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns; ``figures`` are the columns set to the right.

    ``told`` is what plain text has in their place, where a line is too short for so much.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Line, ...], ...]
    figures: frozenset[int] = frozenset()
    told: tuple[Line, ...] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """A collapsed section.

    Parameters
    ----------
    title : Line
        Ellipsised where it does not fit.
    blocks : tuple of Block
    note : str
        Quiet words after the title: how much is inside.
    right : Line
        At the far end.
    told : bool
        Whether plain text tells its contents too, where there is room.
    opened : bool
        Whether it is open from the start.
    """

    title: Line
    blocks: tuple[Block, ...]
    note: str = ""
    right: Line = ()
    told: bool = False
    opened: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """A drawing, and rows that tell the same where no drawing shows.

    Parameters
    ----------
    svg : str
        A finished SVG document: whoever drew it has escaped it.
    alt : str
        What it shows, in words.
    width : float
        Pixels.
    rows : tuple of tuple of Line
        Of even lengths; the last cell takes the room that is left.
    """

    svg: str
    alt: str
    width: float
    rows: tuple[tuple[Line, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Photo:
    """A picture that came as bytes, of a kind that holds pixels alone.

    Parameters
    ----------
    mime : str
    base64 : str
        Whoever makes it has looked at the bytes.
    alt : str
        What it is, in words.
    width : int
        Pixels.
    """

    mime: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    base64: str
    alt: str
    width: int


Block: TypeAlias = Head | Para | Prose | Pre | Quote | Fields | Table | Fold | Image | Photo


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown of an object. Objects have a frame, results have none."""

    blocks: tuple[Block, ...]
    framed: bool = False


def quiet(text: str) -> Bit:
    """Text that steps back."""
    return Bit(text)


def bold(text: str) -> Bit:
    """Text that stands out."""
    return Bit(text, "bold")


def code(text: str, lead: str = "") -> Bit:
    """Code; ``lead`` is its bold start."""
    return Bit(text, "code", lead=lead)


def badge(text: str) -> Bit:
    """A word in a small frame."""
    return Bit(text, "badge")


def meter(share: float) -> Bit:
    """A bar, full to a share of 0 to 1. Figures must say the same beside it.

    Examples
    --------
    >>> meter(1.5).share
    1.0
    """
    return Bit("", "meter", share=round(min(max(share, 0.0), 1.0), 3))


def state_bit(status: object, *, loud: bool = False) -> Bit:
    """A state as icon and word, coloured where a person should look; bold where that is news.

    Examples
    --------
    >>> bit = state_bit("failed")
    >>> bit.icon, bit.text, bit.hue
    ('✕', 'failed', 'kf')
    """
    state = state_of(status)
    return Bit(state.word, "state" if loud else "mark", icon=state.icon, hue=state.hue)


def lane_name(lane: Lane, name: str) -> Line:
    """A robot's mark and its name."""
    return (Bit("", "mark", icon=lane.shape, hue=lane.hue), "\u00a0", bold(name))


def dots(*items: Inline | Line | None) -> Line:
    """Join what there is by middle dots; a badge follows its neighbour without one.

    Parameters
    ----------
    items : str, Bit, Line or None
        Empty ones and None are left out.

    Examples
    --------
    >>> dots("a", None, "", "b", badge("simulated"))[:3]
    ('a', ' · ', 'b')
    """
    line: list[Inline] = []
    for item in items:
        if not item:
            continue
        if line:
            line.append(" " if isinstance(item, Bit) and item.role == "badge" else " · ")
        line.extend(item if isinstance(item, tuple) else (item,))
    return tuple(line)


def ticked(text: str) -> Line:
    """Text in which words between backticks become code.

    Examples
    --------
    >>> ticked("pass `model=`")
    ('pass ', Bit(text='model=', role='code', icon='', hue='', lead=''))
    """
    pieces = text.split("`")
    if len(pieces) % 2 == 0 or len(pieces) > 40:
        return (text,)
    return tuple(
        code(piece) if number % 2 else piece for number, piece in enumerate(pieces) if piece
    )


def part(name: str, draw: Callable[[], Iterable[Block]]) -> tuple[Block, ...]:
    """Draw one part of a picture; where that fails, a line says so and the rest stands.

    Parameters
    ----------
    name : str
        What the part shows.
    draw : callable
        Gives the blocks.

    Examples
    --------
    >>> part("tools", lambda: [1 / 0])[0].line[0].text
    'tools could not be drawn (ZeroDivisionError)'
    """
    try:
        return tuple(draw())
    except Exception as error:
        return (Para((quiet(f"{name} could not be drawn ({type(error).__name__})"),)),)
