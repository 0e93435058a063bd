"""Conversations that a log has kept. A part of :class:`~robotlab_nb.runlog.opened.Log`."""

from __future__ import annotations

from .asking import Asking

__all__ = ["Conversing"]


class Conversing(Asking):
    """The part of a log that this module adds; it reads ``store``."""
