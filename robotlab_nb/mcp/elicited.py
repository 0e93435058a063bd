"""What a server asks of the person while its tool runs, put through the one channel of the run.

A form becomes one question for each of its fields. Nobody there to answer means: declined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import NoAnswerChannel
from ..runtime.asking import ask_free

if TYPE_CHECKING:
    from ..runtime.working import Work
    from .asked import RemoteQuestion

__all__ = ["DECLINE", "elicit", "read_field"]

#: what a person says to tell the server nothing
DECLINE = "decline"
_TRIES = 3
_MOST_FIELDS = 20


async def elicit(
    question: RemoteQuestion, run: Work[Any], tool: str, tool_call_id: str | None
) -> Mapping[str, Any] | bool | None:
    """Ask a person what a server wants to know.

    Returns
    -------
    mapping, True, None or False
        The fields; True for a page that was opened; None where it is declined, False where the
        time was up or the run was stopped.
    """
    if question.url is not None:
        return await _page(question, run, tool, tool_call_id)
    fields = question.schema.get("properties")
    fields = fields if isinstance(fields, Mapping) else {}
    if len(fields) > _MOST_FIELDS:
        return None
    needed = question.schema.get("required")
    needed = needed if isinstance(needed, (list, tuple)) else ()
    content: dict[str, Any] = {}
    if not fields:
        said = await _ask(run, _text(question, "", {}), ["yes", DECLINE], None, tool, tool_call_id)
        return {} if said == "yes" else None
    for name, schema in fields.items():
        told = schema if isinstance(schema, Mapping) else {}
        text = _text(question, str(name) if len(fields) > 1 else "", told)
        found = await _field(run, text, told, name in needed, tool, tool_call_id)
        if found is DECLINED:
            return None
        if found is LATE:
            return False
        if found is not LEFT_OUT:
            content[str(name)] = found
    return content


class _Mark:
    """A way in which a field has no value."""


DECLINED, LATE, LEFT_OUT = _Mark(), _Mark(), _Mark()


def _text(question: RemoteQuestion, field: str, schema: Mapping[str, Any]) -> str:
    lines = [f"Tool server {question.server!r} asks: {question.message}"]
    about = schema.get("description")
    title = schema.get("title") or field
    if field:
        lines.append(f"{title}: {about}" if about else str(title))
    elif about:
        lines.append(str(about))
    return "\n".join(lines)[:4_000]


async def _page(
    question: RemoteQuestion, run: Work[Any], tool: str, tool_call_id: str | None
) -> bool | None:
    text = (
        f"Tool server {question.server!r} asks you to open a page: {question.message}\n"
        f"{question.url}"
    )
    said = await _ask(run, text[:4_000], ["opened", DECLINE], None, tool, tool_call_id)
    return True if said == "opened" else None


async def _field(
    run: Work[Any],
    text: str,
    schema: Mapping[str, Any],
    needed: bool,
    tool: str,
    tool_call_id: str | None,
) -> Any:
    choices = _choices(schema)
    default = schema.get("default")
    shown = None if default is None else _shown(default)
    if shown is None and not needed and not choices:
        shown = ""
    for _ in range(_TRIES):
        options = [*choices, DECLINE] if choices else []
        said = await _ask(run, text, options, shown, tool, tool_call_id)
        if said is None:
            return LATE
        if said.strip().lower() == DECLINE:
            return DECLINED
        if not said.strip() and not needed:
            return LEFT_OUT
        fault, value = read_field(schema, said)
        if fault is None:
            return value
        text = f"{text.partition(_AGAIN)[0]}{_AGAIN}{said[:80]!r} {fault}"
    return DECLINED


_AGAIN = "\nNot taken: "


def _shown(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _choices(schema: Mapping[str, Any]) -> list[str]:
    if schema.get("type") == "boolean":
        return ["yes", "no"]
    listed = schema.get("enum")
    if not isinstance(listed, list):
        titled = schema.get("oneOf") or schema.get("anyOf")
        listed = [c.get("const") for c in titled if isinstance(c, Mapping)] if isinstance(
            titled, list) else []  # fmt: skip
    return [c for c in listed if isinstance(c, str)][:50]


async def _ask(
    run: Work[Any],
    text: str,
    choices: list[str],
    default: str | None,
    tool: str,
    tool_call_id: str | None,
) -> str | None:
    """What a person says; None when the time was up or the run was stopped."""
    try:
        found = await ask_free(
            run, text, choices=choices, default=default, tool=tool, tool_call_id=tool_call_id
        )
    except NoAnswerChannel:
        return DECLINE
    return str(found.value) if found.status in ("answered", "default") else None


def read_field(schema: Mapping[str, Any], said: str) -> tuple[str | None, Any]:
    """What a person's words mean for a field: what is wrong with them or None, and the value.

    Examples
    --------
    >>> read_field({"type": "integer"}, "12"), read_field({"type": "boolean"}, "yes")
    ((None, 12), (None, True))
    >>> read_field({"type": "integer", "maximum": 5}, "12")[0]
    'is more than 5'
    """
    kind = schema.get("type")
    text = said.strip()
    if kind == "boolean":
        known = {"yes": True, "true": True, "no": False, "false": False}
        found = known.get(text.lower())
        return (None, found) if found is not None else ("is neither yes nor no", None)
    if kind in ("integer", "number"):
        return _number(schema, text, whole=kind == "integer")
    if kind == "array":
        return None, [part.strip() for part in text.split(",") if part.strip()]
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(text) < least:
        return f"has fewer than {least} characters", None
    if isinstance(most, int) and len(text) > most:
        return f"has more than {most} characters", None
    return None, text


def _number(schema: Mapping[str, Any], text: str, *, whole: bool) -> tuple[str | None, Any]:
    from math import isfinite

    try:
        value: float = int(text) if whole else float(text)
    except ValueError:
        return f"is no {'whole ' if whole else ''}number", None
    if not isfinite(value):
        return "is no number", None
    low, high = schema.get("minimum"), schema.get("maximum")
    if isinstance(low, (int, float)) and value < low:
        return f"is less than {low}", None
    if isinstance(high, (int, float)) and value > high:
        return f"is more than {high}", None
    return None, value
