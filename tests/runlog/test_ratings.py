"""Ratings in the log: kept beside the events, on both databases, and carried where tags are."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import text, update
from sqlalchemy.schema import DropTable

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.core.errors import InputError
from robotlab_nb.core.json import canonical
from robotlab_nb.runlog.faults import LogDamaged, LogReadOnly, LogVersion
from robotlab_nb.runlog.importing import import_file
from robotlab_nb.runlog.schema import LAYOUT
from robotlab_nb.runlog.store import Batch, Store, Where
from robotlab_nb.runtime import recording
from tests.runlog.samples import network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def filled(store: Store) -> Store:
    """Two roots, four runs."""
    store.write(Batch(robot_run("r1", tags=["first"])))
    store.write(Batch(network_run("n1", hours=1)))
    return store


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    """The log in force, in a file of its own."""
    with rl.options(log=str(tmp_path / "log.sqlite")):
        yield rl.log
        rl.log.flush(30)
        rl.log.close()
    recording.look()


def said(store: Store) -> dict[str, Any]:
    return {run_id: each[:2] for run_id, each in store.ratings().items()}


def say(answer: str, name: str = "bot") -> Any:
    return rl.build(name, model=rl.SimulatedModel([answer])).run("go", show=False)


# -- in a store --------------------------------------------------------------------------------


def test_ratings_are_given_changed_and_taken_back(filled: Store) -> None:
    filled.rate([("r1", 2, "dull"), ("n1-draft", 5, None)])
    assert said(filled) == {"r1": (2, "dull"), "n1-draft": (5, None)}
    filled.rate([("r1", 4, None)])
    assert said(filled)["r1"] == (4, "dull"), "the note goes when only the rating is changed"
    filled.rate([("r1", 4, "")])
    assert said(filled)["r1"] == (4, None)
    filled.rate([("r1", None, "see me")])
    assert said(filled)["r1"] == (None, "see me")
    filled.rate([("r1", None, ""), ("n1-draft", None, None)])
    assert said(filled) == {}


def test_the_index_tells_them_with_each_run(filled: Store) -> None:
    filled.rate([("n1-draft", 3, "für später \ud83d \0")])
    rows = {row.run_id: (row.rating, row.note) for row in filled.select()}
    assert rows["n1-draft"] == (3, "für später \ud83d \0")
    assert rows["n1"] == (None, None)
    filled.reindex()
    assert said(filled) == {"n1-draft": (3, "für später \ud83d \0")}
    assert filled.check() == []


def test_of_several_a_wrong_one_leaves_all_as_it_was(filled: Store) -> None:
    with pytest.raises(InputError, match="no run 'r77'"):
        filled.rate([("r1", 5, None), ("r77", 5, None)])
    assert said(filled) == {}


def test_they_go_with_their_root_and_others_stay(filled: Store) -> None:
    filled.rate([("r1", 5, None), ("n1", 1, "bad"), ("n1-draft", 2, None)])
    filled.purge(Where(run_id="n1"))
    assert said(filled) == {"r1": (5, None)}
    with filled._engine.connect() as connection:
        table = filled._backend.tables.ratings
        assert [row.run_id for row in connection.execute(table.select())] == ["r1"]


def test_of_two_that_come_together_the_later_one_stands(filled: Store) -> None:
    filled.take_ratings({"r1": (2, "then", 1_000)})
    filled.take_ratings({"r1": (3, "later", 2_000)})
    filled.take_ratings({"r1": (4, "between", 1_500)})
    assert filled.ratings() == {"r1": (3, "later", 2_000)}
    filled.rate([("r1", 5, None)])
    filled.take_ratings({"r1": (1, "old", 5_000)})
    assert said(filled) == {"r1": (5, "later")}


# -- logs of the version before ------------------------------------------------------------------


def older(store: Store) -> None:
    """Make a log what the version before ratings wrote."""
    tables = store._backend.tables
    with store._engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(DropTable(tables.ratings))
        connection.execute(DropTable(tables.cells))
        meta = tables.meta
        of = meta.c.key == "schema_version"
        connection.execute(update(meta).where(of).values(value="1"))
    store.close()


def test_an_older_log_is_read_as_it_is_and_gets_its_tables_when_it_is_written_to(
    filled: Store, place: str, opened: Callable[..., Store]
) -> None:
    events = list(filled.events())
    older(filled)
    reader = opened(place, readonly=True)
    assert (reader.version, reader.ratings(), reader.ratings_in(["r1"])) == (1, {}, {})
    assert list(reader.events()) == events
    assert len(list(reader.select())) == 4
    assert reader.check() == []

    writer = opened(place)
    assert writer.version == 1
    writer.tag(["r1"], ["kept"])
    assert writer.version == LAYOUT
    writer.rate([("r1", 4, None)])
    assert reader.ratings()["r1"][0] == 4
    again = opened(place)
    assert again.version == LAYOUT
    assert list(again.events()) == events
    assert again.check() == []
    assert [row.run_id for row in again.select(Where(tag="kept"))] == ["r1"]


def test_two_who_bring_a_log_up_to_date_at_once_do_it_once(
    filled: Store, place: str, opened: Callable[..., Store]
) -> None:
    older(filled)
    stores = [opened(place) for _ in range(4)]
    ready = threading.Barrier(4)
    wrong: list[BaseException] = []

    def rate(number: int) -> None:
        try:
            ready.wait(30)
            stores[number].rate([(["r1", "n1", "n1-draft", "n1-reply"][number], 3, None)])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=rate, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert wrong == []
    assert len(said(opened(place))) == 4


def test_a_change_that_fails_leaves_an_older_log_an_older_log(
    filled: Store, place: str, opened: Callable[..., Store]
) -> None:
    older(filled)
    store = opened(place)
    with pytest.raises(InputError):
        store.rate([("r77", 3, None)])
    assert store.version == 1
    assert opened(place, readonly=True).version == 1


def test_a_log_of_this_version_that_lacks_a_table_is_refused(
    filled: Store, place: str, opened: Callable[..., Store]
) -> None:
    with filled._engine.connect().execution_options(writes=True) as connection, connection.begin():
        connection.execute(DropTable(filled._backend.tables.ratings))
    filled.close()
    with pytest.raises(LogDamaged, match="lacks columns of 'ratings'"):
        opened(place)


def test_a_trigger_on_ratings_is_none_of_ours(sqlite_place: str) -> None:
    with Store.open(sqlite_place) as store:
        store.write(Batch(robot_run("r1")))
        with store._engine.connect() as connection, connection.begin():
            connection.execute(
                text("CREATE TRIGGER t AFTER INSERT ON ratings BEGIN DELETE FROM events; END")
            )
    with pytest.raises(LogDamaged, match="trigger"):
        Store.open(sqlite_place)


@pytest.mark.parametrize(
    "row", ["'<b>', 5, 'then'", "99, NULL, -5", "4.5, x'00ff', 1e300", "NULL, 7, NULL"]
)
def test_what_a_colleagues_log_holds_in_place_of_ratings_is_none(row: str, log: Any) -> None:
    result = say("one")
    log.flush()
    with log.store._engine.connect() as connection, connection.begin():
        # Some rows are refused by the table itself.
        insert = f"INSERT OR IGNORE INTO ratings VALUES ('{result.run_id}', {{}}, 'eve', {{}})"
        rating, note, at = row.split(", ")
        connection.execute(text(insert.format(f"{rating}, {note}", at)))
    found = log.ratings().get(result.run_id)
    assert found is None or found.rating is None
    assert (log[result.run_id].rating, log.frames.runs["rating"].isna().all()) == (None, True)
    assert log[result.run_id]._repr_html_()
    log.export(log.place + ".jsonl")


# -- rl.log --------------------------------------------------------------------------------------


def test_a_run_is_rated_by_its_id_its_result_or_a_few_digits_of_it(log: Any) -> None:
    results = [say("one"), say("two"), say("three")]
    log.rate(results[0], 5)
    log.rate(results[1].run_id[:9], 2, "too short")
    log.rate([results[2].run_id], 3)
    found = log.ratings()
    assert [found[r.run_id].rating for r in results] == [5, 2, 3]
    assert found[results[1].run_id].note == "too short"
    assert found[results[0].run_id].at.tzinfo is not None
    assert list(log.ratings([results[2].run_id])) == [results[2].run_id]
    assert (log[results[1].run_id].rating, log[results[1].run_id].note) == (2, "too short")


@pytest.mark.parametrize("bad", [0, 6, 2.5, "4", True, float("nan"), [3]])
def test_what_is_no_rating_is_refused_and_changes_nothing(log: Any, bad: Any) -> None:
    result = say("one")
    log.rate(result, 4, "fine")
    with pytest.raises(InputError, match="no rating"):
        log.rate(result, bad)
    for note in (5, "x" * 10_001):
        with pytest.raises(InputError, match="no note"):
            log.rate(result, 3, note)
    assert log.ratings()[result.run_id][:2] == (4, "fine")


def test_numbers_of_numpy_are_numbers(log: Any) -> None:
    np = pytest.importorskip("numpy")
    result = say("one")
    log.rate(result, np.int64(4))
    assert log.ratings()[result.run_id].rating == 4


def test_a_run_that_is_not_there_is_named(log: Any) -> None:
    say("one")
    with pytest.raises(InputError, match="no run"):
        log.rate("ffffffffffff", 3)
    with rl.options(log=None):
        assert rl.log.ratings() == {}


def test_a_secret_in_a_note_is_masked(log: Any, tmp_path: Path) -> None:
    result = say("one")
    secrets.register("correct-horse-battery-staple", "VAULT_TOKEN")
    log.rate(result, 1, "it told me correct-horse-battery-staple")
    log.close()
    assert log.ratings()[result.run_id].note == "it told me [redacted: VAULT_TOKEN]"
    for file in tmp_path.iterdir():
        assert b"correct-horse" not in file.read_bytes()


def test_a_log_that_may_only_be_read_is_not_rated(log: Any, tmp_path: Path) -> None:
    result = say("one")
    log.rate(result, 3)
    with rl.open_log(tmp_path / "log.sqlite", readonly=True) as other:
        with pytest.raises(LogReadOnly):
            other.rate(result.run_id, 5)
        assert other.ratings()[result.run_id].rating == 3


def test_another_process_reads_them(log: Any, tmp_path: Path) -> None:
    result = say("one")
    log.rate(result, 4, "fine")
    log.flush()
    code = (
        "import sys, robotlab_nb as rl\n"
        "log = rl.open_log(sys.argv[1])\n"
        "print([(r.run_id, r.rating, r.note) for r in log.runs()])\n"
        f"log.rate({result.run_id!r}, 5)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "log.sqlite")],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == repr([(result.run_id, 4, "fine")])
    assert log.ratings()[result.run_id][:2] == (5, "fine")


def test_tables_have_them(log: Any) -> None:
    rated, other = say("one"), say("two")
    log.rate(rated, 4, "fine")
    runs = log.frames.runs.set_index("run_id")
    assert (runs["rating"][rated.run_id], runs["note"][rated.run_id]) == (4, "fine")
    assert runs["rating"].isna()[other.run_id]
    assert (str(runs["rating"].dtype), str(runs["note"].dtype)) == ("Int64", "string")
    only = log.where(robot="bot").frames.read("runs", ["run_id", "rating"])
    assert only.set_index("run_id")["rating"][rated.run_id] == 4
    assert rated.frames.runs["rating"].isna().all(), "a run knows nothing of what a log was told"


def test_pages_and_pictures_have_them(log: Any, tmp_path: Path) -> None:
    result = say("one")
    log.rate(result, 4, "<script>alert(1)</script> & so on")
    told = log[result.run_id]._repr_html_()
    assert "rated\u00a04\u00a0of\u00a05" in told
    assert "&lt;script&gt;" in told
    assert "<script>" not in told
    plain = log[result.run_id]._repr_mimebundle_()["text/plain"]
    assert "rated 4 of 5" in plain
    assert "note: <script>" in plain
    page = log.export(tmp_path / "runs.html").read_text("utf-8")
    assert "rated\u00a04\u00a0of\u00a05" in page
    assert "alert(1)</script>" not in page


# -- files ---------------------------------------------------------------------------------------


def test_they_go_along_into_another_log(tmp_path: Path, log: Any) -> None:
    kept, plain = say("one"), say("two")
    log.rate(kept, 4, "fine \ud800 \0")
    file = log.export(tmp_path / "runs.jsonl")
    heads = [json.loads(line) for line in file.read_text("ascii").splitlines()]
    assert heads[0]["version"] == 2
    with rl.open_log(tmp_path / "other.sqlite", readonly=False) as other:
        other.import_(file)
        assert other.ratings() == log.ratings()
        assert other.ratings()[kept.run_id].note == "fine \ud800 \0"
        assert plain.run_id not in other.ratings()
        other.rate(kept.run_id, 1)
        other.import_(file)
        assert other.ratings()[kept.run_id].rating == 1, "an older rating took the newer's place"
    alone = log.where(run_id=kept.run_id).export(tmp_path / "alone.jsonl")
    assert rl.replay(alone).events == kept.events


def test_a_file_without_ratings_is_one_that_the_version_before_reads(
    log: Any, tmp_path: Path
) -> None:
    say("one")
    head = log.export(tmp_path / "runs.jsonl").read_text("ascii").partition("\n")[0]
    assert json.loads(head)["version"] == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"rating": 7, "note": None, "at": 1},
        {"rating": 3, "note": 5, "at": 1},
        {"rating": 3, "note": None, "at": "now"},
        {"rating": 3},
        [3, None, 1],
    ],
)
def test_a_damaged_line_is_named_and_nothing_is_taken_in(
    bad: Any, log: Any, tmp_path: Path
) -> None:
    result = say("one")
    file = log.export(tmp_path / "runs.jsonl")
    with file.open("ab") as out:
        out.write(canonical({"ratings": {result.run_id: bad}}) + b"\n")
    number = len(file.read_text("ascii").splitlines())
    with Store.open(tmp_path / "other.sqlite") as store:
        with pytest.raises(LogDamaged, match=f"line {number}"):
            import_file(store, file)
        assert store.count().events == 0


def test_a_file_of_a_later_version_is_refused(log: Any, tmp_path: Path) -> None:
    say("one")
    file = log.export(tmp_path / "runs.jsonl")
    head, _, rest = file.read_text("ascii").partition("\n")
    file.write_text(json.dumps({**json.loads(head), "version": 3}) + "\n" + rest, "ascii")
    with Store.open(tmp_path / "other.sqlite") as store, pytest.raises(LogVersion):
        import_file(store, file)
