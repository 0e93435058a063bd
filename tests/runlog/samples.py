"""Events of runs, made by hand: small, and as many as a test wants."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from robotlab_nb.core.events import SCHEMA_VERSION, Event, Scope

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
USAGE = {
    "input_tokens": 10,
    "output_tokens": 5,
    "cost_usd": 0.25,
    "cost_complete": True,
    "calls": 1,
}


class Told:
    """A root that is told event by event."""

    def __init__(self, root_id: str, *, hours: float = 0) -> None:
        self.root_id = root_id
        self.start = START + timedelta(hours=hours)
        self.events: list[Event] = []

    def tell(self, scope: Scope, type_: str, **data: Any) -> Event:
        seq = len(self.events)
        event = Event(type_, scope, seq, seq / 8, data)
        self.events.append(event)
        return event

    def begin(self, scope: Scope, **data: Any) -> None:
        if not self.events:
            data = {
                "schema_version": SCHEMA_VERSION,
                "started_at": self.start.isoformat(),
                **data,
            }
        self.tell(scope, "run.started", **data)

    def call(self, scope: Scope, number: int = 1, **more: Any) -> None:
        call_id = f"{scope.run_id}.{number}"
        self.tell(
            scope, "model_call.started", call_id=call_id, round=number, model="test/m",
            simulated=False, **more,
        )  # fmt: skip
        self.tell(
            scope, "model_call.completed", call_id=call_id, text="ok", stop_reason="stop",
            usage=USAGE, attempts=1,
        )  # fmt: skip


def robot_run(
    root_id: str,
    *,
    robot: str = "bob",
    hours: float = 0,
    calls: int = 1,
    end: str | None = "run.completed",
    told: Told | None = None,
    parent: Scope | None = None,
    run_id: str | None = None,
    task: str | None = None,
    **data: Any,
) -> list[Event]:
    """A robot's run, alone or inside another's record; ``end`` is its last event's type."""
    told = told or Told(root_id, hours=hours)
    path = (*parent.path, task or robot) if parent else (robot,)
    scope = Scope(
        run_id or root_id, root_id, parent.run_id if parent else None,
        parent.depth + 1 if parent else 0, "robot", path, robot,
    )  # fmt: skip
    told.begin(scope, name=robot, model="test/m", input="Hello", **data)
    for number in range(1, calls + 1):
        told.call(scope, number)
    if end == "run.failed":
        told.tell(scope, end, error={"type": "ModelError", "message": "no"})
    elif end:
        told.tell(scope, end, stop_reason="stop")
    return told.events


def network_run(
    root_id: str,
    *,
    network: str = "support",
    robots: tuple[str, ...] = ("draft", "reply"),
    hours: float = 0,
    ends: bool = True,
    **data: Any,
) -> list[Event]:
    """A network's run with a task for each robot."""
    told = Told(root_id, hours=hours)
    scope = Scope(root_id, root_id, None, 0, "network", (network,), None)
    told.begin(scope, name=network, input="Hi", graph=[{"task": f"do {r}"} for r in robots], **data)
    for robot in robots:
        task = Scope(root_id, root_id, None, 0, "task", (network, f"do {robot}"), None)
        child = f"{root_id}-{robot}"
        told.tell(task, "task.started", task=f"do {robot}", child_run_id=child)
        robot_run(root_id, robot=robot, told=told, parent=scope, run_id=child, task=f"do {robot}")
        told.tell(task, "task.completed", task=f"do {robot}", text="ok")
    if ends:
        told.tell(scope, "run.completed", stop_reason=None)
    return told.events


def session(root_id: str, *, hours: float = 0) -> list[Event]:
    """What happened outside any run."""
    told = Told(root_id, hours=hours)
    scope = Scope(root_id, root_id, None, 0, "session", (), None)
    told.begin(scope, name="session")
    told.tell(scope, "memory.set", key="a", value=1, version=1)
    return told.events


def nameless(seq: int, data: Any, *, root_id: str = "r", type_: str = "message.added") -> Event:
    """An event of which only the data matters."""
    return Event(type_, Scope(root_id, root_id, None, 0, "robot", ("r",), "r"), seq, 0.5, data)
