"""A log may be large: what is read at a time does not grow with it."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

from robotlab_nb.core.events import Delta
from robotlab_nb.runlog.store import Batch, Store, Where
from tests.runlog.samples import nameless, robot_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from robotlab_nb.core.events import Event


def peak(read: Callable[[], Iterator[object]]) -> int:
    """Bytes that reading takes at most."""
    for _ in read():  # what is kept from the first time on
        pass
    tracemalloc.start()
    for _ in read():
        pass
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def large(count: int, root_id: str) -> list[Event]:
    return [nameless(n, {"text": f"{n}" * 200}, root_id=root_id) for n in range(count)]


def test_reading_takes_the_same_memory_however_much_there_is(store: Store) -> None:
    for n in range(3):
        store.write(Batch(large(4_000, f"a{n}")))
    one = peak(lambda: store.events(["a0"]))
    assert one < 8_000_000
    assert peak(store.events) < 1.3 * one


def test_large_values_are_read_few_at_a_time(store: Store) -> None:
    for root in ("a", "b"):
        for part in range(4):
            rows = [nameless(10 * part + n, {"text": "x" * 500_000}, root_id=root)
                    for n in range(10)]  # fmt: skip
            store.write(Batch(rows))
    assert sum(1 for _ in store.events()) == 80
    # 40 MB in all; a page is 4, and a driver may be some rows ahead.
    assert peak(lambda: store.events(["a"])) < 25_000_000
    assert peak(store.events) < 25_000_000


def test_many_small_roots_take_no_more_than_few(store: Store) -> None:
    few = [event for n in range(100) for event in robot_run(f"r{n}", hours=n)]
    store.write(Batch(few))
    before = peak(store.events)
    for part in range(1, 6):
        names = (f"r{part * 100 + n}" for n in range(100))
        store.write(Batch([e for name in names for e in robot_run(name, hours=part * 100)]))
    assert peak(store.events) < 1.5 * before
    assert peak(lambda: store.select(Where(robot="b*"))) < 4_000_000


def test_one_batch_of_very_many_roots(store: Store) -> None:
    events = [e for n in range(1_500) for e in robot_run(f"r{n}", calls=0)]
    store.write(Batch(events))
    store.write(Batch(events))
    assert store.count()[:3] == (1_500, 1_500, 3_000)
    assert store.purge(Where(run_id="r1*")) == 611
    assert store.count()[:2] == (889, 889)
    store.tag([f"r{n}" for n in range(200, 999)], ["many"])
    assert sum(1 for _ in store.select(Where(tag="many"))) == 799


def test_a_store_remembers_ended_roots_no_longer_than_it_must(store: Store) -> None:
    from robotlab_nb.runlog.writing import MOST_ENDED

    for n in range(MOST_ENDED + 10):
        store.write(Batch(robot_run(f"r{n}")))
    store.write(Batch(robot_run("live", end=None)))
    assert store._pen is not None
    assert len(store._pen._kept) == MOST_ENDED + 1
    # What comes late of a root that is not remembered is read first.
    late = nameless(4, {"length": 2}, root_id="r0", type_="conversation.committed")
    scope = robot_run("r0")[0].scope
    store.write(Batch([type(late)(late.type, scope, 4, 1.0, late.data)]))
    assert store.check() == []
    store.write(Batch(partials=[Delta(scope, "c", 1, "text", 0, "x")]))
    assert len(store.partials(["r0"])) == 1
