"""The pytest plugin: fixtures for models that answer as told, and no call to a real one by mistake.

It is loaded with pytest wherever the package is installed, so it imports nothing before a test
needs it. ``-p no:robotlab_nb`` leaves it out.
"""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from ..models.taping import Tape
    from .scripted import ScriptedModel
    from .server import ModelServer

_MODES = ("strict", "record", "auto")
_MARKER = "real_models"
#: whether the test itself has failed, and not only what is checked after it
_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--robotlab-tape`` and ``--robotlab-real-models``."""
    group = parser.getgroup("robotlab_nb", "language models as robots")
    group.addoption(
        "--robotlab-tape", choices=_MODES, default="strict", dest="robotlab_tape",
        help="what the fixture `tape` does: play only (strict, the default), record, or play what "
        "is there and record the rest (auto)",
    )  # fmt: skip
    group.addoption(
        "--robotlab-real-models", action="store_true", dest="robotlab_real_models",
        help="let every test ask real models",
    )  # fmt: skip


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker; keep tests out of the person's own log."""
    config.addinivalue_line("markers", f"{_MARKER}: the test may ask real models (robotlab_nb)")
    os.environ.setdefault("ROBOTLAB_NB_LOG", "off")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Forbid requests to real models while a test and its fixtures run, unless it may ask them."""
    config = item.config
    taped = "tape" in getattr(item, "fixturenames", ())
    may = (
        config.option.robotlab_real_models
        or item.get_closest_marker(_MARKER) is not None
        or (taped and config.option.robotlab_tape != "strict")
    )
    from ..models import real_calls

    before, real_calls.guard = real_calls.guard, None if may else _refuse
    try:
        return (yield)
    finally:
        real_calls.guard = before


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note a test that failed: its fixtures then have nothing to add."""
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


def _refuse(name: str, endpoint: str | None) -> None:
    """Refuse a request, unless it goes to a server that a test has started."""
    server = sys.modules.get("robotlab_nb.testing.server")
    if server is not None and endpoint is not None:
        here = endpoint.rstrip("/")
        if any(here.startswith(each.url) for each in tuple(server.running)):
            return
    from ..core.errors import ConfigurationError

    where = f" at {endpoint}" if endpoint else ""
    raise ConfigurationError(
        f"a test was about to ask a real model: {name}{where}",
        hint="Use the fixtures `scripted_model`, `model_server` or `tape`; or let this test ask: "
        f"@pytest.mark.{_MARKER}, or --robotlab-real-models for all of them.",
    )


@pytest.fixture
def scripted_model(request: pytest.FixtureRequest) -> Iterator[Callable[..., ScriptedModel]]:
    """Make models that follow a script: ``scripted_model(["Yes.", "No."])``.

    Parameters are those of :class:`robotlab_nb.testing.ScriptedModel`. When the test ends, every
    step of every model must have been used.
    """
    from .scripted import ScriptedModel

    made: list[ScriptedModel] = []

    def make(*steps: Any, **more: Any) -> ScriptedModel:
        made.append(ScriptedModel(steps[0] if len(steps) == 1 else steps, **more))
        return made[-1]

    yield make
    if not request.node.stash.get(_FAILED, False):
        for model in made:
            model.assert_done()


@pytest.fixture
def model_server(request: pytest.FixtureRequest) -> Iterator[Callable[..., ModelServer]]:
    """Start OpenAI-compatible servers: ``model_server(["Hi!"]).base_url`` is what to ask.

    Parameters are those of :class:`robotlab_nb.testing.ModelServer`. They are closed when the test
    ends; every reply must have been used.
    """
    from .server import ModelServer

    made: list[ModelServer] = []

    def start(*replies: Any, **more: Any) -> ModelServer:
        given = replies[0] if len(replies) == 1 and not isinstance(replies[0], str) else replies
        made.append(ModelServer(given, **more).start())
        return made[-1]

    yield start
    error = AssertionError() if request.node.stash.get(_FAILED, False) else None
    for server in made:
        server.__exit__(None if error is None else type(error), error, None)


@pytest.fixture
def tape(request: pytest.FixtureRequest) -> Iterator[Tape]:
    """The test's own tape, which all its model calls are played from.

    It lies beside the test's file, in ``tapes/FILE/TEST.jsonl``. Record it with
    ``pytest --robotlab-tape=record``: then real models are asked.
    """
    from .. import tape as open_tape

    mode = request.config.option.robotlab_tape
    path = _tape_path(request.node)
    made = []
    if mode != "strict":
        made = [folder for folder in (path.parent, path.parent.parent) if not folder.exists()]
        path.parent.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        pytest.fail(
            f"{request.node.name} has no tape yet ({path}): record it with "
            f"`pytest --robotlab-tape=record`",
            pytrace=False,
        )
    try:
        with open_tape(path, mode=mode) as found:
            yield found
    finally:
        for folder in made:
            if not any(folder.iterdir()):
                folder.rmdir()


def _tape_path(node: pytest.Item) -> Path:
    """Where a test's tape lies."""
    parts = node.nodeid.partition("::")[2] or node.name
    slug = re.sub(r"[^\w.-]+", "-", parts).strip("-.")
    if len(slug) > 100:
        from hashlib import sha256

        slug = f"{slug[:80]}-{sha256(parts.encode()).hexdigest()[:12]}"
    return node.path.parent / "tapes" / node.path.stem / f"{slug}.jsonl"
