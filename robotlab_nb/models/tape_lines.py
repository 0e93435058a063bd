"""What a tape says of a model call: what was asked, and what each attempt said, failed with, took.

Texts stand whole and can be read; beside them stands where they were cut into pieces, and when
each piece came. Knows JSON and the pieces of answers, neither files nor runs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ModelError, describe_error
from ..core.usage import Usage
from .protocol import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..core.messages import Message
    from .protocol import Request

__all__ = ["Attempt", "Piece", "Take", "about_request", "attempt_line", "read", "short"]

#: hexadecimal digits of an id on a tape
_DIGITS = 16
#: digits after the point of a time: a tenth of a millisecond
PLACES = 4
#: what a request's options may hold and no tape does
_HEADERS = ("headers", "extra_headers", "default_headers")

Piece = tuple[Chunk, float]


class Attempt(NamedTuple):
    """An attempt as it was: its pieces with their times, what it failed with, how long it took."""

    pieces: Sequence[Piece]
    started_s: float
    duration_s: float
    first_s: float | None
    error: Mapping[str, Any] | None
    wait_s: float | None

    def failure(self) -> ModelError | None:
        """What it failed with, made again."""
        if self.error is None:
            return None
        told = self.error
        return ModelError(
            told.get("message", ""), hint=told.get("hint"), retryable=told.get("retryable"),
            retry_after=told.get("retry_after"), billed=bool(told.get("billed")),
            status=told.get("status"), kind=told.get("kind", "server"), body=told.get("body"),
        )  # fmt: skip


class Take(NamedTuple):
    """A model call as it was: its attempts, and what the answer took; None where there is none."""

    attempts: tuple[Attempt, ...]
    usage: Usage | None

    @property
    def failed(self) -> bool:
        """Whether there was no answer in the end."""
        return not self.attempts or self.attempts[-1].error is not None


def short(digest: str) -> str:
    """An id as it stands on a tape."""
    return digest[:_DIGITS]


# -- what was asked --------------------------------------------------------------------------


def about_request(
    request: Request, ids: Sequence[str], tools_key: str
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What was asked, as fields of a call's line, and the lines that these name.

    Parameters
    ----------
    request : Request
    ids : sequence of str
        Of its messages.
    tools_key : str
        Digest of its tools and of what the answer must be.
    """
    about: dict[str, Any] = {"messages": [short(i) for i in ids]}
    lines: list[dict[str, Any]] = [
        {"message": short(i), "role": m.role, "parts": _parts(m)}
        for i, m in zip(ids, request.messages, strict=True)
    ]
    output = request.output
    if request.tools or output is not None:
        about["tools"] = short(tools_key)
        told: dict[str, Any] = {
            "toolset": short(tools_key),
            "tools": [
                {"name": t.name, "description": t.description, "parameters": t.parameters}
                for t in request.tools
            ],
        }
        if output is not None:
            told["output"] = {"name": output.name, "schema": output.schema, "mode": output.mode}
        lines.append(told)
    if request.params:
        about["params"] = {
            name: "(left out)" if name in _HEADERS else value
            for name, value in request.params.items()
        }
    return about, list({json.dumps(list(line.values())[:1]): line for line in lines}.values())


def _parts(message: Message) -> list[dict[str, Any]]:
    """The parts of a message without our own ids, which are others in each run."""
    told = message.to_dict(most_media=0)["parts"]
    return [{k: v for k, v in part.items() if k != "id"} for part in told]


# -- what was said ---------------------------------------------------------------------------


def attempt_line(
    pieces: Iterable[Piece],
    *,
    started_s: float,
    duration_s: float,
    first_s: float | None,
    error: ModelError | None = None,
    wait_s: float | None = None,
) -> dict[str, Any]:
    """An attempt as JSON.

    Parameters
    ----------
    pieces : iterable of (Chunk, float)
        What came, and when, in seconds from the attempt's start.
    started_s, duration_s, first_s : float
        Seconds: from the call's start to the attempt's, to its end, and of the call's first piece.
    error : ModelError, optional
    wait_s : float, optional
        Seconds that were waited after it.
    """
    line: dict[str, Any] = {"started_s": round(started_s, PLACES)}
    if first_s is not None:
        line["first_s"] = round(first_s, PLACES)
    line["duration_s"] = round(duration_s, PLACES)
    line["said"] = _said(pieces)
    if error is not None:
        told = describe_error(error)
        line["error"] = {**told, "billed": error.billed}
        if error.body:
            line["error"]["body"] = error.body
        if wait_s is not None:
            line["wait_s"] = round(wait_s, PLACES)
    return line


def _said(pieces: Iterable[Piece]) -> list[dict[str, Any]]:
    """Pieces as segments: what is one text stands as one, with the places where it was cut."""
    found: list[dict[str, Any]] = []
    texts: list[list[tuple[str, float]]] = []
    for chunk, at in pieces:
        last = found[-1] if found else None
        alike = (
            last is not None
            and last["kind"] == chunk.kind
            and last.get("index") == chunk.index
            and "data" not in last
        )
        if alike and chunk.data is None and not chunk.id and not chunk.name and chunk.text:
            texts[-1].append((chunk.text, at))
            continue
        segment: dict[str, Any] = {"kind": chunk.kind}
        for name in ("index", "id", "name", "data"):
            value = getattr(chunk, name)
            if value is not None:
                segment[name] = value
        found.append(segment)
        texts.append([(chunk.text, at)])
    for segment, text in zip(found, texts, strict=True):
        segment["text"] = "".join(piece for piece, _ in text)
        segment["cuts"] = [n for piece, at in text for n in (len(piece), round(at, PLACES))]
        if not segment["text"]:
            del segment["text"]
    return found


def read(line: Mapping[str, Any]) -> Take:
    """A call as its line says it.

    Parameters
    ----------
    line : mapping

    Examples
    --------
    >>> said = attempt_line([(Chunk("text", "Hel"), 0.1), (Chunk("text", "lo"), 0.25)],
    ...                     started_s=0.0, duration_s=0.3, first_s=0.1)
    >>> said["said"]
    [{'kind': 'text', 'text': 'Hello', 'cuts': [3, 0.1, 2, 0.25]}]
    >>> take = read({"attempts": [said], "usage": {}})
    >>> [(chunk.text, at) for chunk, at in take.attempts[0].pieces]
    [('Hel', 0.1), ('lo', 0.25)]
    """
    attempts = tuple(
        Attempt(
            [piece for segment in told.get("said", ()) for piece in _pieces(segment)],
            _seconds(told.get("started_s")) or 0.0, _seconds(told.get("duration_s")) or 0.0,
            _seconds(told.get("first_s")), _error(told.get("error")), _seconds(told.get("wait_s")),
        )
        for told in line["attempts"]
    )  # fmt: skip
    usage = line.get("usage")
    if not attempts or (usage is None and attempts[-1].error is None):
        raise ValueError("it has no end")
    return Take(attempts, None if usage is None else Usage.from_dict(_counts(usage)))


# A person may have written a tape, or somebody who means no good: what is read is made sure of.


def _seconds(value: Any) -> Any:
    """Seconds; None stays None."""
    if value is None or (type(value) in (int, float) and 0 <= value < 1e9):
        return value
    raise ValueError(f"{value!r:.40} are no seconds")


def _counts(told: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens and costs."""
    for name, value in told.items():
        if not (value is None or isinstance(value, bool) or 0 <= value < 1e12):
            raise ValueError(f"{name} is {value!r:.40}")
    return {name: value for name, value in told.items() if value is not None}


def _error(told: Any) -> Mapping[str, Any] | None:
    """What an attempt failed with."""
    if told is None:
        return None
    kinds = {"message": str, "hint": str, "kind": str, "body": str, "status": int}
    for name, kind in kinds.items():
        if not isinstance(told.get(name), (kind, type(None))):
            raise ValueError(f"its error's {name} is {told[name]!r:.40}")
    _seconds(told.get("retry_after"))
    return {**told, "message": told.get("message") or ""}


def _data(kind: str, told: Any) -> Any:
    """What a piece holds besides text."""
    if told is None or kind == "part":
        return told
    if not isinstance(told, dict):
        raise ValueError(f"a piece holds {told!r:.40}")
    if kind == "usage":
        return _counts(told)
    if kind == "stop" and not all(v is None or isinstance(v, str) for v in told.values()):
        raise ValueError(f"it ends with {told!r:.80}")
    return told


def _pieces(segment: Mapping[str, Any]) -> Iterable[Piece]:
    """The pieces of a segment. Its text may be another than was cut (a person has changed it, a
    secret in it is masked): all of it is given.
    """
    text, cuts = segment.get("text", ""), segment.get("cuts") or [0, 0.0]
    kind, index = segment["kind"], segment.get("index")
    words = (text, kind, segment.get("id") or "", segment.get("name") or "")
    if not (all(isinstance(word, str) for word in words) and isinstance(index, (int, type(None)))):
        raise ValueError(f"a piece is {segment!r:.80}")
    for at in cuts:
        _seconds(at)
    about = (segment.get("id"), segment.get("name"), _data(kind, segment.get("data")))
    begin, last = 0, len(cuts) // 2 - 1
    for n in range(last + 1):
        end = len(text) if n == last else begin + int(cuts[2 * n])
        yield Chunk(kind, text[begin:end], index, *about), cuts[2 * n + 1]
        begin, about = end, (None, None, None)
