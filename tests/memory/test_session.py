"""The session: what happens outside any run, numbered, bounded, seen by readers of all events."""

from __future__ import annotations

import os
import threading

import pytest

import robotlab_nb as rl
from robotlab_nb.core.events import SCHEMA_VERSION
from robotlab_nb.runtime import session, sinks


@pytest.fixture
def fresh(monkeypatch):
    monkeypatch.setattr(session, "_session", None)


def emit(n):
    return session.session_emit("memory.deleted", {"key": "k", "version": n, "writer": "x"})


def test_it_begins_with_its_start_and_is_numbered_without_a_gap(fresh):
    assert rl.session_events() == []
    emit(1)
    first, second = rl.session_events()
    assert (first.type, first.data["schema_version"]) == ("run.started", SCHEMA_VERSION)
    assert first.data["started_at"].endswith("+00:00")
    assert (first.scope.kind, first.scope.depth, first.scope.parent_id) == ("session", 0, None)
    assert (first.seq, second.seq, second.scope) == (0, 1, first.scope)
    assert rl.Event.from_dict(second.to_dict()) == second


def test_threads_get_numbers_of_their_own(fresh):
    threads = [threading.Thread(target=lambda: [emit(n) for n in range(200)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [e.seq for e in rl.session_events()] == list(range(1601))


def test_the_start_and_the_last_ten_thousand_are_kept(fresh):
    for n in range(25_000):
        emit(n)
        assert n % 500 or len(session._session.events) <= session.MOST_EVENTS + 1_000
    found = rl.session_events()
    assert len(found) == session.MOST_EVENTS
    assert [found[0].seq, found[1].seq, found[-1].seq] == [0, 15_002, 25_000]


def test_readers_of_all_events_see_it(fresh):
    class Sink:
        def __init__(self):
            self.seen = []

        def put(self, event):
            self.seen.append(event)

    sink = Sink()
    sinks.add_sink(sink)
    try:
        event = emit(1)
    finally:
        sinks.remove_sink(sink)
    assert sink.seen[-1] is event
    assert sink.seen[0].type == "run.started"


def test_secrets_are_masked(fresh):
    rl.register_secret("correct-horse-battery", "TOKEN")
    memory = rl.create_memory()
    memory["note"] = "it is correct-horse-battery"
    assert "correct-horse-battery" not in str([e.to_dict() for e in rl.session_events()])
    assert memory["note"] == "it is correct-horse-battery"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_has_a_session_of_its_own(fresh):
    emit(1)
    ours = rl.session_events()[0].scope.root_id
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            found = rl.session_events()
            os.write(writing, f"{len(found)} {emit(1).scope.root_id != ours}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    told = os.read(reading, 100).decode()
    os.waitpid(child, 0)
    assert told == "0 True"
