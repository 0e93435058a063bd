"""The model-tool loop: one turn of a robot, from a person's message to the answer.

Everything it does is an event of its run; what it knows, it reads from the run's state.
However it ends, every tool call has exactly one result and the history can be sent again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ToolLoopError
from ..core.keys import text_hash
from ..core.messages import MEDIA_IN_EVENTS, Message
from ..models.calls import Call
from ..models.protocol import Request
from ..runtime import sinks
from ..runtime.recording import stamps
from ..runtime.threads import in_thread
from .result import RobotResult
from .tool_round import INTERRUPTED, ToolRound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.config import Effective
    from ..core.messages import ToolCallPart
    from ..core.state import RunState
    from ..models.protocol import Model
    from ..runtime.hook_chain import Chain
    from ..runtime.run import Run
    from ..tools.decorator import ToolManifest
    from ..tools.tool_source import ToolSource
    from .conversation import Conversation
    from .output_check import OutputCheck
    from .prompting import Prompt
    from .structured import Shape

__all__ = ["INTERRUPTED", "Turn"]

#: stop reasons after which tool calls of the same answer are not carried out
_NOT_CARRIED_OUT = frozenset({"length", "refused", "content_filter"})


class Turn:
    """One turn, prepared where it was asked for and carried out on the engine's loop.

    Parameters
    ----------
    robot : Robot
        Whose turn it is; handed to tools that ask for it.
    message : Message
        What the person said.
    model : Model
    tools : ToolManifest
    effective : Effective
        The settings in force.
    system : Message or None
        The system message, where it is the same for every message.
    params : mapping
        Sampling parameters.
    context : mapping
        Values for templates and for tools that ask for ``context``.
    conversation : Conversation or None
        Where the turn is committed; None when it is to leave no trace.
    about : mapping
        More fields of the ``run.started`` event.
    prompt : Prompt, optional
        The parts of the system message, where it depends on the message or the context.
    fallbacks : sequence of Model, optional
        Asked in turn when the model fails.
    hooks : Chain, optional
        Handlers around the run and its calls.
    shape : Shape, optional
        What the answer must be.
    servers : ToolSource, optional
        Where more tools are.
    """

    __slots__ = (
        "about", "call", "committed", "context", "conversation", "effective", "fallbacks",
        "history", "hooks", "message", "model", "opened", "output", "params", "prompt", "robot",
        "round", "run", "servers", "settings", "shape", "system", "tools", "version",
    )  # fmt: skip

    def __init__(
        self,
        robot: Any,
        message: Message,
        *,
        model: Model,
        tools: ToolManifest,
        effective: Effective,
        system: Message | None,
        params: Mapping[str, Any],
        context: Mapping[str, Any],
        conversation: Conversation | None,
        about: Mapping[str, Any],
        prompt: Prompt | None = None,
        fallbacks: Sequence[Model] = (),
        hooks: Chain | None = None,
        shape: Shape | None = None,
        servers: ToolSource | None = None,
    ) -> None:
        self.robot = robot
        self.message = message
        self.model = model
        self.tools = tools
        self.effective = effective
        self.settings = effective.values_
        self.system = system
        self.params = params
        self.context = context
        self.conversation = conversation
        self.about = about
        self.prompt = prompt
        self.fallbacks = fallbacks
        self.hooks = hooks
        self.shape = shape
        self.servers = servers
        self.version = 0
        self.history: tuple[Message, ...] = ()
        self.opened = False
        #: the conversation as this turn leaves it, once it has ended
        self.committed: tuple[Message, ...] | None = None
        self.call: Call | None = None
        self.output: OutputCheck | None = None
        self.round: ToolRound
        self.run: Run[Any]

    async def work(self, run: Run[Any]) -> None:
        """Carry the turn out. The run is settled by its caller."""
        self.run = run
        run.on_abandon = self._abandon
        if self.conversation is not None:
            await self._refresh(self.conversation)
            self.version, self.history = self.conversation.snapshot()
        try:
            await self._begin()
            if self.hooks is not None and "run" in self.hooks.families:
                from .hooked import hooked_run

                await hooked_run(self, self.hooks)
            else:
                await self.open()
                await self.loop()
            if self.conversation is not None:
                await self._refresh(self.conversation)  # somebody may have been first
        except BaseException:
            self._keep_partial()
            self._close()
            raise
        self._close()
        if self.conversation is not None and self.conversation.session_id is not None:
            await sinks.durable(run.root)  # whoever goes on elsewhere finds it

    async def _refresh(self, conversation: Conversation) -> None:
        if conversation.session_id is not None:
            await in_thread(conversation.refresh)

    def finish(self, run: Run[Any]) -> RobotResult[Any]:
        """The result of the turn, as far as it has come."""
        return RobotResult(
            run.state, run.events, values=run.values, conversation=self.committed or (), run=run
        )

    # -- the loop --------------------------------------------------------------------------

    async def loop(self) -> None:
        """Ask the model, call tools, and so on, until there is an answer."""
        run, settings = self.run, self.settings
        state = run.state
        rounds = 0
        while True:
            if settings["auto_compact"]:
                await self._compact()
            message = await self._ask(self._request())
            self.add(message, state.stop_reason)
            calls = message.tool_calls
            if not calls:
                if self.output is None:
                    return
                again = self.output.judge_message(message, state.stop_reason)
                if again is None:
                    return
                self.add(again)
                continue
            if state.stop_reason in _NOT_CARRIED_OUT:
                self._refuse(calls, f"not run: the answer ended early ({state.stop_reason})")
                if self.output is not None:
                    self.output.judge_message(message, state.stop_reason)
                return
            if self.output is not None:
                rest = self._judge(self.output, calls)
                if rest is None:
                    return
                if rest != calls:
                    await self.round.call(rest)
                    self.add(self.round.results(calls))
                    continue
            rounds += 1
            if rounds > settings["max_tool_rounds"]:
                self._refuse(calls, "not run: the robot reached max_tool_rounds")
                raise ToolLoopError(
                    f"robot {run.name!r} asked for tools {rounds} times in one run",
                    hint=f"max_tool_rounds is {settings['max_tool_rounds']}; raise it, or tell the "
                    "robot when to stop.",
                )
            await self.round.call(calls)
            self.add(self.round.results(calls))

    def _judge(
        self, output: OutputCheck, calls: tuple[ToolCallPart, ...]
    ) -> tuple[ToolCallPart, ...] | None:
        """The calls still to be run, besides the one that gives the answer; None when it did."""
        final = output.final_call(calls)
        if final is None:
            return calls
        if output.judge_call(calls, final, self.round):
            self.add(self.round.results(calls))
            return None
        return tuple(c for c in calls if c is not final)

    def _request(self) -> Request:
        run = self.run
        request = Request(
            tuple(run.state.messages),
            self.tools.specs,
            self.params,
            run.listening or self.settings["on_content"] is not None,
        )
        if self.shape is not None:
            self.shape.apply(request)
        return request

    async def _ask(self, request: Request) -> Message:
        """The model's answer to a request, or what a handler gives in its place."""
        if self.hooks is None or "llm_generation" not in self.hooks.families:
            return await self.complete(request)
        from .hooked import hooked_generation

        return await hooked_generation(self, self.hooks, request)

    async def complete(self, request: Request) -> Message:
        """Ask the model."""
        key = self.tools.key
        self.call = Call(
            self.run, self.model, request, self.settings,
            tools_key=key if self.shape is None else self.shape.keyed(key),
            round_=len(self.run.state.model_calls) + 1, fallbacks=self.fallbacks,
        )  # fmt: skip
        message = await self.call.complete()
        self.call = None
        return message

    async def _compact(self) -> None:
        """Compress old turns when the model's window fills up."""
        from .compacting import compact_turn

        await compact_turn(self)

    # -- events ----------------------------------------------------------------------------

    async def _begin(self) -> None:
        """Record the start: nothing of the run stands before it."""
        run = self.run
        if self.prompt is not None:
            await self.prompt.fill()
            self.system = self.prompt.message()
        run.started(
            {
                "name": run.name,
                "model": self.model.name,
                "provider": self.model.provider,
                "simulated": self.model.simulated,
                "input": self.message.text,
                "config": self.effective.told(),
                "tools": list(self.tools.names),
                "prompt_hash": text_hash(self.system.text) if self.system else None,
                **stamps(self.settings),
                **self.about,
            }
        )

    async def open(self) -> None:
        """Record all that the model is told first."""
        run = self.run
        self.opened = True
        if self.servers is not None:
            from .tool_servers import equip

            await equip(self, self.servers)
        if self.prompt is not None:
            await self._match(self.prompt)
        self._equip()
        if self.system is not None:
            self.add(self.system)
        if self.history:
            told = [m.to_dict(most_media=MEDIA_IN_EVENTS) for m in self.history]
            run.emit("conversation.loaded", {"messages": told})
        for part in self.message.heavy_media():
            run.values[str(part.sha256)] = part
        self.add(self.message)

    async def _match(self, prompt: Prompt) -> None:
        """Put agent skills that match the message before the rest, and offer their tools."""
        from ..tools.decorator import ToolManifest

        more = await prompt.match(self.run, self.message.text, self.settings, self.tools)
        self.system = prompt.message()
        if more:
            self.tools = ToolManifest([*self.tools, *more])

    def _equip(self) -> None:
        """Make what calls the tools, and what judges the answer."""
        settings, run = self.settings, self.run
        approvals = loops = None
        if len(self.tools):
            if settings["approve"] is not None or self.tools.guarded:
                from .approvals import approvals_of

                approvals = approvals_of(settings, self.tools, run.labels_seen)
            if settings["doom_loop_threshold"] is not None:
                from .doom_loop import DoomLoop

                loops = DoomLoop(settings["doom_loop_threshold"])
        injected = {"run": run, "robot": self.robot, "context": self.context}
        if run.memory is not None:
            injected["memory"] = run.memory
        self.round = ToolRound(
            run, self.robot, self.tools, settings, injected=injected,
            approvals=approvals, hooks=self.hooks, loops=loops,
        )  # fmt: skip
        if self.shape is not None:
            from .output_check import OutputCheck

            self.output = OutputCheck(run, self.shape, settings["output_retries"])

    def add(self, message: Message, stop_reason: str | None = None) -> None:
        """Record that a message joined the prompt."""
        data: dict[str, Any] = {"message": message.to_dict(most_media=MEDIA_IN_EVENTS)}
        if stop_reason:
            data["stop_reason"] = stop_reason
        self.run.emit("message.added", data)

    def _refuse(self, calls: tuple[ToolCallPart, ...], why: str) -> None:
        """Answer calls that are not carried out, so that each still has exactly one result."""
        for part in calls:
            self.round.settle(part, why, failed="NotRun")
        self.add(self.round.results(calls))

    # -- ending ----------------------------------------------------------------------------

    def _keep_partial(self) -> None:
        """Keep the text of an answer that was not finished, marked as cut."""
        call, self.call = self.call, None
        if call is not None:
            parts = [p for p in call.partial() if getattr(p, "text", "").strip()]
            if parts:
                self.add(Message("assistant", parts))

    def _abandon(self) -> None:
        """End a turn that does not stop: what its tools do goes on somewhere."""
        self._close(leaked=True)

    def _close(self, *, leaked: bool = False) -> None:
        """Answer what is unanswered, and commit the turn if the model has said anything."""
        run = self.run
        with run.root.lock:
            if self.committed is not None or run.closed:
                return
            for called in list(run.state.tool_calls.values()):
                if called.status == "running":
                    self.round.interrupt(called.tool_call_id, None, leaked)
            self._answer_last(run.state)
            said = any(m.role == "assistant" for m in run.state.turn)
            # As it was recorded: registered secrets are masked in it.
            messages, end = run.state.messages, None if said else run.state.turn_start
            lead = 1 if messages and messages[0].role == "system" else 0
            whole = tuple(messages[lead:end])
            self.committed = whole
            if self.conversation is None or not said:
                return
            length = {"length": len(whole)}
            if self.conversation.commit(self.version, whole, run.id):
                run.emit("conversation.committed", length)
            else:
                run.emit("conversation.forked", {**length, "reason": "another run was first"})

    def _answer_last(self, state: RunState) -> None:
        last = state.messages[-1] if state.messages else None
        if last is None or not last.tool_calls:
            return
        for part in last.tool_calls:
            if part.id not in state.tool_calls:
                self.round.start(part)
                self.round.interrupt(part.id, None, False)
        self.add(self.round.results(last.tool_calls))
