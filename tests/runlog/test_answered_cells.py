"""Cells of experiments in a log: looked up by key, on either database, whatever befell it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event as listen

import robotlab_nb as rl
from robotlab_nb.lab.remembering import remembered
from robotlab_nb.runlog.answered import answered
from robotlab_nb.runlog.averages import averages
from robotlab_nb.runlog.conditions import Where
from robotlab_nb.testing import ModelServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server() -> Iterator[ModelServer]:
    def script(request: Any) -> str:
        return f"({request.messages[-1]['content']})"

    with ModelServer(script=script) as running:
        yield running


@pytest.fixture
def here(place: str) -> Iterator[str]:
    """A log in force, on each database in turn."""
    with rl.options(log=place):
        yield place
        rl.log.flush(30)
        rl.log.close()


def ask(server: ModelServer, count: int = 30, **more: Any) -> rl.Experiment:
    inputs = [f"input {n}" for n in range(count)]
    return rl.compare(["Say {{ input }}"], server.model(), inputs, **more)


def test_answers_are_found_again_and_the_index_holds(here: str, server: ModelServer) -> None:
    made = ask(server, evaluators=[rl.contains("input")])
    again = ask(server, 35, evaluators=[rl.contains("input")])
    assert len(server.requests) == 35
    assert [cell.text for cell in again.cells[:30]] == [cell.text for cell in made.cells]
    store = rl.log.store
    assert store is not None
    assert store.check() == []
    store.reindex()
    assert ask(server, 35).progress.cached == 35
    rl.log.flush(30)
    assert [row.kind for row in store.select(Where(kind="experiment"))] == ["experiment"] * 3
    found = averages(store, ["openai/test-model", "openai/other"])
    assert list(found) == ["openai/test-model"]
    assert found["openai/test-model"].runs == 35


def test_a_lookup_asks_the_index_and_reads_no_other_event(here: str, server: ModelServer) -> None:
    made = ask(server, 60)
    for n in range(3):
        ask(server, 60, params={"temperature": [n / 10]})
    store = rl.log.store
    assert store is not None
    statements: list[str] = []
    listen.listen(
        store._engine, "before_cursor_execute", lambda *given: statements.append(given[2])
    )
    found = answered(store, [cell.key for cell in made.cells])
    assert len(found) == 120
    statements = [statement for statement in statements if statement.startswith("SELECT")]
    assert len(statements) == 1
    if store.kind == "sqlite":
        with store._reading() as connection:
            plan = "EXPLAIN QUERY PLAN " + statements[0]
            keys = tuple(cell.key for cell in made.cells)
            told = [row[3] for row in connection.exec_driver_sql(plan, keys)]
        assert any("USING INDEX cells_by_key" in line for line in told), told
        assert not any(line.startswith("SCAN") for line in told), told


def test_what_was_purged_is_asked_again(here: str, server: ModelServer) -> None:
    ask(server, 5)
    ask(server, 5)  # has the answers itself
    store = rl.log.store
    assert store is not None
    first = list(store.select(Where(kind="experiment")))[-1]
    store.purge(Where(root_id=first.root_id))
    assert ask(server, 5).progress.cached == 5
    rl.log.purge(everything=True)
    with store._reading() as connection:
        assert connection.execute(store._backend.tables.cells.select()).all() == []
    ask(server, 5)
    assert len(server.requests) == 10


def test_answers_go_along_with_an_exported_log(
    here: str, server: ModelServer, tmp_path: Path
) -> None:
    ask(server, 5)
    rl.log.export(tmp_path / "runs.jsonl")
    with rl.options(log=str(tmp_path / "other.sqlite")):
        rl.log.import_(tmp_path / "runs.jsonl")
        assert ask(server, 6).progress.cached == 5
        rl.log.flush(30)
        rl.log.close()
    assert len(server.requests) == 6


def test_an_answer_that_cannot_be_read_is_asked_again(here: str, server: ModelServer) -> None:
    made = ask(server, 3)
    store = rl.log.store
    assert store is not None
    table = store._backend.tables.events
    damaged = table.update().where(table.c.data.contains(made.cells[1].key))
    store._change(lambda connection: connection.execute(damaged.values(data="{not JSON")))
    assert set(remembered({cell.key for cell in made.cells}, None).known) == {
        made.cells[0].key, made.cells[2].key,
    }  # fmt: skip
