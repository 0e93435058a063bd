"""What the package offers, and what importing it does not do."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import robotlab_nb as rl

PACKAGE = Path(rl.__file__).parent
#: every public name; a change here is a change for users and belongs in CHANGELOG.md
NAMES = """
AgentSkill AwaitTimeout Budget BudgetExceeded Bus BusError Chat Check CheckFailed Chunk
ConfigurationError DelegationFuture DelegationTimeout Delta DependencyError Diff Documents Event
Experiment FlowResult GraphError Human InferenceError InputError ItemsFailed LocalModel Log
LogError LoggedRun Loop LoopLimit LoopResult MCPConnectionError MCPError MCPTimeout MCPToolError
MapResult MediaPart Memory MemoryChange Message Model ModelError Network NetworkFailed
NetworkResult NoAnswerChannel OutputError Question RactorBoundaryError Replay Request Robot
RobotLabError RobotMessage RobotResult Run RunConfig RunInterrupted RunState RunWaiting Scope
Score SimulatedModel Tape TapeError TapeMiss Task TaskNotRun TaskResult Template TextMessage Tool
ToolCallMessage ToolError ToolLoopError ToolMessage ToolNotFoundError ToolResultMessage
UnknownKeyword Usage UserMessage
acompare agreement ask_user build check clear_cache compare contains converged convergence_gate
create_memory create_network current_run diff doctor enable_nested_loops engine equals evaluator
experiments export_checks extension extension_loaded fetch_tool fetch_url hook hooks judge lacks
loaded_extensions log matches mcp names narrate open_log options register_extension
register_secret render_template replay runs script_tool session_events set_token_counter shutdown
stop_all tape testing tool trace
""".split()


def test_the_public_names_are_these():
    assert sorted(rl.__all__) == sorted(NAMES)
    for name in NAMES:
        assert getattr(rl, name) is not None
    assert set(NAMES) <= set(dir(rl))


def test_no_public_object_is_named_like_a_room_nor_like_its_module():
    rooms = {p.name for p in PACKAGE.iterdir() if p.is_dir()}
    for name in NAMES:
        thing = getattr(rl, name)
        if inspect.ismodule(thing):
            continue
        assert name not in rooms
        module = getattr(thing, "__module__", None)
        if module is not None and module.startswith("robotlab_nb.") and name.islower():
            assert not module.endswith(f".{name}"), f"{name} hides its module"


def test_every_public_class_and_function_is_documented():
    for name in NAMES:
        assert inspect.getdoc(getattr(rl, name)), name


def fresh(code: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True,
        cwd=PACKAGE.parent,
    )  # fmt: skip
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    assert done.stderr == ""
    return found


HEAVY = """
aiohttp litellm openai mcp pandas numpy ipywidgets anywidget graphviz fast_sugiyama sqlalchemy
jinja2 pydantic IPython markdown_it httpx
""".split()


def test_importing_and_building_load_nothing_heavy_and_change_nothing():
    told = fresh(
        """
import asyncio, json, logging, sys, threading
before = (asyncio.Task, asyncio.run, asyncio.new_event_loop, logging.root.level,
          list(logging.root.handlers), threading.active_count())
import robotlab_nb as rl
def add(a: int, b: int = 1) -> int:
    "Add."
    return a + b
rl.build("b", system_prompt="x", tools=[add]).tools.specs
rl.log, rl.Log, rl.LogError
net = rl.create_network("n")
net.task("t", lambda message: message)
net.validate()
after = (asyncio.Task, asyncio.run, asyncio.new_event_loop, logging.root.level,
         list(logging.root.handlers), threading.active_count())
loaded = sorted({m.partition(".")[0] for m in sys.modules})
print(json.dumps({"same": before == after, "loaded": loaded}))
"""
    )
    assert told["same"]
    assert not set(HEAVY) & set(told["loaded"])


def test_a_run_on_the_simulated_model_loads_nothing_heavy_either():
    told = fresh(
        """
import json, sys
import robotlab_nb as rl
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b
result = rl.build("b", tools=[add]).run("add 1 and 2")
assert result.tool_calls[0].result == 3
print(json.dumps({"loaded": sorted({m.partition(".")[0] for m in sys.modules})}))
"""
    )
    assert not set(HEAVY) & set(told["loaded"])


def test_a_process_that_asked_over_http_ends_without_a_word():
    told = fresh(
        """
import json
import robotlab_nb as rl
from robotlab_nb.testing import ModelServer
with ModelServer(["hello", "again"]) as server:
    bot = rl.build("b", model=server.model("m"))
    first = bot.run("x").text
    bot.run("y")
print(json.dumps({"text": first}))
"""
    )
    assert told["text"] == "hello"


def test_the_command_line_runs_the_demo():
    done = subprocess.run(
        [sys.executable, "-m", "robotlab_nb", "demo"], capture_output=True, text=True,
        timeout=120, check=True,
    )  # fmt: skip
    for word in ("Robot guide", "get_weather", "314 km", "Transcript", "completed", "simulated"):
        assert word in done.stdout


@pytest.mark.parametrize("arguments", [[], ["nonesuch"]])
def test_the_command_line_says_what_it_can_do(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "robotlab_nb", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "demo" in done.stderr
