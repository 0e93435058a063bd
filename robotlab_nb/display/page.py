"""One page that shows an object anywhere: no notebook, no network, no script.

The page holds the same picture as a notebook, opened for reading, in a frame of its own: a title,
what was asked, where it came from. It follows the reader's light or dark, and prints.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from . import as_html
from .escape import esc, one_line
from .page_style import PAGE_STYLE
from .parts import Fold, Head, Para, Picture, Prose, Quote, badge, dots, state_bit
from .pictures import picture
from .saving import write_file
from .states import state_of
from .style import STYLE

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from .parts import Block, Line

__all__ = ["page"]

#: What a page may load: nothing; its styles and pictures are in it.
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'"
)
#: Characters of a page's picture, and of an answer in it.
_MOST, _ANSWER = 2_000_000, 100_000
#: Of a network with more tasks than this, what each said stays folded.
_MOST_TURNS = 60
#: Folds that stay closed on the screen: to look something up in, not to read.
_CLOSED = frozenset(
    {"JSON", "System message", "Configuration", "Prompts", "Prompt", "Schema", "Rendered"}
)
#: kinds of scope -> what a run of theirs is called
_KINDS = {"robot": "run of a robot", "network": "run of a network", "experiment": "experiment"}


def page(thing: Any, path: str | os.PathLike[str] | None = None) -> str | Path:
    """An object as one HTML page that stands alone, as a text or as a file.

    Parameters
    ----------
    thing : object
        A result, run, robot, network, list of messages: whatever has a picture.
    path : str or path, optional
        Where to write it. A file that is there is replaced, whole or not at all.

    Returns
    -------
    str or Path
        The page; or where it was written.

    Raises
    ------
    ConfigurationError
        When the file cannot be written.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> made = page(result)
    >>> made[:15], "<h1>poet</h1>" in made, "<script" in made
    ('<!doctype html>', True, False)
    """
    state = _state(thing)
    name = _name(thing, state)
    status = state_of(state.status).word if state is not None else ""
    title = " – ".join(each for each in (name, status) if each)
    head, blocks = _apart(picture(thing).blocks)
    body = as_html.write(Picture(tuple(map(_opened, blocks))), most=_MOST)
    whole = (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(title)}</title>\n{STYLE}{PAGE_STYLE}\n</head>\n<body>\n"
        f"<header>{_heading(state, name, head)}</header>\n<main>{body}</main>\n"
        f"<footer>{_origin(state)}</footer>\n</body>\n</html>\n"
    )
    if path is None:
        return whole
    return write_file(path, whole.encode("utf-8", "replace"))


def _state(thing: Any) -> Any:
    """The state of the run that an object is about; None for what no run made."""
    found = thing if hasattr(thing, "apply") else getattr(thing, "state", None)
    return found if hasattr(found, "scope") and hasattr(found, "info") else None


def _name(thing: Any, state: Any) -> str:
    if state is not None:
        name = state.info.get("name") or state.scope.path[-1]
    else:
        name = getattr(thing, "name", None)
    known = isinstance(name, str) and name.strip()
    return one_line(name, 120) if known else type(thing).__name__


def _apart(blocks: tuple[Block, ...]) -> tuple[Head | None, tuple[Block, ...]]:
    """The head of an object, which the page's heading tells, and the rest."""
    first = blocks[0] if blocks else None
    return (first, blocks[1:]) if isinstance(first, Head) and first.kind else (None, blocks)


def _heading(state: Any, name: str, head: Head | None) -> str:
    """The name, what it is, and what was asked."""
    about: Line = ()
    if head is not None:
        about = dots(head.kind_apart, head.about, head.right)
    elif state is not None:
        kind = _KINDS.get(state.scope.kind, state.scope.kind)
        about = dots(state_bit(state.status), kind, badge("simulated") if state.simulated else None)
    out = [f"<h1>{esc(name)}</h1>"]
    if about:
        out.append(as_html.write(Picture((Para(about, quiet=True),))))
    asked = state.info.get("input") if state is not None else None
    if isinstance(asked, str) and asked.strip():
        out.append(f"<blockquote><b>asked</b> {esc(one_line(asked, 1000))}</blockquote>")
    return "".join(out)


def _origin(state: Any) -> str:
    """What made the page, and which run it tells of."""
    from .. import __version__

    words = [f"made by robotlab_nb {__version__}"]
    if state is not None:
        words.append(f"run {one_line(state.scope.run_id, 60)}")
        words += [f"started {when}"] if (when := _when(state.info.get("started_at"))) else []
        if not state.ended:
            words.append("the run had not ended yet")
        if state.simulated:
            words.append("simulated: answers in it were made up")
    return "".join(f"<span>{esc(word)}</span> " for word in words).strip()


def _when(value: Any) -> str:
    """A moment as an event has it, in UTC and to the second; empty for what is none."""
    try:
        return f"{datetime.fromisoformat(value).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (TypeError, ValueError, OverflowError):
        return ""


def _opened(block: Block) -> Block:
    """A block for reading: folds open, answers long."""
    match block:
        case Prose():
            return replace(block, limit=max(block.limit, _ANSWER))
        case Quote():
            inside = tuple(_opened(b) if isinstance(b, Prose) else b for b in block.blocks)
            return replace(block, blocks=inside)
        case Fold():
            title = "".join(each if isinstance(each, str) else each.text for each in block.title)
            inside = block.blocks
            if title == "Transcript" and len(inside) <= _MOST_TURNS:  # a network's, by task
                inside = tuple(
                    replace(each, opened=True) if isinstance(each, Fold) else each
                    for each in inside
                )
            return replace(block, blocks=inside, opened=title not in _CLOSED)
        case _:
            return block
