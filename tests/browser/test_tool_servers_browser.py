"""Robots with tool servers in a real JupyterLab: commands shown, asked for, and progress live."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .conftest import ROOT
from .test_cards_browser import card_of, settled

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from .conftest import Notebook

SETUP = f"""
import os, sys, tempfile
from pathlib import Path
os.environ["ROBOTLAB_NB_TRUST"] = str(Path(tempfile.mkdtemp()) / "t.json")
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
os.chdir({str(ROOT / "notebooks")!r})
import robotlab_nb as rl
shop = rl.mcp.Server("shop", command="python", args=["servers/shop.py"],
                     description="Items, prices and orders of a small shop.")
gone = rl.mcp.Server("gone", url="http://127.0.0.1:9/mcp", timeout=2)
def seller(*steps, servers=(shop, gone), **more):
    return rl.build("seller", model=rl.SimulatedModel([*steps, "An umbrella is 19 euros."]),
                    mcp=list(servers), **more)
"""
TEMPLATE = """
path = Path(tempfile.mkdtemp()) / "clerk.md"
path.write_text('''---
mcp:
  - {name: weather, transport: {type: stdio, command: python, args: [servers/weather.py]}}
---
Be brief.
''')
clerk = rl.build("clerk", template=path, model=rl.SimulatedModel(["Sunny."]))
run = clerk.start("weather?")
run
"""
#: a server whose tool reports and waits until the page has been looked at
SLOW = """
import asyncio
class Wire:
    def __init__(self, options):
        self.out = asyncio.Queue()
    async def connect(self): ...
    async def disconnect(self): self.out.put_nowait(None)
    async def receive(self): return await self.out.get()
    async def send(self, message):
        kind, params, answer = message.get("method"), message.get("params") or {}, {}
        if "id" not in message: return
        if kind == "initialize":
            answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "scanner", "version": "1"}}
        elif kind == "tools/list":
            answer = {"tools": [{"name": "scan", "inputSchema": {"type": "object"}}]}
        elif kind == "tools/call":
            told = {"progressToken": params["_meta"]["progressToken"], "progress": 3, "total": 8,
                    "message": "page three"}
            self.out.put_nowait({"jsonrpc": "2.0", "method": "notifications/progress",
                                 "params": told})
            self.work = asyncio.ensure_future(self.later(message["id"]))
            return
        self.out.put_nowait({"jsonrpc": "2.0", "id": message["id"], "result": answer})
    async def later(self, number):
        while not Path(go).exists(): await asyncio.sleep(0.05)
        self.out.put_nowait({"jsonrpc": "2.0", "id": number, "result": {
            "content": [{"type": "text", "text": "eight pages"}]}})
go = Path(tempfile.mkdtemp()) / "go"
rl.mcp.register_transport("scanner", Wire)
scanner = rl.mcp.Server("scanner", type="scanner")
run = seller(("scan", {}), servers=[scanner]).start("Scan it")
run
"""


def test_commands_are_shown_in_the_cell_and_a_dead_server_in_the_picture(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None], page: Page
) -> None:
    book = notebook([SETUP, "bot = seller(('look_up', {'name': 'umbrella'}))\nbot.run('umbrella?')",
                     "bot", "rl.mcp.trusted()"])  # fmt: skip
    for number in range(4):
        book.run(number)
    output = book.output(1)
    told = str(output.inner_text()).replace("\u00a0", " ")
    assert "Tool server shop starts python servers/shop.py" in told
    assert "Tool server gone connects to http://127.0.0.1:9/mcp" in told
    fold = output.locator("details", has_text="Tool servers").first
    assert "1 ready, 1 failed" in fold.locator("summary").first.inner_text()
    assert "failed" in fold.locator("summary").first.inner_text()
    fold.locator("summary").first.click()
    assert "the run goes on without it" in fold.inner_text()
    card = str(book.output(2).inner_text()).replace("\u00a0", " ")
    assert "shop ready, 3 tools" in card
    assert "python servers/shop.py" in book.output(3).inner_text()
    for width in (1280, 480):
        page.set_viewport_size({"width": width, "height": 1000})
        for theme in ("light", "dark"):
            screenshot(f"servers_{width}", theme)


def test_a_server_that_a_template_names_is_asked_for_by_a_card(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None]
) -> None:
    book = notebook([SETUP, TEMPLATE])
    book.run(0)
    book.run(1)
    card = card_of(book, 1)
    assert "python servers/weather.py" in card.inner_text()
    assert "template clerk names it" in card.inner_text()
    for theme in ("light", "dark"):
        screenshot("servers_card", theme)
    card.get_by_role("button", name="Approve").click()
    assert "Sunny." in settled(book, 1)
    assert json.loads(book.value("import json; print(json.dumps(clerk.mcp_tools.names))")) == [
        "current_weather", "forecast",
    ]  # fmt: skip


def test_progress_stands_on_the_calls_line_while_it_runs(
    notebook: Callable[..., Notebook], screenshot: Callable[..., Path | None]
) -> None:
    book = notebook([SETUP, SLOW])
    book.run(0)
    book.run(1)
    live = book.output(1).locator(".rlnb-live")
    live.get_by_text("3 of 8 · page three").first.wait_for(timeout=20_000)
    for theme in ("light", "dark"):
        screenshot("servers_live", theme, book.output(1))
    book.value("go.write_text('')")
    settled(book, 1)
    told = str(book.output(1).text_content()).replace("\u00a0", " ")  # folds as well
    assert "eight pages" in told
    assert "3 of 8 · page three" in told


def test_a_servers_question_is_answered_by_a_click(notebook: Callable[..., Notebook]) -> None:
    order = "run = seller(('order', {'name': 'boots', 'pieces': 2}), servers=[shop]).start('Boots')"
    book = notebook([SETUP, f"{order}\nrun"])
    book.run(0)
    book.run(1)
    card = card_of(book, 1)
    assert "Tool server 'shop' asks: Order 2 × boots for 158.00 euros?" in card.inner_text()
    card.get_by_role("button", name="yes").click()
    settled(book, 1)
    assert "Ordered 2 × boots." in str(book.output(1).text_content())
