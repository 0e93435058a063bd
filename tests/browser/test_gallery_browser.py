"""The gallery in a real JupyterLab: every object in every state, measured as a person sees it.

Set ROBOTLAB_NB_SCREENSHOTS to a folder to look at it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib  # type: ignore[import-untyped]
import pytest

from tests.display.trees import flat, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, Page

    from .conftest import Lab, Notebook

GALLERY = Path(__file__).resolve().parents[2] / "notebooks" / "90_gallery.ipynb"
LEAST = 4.5

#: contrast of every text node of ours, with all colours behind it blended as the browser does
CONTRAST = """() => {
  const paint = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const over = colours => {
    for (const colour of colours) { paint.fillStyle = colour; paint.fillRect(0, 0, 1, 1); }
    return [...paint.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = rgb => {
    const line = v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map(v => line(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const known = new Map(), found = [];
  for (const e of document.querySelectorAll('.jp-OutputArea .rlnb-c, .jp-OutputArea .rlnb-c *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length) continue;
    const papers = [];
    for (let up = e; up; up = up.parentElement) {
      const paper = getComputedStyle(up).backgroundColor;
      if (!/rgba\\(\\d+, \\d+, \\d+, 0\\)|transparent/.test(paper)) papers.unshift(paper);
    }
    const ink = getComputedStyle(e).color, key = papers.join('|') + '>' + ink;
    if (!known.has(key)) {
      const [a, b] = [light(over(['#fff', ...papers, ink])), light(over(['#fff', ...papers]))];
      known.set(key, (Math.max(a, b) + .05) / (Math.min(a, b) + .05));
    }
    found.push([known.get(key), e.textContent.slice(0, 40), key]);
  }
  return found;
}"""

#: what reaches beyond its cell, outside of what scrolls or is cut on purpose
OUTSIDE = """() => {
  const found = [];
  for (const area of document.querySelectorAll('.jp-Cell-outputArea')) {
    const box = area.getBoundingClientRect();
    for (const e of area.querySelectorAll('.rlnb-c, .rlnb-c *')) {
      const own = e.getBoundingClientRect();
      if (own.width && own.right > box.right + 1 && !e.closest('.rlnb-w, pre, summary'))
        found.push([Math.round(own.right - box.right), e.outerHTML.slice(0, 160)]);
    }
    if (area.scrollWidth > area.clientWidth + 1)
      found.push([area.scrollWidth - area.clientWidth, area.innerText.slice(0, 80)]);
  }
  return found;
}"""

OPEN_ALL = "() => document.querySelectorAll('.jp-OutputArea details').forEach(d => d.open = true)"
TRUST = """() => {
  const cells = window.jupyterapp.shell.currentWidget.content.model.cells;
  for (const cell of cells) if (cell.type === 'code') cell.trusted = true;
}"""
THEME = "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})"


def shown() -> list[dict[str, Any]]:
    """What each output of ours holds, in order."""
    cells = json.loads(GALLERY.read_text("utf-8"))["cells"]
    data = [output.get("data", {}) for cell in cells for output in cell.get("outputs", ())]
    return [each for each in data if "rlnb-c" in "".join(each.get("text/html", ""))]


def words(html: str) -> str:
    bare = re.sub(r"<style>.*?</style>", "", html, flags=re.S)
    return words_of(html5lib.parseFragment(bare, namespaceHTMLElements=False))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for the module: opening the gallery takes most of the time."""
    import shutil

    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if not found:
        pytest.skip("Chromium is not installed")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield running
        running.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    yield opened
    opened.close()


@pytest.fixture
def gallery(lab: Lab, opened: Callable[[Path], Notebook]) -> Callable[..., Notebook]:
    """``gallery(trusted=…)``: the stored notebook, open, nothing run."""

    def open_(*, trusted: bool) -> Notebook:
        path = lab.folder / f"gallery_{'trusted' if trusted else 'stranger'}.ipynb"
        path.write_bytes(GALLERY.read_bytes())
        book = opened(path)
        # All cells laid out at once, and not only those near the screen.
        book.page.add_style_tag(content="*{content-visibility:visible!important}")
        if trusted:
            book.page.evaluate(TRUST)
        return book

    return open_


def settled(page: Page, pictures: int, kind: str = ".rlnb-c") -> None:
    page.wait_for_function(
        f"n => document.querySelectorAll('.jp-OutputArea-output {kind}').length >= n",
        arg=pictures, timeout=20_000,
    )  # fmt: skip


def test_every_picture_can_be_read_in_both_themes_and_fits_its_cell(
    gallery: Any, screenshot: Any
) -> None:
    book = gallery(trusted=True)
    page = book.page
    settled(page, len(shown()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for theme in ("light", "dark"):
        page.evaluate(THEME, f"JupyterLab {theme.capitalize()}")
        named = f"body[data-jp-theme-name='JupyterLab {theme.capitalize()}']"
        page.wait_for_selector(named, state="attached")
        page.wait_for_timeout(400)
        for width in (1280, 480):
            page.set_viewport_size({"width": width, "height": 900})
            page.wait_for_timeout(200)
            look(page, screenshot, theme, width)
            page.evaluate(OPEN_ALL)
            assert page.evaluate(OUTSIDE) == [], (theme, width)
            page.evaluate(
                "() => document.querySelectorAll('.jp-OutputArea details')"
                ".forEach(d => d.open = false)"
            )
        page.evaluate(OPEN_ALL)
        found = page.evaluate(CONTRAST)
        assert len(found) > 1000
        low = [each for each in found if each[0] < LEAST]
        assert low == [], (theme, low[:5])
        assert any(each[0] < 9 for each in found)  # muted text steps back: the sheet is in force
    assert not [url for url in asked if not url.startswith(("http://127.0.0.1", "data:", "blob:"))]


def look(page: Page, screenshot: Any, theme: str, width: int) -> None:
    """Keep pictures of the cells, some at a time, where they are wanted."""
    import os

    if not os.environ.get("ROBOTLAB_NB_SCREENSHOTS"):
        return
    cells = page.locator(".jp-Notebook .jp-Cell")
    folder = Path(os.environ["ROBOTLAB_NB_SCREENSHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(cells.count()):
        area = cells.nth(number).locator(".jp-OutputArea-output .rlnb-c")
        if area.count():
            path = folder / f"{theme}_{width}_{number:03}.png"
            cells.nth(number).locator(".jp-Cell-outputArea").screenshot(path=path)


def test_opened_by_a_stranger_it_still_says_everything(gallery: Any) -> None:
    book = gallery(trusted=False)
    page = book.page
    expected = [words("".join(each["text/html"])) for each in shown()]
    page.wait_for_function(
        "n => document.querySelectorAll('.jp-RenderedHTMLCommon > div').length >= n",
        arg=len(expected), timeout=20_000,
    )  # fmt: skip
    page.evaluate(OPEN_ALL)
    assert page.locator(".jp-OutputArea-output style").count() == 0  # it is not trusted
    told = page.evaluate(
        "() => [...document.querySelectorAll('.jp-OutputArea-output')].map(e => e.textContent)"
    )
    everything = flat(" ".join(told)).replace(" ", "")
    for each in expected:
        assert each.replace(" ", "") in everything
    for name in ("guide", "support", "✕ failed", "? waiting for you", "■ interrupted", "↺"):
        assert name.replace(" ", "") in everything


def test_as_a_page_of_its_own_it_shows_the_same_in_both_themes(page: Page, tmp_path: Path) -> None:
    from nbconvert import HTMLExporter

    exporter = HTMLExporter(template_name="lab")
    for theme in ("light", "dark"):
        exporter.theme = theme
        body, _ = exporter.from_filename(str(GALLERY))
        target = tmp_path / f"{theme}.html"
        target.write_text(re.sub(r'<script[^>]+src="https?:[^>]+></script>', "", body), "utf-8")
        page.goto(target.as_uri(), wait_until="domcontentloaded")
        assert page.locator(".jp-OutputArea .rlnb-c").count() >= len(shown())
        page.evaluate(OPEN_ALL)
        found = page.evaluate(CONTRAST)
        low = [each for each in found if each[0] < LEAST]
        assert len(found) > 1000
        assert low == [], (theme, low[:5])
