"""Pictures, sound, documents and texts that go with a message.

A part holds its bytes once, as the base64 text that every provider and every JSON file wants,
and is known by their SHA-256. It reads no files and fetches nothing.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from .errors import InputError
from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MediaPart", "in_bytes"]

_FIELDS = ("mime", "base64", "url", "name", "sha256", "size", "opaque")


def in_bytes(size: int) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> in_bytes(512), in_bytes(12_345), in_bytes(3_400_000)
    ('512 B', '12 kB', '3.4 MB')
    """
    if size < 1000:
        return f"{size} B"
    return f"{size / 1000:.0f} kB" if size < 999_500 else f"{size / 1_000_000:.1f} MB"


@dataclass(frozen=True, slots=True, repr=False)
class MediaPart(Pictured):
    r"""An image, a sound, a PDF, or a text that is not the person's own words.

    Made by :meth:`of` from bytes. One that was read from an event without its bytes (see
    :meth:`robotlab_nb.core.messages.Message.to_dict`) has ``base64`` None: it says what was there
    and cannot be sent.

    Parameters
    ----------
    mime : str
        ``image/png``, ``application/pdf``, ``audio/wav``, ``text/plain`` …; ``image/*`` for an
        address whose type is not known.
    base64 : str, optional
        The bytes.
    url : str, optional
        Where the provider finds it instead.
    name : str, optional
        The file's name.
    sha256 : str, optional
        Of the bytes, hexadecimal; worked out where it is left out.
    size : int, optional
        Bytes.
    opaque : mapping, optional
        The provider's extras, verbatim.

    Examples
    --------
    >>> part = MediaPart.of(b"a,b\n1,2\n", "text/csv", "numbers.csv")
    >>> part
    <media numbers.csv: text 8 B>
    >>> part.as_text()
    'a,b\n1,2\n'
    """

    kind: ClassVar[str] = "media"
    mime: str
    base64: str | None = None
    url: str | None = None
    name: str | None = None
    sha256: str | None = None
    size: int | None = None
    opaque: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        if self.base64 is not None and self.sha256 is None:
            data = self._decoded(self.base64)
            object.__setattr__(self, "sha256", hashlib.sha256(data).hexdigest())
            object.__setattr__(self, "size", len(data))
        if self.base64 is None and self.url is None and self.sha256 is None:
            raise InputError(
                f"{self.mime} has neither bytes nor an address", hint="Give base64 or url."
            )

    @classmethod
    def of(cls, data: bytes, mime: str, name: str | None = None) -> MediaPart:
        """A part that holds some bytes.

        Parameters
        ----------
        data : bytes
        mime : str
        name : str, optional
        """
        text = b64encode(data).decode("ascii")
        return cls(mime, text, None, name, hashlib.sha256(data).hexdigest(), len(data))

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> MediaPart:
        """Read what stands in a message's JSON.

        Raises
        ------
        InputError
            When the bytes are not those that the SHA-256 names, or a field is not of its type.
        """
        known = {k: fields[k] for k in _FIELDS if fields.get(k) is not None}
        for name, value in known.items():
            kind = int if name == "size" else dict if name == "opaque" else str
            if not isinstance(value, kind):
                raise InputError(
                    f"the {name} of a media part is {kind.__name__}, not {type(value).__name__}"
                )
        if "mime" not in known:
            raise InputError("a media part lacks its mime type", hint='For example "image/png".')
        if "base64" not in known:
            return cls(**known)
        told = known.pop("sha256", None)
        known.pop("size", None)
        part = cls(**known)
        if told not in (None, part.sha256):
            raise InputError(f"the bytes of {part.shown} are not those that its SHA-256 names")
        return part

    @property
    def data(self) -> bytes | None:
        """The bytes, or None where only an address or a SHA-256 is known."""
        return None if self.base64 is None else self._decoded(self.base64)

    def _decoded(self, text: str) -> bytes:
        try:
            return b64decode(text, validate=True)
        except (NotBase64, ValueError):
            raise InputError(
                f"the bytes of {self.name or self.mime} are not base64",
                hint="Give MediaPart.of the bytes themselves.",
            ) from None

    def as_text(self) -> str | None:
        """The words of a text file; None for anything else, and where the bytes are missing."""
        data = self.data if self.mime.startswith("text/") else None
        return None if data is None else data.decode("utf-8-sig", "replace")

    def masked(self) -> MediaPart:
        """The part without registered secrets: a text's are masked.

        Raises
        ------
        InputError
            When the bytes of anything else hold one: they cannot be changed and stay what they are.
        """
        from . import secrets

        if not secrets.any_known or self.base64 is None:
            return self
        words = self.as_text()
        if words is not None:
            masked = secrets.redact(words)
            if masked == words:
                return self
            return replace(MediaPart.of(masked.encode(), self.mime, self.name), opaque=self.opaque)
        held = secrets.found_in(self.base64)
        if held is not None:
            raise InputError(
                f"{self.name or self.mime} ({self.shown}) holds the registered secret {held}",
                hint="Attach it without the secret.",
            )
        return self

    @property
    def shown(self) -> str:
        """What it is and how large, on one line: ``image 12 kB``."""
        what = self.mime.partition("/")[0]
        if what == "application":
            what = "PDF" if self.mime == "application/pdf" else "file"
        if self.size is not None:
            what = f"{what} {in_bytes(self.size)}"
        if self.base64 is None:
            what += " at an address" if self.url else ", bytes not kept"
        return what

    def content(self) -> dict[str, Any]:
        """The part as JSON, as far as it belongs to the message id: its bytes by SHA-256."""
        out: dict[str, Any] = {"kind": "media", "mime": self.mime}
        for name in ("name", "url", "sha256", "size", "opaque"):
            value = getattr(self, name)
            if value is not None:
                out[name] = value
        return out

    def __repr__(self) -> str:
        return f"<media {self.name or self.mime}: {self.shown}>"
