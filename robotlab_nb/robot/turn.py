"""The model-tool loop: one turn of a robot, from a person's message to the answer.

Everything it does is an event of its run; what it knows, it reads from the run's state.
However it ends, every tool call has exactly one result and the history can be sent again.
"""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, ToolLoopError, describe_error
from ..core.keys import text_hash
from ..core.messages import Message, ToolResultPart
from ..models.calls import Call
from ..models.protocol import Request
from ..runtime.stop import StopRun
from ..tools.arguments import parsed_or_none
from ..tools.call import Outcome, call_tool, unknown_tool
from .result import RobotResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..core.config import Effective
    from ..core.messages import ToolCallPart
    from ..core.state import RunState
    from ..models.protocol import Model
    from ..runtime.run import Run
    from ..tools.decorator import Tool, ToolManifest
    from .conversation import Conversation

__all__ = ["Turn"]

#: stop reasons after which tool calls of the same answer are not carried out
_NOT_CARRIED_OUT = frozenset({"length", "refused", "content_filter"})
INTERRUPTED = "interrupted: the run was stopped before this tool answered"


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
    context : mapping
        Values for tools that ask for ``context``.
    conversation : Conversation or None
        Where the turn is committed; None when it is to leave no trace.
    about : mapping
        More fields of the ``run.started`` event.
    """

    __slots__ = (
        "about", "call", "committed", "context", "conversation", "effective", "history",
        "message", "model", "params", "robot", "run", "settings", "system", "tools", "version",
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
        self.version = 0
        self.history: tuple[Message, ...] = ()
        #: the conversation as this turn leaves it, once it has ended
        self.committed: tuple[Message, ...] | None = None
        self.call: Call | None = None
        self.run: Run[Any]

    async def work(self, run: Run[Any]) -> None:
        """Carry the turn out. The run is settled by its caller."""
        self.run = run
        run.on_abandon = self._abandon
        if self.conversation is not None:
            self.version, self.history = self.conversation.snapshot()
        self._open()
        try:
            await self._loop()
        except BaseException:
            self._keep_partial()
            self._close()
            raise
        self._close()

    def finish(self, run: Run[Any]) -> RobotResult[Any]:
        """The result of the turn, as far as it has come."""
        return RobotResult(
            run.state, run.events, values=run.values, conversation=self.committed or ()
        )

    # -- the loop --------------------------------------------------------------------------

    async def _loop(self) -> None:
        run, settings = self.run, self.settings
        state = run.state
        specs = self.tools.specs
        rounds = 0
        while True:
            request = Request(
                tuple(state.messages),
                specs,
                self.params,
                run.listening or settings["on_content"] is not None,
            )
            self.call = Call(
                run, self.model, request, settings,
                tools_key=self.tools.key, round_=len(state.model_calls) + 1,
            )  # fmt: skip
            message = await self.call.complete()
            self.call = None
            self._add(message, state.stop_reason)
            calls = message.tool_calls
            if not calls:
                return
            if state.stop_reason in _NOT_CARRIED_OUT:
                self._refuse(calls, f"not run: the answer ended early ({state.stop_reason})")
                return
            rounds += 1
            if rounds > settings["max_tool_rounds"]:
                self._refuse(calls, "not run: the robot reached max_tool_rounds")
                raise ToolLoopError(
                    f"robot {run.name!r} asked for tools {rounds} times in one run",
                    hint=f"max_tool_rounds is {settings['max_tool_rounds']}; raise it, or tell the "
                    "robot when to stop.",
                )
            await self._call_tools(calls)

    async def _call_tools(self, calls: tuple[ToolCallPart, ...]) -> None:
        """Run the calls of one answer side by side, and add their results in call order."""
        if len(calls) == 1:
            await self._call_one(calls[0])
        else:
            await self._side_by_side(calls)
        self._add(self._results(calls))

    async def _side_by_side(self, calls: tuple[ToolCallPart, ...]) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._call_one(c)) for c in calls]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            left = [t for t in tasks if not t.done()]
            for task in left:
                task.cancel()
            if left:
                await asyncio.wait(left)

    async def _call_one(self, part: ToolCallPart) -> None:
        import asyncio

        run, settings = self.run, self.settings
        tool = self.tools.get(part.name)
        self._start(part, tool)
        called = run.state.tool_calls[part.id]
        if settings["on_tool_call"] is not None:
            settings["on_tool_call"](called)
        began = monotonic()
        try:
            outcome = await self._outcome(part, tool)
        except asyncio.CancelledError:
            leaked = tool is not None and not tool.is_async
            if leaked:
                run.stuck(part.name)
            self._interrupt(part.id, began, leaked)
            raise
        except StopRun:
            self._interrupt(part.id, began, False)
            raise
        except ConfigurationError as error:
            # Not the tool's fault: the run cannot give it what it needs.
            outcome = Outcome("failed", content=str(error), error=describe_error(error))
            self._finish(part, outcome, began)
            raise
        self._finish(part, outcome, began)
        if settings["on_tool_result"] is not None:
            settings["on_tool_result"](called, outcome.value)
        if outcome.exception is not None and self._raises(tool):
            raise outcome.exception

    def _raises(self, tool: Tool | None) -> bool:
        own = tool.raise_on_error if tool is not None else None
        return bool(self.settings["raise_on_error"] if own is None else own)

    async def _outcome(self, part: ToolCallPart, tool: Tool | None) -> Outcome:
        if tool is None:
            return unknown_tool(part.name, self.tools.names)
        timeout = self.settings["tool_timeout"] if tool.timeout is None else tool.timeout
        return await call_tool(
            tool,
            part.arguments,
            injected={"run": self.run, "robot": self.robot, "context": self.context},
            timeout=timeout,
            caller_loop=self.run.caller_loop,
        )

    # -- events ----------------------------------------------------------------------------

    def _open(self) -> None:
        run = self.run
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
                **self.about,
            }
        )
        if self.system is not None:
            self._add(self.system)
        if self.history:
            run.emit("conversation.loaded", {"messages": [m.to_dict() for m in self.history]})
        self._add(self.message)

    def _add(self, message: Message, stop_reason: str | None = None) -> None:
        data: dict[str, Any] = {"message": message.to_dict()}
        if stop_reason:
            data["stop_reason"] = stop_reason
        self.run.emit("message.added", data)

    def _start(self, part: ToolCallPart, tool: Tool | None) -> None:
        run = self.run
        run.emit(
            "tool_call.started",
            {
                "tool_call_id": part.id,
                "call_id": f"{run.id}.{len(run.state.model_calls)}",
                "round": len(run.state.model_calls),
                "tool": part.name,
                "source": tool.source if tool is not None else None,
                "arguments": parsed_or_none(part.arguments),
                "arguments_text": part.arguments,
            },
        )

    def _finish(self, part: ToolCallPart, outcome: Outcome, began: float) -> None:
        run = self.run
        if outcome.keep:
            run.values[part.id] = outcome.value
        data: dict[str, Any] = {
            "tool_call_id": part.id,
            "status": outcome.status,
            "content": outcome.content,
            "duration_s": monotonic() - began,
        }
        if outcome.status == "completed":
            data["result"] = outcome.result
        else:
            data["error"] = outcome.error
            data["retryable"] = outcome.retryable
            data["traceback"] = outcome.traceback
            if outcome.thread_leaked:
                data["thread_leaked"] = True
        run.emit("tool_call.completed", data)

    def _interrupt(self, tool_call_id: str, began: float | None, leaked: bool) -> None:
        data: dict[str, Any] = {
            "tool_call_id": tool_call_id,
            "status": "interrupted",
            "content": INTERRUPTED,
        }
        if began is not None:
            data["duration_s"] = monotonic() - began
        if leaked:
            data["thread_leaked"] = True
        self.run.emit("tool_call.completed", data)

    def _refuse(self, calls: tuple[ToolCallPart, ...], why: str) -> None:
        """Answer calls that are not carried out, so that each still has exactly one result."""
        for part in calls:
            self._start(part, self.tools.get(part.name))
            self.run.emit(
                "tool_call.completed",
                {
                    "tool_call_id": part.id,
                    "status": "failed",
                    "content": why,
                    "error": {"type": "NotRun", "message": why},
                    "duration_s": 0.0,
                },
            )
        self._add(self._results(calls))

    def _results(self, calls: tuple[ToolCallPart, ...]) -> Message:
        """The results of some calls as one message, as the events tell them."""
        known = self.run.state.tool_calls
        parts = []
        for call in calls:
            found = known.get(call.id)
            text = INTERRUPTED if found is None or found.content is None else found.content
            failed = found is None or found.status != "completed"
            data = None if found is None or isinstance(found.result, str) else found.result
            parts.append(ToolResultPart(call.id, call.name, text, failed, call.wire_id, data))
        return Message("tool", parts)

    # -- ending ----------------------------------------------------------------------------

    def _keep_partial(self) -> None:
        """Keep the text of an answer that was not finished, marked as cut."""
        call, self.call = self.call, None
        if call is not None:
            parts = [p for p in call.partial() if getattr(p, "text", "").strip()]
            if parts:
                self._add(Message("assistant", parts))

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
                    self._interrupt(called.tool_call_id, None, leaked)
            self._answer_last(run.state)
            turn = run.state.turn
            said = any(m.role == "assistant" for m in turn)
            whole = (*self.history, *turn) if said else self.history
            self.committed = whole
            if self.conversation is None or not said:
                return
            length = {"length": len(whole)}
            if self.conversation.commit(self.version, whole):
                run.emit("conversation.committed", length)
            else:
                run.emit("conversation.forked", {**length, "reason": "another run was first"})

    def _answer_last(self, state: RunState) -> None:
        last = state.messages[-1] if state.messages else None
        if last is None or not last.tool_calls:
            return
        for part in last.tool_calls:
            if part.id not in state.tool_calls:
                self._start(part, self.tools.get(part.name))
                self._interrupt(part.id, None, False)
        self._add(self._results(last.tool_calls))
