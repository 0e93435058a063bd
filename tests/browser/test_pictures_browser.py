"""The pictures of a robot and its results in a real JupyterLab, light and dark, trusted and not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Locator

CELLS = [
    """import robotlab_nb as rl
def get_weather(city: str) -> str:
    "Current weather of a city."
    return f"**18 °C** in {city} <script>window.hacked = 1</script>"
def fails() -> str:
    "Fails."
    raise ValueError("no")
bot = rl.build("guide", system_prompt="You are a travel guide. Be brief.", tools=[get_weather])
bot""",
    "bot.tools['get_weather']",
    "bot.run('What is the weather in Paris?')",
    """cut = rl.build("broken", model=rl.SimulatedModel([rl.ModelError("no answer", status=500)]))
run = cut.start("Summarise the report")
try:
    run.result()
except rl.ModelError as error:
    caught = error
run""",
    "caught",
    "bot.messages",
]

#: luminance contrast of an element's text against what is behind it
CONTRAST = """el => {
  const rgb = c => { const x = document.createElement('canvas').getContext('2d');
    x.fillStyle = '#000'; x.fillStyle = c; x.fillRect(0, 0, 1, 1);
    return [...x.getImageData(0, 0, 1, 1).data].slice(0, 3); };
  const lum = c => { const [r, g, b] = c.map(v => { v /= 255;
    return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
    return .2126 * r + .7152 * g + .0722 * b; };
  let back = null;
  for (let e = el; e && !back; e = e.parentElement) {
    const c = getComputedStyle(e).backgroundColor;
    if (c && !/rgba\\(.*, 0\\)|transparent/.test(c) && !/rgba/.test(c)) back = c;
  }
  const ink = getComputedStyle(el).color, paper = rgb(back || 'white');
  const slash = ink.match(/\\/ ?([\\d.]+)\\)$/), comma = ink.match(/rgba\\(.*, ([\\d.]+)\\)/);
  const alpha = (slash || comma || [0, 1])[1];
  const mixed = rgb(ink).map((v, i) => v * alpha + paper[i] * (1 - alpha));
  const [a, b] = [lum(mixed), lum(paper)].sort((x, y) => y - x);
  return (a + .05) / (b + .05);
}"""


def overflow(output: Locator) -> float:
    """How many pixels an output is wider than its place."""
    found: float = output.evaluate("e => e.scrollWidth - e.clientWidth")
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_robot_and_result_pictures_in_both_themes(notebook: Any, screenshot: Any, theme: str):
    book = notebook(CELLS, f"pictures_{theme}")
    for number in range(len(CELLS)):
        book.run(number)
    page = book.page
    page.evaluate(
        "t => window.jupyterapp.commands.execute('apputils:change-theme', {theme: t})",
        "JupyterLab Dark" if theme == "dark" else "JupyterLab Light",
    )
    page.wait_for_timeout(500)
    for number, words in enumerate(
        [
            ["guide", "simulated", "You are a travel guide", "get_weather"],
            ["get_weather", "city", "Current weather of a city."],
            ["completed", "guide", "simulated", "18 °C"],
            ["failed", "broken", "no answer"],
            ["no answer", "500"],
            ["you", "What is the weather in Paris?", "guide"],
        ]
    ):
        output = book.output(number)
        output.scroll_into_view_if_needed()
        told = output.inner_text()
        for word in words:
            assert word in told, (number, word, told)
        assert overflow(output) <= 1
    page.wait_for_timeout(200)
    assert page.evaluate("() => window.hacked") is None
    for quiet in page.locator(".rlnb-q, .rlnb-b").all()[:20]:
        if quiet.is_visible():
            assert quiet.evaluate(CONTRAST) >= 4.5, quiet.inner_text()
    screenshot(f"pictures_{theme}", theme)


def test_folds_open_by_mouse_and_by_keyboard(notebook: Any):
    book = notebook(CELLS[:3])
    for number in range(3):
        book.run(number)
    summary = book.output(2).locator("summary").first
    details = book.output(2).locator("details").first
    assert not details.evaluate("d => d.open")
    summary.click()
    assert details.evaluate("d => d.open")
    assert "get_weather" in details.inner_text()
    summary.focus()
    book.page.keyboard.press("Enter")
    assert not details.evaluate("d => d.open")


def test_the_saved_notebook_opened_untrusted_still_says_everything(
    notebook: Any, opened: Any, lab: Any
):
    import nbformat

    book = notebook(CELLS)
    for number in range(len(CELLS)):
        book.run(number)
    saved = nbformat.from_dict(book.save())
    for cell in saved.cells:
        cell.metadata["trusted"] = False
        cell.source += "  # changed by somebody else"
    path = lab.folder / "from_a_stranger.ipynb"
    nbformat.write(saved, path)
    again = opened(path)
    for number, words in (
        (0, ["guide", "simulated"]),
        (2, ["completed", "18 °C"]),
        (3, ["failed"]),
    ):
        told = again.output(number).inner_text()
        for word in words:
            assert word in told, (number, word, told)
    assert again.page.evaluate("() => window.hacked") is None


def test_an_error_in_a_cell_shows_the_persons_own_lines_and_what_to_do(notebook: Any):
    book = notebook([CELLS[0], "def ask():\n    return bot.run('')\n\nask()"])
    book.run(0)
    book.run(1)
    told = book.output(1).inner_text()
    assert "InputError" in told
    assert "the message is empty" in told
    assert "Pass a text" in told
    assert "return bot.run('')" in told
    assert "site-packages" not in told
    assert "keywords.py" not in told
