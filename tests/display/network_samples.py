"""Networks to draw: as declared, and as states folded from the events of a run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import robotlab_nb as rl
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.messages import Message
from robotlab_nb.core.state import RunState
from tests.display.samples import Run, _StandIn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robotlab_nb.network.network import Network

#: every state that a task may be in
TASK_STATES = (
    "pending", "running", "waiting", "completed", "restored", "failed", "blocked", "skipped",
    "halted", "interrupted",
)  # fmt: skip


class NetworkResult(_StandIn):
    __module__ = "robotlab_nb.network.result"


def a_result(state: RunState) -> NetworkResult:
    return NetworkResult(state=state)


def a_run(state: RunState) -> Run:
    return Run(state=state, events=[], robot_name=None, status=state.status)


def support(*, simulated: bool = True) -> Network:
    """A small network that routes; it can be run."""
    bots = {
        name: rl.build(name, model=rl.SimulatedModel(answer))
        for name, answer in {
            "classifier": lambda request: "billing",
            "billing": lambda request: "Invoice 2291 was charged twice.",
            "general": lambda request: "Please tell us more.",
            "writer": lambda request: "You were charged twice; **19.90 €** go back.",
        }.items()
    }
    net = rl.create_network("support")
    net.task("classify", bots["classifier"], route=lambda r: r.text.strip(), fallback="general")
    net.task("billing", bots["billing"], optional=True, depends_on=["classify"])
    net.task("general", bots["general"], optional=True, depends_on=["classify"])
    net.task(
        "reply",
        bots["writer"],
        depends_on=["billing", "general"],
        prompt="Answer {{ message }} using {{ upstream }}",
    )
    return net


def declared(task: str, robot: str | None = "bot", needs: Sequence[str] = (), **more: Any) -> Any:
    """A task as a network declares it in its run's first event."""
    plain = {
        "task": task, "kind": "robot" if robot else "function", "robot": robot,
        "depends_on": list(needs), "optional": False, "route": False, "when": False,
        "fallback": None, "on_failure": "block",
    }  # fmt: skip
    return {**plain, **more}


class NetworkStory:
    """Tells a network's run event by event."""

    def __init__(self, tasks: Sequence[Any], name: str = "support") -> None:
        self.name = name
        self.scope = Scope("n1", "n1", None, 0, "network", (name,), None)
        self.events: list[Event] = []
        self.add("run.started", 0.0, name=name, input="I was charged twice", graph=list(tasks))

    def add(
        self, type_: str, elapsed: float, scope: Scope | None = None, **data: Any
    ) -> NetworkStory:
        self.events.append(Event(type_, scope or self.scope, len(self.events), elapsed, data))
        return self

    def starts(
        self, task: str, at: float, *, robot: str | None = None, waited: float = 0.0
    ) -> NetworkStory:
        child = f"run of {task}" if robot else None
        self.add(
            "task.started", at, task=task, kind="robot", robot=robot, waited_s=waited,
            child_run_id=child,
        )  # fmt: skip
        if robot:
            scope = self._within(task, robot)
            asked = Message("user", "I was charged twice").to_dict()
            self.add("run.started", at, scope, name=robot, model="openai/gpt-5-mini")
            self.add("message.added", at, scope, message=asked)
        return self

    def asks(
        self, task: str, robot: str, at: float, took: float, tokens: int, dollars: float | None,
        says: str | None = None,
    ) -> NetworkStory:  # fmt: skip
        scope = self._within(task, robot)
        usage = {"input_tokens": tokens, "output_tokens": 0, "cost_usd": dollars, "calls": 1}
        usage["cost_complete"] = dollars is not None
        self.add(
            "model_call.started", at, scope, call_id=f"{task}.1", round=1, model="openai/gpt-5-mini"
        )
        self.add(
            "model_call.completed", at + took, scope, call_id=f"{task}.1", usage=usage,
            stop_reason="stop", duration_s=took,
        )  # fmt: skip
        if says:
            message = Message("assistant", says).to_dict()
            self.add("message.added", at + took, scope, message=message)
        return self

    def ends(self, task: str, at: float, text: str = "done", **data: Any) -> NetworkStory:
        return self.add("task.completed", at, task=task, text=text, **data)

    def fails(self, task: str, at: float, message: str = "no answer", **error: Any) -> NetworkStory:
        told = {"type": "TimeoutError", "message": message, **error}
        return self.add("task.failed", at, task=task, error=told)

    def settles(self, task: str, at: float, status: str, reason: str | None) -> NetworkStory:
        return self.add("task.settled", at, task=task, status=status, reason=reason)

    def closes(self, status: str, at: float, **data: Any) -> NetworkStory:
        return self.add(f"run.{status}", at, **data)

    def _within(self, task: str, robot: str) -> Scope:
        return Scope(f"run of {task}", "n1", "n1", 1, "robot", (self.name, task), robot)

    @property
    def state(self) -> RunState:
        return RunState.fold(self.events)


NINE = (
    declared("intake", "reader"),
    declared("classify", "classifier", ["intake"], route=True),
    declared("technical", "technician", ["classify"], optional=True),
    declared("billing", "billing", ["classify"], optional=True),
    declared("orders", "researcher", ["classify"]),
    declared("policy", "researcher", ["classify"]),
    declared("refund", "refunds", ["billing"]),
    declared("reply", "writer", ["technical", "refund", "orders"]),
    declared("audit", None, ["policy"], kind="network"),
)


def nine() -> RunState:
    """A network in the middle: of nine tasks, hardly two stand alike."""
    story = NetworkStory(NINE).settles("intake", 0.0, "restored", "from run 7f3a")
    story.starts("classify", 0.0, robot="classifier")
    story.asks("classify", "classifier", 0.0, 0.8, 182, 0.0002, "billing")
    story.ends("classify", 0.8, "billing", activate=["billing"])
    story.settles("technical", 0.8, "skipped", "route not taken")
    story.starts("billing", 0.8, robot="billing").starts("orders", 0.8, robot="researcher")
    story.asks("billing", "billing", 0.8, 3.1, 2410, 0.0041, "Invoice 2291 was charged twice.")
    story.ends("billing", 3.9, "Invoice 2291 was charged twice.")
    story.starts("policy", 3.9, robot="researcher", waited=3.1)
    story.asks("orders", "researcher", 0.8, 5.0, 640, 0.0011)
    story.fails("orders", 6.8, "orders.internal did not answer", hint="Check the address.")
    story.settles("reply", 6.8, "blocked", "needs orders")
    story.starts("refund", 6.8, robot="refunds", waited=2.9)
    story.asks("refund", "refunds", 6.8, 1.2, 412, 0.0007)
    story.asks("policy", "researcher", 3.9, 8.5, 2476, 0.0032)
    state = story.state
    state.tasks["refund"].status = state.status = "waiting"
    return state


def three() -> dict[str, RunState]:
    """The support network as it runs, as it ended well, and as it ended badly."""
    tasks = (
        declared("classify", "classifier", route=True, fallback="general"),
        declared("billing", "billing", ["classify"], optional=True),
        declared("general", "general", ["classify"], optional=True),
        declared("reply", "writer", ["billing", "general"]),
    )

    def told(until: int) -> NetworkStory:
        story = NetworkStory(tasks).starts("classify", 0.0, robot="classifier")
        story.asks("classify", "classifier", 0.0, 0.8, 182, 0.0002, "billing")
        story.ends("classify", 0.8, "billing", activate=["billing"])
        story.settles("general", 0.8, "skipped", "route not taken")
        story.starts("billing", 0.8, robot="billing")
        story.asks("billing", "billing", 0.8, 3.1, 2410, 0.0041, "Charged twice.")
        if until > 1:
            story.ends("billing", 3.9, "Charged twice.").starts("reply", 3.9, robot="writer")
            story.asks("reply", "writer", 3.9, 1.6, 900, 0.0012, "**19.90 €** go back.")
            story.ends("reply", 5.5, "**19.90 €** go back.")
        return story

    failed = told(1).fails("billing", 4.0, "billing.internal did not answer", hint="Wait 20 s.")
    failed.settles("reply", 4.0, "blocked", "needs billing")
    return {
        "running": told(1).state,
        "completed": told(2).closes("completed", 5.5).state,
        "failed": failed.closes("failed", 4.0, error={"type": "NetworkFailed"}).state,
    }


def all_states(name: str = "task", reason: str | None = "because") -> RunState:
    """A chain with a task in every state there is."""
    tasks = [
        declared(f"{name} {status}", "bot", [f"{name} {TASK_STATES[n - 1]}"] if n else [])
        for n, status in enumerate(TASK_STATES)
    ]
    story = NetworkStory(tasks, name)
    for n, status in enumerate(TASK_STATES):
        story.settles(f"{name} {status}", float(n), status, reason)
    return story.state


def large(count: int, *, seed: int = 1, reach: int = 8) -> RunState:
    """A network of many tasks, most of them done."""
    rng = random.Random(seed)
    tasks = [
        declared(
            f"task {n}",
            f"robot {n % 11}",
            sorted({f"task {rng.randrange(max(0, n - reach), n)}" for _ in range(2)}) if n else [],
        )
        for n in range(count)
    ]
    story = NetworkStory(tasks, "large")
    for n in range(count * 4 // 5):
        story.starts(f"task {n}", n * 0.1)
        if n % 10 == 7:
            story.fails(f"task {n}", n * 0.1 + 0.6)
        else:
            story.ends(f"task {n}", n * 0.1 + 0.6)
    return story.state
