"""Reading tool calls of the OpenAI wire, whole or in pieces.

The index of a piece is a label, not a position: servers start at 1 or -1, leave it out, or use
one label for all calls. It knows tool calls only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .protocol import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CallReader"]

_KNOWN = frozenset({"id", "index", "type", "function", "custom"})


class CallReader:
    """Tells which call a piece belongs to.

    Examples
    --------
    >>> reader = CallReader()
    >>> first = {"index": 7, "id": "a", "function": {"name": "look", "arguments": "{"}}
    >>> reader.read({"tool_calls": [first]})
    [Chunk(kind='tool_call', text='{', index=0, id='a', name='look', data=None)]
    >>> reader.read({"tool_calls": [{"index": 7, "function": {"arguments": "}"}}]})
    [Chunk(kind='tool_call', text='}', index=0, id=None, name=None, data=None)]
    """

    __slots__ = ("_by_label", "_calls")

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._by_label: dict[Any, _Call] = {}

    def __len__(self) -> int:
        """The number of calls."""
        return len(self._calls)

    def read(self, message: dict[str, Any]) -> list[Chunk]:
        """The pieces of calls in a message or a piece of one."""
        chunks: list[Chunk] = []
        entries = message.get("tool_calls")
        for position, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict):
                self._read_entry(entry, position, chunks)
        legacy = message.get("function_call")
        if isinstance(legacy, dict) and (not self._calls or "function_call" in self._by_label):
            self._read_entry({"index": "function_call", "function": legacy}, 0, chunks)
        return chunks

    def extras(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Position and provider's extras of the calls that have some."""
        for call in self._calls:
            if call.extras:
                yield call.position, call.extras

    def last_is_whole(self) -> bool:
        """Whether the arguments of the last call are complete."""
        return not self._calls or self._calls[-1].whole()

    def _read_entry(self, entry: dict[str, Any], position: int, chunks: list[Chunk]) -> None:
        custom = entry.get("custom")
        is_custom = isinstance(custom, dict) and bool(
            custom.get("name") or entry.get("type") == "custom"
        )
        function = custom if is_custom else entry.get("function")
        if not isinstance(function, dict):
            function = {}
        id_, name = _text(entry.get("id")), _text(function.get("name"))
        arguments = function.get("input" if is_custom else "arguments")
        if isinstance(arguments, (dict, list)):
            arguments = json.dumps(arguments, ensure_ascii=False)
        arguments = _text(arguments)
        call = self._find(entry.get("index"), position, id_, name, arguments)
        if call is None:
            return
        new_id, new_name = not call.id and id_, not call.name and name
        call.id, call.name = call.id or id_, call.name or name
        if arguments:
            call.arguments.append(arguments)
        if is_custom:
            call.extras["type"] = "custom"
        call.extras.update({k: v for k, v in entry.items() if k not in _KNOWN and v})
        chunks.append(
            Chunk("tool_call", arguments, call.position, new_id or None, new_name or None)
        )

    def _find(self, index: Any, position: int, id_: str, name: str, arguments: str) -> _Call | None:
        """The call that a piece belongs to, a new one if need be; None for an empty shell."""
        place = ("position", position)
        if index is not None:
            label: Any = str(index)
        else:
            # Without a label the id tells, else the place in the list.
            label = ("id", id_) if id_ else place
        call = self._by_label.get(label)
        if call is None and not (id_ or name):
            call = self._by_label.get(place)
        if call is None and not (id_ or name or arguments):
            return None
        if call is None or call.is_another(id_, name, arguments):
            call = _Call(len(self._calls))
            self._calls.append(call)
        self._by_label[label] = self._by_label[place] = call
        if id_:
            self._by_label[("id", id_)] = call
        return call


class _Call:
    """What is known of one call."""

    __slots__ = ("arguments", "extras", "id", "name", "position")

    def __init__(self, position: int) -> None:
        self.position = position
        self.id = ""
        self.name = ""
        self.arguments: list[str] = []
        self.extras: dict[str, Any] = {}

    def is_another(self, id_: str, name: str, arguments: str) -> bool:
        """Whether a piece under this call's label starts a new call: it names another one, or
        begins a second object where the first is complete.
        """
        if id_ and self.id and id_ != self.id:
            return True
        if name and self.name and name != self.name:
            return True
        return bool(name and arguments.lstrip().startswith("{") and self.arguments) and self.whole()

    def whole(self) -> bool:
        """Whether the arguments are complete JSON, or there are none."""
        text = "".join(self.arguments)
        try:
            json.loads(text or "{}")
        except (ValueError, RecursionError):
            return False
        return True


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
