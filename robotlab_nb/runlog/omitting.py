"""Events without what was said in them: that it happened, when, how long, at what cost.

What may stay is listed, and all else goes: a kind of event that is new keeps its numbers and
loses its texts. In place of a text stands a text that tells its length, so that every reader still
finds one; other values become ``{"omitted": characters}``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..core.events import Event

__all__ = ["MARK", "without_texts"]

#: begins what stands in place of a text
MARK = "[omitted:"

#: fields whose texts are names, ids, digests, and words of the package's own
_NAMES = frozenset(
    """
    activate added approved_by at budget by call_id channel child_run_id context delegated_by
    depends_on dimension endpoint evaluators fallback fingerprint finish_reason found from_model
    from_root_id from_run_id group hash hook id in_reply_to key keys kind labels limit map_over
    message_id message_ids mime mode model name network on_failure origin point poller_group
    prompt_hash provider question_id questions
    receiver receivers request_key response_id response_model restored_from resumed_from robot role
    route scorer sender session_id sha256 sizes source started_at status stop_reason strategy stuck
    level paused removed server subscriber summary tags task to_model tool tool_call_id tools
    transport type waiting wire_id writer
    """.split()
)
#: fields of some types that are names there, and something that was said elsewhere
_NAMES_OF = {
    "run.started": frozenset({"output"}),
    "run.interrupted": frozenset({"reason"}),
    "bus.dead": frozenset({"reason"}),
    "loop.turned": frozenset({"reason"}),
}
#: fields that hold further fields
_INSIDE = frozenset(
    """
    axes cells changed error errors estimate graph left_out loop matches message messages new params
    parts policy scores tool_specs usage
    """.split()
)
#: fields whose numbers and truth values were said, too
_SAID = frozenset("answer arguments content default gave output result value".split())
#: fields that can only be left out
_LEFT_OUT = frozenset("base64 data gave noted opaque".split())
#: settings that hold what is to be said
_SPOKEN = frozenset("answers provider_options stop".split())


def without_texts(event: Event) -> Event:
    """An event as it is kept where texts are not.

    Examples
    --------
    >>> from robotlab_nb.core.events import Scope
    >>> scope = Scope("r1", "r1", None, 0, "robot", ("bob",), "bob")
    >>> told = {"tool": "send", "arguments": {"to": "Ann"}, "arguments_text": '{"to": "Ann"}'}
    >>> without_texts(Event("tool_call.started", scope, 3, 0.1, told)).data["arguments"]
    {'omitted': 13}
    """
    data = _fields(event.data, _NAMES_OF.get(event.type, frozenset()))
    if event.type == "run.started":
        data["content_omitted"] = True
    return Event(event.type, event.scope, event.seq, event.elapsed, data)


def _fields(data: Mapping[str, Any], names: frozenset[str] = frozenset()) -> dict[str, Any]:
    if data.get("kind") == "media":  # a picture or a file, which may be called after what is in it
        data = {**data, "name": data.get("name") and _omitted(data["name"])}
    return {
        name: value if name in names else _field(name, value)
        for name, value in data.items()
        if name not in _LEFT_OUT
    }


def _field(name: str, value: Any) -> Any:
    if value is None or name in _NAMES:
        return value
    if isinstance(value, (bool, int, float)):
        return _omitted(value) if name in _SAID else value
    if name == "config" and isinstance(value, Mapping):
        return {k: v for k, v in value.items() if k not in _SPOKEN}
    if name in _INSIDE:
        return _inside(value)
    return _omitted(value)


def _inside(value: Any) -> Any:
    """What a field holds that has fields of its own; a bare text in there was said."""
    if isinstance(value, Mapping):
        return _fields(value)
    if isinstance(value, (list, tuple)):
        return [_inside(each) for each in value]
    return value if value is None else _omitted(value)


def _omitted(value: Any) -> Any:
    if isinstance(value, str):
        return f"{MARK} {len(value)} characters]"
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return [_omitted(each) for each in value]
    try:
        return {"omitted": len(json.dumps(value))}
    except (TypeError, ValueError, RecursionError):
        return {"omitted": 0}
