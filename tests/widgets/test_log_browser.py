"""A log browser, without a browser: wishes, what is sent, what is stored, logs that are no good."""

from __future__ import annotations

import json
import re
import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import html5lib  # type: ignore[import-untyped]
import pytest

import robotlab_nb as rl
from robotlab_nb.core.readings import html, text
from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.store import Batch, Store
from robotlab_nb.widgets.browser_box import BrowserBox
from robotlab_nb.widgets.browser_doc import BrowserDoc
from robotlab_nb.widgets.browser_found import Fault, Found, Offer
from robotlab_nb.widgets.browser_wishes import Wishes
from tests.benchmarks.log_tables import fill
from tests.display.test_hostile import check_visible, strings
from tests.display.trees import PAYLOADS, check_inert, sanitised, words_of
from tests.runlog.samples import Told, network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from robotlab_nb.widgets.browser_place import Browser


class Wire:
    """What a widget would carry."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send(self, content: Any) -> None:
        self.sent.append(json.loads(json.dumps(content)))

    def send_state(self, key: str) -> None:
        self.sent.append(key)

    def close(self) -> None:
        self.sent.append("closed")


class Page:
    """A front end of a browser: it says things and keeps the records that it is sent."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.box = BrowserBox(browser)
        self.wire = self.box.widget = Wire()  # type: ignore[assignment]
        self.records = dict(self.box.snapshot()["ops"])
        self.said = 0
        self.box._do("offers", self.box._offer)
        self.settle()

    def says(self, **content: Any) -> dict[str, Any]:
        """Say something, and wait until it is done; the head after that."""
        self.said += 1
        self.box.heard({**content, "id": f"page.{self.said}", "hello": "page"})
        return self.settle()

    def settle(self) -> dict[str, Any]:
        until(lambda: self.box._worker is None)
        sent, self.wire.sent[:] = [*self.wire.sent, self.box.batch()], []
        for key, change in (op for each in sent if isinstance(each, dict) for op in each["ops"]):
            if change is None:
                del self.records[key]
            else:
                self.records.setdefault(key, {}).update(change)
        assert self.records == dict(self.box.snapshot()["ops"])
        return self.records["head"]

    def rows(self, name: str = "run") -> list[Any]:
        return [record[name] for key, record in self.records.items() if key[0] == "R"]

    def offered(self, name: str) -> dict[str, tuple[int, int]]:
        """The values of a condition: their numbers, and how many runs have them."""
        for key, record in self.records.items():
            if key[0] == "F" and record["key"] == name:
                return {words: (number, runs) for number, words, runs in record["values"]}
        return {}

    def pick(self, name: str, words: str) -> dict[str, Any]:
        return self.says(pick=self.offered(name)[words][0])


def until(check: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[rl.Log]:
    monkeypatch.chdir(tmp_path)
    with Store.open("runs.sqlite") as store:
        for n in range(7):
            store.write(Batch(robot_run(f"{n:012x}", hours=n, robot="ann", calls=1 + n % 3)))
        store.write(Batch(robot_run("bad000000000", hours=8, robot="bob", end="run.failed")))
        store.write(Batch(network_run("f00d00000000", hours=9, network="desk")))
    with open_log("runs.sqlite") as opened:
        yield opened


# -- looking through -----------------------------------------------------------------------------


def test_the_newest_whole_runs_come_first_a_page_at_a_time(log: rl.Log) -> None:
    page = Page(log.browse(rows=4))
    head = page.records["head"]
    assert page.rows("name") == ["desk", "bob", "ann", "ann"]
    assert head["span"] == "1–4 of 9"
    assert head["size"] == "11\u00a0runs"
    assert (head["prev"], head["next"], head["nested"]) == (False, True, 2)
    assert page.says(page="next")["span"] == "5–8 of 9"
    assert page.says(page="next")["span"] == "9–9 of 9"
    assert page.says(page="next")["span"] == "9–9 of 9"
    assert page.says(page="prev")["span"] == "5–8 of 9"
    assert [run.id for run in page.browser.runs] == page.rows()


def test_a_row_says_what_a_run_was(log: rl.Log) -> None:
    log.tag("bad000000000", "odd")
    page = Page(log.browse())
    bad = page.records["R1"]
    assert bad["id"] == "bad000"
    assert (bad["icon"], bad["state"], bad["hue"]) == ("✕", "failed", "kf")
    assert bad["began"] == "2026-03-01 20:00:00"
    assert (bad["model"], bad["tokens"], bad["cost"]) == ("test/m", "15", "$0.2500")
    assert (bad["asked"], bad["said"], bad["tags"]) == ("Hello", "ok", ["odd"])
    network = page.records["R0"]
    assert (network["about"], network["tokens"], network["cost"]) == ("network", "30", "$0.5000")


def test_conditions_are_picked_among_what_there_is_and_the_code_says_the_same(log: rl.Log) -> None:
    page = Page(log.browse())
    assert page.offered("robot")["ann"][1] == 7
    assert page.offered("status") == {
        "✓\u00a0completed": (0, 10), "✕\u00a0failed": (1, 1)
    }  # fmt: skip
    page.pick("robot", "ann")
    page.pick("robot", "draft")
    head = page.pick("status", "✓\u00a0completed")
    assert head["span"] == "1–8 of 8"
    assert [chip[1:] for chip in head["chips"]] == [
        ["robot", "ann"], ["robot", "draft"], ["state", "✓\u00a0completed"],
    ]  # fmt: skip
    code = "rl.open_log('runs.sqlite').where(robot=['ann', 'draft'], status='completed')"
    assert page.browser.code.replace(str(Path.cwd()) + "/", "") == code
    assert head["code"].endswith(".frames.runs")
    same = eval(page.browser.code)
    assert [run.id for run in same] == page.rows() == [run.id for run in page.browser.selection]
    # What could be chosen instead is counted under the other conditions.
    assert page.offered("robot")["reply"][1] == 1
    assert "bob" not in page.offered("robot")
    page.says(drop=head["chips"][0][0])
    assert page.rows("name") == ["draft"]
    assert page.says(clear=True)["chips"] == []


def test_ratings_are_shown_beside_the_tags(log: rl.Log) -> None:
    log.rate("bad000000000", 4, "nearly")
    page = Page(log.browse())
    assert page.rows("rating")[:2] == ["", "★4"]
    assert "★4" in text(page.browser)


def test_the_code_of_whole_runs_leaves_out_what_is_not_shown(log: rl.Log) -> None:
    page = Page(log.browse())
    code = page.records["head"]["code"]
    assert code.endswith('.frames.runs.query("run_id == root_id")')
    assert sorted(eval(code)["run_id"]) == sorted(page.rows())
    head = page.says(inside=True)
    assert head["code"].endswith("').frames.runs")
    assert sorted(eval(head["code"])["run_id"]) == sorted(page.rows())
    assert [row["inside"] for key, row in page.records.items() if key[0] == "R"][:3] == [
        False, True, True,
    ]  # fmt: skip


def test_a_log_in_force_is_named_so_in_code(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        rl.build("poet", model=rl.SimulatedModel("ok")).run("a [poem]*")
        page = Page(rl.log.browse())
        head = page.says(words="[POEM]*")
        assert page.browser.code == "rl.log.where(input='*[[]POEM[]][*]*')"
        assert head["span"] == "1–1 of 1"
        assert [run.input for run in eval(page.browser.code)] == ["a [poem]*"]
        assert page.says(words="plum")["empty"] == "No run is like that."
        assert Page(rl.log.where(robot="poet").browse()).browser.code == (
            "rl.log.where(robot='poet')"
        )


def test_times_are_as_where_takes_them_and_what_is_none_is_told(log: rl.Log) -> None:
    page = Page(log.browse())
    head = page.says(since="2026-03-01T20:00:00+00:00")
    assert page.rows("name") == ["desk", "draft", "reply", "bob"]
    head = page.says(since="soon")
    assert "since is 'soon', which is no time" in head["wrong"]["since"]
    assert len(page.rows()) == 9, "what cannot be meant is passed over"
    assert "no time" in text(page.browser)
    head = page.says(until="2026-03-01T13:00:00+00:00")
    assert list(head["wrong"]) == ["since"]
    assert len(page.rows()) == 1
    assert page.says(since="")["wrong"] == {}


def test_a_column_puts_the_runs_in_order_and_once_more_the_other_way(log: rl.Log) -> None:
    page = Page(log.browse())
    page.says(sort="cost")
    dear = page.rows("cost")
    assert dear[0] == "$0.7500"
    assert dear == sorted(dear, reverse=True)
    head = page.says(sort="cost")
    assert page.rows("cost") == sorted(dear)
    assert (head["sort"], head["falling"]) == ("cost", False)


def test_a_selection_keeps_its_own_conditions(log: rl.Log) -> None:
    page = Page(log.where(robot="ann", since="2026-03-01").browse())
    head = page.records["head"]
    assert set(head["fixed"]) == {"robot", "since"}
    assert page.offered("robot") == {}
    page.pick("status", "✓\u00a0completed")
    page.says(since="1d")
    page.says(clear=True)
    assert len(page.rows()) == 7
    assert "robot='ann', since='2026-03-01'" in page.browser.code


def test_values_of_none_and_prompts_can_be_picked(log: rl.Log) -> None:
    page = Page(log.browse())
    page.pick("task", "no task")
    assert "task=[None]" in page.browser.code
    assert len(page.rows()) == 9


def test_a_value_is_that_very_value_whatever_signs_are_in_it(tmp_path: Path) -> None:
    with Store.open(tmp_path / "log.sqlite") as store:
        for number, name in enumerate(("a*", "ab", "[a]", "a", "a?")):
            store.write(Batch(robot_run(f"{number:012x}", robot=name)))
    with open_log(tmp_path / "log.sqlite") as log:
        page = Page(log.browse())
        for name in ("a*", "[a]", "a?"):
            page.pick("robot", name)
            assert page.rows("name") == [name]
            assert [run.robot for run in eval(page.browser.code)] == [name]
            page.says(clear=True)


def test_prompts_are_offered_with_their_words(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        for prompt in ("Be brief.", "Be kind.", "Be kind."):
            rl.build("b", system_prompt=prompt, model=rl.SimulatedModel("ok")).run("x")
        page = Page(rl.log.browse())
        words = {name[7:]: runs for name, (_, runs) in page.offered("prompt").items()}
        assert words == {"Be kind.": 2, "Be brief.": 1}
        page.pick("prompt", next(name for name in page.offered("prompt") if "brief" in name))
        assert len(page.rows()) == 1
        assert len(eval(page.browser.code)) == 1


# -- opening, comparing, tagging -----------------------------------------------------------------


def test_a_run_opens_under_the_table_and_is_there_for_the_next_cell(log: rl.Log) -> None:
    page = Page(log.browse())
    page.says(run=["bad000000000"])
    opened = page.records["O"]
    assert (opened["kind"], opened["title"], opened["fault"]) == ("run", "bad000 bob", "")
    assert "ModelError" in opened["html"]
    assert page.browser.open.id == "bad000000000"
    assert eval(opened["code"]).id == "bad000000000"
    assert opened["code"] in text(page.browser)
    page.says(run=["f00d00000000"])
    assert "data:image/svg+xml" in page.records["O"]["html"]
    page.says(shut=True)
    assert "O" not in page.records
    assert page.browser.open is None


def test_an_experiment_opens_as_its_grid(tmp_path: Path) -> None:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        model = rl.SimulatedModel(lambda request: f"{request.messages[-1].text}!", name="loud")
        rl.compare({"plain": "Be plain.", "kind": "Be kind."}, [model], ["one", "two"])
        page = Page(rl.log.browse())
        page.pick("kind", "experiment")
        assert page.rows("about") == ["experiment"]
        page.says(run=page.rows())
        opened = page.records["O"]
        assert opened["fault"] == ""
        for word in ("plain", "kind", "one!", "two!"):
            assert word in opened["html"]
        assert isinstance(page.browser.open, rl.Experiment)


def test_two_runs_are_shown_side_by_side(log: rl.Log) -> None:
    page = Page(log.browse())
    page.says(compare=["bad000000000", "000000000001"])
    opened = page.records["O"]
    shown = re.sub("<[^>]+>", " ", opened["html"])
    assert opened["code"].endswith(".compare('bad000', '000000000001')")
    for word in ("bad000 bob", "000000 ann", "failed", "completed", "$0.2500", "$0.5000"):
        assert word in shown
    assert isinstance(page.browser.open, rl.Diff)
    assert isinstance(eval(opened["code"]), rl.Diff)


def test_a_replay_is_a_list_of_steps_where_nothing_plays(log: rl.Log) -> None:
    page = Page(log.browse())
    page.says(replay=["000000000001"])
    assert isinstance(page.browser.open, rl.Replay)
    assert (
        "4 steps" in page.records["O"]["html"].replace("\u00a0", " ")
        or "steps" in (page.records["O"]["html"])
    )


def test_tags_are_given_and_taken_and_offered(log: rl.Log) -> None:
    page = Page(log.browse())
    page.says(run=["bad000000000"])
    page.says(tag=" odd one ", runs=["bad000000000", "000000000001"])
    assert log["bad000"].tags == log["000000000001"].tags == ("odd one",)
    assert page.records["R1"]["tags"] == ["odd one"]
    assert page.offered("tag")["odd one"][1] == 2
    ((number, word),) = page.records["O"]["tags"]
    assert word == "odd one"
    page.says(untag=number, runs=["bad000000000"])
    assert log["bad000"].tags == ()
    assert page.records["O"]["tags"] == []
    assert "1 to 200 letters" in page.says(tag="x" * 201, runs=["bad000000000"])["refused"]
    assert page.says(refresh=True)["refused"] == ""


def test_a_log_that_can_only_be_read_offers_no_tags_and_says_so(log: rl.Log) -> None:
    with open_log("runs.sqlite", readonly=True) as theirs:
        page = Page(theirs.browse())
        assert page.records["head"]["writable"] is False
        head = page.says(tag="mine", runs=["bad000000000"])
        assert "opened to be read" in head["refused"]
    assert log["bad000"].tags == ()


def test_what_is_not_there_any_more_says_so_when_it_is_opened(log: rl.Log) -> None:
    page = Page(log.browse())
    log.where(run_id="bad000000000").purge()
    for kind, runs in (("run", ["bad000000000"]), ("compare", ["bad000000000", "000000000001"])):
        page.says(**{kind: runs})
        assert "there is no run 'bad000000000'" in page.records["O"]["fault"]
        assert page.records["O"]["html"] == ""
        assert page.browser.open is None


@pytest.mark.parametrize(
    "nonsense",
    [
        {"pick": 99}, {"pick": -1}, {"pick": "0"}, {"drop": None}, {"sort": "name; DROP TABLE"},
        {"inside": "yes"}, {"page": 7}, {"run": "x"}, {"run": []}, {"run": [1]}, {"run": [["x"]]},
        {"compare": ["a"]}, {"tag": "x"}, {"tag": "x", "runs": "y"}, {"tag": 1, "runs": ["x"]},
        {"untag": True, "runs": ["x"]}, {"words": 1}, {},
    ],
)  # fmt: skip
def test_nonsense_changes_nothing(log: rl.Log, nonsense: dict[str, Any]) -> None:
    page = Page(log.browse())
    before = {**page.records, "head": {**page.records["head"], "heard": []}}
    page.says(**nonsense)
    assert {**page.records, "head": {**page.records["head"], "heard": []}} == before


# -- by itself -------------------------------------------------------------------------------------


def test_new_runs_appear_by_themselves_and_nothing_is_read_while_nothing_changes(
    log: rl.Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robotlab_nb.widgets.browser_box.LOOK_S", 0.01)
    monkeypatch.setattr("robotlab_nb.widgets.browser_box._SHARE", 1000)
    page = Page(log.browse())
    page.says(hello="again")
    reads: list[int] = []
    real = page.box._read
    monkeypatch.setattr(page.box, "_read", lambda **how: (reads.append(1), real(**how)))
    for _ in range(5):
        time.sleep(0.03)
        page.box.paint()
    page.settle()
    assert reads == []
    with Store.open("runs.sqlite") as store:
        store.write(Batch(robot_run("fff000000000", hours=20, robot="new")))

    def came() -> bool:
        page.box.paint()
        return any(seen.row.robot == "new" for seen in page.browser.found.rows)

    until(came)


def test_what_is_stored_follows_at_once_what_a_person_did_and_rarely_what_happened(
    log: rl.Log,
) -> None:
    now = [100.0]
    browser = log.browse()
    box = BrowserBox(browser, clock=lambda: now[0])
    assert "rlnb-seat-" in (box.picture() or ("",))[0]
    assert box.picture() is None
    box.heard({"sort": "cost", "id": "a"})
    until(lambda: box._worker is None)
    assert box.picture() is None, "at most one a second"
    now[0] += 2
    assert "by cost" in (box.picture() or ("", ""))[1]
    with Store.open("runs.sqlite") as store:
        store.write(Batch(robot_run("fff000000000", hours=20, robot="new")))
    box._do("look", box._read)
    until(lambda: box._worker is None)
    now[0] += 5
    assert box.picture() is None
    now[0] += 30
    assert box.picture() is not None


def test_what_is_said_twice_counts_once(log: rl.Log) -> None:
    page = Page(log.browse(rows=2))
    for content in ({"page": "next"}, {"sort": "cost"}):
        for _ in range(2):
            page.box.heard({**content, "id": str(content)})
        page.settle()
    head = page.records["head"]
    assert (head["sort"], head["falling"]) == ("cost", True)


# -- logs that are no good -----------------------------------------------------------------------


def shown(browser: Browser) -> str:
    drawn = html(browser) or ""
    assert "could not be drawn" not in drawn
    return text(browser)


def test_no_log_and_an_empty_one_say_so_and_fill_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with rl.options(log=None):
        page = Page(rl.log.browse())
        assert "rl.options.log is None" in page.records["head"]["empty"]
        assert "runs are not kept" in shown(page.browser)
        assert page.browser.runs == []
    with rl.options(log="log.sqlite"):
        page = Page(rl.log.browse())
        assert page.records["head"]["empty"] == "No runs yet: the first one appears here."
        assert "no runs yet" in shown(page.browser)
        rl.build("poet", model=rl.SimulatedModel("ok")).run("x")
        page.says(refresh=True)
        assert page.rows("name") == ["poet"]


def test_a_log_that_was_deleted_meanwhile_is_empty_and_one_that_is_none_says_what_it_is(
    log: rl.Log, tmp_path: Path
) -> None:
    page = Page(log.browse())
    for path in tmp_path.glob("runs.sqlite*"):
        path.unlink()
    head = page.says(refresh=True)
    assert page.rows() == []
    assert head["empty"] or head["fault"]
    shown(page.browser)
    (tmp_path / "runs.sqlite").write_text("this is no database" * 100)
    head = page.says(refresh=True)
    assert "no SQLite database" in head["fault"] or "runs.sqlite" in head["fault"]
    assert "✕" in shown(page.browser)


def test_options_that_name_no_log_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robotlab_nb.runtime.recording.wanted", lambda: "mysql://ann@db/runs")
    page = Page(rl.log.browse())
    assert "mysql is no database that it knows" in page.records["head"]["fault"]
    page.says(refresh=True)
    page.says(words="x")
    assert "postgresql://" in page.records["head"]["hint"]
    assert "mysql" in shown(page.browser)


def test_a_log_of_a_newer_version_says_so(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    fill(path, 3)
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE meta SET value = '99' WHERE key = 'layout'")
        if not raw.total_changes:
            raw.execute("UPDATE meta SET value = '99' WHERE key LIKE '%version%'")
    raw.close()
    with rl.options(log=str(path)):
        page = Page(rl.log.browse())
        assert page.records["head"]["fault"] != ""
        assert page.records["head"]["hint"] != ""
        assert page.says(sort="cost")["fault"] != ""
        shown(page.browser)


def test_a_locked_log_is_told_when_it_is_tagged_and_is_read_all_the_same(log: rl.Log) -> None:
    page = Page(log.browse())
    holder = sqlite3.connect("runs.sqlite", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        page.box.heard({"tag": "odd", "runs": ["bad000000000"], "id": "t"})
        assert len(page.says(sort="cost")["span"]) > 0
        until(lambda: page.box._worker is None, 60)
        assert "runs.sqlite" in page.settle()["refused"]
    finally:
        holder.close()
    page.says(tag="odd", runs=["bad000000000"])
    assert log["bad000"].tags == ("odd",)


def test_what_is_stored_reads_in_order_where_styles_and_folds_are_stripped(log: rl.Log) -> None:
    log.tag("bad000000000", "odd")
    browser = log.browse(rows=3)
    Page(browser).says(run=["bad000000000"])
    drawn = html(browser) or ""
    left = words_of(html5lib.parseFragment(sanitised(drawn), namespaceHTMLElements=False))
    at = -1
    for words in ("Log browser", "runs.sqlite", "11 runs", "1 failed", "asked → answered", "desk",
                  "network", "bob", "✕ failed", "20:00:00", "$0.2500", "odd", "Hello", "→ ok",
                  "1–3 of 9", "2 runs inside others are not listed", "frames.runs",
                  "['bad000']"):  # fmt: skip
        assert (at := left.replace("\u00a0", " ").find(words, at + 1)) >= 0, words
    lines = text(browser).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 96


def test_a_page_of_two_hundred_is_stored_as_its_first_thirty(tmp_path: Path) -> None:
    fill(tmp_path / "log.sqlite", 300)
    with open_log(tmp_path / "log.sqlite") as log:
        browser = log.browse(rows=200)
        assert len(browser.runs) == 200
        assert (html(browser) or "").count("<tr>") == 31
        assert "1–30 of 300" in text(browser)


def test_rows_of_a_page_are_checked(log: rl.Log) -> None:
    for wrong in (0, -1, 201, True, "50", None):
        with pytest.raises(rl.InputError, match="a page cannot have"):
            log.browse(rows=wrong)  # type: ignore[arg-type]


# -- hostile texts ---------------------------------------------------------------------------------


def test_texts_of_a_strangers_log_are_words_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    with Store.open(path) as store:
        for number, payload in enumerate(PAYLOADS):
            told = Told(f"{number:012x}", hours=number)
            robot_run(told.root_id, told=told, robot=payload or "-", tags=[payload or "-"])
            told.events[0].data.update(input=payload, model=payload)  # type: ignore[attr-defined]
            told.events[2].data["text"] = payload  # type: ignore[index]
            store.write(Batch(told.events))
    with open_log(path, readonly=True) as theirs:
        page = Page(theirs.browse(rows=200))
        check_inert(html(page.browser) or "")
        check_words(page.records)
        for number in range(0, len(PAYLOADS), 5):
            page.says(run=[f"{number:012x}"])
            check_words(page.records["O"])
            assert "<script" not in page.records["O"]["html"]
        for name in ("robot", "tag", "model"):
            for number, runs in list(page.offered(name).values())[:40:5]:
                head = page.says(pick=number)
                assert len(page.rows()) == runs, name
                assert "\n" not in head["code"]
                page.says(clear=True)


def check_words(told: Any) -> None:
    """What is sent is JSON of visible text."""
    sent = json.dumps(told, ensure_ascii=False)
    sent.encode("utf-8")
    for each in strings(json.loads(sent)):
        check_visible(each)


def test_values_that_are_offered_are_words(log: rl.Log) -> None:
    doc = BrowserDoc()
    for name in ("robot", "prompt", "status"):
        doc.offers({name: [Offer(payload, 1, payload) for payload in PAYLOADS]})
        check_words(doc.records)
        for payload in PAYLOADS:
            assert doc.meant(doc.number(name, payload)) == (name, payload)
    wishes = Wishes(log, {"robot": tuple(PAYLOADS)}, words="\u202e\x1b[31m")
    doc.head(wishes, Found("\u202e<b>", fault=Fault("\u202e", "\x1b")), 1)
    head = {**doc.records["head"], "words": ""}  # what was typed stays as it was typed
    check_words(head)


# -- how much, how long ----------------------------------------------------------------------------


def test_a_page_of_a_large_log_is_small_and_there_at_once(tmp_path: Path) -> None:
    fill(tmp_path / "log.sqlite", 10_000)
    with open_log(tmp_path / "log.sqlite") as log:
        began = time.perf_counter()
        page = Page(log.browse())
        took = time.perf_counter() - began
        assert len(page.rows()) == 50
        assert took < 10, "a slow machine has time; measured: a twentieth of a second"
        first = len(json.dumps(page.box.snapshot()))
        assert first < 40_000
        assert len(html(page.browser) or "") < 40_000
        batches = []
        for content in ({"page": "next"}, {"sort": "cost"}, {"words": "x"}, {"clear": True}):
            page.box.heard({**content, "id": str(content)})
            until(lambda: page.box._worker is None)
            batches.append(len(json.dumps(page.box.batch())))
        assert max(batches) < 40_000, batches


def test_a_slow_log_holds_up_nobody_and_the_latest_wish_counts(
    log: rl.Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Page(log.browse())
    gate, asked = threading.Event(), []
    from robotlab_nb.widgets import browser_box

    real = browser_box.look

    def slow(wishes: Any, most: int) -> Any:
        asked.append(wishes.words)
        gate.wait(30)
        return real(wishes, most)

    monkeypatch.setattr(browser_box, "look", slow)
    began = time.monotonic()
    for number, words in enumerate(("h", "he", "hel", "Hello")):
        page.box.heard({"words": words, "id": f"w{number}"})
        page.box.paint()
    assert time.monotonic() - began < 5
    until(lambda: asked)
    gate.set()
    page.settle()
    # One look goes on and another may have begun before it; all that came meanwhile is one.
    assert asked[-1] == "Hello"
    assert len(asked) <= 3, asked
    assert page.records["head"]["words"] == "Hello"
    assert len(page.rows()) == 11 - 1
