"""The tool calls of a turn: started, approved, run side by side, each with exactly one result."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import ToolError, describe_error
from ..core.messages import Message, ToolResultPart
from ..runtime import sinks
from ..runtime.stillness import task_waits
from ..runtime.stop import StopRun
from ..tools.answer import ToolAnswer
from ..tools.arguments import parsed_or_none
from ..tools.call import Outcome, call_tool, completed, unknown_tool
from ..tools.labels import OUTWARD
from ..tools.tool_source import CALL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.media import MediaPart
    from ..core.messages import ToolCallPart
    from ..core.parts import Part
    from ..runtime.budgets import Budget
    from ..runtime.hook_chain import Chain
    from ..runtime.run import Run
    from ..tools.decorator import Tool, ToolManifest
    from .approvals import Approvals
    from .doom_loop import DoomLoop

__all__ = ["INTERRUPTED", "ToolRound"]

INTERRUPTED = "interrupted: the run was stopped before this tool answered"


class ToolRound:
    """Calls tools for one turn, and records what became of each call.

    Parameters
    ----------
    run : Run
    robot : Robot
    tools : ToolManifest
    settings : mapping
    injected : mapping
        What tools may ask for: ``run, robot, context, memory``.
    approvals : Approvals or None
        Who decides whether a call may go ahead; None when none needs a decision.
    hooks : Chain or None
        Handlers around tool calls.
    loops : DoomLoop or None
    """

    __slots__ = (
        "approvals", "approved", "edited", "hooks", "injected", "loops", "media", "repeated",
        "robot", "run", "settings", "tools", "undecided", "warnings",
    )  # fmt: skip

    def __init__(
        self,
        run: Run[Any],
        robot: Any,
        tools: ToolManifest,
        settings: Mapping[str, Any],
        *,
        injected: Mapping[str, Any],
        approvals: Approvals | None = None,
        hooks: Chain | None = None,
        loops: DoomLoop | None = None,
    ) -> None:
        self.run = run
        self.robot = robot
        self.tools = tools
        self.settings = settings
        self.injected = injected
        self.approvals = approvals
        self.hooks = hooks if hooks is not None and "tool_call" in hooks.families else None
        self.loops = loops
        #: tool-call id -> who approved it
        self.approved: dict[str, str] = {}
        #: tool-call id -> the arguments that a person put in place of the model's
        self.edited: dict[str, str] = {}
        #: tool calls that nobody has decided yet
        self.undecided: set[str] = set()
        #: tool calls that had begun in the run that this one goes on from
        self.repeated: frozenset[str] = frozenset()
        #: tool-call id -> what the model is told about going round in circles
        self.warnings: dict[str, str] = {}
        #: tool-call id -> what the model is shown besides its text
        self.media: dict[str, tuple[MediaPart, ...]] = {}

    async def call(self, calls: Sequence[ToolCallPart]) -> None:
        """Run the calls of one answer side by side."""
        if sinks.behind:
            await sinks.durable(self.run.root)
        if self.loops is not None:
            for part in calls:
                self._look_for_loop(self.loops, part)
        if len(calls) == 1:
            await self._call_one(calls[0])
        elif calls:
            await self._side_by_side(calls)

    def _look_for_loop(self, loops: DoomLoop, part: ToolCallPart) -> None:
        found = loops.seen(part.name, part.arguments)
        if found is not None:
            self.warnings[part.id] = found.warning
            self.run.emit(
                "guard.loop",
                {"tool": part.name, "kind": found.kind, "length": found.length,
                 "count": found.count},
            )  # fmt: skip

    async def _side_by_side(self, calls: Sequence[ToolCallPart]) -> None:
        import asyncio

        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(self._call_one(c)) for c in calls]
        try:
            with task_waits():
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
        self.start(part)
        called = run.state.tool_calls[part.id]
        if settings["on_tool_call"] is not None:
            settings["on_tool_call"](called)
        began = monotonic()
        try:
            denied, arguments = None, part.arguments
            if self.approvals is not None and tool is not None:
                denied, arguments = await self._decided(self.approvals, part, tool)
            if denied is not None:
                outcome = denied
            elif self.hooks is None:
                outcome = await self._outcome(part, tool, arguments)
            else:
                outcome = await self._hooked(self.hooks, part, tool, arguments)
        except asyncio.CancelledError:
            leaked = tool is not None and not tool.is_async and part.id not in self.undecided
            if leaked:
                run.stuck(part.name)
            self.interrupt(part.id, began, leaked)
            raise
        except StopRun:
            self.interrupt(part.id, began, False)
            raise
        except Exception as error:
            # Not the tool's fault: the run cannot give it what it needs, or a handler forbade it.
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

    async def _outcome(self, part: ToolCallPart, tool: Tool | None, arguments: str) -> Outcome:
        if tool is None:
            return unknown_tool(part.name, self.tools.names)
        if tool.labels:
            self.run.on_read(tool.labels - {OUTWARD})
            if OUTWARD in tool.labels:  # what is sent cannot be taken back: first it is on record
                await sinks.durable(self.run.root)
        CALL.set(part.id)
        return await call_tool(
            tool,
            arguments,
            injected=self.injected,
            timeout=self.settings["tool_timeout"],
            at_most=_left(self.run.budgets) if self.run.budgets else None,
            caller_loop=self.run.caller_loop,
        )

    async def _decided(
        self, approvals: Approvals, part: ToolCallPart, tool: Tool
    ) -> tuple[Outcome | None, str]:
        """Whether a call may go ahead: what the model reads if not; and with which arguments."""
        self.undecided.add(part.id)
        decision = await approvals.check(self.run, self.robot.name, part, tool)
        self.undecided.discard(part.id)
        if decision.denied is not None:
            error = {"type": "Denied", "message": decision.denied}
            content = f"Error ({tool.name}): {decision.denied}"
            return Outcome("failed", content=content, error=error), part.arguments
        if decision.by:
            self.approved[part.id] = decision.by
        if decision.arguments_text is None:
            return None, part.arguments
        self.edited[part.id] = decision.arguments_text
        return None, decision.arguments_text

    async def _hooked(
        self, hooks: Chain, part: ToolCallPart, tool: Tool | None, arguments: str
    ) -> Outcome:
        """A call within its handlers, which may replace its result or forbid it.

        They see the arguments that the tool gets: those of the person, where one edited them.
        """
        from ..runtime.hook_chain import HookContext

        ended: list[Outcome] = []
        context = HookContext(
            "tool_call", run=self.run, robot=self.robot, tool=tool, tool_name=part.name,
            tool_args=parsed_or_none(arguments),
        )  # fmt: skip

        async def core() -> Any:
            outcome = await self._outcome(part, tool, arguments)
            ended.append(outcome)
            context.tool_error = outcome.error
            return outcome.value if outcome.status == "completed" else outcome.content

        try:
            given = await hooks.around(context, core, self.run)
        except ToolError as error:
            told = describe_error(error)
            return Outcome("failed", content=f"Error ({part.name}): {error}", error=told)
        if ended:
            last = ended[-1]
            if given is (last.value if last.status == "completed" else last.content):
                return last
        return completed(given)

    # -- events ----------------------------------------------------------------------------

    def start(self, part: ToolCallPart) -> None:
        """Record that a call begins."""
        run = self.run
        tool = self.tools.get(part.name)
        data: dict[str, Any] = {
            "tool_call_id": part.id,
            "call_id": f"{run.id}.{len(run.state.model_calls)}",
            "round": len(run.state.model_calls),
            "tool": part.name,
            "source": tool.source if tool is not None else None,
            "arguments": parsed_or_none(part.arguments),
            "arguments_text": part.arguments,
        }
        if part.id in self.repeated:
            data["possibly_repeated"] = True
        run.emit("tool_call.started", data)

    def _finish(self, part: ToolCallPart, outcome: Outcome, began: float) -> None:
        run = self.run
        if outcome.keep:
            run.values[part.id] = outcome.value
        content = outcome.content
        if isinstance(outcome.value, ToolAnswer) and outcome.value.media:
            content = self._shown(part.id, content, outcome.value)
        if part.id in self.warnings:
            content = f"{content}\n\n{self.warnings.pop(part.id)}"
        data: dict[str, Any] = {
            "tool_call_id": part.id,
            "status": outcome.status,
            "content": content,
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
        if part.id in self.approved:
            data["approved_by"] = self.approved.pop(part.id)
        if part.id in self.edited:
            data["arguments"] = parsed_or_none(self.edited.pop(part.id))
        run.emit("tool_call.completed", data)

    def _shown(self, tool_call_id: str, content: str, answer: ToolAnswer) -> str:
        """What the model reads of an answer with media: which of them it is shown, which not."""
        from ..models.abilities import takes_media

        model, said = str(self.run.state.info.get("model")), self.settings["sees_media"]
        shown = tuple(m for m in answer.media if takes_media(model, m.mime, said))
        lines = [content] if content else []
        for each in answer.media:
            about = f"{each.name or each.mime}, {each.shown}"
            where = "shown below" if each in shown else "not shown: the model takes no such thing"
            lines.append(f"[{about}: {where}]")
        if shown:
            self.media[tool_call_id] = shown
        return "\n".join(lines)

    def interrupt(self, tool_call_id: str, began: float | None, leaked: bool) -> None:
        """Record that a call was stopped before it answered."""
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

    def settle(self, part: ToolCallPart, content: str, *, failed: str | None = None) -> None:
        """Answer a call that is not carried out, so that it too has exactly one result.

        Parameters
        ----------
        part : ToolCallPart
        content : str
            What the model reads.
        failed : str, optional
            The kind of error that it is; a success when left out.
        """
        self.start(part)
        data: dict[str, Any] = {
            "tool_call_id": part.id,
            "status": "failed" if failed else "completed",
            "content": content,
            "duration_s": 0.0,
        }
        if failed:
            data["error"] = {"type": failed, "message": content}
        else:
            data["result"] = content
        self.run.emit("tool_call.completed", data)

    def results(self, calls: Sequence[ToolCallPart]) -> Message:
        """The results of some calls as one message, as the events tell them."""
        known = self.run.state.tool_calls
        parts: list[Part] = []
        for call in calls:
            found = known.get(call.id)
            text = INTERRUPTED if found is None or found.content is None else found.content
            failed = found is None or found.status != "completed"
            data = None if found is None or isinstance(found.result, str) else found.result
            parts.append(ToolResultPart(call.id, call.name, text, failed, call.wire_id, data))
        for call in calls:
            parts += self.media.pop(call.id, ())
        message = Message("tool", parts)
        for part in message.heavy_media():
            self.run.values[str(part.sha256)] = part
        return message


def _left(budgets: tuple[Budget, ...]) -> float | None:
    """Seconds that time budgets leave; None when none limits the time."""
    from ..runtime.reservations import ends_at

    ends = ends_at(budgets)
    return None if ends is None else max(0.01, ends - monotonic())
