"""Runs into files and back: nothing is lost, nothing in them acts, no key is in them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core import secrets
from robotlab_nb.frames.table_files import harmless
from robotlab_nb.runlog import exporting, importing
from robotlab_nb.runlog.faults import LogDamaged, LogVersion
from robotlab_nb.runtime import recording

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("utf-8"))
TEXTS = [text for part in HOSTILE.values() for text in part if isinstance(text, str)]


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        yield rl.log
        rl.log.flush(30)
    recording.look()


def say(*answers: str, asked: str = "go", name: str = "bot", **settings: Any) -> Any:
    model = rl.SimulatedModel(list(answers))
    return rl.build(name, model=model, **settings).run(asked, show=False)


def some(log: Any) -> Any:
    say("one", asked="caf\xe9 \ud800 \0 =1+1")
    net = rl.create_network("net")
    net.task("each", lambda item: item * 2, map_over=[1, float("nan"), 10**400])
    net.run("go", show=False)
    rl.create_memory()["n"] = 1  # outside any run
    last = say("two", name="other", tags=["trial"])
    log.tag(last, "kept")
    return last


# -- events ----------------------------------------------------------------------------------


def test_events_go_into_another_log_and_nothing_is_lost(log: Any, tmp_path: Path) -> None:
    last = some(log)
    file = log.export(tmp_path / "runs.jsonl")
    first = json.loads(file.read_text("ascii").split("\n")[0])
    assert first["format"] == "robotlab_nb.events"
    assert first["made_by"].startswith("robotlab_nb ")
    with rl.open_log(tmp_path / "other.sqlite", readonly=False) as other:
        for _ in range(2):  # the second time changes nothing
            found = other.import_(file)
            assert found.roots == len(list(log.store.root_ids()))
            assert other.count().events == found.events
            # NaN is no equal of itself
            assert list(map(repr, other.store.events())) == list(map(repr, log.store.events()))
            assert set(other[last.run_id].tags) == {"trial", "kept"}
            assert other.store.check() == []
        again = other.export(tmp_path / "again.jsonl")
        assert again.read_bytes() == file.read_bytes()


def test_a_selection_takes_whole_roots_along(log: Any, tmp_path: Path) -> None:
    some(log)
    file = log.where(robot="other").export(tmp_path / "one.jsonl")
    with rl.open_log(tmp_path / "other.sqlite", readonly=False) as other:
        assert other.import_(file).roots == 1
        assert [run.robot for run in other] == ["other"]


def test_an_exported_run_can_be_gone_on_from(log: Any, tmp_path: Path) -> None:
    net = rl.create_network("net")
    parts: dict[str, int] = {}
    net.task("one", lambda message: message.upper())
    net.task("two", lambda upstream: str(upstream) + str(parts["n"]), depends_on=["one"])
    failed = net.run("a", show=False)
    assert failed.status == "failed"
    file = log.where(network="net").export(tmp_path / "runs.jsonl")
    parts["n"] = 2
    assert net.resume(str(file)).text == "A2"


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (lambda lines: [*lines[:3], lines[3][:-9], *lines[4:]], "line 4"),
        (lambda lines: [*lines[:3], *lines[4:]], "line 4 .event 3 of run"),
        (lambda lines: [*lines[:3], "\0\xff", *lines[3:]], "line 4"),
        (lambda lines: [*lines[:3], '{"type": 7}', *lines[3:]], "line 4"),
        (lambda lines: [lines[0], *lines[2:]], "line 2"),
    ],
    ids=["cut", "missing", "garbage", "no event", "no start"],
)
def test_of_a_damaged_file_nothing_is_taken(
    log: Any, tmp_path: Path, damage: Any, named: str
) -> None:
    some(log)
    file = log.export(tmp_path / "runs.jsonl")
    lines = damage(file.read_text("ascii").rstrip("\n").split("\n"))
    file.write_text("\n".join(lines) + "\n", "latin-1")
    with rl.open_log(tmp_path / "other.sqlite", readonly=False) as other:
        with pytest.raises(LogDamaged, match=named):
            other.import_(file)
        assert other.count().events == 0


def test_what_is_no_export_is_refused(log: Any, tmp_path: Path) -> None:
    file = tmp_path / "x.jsonl"
    for text in ("", "hello", "{}", "[1]", '{"format": "other", "version": 1}'):
        file.write_text(text)
        with pytest.raises(rl.InputError, match="holds no exported runs"):
            log.import_(file)
    file.write_text('{"format": "robotlab_nb.events", "version": 99, "made_by": "robotlab_nb 9"}')
    with pytest.raises(LogVersion, match="robotlab_nb 9"):
        log.import_(file)
    with pytest.raises(rl.InputError, match="cannot be read"):
        log.import_(tmp_path / "nowhere.jsonl")
    with rl.options(log=None), pytest.raises(rl.InputError, match="no log to import into"):
        rl.log.import_(file)


# -- tables ----------------------------------------------------------------------------------


@pytest.mark.parametrize("table", ["runs", "tasks", "events", "messages", "memory"])
def test_parquet_has_the_table(
    log: Any, tmp_path: Path, table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas as pd

    monkeypatch.setattr("robotlab_nb.frames.table_files.ROOTS", 2)  # several portions
    some(log)
    file = log.export(tmp_path / "x.parquet", table=table)
    wanted = getattr(log.frames, table)
    assert len(wanted)
    pd.testing.assert_frame_equal(pd.read_parquet(file), wanted)


def test_a_folder_has_every_table(log: Any, tmp_path: Path) -> None:
    import pandas as pd

    some(log)
    folder = log.export(tmp_path / "tables")
    assert {file.stem for file in folder.iterdir()} == set(log.frames.names)
    assert len(pd.read_parquet(folder / "runs.parquet")) == len(log)
    with pytest.raises(rl.ConfigurationError, match="there already"):
        log.export(folder)
    (folder / "mine.txt").write_text("x")
    log.export(folder, overwrite=True)
    assert (folder / "mine.txt").exists()


DANGEROUS = re.compile("(^|[\r\n\"'\u201c\u201d])[ \t\xa0]*[=+\\-@\t\uff1d\uff0b\uff0d\uff20]|^\r")


@given(st.text(alphabet=st.sampled_from("=+-@\t\r\n\"' a1,;\uff1d\xa0"), max_size=12) | st.text())
@example("=cmd|' /C calc'!A0")
@example("\r=1")
@example('"=1"')
@example("a\n\n +1")
def test_no_text_is_a_formula(text: str) -> None:
    made = harmless(text)
    found = DANGEROUS.search(made)
    while found:  # an apostrophe of ours is before it
        assert found[0].startswith("'"), (text, made)
        found = DANGEROUS.search(made, found.end())
    assert made.replace("'", "") == text.replace("'", "")
    if not set("=+-@\t\r\uff1d\uff0b\uff0d\uff20\u2212") & set(text):
        assert made == text


def test_csv_is_safe_unless_formulas_are_wanted(log: Any, tmp_path: Path) -> None:
    asked = "=HYPERLINK(\"http://x\")\n+1, 'a'; -5"
    say("@SUM(1)", asked=asked)
    file = log.export(tmp_path / "x.csv")
    (row,) = csv.DictReader(io.StringIO(file.read_text("utf-8"), newline=""))
    assert row["input"].startswith("'=HYPERLINK")
    assert row["output"] == "'@SUM(1)"
    file = log.export(tmp_path / "x.csv", formulas=True, overwrite=True)
    (row,) = csv.DictReader(io.StringIO(file.read_bytes().decode(), newline=""))
    assert (row["input"], row["output"]) == (asked, "@SUM(1)")


# -- what was said -----------------------------------------------------------------------------


def _tags(page: str) -> str:
    """The tags of a page, without the texts between them and those in titles."""
    link = r'<a href="https?://[^"]*" rel="noopener noreferrer">'  # followed when it is clicked
    page = re.sub(rf'{link}|(title|alt|aria-label)="[^"]*"', "", page)
    return "".join(re.findall(r"<[^>]*>", page))


def test_hostile_texts_are_inert_in_every_file(log: Any, tmp_path: Path) -> None:
    for text in TEXTS[:60]:
        say(text, asked=text)
    page = log.export(tmp_path / "x.html").read_text("utf-8")
    body = page[page.index("<body>") :]
    assert not re.search(r"<(script|iframe|img|object|embed|form|math)\b", body, re.IGNORECASE)
    assert not re.search(r"<[^>]*\son\w+\s*=", re.sub(r'"[^"]*"', '""', body))
    assert not re.search(r"\b(src|srcset|href|action|data)\s*=\s*[\"']?\s*(?!data:|#)", _tags(body))
    file = log.export(tmp_path / "x.csv")
    rows = list(csv.DictReader(io.StringIO(file.read_bytes().decode("utf-8"), newline="")))
    assert len(rows) == len(TEXTS[:60])
    for row in rows:
        for cell in (row["input"], row["output"]):
            assert not re.match("[ \xa0]*[=+\\-@\t\r]", cell), cell


def test_no_file_holds_a_key_that_was_registered_afterwards(log: Any, tmp_path: Path) -> None:
    key = "sk-tomato-4711-soup-0815"
    say(f"the key is {key}", asked=f"what is {key}?")
    log.flush()
    secrets.register_secret(key)
    try:
        for name in ("x.jsonl", "x.csv", "x.html", "x.parquet", "tables"):
            made = log.export(tmp_path / name)
            for file in made.iterdir() if made.is_dir() else [made]:
                assert key.encode() not in file.read_bytes(), file
            if made.suffix == ".parquet":
                import pandas as pd

                assert not pd.read_parquet(made)["input"].str.contains(key).any()
    finally:
        secrets.forget()


# -- files -----------------------------------------------------------------------------------


def test_a_file_that_is_there_stays(log: Any, tmp_path: Path) -> None:
    say("one")
    for name in ("x.jsonl", "x.csv", "x.html", "x.parquet"):
        file = tmp_path / name
        file.write_text("mine")
        with pytest.raises(rl.ConfigurationError, match="is there already"):
            log.export(file)
        assert file.read_text() == "mine"
        log.export(file, overwrite=True)
        assert file.stat().st_size > 50
    with pytest.raises(rl.ConfigurationError, match="cannot be written"):
        log.export(tmp_path / "nowhere" / "x.csv")
    with pytest.raises(rl.ConfigurationError, match=r"Did you mean '\.csv'"):
        log.export(tmp_path / "x.cvs")
    with pytest.raises(rl.InputError, match="no table 'rnus'"):
        log.export(tmp_path / "y.csv", table="rnus")
    with pytest.raises(rl.ConfigurationError, match="table= has no meaning"):
        log.export(tmp_path / "y.jsonl", table="runs")


def test_a_file_is_whole_or_not_there(
    log: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    say("one")

    def full(event: Any) -> str:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(exporting, "line", full)
    with pytest.raises(rl.ConfigurationError, match="No space left"):
        log.export(tmp_path / "x.jsonl")
    assert [file.name for file in tmp_path.iterdir() if "jsonl" in file.name] == []


def test_an_empty_log_makes_empty_files(tmp_path: Path) -> None:
    import pandas as pd

    with rl.options(log=str(tmp_path / "none.sqlite")):
        assert len(pd.read_csv(rl.log.export(tmp_path / "x.csv"))) == 0
        assert len(pd.read_parquet(rl.log.export(tmp_path / "x.parquet"))) == 0
        assert "<body>" in rl.log.export(tmp_path / "x.html").read_text()
        file = rl.log.where(robot="nobody").export(tmp_path / "x.jsonl")
        assert rl.log.import_(file) == importing.Imported(0, 0)
    recording.look()
