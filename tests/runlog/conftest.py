"""Logs for tests: each in a file, or in a PostgreSQL schema of its own that is dropped after it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import pytest

from robotlab_nb.runlog.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_session(monkeypatch: pytest.MonkeyPatch) -> None:
    """What happened outside runs in other tests is in no log of this one."""
    monkeypatch.setattr("robotlab_nb.runtime.session._session", None)


def drop(url: str) -> None:
    """Drop the schema of a log."""
    from sqlalchemy import create_engine
    from sqlalchemy.schema import DropSchema

    base, _, schema = url.partition("?schema=")
    engine = create_engine(base.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(DropSchema(schema, cascade=True, if_exists=True))
    engine.dispose()


@pytest.fixture
def postgres_place(postgres: str) -> Iterator[str]:
    """URL of a schema that is not there yet."""
    url = f"{postgres}?schema=test_{uuid.uuid4().hex[:12]}"
    yield url
    drop(url)


@pytest.fixture
def sqlite_place(tmp_path: Path) -> str:
    """Path of a file that is not there yet."""
    return str(tmp_path / "log.sqlite")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def place(request: pytest.FixtureRequest) -> str:
    """Where a log may be made: on each database in turn."""
    name = "sqlite_place" if request.param == "sqlite" else "postgres_place"
    found: str = request.getfixturevalue(name)
    return found


@pytest.fixture
def opened() -> Iterator[Callable[..., Store]]:
    """Opens logs, and closes them after the test."""
    found: list[Store] = []

    def open_(place: str, **how: object) -> Store:
        store = Store.open(place, **how)  # type: ignore[arg-type]
        found.append(store)
        return store

    yield open_
    for store in found:
        store.close()


@pytest.fixture
def store(place: str, opened: Callable[..., Store]) -> Store:
    """An empty log."""
    return opened(place)
