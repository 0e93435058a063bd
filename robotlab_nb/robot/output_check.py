"""Whether an answer is what it must be, and what the model is told when it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import OutputError
from ..core.messages import Message
from .structured import Parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.messages import ToolCallPart
    from ..runtime.run import Run
    from .structured import Shape
    from .tool_round import ToolRound

__all__ = ["OutputCheck"]

#: stop reasons after which asking again would not help
_NO_USE = {
    "refused": "The model declined to answer.",
    "content_filter": "The provider's content filter stopped the answer.",
    "length": "The answer was cut at max_tokens; raise it.",
}


class OutputCheck:
    """Judges the answers of one turn.

    Parameters
    ----------
    run : Run
    shape : Shape
    retries : int
        How often a wrong answer is sent back.
    """

    __slots__ = ("attempt", "retries", "run", "shape")

    def __init__(self, run: Run[Any], shape: Shape, retries: int) -> None:
        self.run = run
        self.shape = shape
        self.retries = retries
        self.attempt = 0

    def final_call(self, calls: Sequence[ToolCallPart]) -> ToolCallPart | None:
        """The call by which the model gives its answer, where the answer is a tool call."""
        tool = self.shape.tool
        if tool is None:
            return None
        return next((c for c in calls if c.name == tool.name), None)

    def judge_call(
        self, calls: Sequence[ToolCallPart], final: ToolCallPart, round_: ToolRound
    ) -> bool:
        """Judge an answer that is a tool call, and answer the calls beside it.

        Returns
        -------
        bool
            Whether the answer was accepted; if not, the other calls are still to be run.
        """
        try:
            feedback = self._judge(final.arguments)
        except OutputError as error:
            round_.settle(final, error.message, failed="OutputError")
            raise
        if feedback is not None:
            round_.settle(final, feedback, failed="OutputError")
            return False
        round_.settle(final, "accepted")
        for other in calls:
            if other is not final:
                round_.settle(other, "not run: the answer was given", failed="NotRun")
        return True

    def judge_message(self, message: Message, stop_reason: str | None) -> Message | None:
        """Judge an answer that is text: None when it was accepted, else what the model is told.

        Raises
        ------
        OutputError
            When asking again would not help, or was done often enough.
        """
        if stop_reason in _NO_USE:
            raise OutputError(
                f"robot {self.run.name!r} gave no {self.shape.written}: the answer ended early "
                f"({stop_reason})",
                hint=_NO_USE[stop_reason],
                text=message.text,
            )
        tool = self.shape.tool
        if tool is not None and not isinstance(self.shape.judge(message.text), Parsed):
            # Some models answer in words all the same; words that fit are an answer.
            fault = {"path": "", "message": f"the answer is to be given by {tool.name}"}
            words = f"Give your answer by calling the tool {tool.name}."
            return Message("user", self._reject(message.text, [fault], words))
        told = self._judge(message.text)
        return None if told is None else Message("user", told)

    def _judge(self, text: str) -> str | None:
        verdict = self.shape.judge(text)
        if isinstance(verdict, Parsed):
            self.attempt += 1
            self.run.values["output"] = verdict.value
            self.run.emit(
                "output.parsed",
                {"mode": self.shape.mode, "attempt": self.attempt, "value": verdict.data},
            )
            return None
        return self._reject(text, verdict.errors, verdict.feedback)

    def _reject(self, text: str, errors: Sequence[Any], feedback: str) -> str:
        self.attempt += 1
        self.run.emit(
            "output.rejected",
            {
                "mode": self.shape.mode,
                "attempt": self.attempt,
                "text": text,
                "errors": list(errors),
            },
        )
        if self.attempt > self.retries:
            first = errors[0] if errors else {"path": "", "message": "it cannot be read"}
            place = f"{first['path']}: " if first.get("path") else ""
            raise OutputError(
                f"robot {self.run.name!r} gave no valid {self.shape.written} in {self.attempt} "
                f"answers; the last: {place}{first['message']}",
                hint="Its answers are in .run; raise output_retries, or make the type simpler.",
                errors=list(errors),
                text=text,
            )
        return feedback
