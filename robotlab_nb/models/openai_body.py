"""From the bytes of an answer's body to chunks, whatever the server calls them.

The kind of body is told by looking at it: servers answer a stream with JSON, JSON with a stream,
both with a web page, and label each as another. It does no I/O and knows no headers.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from .openai_answer import StreamReader
from .openai_errors import error_from, error_in, excerpt
from .sse import EventReader

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .protocol import Chunk

__all__ = ["BodyReader"]

_decode = json.JSONDecoder().raw_decode
_FIELDS = (b"data:", b"event:", b":", b"id:", b"retry:")
_BLANK = b" \t\r\n\xef\xbb\xbf"


class BodyReader:
    r"""Reads the body of one answer whose status was good.

    Parameters
    ----------
    model : str
        Whom we asked, for errors.
    origin : str, optional
        Whose extras these are.
    limit : int, optional
        The ``max_tokens`` that was asked for.
    secrets : iterable of str, optional
        Values that must not show up in errors.

    Attributes
    ----------
    started : bool
        Whether any byte came.
    failure : ModelError or None
        Why there is no answer, or only part of one; to be raised after the chunks.

    Examples
    --------
    >>> body = BodyReader("m")
    >>> body.feed(b'data: {"choices": [{"delta": {"content": "Hi"}}]}\n\ndata: [DONE]\n\n')
    [Chunk(kind='text', text='Hi', index=None, id=None, name=None, data=None)]
    >>> body.ended, body.finish()[-1].kind
    (True, 'stop')
    """

    __slots__ = (
        "_blocks", "_events", "_kind", "_model", "_reader", "_secrets", "_some", "failure",
        "started",
    )  # fmt: skip

    def __init__(
        self,
        model: str,
        *,
        origin: str | None = None,
        limit: int | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        self._model = model
        self._secrets = tuple(secrets)
        self._reader = StreamReader(model, origin=origin, limit=limit, secrets=self._secrets)
        self._events = EventReader()
        self._blocks: list[bytes] = []  # all of a body that is not a stream, else its start
        self._kind = ""
        self._some = False  # an event came
        self.started = False
        self.failure: ModelError | None = None

    @property
    def done(self) -> bool:
        """Whether the server said that the stream is done."""
        return self._reader.done

    @property
    def ended(self) -> bool:
        """Whether the rest of the body does not matter: the stream is done, or it failed."""
        return self._reader.done or self._reader.failure is not None

    def feed(self, block: bytes) -> list[Chunk]:
        """Take bytes in; return the chunks that are complete."""
        if self._kind == "stream":
            return self._read(self._events.feed(block))
        self.started = self.started or bool(block)
        self._blocks.append(block)
        if not self._kind and block.strip(_BLANK):
            start = b"".join(self._blocks)
            if start.lstrip(_BLANK)[:1] in (b"{", b"[", b"<"):
                self._kind = "whole"
            else:
                self._kind = "stream"
                self._blocks = [start[:2000]]
                return self._read(self._events.feed(start))
        return []

    def finish(self) -> list[Chunk]:
        """Say that the body has ended.

        Returns
        -------
        list of Chunk
            What is known only now. When the body held an error, no answer or half an answer,
            ``failure`` is set too.
        """
        try:
            chunks = self._rest() if self._kind == "stream" else self._whole()
        except ModelError as error:
            self.failure = error
            return []
        try:
            return chunks + self._reader.finish()
        except ModelError as error:
            self.failure = error
            return chunks + self._reader.usage()

    # -- a stream ------------------------------------------------------------------------------

    def _read(self, events: Iterable[tuple[str | None, str]], last: bool = False) -> list[Chunk]:
        chunks: list[Chunk] = []
        reader = self._reader
        feed = reader.feed
        for name, data in events:
            self._some = True
            try:
                obj, end = _decode(data)
                if end != len(data):
                    obj = json.loads(data)
            except (ValueError, RecursionError):
                obj = self._odd_data(name, data, last)
                if obj is None:
                    if self.ended:
                        break
                    continue
            found = feed(obj, name)
            if found:
                chunks += found
            if reader.failure is not None:
                break
        return chunks

    def _odd_data(self, name: str | None, data: str, last: bool) -> Any:
        """What to do with data that is not plain JSON: read it, or end, or pass it over."""
        text = data.strip()
        if text == "[DONE]":
            self._reader.done = True
            return None
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            pass
        if not text or last:  # an event that was cut: the reader knows whether it matters
            return None
        if name == "error":
            self._reader.failure = error_in(text, self._model, secrets=self._secrets)
        else:
            self._reader.failure = ModelError(
                f"{self._model} sent an event that is not JSON: "
                f"{excerpt(text, self._secrets, 120)}",
                retryable=True,
                billed=True,
                status=200,
                kind="protocol",
                body=excerpt(text, self._secrets),
            )
        return None

    def _rest(self) -> list[Chunk]:
        if self.ended:
            return []
        chunks = self._read(self._events.finish(), last=True)
        if not self._some and not self._is_stream():
            raise self._not_json(b"".join(self._blocks))
        return chunks

    def _is_stream(self) -> bool:
        start = b"".join(self._blocks).lstrip(_BLANK)
        return any(start.startswith(field) or field.startswith(start) for field in _FIELDS)

    # -- a body that is not a stream -------------------------------------------------------------

    def _whole(self) -> list[Chunk]:
        body = b"".join(self._blocks)
        text = body.decode("utf-8", "replace").lstrip("\ufeff")
        unfinished = not text.strip()
        try:
            return self._reader.feed_whole(json.loads(text))
        except json.JSONDecodeError as error:
            ends = error.msg.startswith("Unterminated") or len(text) - error.pos < 8
            unfinished = unfinished or (ends and text.lstrip()[:1] in ("{", "["))
        except (ValueError, RecursionError):
            pass
        # Raised here, so that the decoder's error, which holds all of the text, is not its context.
        raise self._cut(text) if unfinished else self._not_json(body)

    def _cut(self, text: str) -> ModelError:
        return ModelError(
            f"{self._model} broke off before its answer was complete",
            retryable=True,
            billed=self.started,
            status=200,
            kind="cut",
            body=excerpt(text, self._secrets),
        )

    def _not_json(self, body: bytes) -> ModelError:
        return error_from(200, {}, body, self._model, secrets=self._secrets, billed=True)
