"""Reading and writing a memory: values, versions, reserved keys, who wrote, labels."""

from __future__ import annotations

import asyncio
import threading

import pytest

import robotlab_nb as rl
from robotlab_nb.memory.backends import MOST_KEPT
from robotlab_nb.memory.keys import KeyNotThere


def in_threads(count, function):
    threads = [threading.Thread(target=function, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def memory():
    return rl.create_memory()


def test_what_was_written_is_read_as_the_very_same_object(memory):
    thing = object()
    memory["thing"] = thing
    assert memory["thing"] is thing
    assert memory.get("thing") is thing


def test_one_missing_key_is_none_and_several_are_a_dict_with_all_of_them(memory):
    memory["a"] = None
    assert memory.get("b") is None
    assert memory.get("a", "b", "a") == {"a": None, "b": None}
    assert "a" in memory
    assert "b" not in memory


def test_a_missing_item_names_the_near_key(memory):
    memory["draft"] = 1
    with pytest.raises(KeyNotThere, match="'draft'"):
        memory["drafts"]
    with pytest.raises(KeyError):
        del memory["drafts"]


@pytest.mark.parametrize("key", ["", None, 3, ("a",), "\ud800"])
def test_a_key_is_a_text(memory, key):
    for call in (memory.get, memory.delete, memory.version, lambda k: memory.set(k, 1)):
        with pytest.raises(rl.InputError, match="key"):
            call(key)


@pytest.mark.parametrize("key", ["data", "results", "messages", "session_id", "cache"])
def test_reserved_keys_are_refused_and_the_way_to_change_them_is_named(memory, key):
    writes = (
        lambda: memory.set(key, 1), lambda: memory.__setitem__(key, 1),
        lambda: memory.update(key, str), lambda: memory.append(key, 1),
        lambda: memory.delete(key), lambda: memory.subscribe(key, callback=print),
        lambda: memory.scoped({key: 1}), lambda: memory.merge({key: 1}),
    )  # fmt: skip
    for write in writes:
        with pytest.raises(rl.InputError, match=f"'{key}': it is a reserved key. [A-Z]"):
            write()
    assert memory.keys() == []


def test_reserved_keys_are_read_as_copies(memory):
    memory.data["x"] = 1
    memory.session_id = "s1"
    memory.append_result("r")
    found = memory.get("data", "results", "messages", "session_id", "free")
    assert found == {
        "data": {"x": 1}, "results": ["r"], "messages": [], "session_id": "s1", "free": None,
    }  # fmt: skip
    found["results"].append("no")
    found["data"]["x"] = 2
    assert (memory.results, memory.data.x) == (["r"], 1)


def test_versions_count_writes_from_the_creation_of_a_key(memory):
    assert memory.version("a") == 0
    assert [memory.set("a", n) for n in range(3)] == [1, 2, 3]
    memory.delete("a")
    assert memory.version("a") == 0
    assert memory.set("a", 1) == 1


def test_a_hundred_threads_lose_no_append_and_no_update(memory):
    def work(n):
        memory.append("list", n)
        memory.update("count", lambda count: (count or 0) + 1)

    in_threads(100, work)
    assert sorted(memory["list"]) == list(range(100))
    assert memory["count"] == memory.version("count") == memory.version("list") == 100


async def test_a_hundred_tasks_of_a_network_lose_no_append(memory):
    net = rl.create_network("n")

    async def async_task():
        memory.append("list", "a")
        await asyncio.sleep(0)
        memory.update("count", lambda count: (count or 0) + 1)

    def sync_task():
        memory.append("list", "s")
        memory.update("count", lambda count: (count or 0) + 1)

    for n in range(100):
        net.task(f"t{n}", async_task if n % 2 else sync_task)
    await net.arun("go")
    assert sorted(memory["list"]) == ["a"] * 50 + ["s"] * 50
    assert memory["count"] == 100


def test_appending_leaves_earlier_lists_alone_and_refuses_what_is_no_list(memory):
    memory.append("list", 1)
    before = memory["list"]
    memory.append("list", 2)
    assert before == [1]
    memory["text"] = "x"
    with pytest.raises(rl.InputError, match="'text' of the memory: it holds a str"):
        memory.append("text", 1)


def test_an_update_that_fails_changes_nothing(memory):
    memory["a"] = 1
    with pytest.raises(ZeroDivisionError):
        memory.update("a", lambda a: a / 0)
    assert (memory["a"], memory.version("a")) == (1, 1)


def test_clear_keeps_reserved_things_and_reset_keeps_nothing():
    memory = rl.create_memory({"x": 1}, session_id="s")
    memory["a"] = 1
    memory.append_result("r")
    assert memory.clear() is memory
    assert (memory.keys(), dict(memory.data), memory.results) == ([], {"x": 1}, ["r"])
    assert memory.reset() is memory
    assert (dict(memory.data), memory.results, memory.messages) == ({}, [], [])
    assert memory.session_id is None


def test_results_are_kept_up_to_a_thousand_and_counted_on(memory):
    for n in range(MOST_KEPT + 5):
        memory.append_result(n)
    assert len(memory.results) == MOST_KEPT
    assert memory.results[0] == 5
    assert memory.results_from(MOST_KEPT + 3) == [MOST_KEPT + 3, MOST_KEPT + 4]
    assert memory.results_from(2) == memory.results


def test_the_history_is_text_by_the_formatter(memory):
    memory.set_results(["one", "two"])
    assert memory.format_history() == "one\n\ntwo"
    assert memory.format_history(lambda r: f"- {r}") == "- one\n\n- two"


# -- data --------------------------------------------------------------------------------------


def test_data_whose_name_is_a_methods_is_an_item_only(memory):
    with pytest.raises(
        rl.InputError, match=r'data\.items is a method. Write memory.data\["items"\]'
    ):
        memory.data.items = 1
    memory.data["items"] = 1
    assert memory.data["items"] == 1
    assert callable(memory.data.items)


def test_missing_data_names_the_near_one(memory):
    memory.data.city = "Paris"
    for read in (lambda: memory.data.citty, lambda: memory.data["citty"]):
        with pytest.raises((AttributeError, KeyError), match="Did you mean 'city'"):
            read()
    assert not hasattr(memory.data, "town")
    del memory.data.city
    assert dict(memory.data) == {}
    assert "city" not in memory.data


def test_data_and_keys_of_one_name_are_two_things(memory):
    memory["x"] = 1
    memory.data.x = 2
    assert (memory["x"], memory.data.x, memory.keys()) == (1, 2, ["x"])


# -- who wrote -----------------------------------------------------------------------------------


def told(events, type_):
    return [dict(e.data) for e in events if e.type == type_]


def test_a_cells_write_is_an_event_of_the_session_and_tells_all(memory):
    memory["a"] = (1, 2)
    memory["a"] = float("nan")
    memory.append("l", {"x": 1})
    memory.delete("a")
    memory.clear()
    found = rl.session_events()[-5:]
    assert [e.type for e in found] == [
        "memory.set", "memory.set", "memory.set", "memory.deleted", "memory.cleared",
    ]  # fmt: skip
    assert {e.scope.kind for e in found} == {"session"}
    by = {"writer": "session", "network": None}
    assert [dict(e.data) for e in found] == [
        {"key": "a", "value": [1, 2], "version": 1, "created": True, **by},
        {"key": "a", "value": "NaN", "lossy": True, "version": 2, "created": False, **by},
        {"key": "l", "value": {"x": 1}, "appended": True, "version": 1, "created": True, **by},
        {"key": "a", "version": 2, "writer": "session"},
        {"keys": ["l"], "writer": "session"},
    ]


def test_writes_of_parallel_tasks_bear_their_own_names(memory):
    net = rl.create_network("crowd")
    both = threading.Barrier(2, timeout=20)

    def work(message):
        for n in range(20):
            both.wait()
            memory.set(f"{threading.get_ident()}.{n}", n)

    net.task("left", work)
    net.task("right", work)
    result = net.run("go")
    sets = [e for e in result.events if e.type == "memory.set"]
    assert len(sets) == 40
    writers = {}
    for event in sets:
        writers.setdefault(event.data["key"].partition(".")[0], set()).add(event.data["writer"])
        assert event.scope.path == ("crowd", event.data["writer"])
        assert (event.scope.kind, event.data["network"]) == ("task", "crowd")
    assert sorted(map(sorted, writers.values())) == [["left"], ["right"]]


def test_a_robots_tool_writes_as_the_robot_and_within_its_run(memory):
    def note(text: str) -> str:
        """Note."""
        memory["note"] = text
        return "noted"

    model = rl.SimulatedModel([("note", {"text": "hi"}), "done"])
    result = rl.build("clerk", model=model, tools=[note]).run("x")
    (event,) = [e for e in result.events if e.type == "memory.set"]
    assert (event.data["writer"], event.scope.robot) == ("clerk", "clerk")
    memory["note"] = "again"
    assert rl.session_events()[-1].data["writer"] == "session"


def test_what_a_thread_of_an_ended_run_writes_belongs_to_the_session(memory):
    go, done = threading.Event(), threading.Event()

    def late(n: int) -> str:
        """Late."""
        go.wait(20)
        memory["late"] = n
        done.set()
        return "x"

    model = rl.SimulatedModel([("late", {"n": 1}), "done"])
    result = rl.build("b", model=model, tools=[late], tool_timeout=0.05).run("x")
    go.set()
    assert done.wait(20)
    assert told(result.events, "memory.set") == []
    event = rl.session_events()[-1]
    assert (event.data["key"], event.data["writer"]) == ("late", "b")


def test_a_memory_tells_the_network_that_it_was_given_to(memory):
    memory.network_name = "crowd"
    memory["a"] = 1
    assert rl.session_events()[-1].data["network"] == "crowd"


# -- labels --------------------------------------------------------------------------------------


def test_labels_stay_with_a_value_until_it_is_set_anew(memory):
    memory.set("a", [1], labels=["private"])
    memory.append("a", 2, labels=["untrusted"])
    assert memory.labels("a") == {"private", "untrusted"}
    memory.update("a", len)
    assert memory.labels("a") == {"private", "untrusted"}
    memory.set("a", 1)
    assert memory.labels("a") == memory.labels("nonesuch") == frozenset()


@pytest.mark.parametrize(("labels", "said"), [("private", "not a set"), (["privat"], "'private'")])
def test_wrong_labels_are_refused_before_anything_is_written(memory, labels, said):
    with pytest.raises(rl.ConfigurationError, match=said):
        memory.set("a", 1, labels=labels)
    assert "a" not in memory


def test_who_reads_labelled_data_writes_labelled_data(memory):
    memory.set("salary", 3100, labels=["private"])

    def read() -> str:
        """Read."""
        run = rl.current_run()
        memory["before"] = 1
        value = memory.get("salary")
        memory["after"] = value
        return str(sorted(run.labels_seen))

    model = rl.SimulatedModel([("read", {}), "done"])
    result = rl.build("b", model=model, tools=[read]).run("x")
    assert result.tool_calls[0].result == "['private']"
    assert memory.labels("before") == frozenset()
    assert memory.labels("after") == {"private"}


# -- one run's values ----------------------------------------------------------------------------


def test_values_of_one_run_are_seen_nowhere_else(memory):
    memory["shared"] = 1
    first, second = memory.scoped({"customer": 1}), memory.scoped({"customer": 2})
    first["customer"] = 10
    first["shared"] = 5
    first.data.x = 1
    first.append_result("r")
    assert (first["customer"], second["customer"]) == (10, 2)
    assert (second["shared"], memory["shared"], memory.data.x) == (5, 5, 1)
    assert "customer" not in memory
    assert sorted(first.keys()) == ["customer", "shared"]
    assert (memory.results, first.results) == (["r"], ["r"])
    assert first.version("customer") == 2
    del first["customer"]
    assert (first.get("customer"), second["customer"]) == (None, 2)


def test_a_scoped_memory_waits_and_tells_for_its_own_keys_and_for_those_below(memory):
    scoped, told = memory.scoped({"own": 1}), []
    scoped.subscribe_pattern("*", callback=lambda c: told.append((c.key, c.value)))
    del scoped["own"]
    threading.Timer(0.05, memory.set, ("below", 2)).start()
    threading.Timer(0.1, scoped.set, ("own", 3)).start()
    assert scoped.get("own", "below", wait=10) == {"own": 3, "below": 2}
    for _ in range(200):
        if len(told) == 3:
            break
        threading.Event().wait(0.01)
    assert told == [("own", None), ("below", 2), ("own", 3)]


@pytest.mark.parametrize("backend", ["redis", "hash", "auto", 3])
def test_a_backend_that_is_none_is_refused(backend):
    with pytest.raises(rl.ConfigurationError, match="redis://127.0.0.1:6379/0"):
        rl.create_memory(backend=backend)


def test_a_memory_says_what_it_is_and_never_how_much(memory):
    assert repr(memory) == "<Memory: no keys>"
    for n in range(20):
        memory[f"k{n:02}"] = "x" * 10_000
    assert repr(memory).endswith("k11 and 8 more>")
    assert bool(rl.create_memory())
