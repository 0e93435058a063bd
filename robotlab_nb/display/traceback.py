"""What IPython prints of an error: the user's own frames, the message, the hint, the causes.

Frames of this package, of Python's library and of installed packages are left out: nobody who
reads a notebook can mend those. Never raises.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
import traceback as _traceback
from typing import TYPE_CHECKING

from ..core.tape_errors import LISTED, TapeMiss
from .error_card import causes
from .escape import clip, one_line

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["lines"]

_FIRST, _LAST = 1, 4
_FAULTS = 8
_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def lines(error: BaseException) -> list[str]:
    """The lines to print for an error.

    Parameters
    ----------
    error : BaseException
        Usually a RobotLabError that was raised.

    Returns
    -------
    list of str
        Plain text, the error's name and message after the frames.

    Examples
    --------
    >>> from robotlab_nb.core.errors import ConfigurationError
    >>> lines(ConfigurationError("no model is named", hint="Pass model=."))
    ['ConfigurationError: no model is named', '  Pass model=.']
    """
    try:
        return [*_frames(error.__traceback__), *_said(error)]
    except Exception:
        return [f"{type(error).__name__}: {one_line(error, 300)}"]


def _said(error: BaseException) -> list[str]:
    message = getattr(error, "message", None)
    shown = clip(message if isinstance(message, str) and message else error, 4000)
    said = f"{type(error).__name__}: {shown}".split("\n")
    said += _errors(getattr(error, "errors", None))
    hint = getattr(error, "hint", None)
    if hint:
        said += [f"  {line}" for line in clip(hint, 1000).split("\n")]
    if isinstance(error, TapeMiss) and error.differences:
        said.append("What differs from the nearest recorded request:")
        told = error.differences[:LISTED]
        said += [f"  {one_line(what, 80)}: {one_line(how, 800)}" for what, how in told]
    return said + [f"  caused by {cause}" for cause in causes(error)]


def _errors(found: object) -> list[str]:
    """What was wrong with an answer, one fault a line."""
    if not isinstance(found, list):
        return []
    told = [each for each in found if isinstance(each, dict)]
    lines = [
        f"  {one_line(each.get('path') or 'the whole', 80)}: {one_line(each.get('message'), 200)}"
        for each in told[:_FAULTS]
    ]
    return lines + ([f"  … {len(told) - _FAULTS:,} more"] if len(told) > _FAULTS else [])


def _frames(trace: TracebackType | None) -> list[str]:
    found = [
        (frame.f_code.co_filename, number, frame.f_code.co_name)
        for frame, number in _traceback.walk_tb(trace)
        if _is_users(frame.f_code.co_filename)
    ]
    if not found:
        return []
    left = len(found) - _FIRST - _LAST
    shown = ["Traceback (your code only):"]
    for place, (filename, number, name) in enumerate(found):
        if left > 0 and place == _FIRST:
            shown.append(f"  … {left:,} more frames")
        if left > 0 and _FIRST <= place < _FIRST + left:
            continue
        inside = "" if name == "<module>" else f", in {one_line(name, 80)}"
        shown.append(f"  {_place(filename)}, line {number}{inside}")
        source = one_line(linecache.getline(filename, number), 120)
        if source:
            shown.append(f"    {source}")
    return shown


def _place(filename: str) -> str:
    """A cell by its number where the notebook tells it, a file by its name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        try:
            found = shell.compile.format_code_name(filename)
        except Exception:
            found = None
        if found is not None:
            return f"{found[0]} {found[1]}"
    return (
        f"File {one_line(os.path.relpath(filename) if os.path.isabs(filename) else filename, 200)}"
    )


def _is_users(filename: str) -> bool:
    if filename.startswith("<"):
        return filename.startswith("<ipython-input") or filename in ("<stdin>", "<string>")
    path = os.path.abspath(filename)
    return not any(path.startswith(place + os.sep) for place in _not_users())


def _not_users() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (_HERE, *{os.path.abspath(sysconfig.get_path(name)) for name in names})
