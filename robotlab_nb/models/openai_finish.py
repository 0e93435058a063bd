"""Why a model stopped, from the reasons that servers give: several, odd, or none."""

from __future__ import annotations

from typing import Any

__all__ = ["FinishReader"]

_STOPS = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "complete": "stop",
    "tool_calls": "tool",
    "tool_call": "tool",
    "tool_use": "tool",
    "function_call": "tool",
    "length": "length",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "sensitive": "content_filter",
    "prohibited_content": "content_filter",
    "recitation": "content_filter",
    "blocklist": "content_filter",
    "refusal": "refused",
    "error": "error",
    "network_error": "error",
    "insufficient_system_resource": "error",
}
#: of several reasons the strongest counts
_STRENGTH = ("", "stop", "tool", "content_filter", "refused", "length", "error")


class FinishReader:
    """Collects the finish reasons of one choice.

    Attributes
    ----------
    finish : str or None
        The strongest reason as received; None while there is none.
    stop : str
        What it means: one of ``STOP_REASONS``, ``"error"``, or ``""`` for unknown.

    Examples
    --------
    >>> reader = FinishReader()
    >>> reader.read({"finish_reason": "tool_calls", "native_finish_reason": "max_tokens"})
    >>> reader.read({"finish_reason": "stop"})
    >>> reader.finish, reader.stop
    ('tool_calls', 'length')
    """

    __slots__ = ("finish", "stop")

    def __init__(self) -> None:
        self.finish: str | None = None
        self.stop = ""

    def read(self, choice: dict[str, Any]) -> None:
        """Read the reasons in a choice, if any. Null, "" and a missing key are no reason."""
        finish = choice.get("finish_reason")
        if not finish:
            details = choice.get("finish_details")
            finish = details.get("type") if isinstance(details, dict) else None
        if finish and isinstance(finish, str):
            meant = _meaning(finish)
            if self.finish is None or _stronger(meant, _meaning(self.finish)):
                self.finish = finish
            self._take(meant)
        native = choice.get("native_finish_reason")
        if native and isinstance(native, str) and _meaning(native) in ("length", "refused"):
            self._take(_meaning(native))

    def _take(self, meant: str) -> None:
        if _stronger(meant, self.stop):
            self.stop = meant


def _meaning(reason: str) -> str:
    return _STOPS.get(reason.lower().replace("-", "_"), "")


def _stronger(meant: str, other: str) -> bool:
    return _STRENGTH.index(meant) > _STRENGTH.index(other)
