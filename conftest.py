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
def _no_run_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """End the runs that a docstring's example left waiting: the next one's log would hold them."""
    yield
    if isinstance(request.node, pytest.DoctestItem):
        from robotlab_nb.runtime.registry import stop_all

        stop_all()
