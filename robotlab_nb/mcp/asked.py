"""What a server asks of the person: a form to fill in, or a page to open."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["RemoteQuestion", "answer_of"]


@dataclass(frozen=True, slots=True)
class RemoteQuestion:
    """A question that a server puts while one of its tools runs (an elicitation).

    Parameters
    ----------
    server : str
        Our name for the server.
    message : str
        Its words; they are the server's, not ours.
    schema : mapping
        The JSON Schema of the answer: an object with plain fields. Empty for a page.
    url : str, optional
        The page that the person is to open instead.
    tool : str, optional
        The tool that runs.
    """

    server: str
    message: str
    schema: Mapping[str, Any]
    url: str | None = None
    tool: str | None = None


def answer_of(content: Any) -> Any:
    """The SDK's answer: a mapping accepts, None declines, False breaks off."""
    from mcp.types import ElicitResult

    if content is None:
        return ElicitResult(action="decline")
    if content is False:
        return ElicitResult(action="cancel")
    if content is True:  # the page was opened
        return ElicitResult(action="accept")
    if not isinstance(content, Mapping):
        content = {"value": content}
    return ElicitResult(action="accept", content=dict(content))
