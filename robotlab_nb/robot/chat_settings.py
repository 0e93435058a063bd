"""What a chat may be given, checked: first messages, the words in the empty line, a height."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["height", "placeholder", "starters"]

#: starter prompts, and characters of one
_STARTERS, _STARTER = 12, 300
#: pixels of the transcript's height
_LOWEST, _HIGHEST = 80, 4000


def starters(given: Sequence[str]) -> tuple[str, ...]:
    """First messages: a text, or several."""
    found = (given,) if isinstance(given, str) else tuple(given)
    for text in found:
        if not isinstance(text, str) or not text.strip() or len(text) > _STARTER:
            raise ConfigurationError(
                f"starters= takes texts of up to {_STARTER} characters, not {text!r:.80}",
                hint='For example starters=["What can you do?"].',
            )
    if len(found) > _STARTERS:
        raise ConfigurationError(f"starters= takes up to {_STARTERS} texts, not {len(found)}")
    return found


def placeholder(given: str | None) -> str | None:
    """The words in the empty line."""
    if given is not None and not isinstance(given, str):
        raise ConfigurationError(f"placeholder= takes a text, not {type(given).__name__}")
    return given


def height(given: int | None) -> int | None:
    """Pixels of the transcript, at most."""
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise ConfigurationError(f"height= takes a number of pixels, not {given!r:.80}")
    if not _LOWEST <= given <= _HIGHEST:
        raise ConfigurationError(f"height= takes {_LOWEST} to {_HIGHEST} pixels, not {given!r}")
    return int(given)
