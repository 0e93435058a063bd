"""What passes through the engine when a person presses Stop inside a tool."""

from __future__ import annotations

__all__ = ["StopRun"]


class StopRun(BaseException):
    """A tool raised KeyboardInterrupt: the run is to stop, as if Stop had been pressed.

    KeyboardInterrupt itself must not travel through an event loop: it would end the loop.
    """
