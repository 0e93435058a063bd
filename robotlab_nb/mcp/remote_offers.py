"""What a server offers besides tools: resources and prompts, as it describes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.readings import Pictured

__all__ = ["PromptArgument", "RemotePrompt", "RemoteResource", "prompt_of", "resource_of"]


@dataclass(frozen=True, slots=True)
class RemoteResource(Pictured):
    """Something that a server lets us read, or a pattern of such things.

    Parameters
    ----------
    uri : str
        Its address; of a pattern, a URI template such as ``shop://items/{name}``.
    name : str
    title, description, mime : str, optional
    size : int, optional
        Bytes.
    is_template : bool
        Whether it is a pattern.
    """

    uri: str
    name: str
    title: str | None = None
    description: str = ""
    mime: str | None = None
    size: int | None = None
    is_template: bool = False

    def __repr__(self) -> str:
        what = "pattern" if self.is_template else "resource"
        return f"<{what} {self.uri}: {self.title or self.name}>"


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """An argument of a server's prompt."""

    name: str
    description: str = ""
    required: bool = False


@dataclass(frozen=True, slots=True)
class RemotePrompt(Pictured):
    """A prompt that a server has ready.

    Parameters
    ----------
    name : str
    title, description : str, optional
    arguments : tuple of PromptArgument
    """

    name: str
    title: str | None = None
    description: str = ""
    arguments: tuple[PromptArgument, ...] = ()

    def __repr__(self) -> str:
        words = ", ".join(a.name if a.required else f"{a.name}?" for a in self.arguments)
        return f"<prompt {self.name}({words})>"


def resource_of(told: Any) -> RemoteResource:
    """A resource or a template of resources from what the SDK read."""
    pattern = getattr(told, "uri_template", None)
    return RemoteResource(
        str(pattern or told.uri), told.name, told.title, told.description or "",
        told.mime_type, getattr(told, "size", None), pattern is not None,
    )  # fmt: skip


def prompt_of(told: Any) -> RemotePrompt:
    """A prompt from what the SDK read."""
    arguments = tuple(
        PromptArgument(a.name, a.description or "", bool(a.required)) for a in told.arguments or ()
    )
    return RemotePrompt(told.name, told.title, told.description or "", arguments)
