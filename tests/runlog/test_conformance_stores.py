"""Either database behaves alike: every test here runs on both."""

from __future__ import annotations

import datetime
import math
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

import robotlab_nb as rl
from robotlab_nb.core import events as versions
from robotlab_nb.core.errors import InputError
from robotlab_nb.core.events import Delta, Event
from robotlab_nb.core.state import RunState
from robotlab_nb.runlog import streaming, upcasting
from robotlab_nb.runlog.faults import LogDamaged, LogError, LogGone, LogReadOnly, LogVersion
from robotlab_nb.runlog.store import Batch, Store, Where, Writer
from tests.runlog.samples import START, nameless, network_run, robot_run, session

Open = Callable[..., Store]


def ids(store: Store, **where: object) -> list[str]:
    return sorted(row.run_id for row in store.select(Where(**where)))  # type: ignore[arg-type]


@pytest.fixture
def filled(store: Store) -> Store:
    """Three roots and a session, an hour apart."""
    store.write(Batch(robot_run("r1", session_id="s1", prompt_hash="abcdef0123", tags=["first"])))
    store.write(Batch(network_run("n1", hours=1)))
    store.write(Batch(robot_run("r2", robot="draft 100%", hours=2, end="run.failed")))
    store.write(Batch(session("session-1", hours=1.5)))
    return store


# -- events ----------------------------------------------------------------------------------


def test_events_come_back_as_they_were_root_by_root(filled: Store) -> None:
    want = robot_run("r1", session_id="s1", prompt_hash="abcdef0123", tags=["first"])
    want += network_run("n1", hours=1) + session("session-1", hours=1.5)
    want += robot_run("r2", robot="draft 100%", hours=2, end="run.failed")
    assert list(filled.events()) == want
    assert [e.scope.root_id for e in filled.events(["r2", "gone", "r1"])] == ["r2"] * 4 + ["r1"] * 4
    assert [e.seq for e in filled.events(["r1"], after=1)] == [2, 3]
    some = list(filled.events(["n1"], types=["task.started", "task.completed"]))
    assert [e.type for e in some] == ["task.started", "task.completed"] * 2


def test_a_real_network_is_the_same_state_after_its_way_through_the_log(store: Store) -> None:
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    net = rl.create_network("sums")
    net.task("a", rl.build("adder", tools=[add]))
    net.task("b", rl.build("other"), depends_on=["a"])
    result = net.run("What is 2 + 3?")
    store.write(Batch(result.events))
    read = list(store.events())
    assert read == list(result.events)
    assert RunState.fold(read) == RunState.fold(result.events)
    assert store.check() == []


def test_the_same_batch_twice_is_one_row_each(store: Store, place: str, opened: Open) -> None:
    events = network_run("n1")
    store.write(Batch(events[:5]))
    store.write(Batch(events))
    opened(place).write(Batch(events[3:]))
    assert list(store.events()) == events
    assert store.count()[:3] == (1, 3, len(events))
    assert store.check() == []


def test_large_roots_are_read_in_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "EVENTS", 20)
    monkeypatch.setattr(streaming, "PAGE", 7)
    roots = {f"r{n}": robot_run(f"r{n}", hours=n, calls=1 if n % 3 else 30) for n in range(10)}
    for events in roots.values():
        store.write(Batch(events))
    assert list(store.events()) == [event for events in roots.values() for event in events]


def test_pages_are_bounded_by_size_too(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "CHARACTERS", 5_000)
    first = [nameless(n, {"text": "x" * 3_000}, root_id="a") for n in range(5)]
    second = [nameless(n, {"text": "y" * 10}, root_id="b") for n in range(5)]
    store.write(Batch(first + second))
    assert list(store.events(["a", "b"])) == first + second
    assert list(store.events(["b", "a"])) == second + first


def test_a_reader_may_stop_anywhere_and_others_write_meanwhile(filled: Store) -> None:
    reader = filled.events()
    next(reader)
    filled.write(Batch(robot_run("r9", hours=9)))
    assert {e.scope.root_id for e in reader} == {"r1", "n1", "session-1", "r2"}
    assert {e.scope.root_id for e in filled.events()} == {"r1", "n1", "session-1", "r2", "r9"}


def test_what_no_column_holds_is_kept(store: Store) -> None:
    strange = replace(nameless(0, {"a": 1}), elapsed=math.nan, type="made \0 up \ud800")
    inf = replace(nameless(1, {}), elapsed=math.inf)
    store.write(Batch([strange, inf]))
    found, other = store.events()
    assert math.isnan(found.elapsed)
    assert (found.type, other) == ("made \0 up \ud800", inf)


# -- the index -------------------------------------------------------------------------------


def test_rows_say_what_their_events_do(filled: Store) -> None:
    rows = {row.run_id: row for row in filled.select()}
    draft = rows["n1-draft"]
    start = round((START + datetime.timedelta(hours=1)).timestamp() * 1e6)
    assert (draft.network, draft.task, draft.robot) == ("support", "do draft", "draft")
    assert (draft.model, draft.status, draft.kind) == ("test/m", "completed", "robot")
    assert (draft.started_at, draft.duration_s) == (start + 250_000, 3 / 8)
    assert (draft.model_calls, draft.input_tokens, draft.cost_usd) == (1, 10, 0.25)
    assert (rows["n1"].network, rows["n1"].input, rows["n1"].cost_usd) == ("support", "Hi", None)
    assert (rows["r2"].status, rows["r2"].error_type) == ("failed", "ModelError")
    assert rows["r1"].tags == ("first",)


def test_rows_come_newest_root_first_and_parents_before_children(filled: Store) -> None:
    order = [row.run_id for row in filled.select()]
    assert order == ["r2", "n1", "n1-draft", "n1-reply", "r1"]
    order = [row.run_id for row in filled.select(newest_first=False)]
    assert order == ["r1", "n1", "n1-draft", "n1-reply", "r2"]
    assert list(filled.root_ids()) == ["r1", "n1", "session-1", "r2"]
    assert list(filled.root_ids(Where(robot="*"), newest_first=True)) == ["r2", "n1", "r1"]


@pytest.mark.parametrize("newest_first", [True, False])
def test_pages_of_rows_miss_nothing(
    store: Store, newest_first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robotlab_nb.runlog import querying

    monkeypatch.setattr(querying, "PAGE", 3)
    # Some start at the same time, and one has no known start.
    for n in range(8):
        store.write(Batch(network_run(f"n{n}", hours=n // 3)))
    store.write(Batch([nameless(0, {}, root_id="x")]))
    rows = [row.run_id for row in store.select(newest_first=newest_first)]
    assert sorted(rows) == sorted(
        ["x", *(f"n{n}{s}" for n in range(8) for s in ("", "-draft", "-reply"))]
    )
    roots = list(store.root_ids(newest_first=newest_first))
    assert sorted(roots) == sorted(["x", *(f"n{n}" for n in range(8))])
    assert roots == list(dict.fromkeys(r.partition("-")[0] for r in rows))


CONDITIONS: list[tuple[dict[str, object], list[str]]] = [
    ({"robot": "draft"}, ["n1-draft"]),
    ({"robot": ["draft", "bob"]}, ["n1-draft", "r1"]),
    ({"robot": "draft*"}, ["n1-draft", "r2"]),
    ({"robot": "DRAFT*"}, []),
    ({"robot": "draft 1??%"}, ["r2"]),
    ({"robot": "draft_100%"}, []),
    ({"robot": [None]}, ["n1"]),
    ({"robot": [None, "b*"]}, ["n1", "r1"]),
    ({"robot": []}, []),
    ({"task": "do *"}, ["n1-draft", "n1-reply"]),
    ({"network": "support"}, ["n1", "n1-draft", "n1-reply"]),
    ({"network": "support", "kind": "network"}, ["n1"]),
    ({"kind": "session"}, ["session-1"]),
    ({"model": "test/*", "status": "failed"}, ["r2"]),
    ({"status": ["failed", "running"]}, ["r2"]),
    ({"session_id": "s1"}, ["r1"]),
    ({"prompt": "abcdef"}, ["r1"]),
    ({"run_id": "n1-*"}, ["n1-draft", "n1-reply"]),
    ({"root_id": "n1"}, ["n1", "n1-draft", "n1-reply"]),
    ({"since": START + datetime.timedelta(hours=1)}, ["n1", "n1-draft", "n1-reply", "r2"]),
    ({"until": START + datetime.timedelta(hours=1)}, ["r1"]),
    ({"since": "2026-03-01T14:00:00+00:00"}, ["r2"]),
    ({"since": datetime.timedelta(minutes=5)}, []),
    ({"until": datetime.date(2020, 1, 1)}, []),
    ({"tag": "first"}, ["r1"]),
    ({"tag": "f*"}, ["r1"]),
    ({"tag": [None]}, ["n1", "n1-draft", "n1-reply", "r2"]),
]


def test_conditions(filled: Store) -> None:
    for where, want in CONDITIONS:
        assert ids(filled, **where) == want, where


def test_names_with_signs_and_strange_characters_are_found(store: Store) -> None:
    names = [
        "a*b",
        "aXb",
        "[x]",
        "100%",
        "100_",
        "1000",
        "back\\slash",
        "nul\0",
        "\ud83d",
        "\\u0000",
    ]
    for n, name in enumerate(names):
        store.write(Batch(robot_run(f"r{n}", robot=name)))
    for n, name in enumerate(names):
        literal = name.replace("[", "[[]").replace("*", "[*]")
        assert ids(store, robot=literal) == [f"r{n}"], name
        assert next(iter(store.select(Where(run_id=f"r{n}")))).robot == name
    assert ids(store, robot="100?") == ["r3", "r4", "r5"]
    assert ids(store, robot="a?b") == ["r0", "r1"]
    assert ids(store, robot="back\\*") == ["r6"]


BAD_CONDITIONS: list[dict[str, object]] = [
    {"robot": 5}, {"robot": [b"x"]}, {"status": "fialed"}, {"kind": "tool"},
    {"since": "yesterday"}, {"until": 1.5}, {"since": ["2026-01-01"]},
]  # fmt: skip


def test_conditions_that_cannot_be_meant(store: Store) -> None:
    for bad in BAD_CONDITIONS:
        with pytest.raises(InputError):
            list(store.select(Where(**bad)))  # type: ignore[arg-type]


PAYLOADS = [
    "' OR 1=1 --", "'; DROP TABLE runs; --", '" OR ""="', "x') OR ('a'='a", "%' OR '1'='1",
    "*' OR '1'='1", "\\' OR 1=1 --", "1; SELECT pg_sleep(5)", "${jndi}", "{0}", "%s", "%(a)s",
    ":name", "?", "$.a[0]", "' UNION SELECT * FROM meta --", "\0'", "\ud800' OR 1=1",
]  # fmt: skip


def test_conditions_never_become_sql(filled: Store) -> None:
    for payload in PAYLOADS:
        harmless(filled, payload)
    assert filled.count()[:2] == (3, 5)
    assert filled.check() == []


def harmless(filled: Store, payload: str) -> None:
    for name in ("robot", "task", "network", "model", "session_id", "run_id", "root_id", "tag",
                 "prompt"):  # fmt: skip
        for value in (payload, [payload], f"{payload}*", [None, payload]):
            found = ids(filled, **{name: value})
            assert set(found) <= {"n1", "n1-draft", "n1-reply", "r1", "r2"}
            if not (isinstance(value, list) and None in value) and "?" not in payload:
                assert found == []
    with pytest.raises(InputError):
        ids(filled, status=payload)
    assert list(filled.events([payload], types=[payload])) == []
    with pytest.raises(InputError):
        filled.tag([payload], ["x"])
    filled.tag(["r1"], [payload])
    assert filled.tag(["r1"], [], remove=[payload]) is None


# -- tags, counts, purging -------------------------------------------------------------------


def test_tags_are_given_and_taken(filled: Store) -> None:
    filled.tag(["n1", "r2"], ["good", "für später"])
    assert ids(filled, tag="good") == ["n1", "n1-draft", "n1-reply", "r2"]
    filled.tag("r2", [], remove="good")
    filled.tag(["r1"], "second", remove=["first"])
    assert ids(filled, tag="good") == ["n1", "n1-draft", "n1-reply"]
    assert ids(filled, tag=["first", "second"]) == ["r1"]
    assert ids(filled, tag="first") == []
    filled.reindex()
    filled.write(Batch(robot_run("r1", tags=["first"])))
    assert ids(filled, tag="first") == [], "what was taken away came back with the events"
    filled.tag(["r1"], ["first"])
    assert next(iter(filled.select(Where(run_id="r1")))).tags == ("second", "first")


def test_what_is_no_tag(filled: Store) -> None:
    for bad in ("", "  ", "x" * 300, 5):
        with pytest.raises(InputError):
            filled.tag(["r1"], [bad])  # type: ignore[list-item]
    with pytest.raises(InputError, match="no run 'r77'"):
        filled.tag(["r1", "r77"], ["x"])
    assert ids(filled, tag="x") == []


def test_the_tags_of_runs_are_part_of_the_index(filled: Store) -> None:
    from sqlalchemy import delete

    with filled._engine.begin() as connection:
        connection.execute(delete(filled._backend.tables.tags))
    assert ids(filled, tag="first") == []
    filled.reindex()
    assert ids(filled, tag="first") == ["r1"]


def test_a_root_cannot_take_anothers_runs(filled: Store) -> None:
    filled.write(Batch([replace(robot_run("evil")[0], scope=replace(
        robot_run("evil")[0].scope, run_id="n1-draft", robot="eve"))]))  # fmt: skip
    assert ids(filled, robot="eve") == []
    assert ids(filled, robot="draft") == ["n1-draft"]


def test_counts(store: Store) -> None:
    assert store.count()[:3] == (0, 0, 0)
    store.write(Batch(network_run("n1")))
    store.write(Batch(session("session-1")))
    roots, runs, events, size = store.count()
    assert (roots, runs, events) == (1, 3, len(network_run("n1")) + 2)
    assert size > 10_000


def test_purging_deletes_whole_roots(filled: Store) -> None:
    filled.tag(["n1-draft"], ["x"])
    assert filled.purge(Where(robot="draft")) == 1
    assert ids(filled) == ["r1", "r2"]
    assert filled.check() == []
    assert {e.scope.root_id for e in filled.events()} == {"r1", "r2", "session-1"}
    assert filled.purge(older_than=START + datetime.timedelta(hours=1.75)) == 2
    assert list(filled.root_ids()) == ["r2"]
    assert filled.purge(Where(robot="nobody")) == 0
    filled.write(Batch(network_run("n1")))
    assert (filled.check(), len(ids(filled, root_id="n1"))) == ([], 3)


def test_what_goes_on_is_not_purged(store: Store) -> None:
    store.write(Batch(robot_run("live", end=None), writer=Writer.here()))
    store.write(Batch(robot_run("done")))
    assert store.purge() == 1
    assert ids(store) == ["live"]


# -- partials --------------------------------------------------------------------------------


def test_texts_so_far_are_replaced_and_go_when_their_call_is_over(store: Store) -> None:
    events = robot_run("r1", calls=2)
    scope = events[0].scope
    store.write(Batch(events[:2], [Delta(scope, "r1.1", 1, "text", 0, "Once ")]))
    said = "Once upon a \ud83d\0"
    store.write(Batch(partials=[Delta(scope, "r1.1", 1, "text", 0, said)]))
    store.write(Batch(partials=[Delta(scope, "r1.1", 1, "reasoning", 0, "hm")]))
    found = {d.kind: d for d in store.partials(["r1", "r1"])}
    assert found["text"] == Delta(scope, "r1.1", 1, "text", 0, said)
    assert set(found) == {"text", "reasoning"}
    store.write(Batch(events[2:4], [Delta(scope, "r1.2", 1, "text", 0, "Two")]))
    assert [d.call_id for d in store.partials(["r1"])] == ["r1.2"]
    failed = Event("attempt.failed", scope, 4, 1.0, {"call_id": "r1.2", "attempt": 1})
    store.write(Batch([failed], [Delta(scope, "r1.2", 2, "text", 0, "T")]))
    assert [d.attempt for d in store.partials(["r1"])] == [2]


# -- runs whose process is dead ---------------------------------------------------------------


def dead_writer() -> Writer:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    here = Writer.here()
    return Writer("dead", child.pid, here.host, 1, here.started_at)


def test_runs_of_dead_processes_are_abandoned(store: Store) -> None:
    begun = network_run("n1")[:4]
    store.write(Batch(begun, writer=dead_writer()))
    store.write(Batch(session("session-1"), writer=dead_writer()))
    store.write(Batch(robot_run("mine", end=None), writer=Writer.here()))
    store.write(Batch(robot_run("done")))
    assert store.abandon_dead() == ["n1"]
    assert store.abandon_dead() == []
    assert ids(store, status="abandoned") == ["n1", "n1-draft"]
    assert ids(store, status="running") == ["mine"]
    *before, last = store.events(["n1"])
    assert before == begun
    assert (last.type, last.seq, last.scope) == ("run.abandoned", 4, begun[0].scope)
    state = RunState.fold([*before, last])
    assert {run.status for run in state.walk()} == {"abandoned"}
    assert state.tasks["do draft"].status == "interrupted"
    assert state.children["n1-draft"].model_calls["n1-draft.1"].status == "interrupted"
    assert store.check() == []


def test_a_process_that_was_taken_for_dead_goes_on(place: str, opened: Open) -> None:
    mine, others = opened(place), opened(place)
    events = network_run("n1")
    mine.write(Batch(events[:6], writer=dead_writer()))
    assert others.abandon_dead() == ["n1"]
    mine.write(Batch(events[6:7], writer=dead_writer()))
    assert list(others.events()) == events[:7]
    assert ids(others, status="abandoned") == []
    assert others.check() == []
    # The same store that noted it may be the one that is told of more.
    assert others.abandon_dead() == ["n1"]
    others.write(Batch(events[7:8]))
    assert ids(others, status="running") == ["n1"]
    assert others.check() == []
    others.write(Batch(events[8:]))
    assert list(mine.events()) == events
    assert ids(mine, status="completed") == ["n1", "n1-draft", "n1-reply"]
    assert mine.check() == []


def test_a_writer_that_left_leaves_dead_runs(store: Store) -> None:
    writer = Writer.here()
    store.write(Batch(robot_run("r1", end=None), writer=writer))
    assert store.abandon_dead() == []
    store.leave(writer)
    assert store.abandon_dead() == ["r1"]


def test_a_process_elsewhere_is_alive_while_it_gives_signs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robotlab_nb.runlog import abandoning

    here = Writer.here()
    elsewhere = replace(here, writer_id="elsewhere", host="another machine")
    store.write(Batch(robot_run("r1", end=None), writer=elsewhere))
    assert store.abandon_dead() == []
    monkeypatch.setattr(abandoning, "SILENCE_S", -1)
    assert store.abandon_dead() == ["r1"]


# -- several at once -------------------------------------------------------------------------

WRITES = """
    import sys
    from robotlab_nb.runlog.store import Batch, Store, Writer
    from tests.runlog.samples import robot_run
    store, who = Store.open(sys.argv[1], patience=30), sys.argv[2]
    print("ready", flush=True)
    sys.stdin.readline()
    for n in range(15):
        events = robot_run(f"{who}{n}")
        store.write(Batch(events[:2], writer=Writer.here()))
        store.write(Batch(events[2:]))
"""


def test_two_processes_write_at_once(place: str, opened: Open) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(WRITES), place, who],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for who in "ab"
    ]
    for child in children:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
    for child in children:
        child.communicate("\n", timeout=60)
        assert child.returncode == 0
    store = opened(place)
    assert len(ids(store, status="completed")) == 30
    assert store.check() == []


def test_many_threads_write_and_read_one_store(store: Store) -> None:
    errors: list[BaseException] = []

    def work(who: int) -> None:
        try:
            for n in range(5):
                store.write(Batch(robot_run(f"{who}-{n}")))
                assert len(list(store.events([f"{who}-{n}"]))) == 4
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(ids(store)) == 30


def test_a_batch_is_written_whole_or_not_at_all(store: Store) -> None:
    events = robot_run("r1", calls=3)
    store.write(Batch(events[:2]))
    too_large = replace(events[4], seq=2**70)
    with pytest.raises(LogError):
        store.write(Batch([*events[2:4], too_large]))
    assert list(store.events()) == events[:2]
    store.write(Batch(events[2:]))
    assert list(store.events()) == events
    assert store.check() == []


# -- whole, versions, closing ----------------------------------------------------------------


def test_check_finds_what_is_wrong_and_reindex_mends_the_index(filled: Store) -> None:
    from sqlalchemy import delete, update

    t = filled._backend.tables
    with filled._engine.begin() as connection:
        connection.execute(update(t.runs).where(t.runs.c.run_id == "r1").values(robot="eve"))
        connection.execute(delete(t.runs).where(t.runs.c.run_id == "n1-draft"))
        connection.execute(update(t.roots).where(t.roots.c.root_id == "r2").values(last_seq=99))
    told = "\n".join(filled.check())
    assert "r1: run r1: robot is 'eve' in the index, and 'bob' by its events" in told
    assert "n1: the index lacks run n1-draft" in told
    assert "r2: the index does not know its last event" in told
    assert filled.reindex() == 4
    assert filled.check() == []
    with filled._engine.begin() as connection:
        connection.execute(delete(t.runs))
        connection.execute(delete(t.roots))
    assert len(list(filled.events(["r1"]))) == 4
    assert filled.reindex() == 4
    assert filled.check() == []
    with filled._engine.begin() as connection:
        gone = (t.events.c.root_id == "r1") & (t.events.c.seq == 1)
        connection.execute(delete(t.events).where(gone))
    assert filled.check() == [
        "r1: its events cannot be read: KeyError: 'r1.1'", "r1: events are missing after 0",
    ]  # fmt: skip


def test_older_events_are_read_as_ours_and_rewritten_only_when_asked(
    filled: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step(event: Event) -> Event:
        if event.type != "model_call.completed":
            return event
        return replace(event, type="model_call.answered", data={"said": event.data["text"]})

    monkeypatch.setattr(versions, "SCHEMA_VERSION", 2)
    monkeypatch.setitem(upcasting.STEPS, 1, step)
    read = list(filled.events(["r1"]))
    assert (read[0].data["schema_version"], read[2].type) == (2, "model_call.answered")
    assert read[2].data == {"said": "ok"}
    with monkeypatch.context() as patch:
        patch.setattr(versions, "SCHEMA_VERSION", 1)
        assert list(filled.events(["r1"]))[2].type == "model_call.completed"
    assert filled.upgrade() == 4
    assert filled.upgrade() == 0
    assert list(filled.events(["r1"])) == read
    monkeypatch.delitem(upcasting.STEPS, 1)
    assert list(filled.events(["r1"])) == read


def test_events_of_a_newer_version_are_refused(filled: Store) -> None:
    from sqlalchemy import update

    t = filled._backend.tables
    with filled._engine.begin() as connection:
        connection.execute(update(t.roots).values(schema_version=7))
    with pytest.raises(LogVersion, match="version 7"):
        list(filled.events())


def test_a_newer_log_is_refused_with_the_version_that_made_it(
    filled: Store, place: str, opened: Open
) -> None:
    from sqlalchemy import update

    meta = filled._backend.tables.meta
    with filled._engine.begin() as connection:
        for key, value in (("schema_version", "7"), ("made_by", "3.2.1")):
            connection.execute(update(meta).where(meta.c.key == key).values(value=value))
    for readonly in (False, True):
        with pytest.raises(LogVersion, match=r"version 7, made by robotlab_nb 3\.2\.1"):
            opened(place, readonly=readonly)
    with filled._engine.begin() as connection:
        connection.execute(update(meta).values(value="soon"))
    with pytest.raises(LogDamaged, match="does not say its version"):
        opened(place)


def test_a_log_opened_to_be_read_is_never_written(filled: Store, place: str, opened: Open) -> None:
    reader = opened(place, readonly=True)
    assert len(ids(reader)) == 5
    for change in (
        lambda: reader.write(Batch(robot_run("r9"))),
        lambda: reader.tag(["r1"], ["x"]),
        lambda: reader.purge(),
        lambda: reader.reindex(),
    ):
        with pytest.raises(LogReadOnly, match="was opened to be read"):
            change()
    assert reader.abandon_dead() == []
    assert len(ids(filled)) == 5


def test_a_log_that_is_not_there(place: str, opened: Open) -> None:
    for how in ({"create": False}, {"readonly": True}):
        with pytest.raises(LogGone, match="there is no log"):
            opened(place, **how)


def test_a_closed_log_says_so(filled: Store) -> None:
    filled.close()
    filled.close()
    with pytest.raises(LogError, match="is closed"):
        list(filled.events())
    with pytest.raises(LogError, match="is closed"):
        filled.write(Batch(robot_run("r9")))


def test_events_that_lie_in_the_log_and_are_none(filled: Store) -> None:
    from sqlalchemy import update

    t = filled._backend.tables
    for text in ("[1]", "{", '{"a": nope}', " {", '"' + "x" * 10):
        with filled._engine.begin() as connection:
            here = (t.events.c.root_id == "r1") & (t.events.c.seq == 2)
            connection.execute(update(t.events).where(here).values(data=text))
        with pytest.raises(LogDamaged, match="event 2 of 'r1' cannot be read"):
            list(filled.events(["r1"]))
        assert "r1: its events cannot be read" in filled.check()[0]
    assert len(list(filled.events(["n1"]))) == len(network_run("n1"))
