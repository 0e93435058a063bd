"""What a robot's run gives back: the answer, and everything that led to it. A reading of events."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any, Generic

from ..core.config import Setting
from ..core.errors import InputError, RunWaiting
from ..core.events import Event
from ..core.json import canonical
from ..core.messages import Message, Transcript
from ..core.pickling import Guarded
from ..core.readings import ShownList, reading
from ..core.state import RunState
from ..core.views import views
from ..runtime.notebook import ShownOnce

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from typing_extensions import TypeVar

    from ..core.records import Asked
    from ..core.state import ToolCall
    from ..core.usage import Usage
    from ..core.views import View
    from ..runtime.run import Run
else:
    from typing import TypeVar

__all__ = ["RobotResult"]

# The output type defaults to Any, so that nobody who does not care has to name it.
if TYPE_CHECKING:
    T = TypeVar("T", default=Any)
else:
    T = TypeVar("T")

#: keys of to_dict() that are there for debugging and not exported
_DEBUG = ("events",)


class RobotResult(Guarded, ShownOnce, Generic[T]):
    """The result of a robot's run. ``str(result)`` is the answer.

    Attributes
    ----------
    state : RunState
        What the run's events say.
    values : dict
        Live objects that tools returned, by tool-call id.
    conversation : tuple of Message
        The robot's conversation as this turn left it, whether it was committed or not.
    delegated_by : str or None
        The robot that delegated the task.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> result = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> result.text, result.stop_reason, result.has_tool_calls
    ('roses are red', 'stop', False)
    >>> RobotResult.from_dict(result.to_dict()).checksum == result.checksum
    True
    """

    __slots__ = ("_events", "_run", "conversation", "delegated_by", "state", "values")

    def __init__(
        self,
        state: RunState,
        events: Sequence[Event],
        *,
        values: Mapping[str, Any] | None = None,
        conversation: tuple[Message, ...] = (),
        delegated_by: str | None = None,
        run: Run[Any] | None = None,
    ) -> None:
        self.state = state
        self._events = events
        self.values = dict(values or {})
        self.conversation = conversation
        self.delegated_by: str | None = delegated_by or state.info.get("delegated_by")
        #: the run, as long as it waits for an answer
        self._run = run if state.status == "waiting" else None

    # -- the answer ------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The answer: the last assistant text of the turn, else its reasoning, else ``""``.

        Raises
        ------
        RunWaiting
            When the run still waits for a person.
        """
        if self.state.status == "waiting":
            raise self._waiting()
        return self.state.text

    @property
    def last_text_content(self) -> str:
        """robot_lab's name for :attr:`text`."""
        return self.text

    @property
    def reply(self) -> str:
        """robot_lab's other name for :attr:`text`."""
        return self.text

    @property
    def parsed(self) -> T:
        """The answer as what ``output=`` asked for; of a result read back, as plain data.

        Raises
        ------
        RunWaiting
            When the run still waits for a person.
        InputError
            When no ``output=`` was asked for.
        """
        if self.state.status == "waiting":
            raise self._waiting()
        if "output" in self.values:
            return self.values["output"]  # type: ignore[no-any-return]
        if self.state.output is None and not self.state.info.get("output"):
            raise InputError(
                f"robot {self.robot_name!r} was not asked for data",
                hint="Pass output= a pydantic model, a type or a JSON Schema.",
            )
        return self.state.output  # type: ignore[no-any-return]

    @property
    def pending(self) -> list[Asked]:
        """What the run waits for: questions and approvals, those of runs inside it included."""
        asked = (a for s in self.state.walk() for a in s.asked.values())
        return ShownList(a for a in asked if a.status == "pending")

    def answer(self, value: Any) -> RobotResult[T]:
        """Answer what a waiting run asks, and wait for what comes of it.

        Parameters
        ----------
        value : object
            As for :meth:`Run.answer <robotlab_nb.runtime.run.Run.answer>`.

        Returns
        -------
        RobotResult
            The result after that; it may be waiting again.
        """
        if self._run is None:
            raise InputError(
                f"robot {self.robot_name!r} asks nothing: its run is {self.status}",
                hint="Only a waiting run is answered.",
            )
        found: RobotResult[T] = self._run.answer(value).result()
        return found

    def _waiting(self) -> RunWaiting:
        asked = self.pending
        what = f": {asked[0].text}" if asked else ""
        return RunWaiting(
            f"robot {self.robot_name!r} waits for a person{what}",
            hint="Answer with result.answer(…) or run.answer(…).",
        )

    @property
    def reasoning(self) -> str:
        """What the model thought during the turn, joined."""
        return "\n\n".join(m.reasoning for m in self.state.turn if m.reasoning)

    def __str__(self) -> str:
        return self.state.text  # a waiting result's too: str() never raises

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def _repr_markdown_(self) -> str:
        found: str = reading("markdown")(self)
        return found

    # -- what led to it --------------------------------------------------------------------

    @property
    def robot_name(self) -> str:
        """The robot's name."""
        return str(self.state.scope.robot)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.state.scope.run_id

    @property
    def id(self) -> str:
        """The result's id, which is its run's."""
        return self.state.scope.run_id

    @property
    def model(self) -> str | None:
        """The model that answered."""
        return self.state.info.get("model")

    @property
    def simulated(self) -> bool:
        """Whether the answer was made up by a simulated model."""
        return self.state.simulated

    @property
    def status(self) -> str:
        """``completed, failed, interrupted``, or ``waiting`` for a person."""
        return self.state.status

    @property
    def stop_reason(self) -> str | None:
        """Why the model stopped: ``stop, length, refused, content_filter``, or None if unknown."""
        return self.state.stop_reason

    @property
    def system_prompt(self) -> str | None:
        """What the model was told first: templates, skills and learnings included."""
        first = self.state.messages[0] if self.state.messages else None
        return first.text if first is not None and first.is_system else None

    @property
    def effective_config(self) -> dict[str, Setting]:
        """The settings that were set for the run, each with the level that set it."""
        told: Any = self.state.info.get("config") or {}
        return {name: Setting(s["value"], s["origin"]) for name, s in told.items()}

    @property
    def skills(self) -> list[dict[str, Any]]:
        """Agent skills scored against the message: ``name, score, used``, best first."""
        found: list[dict[str, Any]] = []
        for note in self.state.notes:
            if note.type == "prompt.skills_matched":
                found += note.data["matches"]  # type: ignore[arg-type]
        return found

    @property
    def messages(self) -> Transcript:
        """The whole turn: the question, the model's messages, tool results, the answer."""
        return Transcript(self.state.turn)

    @property
    def output(self) -> list[View]:
        """The turn without the question, as robot_lab's messages."""
        out: list[View] = []
        start = self.state.turn_start
        for position, message in enumerate(self.state.turn, start):
            if message.role not in ("user", "system"):
                out += views(message, self.state.stop_reasons.get(position))
        return out

    @property
    def tool_calls(self) -> list[ToolCall]:
        """The tool calls of the turn with their results, in order of start."""
        return ShownList(self.state.tool_calls.values())

    @property
    def has_tool_calls(self) -> bool:
        """Whether any tool was called."""
        return bool(self.state.tool_calls)

    @property
    def events(self) -> list[Event]:
        """The events of the run, in order."""
        return ShownList(self._events)

    @property
    def frames(self) -> Any:
        """Tables: ``frames.runs``, ``frames.tool_calls``, ``frames.messages`` … (DataFrames)."""
        return reading("frames")(self.state, self._events)

    def replay(self) -> Any:
        """Go through the run again step by step: what each model was sent, what it answered."""
        return reading("replay")(self)

    # -- what it took ----------------------------------------------------------------------

    @property
    def usage(self) -> Usage:
        """Tokens and cost, summed over all model calls, runs inside this one included."""
        return self.state.total_usage()

    @property
    def input_tokens(self) -> int | None:
        """Tokens read, over all model calls; None when unknown."""
        return self.usage.input_tokens

    @property
    def output_tokens(self) -> int | None:
        """Tokens written, over all model calls; None when unknown."""
        return self.usage.output_tokens

    @property
    def cost(self) -> float | None:
        """US dollars, over all model calls; None when no price is known."""
        usage = self.usage
        return usage.cost_usd if usage.calls else 0.0

    @property
    def duration(self) -> float | None:
        """Seconds from start to end."""
        return self.state.duration_s

    @property
    def created_at(self) -> str | None:
        """UTC time of the start of the root run, ISO 8601."""
        return self.state.started_at

    # -- serialised forms ------------------------------------------------------------------

    @property
    def checksum(self) -> str:
        """SHA-256 over output, tool calls and the whole second of creation."""
        second = (self.created_at or "")[:19]
        content = [[v.to_dict() for v in self.output], self._calls(), second]
        return hashlib.sha256(canonical(content)).hexdigest()

    def _calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": c.tool_call_id,
                "name": c.tool,
                "input": c.arguments,
                "status": c.status,
                "content": {"data": c.result if c.result is not None else c.content}
                if c.status == "completed"
                else {"error": c.content},
            }
            for c in self.tool_calls
        ]

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON, lossless: :meth:`from_dict` gives an equal one."""
        usage = self.usage
        return {
            "robot_name": self.robot_name,
            "output": [v.to_dict() for v in self.output],
            "tool_calls": self._calls(),
            "created_at": self.created_at,
            "id": self.id,
            "stop_reason": self.stop_reason,
            "status": self.status,
            "model": self.model,
            "simulated": self.simulated,
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cost_usd": usage.cost_usd,
            "duration": self.duration,
            "delegated_by": self.delegated_by,
            "checksum": self.checksum,
            "conversation": [m.to_dict() for m in self.conversation],
            "events": [e.to_dict() for e in self._events],
        }

    def export(self) -> dict[str, Any]:
        """The result without debugging fields, nulls and zero token counts."""
        out = {
            k: v
            for k, v in self.to_dict().items()
            if v is not None and k not in _DEBUG and k != "conversation"
        }
        for name in ("input_tokens", "output_tokens"):
            if not out.get(name):
                out.pop(name, None)
        return out

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`export` as JSON text."""
        return json.dumps(self.export(), indent=indent)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RobotResult[Any]:
        """Read what :meth:`to_dict` or :meth:`export` wrote, or robot_lab's own export."""
        if data.get("events"):
            events = [Event.from_dict(e) for e in data["events"]]
        else:
            from .exports import events_of_export

            events = events_of_export(data)
        conversation = tuple(Message.from_dict(m) for m in data.get("conversation", ()))
        return cls(
            RunState.fold(events),
            events,
            conversation=conversation,
            delegated_by=data.get("delegated_by"),
        )
