"""Front ends with less: no widgets, no way around a busy kernel (VS Code); and ones that break.

The page is one that a test plays. What it says goes the way that cells go, as VS Code sends it: a
cell that holds the kernel holds up what is said.
"""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from .conftest import EVERY_KERNEL
from .test_kernel_live import WIDGET, Tap, ended, wait_for

SETUP = """
import threading
import robotlab_nb as rl
from robotlab_nb.notebook.painter import painter
painter().widgets = None
words = " ".join(f"word{n:02d}" for n in range(60))
paced = rl.build("paced", model=rl.SimulatedModel([words], pace=0.05))
short = rl.build("short", model=rl.SimulatedModel(["one two three"], delay=0.6))
publisher = get_ipython().display_pub
publish = type(publisher).publish.__get__(publisher)
"""


class Page(Tap):
    """What a front end that knows displays by id shows in the end."""

    def shown(self) -> list[dict[str, Any]]:
        places: dict[str, dict[str, Any]] = {}
        for number, (place, bundle) in enumerate(self.bundles):
            places[place or str(number)] = bundle
        return [bundle for bundle in places.values() if bundle.get("text/plain")]

    def hows(self) -> list[str]:
        """How the view said that its run is stopped."""
        if not self.opened:
            return []
        first = self.opened[-1]["data"]["state"]["snapshot"]
        ops = [op for batch in (first, *self.batches) for op in batch["ops"]]
        return [op[1]["how"] for op in ops if op[0] == "stop"]


@pytest.fixture
def page(kernel: Any) -> Any:
    kernel.run(SETUP)
    kernel.drain(0.2)
    made = Page(kernel, answering=True)
    yield made
    made.answering = False
    kernel.run("publisher.publish = publish; rl.stop_all()")
    kernel.drain(0.3)
    del made.channel._recv


# -- VS Code -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code", ["paced.run('x', show=True)", "await paced.arun('x', show=True)", "paced.start('x')"]
)
def test_a_front_end_that_knows_no_widgets_shows_pictures(
    kernel: Any, page: Page, code: str
) -> None:
    page.answering = False
    kernel.run(code)
    wait_for(kernel, lambda: page.shown() and "completed" in page.shown()[0]["text/plain"])
    for bundle in [bundle for _, bundle in page.bundles]:
        assert {"text/html", "text/plain"} <= set(bundle) or bundle == {"text/plain": ""}
    live = [bundle for bundle in page.shown() if "text/html" in bundle]
    assert "word59" in live[0]["text/html"]
    assert WIDGET not in json.dumps(page.shown())


@EVERY_KERNEL
def test_a_cell_that_holds_the_kernel_promises_no_click_and_a_late_one_does_no_harm(
    kernel: Any, page: Page
) -> None:
    cell = kernel.submit("answer = paced.run('x', show=True)")
    wait_for(kernel, lambda: "kernel" in page.hows())
    page.say(page.view, {"stop": True})
    kernel.wait(cell)
    assert cell.status == "ok"
    assert "button" not in page.hows()
    assert kernel.run("answer.status, len(answer.text)").text == "('completed', 419)"
    assert "word59" in page.shown()[0]["text/plain"]


@EVERY_KERNEL
def test_a_view_of_an_earlier_cell_takes_its_button_away_while_a_cell_is_busy(
    kernel: Any, page: Page
) -> None:
    kernel.run("run = paced.start('x'); run")
    wait_for(kernel, lambda: page.hows()[-1:] == ["button"])
    cell = kernel.submit("time.sleep(0.8)")
    wait_for(kernel, lambda: page.hows()[-1] != "button", 3)
    kernel.wait(cell)
    wait_for(kernel, lambda: page.hows()[-1] == "button" or ended(page))
    page.say(page.view, {"stop": True})
    wait_for(kernel, lambda: ended(page))
    assert "interrupted" in page.shown()[0]["text/plain"]


@EVERY_KERNEL
def test_a_cell_that_awaits_promises_a_click_only_where_it_is_heard(
    kernel: Any, page: Page
) -> None:
    cell = kernel.submit("answer = await paced.arun('x', show=True)")
    wait_for(kernel, lambda: page.batches)
    kernel.drain(0.5)
    promised = page.hows()[-1:] == ["button"]
    page.say(page.view, {"stop": True})
    kernel.wait(cell)
    assert (cell.error == "RunInterrupted") == promised
    release = kernel.run("import ipykernel; ipykernel.version_info[:2] >= (7, 4)").text
    assert promised == (release == "True")


# -- front ends that break -----------------------------------------------------------------------

BREAKS = {
    "nothing can be shown": """
def refuses(*args, **options): raise OSError("no front end")
publisher.publish = refuses
""",
    "nothing can be replaced": """
def refuses(*args, update=False, **options):
    if update: raise OSError("no front end")
    return publish(*args, update=update, **options)
publisher.publish = refuses
""",
    "the widget's channel is broken": """
from robotlab_nb.widgets.live_widget import LiveWidget
def send(self, *args): raise OSError("closed")
was = vars(LiveWidget)["send"]
LiveWidget.send = send
""",
    "the picture cannot be drawn": """
from robotlab_nb.widgets.live_view import LiveView
drew = vars(LiveView)["picture"], vars(LiveView)["last"]
LiveView.picture = LiveView.last = lambda self: 1 / 0
""",
    "the last picture cannot be drawn": """
from robotlab_nb.widgets.live_view import LiveView
drew = vars(LiveView)["picture"], vars(LiveView)["last"]
LiveView.last = lambda self: 1 / 0
""",
    "the view cannot tell its end": """
from robotlab_nb.widgets.live_view import LiveView
knew = vars(LiveView)["ended"]
LiveView.ended = property(lambda self: 1 / 0)
""",
}
MENDS = """
if "was" in globals(): LiveWidget.send = was
if "drew" in globals(): LiveView.picture, LiveView.last = drew
if "knew" in globals(): LiveView.ended = knew
publisher.publish = publish
"""


@pytest.mark.parametrize("what", BREAKS)
def test_what_breaks_in_a_front_end_touches_no_run(kernel: Any, page: Page, what: str) -> None:
    assert kernel.run(BREAKS[what]).status == "ok"
    try:
        for code in ("short.run('x', show=True)", "await short.arun('x', show=True)"):
            assert kernel.run(f"print(({code}).text)").streams == "one two three\n", code
        assert kernel.run("run = short.start('x'); run").status == "ok"
        assert kernel.run("print(run.result().text)").streams == "one two three\n"
        left = "p = painter(); p.paint(); print(len(p.places))"
        assert kernel.run(left).streams == "0\n", "nothing is painted for ever"
    finally:
        kernel.run(MENDS)
    page.seen.clear()
    kernel.run("short.run('x', show=True)")
    assert "one two three" in page.settled()["text/plain"]


def test_a_page_that_closes_its_widget_or_says_nonsense_changes_nothing(
    kernel: Any, page: Page
) -> None:
    kernel.run("run = paced.start('x'); run")
    wait_for(kernel, lambda: page.batches)
    for content in ({"want": "?"}, {"stop": 0}, {"hello": None}, {"answer": 3}, [], "x", None):
        page.say(page.view, content)
    session = kernel.client.session
    kernel.client.shell_channel.send(session.msg("comm_close", {"comm_id": page.view, "data": {}}))
    kernel.client.shell_channel.send(session.msg("comm_msg", {"comm_id": "who?", "data": {}}))
    assert kernel.run("run.result().status").text == "'completed'"
    assert "word59" in page.shown()[0]["text/plain"]
    assert WIDGET not in json.dumps(page.shown())


def test_output_that_was_cleared_stays_cleared(kernel: Any, page: Page) -> None:
    code = "from IPython.display import clear_output\nrun = short.start('x'); display(run)\n"
    cell = kernel.run(code + "clear_output()\nprint('only this')")
    wait_for(kernel, lambda: ended(page))
    assert cell.streams == "only this\n"
    kinds = [message["msg_type"] for _, message in page.seen]
    assert "display_data" not in kinds[kinds.index("clear_output") :]


def test_runs_go_on_while_nobody_listens_and_no_thread_is_left(kernel: Any, page: Page) -> None:
    kernel.run("for n in range(3): short.run('x', show=True)")
    threads = "print(sorted(t.name for t in threading.enumerate()))"
    before = kernel.run(threads).streams
    kernel.run("run = paced.start('x'); run")
    gone, kernel.client = kernel.client, kernel.manager.client()
    gone.stop_channels()
    time.sleep(1)
    kernel.client.start_channels()
    kernel.client.wait_for_ready(timeout=30)
    kernel.run("for n in range(12): display(short.start('x'))")
    assert kernel.run("run.result().status").text == "'completed'"
    cell = kernel.run(
        "for n in range(50):\n if painter().places: time.sleep(0.1)\npainter().places"
    )
    assert cell.text == "()"
    assert kernel.run(threads).streams == before


def test_fifty_views_at_once_all_settle(kernel: Any, page: Page) -> None:
    kernel.run("fifty = [short.start('x') for n in range(50)]\nfor run in fifty: display(run)")
    wait_for(kernel, lambda: len(page.contents("comm_close")) >= 50, 30)
    views = [bundle for bundle in page.shown() if "one two three" in bundle["text/plain"]]
    assert len(views) == 50
    assert WIDGET not in json.dumps(page.shown())


def test_twenty_tasks_that_stream_at_once_keep_within_the_budget(kernel: Any, page: Page) -> None:
    kernel.run("net = rl.create_network('net')\nfor n in range(20): net.task(f't{n}', paced)")
    page.seen.clear()
    began = time.monotonic()
    kernel.run("net.run('x', show=True)")
    took = time.monotonic() - began
    sent = [message for _, message in page.seen]
    assert len(sent) <= 100 * max(took, 1)
    assert sum(size for size, _ in page.seen) <= 1_000_000
    tasks = [r for key, r in page.records().items() if key[0] == "T"]
    assert {r["word"] for r in tasks} == {"completed"}
