"""What went to a model and what came back, word for word, from the events of a run alone.

An :class:`Exchange` is one model call. Its request is written by the same function that wrote it
then; what the events do not hold is named in ``missing`` and never made up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..core.messages import MediaPart, Message, TextPart
from ..core.readings import Pictured
from ..core.state import RunState
from .amounts import count
from .escape import one_line
from .exchange_events import left_out, readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.events import Event, Scope
    from ..core.records import ModelCall
    from ..models.protocol import OutputSpec, ToolSpec

__all__ = ["Exchange", "Exchanges"]

#: providers on whose wire the engine speaks itself, also where no address was recorded
_DIRECT = ("openai", "ollama", "hosted_vllm", "custom")


class Exchange(Pictured):
    """One call to a model: what it was sent, and what it answered.

    Attributes
    ----------
    call : ModelCall
        Its record: status, times, tokens, attempts.
    scope : Scope
        Where in the run it happened.
    number : int
        Which call of the whole run it is, from 1.
    messages : tuple of Message or None
        The prompt in order; None where a message is not in the events.
    fresh : int
        Where in it that begins which the robot's call before did not send.
    answer : Message or None
    missing : list of str
        What of the exchange the events do not tell, in words; empty where it is all here.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", system_prompt="Rhyme.", model=rl.SimulatedModel(["roses are red"]))
    >>> exchange = bot.run("a poem").replay().exchanges[0]
    >>> [m["content"] for m in exchange.request["messages"]]
    ['Rhyme.', 'a poem']
    >>> exchange.response["text"], exchange.missing
    ('roses are red', [])
    """

    def __init__(
        self, call: ModelCall, scope: Scope, number: int, started: Mapping[str, Any]
    ) -> None:
        self.call = call
        self.scope = scope
        self.number = number
        self.messages: tuple[Message | None, ...] = ()
        self.fresh = 0
        self.answer: Message | None = None
        self._started = started
        #: name of the type that the answer must be of
        self._output_name = ""
        self._specs: Mapping[str, Any] = {}
        self._output: Mapping[str, Any] | None = None
        self._ended: Mapping[str, Any] = {}

    def __repr__(self) -> str:
        # One line: exchanges stand in lists.
        sent = f"{count(len(self.messages), 'message')} to {one_line(self.model, 80)}"
        said = self.answer.text if self.answer is not None else ""
        told = repr(one_line(said, 60)) if said else self.call.status
        return f"<exchange {self.number}: {sent}, {told}>"

    # -- what was sent ---------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model that was asked last: the one that answered, where there is an answer."""
        return self.models[-1]

    @property
    def models(self) -> list[str]:
        """The models that were asked, in order; more than one where others had failed."""
        asked = [str(self._started.get("model") or self.call.model)]
        return asked + [str(each.get("to_model")) for each in self.call.fallbacks]

    @property
    def tool_specs(self) -> list[Mapping[str, Any]]:
        """The tools that the model was told of: ``name``, and as far as known what it is."""
        return [self._specs.get(name) or {"name": name} for name in self.call.tools]

    @property
    def output(self) -> Mapping[str, Any] | None:
        """What its answer had to be: ``name, schema, mode, strict, tool``; None where unknown."""
        return self._output

    @property
    def way(self) -> str:
        """Where it went, in words."""
        if self._started.get("simulated"):
            return "made up in this process: nothing was sent"
        if self.call.endpoint:
            return f"POST {self.call.endpoint.rstrip('/')}/chat/completions"
        return "in the words of the provider, into which this is translated"

    @property
    def streamed(self) -> bool:
        """Whether the answer was asked for in pieces."""
        return bool(self._started.get("streaming"))

    @property
    def request(self) -> dict[str, Any]:
        """The request as JSON, in the form of the OpenAI wire; to :attr:`model`."""
        return self.requests[-1]

    @property
    def requests(self) -> list[dict[str, Any]]:
        """The request to each of :attr:`models`."""
        return [self._body(model, first=at == 0) for at, model in enumerate(self.models)]

    def _body(self, model: str, *, first: bool) -> dict[str, Any]:
        from ..models.openai_request import encode
        from ..models.protocol import Request

        endpoint = self.call.endpoint if first else None
        provider = str(self._started.get("provider") if first else model.partition("/")[0])
        direct = bool(endpoint) or (provider in _DIRECT and not self._simulated(first))
        origin = urlsplit(endpoint).hostname if endpoint else None if direct else provider
        request = Request(
            tuple(map(_sendable, self.messages)),
            tuple(map(_tool, self.tool_specs)),
            self.call.params,
            self.streamed,
            output=_output(self._output),
        )
        body = encode(request, model.removeprefix(f"{provider}/") if direct else model,
                      origin=origin)  # fmt: skip
        for tool, spec in zip(body.get("tools") or (), self.tool_specs, strict=False):
            if "parameters" not in spec and isinstance(tool.get("function"), dict):
                tool["function"].pop("parameters", None)
        return body

    def _simulated(self, first: bool) -> bool:
        return bool(self._started.get("simulated")) if first else self.call.simulated

    # -- what came back --------------------------------------------------------------------

    @property
    def response(self) -> dict[str, Any]:
        """The answer as JSON: texts, tool calls, why it ended, what it took. Empty before it."""
        call, answer = self.call, self.answer
        if call.status == "running":
            return {}
        told: dict[str, Any] = {"status": call.status}
        if answer is not None:
            told["text"] = answer.text
            if answer.reasoning:
                told["reasoning"] = answer.reasoning
            if answer.tool_calls:
                told["tool_calls"] = [
                    {"id": each.wire_id or each.id, "name": each.name, "arguments": each.arguments}
                    for each in answer.tool_calls
                ]
        elif call.text:
            told["text"] = call.text
        if call.error:
            told["error"] = dict(call.error)
        told |= {
            "stop_reason": call.stop_reason,
            "finish_reason": call.finish_reason,
            "model": call.response_model,
            "id": self._ended.get("response_id"),
            "usage": call.usage.to_dict() if call.usage is not None else None,
            "duration_s": call.duration_s,
            "first_token_s": call.first_token_s,
            "cached": call.cached or None,
        }
        return {name: value for name, value in told.items() if value is not None}

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """Each request that was made: ``attempt, model, started_s, duration_s``, its ``error``."""
        names = ("attempt", "model", "started_s", "duration_s", "error", "retry_in_s", "billed")
        return [
            {name: getattr(each, name) for name in names if getattr(each, name) is not None}
            for each in self.call.attempts
        ]

    @property
    def changed(self) -> bool:
        """Whether a handler put another answer in the place of the model's."""
        said = self._ended.get("text")
        answer = self.answer
        return answer is not None and isinstance(said, str) and said != answer.text

    # -- what is not known -----------------------------------------------------------------

    @property
    def missing(self) -> list[str]:
        """What of the exchange the events do not tell, in words; empty where it is all here."""
        lost = sum(message is None for message in self.messages)
        here = [message for message in self.messages if message is not None]
        media = [
            part
            for message in here
            for part in message.parts
            if isinstance(part, MediaPart) and part.base64 is None and part.url is None
        ]
        words = []
        if lost:
            words.append(f"{lost:,} of {len(self.messages):,} messages")
        if any(left_out(getattr(part, "text", "")) for m in here for part in m.parts):
            words.append("texts that the log was told to leave out")
        words += [f"the bytes of {part.name or part.mime} ({part.shown})" for part in media]
        bare = [spec["name"] for spec in self.tool_specs if "parameters" not in spec]
        if bare:
            told = count(len(bare), "tool")
            words.append(f"the description and schema of {told}: by name alone")
        if self._output_name and self._output is None:
            words.append(f"how the model was told that its answer must be {self._output_name}")
        if len(self.models) > 1:
            words.append(f"the address of {self.model}")
        return words


class Exchanges:
    """Collects the exchanges of a run while its events are taken in, in order.

    Attributes
    ----------
    found : list of Exchange
    state : RunState
        What the events so far say.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> collected = Exchanges.of(rl.build("bob").run("Hello").events)
    >>> [exchange.model for exchange in collected.found]
    ['simulated/rules']
    """

    def __init__(self, scope: Scope) -> None:
        self.found: list[Exchange] = []
        self.state = RunState(scope)
        #: by run id: messages by the id that events give them, tools, the shape of answers
        self._said: dict[str, dict[str, Message]] = {}
        self._specs: dict[str, dict[str, Any]] = {}
        self._outputs: dict[str, Mapping[str, Any]] = {}
        self._sent: dict[str, list[str]] = {}
        self._open: dict[str, Exchange] = {}
        #: by run id: answered, and the message not yet recorded
        self._due: dict[str, Exchange] = {}

    @classmethod
    def of(cls, events: Iterable[Event]) -> Exchanges:
        """Take all events of a run in.

        Parameters
        ----------
        events : iterable of Event
            The first one is its ``run.started``.
        """
        made: Exchanges | None = None
        for event in events:
            if made is None:
                made = cls(event.scope)
            made.take(event)
        if made is None:
            raise ValueError("no events, no exchanges")
        return made

    def take(self, event: Event) -> Exchange | None:
        """Take an event in.

        Returns
        -------
        Exchange or None
            The one that it begins, goes on with or ends.
        """
        event = readable(event)
        self.state.apply(event)
        run_id, data = event.scope.run_id, event.data
        match event.type:
            case "message.added":
                return self._message(run_id, data["message"])
            case "conversation.loaded" | "conversation.compacted":
                told: Any = data.get("messages") or data.get("new") or ()
                for each in told:
                    self._keep(run_id, each)
            case "model_call.started":
                return self._begin(event)
            case "model_call.completed" | "model_call.failed":
                found = self._open.pop(str(data["call_id"]), None)
                if found is not None:
                    found._ended = data
                    self._due[run_id] = found
                return found
            case "attempt.completed" | "attempt.failed" | "model_call.fallback" | "cache.hit":
                return self._open.get(str(data.get("call_id")))
        return None

    def _keep(self, run_id: str, told: Any) -> Message:
        message = Message.from_dict(told)
        self._said.setdefault(run_id, {})[str(told.get("id"))] = message
        return message

    def _message(self, run_id: str, told: Any) -> Exchange | None:
        message = self._keep(run_id, told)
        if message.role != "assistant":
            return None
        found = self._due.pop(run_id, None)
        if found is not None:
            found.answer = message
        return found

    def _begin(self, event: Event) -> Exchange:
        data: Any = event.data
        run_id = event.scope.run_id
        run = self.state._family.get(run_id, self.state)
        made = Exchange(run.model_calls[data["call_id"]], event.scope, len(self.found) + 1, data)
        ids = [str(each) for each in data.get("message_ids") or ()]
        said = self._said.get(run_id, {})
        now = run.messages
        # Equal messages have one id, and calls in them ids of their own: places tell them apart.
        made.messages = (
            tuple(now) if [m.id for m in now] == ids else tuple(said.get(each) for each in ids)
        )
        before = self._sent.get(run_id, [])
        same = (a == b for a, b in zip(before, ids, strict=False))
        made.fresh = next(
            (n for n, equal in enumerate(same) if not equal), min(len(before), len(ids))
        )
        self._sent[run_id] = ids
        if data.get("tool_specs"):
            told = [s for s in data["tool_specs"] if "omitted" not in s.get("parameters", ())]
            self._specs[run_id] = {spec["name"]: spec for spec in told}
        if data.get("output") and "omitted" not in data["output"]:
            self._outputs[run_id] = data["output"]
        made._specs = self._specs.get(run_id, {})
        made._output = self._outputs.get(run_id)
        made._output_name = str(run.info.get("output") or "")
        self.found.append(made)
        self._open[made.call.call_id] = made
        return made


def _sendable(message: Message | None) -> Message:
    """A message that can be written; a word stands for what is not known."""
    if message is None:
        return Message("user", "[a message that is not in the events]")
    parts = [
        TextPart(f"[{part.name or part.mime}, {part.shown}: its bytes are not in the events]")
        if isinstance(part, MediaPart) and part.base64 is None and part.url is None
        else part
        for part in message.parts
    ]
    return (
        message
        if all(a is b for a, b in zip(parts, message.parts, strict=True))
        else Message(message.role, parts)
    )


def _tool(spec: Mapping[str, Any]) -> ToolSpec:
    from ..models.protocol import ToolSpec

    return ToolSpec(spec["name"], spec.get("description") or "", spec.get("parameters") or {})


def _output(told: Mapping[str, Any] | None) -> OutputSpec | None:
    if told is None:
        return None
    from ..models.protocol import OutputSpec

    tool = told.get("tool")
    return OutputSpec(
        str(told.get("name")), told.get("schema") or {}, str(told.get("mode")),
        bool(told.get("strict")), None if tool is None else _tool(tool),
    )  # fmt: skip
