"""What tests may ask for: a browser, a database, the material beside the checkout.

What is not there skips the test and says why. Names in ROBOTLAB_NB_REQUIRE (comma-separated:
``browser``, ``kernels``, ``local``, ``peers``, ``services``) must be there: for them a missing
thing is a failure.
"""

from __future__ import annotations

import os
import shutil
import socket
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser

REPOSITORY = Path(__file__).parent.parent
#: Marker -> the fixtures whose use earns it.
NEEDS = {"browser": {"browser"}, "kernel": {"kernel"}, "service": {"postgres", "redis"}}
CHROMIUM = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

# The same examples in every run, and no verdict that hangs on how busy the machine is.
settings.register_profile(
    "same everywhere",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("same everywhere")


@pytest.hookimpl(tryfirst=True)  # before `-m` selects by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests by what they use."""
    for item in items:
        used = set(getattr(item, "fixturenames", ()))
        for marker, fixtures in NEEDS.items():
            if used & fixtures:
                item.add_marker(marker)


@pytest.fixture(autouse=True)
def _nothing_registered() -> Iterator[None]:
    """Each test has its own secrets, which else were masked in others' texts, and rate limits."""
    import sys

    from robotlab_nb.core import secrets

    secrets.forget()
    yield
    secrets.forget()
    accounts = sys.modules.get("robotlab_nb.models.accounts")
    if accounts is not None:
        accounts.forget_limits()


@pytest.fixture(autouse=True, scope="session")
def _own_settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests has settings of their own: the tests do not see them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        for name in list(os.environ):
            if name.startswith("ROBOTLAB_") and not name.startswith("ROBOTLAB_NB_"):
                patch.delenv(name)
        yield


def _require(kind: str, there: object, missing: str) -> None:
    if there:
        return
    if kind in os.environ.get("ROBOTLAB_NB_REQUIRE", "").split(","):
        pytest.fail(f"{missing}, and ROBOTLAB_NB_REQUIRE names {kind}")
    pytest.skip(missing)


@pytest.fixture(scope="session")
def require() -> Callable[[str, object, str], None]:
    """``require(kind, there, missing)``: skip, or fail where the kind is required."""
    return _require


@pytest.fixture
def shared() -> Path:
    """The design material beside the checkout."""
    found = REPOSITORY.parent / "shared"
    _require("shared", found.is_dir(), "there is no folder `shared` beside the checkout")
    return found


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A running Chromium, driven by Playwright.

    One for each test: Playwright's loop, while it is there, stands in the way of asyncio tests.
    """
    _require("browser", find_spec("playwright"), "Playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    _require("browser", chromium, "Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM))
        yield running
        running.close()


@pytest.fixture(scope="session")
def local_weights() -> Path:
    """The weights of the small local model, with what runs them."""
    from robotlab_nb.models.local_weights import INSTALL, bundled_weights, has_runtime

    found = bundled_weights()
    _require("local", found and has_runtime(), f"no local model is installed ({INSTALL})")
    assert found is not None
    return found


@pytest.fixture(scope="session")
def npm_server() -> Callable[[str], str]:
    """``npm_server("server-everything")``: the path of a tool server that node runs."""
    from tests import npm_peers

    found, missing = npm_peers.installed()
    _require("peers", found, missing)
    assert found is not None
    return lambda name: str(npm_peers.program(found, name))


def _service(variable: str, default: str) -> str:
    """The URL of a running server, from the environment or where it usually listens."""
    url = os.environ.get(variable) or default
    address = urlsplit(url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), timeout=2).close()
        there = True
    except OSError:
        there = False
    _require("services", there, f"nothing listens at {url} (set {variable})")
    return url


@pytest.fixture
def postgres() -> str:
    """URL of a PostgreSQL database that tests may write to."""
    return _service("ROBOTLAB_NB_TEST_POSTGRES", "postgresql://postgres@127.0.0.1:5432/test")


@pytest.fixture
def redis() -> str:
    """URL of a Redis database that tests may write to."""
    return _service("ROBOTLAB_NB_TEST_REDIS", "redis://127.0.0.1:6379/0")
