"""What tests and docstrings' examples leave to whoever runs them: no file, no run that waits."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

os.environ["ROBOTLAB_NB_LOG"] = "off"  # unless they name one
os.environ["ROBOTLAB_NB_TRUST"] = "off"


@pytest.fixture(autouse=True)
def _others_runs_are_not_seen(request: pytest.FixtureRequest) -> Iterator[None]:
    """Hide the runs that earlier tests left waiting: a log that is opened would hold them.

    Those that a docstring's example left are ended; others may be samples that are drawn again.
    """
    from robotlab_nb.runtime import registry

    earlier = dict(registry._live)
    registry._live.clear()
    yield
    if isinstance(request.node, pytest.DoctestItem):
        registry.stop_all()
    registry._live.update({key: run for key, run in earlier.items() if not run.done})
