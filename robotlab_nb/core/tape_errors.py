"""What goes wrong with a tape: a file that is none, and a request that is not on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import ConfigurationError, RobotLabError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["LISTED", "TapeError", "TapeMiss"]

#: differences that an error lists
LISTED = 8


class TapeError(ConfigurationError):
    """A file is no tape, a tape of another version, or damaged; the message names the line."""


class TapeMiss(RobotLabError):
    """A tape that is only played has no answer to a request.

    Parameters
    ----------
    message : str
    hint : str, optional
    differences : sequence of (str, str), optional
        What is different from the nearest recorded request: what it is (``"model"``,
        ``"message 2 (user)"``), and how; texts word by word, as ``[−before−]`` and ``[+now+]``.
    nearest : str, optional
        The key of that request.

    Examples
    --------
    >>> print(TapeMiss("it is not on the tape", differences=[("model", "openai/a → openai/b")]))
    it is not on the tape. What differs from the nearest recorded request:
      model: openai/a → openai/b
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        differences: Sequence[tuple[str, str]] = (),
        nearest: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.differences = tuple(differences)
        self.nearest = nearest

    def __str__(self) -> str:
        said = super().__str__()
        if not self.differences:
            return said
        lines = [f"\n  {what}: {how}" for what, how in self.differences[:LISTED]]
        more = len(self.differences) - LISTED
        rest = f"\n  … and {more} more" if more > 0 else ""
        end = "" if said.endswith((".", "!", "?", ":")) else "."
        return f"{said}{end} What differs from the nearest recorded request:{''.join(lines)}{rest}"
