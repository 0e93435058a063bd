"""What all our SVG pictures are made of: a theme of their own, marks, icons, text that fits.

A picture is shown as an ``<img>``, where no stylesheet of the page reaches it: it carries its
own, for light and for dark, and paints its own paper. Nothing in it has an id, runs or loads.
Coordinates and words come in; every word is escaped here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .escape import attr
from .svg_text import shortened, wide

if TYPE_CHECKING:
    from .lanes import Lane

__all__ = [
    "ICONS",
    "MARKS",
    "PAD",
    "PERSON",
    "chip",
    "document",
    "icon",
    "legend",
    "mark",
    "number",
    "shortened",
    "text",
    "wide",
]

#: Around every picture, in pixels.
PAD = 16

#: class -> (property, on white paper, on black paper)
_COLOURS: dict[str, tuple[str, str, str]] = {
    "text": ("fill", "#5e5e5e", "#a9a9a9"),
    ".n": ("fill", "#1c1c1c", "#eee"),  # what stands out
    ".p": ("fill", "#fff", "#111"),  # paper
    ".e": ("stroke", "#fff", "#111"),  # paper around letters that cross a line
    ".g": ("fill", "#f6f6f6", "#1a1a1a"),  # behind a group
    ".o": ("stroke", "#d9d9d9", "#3b3b3b"),  # faint
    ".d": ("stroke", "#8b8b8b", "#7c7c7c"),  # plain
    ".h": ("fill", "#8b8b8b", "#7c7c7c"),
    ".z": ("stroke", "#5e5e5e", "#a9a9a9"),  # strong
    ".x": ("fill", "#5e5e5e", "#a9a9a9"),
    ".k0": ("fill", "#286fa9", "#6eb3f2"),
    ".k1": ("fill", "#6b5225", "#ad9264"),
    ".k2": ("fill", "#85347b", "#cd76c0"),
    ".k3": ("fill", "#52740f", "#92b85c"),
    ".k4": ("fill", "#4b4baf", "#878ef9"),
    ".k5": ("fill", "#2a6c5b", "#6eaf9b"),
    ".k6": ("fill", "#b2395c", "#ff7f9d"),
    ".k7": ("fill", "#716484", "#b3a6c8"),
    # fill, stroke and tint of what runs, waits for a person, failed
    ".fr": ("fill", "#325eb7", "#71a3ff"),
    ".sr": ("stroke", "#325eb7", "#71a3ff"),
    ".br": ("fill", "#f1f6ff", "#192236"),
    ".fw": ("fill", "#9b6100", "#e2a459"),
    ".sw": ("stroke", "#9b6100", "#e2a459"),
    ".bw": ("fill", "#fcf6ea", "#2d220f"),
    ".ff": ("fill", "#b73845", "#ff7f85"),
    ".sf": ("stroke", "#b73845", "#ff7f85"),
    ".bf": ("fill", "#fff2f3", "#341b1d"),
}
_TYPE = (
    'text{font:11px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}'
    ".b{font-size:13px;font-weight:600}"
    ".e{paint-order:stroke;stroke-width:4px}"
    ".l{fill:none;stroke-width:1.6;stroke-linecap:round;stroke-linejoin:round}"
    ".w{fill:none;stroke-width:1.4}.v{fill:none;stroke-width:1}.q{stroke-dasharray:4 3}"
)
_STYLE = "<style>{}{}@media(prefers-color-scheme:dark){{{}}}</style>".format(
    _TYPE,
    *("".join(f"{c}{{{v[0]}:{v[n]}}}" for c, v in _COLOURS.items()) for n in (1, 2)),
)

#: robots' marks, in a square of 10
MARKS = {
    "●": "M5 .9a4.1 4.1 0 1 0 0 8.2 4.1 4.1 0 1 0 0-8.2z",
    "▲": "M5 .7 9.6 9H.4z",
    "◆": "M5 .2 9.8 5 5 9.8.2 5z",
    "▼": "M.4 1H9.6L5 9.3z",
    "✦": "M5-.2 6.5 3.5 10.2 5 6.5 6.5 5 10.2 3.5 6.5-.2 5 3.5 3.5z",
    "✚": "M3.5.6h3v2.9h2.9v3H6.5v2.9h-3V6.5H.6v-3h2.9z",
    "◗": "M2.6.6a4.4 4.4 0 0 1 0 8.8z",
    "▮": "M2.7.5h4.6v9H2.7z",
}
#: a head and shoulders
PERSON = "M5-.2a2.5 2.5 0 1 0 0 5 2.5 2.5 0 1 0 0-5zM.3 10.2a4.7 4.4 0 0 1 9.4 0z"
_RING = "M6 1.6a4.4 4.4 0 1 0 0 8.8 4.4 4.4 0 1 0 0-8.8z"
#: states' icons, in a square of 12: a line, and a filled shape
ICONS = {
    "○": (_RING, ""),
    "◐": (_RING, "M6 1.6a4.4 4.4 0 0 0 0 8.8z"),
    "?": ("M3.5 3.9a2.6 2.6 0 1 1 3.6 2.4C6.3 6.7 6 7.1 6 7.9M6 10.5v.1", ""),
    "✓": ("M1.9 6.6 4.9 9.6 10.2 2.9", ""),
    "↺": ("M2.1 4.3a4.4 4.4 0 1 1-.4 3M1.9 1.3v3.2h3.2", ""),
    "✕": ("M2.4 2.4 9.6 9.6M9.6 2.4 2.4 9.6", ""),
    "⊘": (_RING + "M3 9 9 3", ""),
    "↷": ("M1.4 8.6a4.5 4.5 0 0 1 8.8-1.2M10.6 3.5v4H6.7", ""),
    "⊣": ("M1.8 6H8.6M9 2v8", ""),
    "■": ("", "M2.4 2.4h7.2v7.2H2.4z"),
    "◌": ("M6 1.6h.1M9.1 2.9h.1M10.4 6h.1M9.1 9.1h.1M6 10.4h.1M2.9 9.1H3M1.6 6h.1M2.9 2.9H3", ""),
}
_OTHER = ("M6 6h.1", "")


def document(width: float, height: float, title: str, told: str, body: str) -> str:
    """A whole SVG picture.

    Parameters
    ----------
    width, height : float
        Pixels.
    title, told : str
        What it shows, in a few words and whole. Untrusted.
    body : str
        Finished SVG.

    Examples
    --------
    >>> "<title>a &lt;b&gt;</title>" in document(9, 9, "a <b>", "", "")
    True
    """
    size = f'width="{number(width)}" height="{number(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {number(width)} {number(height)}">'
        f"<title>{attr(title)}</title><desc>{attr(told)}</desc>{_STYLE}"
        f'<rect class="p" {size} rx="6"/>{body}</svg>'
    )


def number(value: float) -> str:
    """A coordinate with one digit after the point at most.

    Examples
    --------
    >>> number(3.0), number(3.14159)
    ('3', '3.1')
    """
    rounded = round(value, 1)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def text(
    x: float, y: float, words: str, classes: str = "", *, anchor: str = "", after: str = ""
) -> str:
    """One line of words, escaped; `after` follows in the quiet colour. Nothing for no words."""
    if not words:
        return ""
    kind = f' class="{classes}"' if classes else ""
    where = f' text-anchor="{anchor}"' if anchor else ""
    rest = f'<tspan class="x">{attr(after)}</tspan>' if after else ""
    return f'<text{kind}{where} x="{number(x)}" y="{number(y)}">{attr(words)}{rest}</text>'


def mark(lane: Lane | None, x: float, y: float, kind: str = "") -> str:
    """A robot's mark in the square of 10 pixels at x, y; a person's for ``human``, else ``ƒ``."""
    if lane is None and kind != "human":
        return text(x + 2, y + 9, "ƒ", "b")
    at = f'transform="translate({number(x)} {number(y)})"'
    drawn = PERSON if kind == "human" else MARKS[lane.shape] if lane is not None else ""
    return f'<path class="{lane.hue if lane is not None else "x"}" {at} d="{drawn}"/>'


def icon(shape: str, hue: str, x: float, y: float) -> str:
    """A state's icon in the square of 12 pixels at x, y.

    Parameters
    ----------
    shape, hue : str
        As in :mod:`.states`.
    x, y : float
    """
    line, filled = ICONS.get(shape, _OTHER)
    at = f'transform="translate({number(x)} {number(y)})"'
    stroke, fill = (f"s{hue[1:]}", f"f{hue[1:]}") if hue else ("z", "x")
    drawn = f'<path class="l {stroke}" {at} d="{line}"/>' if line else ""
    return drawn + (f'<path class="{fill}" {at} d="{filled}"/>' if filled else "")


def legend(y: float, entries: list[tuple[str, str]], x: float = PAD) -> tuple[str, float]:
    """A line of samples and what they mean.

    Parameters
    ----------
    y : float
        Its middle.
    entries : list of (str, str)
        An SVG sample 22 pixels wide around 0, 0, or nothing; and its meaning.
    x : float, optional
        Where it begins.

    Returns
    -------
    (str, float)
        SVG, and where it ends.
    """
    drawn = []
    for sample, meaning in entries:
        if sample:
            drawn.append(f'<g transform="translate({number(x)} {number(y)})">{sample}</g>')
            x += 28
        drawn.append(text(x, y + 4, meaning))
        x += wide(meaning) + 20
    return "".join(drawn), x - 20


def chip(x: float, y: float, word: str) -> tuple[str, float]:
    """A word in a small frame whose middle is at y; gives the SVG, and where it ends."""
    end = x + wide(word) + 12
    size = f'width="{number(end - x)}" height="17" rx="4"'
    frame = f'<rect class="p d" x="{number(x)}" y="{number(y - 8.5)}" {size}/>'
    return frame + text(x + 6, y + 4, word), end
