"""How many tokens a text has, roughly, where no provider counted them.

About four bytes of UTF-8 to a token, and never fewer tokens than words, unless somebody set a
counter of their own. Knows no model: whoever shows such a number flags it as an estimate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError
from .media_parts import media_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..core.messages import Message
    from .protocol import ToolSpec

__all__ = ["estimate_input", "estimate_tokens", "set_token_counter"]

#: what a message costs besides its text: role and separators
_PER_MESSAGE = 4
_counter: Callable[[str], int] | None = None


def set_token_counter(counter: Callable[[str], int] | None) -> None:
    """Count tokens with a tokenizer of your own wherever no provider counted them.

    Parameters
    ----------
    counter : callable or None
        Takes a text, returns its tokens; called from any thread. None brings the estimate back.

    Raises
    ------
    ConfigurationError
        When it cannot be called.

    Examples
    --------
    >>> set_token_counter(lambda text: len(text.split()))
    >>> estimate_tokens("extraordinarily long words")
    3
    >>> set_token_counter(None)
    >>> estimate_tokens("extraordinarily long words")
    7
    """
    global _counter
    if counter is not None and not callable(counter):
        raise ConfigurationError(
            f"a token counter is a function of a text, not {type(counter).__name__}",
            hint="For example set_token_counter(lambda text: len(encoding.encode(text))).",
        )
    _counter = counter


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text.

    Parameters
    ----------
    text : str

    Returns
    -------
    int
        Tokens; 0 for an empty text.

    Examples
    --------
    >>> estimate_tokens("The quick brown fox jumps over the lazy dog.")
    11
    >>> estimate_tokens("a b c d")
    4
    >>> estimate_tokens("")
    0
    """
    if _counter is not None:
        return _counter(text)
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return max((size + 3) // 4, len(text.split()))


def estimate_input(messages: Iterable[Message], tools: Iterable[ToolSpec] = ()) -> int:
    """Estimate the tokens that a model reads: messages with their tool calls, and tools.

    Parameters
    ----------
    messages : iterable of Message
    tools : iterable of ToolSpec, optional

    Returns
    -------
    int
        Tokens.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> estimate_input([Message("system", "Be brief."), Message("user", "Hello there")])
    14
    """
    total = 0
    for message in messages:
        total += _PER_MESSAGE
        for part in message.parts:
            if part.kind == "tool_call":
                total += estimate_tokens(part.name) + estimate_tokens(part.arguments)  # type: ignore[union-attr, arg-type]
            elif part.kind == "tool_result":
                total += estimate_tokens(part.content_text)  # type: ignore[union-attr]
            elif part.kind == "media":
                words: str | None = part.as_text()  # type: ignore[union-attr]
                total += media_tokens(part) if words is None else estimate_tokens(words)  # type: ignore[arg-type]
            elif part.kind != "unknown":
                total += estimate_tokens(part.text)  # type: ignore[union-attr]
            else:
                total += estimate_tokens(str(part.data))  # type: ignore[union-attr]
    for tool in tools:
        total += _PER_MESSAGE + estimate_tokens(tool.name) + estimate_tokens(tool.description)
        total += (len(str(tool.parameters)) + 3) // 4
    return total
