"""What a server's tool gave back, as parts of a message: text, images, sound, files.

What is larger than a message should be is written to a file, and a note says where.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..core.media import MediaPart, in_bytes
from ..core.parts import TextPart
from ..core.readings import Pictured
from .spilling import spilled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ..core.parts import Part

__all__ = ["MOST_TEXT", "RemoteResult", "parts_of", "result_of"]

#: characters of text that one result holds; the whole is in its file
MOST_TEXT = 1_000_000
#: bytes of one image, sound or file, and of the structured content
MOST_MEDIA = 20_000_000


@dataclass(frozen=True, slots=True, repr=False)
class RemoteResult(Pictured):
    """What a tool of a server gave back.

    Parameters
    ----------
    parts : tuple of Part
        Texts as text parts; images, sound and embedded files as media parts.
    structured : JSON, optional
        Its structured content, which fits the tool's output schema where it has one.
    is_error : bool
        Whether the tool says that it failed. Calls raise ``MCPToolError`` then.
    truncated : str, optional
        What was left out, and where all of it is.
    files : tuple of path
        Where what was left out is kept, until the process ends.
    """

    parts: tuple[Part, ...] = ()
    structured: Any = None
    is_error: bool = False
    truncated: str | None = None
    files: tuple[Path, ...] = ()

    @property
    def text(self) -> str:
        """Its texts, those of files included, joined by line breaks."""
        texts = [
            part.text if isinstance(part, TextPart) else part.as_text()
            for part in self.parts
            if isinstance(part, (TextPart, MediaPart))
        ]
        return "\n".join(text for text in texts if text is not None)

    @property
    def media(self) -> tuple[MediaPart, ...]:
        """Its images, sounds and files."""
        return tuple(part for part in self.parts if isinstance(part, MediaPart))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        kinds = [getattr(p, "shown", None) or f"text {in_bytes(len(p.text))}" for p in self.parts]  # type: ignore[union-attr]
        if self.structured is not None:
            kinds.append("structured content")
        said = "an error, " if self.is_error else ""
        return f"<RemoteResult: {said}{', '.join(kinds) or 'nothing'}>"


def result_of(told: Any) -> RemoteResult:
    """A result from what the SDK read."""
    parts, notes, files = parts_of(told.content)
    structured = told.structured_content
    if structured is not None:
        size = _rough_size(structured)
        if size > MOST_MEDIA:
            body = json.dumps(structured, ensure_ascii=False).encode("utf-8", "replace")
            files.append(spilled(body, ".json"))
            notes.append(f"{in_bytes(len(body))} of structured content are in {files[-1]}")
            structured = None
    return RemoteResult(
        tuple(parts), structured, bool(told.is_error), ". ".join(notes) or None, tuple(files)
    )


def parts_of(
    content: Any, part_of: Callable[[Any], Part] | None = None
) -> tuple[list[Part], list[str], list[Path]]:
    """Parts of what the SDK read, notes of what was left out, and the files that have it."""
    parts: list[Part] = []
    notes: list[str] = []
    files: list[Path] = []
    room = MOST_TEXT
    for block in content:
        part = (part_of or _part)(block)
        if isinstance(part, TextPart):
            if len(part.text) > room:
                body = part.text.encode("utf-8", "replace")
                files.append(spilled(body, ".txt"))
                notes.append(
                    f"The text of {in_bytes(len(body))} is cut after {room:,} characters; "
                    f"all of it is in {files[-1]}"
                )
                part = replace(part, text=part.text[:room], cut=True)
            room -= len(part.text)
        elif isinstance(part, MediaPart) and (part.size or 0) > MOST_MEDIA:
            # Also a text: what stands in a file of the server's is not cut in two.
            files.append(spilled(part.data or b"", "." + part.mime.rpartition("/")[2][:12]))
            notes.append(f"{part.shown} is in {files[-1]}")
            part = TextPart(f"[{part.mime} of {in_bytes(part.size or 0)}, kept in a file]")
        parts.append(part)
    return parts, notes, files


def _part(block: Any) -> Part:
    kind = block.type
    if kind == "text":
        return TextPart(block.text)
    if kind in ("image", "audio"):
        return _media(block.data, block.mime_type or f"{kind}/*", None)
    if kind == "resource":
        return resource_part(block.resource)
    if kind == "resource_link":
        told = f"[a resource: {block.name}, {block.uri}"
        return TextPart(f"{told}: {block.description}]" if block.description else f"{told}]")
    return TextPart(f"[something of the kind {kind}]")


def resource_part(resource: Any) -> Part:
    """An embedded resource: a text or bytes, known by its address."""
    name = str(resource.uri)
    text = getattr(resource, "text", None)
    if text is not None:
        mime = resource.mime_type or "text/plain"
        body = text.encode("utf-8", "replace")
        return MediaPart.of(body, mime if mime.startswith("text/") else "text/plain", name)
    return _media(resource.blob, resource.mime_type or "application/octet-stream", name)


def _media(data: str, mime: str, name: str | None) -> Part:
    from ..core.errors import InputError

    try:
        return MediaPart(mime, "".join(data.split()), None, name)
    except InputError:
        return TextPart(f"[{name or mime}: its bytes are broken]")


def _rough_size(value: Any) -> int:
    """Characters of a JSON value, roughly."""
    total, left = 0, [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            total += len(item) + 2
        elif isinstance(item, dict):
            total += 2 * len(item)
            left += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            total += len(item)
            left += item
        else:
            total += 4
    return total
