"""What it costs to look through a large log: to open the browser on it, and to go to a page."""

from __future__ import annotations

import json
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from robotlab_nb.runlog.opened import open_log
from robotlab_nb.widgets.browser_box import BrowserBox
from robotlab_nb.widgets.browser_found import look, offers

from .clock import best
from .figure import Figure, Pair
from .log_tables import fill

if TYPE_CHECKING:
    from collections.abc import Callable

    from robotlab_nb.widgets.browser_place import Browser

    from .figure import Setting

__all__ = ["FIGURES"]

_BARE = "SELECT * FROM runs WHERE run_id = root_id ORDER BY root_started_at DESC LIMIT 50"


def _on(setting: Setting, act: Callable[[Browser], object]) -> Pair:
    """What is done with a browser of a log of 1,000,000 events, beside a bare query of its page."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.sqlite"
        fill(path, setting.times(100_000))

        def bare() -> None:
            with closing(sqlite3.connect(path)) as log:
                log.execute(_BARE).fetchall()
                log.execute("SELECT count(*), sum(status = 'failed') FROM runs").fetchone()

        with open_log(path) as log:
            browser = log.browse()
            ours = best(lambda: act(browser), calls=1, batches=3)
        floor = best(bare, calls=1, batches=3)
    return Pair(floor.cpu * 1e3, ours.cpu * 1e3)


def _open(browser: Browser) -> None:
    browser._found = None
    json.dumps(BrowserBox(browser).snapshot())
    browser._repr_mimebundle_()


def _dearest(browser: Browser) -> None:
    look(browser.wishes.changed(sort="cost"), 50)


def _values(browser: Browser) -> None:
    offers(browser.wishes.picked("robot", "r1"))


FIGURES = [
    Figure("1,000,000 events: the log browser is there, and its picture", "ms", 90,
           lambda setting: _on(setting, _open), 8),
    Figure("1,000,000 events: its page of the dearest runs", "ms", 280,
           lambda setting: _on(setting, _dearest), 8),
    Figure("1,000,000 events: the values that can be chosen, with their counts", "ms", 400,
           lambda setting: _on(setting, _values), 8),
]  # fmt: skip
