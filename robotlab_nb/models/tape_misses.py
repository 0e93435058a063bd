"""What is said of a request that is not on a tape: the nearest recorded one, and what differs.

It compares recorded lines with a request, bounded in number and length. It plays nothing.
"""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any

from ..core.tape_errors import TapeMiss
from .tape_lines import about_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from .calls import Call
    from .tape_file import TapeFile
    from .taping import Tape

__all__ = ["missed"]

#: recorded requests that are looked at, the latest ones
_MOST = 300
#: of a text: characters that are compared, words, characters shown around a difference, in all
_COMPARED, _WORDS, _AROUND, _SHOWN = 4000, 1500, 40, 700


def missed(call: Call, tape: Tape, nth: int) -> TapeMiss:
    """The error for a request that a tape in strict mode does not have.

    Parameters
    ----------
    call : Call
    tape : Tape
    nth : int
        Which of equal requests it is, from 0.
    """
    file = tape.file
    known = file.recorded(call.key)
    name = call.model.name
    if known and (call.key, nth) not in file.calls:
        times = "once" if known == 1 else f"{known} times"
        return TapeMiss(
            f"the tape {tape.name} has this request to {name} {times}, and it was asked once more",
            hint="Its answers are played in order. tape.rewind() begins anew; "
            'mode="auto" asks the model and adds the answer.',
            nearest=call.key,
        )
    if known:
        return TapeMiss(
            f"the call to {name} failed when the tape {tape.name} was recorded, and errors are "
            "left out",
            hint="Record it again, or play it with rl.tape(…, errors=True).",
            nearest=call.key,
        )
    if not file.calls:
        return TapeMiss(
            f"the tape {tape.name} has no recorded call at all",
            hint='Record it: rl.tape(…, mode="record"), with the models at hand.',
        )
    try:
        nearest, found = _compared(call, file)
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        nearest, found = None, ()  # lines that a person has changed
    return TapeMiss(
        f"the tape {tape.name} has no answer to this request to {name}",
        hint='Undo what was changed, or record: mode="auto" asks only for what is missing.',
        differences=found,
        nearest=nearest,
    )


def _compared(call: Call, file: TapeFile) -> tuple[str | None, tuple[tuple[str, str], ...]]:
    """The key of the nearest recorded request, and what differs from it."""
    now, lines = about_request(call.request, call.message_ids, call.tools_key)
    now |= {"model": call.model.name, "endpoint": call.model.endpoint}
    table = _Table(file, lines)
    line = _nearest(file, table, now)
    return (
        (None, ()) if line is None else (str(line["call"]), tuple(_differences(table, line, now)))
    )


class _Table:
    """Messages and tools by their ids: the tape's, and those of the request."""

    def __init__(self, file: TapeFile, lines: Iterable[Mapping[str, Any]]) -> None:
        self.messages: dict[str, Mapping[str, Any]] = dict(file.messages)
        self.toolsets: dict[str, Mapping[str, Any]] = dict(file.toolsets)
        for line in lines:
            if "message" in line:
                self.messages[line["message"]] = line
            else:
                self.toolsets[line["toolset"]] = line

    def text(self, name: str) -> str:
        """A message's parts as a text to be compared."""
        return "\n".join(map(_said, self.messages.get(name, {}).get("parts", ())))

    def role(self, name: str) -> str:
        return str(self.messages.get(name, {}).get("role", "?"))


def _said(part: Mapping[str, Any]) -> str:
    if isinstance(part.get("text"), str):
        return str(part["text"])
    return json.dumps(
        {k: v for k, v in part.items() if k not in ("id", "wire_id", "opaque")},
        ensure_ascii=False, default=str,
    )  # fmt: skip


def _nearest(file: TapeFile, table: _Table, now: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The recorded request that is most like this one; of equals the latest."""
    lines = [line for line in list(file.calls.values())[-_MOST:] if "messages" in line]
    last = table.text(now["messages"][-1]) if now["messages"] else ""

    def likeness(line: Mapping[str, Any]) -> tuple[float, float]:
        ids = line["messages"]
        same = len(set(ids) & set(now["messages"])) / max(len(ids), len(now["messages"]), 1)
        told = table.text(ids[-1]) if ids else ""
        words = difflib.SequenceMatcher(None, told[:500], last[:500]).quick_ratio()
        beside = sum(line.get(k) == now.get(k) for k in ("model", "endpoint", "tools", "params"))
        return same + words + beside / 4, words

    return max(reversed(lines), key=likeness, default=None)


def _differences(
    table: _Table, then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    for name in ("model", "endpoint"):
        if then.get(name) != now.get(name):
            yield name, _change(then.get(name), now.get(name))
    before, after = then.get("params") or {}, now.get("params") or {}
    for name in dict.fromkeys((*before, *after)):
        if _plain(before.get(name)) != _plain(after.get(name)):
            yield f"parameter {name}", _change(before.get(name), after.get(name))
    if then.get("tools") != now.get("tools"):
        yield from _of_tools(table.toolsets.get(then.get("tools") or "", {}),
                             table.toolsets.get(now.get("tools") or "", {}))  # fmt: skip
    yield from _of_messages(table, then["messages"], now["messages"])


def _of_tools(then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    before, after = ({tool["name"]: tool for tool in one.get("tools", ())} for one in (then, now))
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield f"tool {name}", "it is missing now"
        elif name not in before:
            yield f"tool {name}", "it is new"
        elif _plain(before[name]) != _plain(after[name]):
            yield f"tool {name}", _words(_plain(before[name]), _plain(after[name]))
    if _plain(then.get("output")) != _plain(now.get("output")):
        yield "output", _words(_plain(then.get("output")), _plain(now.get("output")))


def _of_messages(table: _Table, then: list[str], now: list[str]) -> Iterator[tuple[str, str]]:
    matcher = difflib.SequenceMatcher(None, then, now, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            continue
        paired = min(j - i, m - k)
        for n in range(paired):
            a, b = then[i + n], now[k + n]
            roles = table.role(a), table.role(b)
            who = roles[1] if roles[0] == roles[1] else f"{roles[0]} → {roles[1]}"
            yield f"message {k + n + 1} ({who})", _words(table.text(a), table.text(b))
        for name in then[i + paired : j]:
            yield f"message ({table.role(name)})", f"missing now: [−{_cut(table.text(name))}−]"
        for n, name in enumerate(now[k + paired : m], k + paired + 1):
            yield f"message {n} ({table.role(name)})", f"new: [+{_cut(table.text(name))}+]"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def _change(then: Any, now: Any) -> str:
    return " → ".join("not set" if v is None else _cut(v if isinstance(v, str) else _plain(v), 120)
                      for v in (then, now))  # fmt: skip


def _cut(text: str, most: int = 200) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[:most]}…"


def _words(then: str, now: str) -> str:
    """Two texts as one, word by word: what is gone in ``[−−]``, what is new in ``[++]``."""
    if then == now:
        return "the same words, with other details of the provider's"
    lead = _common(then, now)
    a, b = (re.findall(r"\S+\s*|\s+", text[lead : lead + _COMPARED])[:_WORDS]
            for text in (then, now))  # fmt: skip
    out = ["…" * (lead > _AROUND) + then[max(0, lead - _AROUND) : lead]]
    for kind, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        old, new = "".join(a[i:j]), "".join(b[k:m])
        if kind == "equal":
            out.append(old if len(old) <= 2 * _AROUND else f"{old[:_AROUND]} … {old[-_AROUND:]}")
            continue
        if old:
            out.append(f"[−{_cut(old)}−] ")
        if new:
            out.append(f"[+{_cut(new)}+] ")
    text = " ".join("".join(out).split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _common(a: str, b: str) -> int:
    """Characters at the start that are the same, up to the last space among them."""
    n = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        n += 1
    return a.rfind(" ", 0, n) + 1 if n else 0
