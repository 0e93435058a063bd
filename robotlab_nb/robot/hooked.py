"""A turn within its handlers: around the whole run, and around each model call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.messages import Message
from ..runtime.hook_chain import HookContext
from .conversation import as_question
from .result import RobotResult

if TYPE_CHECKING:
    from ..models.protocol import Request
    from ..runtime.hook_chain import Chain
    from .turn import Turn

__all__ = ["hooked_generation", "hooked_run"]


async def hooked_run(turn: Turn, hooks: Chain) -> None:
    """Carry a turn out within its handlers, which may change the question and the answer."""
    run = turn.run
    context = HookContext(
        "run", run=run, robot=turn.robot, config=turn.effective, request=turn.message,
        context=turn.context,
    )  # fmt: skip

    def take_question() -> None:
        if context.request is not turn.message:
            turn.message = as_question(context.request, run.name)

    async def core() -> Any:
        if not turn.opened:  # a handler may go on a second time
            take_question()
            await turn.open()
        await turn.loop()
        return turn.finish(run)

    given = await hooks.around(context, core, run)
    if not turn.opened:  # a handler answered by itself
        take_question()
        await turn.open()
    if given is not None and not isinstance(given, RobotResult):
        turn.add(given if isinstance(given, Message) else Message("assistant", str(given)))


async def hooked_generation(turn: Turn, hooks: Chain, request: Request) -> Message:
    """Ask the model within the handlers, which may give an answer of their own."""
    context = HookContext(
        "llm_generation", run=turn.run, robot=turn.robot, config=turn.effective, request=request,
        context=turn.context, iteration=len(turn.run.state.model_calls),
    )  # fmt: skip

    async def core() -> Any:
        return await turn.complete(request)

    given = await hooks.around(context, core, turn.run)
    return given if isinstance(given, Message) else Message("assistant", str(given))
