"""How a request on the OpenAI wire says what its answer must be, and what is made of the reply.

Pure functions over the request's body, the chunks and the errors. It knows no types, no schemas
beyond passing them on, and judges no answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .protocol import ANSWER_INDEX

if TYPE_CHECKING:
    from ..core.errors import ModelError
    from .protocol import Chunk, OutputSpec, Request

__all__ = ["AnswerMarks", "answer_marks", "hinted", "say_output"]

#: words by which a server says what it has not, in the mode that needs it
_NEEDS = {
    "schema": ("response_format", "response format", "json_schema", "json schema", "structured"),
    "tool": ("tool_choice", "tool choice", "tools", "function call"),
}
_TRY = {
    "schema": 'If the server has no response_format, set output_mode="tool" or "text".',
    "tool": 'If the server cannot call tools, set output_mode="text".',
}


def say_output(body: dict[str, Any], spec: OutputSpec, *, forced: bool = True) -> None:
    """Write into a body what the answer must be.

    Parameters
    ----------
    body : dict
        The body so far, its robot's tools included. What it says already of ``tool_choice`` stays.
    spec : OutputSpec
    forced : bool, optional
        Whether the model may be made to call a tool. Some refuse that while they think.

    Examples
    --------
    >>> from robotlab_nb.models.protocol import OutputSpec
    >>> body = {}
    >>> say_output(body, OutputSpec("City", {"type": "object"}, "schema", True))
    >>> body["response_format"]["json_schema"]
    {'name': 'City', 'schema': {'type': 'object'}, 'strict': True}
    """
    if spec.mode == "schema":
        named = {"name": spec.name, "schema": spec.schema, "strict": spec.strict}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif spec.mode == "tool" and spec.tool is not None:
        others = body.get("tools") or []
        tool = spec.tool
        function = {
            "name": tool.name, "description": tool.description, "parameters": tool.parameters,
        }  # fmt: skip
        body["tools"] = [*others, {"type": "function", "function": function}]
        choice: Any = "auto"
        if forced:
            named = {"type": "function", "function": {"name": tool.name}}
            choice = "required" if others else named
        body.setdefault("tool_choice", choice)


class AnswerMarks:
    """Marks the chunks of the call that gives the answer, so that readers can tell it apart.

    Parameters
    ----------
    tool : str
        The name of the tool that gives the answer.

    Examples
    --------
    >>> from robotlab_nb.models.protocol import Chunk
    >>> mark = AnswerMarks("final_answer")
    >>> mark(Chunk("tool_call", "", 0, "a", "look")).index
    0
    >>> mark(Chunk("tool_call", "{", 1, "b", "final_answer")).index
    -1
    >>> mark(Chunk("tool_call", "}", 1)).index
    -1
    """

    __slots__ = ("_index", "_tool")

    def __init__(self, tool: str) -> None:
        self._tool = tool
        self._index: int | None = None

    def __call__(self, chunk: Chunk) -> Chunk:
        """The chunk, marked where it belongs to the first call of that tool."""
        if chunk.kind == "tool_call" and self._index is None and chunk.name == self._tool:
            self._index = chunk.index or 0
        if chunk.kind in ("tool_call", "opaque") and chunk.index == self._index is not None:
            return chunk._replace(index=ANSWER_INDEX)
        return chunk


def answer_marks(request: Request) -> AnswerMarks | None:
    """What marks the answer to a request; None where no tool gives it."""
    spec = request.output
    if spec is None or spec.mode != "tool" or spec.tool is None:
        return None
    return AnswerMarks(spec.tool.name)


def hinted(error: ModelError, request: Request) -> ModelError:
    """Say what to set where a server refused a request for want of what its mode needs.

    The request is not sent again another way: that would be a request nobody asked for.

    Parameters
    ----------
    error : ModelError
        Its ``hint`` is set when the words of the refusal speak of the mode's means.
    request : Request

    Returns
    -------
    ModelError
        The same.
    """
    spec = request.output
    if spec is not None and error.kind in ("bad_request", "not_found") and spec.mode in _NEEDS:
        said = f"{error.message} {error.body or ''}".lower()
        if any(word in said for word in _NEEDS[spec.mode]):
            error.hint = _TRY[spec.mode]
    return error
