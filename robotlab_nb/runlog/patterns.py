"""Patterns in names, as each database says them: ``*`` any characters, ``?`` one, ``[x]`` an x."""

from __future__ import annotations

import re

__all__ = ["glob", "like"]

_SIGN = re.compile(r"\[([*?\[\]])\]|(.)", re.DOTALL)


def glob(pattern: str) -> str:
    """For SQLite's GLOB.

    Examples
    --------
    >>> glob("draft*[*]["), glob("a]")
    ('draft*[*][[]', 'a]')
    """
    return _SIGN.sub(lambda m: f"[{m[1]}]" if m[1] else "[[]" if m[2] == "[" else m[2], pattern)


def like(pattern: str) -> str:
    r"""For LIKE with ``!`` as its escape.

    Examples
    --------
    >>> like("draft*[*]?"), like("100%_!")
    ('draft%*_', '100!%!_!!')
    """
    return _SIGN.sub(_liked, pattern)


def _liked(sign: re.Match[str]) -> str:
    if sign[1]:
        return sign[1]
    return {"*": "%", "?": "_", "%": "!%", "_": "!_", "!": "!!"}.get(sign[2], sign[2])
