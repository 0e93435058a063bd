"""All that the front end of a replay needs, at once: it steps without asking the kernel anything.

Each step has the changes that it makes to the records of the run's view. Texts of model calls are
kept once, since every request repeats the ones before it. At most a megabyte in all: what is too
much is left out and says where it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..display.amounts import count
from ..display.escape import clip, plain
from ..display.exchange_card import as_json, got_line, got_rows, sent_line, sent_rows
from ..display.exchange_events import readable
from ..display.json_text import laid_out
from ..display.parts import FOLD_LIMIT
from .live_doc import LiveDoc

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..core.records import ToolCall
    from ..display.exchange import Exchange
    from ..display.exchange_card import Row
    from .live_records import Change
    from .replay_steps import Step
    from .replaying import Replay

__all__ = ["MOST", "data_of"]

#: Characters of JSON that go to the front end, and of them those of the run's view.
MOST, _MOST_VIEW = 1_000_000, 600_000
#: Runs that are looked at, over all steps: each look at the view goes through all of them.
_MOST_LOOKS = 50_000
#: Characters of one text, in the view and in a model call.
_SHORT, _LONG = 1_000, 20_000


def data_of(replay: Replay) -> dict[str, Any]:
    """The steps of a replay, what each changes, and its model calls.

    Parameters
    ----------
    replay : Replay

    Returns
    -------
    dict
        ``steps``, ``calls``, ``texts``, and ``every``: at which steps the view moves on. JSON of
        about :data:`MOST` characters at most.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> data = data_of(rl.build("bob").run("Hello").replay())
    >>> len(data["steps"]), data["steps"][1]["call"], data["calls"][0]["sent"][0][:2]
    (4, 0, ['text', 'you'])
    """
    texts = _Texts()
    steps, every = _viewed(replay)
    room = MOST - len(json.dumps(steps))
    calls: list[dict[str, Any] | None] = []
    for exchange in replay.exchanges:
        made = _call(exchange, texts) if room > 0 else None
        if made is not None:
            room -= len(json.dumps(made)) + texts.taken()
        calls.append(made if room > 0 else None)
    return {"steps": steps, "every": every, "calls": calls, "texts": texts.all}


# -- the run's view, step by step ----------------------------------------------------------


def _viewed(replay: Replay) -> tuple[list[dict[str, Any]], int]:
    """The steps with their changes; in larger strides where they would be too much."""
    runs = sum(1 for _ in replay.state.walk())
    stride, cut = max(len(replay) * runs // _MOST_LOOKS, 1), False
    while True:
        changes = _changes(replay, stride, cut=cut)
        if len(json.dumps(changes)) <= _MOST_VIEW or stride > len(replay):
            break
        stride, cut = (stride * 2, cut) if cut else (stride, True)
    known = {id(exchange): place for place, exchange in enumerate(replay.exchanges)}
    called = {name: each for run in replay.state.walk() for name, each in run.tool_calls.items()}
    asked: dict[int, int] = {}
    steps = [
        _step(step, ops, known, called, asked)
        for step, ops in zip(replay.steps, changes, strict=True)
    ]
    return steps, stride


def _changes(replay: Replay, stride: int, *, cut: bool) -> list[list[Change]]:
    """What each step changes; where steps are taken together, the last of them."""
    doc = LiveDoc(replay.events[0].scope)
    found: list[list[Change]] = []
    held: list[Any] = []
    last = len(replay.steps) - 1
    for step in replay.steps:
        held += replay.events[step.events.start : step.events.stop]
        if step.number % stride and step.number != last:
            found.append([])
            continue
        changes = [_past(change) for change in doc.take(map(readable, held))]
        held = []
        found.append([_cut(change) for change in changes] if cut else changes)
    return found


def _past(change: Change) -> Change:
    """A question of then is not answered now: it says no more how."""
    key, fields = change
    return [key, {**fields, "via": "prompt"}] if key[0] == "Q" and fields else change


def _cut(change: Change) -> Change:
    key, fields = change
    if isinstance(fields, str):
        return [key, clip(fields, _SHORT)]
    if fields is None:
        return change
    return [
        key,
        {
            name: clip(value, _SHORT) if isinstance(value, str) and len(value) > _SHORT else value
            for name, value in fields.items()
        },
    ]


def _step(
    step: Step,
    ops: list[Change],
    known: dict[int, int],
    calls: dict[str, ToolCall],
    asked: dict[int, int],
) -> dict[str, Any]:
    told: dict[str, Any] = {
        "at": round(step.at, 4), "when": step.moment, "kind": step.kind, "who": step.who,
        "where": step.where, "words": step.words, "icon": step.icon, "hue": step.hue, "ops": ops,
    }  # fmt: skip
    if step.tool_call_id:
        told |= _tool(step, calls)
    exchange = step.exchange
    if exchange is not None:
        told["call"] = known[id(exchange)]
        share = _written(exchange)
        if step.kind == "answer" and share is not None and asked.get(id(exchange)) is not None:
            told |= {"asked": asked[id(exchange)], "first": share}
        elif step.kind == "ask":
            asked[id(exchange)] = step.number
    return told


def _written(exchange: Exchange) -> float | None:
    """After which share of its time an answer began to come in pieces; None where it came whole."""
    call = exchange.call
    if not exchange.streamed or not call.duration_s or call.cached:
        return None
    return round(min((call.first_token_s or 0.0) / call.duration_s, 1.0), 3)


def _tool(step: Step, calls: dict[str, ToolCall]) -> dict[str, Any]:
    """Arguments and, once there is one, result of the tool call that a step is about."""
    call = calls.get(step.tool_call_id)
    if call is None:
        return {}
    told = {
        "tool": call.tool_call_id,
        "given": clip(laid_out(call.arguments_text or "") or "none", FOLD_LIMIT),
    }
    if step.kind == "result":
        told["got"] = clip(laid_out(call.content or "") or "nothing", FOLD_LIMIT)
    return told


# -- model calls ---------------------------------------------------------------------------


class _Texts:
    """Texts, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}
        self._taken = 0

    def place(self, text: str) -> int:
        """Where a text stands."""
        found = self._places.get(text)
        if found is None:
            found = self._places[text] = len(self.all)
            self.all.append(text)
            self._taken += len(json.dumps(text)) + 1
        return found

    def taken(self) -> int:
        """Characters since this was asked last."""
        taken, self._taken = self._taken, 0
        return taken


def _call(exchange: Exchange, texts: _Texts) -> dict[str, Any]:
    """One model call: rows to be read, and JSON in pieces, both by the places of their texts."""
    return {
        "number": exchange.number,
        "to": plain(sent_line(exchange)),
        "back": plain(got_line(exchange)),
        "sim": exchange.call.simulated,
        "sent": _rows(sent_rows(exchange), texts),
        "got": _rows(got_rows(exchange), texts),
        "request": _pieces(lambda: exchange.request, texts),
        "response": _pieces(lambda: exchange.response, texts),
    }


def _rows(rows: Iterable[Row], texts: _Texts) -> list[list[Any]]:
    return [
        [row.kind, clip(row.who, 200), texts.place(clip(row.text, _LONG)), row.old] for row in rows
    ]


def _pieces(value: Any, texts: _Texts) -> list[int]:
    """JSON of an object, cut between its messages and tools."""
    try:
        body = _shortened(value())
    except Exception as error:
        return [texts.place(f"cannot be written as JSON: {type(error).__name__}: {error}"[:400])]
    pieces: list[int] = []
    for place, (name, inner) in enumerate(body.items()):
        start = "{\n" if place == 0 else ",\n"
        if name in ("messages", "tools") and isinstance(inner, list) and inner:
            pieces.append(texts.place(f"{start}  {as_json(name)}: ["))
            for number, each in enumerate(inner):
                pieces.append(texts.place(",\n    " if number else "\n    "))
                pieces.append(texts.place(_indented(each, 4)))
            pieces.append(texts.place("\n  ]"))
        else:
            pieces.append(texts.place(f"{start}  {as_json(name)}: {_indented(inner, 2)}"))
    pieces.append(texts.place("\n}" if body else "{}"))
    return pieces


def _indented(value: Any, spaces: int) -> str:
    return as_json(value).replace("\n", "\n" + " " * spaces)


def _shortened(value: Any) -> Any:
    """JSON in which very long texts (a picture's bytes, say) are cut, and say so."""
    if isinstance(value, str) and len(value) > _LONG:
        return f"{value[:200]} … {count(len(value) - 200, 'more character')} in exchange.request"
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shortened(inner) for inner in value]
    return value
