"""The live view of a network in a real browser: its graph, columns, copying, the reader's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.events import Delta, Event, Scope
from robotlab_nb.core.messages import Message, TextPart
from robotlab_nb.widgets.live_doc import LiveDoc

from .test_live_browser import HOSTILE, Alone

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from .conftest import Notebook


class Net:
    """A network's run, told step by step to a front end that is alone on its page."""

    def __init__(self, alone: Alone, *graph: dict[str, Any]) -> None:
        self.alone, self.page = alone, alone.page
        self.scope = Scope("r", "r", None, 0, "network", ("net",), None)
        self.doc = LiveDoc(self.scope)
        self.count = 0
        told = [{"kind": "robot", "robot": d["task"], "depends_on": [], **d} for d in graph]
        self.doc.take([Event("run.started", self.scope, 0, 0.0, {"name": "net", "graph": told})])
        alone.show({"n": 0, "at": 0.0, "ops": self.doc.whole()})

    def scope_of(self, task: str) -> Scope:
        return Scope(f"r.{task}", "r", "r", 1, "robot", ("net", task), task)

    def take(self, item: Any, at: float) -> None:
        self.count += 1
        self.alone.send({"n": self.count, "at": at, "ops": self.doc.take([item])})

    def tell(self, at: float, what: str, inside: str = "", **data: Any) -> None:
        scope = self.scope_of(inside) if inside else self.scope
        if what.startswith("task."):
            scope = Scope("r", "r", None, 0, "task", ("net", data["task"]), None)
        self.take(Event(what, scope, self.count, at, data), at)  # type: ignore[arg-type]

    def begin(self, task: str, at: float = 0.0) -> None:
        self.tell(at, "task.started", task=task, waited_s=0.0)
        self.tell(at, "run.started", task, name=task)
        self.ask(task, at)

    def ask(self, task: str, at: float = 0.0) -> None:
        call = {"call_id": f"{task}{self.count}", "round": 1, "model": "m", "message_ids": []}
        self.tell(at, "model_call.started", task, **call)

    def write(self, task: str, text: str, at: float = 1.0) -> None:
        self.take(Delta(self.scope_of(task), "c", 1, "text", 0, text), at)

    def say(self, task: str, text: str, at: float = 1.0) -> None:
        message = Message("assistant", [TextPart(text)]).to_dict()
        self.tell(at, "message.added", task, message=message)

    def tool(self, task: str, name: str, given: str, content: str) -> None:
        call = {"tool_call_id": f"{task}{self.count}"}
        self.tell(1.0, "tool_call.started", task, **call, tool=name, arguments_text=given)
        done = {"status": "completed", "content": content, "duration_s": 0.1}
        self.tell(1.0, "tool_call.completed", task, **call, **done)

    def end(self, task: str, at: float) -> None:
        self.tell(at, "run.completed", task)
        self.tell(at, "task.completed", task=task, text="x")

    @property
    def boxes(self) -> Locator:
        return self.page.locator(".rlnb-node")

    def words(self, number: int) -> str:
        """What a box shows, in order."""
        return words(self.boxes.nth(number))

    @property
    def entries(self) -> Locator:
        return self.alone.log.locator("blockquote:visible")


def words(box: Locator) -> str:
    return " ".join(box.locator("text").all_text_contents()).replace("\u00a0", " ")


@pytest.fixture
def alone(page: Page) -> Alone:
    return Alone(page)


def two(alone: Alone) -> Net:
    return Net(alone, {"task": "first"}, {"task": "second", "depends_on": ["first"]})


# -- the graph ----------------------------------------------------------------------------------


def test_boxes_and_edges_change_and_are_never_drawn_again(alone: Alone) -> None:
    net = two(alone)
    alone.page.evaluate(
        "window.was = [...document.querySelectorAll('.rlnb-net :is(g,path,rect,text)')]"
    )
    edge = alone.page.locator(".rlnb-graph .rlnb-edge")
    assert "rlnb-thin" in (edge.get_attribute("class") or "")
    assert "rlnb-faint" in (net.boxes.nth(1).get_attribute("class") or "")
    assert "needs first" in net.words(1)
    net.begin("first")
    assert "running" in net.words(0)
    assert "rlnb-kr" in (net.boxes.first.get_attribute("class") or "")
    net.tell(3.0, "run.completed", "first")
    net.tell(3.0, "task.completed", task="first", text="x")
    net.begin("second", 3.0)
    net.tell(5.0, "task.failed", task="second", error={"type": "Error", "message": "no money"})
    assert "completed" in net.words(0)
    assert "3.0 s" in net.words(0)
    assert "rlnb-thin" not in (edge.get_attribute("class") or "")
    label = net.boxes.nth(1).get_attribute("aria-label") or ""
    assert label == "second · failed · no money"
    assert "rlnb-kf" in (net.boxes.nth(1).get_attribute("class") or "")
    # A whole snapshot, as after a lost batch, changes what is there too.
    net.count += 5
    alone.snapshot({"n": net.count, "at": 6.0, "ops": net.doc.whole()})
    assert net.boxes.count() == 2
    same = (
        "[...document.querySelectorAll('.rlnb-net :is(g,path,rect,text)')]"
        ".every((e, n) => e === was[n]) && was.length"
    )
    assert alone.page.evaluate(same)


def test_the_time_of_a_task_at_work_goes_on_without_a_message(alone: Alone) -> None:
    net = two(alone)
    net.begin("first")
    box = net.boxes.first
    before = box.text_content()
    alone.page.wait_for_function(
        "was => document.querySelector('.rlnb-node').textContent !== was && "
        "/[1-9]\\d*.s/.test(document.querySelector('.rlnb-node').textContent)",
        arg=before,
        timeout=5000,
    )


def test_a_box_shows_its_tasks_entries_alone_and_there_is_a_way_back(alone: Alone) -> None:
    net, page = two(alone), alone.page
    for task in ("first", "second"):
        net.begin(task)
        net.say(task, f"the answer of {task}")
    assert net.entries.count() == 2
    net.boxes.nth(1).click()
    assert net.entries.count() == 1
    assert "answer of second" in net.entries.inner_text()
    assert alone.log.get_attribute("aria-label") == "Transcript of task second"
    back = page.get_by_role("button", name="Only task second: show all again")
    assert page.locator("[aria-pressed=true].rlnb-node").count() == 1
    # What comes meanwhile of others stays hidden, what comes of this one shows.
    net.ask("first")
    net.say("first", "more of first")
    net.ask("second")
    net.say("second", "more of second")
    assert net.entries.count() == 2
    back.click()
    assert net.entries.count() == 4
    assert page.locator("[aria-pressed=true].rlnb-node").count() == 0
    net.boxes.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert net.entries.count() == 2
    assert "second" in net.entries.first.inner_text()
    page.keyboard.press("Space")
    assert net.entries.count() == 4
    # A robot's lane and a task's box are not chosen together.
    net.boxes.first.click()
    page.locator(".rlnb-lane", has_text="second").click()
    assert page.locator(".rlnb-live [aria-pressed=true]").all_inner_texts()[0].startswith("▲")
    assert "Only second" in page.locator(".rlnb-live").inner_text()


def test_a_task_without_a_word_yet_says_so(alone: Alone) -> None:
    net = two(alone)
    net.boxes.nth(1).click()
    assert "Nothing of task second yet." in alone.log.inner_text()
    net.begin("second")
    net.say("second", "here I am")
    assert "Nothing" not in alone.log.inner_text()
    assert "here I am" in alone.log.inner_text()


def test_many_boxes_are_one_stop_of_the_tab_key_and_say_that_there_are_more(alone: Alone) -> None:
    page = alone.page
    page.set_viewport_size({"width": 480, "height": 900})
    graph = [{"task": f"t{n}", "depends_on": [f"t{n - 3}"] if n >= 3 else []} for n in range(40)]
    net = Net(alone, *graph)
    assert net.boxes.count() == 40
    assert page.locator(".rlnb-node[tabindex='0']").count() == 1
    net.boxes.first.focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("t5 ·")
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("t39 ·")
    assert page.locator(".rlnb-node[tabindex='0']").count() == 1
    place = page.locator(".rlnb-graph")
    place.evaluate("e => e.scrollTo(0, 0)")
    more = page.get_by_role("button", name="more →")
    more.wait_for()
    more.click()
    assert place.evaluate("e => e.scrollLeft") > 100
    place.evaluate("e => e.scrollTo(e.scrollWidth, e.scrollHeight)")
    page.get_by_role("button", name="← back").click()
    page.wait_for_function("() => document.querySelector('.rlnb-graph').scrollLeft === 0")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_phases_of_a_large_network_count_and_choose_their_tasks(alone: Alone) -> None:
    graph = [{"task": f"t{n}", "depends_on": [f"t{n - 20}"] if n >= 20 else []} for n in range(160)]
    net = Net(alone, *graph)
    assert net.boxes.count() == 8
    net.begin("t0")
    net.say("t0", "of the first phase")
    net.begin("t25", 1.0)
    net.say("t25", "of the second phase")
    first = net.words(0)
    assert "19 pending" in first
    assert "1 running" in first
    net.boxes.nth(1).click()
    assert net.entries.count() == 1
    assert "of the second phase" in net.entries.inner_text()


# -- side by side -------------------------------------------------------------------------------


def test_columns_are_in_the_order_of_the_lanes_and_keep_what_is_open(alone: Alone) -> None:
    net, page = two(alone), alone.page
    for task in ("second", "first"):  # the order of the lanes is that of the tasks
        net.begin(task)
        net.tool(task, f"look_{task}", '{"a": 1}', "found")
        net.say(task, f"the answer of {task}")
    alone.log.locator("summary", has_text="look_first").click()
    text = alone.log.locator(".rlnb-t", has_text="answer of second")
    text.evaluate("e => getSelection().setBaseAndExtent(e.firstChild, 4, e.firstChild, 10)")
    split = page.get_by_role("button", name="By robot")
    split.click()
    assert split.get_attribute("aria-pressed") == "true"
    columns = page.locator(".rlnb-col")
    heads = columns.locator("> p:first-child").all_inner_texts()
    assert [head.split("\u00a0")[-1] for head in heads] == ["first", "second"]
    assert "answer of first" in columns.first.inner_text()
    left, right = (columns.nth(n).bounding_box() for n in (0, 1))
    assert left
    assert right
    assert (left["x"] + left["width"], left["y"]) <= (right["x"], right["y"])
    assert columns.first.locator("details[open]").count() == 1
    assert page.evaluate("String(getSelection())") == "answer"
    net.ask("first")
    net.say("first", "one more")
    assert "one more" in columns.first.inner_text()
    split.click()
    assert page.locator(".rlnb-col blockquote").count() == 0
    said = alone.log.locator("p > .rlnb-t").all_text_contents()
    assert said == ["the answer of second", "the answer of first", "one more"]
    assert alone.log.locator("details[open]").count() == 1


@pytest.mark.parametrize("by", [False, True], ids=["merged", "by robot"])
def test_a_hundred_pieces_leave_the_reader_where_they_are(alone: Alone, by: bool) -> None:
    net, page = two(alone), alone.page
    for task in ("first", "second"):
        net.begin(task)
        net.tool(task, f"look_{task}", '{"a": 1}', "found " * 40)
        for number in range(12):
            net.ask(task)
            net.say(task, f"A longer answer with the number {number}. " * 4)
        net.ask(task)
        net.write(task, "word " * 120)
    if by:
        page.get_by_role("button", name="By robot").click()
    place = page.locator(".rlnb-col").first if by else alone.log
    other = page.locator(".rlnb-col").nth(1)
    below = "e => e.scrollHeight - e.scrollTop - e.clientHeight"
    assert place.evaluate(below) < 2
    place.evaluate("e => { e.scrollTop = 60 }")
    page.wait_for_timeout(50)
    alone.log.locator("summary", has_text="look_first").click()
    page.wait_for_timeout(50)
    text = alone.log.locator(".rlnb-on").first
    text.evaluate("e => getSelection().setBaseAndExtent(e.firstChild, 5, e.firstChild, 14)")
    at = place.evaluate("e => e.scrollTop")
    wide = page.locator(".rlnb-graph").evaluate("e => e.scrollLeft")
    for number in range(100):
        net.write(("first", "second")[number % 2], "and some more text ", 2 + number / 10)
    assert abs(place.evaluate("e => e.scrollTop") - at) <= 2
    assert page.evaluate("String(getSelection())") == "word word"
    assert alone.log.locator("details[open]").count() == 1
    assert page.locator(".rlnb-graph").evaluate("e => e.scrollLeft") == wide
    if by:
        assert other.evaluate(below) < 2, "the column whose end is seen follows"
    page.get_by_role("button", name="Newest").click()
    assert place.evaluate(below) < 2
    net.write("first", "the end " * 50)
    assert place.evaluate(below) < 2, "at the end it follows"


# -- copying ------------------------------------------------------------------------------------


def test_answers_arguments_and_results_are_copied(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.route("http://localhost:1/", lambda route: route.fulfill(body="<title>x</title>"))
    page.goto("http://localhost:1/")
    net = two(Alone(page))
    net.begin("first")
    net.tool("first", "look", '{"city": "Paris"}', "18 °C")
    net.say("first", "It is warm.")
    log = net.alone.log
    read = "navigator.clipboard.readText()"
    entry = log.locator("blockquote").first
    entry.hover()
    entry.get_by_role("button", name="copy").last.click()
    page.wait_for_function("() => document.body.innerText.includes('copied')")
    assert page.evaluate(read) in ("It is warm.", "Paris")
    log.locator("summary", has_text="look").click()
    copies = log.locator("details[open] .rlnb-copy")
    for button, words in zip(copies.all(), ('{"city": "Paris"}', "18 °C"), strict=True):
        button.focus()
        page.keyboard.press("Enter")
        button.filter(has_text="copied").wait_for()
        assert page.evaluate(read) == words
    log.locator(".rlnb-h .rlnb-copy:visible").last.click()
    page.wait_for_function(f"async () => await {read} === 'It is warm.'")


def test_where_the_clipboard_is_closed_the_text_is_selected(alone: Alone) -> None:
    net, page = two(alone), alone.page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate("document.execCommand = () => false")
    net.begin("first")
    net.tool("first", "look", '{"city": "Paris"}', "18 °C")
    alone.log.locator("summary", has_text="look").click()
    button = alone.log.locator("details[open] .rlnb-copy").first
    button.click()
    assert button.inner_text() == "selected"
    assert page.evaluate("String(getSelection())").strip() == '{"city": "Paris"}'


# -- for everybody ------------------------------------------------------------------------------


def test_hostile_names_stay_text_in_the_graph(alone: Alone) -> None:
    markup = "<img src=x onerror=alert(1)>"
    texts = [*HOSTILE[-40:], markup]
    graph = [{"task": text or "-", "group": text, "robot": text} for text in dict.fromkeys(texts)]
    net = Net(alone, *graph)
    for told in graph:
        task = told["task"]
        net.tell(0.0, "task.started", task=task, waited_s=0.0)
        net.tell(1.0, "task.failed", task=task, error={"message": task})
    for node in net.boxes.all()[:3]:
        node.click()
    alone.page.wait_for_timeout(100)
    assert alone.page.evaluate("hurt") == 0
    label = f"{markup} · failed · {markup} · group {markup}"
    assert net.boxes.last.get_attribute("aria-label") == label
    tags = alone.page.evaluate(
        "[...new Set([...document.querySelectorAll('.rlnb-net *')].map(e => e.localName))].sort()"
    )
    assert set(tags) <= {"g", "path", "rect", "text", "title", "tspan"}
    names = (
        "[...new Set([...document.querySelectorAll('#el *')].flatMap(e => e.getAttributeNames()))]"
    )
    assert not [name for name in alone.page.evaluate(names) if name.startswith("on")]


# Every text's contrast with what is behind it, the least first; only opaque paper is looked at.
CONTRAST = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const rgb = (paper, ...inks) => {
    for (const ink of [paper, ...inks]) { canvas.fillStyle = ink; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data.slice(0, 3)];
  };
  const light = c => { const [r, g, b] = c.map(v => v / 255)
    .map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b };
  const paper = getComputedStyle(document.body).backgroundColor;
  const found = [];
  for (const node of document.querySelectorAll('.rlnb-net text, .rlnb-net tspan')) {
    if (!node.textContent) continue;
    const sheet = node.closest('g').querySelector('.rlnb-sheet');
    const behind = sheet ? getComputedStyle(sheet).fill : paper;
    const [a, b] = [light(rgb(paper, behind)),
      light(rgb(paper, behind, getComputedStyle(node).fill))];
    found.push([(Math.max(a, b) + .05) / (Math.min(a, b) + .05), node.textContent]);
  }
  return found.sort((a, b) => a[0] - b[0]);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_control_has_a_name_and_every_word_stands_out(alone: Alone, theme: str) -> None:
    net, page = two(alone), alone.page
    colours = {"light": ("#fff", "#000"), "dark": ("#111", "#eee")}[theme]
    page.add_style_tag(content="body{{background:{};color:{}}}".format(*colours))
    net.begin("first")
    net.tool("first", "look", '{"city": "Paris"}', "18 °C")
    net.tell(1.0, "task.failed", task="first", error={"message": "no"})
    net.begin("second", 2.0)
    net.boxes.first.click()
    controls = page.locator(".rlnb-live :is(button,[role=button],[role=region],[role=group])")
    for control in controls.all():
        named = "e => e.getAttribute('aria-label') || e.textContent.trim()"
        assert control.evaluate(named), control.evaluate("e => e.outerHTML")
    assert page.locator(".rlnb-live [aria-live]").count() == 1
    worst = page.evaluate(CONTRAST)
    assert len(worst) >= 8
    assert worst[0][0] >= 4.5, worst[:3]


# -- in JupyterLab ------------------------------------------------------------------------------

SETUP = """
import robotlab_nb as rl
words = " ".join(f"word{n:03d}" for n in range(600))
fast = rl.build("fast", model=rl.SimulatedModel(["at once"]))
slow = rl.build("slow", model=rl.SimulatedModel([words], pace=0.05))
net = rl.create_network("pair")
net.task("one", fast)
net.task("two", slow, depends_on=["one"])
net.task("check", rl.Human("editor", choices=["yes", "no"]), depends_on=["one"])
net.task("last", fast, depends_on=["two", "check"])
"""


def test_a_network_in_jupyterlab_waits_for_a_person_and_comes_back_after_a_reload(
    notebook: Callable[..., Notebook],
    opened: Callable[[Path], Notebook],
    screenshot: Callable[..., Any],
) -> None:
    book = notebook([SETUP, "run = net.start('go')\nrun"])
    book.run(0)
    book.run(1)
    view = book.output(1).locator(".rlnb-live")
    view.locator("p > .rlnb-on").wait_for()
    box = view.locator(".rlnb-node", has_text="check")
    box.filter(has_text="waiting for you").wait_for()
    assert "running" in words(view.locator(".rlnb-node", has_text="two"))
    view.locator(".rlnb-node", has_text="one").focus()
    book.page.keyboard.press("Enter")
    view.get_by_role("button", name="Only task one").wait_for()
    entry = view.locator(".rlnb-log blockquote:visible")
    assert "at once" in entry.inner_text()
    view.get_by_role("button", name="Only task one").click()
    for theme in ("light", "dark"):
        screenshot("live_network", theme, book.output(1))
    book.save()
    book = opened(book.path)
    view = book.output(1).locator(".rlnb-live")
    view.locator(".rlnb-node", has_text="check").filter(has_text="waiting for you").wait_for(
        timeout=60_000
    )
    assert view.locator(".rlnb-node").count() == 4
    assert book.value("run.answer('yes'); run.cancel(); print('ok')") == "ok"
    book.output(1).get_by_text("interrupted").first.wait_for(timeout=15_000)
