"""In a real browser: readable in both themes, within its width, open where it is clicked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.display.pictures import html
from tests.display import rich_samples as rich
from tests.display.samples import (
    a_result,
    a_robot,
    a_run,
    a_tool,
    an_error,
    completed,
    failed,
    in_state,
    nested,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

#: what a notebook's themes say of themselves, and its rules that a picture has to live with
PAGE = """<!doctype html><meta charset="utf-8"><style>
:root{color-scheme:SCHEME;--jp-content-font-color0:INK0;--jp-content-font-color1:INK1;
--jp-layout-color0:PAPER;--jp-layout-color2:GREY;--jp-content-font-size1:14px;
--jp-code-font-family:monospace}
body{margin:0;padding:8px;background:PAPER;color:INK1;font:14px/1.6 sans-serif}
.host p{margin:0 0 1em}.host blockquote{margin:1em 2em;padding:0 1em;border-left:5px solid GREY}
.host dt{font-weight:bold;float:left;width:20%}.host dd{float:left;width:80%}
.host pre,.host code{background:PAPER;color:INK1}.host :not(pre)>code{background:GREY}
.host td,.host th{text-align:right;padding:.5em}
</style><main class="host">PICTURES</main>"""
THEMES = {
    "light": ("light", "#000", "rgba(0,0,0,.87)", "#fff", "#eee"),
    "dark": ("dark", "#fff", "#fff", "#111", "#424242"),
}

#: contrast of each element that holds words of its own, colours as the browser paints them
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
  const found = [];
  for (const e of document.querySelectorAll('.rlnb-c, .rlnb-c *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    if (!own || !e.getClientRects().length) continue;
    const papers = [];
    for (let up = e; up; up = up.parentElement) {
      papers.unshift(getComputedStyle(up).backgroundColor);
    }
    const ink = getComputedStyle(e).color;
    const [a, b] = [light(over(['#fff', ...papers, ink])), light(over(['#fff', ...papers]))];
    found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), e.textContent.slice(0, 40), ink]);
  }
  return found;
}"""

OUTSIDE = """() => [...document.querySelectorAll('.rlnb-c *')].filter(e => {
  const box = e.closest('.rlnb-c').getBoundingClientRect(), own = e.getBoundingClientRect();
  return own.width && own.right > box.right + 1 && !e.closest('.rlnb-w, pre, summary');
}).map(e => e.outerHTML.slice(0, 160))"""


def pictures() -> list[Any]:
    states = ("running", "waiting", "interrupted", "abandoned")
    spoken = ("answered", "approved", "denied", "edited", "default", "timeout", "interrupted")
    long = "a_very_long_name_without_any_place_to_break_it_" * 4
    table = f"{long}\n\n|{long}|b|\n|-|-|"
    return [
        a_robot(), a_tool(), an_error(), a_result(completed()), a_result(failed()),
        a_result(nested()), *(a_run(in_state(status)) for status in states),
        a_robot(name=long, model_name=long, tools=[a_tool(name=long)], system_prompt=long * 4),
        a_result(completed(robot=long, question=long, answer=table, tool=long)),
        a_result(failed(robot=long, message=long, hint=f"`{long}`")),
        rich.a_template(), rich.rendered_template(), rich.open_template(), rich.a_config(),
        rich.some_settings(), rich.some_options(), rich.a_budget(), rich.a_budget(spent=True),
        rich.some_hooks(), rich.some_hits(), rich.an_approval(), rich.a_question(),
        *(rich.a_settled(how) for how in spoken), *rich.media().values(), rich.photo_message(),
        a_run(rich.waiting()), a_result(rich.waiting(both=True)),
        *(a_result(rich.approved(how)) for how in ("approved", "denied", "edited")),
        a_result(rich.parsed()), a_result(rich.fallen_back()), a_result(rich.guarded()),
        a_result(rich.over_budget()), rich.an_output_error(), rich.a_waiting_error(),
        rich.a_budget(long), rich.an_approval(tool=long, robot=long, arguments={long: long}),
        rich.a_question(text=long, choices=(long,)), a_result(rich.parsed({long: long})),
    ]  # fmt: skip


def opened(browser: Browser, theme: str, width: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900})
    source = PAGE
    for name, value in zip(("SCHEME", "INK0", "INK1", "PAPER", "GREY"), THEMES[theme], strict=True):
        source = source.replace(name, value)
    page.set_content(source.replace("PICTURES", "<br>".join(map(html, pictures()))))
    return page


@pytest.mark.parametrize("theme", THEMES)
def test_all_text_has_contrast_enough(browser: Browser, theme: str) -> None:
    page = opened(browser, theme, 1280)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = page.evaluate(CONTRAST)
    assert len(found) > 200
    assert [each for each in found if each[0] < 4.5] == []
    # Muted text steps back, coloured text differs: the sheet is really in force.
    assert any(each[0] < 9 for each in found)


@pytest.mark.parametrize("width", [480, 1280])
def test_nothing_reaches_beyond_its_picture(browser: Browser, width: int) -> None:
    page = opened(browser, "light", width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate(OUTSIDE) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_fold_opens_at_a_click_and_shows_what_it_holds(browser: Browser) -> None:
    page = opened(browser, "light", 1280)
    fold = page.locator("details", has_text="System prompt").first
    assert not fold.locator("pre").is_visible()
    fold.locator("summary").click()
    assert "Never book anything" in fold.locator("pre").inner_text()
    page.locator("body").press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_a_picture_asks_for_nothing_and_runs_nothing(browser: Browser) -> None:
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: asked.append(dialog.message))
    hostile = "<img src=x onerror=alert(1)><script>alert(1)</script>![t](http://127.0.0.1:9/x)"
    things: list[Any] = [a_robot(name=hostile, system_prompt=hostile), a_tool(description=hostile)]
    things += [a_result(completed(answer=hostile, robot=hostile)), an_error(message=hostile)]
    page.set_content("".join(map(html, things)))
    page.wait_for_timeout(100)
    assert asked == []
    assert page.evaluate("document.images.length + document.scripts.length") == 0


def test_an_attached_picture_is_drawn_as_large_as_it_says(browser: Browser) -> None:
    page = opened(browser, "light", 1280)
    images = page.locator("img[alt^='chart.png']")
    assert images.count() == 2
    size = images.first.evaluate("i => [i.naturalWidth, i.naturalHeight, i.width, i.height]")
    assert size == [60, 40, 60, 40]


def test_a_meter_is_as_full_as_its_figures_say(browser: Browser) -> None:
    page = opened(browser, "dark", 480)
    shares = page.evaluate("[...document.querySelectorAll('progress')].map(p => p.position)")
    assert shares[:4] == [0.767, 0.07, 1, 0.062]
