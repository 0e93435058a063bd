"""The picture of what is different between two runs: a table of tasks, then texts word by word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import count, dollars, seconds
from .escape import clip, one_line
from .parts import Fields, Fold, Para, Picture, Table, bold, code, part, quiet

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..network.differing import Diff, Words
    from .parts import Block, Inline, Line

__all__ = ["differences"]

_ROWS = 60
_TEXTS = 12
_WORDS = 2000
#: characters of each text that are compared: telling long ones apart may take seconds
_COMPARED = 1500


def differences(thing: Diff) -> Picture:
    """The picture of a Diff.

    Parameters
    ----------
    thing : Diff
    """
    return Picture(
        (
            *part("head", lambda: _head(thing)),
            *part("tasks", lambda: _tasks(thing)),
            *part("texts", lambda: _texts(thing)),
        )
    )


def _head(thing: Diff) -> Iterable[Block]:
    told = f"{len(thing.changed):,} of {count(len(thing.rows), 'task')} differ"
    yield Para((bold(told if thing else "no difference in what they gave"),))
    fields: list[tuple[str, Line]] = []
    if thing.input is not None:
        fields.append(("input", _change(*thing.input)))
    fields += [(one_line(name, 40), _change(*pair)) for name, pair in thing.config.items()]
    fields += [
        (one_line(name, 40), (f"changed: {', '.join(what)}",))
        for name, what in list(thing.definitions.items())[:_ROWS]
    ]
    if fields:
        yield Fields(tuple(fields))


def _change(before: Any, after: Any) -> Line:
    return (code(one_line(str(before), 80)), " → ", code(one_line(str(after), 80)))


def _tasks(thing: Diff) -> Iterable[Block]:
    rows = tuple(_row(row) for row in thing.rows[:_ROWS])
    yield Table(("task", "change", "status", "cost", "time"), rows, frozenset({3, 4}))
    if len(thing.rows) > _ROWS:
        yield Para((quiet(f"… {len(thing.rows) - _ROWS:,} more"),))


def _row(row: Mapping[str, Any]) -> tuple[Line, ...]:
    change: Inline = quiet("same") if row["change"] == "same" else bold(row["change"])
    what = f" {', '.join(row['what'])}" if row["what"] else ""
    return (
        (one_line(row["task"], 80),),
        (change, what),
        (_pair(row["status_a"], row["status_b"]),),
        (_pair(dollars(row["cost_usd_a"]), dollars(row["cost_usd_b"])),),
        (_pair(seconds(row["duration_s_a"]), seconds(row["duration_s_b"])),),
    )


def _texts(thing: Diff) -> Iterable[Block]:
    changed = [row for row in thing.rows if "text" in row["what"]]
    for row in changed[:_TEXTS]:
        name = row["task"]
        blocks = [Para(_line(thing.words(name, _COMPARED)))]
        if max(len(row[key] or "") for key in ("text_a", "text_b")) > _COMPARED:
            told = (
                quiet(f"their first {_COMPARED:,} characters; "),
                code("diff.text(…)"),
                " has all",
            )
            blocks.append(Para(told, quiet=True))
        yield Fold((one_line(name, 80),), tuple(blocks))
    if len(changed) > _TEXTS:
        yield Para((quiet(f"… {len(changed) - _TEXTS:,} more texts"),))


def _line(words: Iterable[Words]) -> Line:
    """Two texts as one: what is in the first alone is set off by minus signs, the other by plus."""
    line: list[Inline] = []
    left = _WORDS
    for kind, text in words:
        shown = clip(text, left)
        left -= len(shown)
        line.append(shown if kind == "same" else bold(_MARKS[kind].format(shown.strip())))
        if left <= 0:
            line.append(quiet(" …"))
            break
        line.append(" ")
    return tuple(line)


_MARKS = {"removed": "[−{}−]", "added": "[+{}+]"}


def _pair(a: str | None, b: str | None) -> str:
    return (a or "") if a == b else f"{a or '–'} → {b or '–'}"
