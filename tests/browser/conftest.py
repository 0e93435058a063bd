"""A real JupyterLab in a real browser, driven through its own application object.

``lab`` is one server for a module; ``notebook(cells)`` opens a new notebook in it; and
``screenshot(name, theme)`` keeps a picture of what is on the screen when asked to.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from playwright.sync_api import Browser, Locator, Page

ROOT = Path(__file__).resolve().parents[2]
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    "--IdentityProvider.token=",
    "--ServerApp.password=",
    "--LabApp.expose_app_in_browser=True",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser."""
    for item in items:
        if Path(__file__).parent in Path(str(item.path)).parents:
            item.add_marker(pytest.mark.browser)


@dataclass
class Lab:
    """A running JupyterLab: its address and its folder of notebooks."""

    url: str
    folder: Path


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """One JupyterLab for a module, with folders of its own."""
    if find_spec("jupyterlab") is None:
        pytest.skip("JupyterLab is not installed")
    home = tmp_path_factory.mktemp("lab")
    folder = home / "work"
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    quiet = home / "settings" / "@jupyterlab" / "apputils-extension"
    quiet.mkdir(parents=True)
    (quiet / "notification.jupyterlab-settings").write_text('{"fetchNews": "false"}')
    places = {
        f"JUPYTER_{kind}_DIR": str(home / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")
    }
    command = [sys.executable, "-m", "jupyterlab", *_OPTIONS]
    log = (home / "log.txt").open("wb")
    server = subprocess.Popen(
        [*command, f"--port={port}", f"--ServerApp.root_dir={folder}"],
        env={
            **os.environ, **places, "PYTHONPATH": str(ROOT), "IPYTHONDIR": str(home / "ipython"),
            "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        },
        stdout=log, stderr=log,
    )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        _answers(url, server, home / "log.txt")
        yield Lab(url, folder)
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def _answers(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + 60
    while True:
        try:
            urllib.request.urlopen(f"{url}/api/status", timeout=5).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                told = log.read_text()[-3000:]
                raise RuntimeError(f"JupyterLab did not start:\n{told}") from None
            time.sleep(0.2)


class Notebook:
    """A notebook that is open in JupyterLab."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        self.path = path

    def run(self, number: int, *, wait: bool = True) -> None:
        """Run a cell (from 0); wait for its end unless told not to."""
        script = (
            "async n => {const p = window.jupyterapp.shell.currentWidget;"
            "p.content.activeCellIndex = n; p.content.deselectAll();"
            "const done = window.jupyterapp.commands.execute('notebook:run-cell');"
            f"{'await done;' if wait else ''} }}"
        )
        self.page.evaluate(script, number)

    def output(self, number: int) -> Locator:
        """Where the output of a cell is."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(number).locator(".jp-OutputArea")

    def value(self, code: str) -> str:
        """Run code in the kernel beside all cells; what it prints."""
        script = (
            "async code => {const k = window.jupyterapp.shell.currentWidget.sessionContext"
            ".session.kernel; let out = '';"
            "const f = k.requestExecute({code, store_history: false});"
            "f.onIOPub = m => {if (m.header.msg_type === 'stream') out += m.content.text;"
            "if (m.header.msg_type === 'error') out += m.content.ename + m.content.evalue;};"
            "await f.done; return out}"
        )
        return str(self.page.evaluate(script, code)).strip()

    def interrupt(self) -> None:
        """Press the toolbar's Stop."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")

    def save(self) -> dict[str, Any]:
        """Save, and read the file."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
        return json.loads(self.path.read_text("utf-8"))

    def saved_outputs(self, number: int) -> list[dict[str, Any]]:
        """The outputs of a cell as the saved file has them."""
        found: list[dict[str, Any]] = self.save()["cells"][number]["outputs"]
        return found


@pytest.fixture
def page(browser: Browser) -> Page:
    """A page of the size of a laptop's."""
    return browser.new_page(viewport={"width": 1180, "height": 900}, reduced_motion="reduce")


@pytest.fixture
def opened(lab: Lab, page: Page) -> Callable[[Path], Notebook]:
    """``opened(path)``: a notebook file of the lab's folder, in JupyterLab, its kernel ready."""

    def open_(path: Path) -> Notebook:
        page.goto(f"{lab.url}/lab/tree/{path.name}?reset")
        page.wait_for_function(
            "() => window.jupyterapp?.shell?.currentWidget?.context", timeout=60_000
        )
        page.evaluate(
            "async () => {const p = window.jupyterapp.shell.currentWidget; await p.context.ready;"
            "await p.sessionContext.ready; await p.sessionContext.session.kernel.info;"
            "window.jupyterapp.shell.collapseLeft()}"
        )
        return Notebook(page, path)

    return open_


@pytest.fixture
def notebook(
    lab: Lab, opened: Callable[[Path], Notebook], request: pytest.FixtureRequest
) -> Callable[..., Notebook]:
    """``notebook(cells)``: a new notebook with these cells, open and ready."""

    def new(cells: Sequence[str], name: str | None = None) -> Notebook:
        book = nbformat.v4.new_notebook(
            cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        )
        path = lab.folder / f"{name or request.node.name.partition('[')[0]}.ipynb"
        nbformat.write(book, path)
        return opened(path)

    return new


@pytest.fixture
def screenshot(page: Page) -> Callable[..., Path | None]:
    """``screenshot(name, theme)``: keep a picture in ROBOTLAB_NB_SCREENSHOTS, if that is set."""
    folder = os.environ.get("ROBOTLAB_NB_SCREENSHOTS")

    def keep(name: str, theme: str = "light", of: Locator | None = None) -> Path | None:
        if not folder:
            return None
        page.evaluate(
            "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})",
            THEMES[theme],
        )
        page.wait_for_selector(f"body[data-jp-theme-name='{THEMES[theme]}']", state="attached")
        page.wait_for_selector("#jupyterlab-splash", state="detached")
        path = Path(folder) / f"{name}_{theme}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        (of or page).screenshot(path=path)
        return path

    return keep
