"""What a tool gives back when it is more than one value: text, data, and pictures or sound.

The model reads the text and is shown the media if it can take them; the record has the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..core.media import MediaPart

__all__ = ["ToolAnswer"]


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The answer of a tool, as far as it has several forms.

    Parameters
    ----------
    text : str
        What the model reads.
    data : JSON, optional
        The same as data, for the record; the text where there is none.
    media : tuple of MediaPart, optional
        Pictures, sound and files that belong to it.

    Examples
    --------
    >>> str(ToolAnswer("21 degrees", {"degrees": 21}))
    '21 degrees'
    """

    text: str
    data: Any = None
    media: tuple[MediaPart, ...] = ()

    def __str__(self) -> str:
        return self.text
