"""The tool with which a robot asks the person it works for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..runtime.asking import ask_free, text_of
from .decorator import tool

if TYPE_CHECKING:
    from ..runtime.run import Run

__all__ = ["ask_user"]


def _call_id(run: Run[Any], question: str) -> str | None:
    """The id of the call in which a question is asked: the first one that has not asked yet."""
    state = run.state
    asked = {a.tool_call_id for a in state.asked.values()}
    for call in state.tool_calls.values():
        if call.status == "running" and call.tool_call_id not in asked:
            given = call.arguments or {}
            if given.get("question") == question:
                return call.tool_call_id
    return None


# How long a question waits is the run's `ask_timeout`, not the time that tools have for work.
@tool(name="ask_user", inject=("run",), timeout=math.inf)
async def ask_user(
    question: str,
    choices: list[str] | None = None,
    default: str | None = None,
    *,
    run: Any,
) -> str:
    """Ask the user a question and return the answer.

    Parameters
    ----------
    question : str
        What to ask.
    choices : list of str, optional
        The possible answers, where there are only some.
    default : str, optional
        The answer to assume when the user gives none.

    Returns
    -------
    str
        What the user said.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> steps = [("ask_user", {"question": "Which size?", "choices": ["S", "L"]}), "ordered"]
    >>> shop = rl.build("shop", model=rl.SimulatedModel(steps), tools=[ask_user])
    >>> answered = shop.run("shoes", config={"answers": {"Which size?": "L"}})
    >>> answered.tool_calls[0].result
    'L'
    """
    answer = await ask_free(
        run, question, choices=choices or (), default=default, tool="ask_user",
        tool_call_id=_call_id(run, question), suspend=True,
    )  # fmt: skip
    return text_of(answer, question)
