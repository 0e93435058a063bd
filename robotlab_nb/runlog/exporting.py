"""Runs out of a log into files: a part of :class:`~robotlab_nb.runlog.opened.Log`."""

from __future__ import annotations

from .asking import Asking

__all__ = ["Exporting"]


class Exporting(Asking):
    """The part of a log that this module adds; it reads ``store`` and ``query``."""
