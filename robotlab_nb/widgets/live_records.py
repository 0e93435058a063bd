"""Flat records that change: what a view shows, and what of it is new since the last look.

A change is ``[key, fields]``, ``[key, "more text"]`` or ``[key, None]``; the same changes in the
same order give the same records elsewhere. Knows nothing of what the records are about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Change", "LiveRecords"]

Change = list[Any]


class LiveRecords:
    """Records by key, in order of appearance.

    Attributes
    ----------
    records : dict of str to dict

    Examples
    --------
    >>> found = LiveRecords()
    >>> found.put("P0", {"text": "Hel", "on": True})
    >>> found.changes()
    [['P0', {'text': 'Hel', 'on': True}]]
    >>> found.append("P0", "lo")
    >>> found.changes(), found.whole()
    ([['P0', 'lo']], [['P0', {'text': 'Hello', 'on': True}]])
    """

    def __init__(self) -> None:
        self.records: dict[str, dict[str, Any]] = {}
        self._touched: dict[str, set[str]] = {}
        self._grown: dict[str, list[str]] = {}
        self._new: set[str] = set()

    def whole(self) -> list[Change]:
        """All records, as changes to nothing."""
        return [[key, dict(record)] for key, record in self.records.items()]

    def put(self, key: str, fields: Mapping[str, Any]) -> None:
        """Make a record, or change some of its fields."""
        record = self.records.get(key)
        if record is None:
            record = self.records[key] = {}
            self._new.add(key)
            self._touched[key] = set()
        for name, value in fields.items():
            if name not in record or record[name] != value:
                record[name] = value
                self._touched.setdefault(key, set()).add(name)

    def change(self, key: str, fields: Mapping[str, Any]) -> None:
        """Change a record that is still there."""
        if key in self.records:
            self.put(key, fields)

    def append(self, key: str, text: str) -> None:
        """Have the text of a record that is still there grow."""
        if text and key in self.records:
            self.records[key]["text"] += text
            self._touched.setdefault(key, set())
            self._grown.setdefault(key, []).append(text)

    def remove(self, key: str) -> None:
        """Take a record away."""
        del self.records[key]
        self._touched.setdefault(key, set())

    def changes(self) -> list[Change]:
        """What is new since this was asked last, in order of its first change."""
        touched, self._touched = self._touched, {}
        grown, self._grown = self._grown, {}
        new, self._new = self._new, set()
        found: list[Change] = []
        for key, names in touched.items():
            record = self.records.get(key)
            if record is None:
                if key not in new:
                    found.append([key, None])
            elif key in new:
                found.append([key, dict(record)])
            else:
                if names:
                    found.append([key, {name: record[name] for name in sorted(names)}])
                if key in grown and "text" not in names:
                    found.append([key, "".join(grown[key])])
        return found
