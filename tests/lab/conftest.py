"""What tests of the lab share: a log of their own, a server that answers with what it was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Iterator[rl.Log]:
    """A log in a file of its own."""
    with rl.options(log=str(tmp_path / "log.sqlite")):
        yield rl.log
        rl.log.flush(30)
        rl.log.close()


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server that says back what it was asked."""

    def script(request: Any) -> str:
        return f"({request.messages[-1]['content']})"

    with ModelServer(script=script) as running:
        yield running
