"""One of every object that has a picture, made of a word: for tests that ask the same of all.

The word stands wherever a model, a tool, a person or a server could have put it.
"""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl
from robotlab_nb.bus.letters import DeadLetter, Delivery, Receipt
from robotlab_nb.bus.mailboxes import Outbox, OutboxEntry
from robotlab_nb.bus.telling import NOWHERE
from robotlab_nb.core.errors import InputError, TaskNotRun, UnknownKeyword
from robotlab_nb.core.media import MediaPart
from robotlab_nb.core.readings import ShownList, ShownTuple
from robotlab_nb.core.records import Attempt
from robotlab_nb.core.usage import Usage
from robotlab_nb.frames.tables import Frames
from robotlab_nb.lab.estimate import Estimate
from robotlab_nb.memory.changes import MemoryChange
from robotlab_nb.memory.documents import DocumentHit
from robotlab_nb.network.result import TaskResult
from robotlab_nb.prompts.templates import Template
from robotlab_nb.robot.history_search import Hit, Hits
from tests.display import experiment_samples as lab
from tests.display import network_samples as nets
from tests.display import rich_samples as rich
from tests.display import score_samples as verdicts
from tests.display import shared_samples as shared
from tests.display import tape_samples as tapes
from tests.display import tool_server_samples as peers
from tests.display import used_servers_samples as used
from tests.display.network_samples import declared
from tests.display.samples import (
    Story,
    a_result,
    a_robot,
    a_run,
    a_tool,
    completed,
    failed,
    in_state,
    weather,
)
from tests.display.serving_samples import a_call, a_serving
from tests.display.test_pictures import hostile_error, hostile_message, hostile_robot, hostile_tool

if TYPE_CHECKING:
    from collections.abc import Callable

    from robotlab_nb.network.differing import Diff

__all__ = ["EVERYTHING", "sound"]

#: moments that are the same on every day
AT = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)


def a_letter(word: str = "hello") -> DeadLetter:
    error = {"type": word, "message": word}
    return DeadLetter(rl.RobotMessage(1, word, word), word, "m1", "nack", word, error, a_receipt())


@cache
def _bus() -> Any:
    bus = rl.Bus()
    bus.subscribe("desk", lambda message: None, name="clerk")
    return bus


def a_receipt(word: str = "hello") -> Receipt:
    receipt = Receipt(_bus(), word, rl.RobotMessage(2, word, {word: [word]}, word), NOWHERE)
    receipt.failures.append((word, {"type": word, "message": word}))
    return receipt


def a_delivery(word: str = "hello") -> Delivery:
    channel = _bus().channels["desk"]
    return Delivery(a_receipt(word), channel, channel.receivers[0])


def an_entry(word: str = "hello") -> OutboxEntry:
    entry = OutboxEntry(rl.RobotMessage(1, word, word), word, a_receipt(word))
    entry.replies.append(rl.RobotMessage(7, word, word, word))
    return entry


def a_change(word: str = "draft") -> MemoryChange:
    return MemoryChange(word, word, {word: word}, word, 3, word, word, AT, word)


def a_template(word: str = "Be kind.") -> Template:
    return Template("{% raw %}" + word.replace("{%", "") + "{% endraw %}", "t")


def a_skill(word: str = "Count syllables.") -> Any:
    # It is read when it is drawn: each word has a folder of its own, gone at the end.
    return rich.a_skill(
        Path(_home().name) / str(_numbers.setdefault(word, len(_numbers))), text=word
    )


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


_numbers: dict[str, int] = {}


def the_events(word: str = "hello") -> Any:
    return ShownList(_told(word).events)


def _told(word: str) -> Story:
    story = weather(question=word, answer=word, tool=word, robot=word)
    return story.ends("completed", 2.4, stop_reason="stop")


def a_network(word: str = "reader") -> Any:
    """As it is declared, with a fault."""
    net = rl.create_network(word if word.strip() else "blank")
    bot = rl.build("bot", model=rl.SimulatedModel("ok"), system_prompt=word)
    net.task("first", bot, prompt="{% raw %}" + word.replace("{%", "") + "{% endraw %}")
    net.task(word if word.strip() else "blank", bot, depends_on=["first", "nowhere"])
    return net


def a_task(word: str = "reply") -> Any:
    return a_network(word).tasks[word if word.strip() else "blank"]


def a_delegation(word: str = "clerk") -> Any:
    class DelegationFuture:
        __module__ = "robotlab_nb.robot.delegating"
        run = a_run(in_state("running", robot=word, answer=word))
        by, resolved = word, False

    return DelegationFuture()


def a_diff(word: str = "reply") -> Diff:
    tasks = [declared(word or "x", word)]

    def told(text: str) -> Any:
        story = nets.NetworkStory(tasks, word).starts(word or "x", 0.0)
        return story.ends(word or "x", 1.0, text).closes("completed", 1.0).state

    return rl.diff(told(word), told(f"{word} and more"))


def a_human(word: str = "editor") -> Any:
    return shared.a_human(word if word.strip() else "blank")


def a_bus(word: str = "hello") -> Any:
    return shared.a_bus(word if word.strip() else "blank")


def waiting_for(word: str = "refunds") -> Any:
    story = Story(word).asks(word)
    question = rich.an_approval(robot=word, tool=word, arguments={word: word}, why=word)
    story.add("hitl.requested", 1.0, **rich.asked(question))
    return story.add("run.waiting", 1.2, questions=["q1"]).state


def judged(word: str = "reader") -> Any:
    state = rich.parsed({word: word})
    return a_result(state)


#: name -> makes it of a word. Names are the drawers', more than one where there are states.
EVERYTHING: dict[str, Callable[[str], Any]] = {
    "Robot": hostile_robot,
    "Tool": hostile_tool,
    "ToolManifest": lambda w: (
        rl.build("x", tools=[rl.tool(lambda: 1, name="t", description=w)]).tools
    ),
    "Message user": lambda w: hostile_message("user", w),
    "Message assistant": lambda w: hostile_message("assistant", w),
    "MediaPart": lambda w: MediaPart.of(w.encode("utf-8", "replace"), "text/html", w),
    "MediaPart picture": lambda w: MediaPart.of(rich.png(), "image/png", w),
    "Template": a_template,
    "AgentSkill": a_skill,
    "RunConfig": lambda w: rich.RunConfig(stop=[w], api_base=w),
    "Effective": lambda w: rich.resolve([(w, {"stop": w, "hooks": {w: w}})]),
    "Options": lambda w: rich.some_options(),
    "Budget": rich.a_budget,
    "Hooks": lambda w: rich.some_hooks(),
    "Registration": lambda w: rich.some_hooks().registrations[0],
    "Hits": lambda w: Hits([Hit(w, w, 0.5, 1)]),
    "Question": lambda w: rich.a_question(robot=w, text=w, choices=(w, w), default=w),
    "Question approval": lambda w: rich.an_approval(
        robot=w, tool=w, arguments={w: w}, why=w, tool_call_id=w
    ),
    "Asked": lambda w: rich.a_settled("answered", answer=w, by=w),
    "RobotResult completed": lambda w: a_result(
        completed(robot=w, question=w, answer=w, tool=w, model=w)
    ),
    "RobotResult failed": lambda w: a_result(failed(robot=w, answer=w, message=w, hint=w)),
    "RobotResult waiting": lambda w: a_result(waiting_for(w)),
    "RobotResult parsed": judged,
    "Run": lambda w: a_run(in_state("running", robot=w, answer=w)),
    "Run network": lambda w: nets.a_run(shared.busy_network(w)),
    "RunState": lambda w: completed(robot=w, answer=w),
    "RunState network": lambda w: nets.all_states(w, w),
    "Network": a_network,
    "NetworkResult": lambda w: nets.a_result(nets.all_states(w, w)),
    "Human": a_human,
    "FlowResult": shared.a_flow,
    "MapResult": shared.a_map,
    "LoopResult": shared.a_loop,
    "Memory": shared.a_memory,
    "MemoryChange": a_change,
    "Documents": lambda w: shared.some_documents(w if w.strip() else "blank"),
    "Bus": a_bus,
    "DelegationFuture": a_delegation,
    "Diff": a_diff,
    "Task": a_task,
    "TaskResult": lambda w: TaskResult(w, w),
    "TaskResult failed": lambda w: TaskResult(w, None, status="failed", error=ValueError(w)),
    "RobotLabError": hostile_error,
    "RobotLabError mistake": lambda w: UnknownKeyword(w, hint=w),
    "RobotLabError input": lambda w: InputError(w),
    "RobotLabError not run": lambda w: TaskNotRun(w, hint=w),
    "Frames": lambda w: Frames(_told(w).state, _told(w).events),
    "ToolCall": lambda w: next(iter(_told(w).state.tool_calls.values())),
    "ModelCall": lambda w: next(iter(failed(answer=w, message=w).model_calls.values())),
    "Usage": lambda w: Usage(120, 30, cost_usd=0.0021, calls=2),
    "Event": lambda w: _told(w).events[-2],
    "UserMessage": lambda w: rl.UserMessage(w, w, w, {w: w}),
    "Record": lambda w: Attempt({"call_id": w, "attempt": 2, "model": w, "error": {w: w}}),
    "View": lambda w: rl.TextMessage("assistant", w),
    "RobotMessage": lambda w: rl.RobotMessage(3, w, w, w),
    "DeadLetter": a_letter,
    "Receipt": a_receipt,
    "Delivery": a_delivery,
    "OutboxEntry": an_entry,
    "Outbox": lambda w: Outbox({w: an_entry(w)}),
    "Channel": lambda w: _bus().channels["desk"],
    "Subscription": lambda w: _bus().channels["desk"].receivers[0],
    "Experiment": lab.an_experiment,
    "Cell": lambda w: lab.an_experiment(w).cells[0],
    "Cell failed": lambda w: lab.an_experiment(w).cells[1],
    "list of Cell": lambda w: ShownList(lab.an_experiment(w).cells),
    "list of Experiment": lambda w: ShownList([lab.an_experiment(w)]),
    "Estimate": lambda w: Estimate(12, 9, 3, None, w, judging=2, unknown=(w,)),
    "Tape": tapes.a_tape,
    "Check": tapes.a_failed_check,
    "Check passed": lambda w: rl.Check(w, True, (rl.Score(w, passed=True),), w),
    "RobotLabError miss": tapes.a_miss,
    "Score": verdicts.a_score,
    "Score failed": lambda w: verdicts.a_score(w, failed=True),
    "list of Score": verdicts.several_scores,
    "Evaluator": verdicts.a_check,
    "Judge": verdicts.a_judge,
    "Difference": verdicts.a_difference,
    "Serving": a_serving,
    "Serving failed": lambda w: a_serving(w, failed=True),
    "list of Serving": lambda w: ShownList([a_serving(w)]),
    "list of ServedCall": lambda w: ShownList([a_call(w)]),
    "Server": peers.a_server,
    "Session": peers.a_session,
    "Session failed": lambda w: peers.a_session(w, failed=True),
    "Client": peers.a_client,
    "RobotResult servers": lambda w: a_result(used.used_servers(w)),
    "KnownServer": used.a_known_server,
    "list of KnownServer": lambda w: ShownList([used.a_known_server(w)]),
    "RemoteTool": peers.a_remote_tool,
    "RemoteResource": peers.a_resource,
    "RemotePrompt": peers.a_prompt,
    "RemoteResult": peers.a_remote_result,
    "list of Server": lambda w: ShownList([peers.a_server(w)]),
    "list of Session": lambda w: ShownList([peers.a_session(w), peers.a_session(w, failed=True)]),
    "list of RemoteTool": lambda w: ShownTuple([peers.a_remote_tool(w)]),
    "list of RemoteResource": lambda w: ShownTuple([peers.a_resource(w)]),
    "list of RemotePrompt": lambda w: ShownTuple([peers.a_prompt(w)]),
    "list of Message": lambda w: [hostile_message(r, w) for r in ("system", "user", "assistant")],
    "list of ToolCall": lambda w: ShownList(_told(w).state.tool_calls.values()),
    "list of Run": lambda w: ShownList([a_run(in_state("running", robot=w, answer=w))]),
    "list of Event": the_events,
    "list of DeadLetter": lambda w: ShownTuple([a_letter(w)]),
    "list of DocumentHit": lambda w: ShownList([DocumentHit(w, w, 0.5, {}, 0)]),
    "list of Asked": lambda w: ShownList([rich.a_settled("answered", answer=w, by=w)]),
}


def sound() -> dict[str, Any]:
    """Everything, made of an ordinary word."""
    found = {name: make("fares") for name, make in EVERYTHING.items()}
    return found | {"Robot": a_robot(), "Tool": a_tool()}
