"""Runs of a log to read on one page: all of them as rows, the newest in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.readings import Pictured

if TYPE_CHECKING:
    from .asking import Asking

__all__ = ["RunsPage"]


class RunsPage(Pictured):
    """Runs that are written to a page."""

    name = "Runs"

    def __init__(self, log: Asking) -> None:
        self.log = log
