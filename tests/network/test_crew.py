"""Who is in a network: looking robots up, adding and removing them, telling all something."""

from __future__ import annotations

import threading
import warnings

import pytest

import robotlab_nb as rl


def says(answer, name="robot"):
    return rl.build(name, model=rl.SimulatedModel(lambda request: answer))


def team():
    net = rl.create_network("team")
    ann, bob = says("from ann", "ann"), says("from bob", "bob")
    net.task("lead", ann)
    net.task("write", bob, depends_on=["lead"])
    net.task("check", bob, depends_on=["write"])
    net.task("count", lambda upstream: len(upstream), depends_on=["check"])
    return net, ann, bob


def test_robots_are_found_by_their_tasks():
    net, ann, bob = team()
    assert net.robot("lead") is net["lead"] is net.robots["lead"] is ann
    assert list(net.robots) == ["lead", "write", "check"]
    assert net.available_robots == [ann, bob]
    assert net.crew == (ann, bob)
    assert (net.chief, net.robot_count, net.is_network, net.is_single) == (ann, 2, True, False)
    assert "lead" in net
    assert "ann" not in net
    with pytest.raises(KeyError, match="Did you mean 'write'"):
        net.robot("wirte")
    with pytest.raises(KeyError, match="'count' is done by no robot"):
        net.robot("count")
    with pytest.raises(TypeError):
        list(net)


def test_a_robot_answers_to_the_same_names():
    bot = says("x")
    assert (bot.crew, bot.chief, bot.robot_count) == ((bot,), bot, 1)
    assert (bot.is_network, bot.is_single) == (False, True)


def test_the_crew_has_robots_of_networks_inside_once():
    net, ann, bob = team()
    outer = rl.create_network("outer")
    outer.task("team", net)
    outer.task("more", ann)
    carl = says("x", "carl")
    outer.task("carl", carl)
    assert outer.crew == (ann, carl, bob)
    assert rl.create_network("none").chief is None


def test_robots_are_added_and_removed_under_the_names_of_their_tasks():
    net = rl.create_network("n")
    first = says("one", "ann")
    assert net.add_robot(first).add_robot(says("two"), "bob", depends_on=["ann"]) is net
    assert net.run("x").text == "two"
    with pytest.raises(rl.GraphError, match="task 'ann' is there already"):
        net.add_robot(first)
    with pytest.raises(rl.ConfigurationError, match="takes a Robot"):
        net.add_robot(print)
    assert net.remove_robot("ann") is first
    with pytest.raises(rl.GraphError, match="'bob' depends on 'ann', which is not there"):
        net.run("x")
    assert net.remove_robot("ann") is None
    net.remove_robot("bob")
    net.task("f", lambda: 1)
    assert net.remove_robot("f") is None
    assert list(net.run("x")) == ["f"]


def test_a_removed_robot_leaves_its_group():
    net = rl.create_network("n")
    with net.parallel("g"):
        net.add_robot(says("one"), "a")
        net.add_robot(says("two"), "b")
    net.task("end", lambda upstream: list(upstream), depends_on=["g"])
    net.remove_robot("a")
    assert net.run("x").value == ["b"]


def test_a_broadcast_reaches_all_whatever_one_of_them_does():
    net = rl.create_network("n")
    heard, there = [], threading.Event()

    def broken(message):
        message["payload"]["seen"] = True
        raise ValueError("broken")

    async def later(message):
        heard.append(("later", message["payload"]))
        there.set()

    net.on_broadcast(broken).on_broadcast(lambda m: heard.append(("now", m["payload"])))
    net.on_broadcast(later)
    with pytest.warns(RuntimeWarning, match="handler .*broken failed: ValueError: broken"):
        assert net.broadcast({"stop": 1}) is net
    assert there.wait(10)
    assert sorted(name for name, _ in heard) == ["later", "now"]
    message = net.memory["_network_broadcast"]
    assert (message["payload"]["stop"], message["network"]) == (1, "n")
    with pytest.raises(rl.InputError):
        net.on_broadcast(3)


def test_an_async_handler_that_fails_is_warned_of():
    net = rl.create_network("n")
    done = threading.Event()

    async def broken(message):
        try:
            raise ValueError("broken later")
        finally:
            done.set()

    net.on_broadcast(broken)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        net.broadcast("x")
        assert done.wait(10)


def test_a_task_may_broadcast():
    net = rl.create_network("n")
    heard = []
    net.on_broadcast(lambda message: heard.append(message["payload"]))
    net.task("t", lambda: net.broadcast("from inside") and None)
    net.task("read", lambda memory: memory["_network_broadcast"]["payload"], depends_on=["t"])
    assert net.run("x").value == "from inside"
    assert heard == ["from inside"]


def test_resetting_the_memory_leaves_conversations_alone():
    net, ann, _ = team()
    ann.run("hello")
    net.memory.set("k", 1)
    assert net.reset_memory() is net
    assert net.memory.get("k") is None
    assert len(ann.messages) == 2
