"""A live view's records as a picture that stands still: for front ends without widgets.

It is sent again and again while a run goes on, so it tells only what is at hand: who does what,
and the end of what is being written. Knows the records and the parts of pictures, no run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..display import as_html, as_markdown, as_text
from ..display.escape import one_line
from ..display.parts import (
    Bit,
    Block,
    Head,
    Line,
    Para,
    Picture,
    Pre,
    Quote,
    badge,
    bold,
    code,
    dots,
    quiet,
)
from ..display.states import state_of
from ..display.style import STYLE
from .live_lanes import WORK

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ..core.state import RunState

    Record = Mapping[str, Any]

__all__ = ["TAIL", "repeat", "still"]

#: Characters and lines of what one robot is writing: the last ones.
TAIL, TAIL_LINES = 1000, 10
_PIECES = 6


def still(records: Mapping[str, Record], clock: str) -> tuple[str, str]:
    """A run that goes on, as HTML and as text.

    Parameters
    ----------
    records : mapping of str to mapping
        Of a :class:`~robotlab_nb.widgets.live_doc.LiveDoc`.
    clock : str
        How long it has been running, in words.

    Returns
    -------
    (str, str)
        HTML that stands on its own, and text of at most 40 lines.

    Examples
    --------
    >>> run = {"name": "bot", "kind": "robot", "icon": "◐", "word": "running", "hue": "kr"}
    >>> print(still({"run": run | {"figures": "1 call"}}, "2 s")[1])
    Robot bot · ◐ running
    1 call · 2 s
    """
    picture = Picture(tuple(_blocks(records, clock)), framed=True)
    return STYLE + as_html.write(picture), as_text.write(picture)


def repeat(state: RunState) -> dict[str, str]:
    """A result whose run stands live in the same cell: one line in every form.

    It brings no stylesheet: the picture above has it.

    Parameters
    ----------
    state : RunState

    Examples
    --------
    >>> from robotlab_nb.core.events import Scope
    >>> from robotlab_nb.core.state import RunState
    >>> state = RunState(Scope("r", "r", None, 0, "robot", ("bot",), "bot"))
    >>> repeat(state)["text/plain"]
    '○ pending · bot · shown above'
    """
    found = state_of(state.status)
    name = one_line(str(state.info.get("name") or state.scope.path[-1]), 60)
    sign = Bit(found.word, "mark", icon=found.icon, hue=found.hue)
    picture = Picture((Para(dots(sign, name, "shown above"), quiet=True),))
    return {
        "text/plain": as_text.write(picture),
        "text/html": as_html.write(picture),
        "text/markdown": as_markdown.write(picture),
    }


def _blocks(records: Mapping[str, Record], clock: str) -> Iterator[Block]:
    run = records["run"]
    state = Bit(run["word"], "state", icon=run["icon"], hue=run["hue"])
    about: Line = (badge("simulated"),) if run.get("sim") else ()
    yield Head((run["name"],), run["kind"], about, (state,))
    counts = [Bit(word, "mark", icon=icon, hue=hue) for icon, word, hue in run.get("counts", ())]
    if counts:
        yield Para(dots(*counts), quiet=True)
    for key, ask in records.items():
        if key.startswith("Q") and not ask["over"]:
            yield _ask(ask)
    how = _STOPS.get(str(records.get("stop", {}).get("how")))
    yield Para(dots(run["figures"], clock, how), quiet=True)
    for key, lane in records.items():
        if key.startswith("L") and lane["spans"]:
            yield from _lane(records, lane)


#: How a run is stopped where there is no button.
_STOPS: dict[str, Line] = {
    "kernel": ("interrupt the kernel to stop",),
    "button": (code("rl.stop_all()"), " stops it"),
    "stopping": ("stopping …",),
}


def _ask(ask: Record) -> Quote:
    """An open question, with the code that answers it."""
    sign = Bit("waiting for you", "state", icon="?", hue="kw")
    lines: list[Block] = [Para(dots(sign, f"{ask['who']} {ask['what']}", quiet(ask["limit"])))]
    if ask["tool"]:
        lines += [Para((code("", lead=ask["tool"]),)), Pre(ask["given"])]
    lines += [Para((text,)) for text in (ask["text"], ask["why"], ask["choices"]) if text]
    ways = [(code(call), f" {what}" if what else "") for call, what in ask["how"]]
    lines.append(Para(("Next cell: ", *dots(*ways)), quiet=True))
    return Quote(tuple(lines), "rail", "kw")


def _lane(records: Mapping[str, Record], lane: Record) -> Iterator[Block]:
    mark = Bit("", "mark", icon=lane["shape"], hue=lane["hue"])
    name: Line = (mark, "\u00a0", bold(lane["name"]))
    say = Bit(lane["say"], "mark", icon=lane["icon"], hue=lane["tone"])
    blocks: list[Block] = [Head(name, right=(say,))]
    said = [k for k, record in records.items() if k[0] == "E" and record["who"] == lane["name"]]
    entry = said[-1] if said else None
    working = any(end is None for _, end, kind in lane["spans"] if kind == WORK)
    pieces = [r for r in records.values() if entry is not None and r.get("in") == entry]
    blocks += _pieces(pieces, working=working)
    yield Quote(tuple(blocks), "rail", lane["hue"] or "ki")


def _pieces(pieces: Iterable[Record], *, working: bool) -> list[Block]:
    told: list[Block] = []
    for piece in list(pieces)[-_PIECES:]:
        text = str(piece.get("text", ""))
        match piece["kind"]:
            case "tool":
                state = Bit(piece["word"], "mark", icon=piece["icon"], hue=piece["hue"])
                call = ("ƒ ", code(piece["args"], lead=piece["name"]))
                out = f" → {piece['out']}" if piece["out"] else ""
                told.append(Para(dots((*call, out), state)))
            case "think":
                told.append(Para((quiet("∴ reasoning"),)))
            case "note":
                told.append(Para((Bit(text, "mark", icon=piece["icon"], hue=piece["hue"]),)))
            case _ if not working:
                told.append(Para((one_line(text, 160),)))
            case _ if not piece.get("void"):
                told.append(Para((_tail(text),)))
    return told


def _tail(text: str) -> str:
    end = "\n".join(text[-TAIL:].rstrip().split("\n")[-TAIL_LINES:])
    return end if len(end) >= len(text.rstrip()) else f"… {end}"
