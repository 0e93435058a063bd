"""Which runs ``log.where(…)`` means: in the index, in tables, and in a person's words."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.keys import text_hash
from robotlab_nb.frames.log_frames import LogFrames
from robotlab_nb.runlog.conditions import Where
from robotlab_nb.runlog.log_source import LogSource
from robotlab_nb.runlog.store import Batch, Store
from tests.runlog.samples import START, network_run, robot_run

if TYPE_CHECKING:
    from collections.abc import Iterator


def found(store: Store, **where: Any) -> list[str]:
    """The runs meant, by tables; the index must say the same."""
    runs = LogFrames(LogSource(store, Where(**where))).read("runs", ["run_id"])
    ids: list[str] = runs["run_id"].tolist()
    assert sorted(ids) == sorted(row.run_id for row in store.select(Where(**where)))
    return ids


def test_a_prompt_is_named_by_its_text_its_hash_or_its_first_digits(store: Store) -> None:
    brief, kind = text_hash("Be brief."), text_hash("Be kind.")
    assert brief is not None
    store.write(Batch(robot_run("r1", prompt_hash=brief)))
    store.write(Batch(robot_run("r2", hours=1, prompt_hash=kind)))
    store.write(Batch(robot_run("r3", hours=2)))
    for prompt in ("Be brief.", brief, brief[:6], ["Be brief.", "Be loud."]):
        assert found(store, prompt=prompt) == ["r1"]
    assert found(store, prompt=["Be brief.", kind]) == ["r1", "r2"]
    assert found(store, prompt=[None]) == ["r3"]
    assert found(store, prompt="Be br*") == []
    assert found(store, prompt="Be loud.") == []


def test_a_time_is_an_instant_a_day_or_how_long_ago(store: Store) -> None:
    now = datetime.now(UTC)
    for root, ago in (("old", timedelta(days=8)), ("new", timedelta(hours=1))):
        store.write(Batch(robot_run(root, hours=(now - ago - START).total_seconds() / 3600)))
    for since in ("7d", "1w", "7 D", "168h", "10080m", timedelta(days=7), now - timedelta(days=7)):
        assert found(store, since=since) == ["new"]
        assert found(store, until=since) == ["old"]
    assert found(store, since="0.5h") == []
    assert found(store, since=(now - timedelta(days=20)).date()) == ["old", "new"]
    assert found(store, since=date(1999, 1, 1), until="2000-01-01") == []
    local = START + timedelta(hours=(now - timedelta(hours=1) - START).total_seconds() / 3600)
    assert found(store, since=local.astimezone().replace(tzinfo=None)) == ["new"]


@pytest.mark.parametrize("wrong", ["soon", "7y", "d", "", [1], b"x", 1.5, "9999999999999d"])
def test_what_is_no_time_is_refused(store: Store, wrong: Any) -> None:
    with pytest.raises(rl.InputError, match="is no time") as caught:
        found(store, since=wrong)
    assert "7d" in str(caught.value.hint)


def test_an_unknown_condition_names_the_near_one() -> None:
    with rl.options(log=None):
        for wrong, near in (("robots", "robot"), ("state", "status"), ("run", "run_id")):
            with pytest.raises(rl.UnknownKeyword, match=near):
                rl.log.where(**{wrong: "x"})
        with pytest.raises(rl.InputError, match="Did you mean 'failed'"):
            rl.log.where(status="fail").query.checked()


#: names with every sign that a database could take for more than it is
NAMES = st.text(st.sampled_from("ab*?[]%_'\"\\;-é "), min_size=1, max_size=5)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, list[str]]]:
    names = ["a", "ab", "a*", "a%", "a_b", "[a]", "a?b", "'; DROP TABLE runs; --", "Ab", "é", "a\\"]
    with Store.open(tmp_path_factory.mktemp("shelf") / "log.sqlite") as store:
        for n, name in enumerate(names):
            store.write(Batch(robot_run(f"r{n:02d}", hours=n, robot=name, calls=0)))
        yield store, names


@settings(max_examples=80)
@given(pattern=NAMES)
def test_patterns_mean_what_they_say_and_nothing_is_run(
    shelf: tuple[Store, list[str]], pattern: str
) -> None:
    store, names = shelf
    plain = pattern.replace("[*]", "").replace("[?]", "")
    if "[" in plain and any(sign in pattern for sign in "*?["):
        return  # brackets have a meaning of their own, tested with the patterns
    wanted = [f"r{n:02d}" for n, name in enumerate(names) if fnmatchcase(name, pattern)]
    assert found(store, robot=pattern) == wanted
    assert len(found(store)) == len(names)


def test_conditions_hold_together_and_values_of_one_are_alternatives(store: Store) -> None:
    store.write(Batch(network_run("n1")))
    store.write(Batch(network_run("n2", hours=1, network="other", ends=False)))
    store.write(Batch(robot_run("r1", hours=2, robot="draft", end="run.failed", session_id="s")))
    store.tag(["n1"], ["good"])
    assert found(store, robot="draft") == ["n1-draft", "n2-draft", "r1"]
    assert found(store, robot="draft", status=["failed", "interrupted"]) == ["r1"]
    assert found(store, network="support", kind="network") == ["n1"]
    assert found(store, tag="good", robot="re*") == ["n1-reply"]
    assert found(store, task=[None], kind="robot") == ["r1"]
    assert found(store, session_id="s") == ["r1"]
    assert found(store, status="running") == ["n2"]
    assert found(store, root_id="n2") == ["n2", "n2-draft", "n2-reply"]


def test_a_query_is_kept_with_its_table_as_json(store: Store) -> None:
    store.write(Batch(robot_run("r1")))
    query = {
        "robot": ["bob", None], "since": timedelta(days=400_000 // 1000), "until": date(2100, 1, 1),
    }  # fmt: skip
    table = LogFrames(LogSource(store, Where(**query))).runs  # type: ignore[arg-type]
    told = table.attrs["query"]
    assert json.loads(json.dumps(told)) == told
    assert told["robot"] == ["bob", None]
    assert told["until"] == "2100-01-01"
    assert told["since"].endswith("s ago")
