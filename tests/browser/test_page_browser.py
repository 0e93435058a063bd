"""A page from a file in a real browser: in both themes, narrow and wide, on paper, and silent."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.display.page import page as page_of
from tests.browser.test_pictures_browser import CONTRAST
from tests.display.network_samples import NetworkStory, a_result, declared, support

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Browser, Page

MESSAGE = (
    "I was charged twice. **Please** see https://example.org/x <img src=https://example.org/y>"
)
INK = "e => getComputedStyle(e).backgroundColor"


def deep(count: int) -> Any:
    """A result of a network that is wider than any page."""
    tasks = [declared(f"step {n}", "bot", [f"step {n - 1}"] if n else []) for n in range(count)]
    story = NetworkStory(tasks, "deep")
    for n in range(count):
        story.starts(f"step {n}", n).ends(f"step {n}", n + 0.9)
    return a_result(story.closes("completed", float(count)).state)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = support().run(MESSAGE)
    made: Path = result.to_html(tmp_path_factory.mktemp("page") / "support.html")
    return made


@pytest.fixture
def open_page(browser: Browser) -> Callable[..., Page]:
    """``open_page(file, theme, width)``: a file, with whatever it asked for or complained of."""

    def open_(path: Path, theme: str = "light", width: int = 1280) -> Page:
        shown = browser.new_page(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
        )
        shown.said = []  # type: ignore[attr-defined]
        shown.on("console", lambda message: shown.said.append(message.text))  # type: ignore[attr-defined]
        shown.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "data:"))
                else shown.said.append(request.url)
            ),  # type: ignore[attr-defined]
        )
        shown.goto(path.as_uri())
        return shown

    return open_


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1280])
def test_a_page_is_readable_in_both_themes_at_any_width(
    file: Path, open_page: Any, theme: str, width: int
) -> None:
    page = open_page(file, theme, width)
    assert page.said == []
    assert page.title() == "support – completed"
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light dark"
    paper = page.locator("html").evaluate(INK)
    assert paper == ("rgb(17, 17, 17)" if theme == "dark" else "rgb(255, 255, 255)")
    for words in ("h1", "header .rlnb-q", "blockquote", ".rlnb-a", "summary", "td", "footer span"):
        assert page.locator(words).first.evaluate(CONTRAST) >= 4.5, words
    assert page.locator("img").count() == 2
    for picture in page.locator("img").all():
        assert picture.evaluate("e => e.complete && e.naturalWidth > 0")
    folder = os.environ.get("ROBOTLAB_NB_SCREENSHOTS")
    if folder:
        page.screenshot(path=Path(folder) / f"page_{theme}_{width}.png", full_page=True)
    page.close()


def pixel(page: Page) -> list[int]:
    """The colour of the network's picture at its corner, as it is seen."""
    script = """async bytes => {
        const picture = await createImageBitmap(new Blob([new Uint8Array(bytes)]));
        const at = new OffscreenCanvas(1, 1).getContext('2d'); at.drawImage(picture, -12, -12);
        return [...at.getImageData(0, 0, 1, 1).data].slice(0, 3)}"""
    found: list[int] = page.evaluate(script, list(page.locator("img").first.screenshot()))
    return found


def test_pictures_follow_the_theme_also_when_it_changes(file: Path, open_page: Any) -> None:
    page = open_page(file, "dark")
    assert pixel(page) == [17, 17, 17]
    page.emulate_media(color_scheme="light")
    assert pixel(page) == [255, 255, 255]
    page.close()


def test_the_policy_stops_what_is_put_into_a_page(
    file: Path, open_page: Any, tmp_path: Path
) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.2)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}/x.png"
    bad = f"<script>document.title = 'hacked'</script><img src='{address}'>"
    (tmp_path / "bad.html").write_text(file.read_text("utf-8").replace("<main>", f"<main>{bad}"))
    page = open_page(tmp_path / "bad.html")
    assert page.title() == "support – completed"
    assert any("Content Security Policy" in words for words in page.said)
    with listening, pytest.raises(TimeoutError):  # nobody came
        listening.accept()
    page.close()


def test_on_paper_all_folds_are_open_and_nothing_is_cut(open_page: Any, tmp_path: Path) -> None:
    made = tmp_path / "deep.html"
    page_of(deep(14), made)
    page = open_page(made, width=700)
    note = page.get_by_text("scroll it sideways")
    assert note.is_visible()
    wide = page.locator("img").first
    assert wide.bounding_box()["width"] > 700
    page.locator("details").first.evaluate("e => e.open = false")
    table = page.locator("details").first.locator("table")
    assert not table.is_visible()
    page.emulate_media(media="print")
    assert not note.is_visible()
    assert wide.bounding_box()["width"] <= 700
    assert table.is_visible()
    assert page.pdf().startswith(b"%PDF")
    page.close()
