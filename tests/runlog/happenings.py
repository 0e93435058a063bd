"""Real runs of every kind, so that each table has rows: made once, with made-up models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel

import robotlab_nb as rl
from robotlab_nb.core.messages import Message
from robotlab_nb.runlog.store import Batch
from tests.runlog.samples import Told, robot_run

if TYPE_CHECKING:
    from robotlab_nb.core.events import Event


class Answer(BaseModel):
    """What is to be answered."""

    city: str


def everything(place: str) -> list[Event]:
    """Do a bit of everything, recorded at a place; its events as the log has them."""
    with rl.options(log=place):
        _clerk()
        _network()
        _shared()
        _failures()
        log = rl.open_log(place)
        store = log.store
        assert store is not None
        store.write(Batch(_asked()))
        found = list(store.events())
        log.close()
        rl.log.close()
    return found


def _clerk() -> None:
    def double(n: int) -> int:
        """Twice a number."""
        if n == 3:
            raise ValueError("not three")
        return 2 * n

    clerk = rl.build("clerk", model=rl.SimulatedModel(), tools=[double], system_prompt="Count.")
    clerk.run("double 2")
    clerk.run("double 3")
    rl.build("typed", model=rl.SimulatedModel(['{"city": "Rome"}']), output=Answer).run("where?")


def _network() -> None:
    net = rl.create_network("desk")
    net.task("draft", rl.build("writer", model=rl.SimulatedModel(["a draft"])))
    net.task("shout", lambda upstream: upstream["draft"].text.upper(), depends_on=["draft"])
    inner = rl.create_network("inner")
    inner.task("check", rl.build("checker", model=rl.SimulatedModel(["fine"])))
    net.task("inner", inner, depends_on=["draft"])
    net.task("never", lambda message: message, optional=True)
    net.run("go", config={"tags": ["class"]})


def _asked() -> list[Event]:
    told = Told("told", hours=10**4)
    robot_run("told", told=told, end=None, robot="asker")
    scope, more = told.events[0].scope, {"question_id": "q", "kind": "question"}
    told.tell(scope, "hitl.requested", **more, text="Why?", tool="ask_user", tool_call_id="t")
    told.tell(scope, "run.waiting", questions=["q"])
    told.tell(scope, "hitl.answered", **more, answer="so", by="widget", status="answered")
    matches = [{"name": "haiku", "score": 0.5, "used": True}]
    told.tell(scope, "prompt.skills_matched", scorer="tf-idf", threshold=0.3, matches=matches)
    told.tell(scope, "guard.limited", call_id="told.1", limit="retry_after", wait_s=1.5)
    told.tell(scope, "bus.sent", message_id="m", channel="desk", receivers=["x"], content="hi")
    told.tell(scope, "bus.acked", message_id="m", channel="desk", receiver="x")
    told.tell(scope, "memory.set", key="draft", value=[1], version=1, writer="asker")
    loaded = [Message("user", "before").to_dict()]
    told.tell(scope, "conversation.loaded", messages=loaded)
    told.tell(scope, "message.added", message=Message("user", "now").to_dict())
    told.tell(scope, "message.added", message=Message("assistant", "then").to_dict())
    told.tell(scope, "run.completed", stop_reason="stop")
    return told.events


def _shared() -> None:
    memory = rl.create_memory()
    memory["draft"] = [1, 2]
    bus = rl.Bus()
    bus.subscribe("news", lambda message: None, name="reader")
    bus.publish("news", "outside")


def _failures() -> None:
    for answers in ([ValueError("no")], ["fine"]):
        bot = rl.build("faulty", model=rl.SimulatedModel(answers))
        try:
            bot.run("x")
        except rl.RobotLabError:
            continue
