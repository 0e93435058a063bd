"""Pictures, sound and files as content parts of the OpenAI wire, which litellm translates on.

Pure functions. Whether a model can see or hear is for its provider to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError

if TYPE_CHECKING:
    from ..core.messages import MediaPart

__all__ = ["media_tokens", "wire_part"]

#: what the wire calls the two kinds of sound that it takes
_SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
#: bytes to a token, roughly: sound costs about ten tokens a second
_PER_TOKEN = {"audio/wav": 4_800, "audio/mpeg": 1_600, "application/pdf": 30}
#: tokens of a picture: providers count from 85 to 1,600, by its size in pixels
_PICTURE = 1_000


def wire_part(part: MediaPart) -> dict[str, Any]:
    """Write a picture, a sound or a file as a content part.

    Parameters
    ----------
    part : MediaPart

    Returns
    -------
    dict
        ``image_url``, ``input_audio``, ``file``, or ``text`` with the file's name around it.

    Raises
    ------
    InputError
        When its bytes are missing, or the wire has no form for it.

    Examples
    --------
    >>> from robotlab_nb.core.messages import MediaPart
    >>> wire_part(MediaPart("image/png", url="https://example.org/cat.png"))
    {'type': 'image_url', 'image_url': {'url': 'https://example.org/cat.png'}}
    """
    kind, _, _ = part.mime.partition("/")
    extras = dict(part.opaque or {})
    if part.url is not None and kind == "image":
        return {"type": "image_url", "image_url": {"url": part.url, **extras}}
    if part.base64 is None:
        raise InputError(
            f"{part.name or part.mime} ({part.shown}) cannot be sent: its bytes are not here",
            hint="An event tells large files by their SHA-256 alone. Attach the file again.",
        )
    if kind == "image":
        url = f"data:{part.mime};base64,{part.base64}"
        return {"type": "image_url", "image_url": {"url": url, **extras}}
    if part.mime in _SOUNDS:
        sound = {"data": part.base64, "format": _SOUNDS[part.mime], **extras}
        return {"type": "input_audio", "input_audio": sound}
    if part.mime == "application/pdf":
        data = f"data:{part.mime};base64,{part.base64}"
        return {
            "type": "file",
            "file": {"filename": part.name or "document.pdf", "file_data": data, **extras},
        }
    words = part.as_text()
    if words is None:
        raise InputError(
            f"{part.name or 'an attachment'} is {part.mime}, which models cannot be sent",
            hint="Images (PNG, JPEG, GIF, WebP), PDF, WAV, MP3 and text can be.",
        )
    name = part.name or "text"
    return {"type": "text", "text": f"[attached: {name}]\n{words}\n[end of {name}]"}


def media_tokens(part: MediaPart) -> int:
    """Estimate what a picture, a sound or a PDF costs in tokens; 0 for a text, which is counted.

    Examples
    --------
    >>> from robotlab_nb.core.messages import MediaPart
    >>> media_tokens(MediaPart("image/png", url="https://example.org/cat.png"))
    1000
    """
    if part.mime.startswith("image/"):
        return _PICTURE
    if part.mime.startswith("text/"):
        return 0
    return max(1, (part.size or 0) // _PER_TOKEN.get(part.mime, 4))
