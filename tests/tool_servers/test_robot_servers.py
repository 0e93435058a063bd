"""Robots use tool servers: which ones are meant at each level, and what happens when one fails."""

from __future__ import annotations

import json
import pickle
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.testing import ScriptedModel
from tests.tool_servers.in_process import Desk


def get_time() -> str:
    """Time."""
    return "noon"


def get_date() -> str:
    """Date."""
    return "today"


def offered(result) -> list[str]:
    """The tools that the model was offered."""
    call = next(iter(result.state.model_calls.values()))
    return list(call.tools)


def told(result, type_):
    return [event.data for event in result.events if event.type == type_]


@pytest.fixture
def disk():
    return Desk("disk").tool("read", description="Read a file").tool("search")


@pytest.fixture
def web():
    return Desk("web").tool("search").tool("fetch")


def run(bot, message="hello", **how):
    return bot.run(message, **how)


def test_a_servers_tools_are_offered_beside_the_robots_own_and_are_called(disk):
    model = ScriptedModel([("read", {"text": "a.txt"}), "it says so"])
    bot = rl.build("clerk", model=model, tools=[get_time], mcp=[disk.server])
    result = bot.run("What is in a.txt?")
    assert result.text == "it says so"
    assert offered(result) == ["get_time", "read", "search"]
    assert result.tool_calls[0].result == "read: a.txt"
    assert list(result.frames.tool_calls["source"]) == ["mcp:disk"]
    assert bot.mcp_tools.names == ("read", "search")
    assert bot.tools.names == ("get_time",)


def test_the_schema_goes_to_the_model_word_for_word():
    schema = {
        "type": "object",
        "properties": {
            "unit": {"enum": ["C", "F"], "description": "of heat"},
            "where": {"$ref": "#/$defs/place"},
        },
        "required": ["where"],
        "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
        "additionalProperties": False,
        "x-odd": [1, {"deep": None}],
    }
    desk = Desk("heat").tool("measure", lambda **_: "21", "Heat.", schema)
    bot = rl.build("b", model=ScriptedModel(["done"]), mcp=[desk.server])
    result = bot.run("x")
    spec = told(result, "model_call.started")[0]["tool_specs"][0]
    assert spec["parameters"] == schema
    assert (spec["name"], spec["description"]) == ("measure", "Heat.")


LEVELS = [
    # robot's mcp, robot's tools, run's mcp, run's tools -> offered
    (..., None, None, None, ["disk__search", "fetch", "read", "web__search"]),
    (..., [], None, None, []),
    (..., [get_time], None, None, ["disk__search", "fetch", "get_time", "read", "web__search"]),
    (..., None, None, [], []),
    (..., None, None, [get_time], ["get_time"]),
    (..., None, None, [get_time, ...],
     ["disk__search", "fetch", "get_time", "read", "web__search"]),
    (..., None, None, ["read"], ["read"]),
    (..., None, None, ["*search"], ["disk__search", "web__search"]),
    (..., None, None, ["search"], ["disk__search", "web__search"]),
    (..., None, None, ["web/*"], ["fetch", "web__search"]),
    (..., ["read", "fetch"], None, ["fetch"], ["fetch"]),
    (..., [get_time, get_date], None, ["get_*", "read"], ["get_date", "get_time", "read"]),
    (..., [get_time, get_date, ...], None, ["get_time"], ["get_time"]),
    (..., None, [], None, []),
    (..., None, ["web"], None, ["fetch", "search"]),
    (..., None, ["d*"], None, ["read", "search"]),
    (..., None, [...], None, ["disk__search", "fetch", "read", "web__search"]),
    (..., [get_time], ["disk"], [...], ["get_time", "read", "search"]),
    (..., [get_time], ["disk"], [get_date], ["get_date", "read", "search"]),
    (..., [get_time], ["disk"], [], []),
    ([], [get_time], None, None, ["get_time"]),
]  # fmt: skip


@pytest.mark.parametrize(("mcp", "tools", "run_mcp", "run_tools", "expected"), LEVELS)
def test_own_and_borrowed_tools_are_one_pool(mcp, tools, run_mcp, run_tools, expected, disk, web):
    servers = [disk.server, web.server] if mcp is ... else mcp
    more = {} if tools is None else {"tools": tools}
    bot = rl.build("b", model=ScriptedModel(["done"]), mcp=servers, **more)
    result = bot.run("x", tools=run_tools, mcp=run_mcp)
    assert sorted(offered(result)) == expected
    wanted = {"disk" if name in ("read", "disk__search") else name for name in expected}
    if not expected or expected == ["get_time"]:
        assert disk.connections == web.connections == 0, "nothing was asked that is not needed"
    elif wanted <= {"fetch", "search", "get_time"} and run_mcp == ["web"]:
        assert disk.connections == 0


def test_a_server_may_be_a_dict_and_its_faults_show_before_anything_is_asked(disk):
    described = disk.server.to_dict()
    model = ScriptedModel(["done"])
    assert offered(rl.build("b", model=model, mcp=[described]).run("x")) == ["read", "search"]
    with pytest.raises(rl.ConfigurationError, match="comand.*Did you mean 'command'"):
        rl.build("b", mcp=[{"name": "x", "transport": {"type": "stdio", "comand": "x"}}])
    with pytest.raises(rl.ConfigurationError, match="takes tool servers, not 5"):
        rl.build("b", mcp=[5])
    for word in ("none", "inherit"):
        with pytest.raises(rl.ConfigurationError, match=r"mcp=\[\] means none|takes list"):
            rl.build("b", mcp=[word])
    bot = rl.build("b", model=model, mcp=[disk.server])
    with pytest.raises(rl.ConfigurationError, match="no tool server 'disc'.*'disk'"):
        bot.run("x", mcp=["disc"])
    with pytest.warns(UserWarning, match="no tool server matches 'z\\*'"):
        rl.build("b", model=ScriptedModel(["done"]), mcp=[disk.server]).run("x", mcp=["z*"])
    with pytest.raises(rl.ConfigurationError, match="two tool servers are called 'disk'"):
        rl.build("b", mcp=[disk.server, rl.mcp.Server("disk", command="other")])


def test_a_tool_that_is_named_and_nowhere_is_an_error_that_lists_the_known_ones(disk):
    bot = rl.build("b", model=ScriptedModel(["done"]), tools=[get_time], mcp=[disk.server])
    with pytest.raises(rl.ToolNotFoundError, match="'raed'.*'read'"):
        bot.run("x", tools=["raed", "get_time"])


def test_a_missing_server_excuses_a_name_that_it_might_have(disk):
    gone = Desk("gone", fails="nobody is there")
    bot = rl.build("b", model=ScriptedModel(["done"]), mcp=[disk.server, gone.server])
    assert offered(bot.run("x", tools=["read", "unknown"])) == ["read"]


def test_one_dead_server_hurts_no_other_and_is_tried_again(disk):
    gone = Desk("gone", fails="nobody is there").tool("ring")
    bot = rl.build("b", model=ScriptedModel(["one", "two"]), mcp=[gone.server, disk.server])
    first = bot.run("x")
    assert first.text == "one"
    assert offered(first) == ["read", "search"]
    assert bot.failed_mcp_server_names == ("gone",)
    (failed,) = told(first, "mcp.failed")
    assert failed["server"] == "gone"
    assert "nobody is there" in failed["error"]["message"]
    gone.fails = ""
    second = bot.run("y")
    assert offered(second) == ["ring", "read", "search"]
    assert bot.failed_mcp_server_names == ()


def test_a_required_server_that_is_dead_fails_the_run(disk):
    gone = Desk("gone", fails="nobody is there", required=True)
    bot = rl.build("b", model=ScriptedModel(["one"]), mcp=[gone.server, disk.server])
    with pytest.raises(rl.MCPError, match="nobody is there"):
        bot.run("x")
    assert bot.model.calls == 0 if hasattr(bot.model, "calls") else True


def test_servers_connect_at_the_same_time():
    desks = [Desk(f"s{n}", after=0.5).tool(f"t{n}") for n in range(10)]
    bot = rl.build("b", model=ScriptedModel(["done"]), mcp=[d.server for d in desks])
    rl.build("warm", model=ScriptedModel(["x"]), mcp=[Desk("warm").tool("t").server]).run("x")
    began = time.monotonic()
    assert len(offered(bot.run("x"))) == 10
    assert time.monotonic() - began < 10 * 0.5


def test_a_session_lasts_from_run_to_run_and_is_closed_by_disconnect(disk):
    bot = rl.build("b", model=ScriptedModel(["1", "2", "3"]), mcp=[disk.server])
    bot.connect_mcp()
    assert (disk.connections, bot.mcp_tools.names) == (1, ("read", "search"))
    first, second = bot.run("x"), bot.run("y")
    assert disk.connections == 1
    assert all(data["reused"] for r in (first, second) for data in told(r, "mcp.ready"))
    bot.disconnect()
    assert disk.wires == []
    bot.run("z")
    assert disk.connections == 2


async def test_connecting_and_letting_go_can_be_awaited(disk):
    bot = rl.build("b", model=ScriptedModel(["1"]), mcp=[disk.server])
    await bot.aconnect_mcp()
    assert bot.mcp_tools.names == ("read", "search")
    assert (await bot.arun("x")).text == "1"
    await bot.adisconnect()
    assert disk.wires == []


def test_what_a_run_adds_is_not_there_for_the_next(disk):
    bot = rl.build("b", model=ScriptedModel(["1", "2"]))
    assert offered(bot.run("x", mcp=[disk.server])) == ["read", "search"]
    assert offered(bot.run("y")) == []


def test_a_task_has_its_own_servers_and_none_reach_the_next_task(disk, web):
    net = rl.create_network("n", config={"mcp": [disk.server, web.server]})
    for name, mcp, after in (("one", ["disk"], []), ("two", None, ["one"]), ("three", [], ["two"])):
        bot = rl.build(name, model=ScriptedModel(["done"]))
        net.task(name, bot, mcp=mcp, depends_on=after)
    result = net.run("go").raise_for_errors()
    found = {name: offered(result[name]) for name in ("one", "two", "three")}
    assert found == {
        "one": ["read", "search"],
        "two": ["read", "disk__search", "web__search", "fetch"],
        "three": [],
    }


def test_a_task_that_no_robot_does_takes_no_servers(disk):
    net = rl.create_network("n")
    net.task("f", lambda: 1, mcp=[disk.server])
    with pytest.raises(rl.GraphError, match="has mcp=, and a function does it"):
        net.run("x")


def test_forks_delegated_and_pickled_robots_take_their_servers_along(disk):
    bot = rl.build("b", model=ScriptedModel(["1", "2", "3", "4"]), mcp=[disk.server])
    assert offered(bot.fork("c").run("x")) == ["read", "search"]
    boss = rl.build("boss")
    assert offered(boss.delegate(bot, "do it")) == ["read", "search"]
    assert offered(boss.delegate(bot, "do it", mcp=[])) == []
    bot.connect_mcp()
    described = rl.build("b", mcp=[rl.mcp.Server("files", command="files-mcp", args=["/tmp"])])
    again = pickle.loads(pickle.dumps(described))
    assert again.mcp_servers == described.mcp_servers
    assert again.mcp_tools.names == ()


def test_options_give_servers_to_all_and_a_robot_may_choose_among_them(disk, web):
    with rl.options(mcp=[disk.server, web.server]):
        everything = rl.build("a", model=ScriptedModel(["x"])).run("x")
        chosen = rl.build("b", model=ScriptedModel(["x"]), mcp=["web"]).run("x")
    assert len(offered(everything)) == 4
    assert offered(chosen) == ["search", "fetch"]


def test_settings_show_names_and_no_secrets():
    described = {
        "name": "vault",
        "transport": {"type": "stdio", "command": "v", "env": {"PLACE": "behind the oak"}},
    }
    bot = rl.build("b", model=ScriptedModel(["x"]), config={"mcp": [described]})
    shown = json.dumps(bot.effective_config.told()) + repr(bot) + json.dumps(bot.to_dict())
    assert "vault" in shown
    assert "behind the oak" not in shown


def test_too_many_tools_are_capped_as_ever(disk):
    bot = rl.build(
        "b", model=ScriptedModel(["x"]), tools=[get_time], mcp=[disk.server], max_tools=2
    )
    with pytest.warns(UserWarning, match="not offered: search"):
        assert offered(bot.run("x")) == ["get_time", "read"]


def test_a_tool_that_cannot_be_told_is_left_out_and_the_others_stay(disk):
    disk.tool("odd", schema={"type": "object", "properties": {"x": {"default": float("nan")}}})
    result = rl.build("b", model=ScriptedModel(["x"]), mcp=[disk.server]).run("x")
    assert offered(result) == ["read", "search"]
    (ready,) = told(result, "mcp.ready")
    assert [fault["tool"] for fault in ready["left_out"]] == ["odd"]


async def test_servers_serve_a_run_on_the_callers_own_loop(disk):
    bot = rl.build("b", model=ScriptedModel([("read", {"text": "a"}), "x"]), mcp=[disk.server])
    with rl.engine(loop="current"):
        result = await bot.arun("x")
        assert result.tool_calls[0].result == "read: a"
        await bot.adisconnect()


def test_a_run_that_waited_goes_on_after_a_restart_with_its_servers():
    desk = Desk("disk", approval=True).tool("remove")
    bot = rl.build("b", model=ScriptedModel([("remove", {"text": "a"})]), mcp=[desk.server])
    waiting = bot.run("clean up")
    assert waiting.status == "waiting"
    events = [event.to_dict() for event in waiting.events]
    again = rl.build("b", model=ScriptedModel(["clean"]), mcp=[desk.server])
    result = again.resume(events, answers={"remove": True})
    assert (result.text, result.tool_calls[0].result) == ("clean", "remove: a")


def test_a_dry_run_names_the_servers_and_asks_none(disk):
    from robotlab_nb.notebook.dry_run import dry_robot

    dry = dry_robot(rl.build("b", model=ScriptedModel(["x"]), mcp=[disk.server]), "x")
    assert any("disk" in note for note in dry.notes)
    assert disk.connections == 0


def test_each_task_of_a_resumed_network_knows_by_its_servers_whether_it_is_the_same(disk, web):
    def net(server):
        made = rl.create_network("n")
        made.task("t", rl.build("b", model=ScriptedModel(["done"])), mcp=[server])
        return made

    first = net(disk.server).run("x")
    assert net(disk.server).resume(first)["t"].text == "done"
    with pytest.raises(rl.ConfigurationError, match=r"'t' \(the tools\)"):
        net(web.server).resume(first)
