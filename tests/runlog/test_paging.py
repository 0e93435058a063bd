"""The pages of a log, in every order, and the values that its runs have: on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.runlog.opened import open_log
from robotlab_nb.runlog.paging import FACETS, SORTS, answers, counted, page
from robotlab_nb.runlog.store import Batch, Store, Where
from tests.runlog.samples import Told, network_run, robot_run
from tests.widgets.test_log_browser import Page

if TYPE_CHECKING:
    from robotlab_nb.runlog.paging import Key


def pages(store: Store, most: int = 3, **how: Any) -> list[list[str]]:
    """All pages, one after the other."""
    found: list[list[str]] = []
    after: Key | None = None
    while len(found) < 50:
        rows, after = page(store, how.get("where", Where()), most=most, after=after, **{
            name: value for name, value in how.items() if name != "where"
        })  # fmt: skip
        found.append([row.run_id for row in rows])
        if after is None:
            return found
    raise AssertionError("there is no end of pages")


@pytest.fixture
def filled(store: Store) -> Store:
    """Robots that ask once to four times, one that costs nothing known, and two networks."""
    for n in range(8):
        store.write(Batch(robot_run(f"r{n}", hours=n, robot=f"bot{n % 3}", calls=1 + n % 4)))
    store.write(Batch(robot_run("idle", hours=9, robot="bot1", calls=0, end=None)))
    store.write(Batch(network_run("n1", hours=3.5)))
    store.write(Batch(network_run("n2", hours=10, robots=("draft",), network="other")))
    return store


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("falling", [True, False])
@pytest.mark.parametrize("roots", [True, False])
def test_pages_hold_every_run_once_in_the_order_of_all(
    filled: Store, sort: str, falling: bool, roots: bool
) -> None:
    (whole,) = pages(filled, 100, sort=sort, falling=falling, roots=roots)
    for most in (1, 3, 13):
        cut = pages(filled, most, sort=sort, falling=falling, roots=roots)
        assert [run for each in cut for run in each] == whole
        assert all(len(each) == most for each in cut[:-1])
    assert len(set(whole)) == len(whole) == (11 if roots else 14)


def test_the_newest_root_is_first_and_what_ran_inside_comes_after_it(filled: Store) -> None:
    (whole,) = pages(filled, 100)
    assert whole[:4] == ["n2", "n2-draft", "idle", "r7"]
    assert whole[whole.index("n1") :][:3] == ["n1", "n1-draft", "n1-reply"]


def test_the_dearest_is_first_and_a_network_costs_what_is_inside_it(filled: Store) -> None:
    (whole,) = pages(filled, 100, sort="cost", roots=True)
    # Four calls, three calls, two calls or a network of two, one; nothing known last.
    assert set(whole[:2]) == {"r3", "r7"}
    assert "n1" in whole[4:7]
    assert whole[-1] == "idle"
    (rising,) = pages(filled, 100, sort="cost", roots=True, falling=False)
    assert set(rising[:3]) == {"r0", "r4", "n2"}
    assert rising[-1] == "idle"
    assert pages(filled, 100, sort="tokens", roots=True)[0][:2] == ["r3", "r7"]


def test_what_has_not_ended_took_no_time_that_is_known(filled: Store) -> None:
    for falling in (True, False):
        assert pages(filled, 100, sort="duration", roots=True, falling=falling)[0][-1] == "idle"


def test_a_page_stays_where_it_was_when_new_runs_come(filled: Store) -> None:
    first, after = page(filled, Where(), most=3, roots=True)
    before = page(filled, Where(), most=3, roots=True, after=after).rows
    filled.write(Batch(robot_run("new", hours=99)))
    assert page(filled, Where(), most=3, roots=True, after=after).rows == before
    assert page(filled, Where(), most=3, roots=True).rows[0].run_id == "new"
    assert first[0].run_id == "n2"


def test_conditions_hold_on_every_page(filled: Store) -> None:
    assert pages(filled, 2, where=Where(robot="bot1")) == [["idle", "r7"], ["r4", "r1"]]
    assert pages(filled, 2, where=Where(robot="nobody")) == [[]]


def test_tags_come_with_the_rows(filled: Store) -> None:
    filled.tag(["n2"], ["good"])
    filled.tag(["n2"], ["<b>"])
    assert page(filled, Where(), most=1).rows[0].tags == ("good", "<b>")


# -- values ------------------------------------------------------------------------------------


def test_values_are_counted_as_the_condition_finds_them(filled: Store) -> None:
    filled.tag(["n1", "r1"], ["good"])
    filled.tag(["r1"], ["gone"])
    filled.tag(["r1"], [], remove=["gone"])
    for name in FACETS:
        for value, number in counted(filled, Where(), name):
            meant = [value] if value is None else value
            assert number == len(list(filled.select(Where(**{name: meant})))), (name, value)
    assert dict(counted(filled, Where(), "tag")) == {"good": 4}
    assert counted(filled, Where(), "robot", most=1) == [("bot1", 4)]


def test_values_are_those_of_the_runs_that_are_meant_otherwise(filled: Store) -> None:
    where = Where(network="support", robot="draft")
    # What is said of robots is passed over: one may choose another.
    assert dict(counted(filled, where, "robot")) == {"draft": 1, "reply": 1, None: 1}
    assert dict(counted(filled, where, "task")) == {"do draft": 1}


def test_hostile_values_come_back_as_they_were(store: Store) -> None:
    name = "'; DROP TABLE runs; --\x00\ud800\\ <b>"
    store.write(Batch(robot_run("r", robot=name)))
    assert counted(store, Where(), "robot") == [(name, 1)]


# -- what was asked, what was answered -----------------------------------------------------------


def test_runs_are_found_by_words_of_what_they_were_asked_in_any_case(store: Store) -> None:
    for number, asked in enumerate(("A REFUND, please", "it crashes", "100%_ [sure]", "a\\b\x00c")):
        told = Told(f"r{number}", hours=number)
        robot_run(f"r{number}", told=told)
        told.events[0].data["input"] = asked  # type: ignore[index]
        store.write(Batch(told.events))

    def found(words: str) -> list[str]:
        return [row.run_id for row in store.select(Where(input=words))]

    assert found("*refund*") == ["r0"]
    assert found("*CRASH*") == ["r1"]
    assert found("*0%_*") == ["r2"]
    assert found("*[[]sure]*") == ["r2"]
    assert found("*a\\b*") == ["r3"]
    assert found("refund") == []
    assert found("A refund, please") == ["r0"]


def test_the_last_text_of_each_run_is_its_answer(filled: Store) -> None:
    rows = page(filled, Where(), most=100).rows
    found = answers(filled, rows)
    assert found["r3"] == found["n1"] == found["n1-draft"] == "ok"
    assert "idle" not in found
    assert answers(filled, []) == {}


def test_answers_of_runs_that_are_very_long_are_not_looked_for(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robotlab_nb.runlog.paging._MOST_EVENTS", 6)
    found = answers(filled, page(filled, Where(), most=100).rows)
    assert "r0" in found
    assert "r3" not in found


def test_a_browser_works_the_same_on_either_database(place: str, filled: Store) -> None:
    with open_log(place) as log:
        page = Page(log.browse(rows=4))
        assert page.records["head"]["span"] == "1–4 of 11"
        page.pick("robot", "bot1")
        page.says(words="hell", sort="cost")
        page.says(tag="good", runs=["r1", "r4"])
        assert page.offered("tag")["good"][1] == 2
        page.pick("tag", "good")
        assert sorted(page.rows()) == ["r1", "r4"]
        assert [run.id for run in page.browser.selection] == ["r4", "r1"]
        page.says(compare=["r1", "r4"])
        assert page.records["O"]["fault"] == ""
        # A server tells nothing by its files: the page is looked at again now and then.
        assert (page.box._stamped() is None) == place.startswith("postgresql")
