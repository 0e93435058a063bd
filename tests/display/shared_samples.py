"""What robots share, and networks of today, to draw: real objects wherever they need no engine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl
from robotlab_nb.network.looping import LoopResult
from robotlab_nb.network.result import TaskResult
from robotlab_nb.network.rows import MapResult
from tests.display.network_samples import NetworkStory, declared

if TYPE_CHECKING:
    from robotlab_nb.core.state import RunState

WRITTEN = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
BUSY = {"type": "ModelError", "message": "busy"}


def a_memory(word: str = "Dear all,", name: str = "lesson") -> rl.Memory:
    memory = rl.create_memory({"language": word}, name=name)
    memory["draft"] = "first"
    memory["draft"] = word
    memory.set("salaries", [3100, 2900], labels={"private"})
    memory["api_key"] = "sk-canary-0000000000"
    for key, entry in memory.entries(memory.keys()).items():
        memory.backend.put("keys", key, entry._replace(at=WRITTEN))  # type: ignore[attr-defined]
    return memory


def some_documents(word: str = "Boil fresh water for green tea.") -> Any:
    documents = rl.Documents()
    documents.store({"tea": word, "ink": "Never boil ink: it dries."})
    return documents


def a_bus(word: str = "hello") -> rl.Bus:
    bus = rl.Bus()
    bus.channel("orders", max_pending=10)
    bus.subscribe("orders", lambda message: None, name="desk")
    bus.publish("nobody", rl.RobotMessage(1, word, word))
    return bus


def a_human(word: str = "editor") -> rl.Human:
    return rl.Human(word, description=word, choices=[word, "drop"], default=word, timeout=90.0)


def a_flow(word: str = "an answer") -> rl.FlowResult:
    flow = rl.FlowResult(word).with_context(word, 1).with_error(word, word)
    return flow.activate(word)


def a_map(word: str = "done", *, items: int = 3) -> MapResult:
    found = MapResult("read", items)
    for index in range(items - 1):
        found.put(index, TaskResult("read", f"{word} {index}"))
    failed = TaskResult("read[1]", None, status="failed", error=ValueError(word))
    found.put(items - 2, failed)
    found.status = "interrupted"
    return found


def a_loop(word: str = "a short poem") -> LoopResult:
    return LoopResult("draft", (TaskResult("draft", "a poem"), TaskResult("draft", word)), met=True)


def busy_network(word: str = "reader") -> RunState:
    """Restored, in a map, in a loop, tried again, waiting for a person, and a network inside."""
    tasks = (
        declared("intake", word),
        declared("read", word, ["intake"], map_over="rows", poller_group="slow"),
        declared("draft", word, ["intake"], loop={"max_turns": 5}, group="writers"),
        declared("send", None, ["draft"], retries=2),
        declared("check", "editor", ["draft"], kind="human"),
        declared("audit", None, ["read"], kind="network", network="auditors"),
    )
    story = NetworkStory(tasks, "busy")
    story.add("task.restored", 0.0, task="intake", text="kept", restored_from="7f3a12ffff",
              restored_cost=0.0042)  # fmt: skip
    story.starts("read", 0.0).add("map.started", 0.0, task="read", items=40)
    for index in range(19):
        status = "failed" if index in (3, 9) else "completed"
        more = {"error": BUSY} if status == "failed" else {"text": "ok"}
        story.add("map.item", 1.0, task="read", index=index, status=status, duration_s=1.0, **more)
    story.starts("draft", 0.0)
    for turn in (1, 2):
        story.add("loop.turned", 1.0, task="draft", turn=turn, again=True, reason="not yet")
    story.starts("send", 1.0).add("task.retried", 2.0, task="send", attempt=1, error=BUSY,
                                  retry_in_s=1.0).starts("send", 3.0)  # fmt: skip
    story.starts("check", 3.0)
    story.add("hitl.requested", 3.0, question_id="q", kind="question", robot="editor",
              task="check", text="Send this letter?", choices=["send", "drop"])  # fmt: skip
    story.add("guard.convergence", 3.0, score=0.914, threshold=0.85, converged=True, texts=3)
    story.add("memory.deadlock", 3.1, keys=["plan"], waiting=["draft", "audit"])
    story.add("bus.dead", 3.2, message_id="m", channel="desk", reason="no_receiver", receiver=None,
              error={"type": "BusError", "message": "nobody receives on 'desk'"})  # fmt: skip
    return story.add("bus.dead", 3.3, message_id="n", channel="desk", reason="nack",
                     receiver="ann", error=None).state  # fmt: skip
