"""Served robots as the protocol's requests: listing tools, calling one, its prompts.

Both generations of the protocol are spoken. In the older one the server asks the client while a
call goes on; in the newer one the call is answered with questions, and the client comes back with
answers and goes on with the same call.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from ..core.errors import RobotLabError, describe_error
from .serving_calls import Progress, cannot_ask, form_of, settle
from .serving_tools import Reply, told_error

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server
    from mcp.types import CallToolRequestParams, CallToolResult, InputRequiredResult

    from ..runtime.questions import Question
    from .serving import Serving
    from .serving_calls import Call

__all__ = ["protocol_server"]

#: first generation in which a call is answered with questions
_ROUNDS = "2026-07-28"
#: seconds that a call waits for its client to come back with answers
HOLD_S = 900.0


def protocol_server(serving: Serving) -> Server[Any]:
    """The SDK's server for what is served.

    Parameters
    ----------
    serving : Serving
    """
    from mcp.server.lowlevel.server import Server
    from mcp.types import ListToolsResult, Tool

    async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
        tools = [
            Tool(
                name=tool.name,
                title=tool.title,
                description=tool.description,
                input_schema=tool.input_schema(),
                output_schema=tool.output_schema(),
            )
            for tool in serving.tools
        ]
        return ListToolsResult(tools=tools)

    async def call_tool(
        ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        return await _Request(serving, ctx, params).answer()

    def input_schema(name: str) -> dict[str, Any] | None:
        found = serving.tool(name)
        return None if found is None else found.input_schema()

    more: dict[str, Any] = {}
    if serving.prompts:
        from .serving_prompts import prompt_handlers

        more = prompt_handlers(serving.prompts)
    from robotlab_nb import __version__

    return Server(
        serving.name,
        version=__version__,
        instructions=serving.instructions,
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        **more,
    )


class _Request:
    """One request to call a tool; with questions in between, a call takes several."""

    def __init__(
        self, serving: Serving, ctx: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> None:
        self.serving = serving
        self.ctx = ctx
        self.params = params
        self._asking: set[asyncio.Task[None]] = set()

    async def answer(self) -> CallToolResult | InputRequiredResult:
        """The answer, or what has to be known first."""
        begun = await self._begun()
        if isinstance(begun, Reply):
            return self._result(begun, None)
        call = begun
        reply: Reply | None = None
        try:
            found = await self._follow(call)
            if found is not None:
                return found
            reply = call.tool.reply(call.run)
        finally:
            if not call.asked:  # else it goes on when the client comes back
                call.end("the client cancelled the call")
                self._over(call, reply)
        return self._result(reply, call)

    async def _begun(self) -> Call | Reply:
        """The call that this request begins or goes on with; the reply where it is none."""
        state = self.params.request_state
        calls = self.serving.calls
        if state is not None:
            held = calls.held(state)
            if held is None:
                return Reply("this call is over, or was never asked: begin it again", is_error=True)
            self._take_in(held)
            return held
        tool = self.serving.tool(self.params.name)
        if tool is None:
            from ..core.errors import near

            known = near(self.params.name, [each.name for each in self.serving.tools])
            return Reply(f"there is no tool {self.params.name!r:.80}. {known}", is_error=True)
        token = (self.ctx.meta or {}).get("progress_token")
        try:
            self.serving.count += 1
            return await calls.begin(tool, self.params.arguments or {}, progress=token is not None)
        except RobotLabError as error:
            reply = Reply(told_error(describe_error(error)), is_error=True)
        except Exception as error:
            reply = Reply(f"{tool.name} failed: {type(error).__name__}", is_error=True)
        self.serving.note(tool, None, "refused", 0.0)
        return reply

    def _take_in(self, call: Call) -> None:
        """The answers that came back; a question without one was refused."""
        given = self.params.input_responses or {}
        asked, call.asked = call.asked, {}
        for question_id, question in asked.items():
            response = given.get(question_id)
            action = getattr(response, "action", "cancel")
            settle(call, question, action, getattr(response, "content", None))

    async def _follow(self, call: Call) -> InputRequiredResult | None:
        """Tell the client what is new, until the run has ended or the client has to come back."""
        try:
            while True:
                item = await call.news.get()
                if item is None:
                    return None
                if isinstance(item, Progress):
                    await self.ctx.session.report_progress(item.done, item.total, item.message)
                elif not self._can_ask():
                    cannot_ask(call, item)
                elif self.ctx.protocol_version >= _ROUNDS:
                    return self._questions(call, item)
                else:
                    task = asyncio.create_task(self._ask(call, item))
                    self._asking.add(task)
                    task.add_done_callback(self._asking.discard)
        finally:
            for task in tuple(self._asking):
                task.cancel()

    def _can_ask(self) -> bool:
        """Whether the client says that it can put a form to somebody."""
        told = self.ctx.session.client_capabilities
        able = None if told is None else told.elicitation
        return able is not None and (able.form is not None or able.url is None)

    async def _ask(self, call: Call, question: Question) -> None:
        """Ask the client while the call goes on."""
        text, schema = form_of(question)
        try:
            found = await self.ctx.session.elicit_form(text, schema, self.ctx.request_id)
        except asyncio.CancelledError:
            raise
        except Exception:  # the client refuses, or is gone
            cannot_ask(call, question)
        else:
            settle(call, question, found.action, found.content)

    def _questions(self, call: Call, first: Question) -> InputRequiredResult:
        """The answer that asks: the client comes back with what people said."""
        from mcp.types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

        wanted = [first]
        rest: list[Any] = []
        while not call.news.empty():
            item = call.news.get_nowait()
            if item is None or isinstance(item, Progress):
                rest.append(item)
            else:
                wanted.append(item)
        for item in rest:
            call.news.put_nowait(item)
        requests: dict[str, Any] = {}
        for question in wanted:
            text, schema = form_of(question)
            params = ElicitRequestFormParams(message=text, requested_schema=schema)
            requests[question.id] = ElicitRequest(params=params)
            call.asked[question.id] = question
        state = self.serving.calls.hold(call, HOLD_S)
        return InputRequiredResult(input_requests=requests, request_state=state)

    def _over(self, call: Call, reply: Reply | None) -> None:
        from time import monotonic

        self.serving.calls.over(call)
        status = "cancelled" if reply is None else "failed" if reply.is_error else "completed"
        self.serving.note(call.tool, call.run.id, status, monotonic() - call.began)

    def _result(self, reply: Reply, call: Call | None) -> CallToolResult:
        from mcp.types import CallToolResult, TextContent

        meta: dict[str, Any] = {}
        if call is not None:
            meta["robotlab_nb/run_id"] = call.run.id
            if call.run.state.simulated:
                meta["robotlab_nb/simulated"] = True
        return CallToolResult(
            content=[TextContent(type="text", text=reply.text)],
            structured_content=reply.structured,
            is_error=reply.is_error,
            _meta=meta or None,
        )
