"""Logs that cannot be opened, or that go wrong while they are open: each outcome has a name."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from robotlab_nb.core.errors import ConfigurationError, DependencyError
from robotlab_nb.runlog.faults import (
    LogDamaged,
    LogError,
    LogFull,
    LogGone,
    LogLocked,
    LogUnreachable,
)
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import nameless, network_run, robot_run

if TYPE_CHECKING:
    from sqlalchemy.engine import Connection

Open = Callable[..., Store]
REPOSITORY = Path(__file__).parent.parent.parent


@pytest.fixture
def log(sqlite_place: str) -> Path:
    """A closed log with a run in it."""
    with Store.open(sqlite_place) as store:
        store.write(Batch(robot_run("r1")))
    return Path(sqlite_place)


# -- what is no log --------------------------------------------------------------------------


def test_what_is_no_database(tmp_path: Path, opened: Open) -> None:
    for content in (b"Dear diary", b"SQLite format 2\0" + b"x" * 200, os.urandom(5_000)):
        path = tmp_path / "notes.txt"
        path.write_bytes(content)
        for readonly in (False, True):
            with pytest.raises(LogDamaged, match="it is no SQLite file"):
                opened(str(path), readonly=readonly)
        assert path.read_bytes() == content


def test_an_empty_file_becomes_a_log_when_it_may(tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "log.sqlite"
    path.touch()
    with pytest.raises(LogDamaged, match="is empty"):
        opened(str(path), readonly=True)
    with pytest.raises(LogDamaged, match="is empty"):
        opened(str(path), create=False)
    opened(str(path)).write(Batch(robot_run("r1")))


def test_another_programs_database_stays_as_it_is(tmp_path: Path, opened: Open) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE meta (key, value)")
        other.execute("INSERT INTO meta VALUES ('schema_version', '1')")
    other.close()
    before = path.read_bytes()
    with pytest.raises(LogDamaged, match="is a SQLite database, and no log"):
        opened(str(path))
    assert path.read_bytes() == before


def read_all(opened: Open, log: Path) -> None:
    """Read and check a log; what a check finds is an error too."""
    store = opened(str(log))
    list(store.events())
    faults = store.check()
    if faults:
        raise LogDamaged("; ".join(faults))


def test_a_log_cut_short(log: Path, opened: Open) -> None:
    whole = log.read_bytes()
    for size in (16, 100, 4_096, len(whole) // 2, len(whole) - 4_096):
        log.write_bytes(whole[:size])
        with pytest.raises(LogDamaged):
            read_all(opened, log)
        for beside in ("-wal", "-shm"):
            Path(f"{log}{beside}").unlink(missing_ok=True)


def test_pages_of_rubbish_are_named(log: Path, opened: Open) -> None:
    whole = bytearray(log.read_bytes())
    for page in range(4_096, len(whole), 4_096):
        whole[page : page + 64] = b"\xff" * 64
    log.write_bytes(whole)
    with pytest.raises(LogDamaged):
        opened(str(log))


def test_where_a_log_cannot_lie(tmp_path: Path, opened: Open) -> None:
    with pytest.raises(LogError, match="is a folder"):
        opened(str(tmp_path))
    for where in ("", b"bytes", "mysql://host/db", "https://example.org/log.sqlite"):
        with pytest.raises(ConfigurationError, match="a log cannot lie"):
            opened(where)
    (tmp_path / "file").write_text("x")
    with pytest.raises(LogError, match="cannot be opened"):
        opened(str(tmp_path / "file" / "log.sqlite"))


def test_a_strange_path_is_a_path(tmp_path: Path, opened: Open) -> None:
    for name in ("a?mode=ro", "a#b%20c", "ä ö", "it's", 'quo"te', "a;b", "-x"):
        path = tmp_path / name / "log.sqlite"
        opened(str(path)).write(Batch(robot_run("r1")))
        assert path.stat().st_size
    assert len(list(opened(f"sqlite:///{tmp_path}/it's/log.sqlite").events())) == 4


def test_a_new_log_is_its_owners_alone(sqlite_place: str, opened: Open) -> None:
    old = os.umask(0)
    try:
        opened(sqlite_place).write(Batch(robot_run("r1")))
    finally:
        os.umask(old)
    for path in Path(sqlite_place).parent.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


# -- what a stranger's log may hold ----------------------------------------------------------

PAYLOADS = {
    "a trigger": "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
    "a view": "CREATE VIEW v AS SELECT load_extension('x')",
    "a view in place of a table": "DROP TABLE tags; CREATE VIEW tags AS SELECT 1 AS run_id",
    "another table": "CREATE TABLE more (a)",
    "a virtual table": "CREATE VIRTUAL TABLE words USING fts5(a)",
    "an index that computes": "DROP INDEX runs_by_robot; "
    "CREATE INDEX runs_by_robot ON runs (lower(robot))",
    "another index": "CREATE INDEX mine ON runs (kind)",
    "an index of some rows": "DROP INDEX runs_by_robot; "
    "CREATE INDEX runs_by_robot ON runs (robot) WHERE robot > hex(1)",
    "a computed column": "ALTER TABLE tags ADD COLUMN c AS (upper(tag))",
    "a default that computes": "DROP TABLE tags; CREATE TABLE tags (run_id TEXT, tag TEXT, "
    '"by" TEXT, at BIGINT DEFAULT (random()), PRIMARY KEY (run_id, tag))',
    "a check": "DROP TABLE tags; CREATE TABLE tags (run_id TEXT, tag TEXT, "
    '"by" TEXT, at BIGINT CHECK (at > random()), PRIMARY KEY (run_id, tag))',
    "missing columns": "ALTER TABLE tags DROP COLUMN at",
    "a missing table": "DROP TABLE partials",
}


@pytest.mark.parametrize("what", PAYLOADS)
def test_a_log_that_could_run_something_is_refused(log: Path, opened: Open, what: str) -> None:
    with sqlite3.connect(log) as stranger:
        stranger.executescript(PAYLOADS[what])
    stranger.close()
    for readonly in (True, False):
        with pytest.raises(LogDamaged, match="not ours|lacks columns"):
            opened(str(log), readonly=readonly)


def test_malicious_log(log: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opening a log runs no code: nothing is imported or unpickled, whatever its events say."""
    evil = {
        "__class__": "os.system", "py/object": "os.system", "$": "PosixPath", "v": "x",
        "__reduce__": ["os.system", ["touch /tmp/owned"]], "lc": 1, "type": "constructor",
        "id": ["os", "system"], "kwargs": {"command": "touch /tmp/owned"},
        "!!python/object/apply:os.system": ["x"],
    }  # fmt: skip
    pickled = b"\x80\x04cos\nsystem\n(S'touch /tmp/owned'\ntR."
    started = dict(robot_run("r2")[0].data) | {"name": evil, "model": evil, "tags": [evil, "ok"]}
    store = opened(str(log))
    store.write(
        Batch([nameless(0, started, root_id="r2", type_="run.started"),
               nameless(1, {"message": evil}, root_id="r2"),
               nameless(2, evil, root_id="r2", type_="os.system")])
    )  # fmt: skip
    store.close()
    with sqlite3.connect(log) as stranger:
        stranger.execute("UPDATE events SET data = ? WHERE root_id = 'r1' AND seq = 1", (pickled,))
    stranger.close()
    warm = opened(str(log), readonly=True)  # what is needed is imported
    list(warm.events(["r1"], after=2))
    list(warm.select())

    def refuse(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event in {
            "import", "pickle.find_class", "exec", "compile", "os.system", "subprocess.Popen",
            "os.exec", "ctypes.dlopen", "sqlite3.load_extension", "sqlite3.enable_load_extension",
        }:  # fmt: skip
            seen.append((event, arguments))

    watching, seen = False, []  # type: ignore[var-annotated]
    sys.addaudithook(refuse)
    watching = True
    reader = Store.open(str(log), readonly=True)
    read = list(reader.events(["r2"]))
    rows = {row.run_id: row for row in reader.select()}
    with pytest.raises(LogDamaged, match="event 1 of 'r1' cannot be read"):
        list(reader.events(["r1"]))
    watching = False
    reader.close()
    assert seen == []
    assert read[2].data == evil
    assert type(rows["r2"].model) is str
    assert rows["r2"].tags == ("ok",)


def test_a_schema_is_not_trusted_even_if_it_comes_later(log: Path, opened: Open) -> None:
    store = opened(str(log))
    with store._reading() as connection:
        assert connection.exec_driver_sql("PRAGMA trusted_schema").scalar() == 0
        with pytest.raises(Exception, match="not authorized|no such function"):
            connection.exec_driver_sql("SELECT load_extension('x')")


# -- what happens to it while it is open -----------------------------------------------------


def test_locked_for_too_long_and_not_for_too_long(log: Path, opened: Open) -> None:
    store = opened(str(log), patience=0.5)
    other = sqlite3.connect(log, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    began = time.monotonic()
    with pytest.raises(LogLocked) as caught:
        store.write(Batch(robot_run("r2")))
    assert 0.4 < time.monotonic() - began < 5
    assert caught.value.retryable
    assert len(list(store.events())) == 4, "readers do not wait"
    patient = opened(str(log), patience=30)
    timer = threading.Timer(0.5, lambda: other.execute("COMMIT"))
    timer.start()
    patient.write(Batch(robot_run("r2")))
    timer.join()
    store.write(Batch(robot_run("r3")))
    other.close()
    assert len(list(store.events())) == 12


def test_whoever_writes_has_the_lock_from_the_start(log: Path, opened: Open) -> None:
    def work(connection: object) -> None:
        other = sqlite3.connect(log, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()

    opened(str(log))._change(work)


def test_a_log_that_another_process_made_first(store: Store) -> None:
    store.write(Batch(robot_run("r1")))
    store._backend._make(store._engine)  # type: ignore[attr-defined]
    assert len(list(store.events())) == 4


def test_a_full_disk_is_told_and_the_log_is_still_read(log: Path, opened: Open) -> None:
    store = opened(str(log))
    with store._engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        pages = raw.execute("PRAGMA page_count").fetchone()[0]  # type: ignore[union-attr]
        raw.execute(f"PRAGMA max_page_count={pages + 2}")  # type: ignore[union-attr]
    large = nameless(0, {"text": "x" * 100_000}, root_id="r2")
    with pytest.raises(LogFull, match="cannot grow"):
        store.write(Batch([large]))
    assert len(list(store.events())) == 4
    assert store.check() == []
    with store._engine.connect() as connection:
        raw = connection.connection.dbapi_connection
        raw.execute("PRAGMA max_page_count=1000000")  # type: ignore[union-attr]
    store.write(Batch([large]))
    assert len(list(store.events())) == 5


def test_deleted_moved_or_replaced_while_it_is_open(log: Path, opened: Open) -> None:
    def moved() -> None:
        log.rename(log.with_name("elsewhere"))

    def replaced() -> None:
        shutil.copy(log, log.with_name("copy"))
        os.replace(log.with_name("copy"), log)

    def without_its_log() -> None:
        Path(f"{log}-wal").unlink()

    for happens in (log.unlink, moved, replaced, without_its_log):
        if not log.exists():
            Store.open(str(log)).close()
        store = opened(str(log))
        store.write(Batch(robot_run("r2")))
        happens()
        for work in (lambda s=store: s.write(Batch(robot_run("r3"))), lambda s=store: s.count()):
            with pytest.raises(LogGone, match="deleted, moved or replaced"):
                work()
        store.close()
        for beside in ("-wal", "-shm"):
            Path(f"{log}{beside}").unlink(missing_ok=True)
    # A fresh one takes all of it again.
    with Store.open(str(log)) as again:
        again.write(Batch(robot_run("r3")))
        assert "r3" in {e.scope.root_id for e in again.events()}


def test_postgres_tables_dropped_while_it_is_open(postgres_place: str, opened: Open) -> None:
    from tests.runlog.conftest import drop

    store = opened(postgres_place)
    drop(postgres_place)
    with pytest.raises(LogGone, match="dropped or renamed"):
        store.write(Batch(robot_run("r1")))
    with Store.open(postgres_place) as again:
        again.write(Batch(robot_run("r1")))
        assert again.check() == []


def test_postgres_connections_that_are_cut_are_made_anew(postgres_place: str, opened: Open) -> None:
    from sqlalchemy import text

    store = opened(postgres_place)
    store.write(Batch(robot_run("r1")))
    other = opened(postgres_place)

    def cut(pid: int) -> None:
        with other._engine.connect() as killer:
            killer.execute(text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": pid})

    for number in (2, 3):
        with store._engine.connect() as connection:
            mine = connection.execute(text("SELECT pg_backend_pid()")).scalar_one()
        cut(mine)
        if number == 2:
            assert len(list(store.events())) == 4, "reading goes on"
        store.write(Batch(robot_run(f"r{number}")))
    assert len(list(store.events())) == 12
    times: list[int] = []

    def cut_between(connection: Connection) -> None:
        times.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
        if len(times) == 1:
            cut(times[0])
            connection.execute(text("SELECT 1"))

    store._change(cut_between)
    assert len(set(times)) == 2


def test_postgres_that_cannot_be_reached_or_used(postgres: str, postgres_place: str) -> None:
    for url in (
        "postgresql://postgres:hush-hush@127.0.0.1:1/test",
        postgres.replace("postgres@", "nobody-here:hush-hush@"),
        postgres.rpartition("/")[0] + "/no_such_database",
    ):
        with pytest.raises(LogUnreachable) as caught:
            Store.open(url)
        assert "hush-hush" not in str(caught.value)
        assert caught.value.retryable
    for url in ("postgresql://host:port/db", "postgresql://h/d?schema=a&schema=b"):
        with pytest.raises(ConfigurationError):
            Store.open(url)


def test_postgres_schema_of_somebody_else(postgres: str, postgres_place: str) -> None:
    from sqlalchemy import create_engine, text

    schema = postgres_place.rpartition("=")[2]
    engine = create_engine(postgres.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text(f"CREATE SCHEMA {schema}"))
        connection.execute(text(f"CREATE TABLE {schema}.events (mine int)"))
    engine.dispose()
    with pytest.raises(LogDamaged, match="holds other tables, such as 'events'"):
        Store.open(postgres_place)


# -- what may not be written -----------------------------------------------------------------


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may read."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


TRIES = """
    import os, sys, tempfile
    from robotlab_nb.runlog.store import Batch, Store
    from robotlab_nb.runlog.faults import LogError
    from tests.runlog.samples import robot_run

    def tries(path):
        for how in ({}, {"readonly": True}):
            try:
                with Store.open(path, **how) as store:
                    yield "read", len(list(store.events()))
                    store.write(Batch(robot_run("r9")))
            except LogError as error:
                yield type(error).__name__, error

    list(tries(tempfile.mkdtemp() + "/log.sqlite"))  # all that is needed is imported
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    for told in tries(sys.argv[1]):
        print(*told)
"""


def as_nobody(path: Path) -> list[str]:
    """What a person meets who may not write, whoever runs the tests."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TRIES), str(path)],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_file_or_folder_that_may_not_be_written(public: Path) -> None:
    path = public / "log.sqlite"
    with Store.open(path) as store:
        store.write(Batch(robot_run("r1")))
    path.chmod(0o444)
    public.chmod(0o555)
    said = as_nobody(path)
    assert said[0].startswith("LogReadOnly")
    assert "readonly=True" in said[0]
    assert said[1] == "read 4"
    assert said[2].startswith("LogReadOnly")
    # What was not finished beside it cannot be read there: said, not passed over.
    public.chmod(0o755)
    path.chmod(0o644)
    with Store.open(path) as store:
        store.write(Batch(network_run("n1")))
        for name in ("log.sqlite", "log.sqlite-wal"):
            shutil.copy(public / name, public / f"copy-{name}")
    for copy in public.glob("copy-*"):
        copy.chmod(0o444)
    public.chmod(0o555)
    said = as_nobody(public / "copy-log.sqlite")
    assert said[-1].startswith("LogReadOnly")
    assert "Copy all to a place of your own" in said[-1]
    assert not any(line.startswith("read 4") for line in said)


def test_a_new_log_in_a_folder_that_may_not_be_written(public: Path) -> None:
    public.chmod(0o555)
    said = as_nobody(public / "sub" / "log.sqlite")
    assert said[0].startswith("LogReadOnly")
    assert "Choose another place" in said[0]
    assert said[1].startswith("LogGone there is no log")


# -- a forked process ------------------------------------------------------------------------

FORKS = """
    import os, sys, warnings
    warnings.simplefilter("ignore")
    from robotlab_nb.runlog.store import Batch, Store, Where
    from tests.runlog.samples import robot_run
    store = Store.open(sys.argv[1])
    store.write(Batch(robot_run("r1", calls=2)[:3]))
    reader = store.events()
    next(reader)
    parents = store._engine
    child = os.fork()
    if not child:
        try:
            assert store._engine is not parents
            store.write(Batch(robot_run("child")))
            assert len(list(store.events(["child"]))) == 4
            store.close()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    store.write(Batch(robot_run("r1", calls=2)[3:]))
    assert os.waitpid(child, 0)[1] == 0
    store.write(Batch(robot_run("r2")))
    assert store._engine is parents
    assert store.check() == [], store.check()
    print(sorted(row.run_id for row in store.select()))
"""


def test_a_fork_with_an_open_log(place: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(FORKS), place],
        capture_output=True, text=True, cwd=REPOSITORY, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "['child', 'r1', 'r2']"


def test_postgres_without_its_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(DependencyError, match=r"robotlab-nb\[postgres\]"):
        Store.open("postgresql://u@127.0.0.1:1/db")
