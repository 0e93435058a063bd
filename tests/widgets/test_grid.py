"""The live grid of an experiment, without a browser: records, budgets, ratings, pictures."""

from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.events import Delta, Event, Scope
from robotlab_nb.core.readings import reading
from robotlab_nb.lab import comparing
from robotlab_nb.lab.cell import Cell
from robotlab_nb.runtime import notebook
from robotlab_nb.widgets import grid_doc, grid_placing, grid_view
from robotlab_nb.widgets.grid_doc import GridDoc
from robotlab_nb.widgets.grid_rows import ANSWER, eta_words
from robotlab_nb.widgets.grid_view import PAINT_S, STILL_S, GridView
from tests.display import experiment_samples as lab
from tests.widgets.test_chat import applied, until
from tests.widgets.test_live_view import UNSEEN, Clock

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robotlab_nb.lab.experiment import Experiment

HOSTILE = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))
TEXTS = [text for group in HOSTILE.values() for text in group if isinstance(text, str)]
WIDGET = "application/vnd.jupyter.widget-view+json"
SAID = "It rains in the morning, and in the afternoon the sun comes out again, they say. "


class Wire:
    """Stands in for the widget: keeps what is sent."""

    def __init__(self, view: GridView, clock: Callable[[], float] = time.monotonic) -> None:
        self.view, self.clock = view, clock
        self.batches: list[dict[str, Any]] = []
        self.times: list[float] = []
        self.snapshots: list[dict[str, Any]] = []
        self.stills: list[dict[str, Any]] = []
        self.closed = False
        view.widget = self  # type: ignore[assignment]

    def send(self, message: dict[str, Any]) -> None:
        kept = json.loads(json.dumps(message))
        if "still" in kept:
            self.stills.append(kept)
        else:
            self.batches.append(kept)
            self.times.append(self.clock())

    def send_state(self, key: str) -> None:
        assert key == "snapshot"
        self.snapshots.append(json.loads(json.dumps(self.view.snapshot())))

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., GridView]]:
    """``start(…)``: a comparison in a thread of its own, and its grid, shown before it begins."""
    threads: list[threading.Thread] = []

    def begin(*given: Any, **named: Any) -> GridView:
        made: list[GridView] = []
        shown = threading.Event()

        def show(run: Any, wanted: bool | None) -> None:
            view = grid_placing.view_of(run)
            assert isinstance(view, GridView)
            made.append(view)
            shown.set()

        monkeypatch.setattr(comparing, "show_live", show)
        thread = threading.Thread(target=rl.compare, args=given, kwargs=named)
        thread.start()
        threads.append(thread)
        assert shown.wait(20)
        return made[0]

    yield begin
    for thread in threads:
        thread.join(60)


def painted(view: GridView) -> None:
    """Paint until it is over, as a notebook does."""
    end = time.monotonic() + 60
    while not view.over:
        view.paint()
        time.sleep(0.02)
        assert time.monotonic() < end
    view._next = 0.0
    view.paint()


def looked(view: GridView) -> dict[str, Any]:
    view.batch()
    return view.doc.records


def said(view: GridView, **content: Any) -> dict[str, Any]:
    view.heard({"id": f"page.{time.monotonic_ns()}", "hello": "page", **content})
    return looked(view)


# -- records -----------------------------------------------------------------------------------


def test_a_grid_is_rows_columns_and_cells_with_all_that_is_known() -> None:
    records = GridView(lab.an_experiment()).doc.records
    assert records["grid"]["figures"].replace("\u00a0", " ") == (
        "4 of 4 cells · 2 with failures · 1 from earlier · 178 tokens · $0.0014"
    )
    assert (records["R0"]["name"], records["H1"]["name"]) == ("late parcel", "v2")
    assert records["H0"]["sum"].startswith("short 2 of 2 · polite 1 of 2 · ★ 3.0")
    assert [(records[f"K{n}"]["r"], records[f"K{n}"]["c"]) for n in range(4)] == [
        (0, 0), (0, 1), (1, 0), (1, 1),
    ]  # fmt: skip
    cell = records["K2"]
    assert (cell["bad"], cell["rating"], cell["done"]) == (True, 2, True)
    assert cell["scores"][1] == ["✕", "polite failed: no apology", "kf"]
    assert records["K1"]["fig"].startswith("from\u00a0earlier")
    assert records["K3"]["err"].startswith("RateLimitError · rate limit (429)")
    assert records["grid"]["live"] is records["run"]["live"] is False


def test_it_fills_as_cells_are_asked_and_what_was_missed_is_in_the_snapshot(start: Any) -> None:
    model = rl.SimulatedModel(lambda request: SAID, pace=0.05)
    view = start({"a": "A {{ input }}", "b": "B {{ input }}"}, model, [f"i{n}" for n in range(4)])
    wire = Wire(view)
    first = json.loads(json.dumps(view.snapshot()))
    painted(view)
    shown = applied({}, first["ops"])
    numbers = []
    for batch in wire.batches:
        numbers.append(batch["n"])
        applied(shown, batch["ops"])
    assert numbers == list(range(1, len(numbers) + 1))
    assert shown == applied({}, view.snapshot()["ops"]) == view.doc.records
    grew = [c for b in wire.batches for key, c in b["ops"] if key[0] == "K" and type(c) is str]
    assert grew, "text streams in pieces"
    texts = {shown[f"K{n}"]["text"] for n in range(8)}
    assert texts == {SAID}
    for late in wire.snapshots:
        again = applied({}, late["ops"])
        for batch in wire.batches[late["n"] :]:
            applied(again, batch["ops"])
        assert again == shown


def test_an_answer_that_begins_again_is_shown_from_its_start() -> None:
    """An attempt that failed, and what a model said before it called a tool, are no answer."""
    cells = [lab.a_cell(0, status="running", text=None, run_id="r0"), lab.a_cell(1)]
    doc = GridDoc(lab.experiment_of(cells, "running"))
    doc.look()

    def piece(text: str, call: str, attempt: int, *, run: str = "r0", kind: str = "text") -> str:
        scope = Scope(run, "e1", "e1", 1, "robot", ("e", "bot"), "bot")
        doc.take([Delta(scope, call, attempt, kind, 0, text)])
        return str(doc.records["K0"]["text"])

    assert piece("I look", "c1", 1) == "I look"
    assert piece("I will", "c1", 2) == "I will"
    assert piece(" look", "c1", 2) == "I will look"
    assert piece("let me see", "c2", 1, kind="reasoning") == "I will look"
    assert doc.records["K0"]["say"] == "reasons"
    assert piece("It rains", "c2", 1) == "It rains"
    assert doc.records["K0"]["say"] == ""
    assert piece("a judge", "c3", 1, run="judge") == "It rains"
    started = Event("run.started", Scope("r9", "e1", "r0", 2, "robot", ("x",), "x"), 1, 0.0, {})
    doc.take([started])
    assert piece("inside a network", "c4", 1, run="r9") == "inside a network"
    assert piece("late", "c5", 1, run="r1") == "inside a network"
    assert doc.records["K1"]["text"].startswith("I am sorry")


def test_of_a_long_answer_the_start_is_sent_and_how_much_more_there_is(start: Any) -> None:
    view = start("{{ input }}", rl.SimulatedModel([SAID * 40], pace=0.002), ["one"])
    wire = Wire(view)
    painted(view)
    cell = looked(view)["K0"]
    assert len(cell["text"]) == ANSWER
    assert cell["more"] == len(SAID) * 40 - ANSWER
    assert sum(len(json.dumps(b)) for b in wire.batches) < 12 * ANSWER
    whole = said(view, look=0)["D0"]
    assert whole["text"] == SAID * 40
    assert whole["tree"][0][0] == "p"


def test_an_opened_cell_tells_prompt_input_error_and_what_was_expected() -> None:
    view = GridView(lab.an_experiment())
    more = said(view, look=3)["D3"]
    assert more["prompt"] == lab.PROMPTS["v2"]
    assert more["input"] == "I was charged twice."
    assert more["error"] == ["rate limit (429)", "Wait 20 s and run again."]
    for index in (0, 1, 2, 3, 99, -1):
        records = said(view, look=index)
    assert {key for key in records if key[0] == "D"} == {"D0", "D1", "D2", "D3"}
    many = GridView(lab.large(100))
    for index in range(50):
        records = said(many, look=index)
    kept = [key for key in records if key[0] == "D"]
    assert kept == [f"D{n}" for n in range(50 - grid_doc.OPENED, 50)], "a few, the latest"


def test_how_long_it_will_take_is_told_once_something_tells_it() -> None:
    done = [Cell(n, "", "p", "m", "i", status="completed") for n in range(4)]
    known = [Cell(9, "", "p", "m", "i", status="completed", cached=True)] * 90
    rest = [Cell(n, "", "p", "m", "i") for n in range(4, 24)]
    assert eta_words([*done, *known, *rest], 20.0) == "about 100\u00a0s left"
    assert eta_words([*done[:1], *rest], 20.0) == ""
    assert eta_words([*done], 20.0) == eta_words([*done, *rest], None) == ""
    assert eta_words([*done, *rest * 50], 20.0) == "about 1\u00a0h\u00a023\u00a0min left"


def test_of_a_very_large_grid_the_first_inputs_are_sent_and_the_rest_is_said() -> None:
    view = GridView(lab.large(5_000, columns=5))
    records = view.doc.records
    cells = [key for key in records if key[0] == "K"]
    assert len(cells) == grid_doc.MOST
    assert records["grid"]["left"] == 1_000 - grid_doc.MOST // 5
    assert "5,000 cells" in records["grid"]["figures"].replace("\u00a0", " ")
    assert said(view, look=4_999).get("D4999") is None


def test_what_was_only_planned_says_what_it_would_take_and_does_not_go_on() -> None:
    plan = rl.compare(["Count {{ input }}"], rl.SimulatedModel("x"), ["a", "b"], dry=True)
    view = GridView(plan)
    head = view.doc.records["grid"]
    assert head["plan"] == "planned: 2\u00a0calls, simulated: they cost nothing"
    assert head["live"] is False
    assert view.over
    assert [view.doc.records[f"K{n}"]["word"] for n in range(2)] == ["pending"] * 2


# -- how much is sent ----------------------------------------------------------------------------


def test_two_hundred_cells_are_few_bytes_and_ten_batches_a_second_at_most(start: Any) -> None:
    model = rl.SimulatedModel(lambda request: SAID * 3, pace=0.001)
    view = start(
        {"a": "A {{ input }}", "b": "B {{ input }}"}, model, [f"i{n}" for n in range(100)],
        evaluators=[rl.contains("rains")],
    )  # fmt: skip
    wire = Wire(view)
    painted(view)
    assert [len(looked(view)[f"K{n}"]["text"]) for n in range(200)] == [len(SAID) * 3] * 200
    batches = sum(len(json.dumps(batch)) for batch in wire.batches)
    snapshots = sum(len(json.dumps(each)) for each in wire.snapshots)
    print(f"{len(wire.batches)} batches, {batches:,} bytes, snapshots {snapshots:,}")
    # 243 characters of answer, about 400 of what is known of each cell.
    assert batches < 200 * 1_500
    assert snapshots < batches
    took = wire.times[-1] - wire.times[0]
    assert len(wire.batches) <= took / PAINT_S + 2, "the last one comes at once"


def test_nothing_is_sent_where_nothing_happens() -> None:
    view = GridView(lab.an_experiment())
    wire = Wire(view)
    for _ in range(5):
        view._next = 0.0
        view.paint()
    assert [batch["ops"] for batch in wire.batches] == []
    assert view.picture() is not None
    assert view.picture() is None


# -- ratings -------------------------------------------------------------------------------------


def compared(**more: Any) -> Experiment:
    model = rl.SimulatedModel(lambda request: f"on {request.messages[-1].text}")
    return rl.compare({"a": "A {{ input }}", "b": "B {{ input }}"}, model, ["x", "y"], **more)


def test_a_rating_is_the_experiments_own_and_in_its_frame() -> None:
    exp = compared()
    view = GridView(exp)
    assert said(view, rate=[2, 4])["K2"]["rating"] == 4
    assert said(view, note=[2, "warm <b>"])["K2"]["note"] == "warm <b>"
    assert (exp.cells[2].rating, exp.cells[2].note) == (4, "warm <b>")
    assert exp.frame["rating"].tolist()[2] == 4
    assert said(view, rate=[2, 5])["K2"]["note"] == "warm <b>", "the note stays"
    assert said(view, rate=[2, None])["K2"]["rating"] == 0
    assert (exp.cells[2].rating, exp.cells[2].note) == (None, "warm <b>")
    assert said(view, note=[2, ""])["K2"]["note"] == ""
    exp.rate(0, 3)
    assert looked(view)["K0"]["rating"] == 3, "rated in code as well"
    assert looked(view)["H0"]["sum"].startswith("★ 3.0")


def test_what_is_said_twice_counts_once_and_the_page_reads_that_it_was_heard() -> None:
    view = GridView(compared())
    first = {"id": "p.1", "rate": [0, 2], "hello": "p"}
    view.heard(first)
    view.heard({"id": "p.2", "rate": [0, 5], "hello": "p"})
    view.heard(first)
    assert view.thing.cells[0].rating == 5
    assert looked(view)["grid"]["heard"] == ["p.1", "p.2"]


@pytest.mark.parametrize(
    "content",
    [{"rate": [0, 9]}, {"rate": [77, 3]}, {"rate": "x"}, {"note": [None, None]}, {"rate": [0, "5"]},
     {"look": "x"}, {"look": True}, {"rate": None}, {"note": {}}],
)  # fmt: skip
def test_what_no_page_says_changes_nothing_and_is_told(content: dict[str, Any]) -> None:
    view = GridView(compared())
    records = said(view, **content)
    assert all(cell.rating is None and cell.note is None for cell in view.thing.cells)
    assert records["grid"]["refused"] or "look" in content
    assert said(view, rate=[0, 3])["grid"]["refused"] == ""


def test_a_rating_that_cannot_be_written_is_said_in_the_grid(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = GridView(compared())

    def full(*_: Any, **__: Any) -> Any:
        raise OSError("no space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(type(view.thing), "rate", full)
        assert said(view, rate=[0, 3])["grid"]["refused"] == "not kept: no space left on device"

    def warns(*_: Any, **__: Any) -> Any:
        import warnings

        warnings.warn("kept in this process only", RuntimeWarning, stacklevel=1)

    with monkeypatch.context() as patch:
        patch.setattr(type(view.thing), "rate", warns)
        assert said(view, rate=[0, 3])["grid"]["refused"] == "kept in this process only"


# -- stopping ------------------------------------------------------------------------------------


def test_stop_ends_it_and_what_is_finished_stays(
    start: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grid_view, "_PATIENCE_S", 600)  # it stops, and is not abandoned
    model = rl.SimulatedModel(lambda request: SAID, pace=0.05)
    view = start("{{ input }}", model, [f"i{n}" for n in range(40)], concurrency=4)
    Wire(view)
    until(lambda: any(key[0] == "K" and r["ended"] for key, r in looked(view).items()), 30)
    view.stopped_by(idle=True, blocked=False)
    assert view.doc.records["stop"] == {"how": "button"}
    view.heard({"stop": True, "hello": "p"})
    assert view.doc.records["stop"] == {"how": "stopping"}
    painted(view)
    records = looked(view)
    assert records["grid"]["word"] == "interrupted"
    assert records["grid"]["live"] is False
    states = [r["word"] for key, r in records.items() if key[0] == "K"]
    assert "completed" in states
    assert "not asked" in states
    assert "running" not in states


def test_a_click_is_promised_only_where_it_is_heard() -> None:
    view = GridView(lab.running())
    view.stopped_by(idle=False, blocked=True)
    assert view.doc.records["stop"]["how"] == "kernel"
    view.heard({"hello": "p"})
    view.stopped_by(idle=False, blocked=True)
    assert view.doc.records["stop"]["how"] == "button"
    view.stopped_by(idle=True, blocked=False)
    view.stopped_by(idle=False, blocked=True)
    assert view.doc.records["stop"]["how"] == "kernel", "another cell: not heard yet"


# -- pictures and places ---------------------------------------------------------------------------


def test_what_is_stored_is_a_picture_with_the_ratings_so_far_and_no_widget() -> None:
    clock = Clock()
    exp = compared()
    view = GridView(exp, clock=clock)
    wire = Wire(view)
    first = view.picture()
    assert first is not None
    assert f'class="rlnb-seat-{view.seat}"' in first[0]
    assert not view.ended, "somebody may rate"
    said(view, rate=[1, 4])
    assert view.picture() is None, "not at once"
    clock.now += STILL_S + len(first[0]) / 10_000
    stored = view.picture()
    assert stored is not None
    assert "rated\u00a04\u00a0of\u00a05" in stored[0]
    assert wire.stills == []
    said(view, hello="another page", rate=[1, 5])
    clock.now += 60
    view.picture()
    assert "rated" in wire.stills[0]["still"]["text/html"], "a page loaded again stores it itself"
    view.leave()
    assert view.ended
    view.push()
    assert wire.stills[-1]["last"] is True
    assert "rlnb-seat" not in wire.stills[-1]["still"]["text/html"]
    assert WIDGET not in view.last()


def test_pictures_of_a_large_grid_are_rare() -> None:
    clock = Clock()
    thing = lab.large(1_000)
    thing._state.status = "running"
    view = GridView(thing, clock=clock)
    sizes = []
    for _ in range(600):
        clock.now += 0.1
        thing._state.version += 1
        found = view.picture()
        sizes += [len(found[0])] if found else []
    assert sum(sizes) < 60 * 60_000
    assert len(sizes) >= 2


def test_a_grid_that_nobody_shows_is_a_picture_and_lets_its_widget_go() -> None:
    view = GridView(compared())
    wire = Wire(view)
    view.seated = False
    assert wire.closed
    assert view.widget is None
    assert view.ended
    live = GridView(lab.running())
    wire = Wire(live)
    live.seated = False
    assert not wire.closed, "it goes on: a front end that knows no outputs shows it"


class Painter:
    """A notebook's painter, as far as a grid asks it."""

    widgets: bool | None = None

    def __init__(self) -> None:
        self.opened: list[GridView] = []
        self.told: list[dict[str, str]] = []
        self.here: tuple[str, str] | None = ("cell-1", "run-1")
        self.shown: set[str] = set()

    def cell(self) -> tuple[str, str] | None:
        return self.here

    def shown_here(self, run_id: str) -> bool:
        return run_id in self.shown

    def open(self, view: GridView) -> None:
        Wire(view)
        self.opened.append(view)

    def tell(self, bundle: dict[str, str]) -> None:
        self.told.append(bundle)


@pytest.fixture
def painter(monkeypatch: pytest.MonkeyPatch) -> Painter:
    found = Painter()
    monkeypatch.setattr(grid_placing, "painter", lambda: found)
    monkeypatch.setattr(notebook, "painter", lambda: None)
    monkeypatch.setattr(grid_placing, "_shown", [])
    return found


def test_a_grid_moves_to_where_it_is_shown_last(painter: Painter) -> None:
    exp, other = compared(), compared()
    exp._ipython_display_()
    other._ipython_display_()
    first, second = painter.opened
    assert not first.ended, "two grids of one cell both stay"
    painter.here = ("cell-2", "run-2")
    exp._ipython_display_()
    assert first.ended
    assert not second.ended
    painter.here = ("cell-1", "run-3")
    compared()._ipython_display_()
    assert second.ended, "its cell was run again"


def test_a_cell_that_shows_it_live_says_so_in_one_line(painter: Painter) -> None:
    exp = compared(name="rain <b>")
    assert exp.run is not None
    painter.shown.add(exp.run.id)
    exp._ipython_display_()
    assert painter.opened == []
    painter.widgets = False
    exp._ipython_display_()
    assert [told["text/plain"] for told in painter.told] == [
        "✓ completed · rain <b> · shown above"
    ] * 2
    assert "rain &lt;b&gt;" in painter.told[0]["text/html"]


def test_where_no_widget_is_shown_it_is_its_picture(
    painter: Painter, monkeypatch: pytest.MonkeyPatch
) -> None:
    painter.widgets = False
    with pytest.raises(NotImplementedError):
        compared()._ipython_display_()
    monkeypatch.setattr(grid_placing, "painter", lambda: None)
    assert reading("grid")(compared()) is False
    assert painter.opened == []


def test_not_many_grids_wait_for_ratings_at_the_same_time(painter: Painter) -> None:
    for number in range(grid_placing._MOST + 3):
        painter.here = (f"cell-{number}", "run")
        lab.an_experiment()._ipython_display_()
    assert [view.ended for view in painter.opened] == [True] * 3 + [False] * grid_placing._MOST


def test_a_run_that_is_no_experiment_has_its_own_view() -> None:
    run = rl.build("bot", model=rl.SimulatedModel(["hi"])).start("go")
    run.result()
    assert type(grid_placing.view_of(run)).__name__ == "LiveView"
    view = GridView(compared())
    assert view.shows(view.run)
    assert not view.shows(run)
    view.close()
    view.close()


# -- what the cells' robots ask, and hostile text --------------------------------------------------


def test_what_a_cell_asks_a_person_has_its_card_in_the_grid(start: Any) -> None:
    @rl.tool(approval=True)
    def delete(path: str) -> str:
        """Delete a file."""
        return "gone"

    model = rl.SimulatedModel([("delete", {"path": "a.txt"}), "done"])
    bot = rl.build("cleaner", model=model, tools=[delete])
    view = start([bot], None, ["tidy up"])
    until(lambda: any(key[0] == "Q" for key in looked(view)), 20)
    card = next(r for key, r in view.doc.records.items() if key[0] == "Q")
    assert (card["who"], card["tool"]) == ("cleaner", "delete")
    view.thing.stop()
    painted(view)


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_is_visible_text_in_every_record(text: str) -> None:
    view = GridView(lab.an_experiment(text))
    records = said(view, look=0)
    said(view, look=1)
    sent = json.dumps([view.snapshot(), records], ensure_ascii=False)
    sent.encode("utf-8")  # no half of a character is left
    assert len(sent) < 500_000

    def strings(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, (list, dict)):
            for each in value.values() if isinstance(value, dict) else value:
                yield from strings(each)

    for each in strings(json.loads(sent)):
        assert not UNSEEN.search(each), re.sub(UNSEEN, "¤", each)


def test_a_key_that_is_a_secret_is_sent_to_no_page() -> None:
    from robotlab_nb.core import secrets

    key = "sk-grid-4fZq81LmW0cXy"
    secrets.register(key, "a key of this test")
    view = GridView(lab.an_experiment(f"before {key} after"))
    records = said(view, look=0)
    said(view, look=1)
    assert key not in json.dumps([records, view.snapshot(), view.last()], default=str)


def test_the_painter_opens_the_grid_of_an_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    from robotlab_nb.notebook.painter import Painter as Real

    class Shell(SimpleNamespace):
        kernel = SimpleNamespace(get_parent=dict)
        events = SimpleNamespace(register=lambda *_: None)

    found = Real(Shell())
    opened: list[Any] = []
    monkeypatch.setattr(found, "open", opened.append)
    exp = compared()
    assert exp.run is not None
    assert found.show(exp.run)
    assert isinstance(opened[0], GridView), "also when it has ended: somebody may rate"
