"""Which servers fit a message, and that the choice is told."""

from __future__ import annotations

import pytest

import robotlab_nb as rl
from robotlab_nb.mcp.discovery import THRESHOLD, Candidate, discover
from robotlab_nb.testing import ScriptedModel
from tests.tool_servers.in_process import Desk
from tests.tool_servers.test_robot_servers import offered, told


@pytest.fixture
def desks():
    return [
        Desk("shop", description="Items, prices and orders of a small shop.").tool("look_up"),
        Desk("weather", description="Current weather and forecasts of cities.").tool("forecast"),
        Desk("trains", description="Connections between railway stations.").tool("connections"),
    ]


def robot(desks, **more):
    model = ScriptedModel([f"{n}" for n in range(9)])
    return rl.build("b", model=model, mcp=[d.server for d in desks], mcp_discovery=True, **more)


def test_only_the_servers_that_fit_are_connected_and_the_run_says_why(desks):
    result = robot(desks).run("Will the weather in Paris be fine?")
    assert offered(result) == ["forecast"]
    assert [d.connections for d in desks] == [0, 1, 0]
    (chosen,) = told(result, "mcp.chosen")
    assert (chosen["reason"], chosen["threshold"]) == ("fits", THRESHOLD)
    assert [m["name"] for m in chosen["matches"] if m["used"]] == ["weather"]
    assert chosen["matches"][0]["score"] > THRESHOLD
    assert "chose weather for the message" in result._repr_html_()


def test_without_the_setting_all_are_used(desks):
    result = robot(desks, config={}).run("weather", config={"mcp_discovery": False})
    assert len(offered(result)) == 3
    assert told(result, "mcp.chosen") == []


@pytest.mark.parametrize(
    ("message", "reason"), [("Sing me a song", "no hit"), ("   ?  ", "no hit")]
)
def test_where_nothing_fits_all_are_used(desks, message, reason):
    result = robot(desks).run(message)
    assert len(offered(result)) == 3
    assert told(result, "mcp.chosen")[0]["reason"] == reason


def test_where_nothing_is_described_all_are_used():
    desks = [Desk("a1").tool("one"), Desk("b2").tool("two")]
    result = robot(desks).run("one")
    assert told(result, "mcp.chosen")[0]["reason"] == "no descriptions"
    assert offered(result) == ["one", "two"]
    later = robot(desks).run("one")
    assert offered(later) == ["one"], "names of tools are known by then"


def test_a_blank_message_chooses_all():
    found = discover([Candidate("a", "weather"), Candidate("b", "trains")], " \n")
    assert (found.reason, found.used) == ("no message", {"a", "b"})


def test_a_required_server_is_always_there(desks):
    desks[0] = Desk("shop", description="Items.", required=True).tool("look_up")
    assert offered(robot(desks).run("weather in Paris")) == ["look_up", "forecast"]


def test_each_task_of_a_network_has_its_own_choice(desks):
    config = {"mcp": [d.server for d in desks], "mcp_discovery": True}
    net = rl.create_network("trip", config=config)
    for name, prompt in (("go", "Find a railway connection"), ("dress", "What is the weather?")):
        net.task(name, rl.build(name, model=ScriptedModel(["done"])), prompt=prompt)
    result = net.run("I go to Paris").raise_for_errors()
    assert offered(result["go"]) == ["connections"]
    assert offered(result["dress"]) == ["forecast"]
