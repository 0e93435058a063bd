"""Reading answers of the OpenAI chat-completions wire, whole or streamed, from any server.

What servers send differs from the documents in many ways; the rules here come from recorded
answers of some thirty of them. Pure: objects in, chunks out. It knows no socket and no request.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from .assembly import without_call_text
from .openai_calls import CallReader
from .openai_errors import error_in, excerpt
from .openai_finish import FinishReader
from .openai_reasoning import ReasoningReader
from .openai_usage import usage_from
from .protocol import Chunk

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["StreamReader", "read_json"]


def read_json(
    payload: Any, model: str = "the model", *, origin: str | None = None, limit: int | None = None
) -> list[Chunk]:
    """Read an answer that came in one piece.

    Parameters
    ----------
    payload : JSON
        The body.
    model : str, optional
        Whom we asked, for errors.
    origin : str, optional
        Whose extras these are; see :func:`~robotlab_nb.models.openai_request.encode`.
    limit : int, optional
        The ``max_tokens`` that was asked for.

    Returns
    -------
    list of Chunk

    Raises
    ------
    ModelError
        When the body holds an error, or no answer.

    Examples
    --------
    >>> answer = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}
    >>> [(c.kind, c.text) for c in read_json(answer)]
    [('text', 'Hi'), ('stop', 'stop')]
    """
    reader = StreamReader(model, origin=origin, limit=limit)
    return reader.feed_whole(payload) + reader.finish()


class StreamReader:
    """Turns the objects of a stream into chunks.

    Parameters
    ----------
    model : str, optional
        Whom we asked, for errors.
    origin : str, optional
        Whose extras these are.
    limit : int, optional
        The ``max_tokens`` that was asked for: it tells a call that was cut from one that was
        badly written, where the server calls both the same.
    secrets : iterable of str, optional
        Values that must not show up in errors.

    Attributes
    ----------
    done : bool
        Whether the server said that it is done (``[DONE]``). Set it when it does.
    failure : ModelError or None
        An error that came inside the stream. The chunks before it remain good as partial text;
        :meth:`finish` raises it.

    Examples
    --------
    >>> reader = StreamReader()
    >>> reader.feed({"choices": [{"delta": {"content": "Hi"}}]})[0].text
    'Hi'
    >>> reader.feed({"choices": [{"delta": {}, "finish_reason": "length"}]})
    []
    >>> reader.finish()[-1].text
    'length'
    """

    __slots__ = (
        "_audio", "_calls", "_finish", "_limit", "_model", "_odd", "_origin", "_reasoning",
        "_refused", "_response", "_secrets", "_seen", "_trailer", "_usage", "done", "failure",
    )  # fmt: skip

    def __init__(
        self,
        model: str = "the model",
        *,
        origin: str | None = None,
        limit: int | None = None,
        secrets: Iterable[str] = (),
    ) -> None:
        self._secrets = tuple(secrets)
        self._model = model
        self._origin = origin
        self._limit = limit
        self._calls = CallReader()
        self._reasoning = ReasoningReader()
        self._finish = FinishReader()
        self._usage: dict[str, Any] = {}
        self._response: dict[str, Any] = {}  # response_id and response_model
        self._audio: dict[str, Any] = {}
        self._refused = False
        self._seen = False  # there was a choice, so id and model are known
        self._trailer = False  # the last object had usage and no choices
        self._odd: Any = None  # the last object that had no choices, for the error
        self.done = False
        self.failure: ModelError | None = None

    def feed(self, obj: Any, event: str | None = None) -> list[Chunk]:
        """Take one object in.

        Parameters
        ----------
        obj : JSON
            What stood in one ``data:`` line.
        event : str, optional
            The event's name, if it had one.

        Returns
        -------
        list of Chunk
            Often one, at times none.
        """
        # A piece of text and nothing else comes by the thousand: read it the short way.
        if self._seen and event is None:
            try:
                choices = obj.get("choices")
                if choices and len(choices) == 1 and not obj.get("usage") and "error" not in obj:
                    choice = choices[0]
                    delta = choice.get("delta")
                    if (
                        delta
                        and not choice.get("finish_reason")
                        and not choice.get("index")
                        and "error" not in choice
                        and (len(delta) == 1 or (len(delta) == 2 and "role" in delta))
                    ):
                        text = delta.get("content")
                        if text and text.__class__ is str:
                            self._trailer = False
                            return [Chunk("text", text)]
            except (AttributeError, KeyError, TypeError):
                pass  # an odd shape: the long way knows what it is
        return self._feed(obj, event)

    def feed_whole(self, payload: Any) -> list[Chunk]:
        """Take in an answer that came in one piece; there will be no more."""
        chunks = self.feed(payload)
        names = [chunk.name for chunk in chunks if chunk.name]
        if names:
            chunks = [
                chunk._replace(text=without_call_text(chunk.text, names))
                if chunk.kind == "text" and "<tool_call>" in chunk.text
                else chunk
                for chunk in chunks
            ]
            chunks = [chunk for chunk in chunks if chunk.kind != "text" or chunk.text]
        self.done = True
        return chunks

    def finish(self) -> list[Chunk]:
        """Say that the answer has ended.

        Returns
        -------
        list of Chunk
            What is known only now: the provider's extras, usage, and the stop.

        Raises
        ------
        ModelError
            The failure that came in the stream; ``protocol`` when there was no choice; ``cut``
            when nothing says that the answer is complete.
        """
        if self.failure is not None:
            raise self.failure
        self._check_complete()
        chunks: list[Chunk] = []
        if self._audio:
            chunks.append(Chunk("part", data={"type": "audio", "audio": self._audio}))
        extras = self._reasoning.extras()
        if extras:
            chunks.append(Chunk("opaque", data=self._owned(extras)))
        for index, call_extras in self._calls.extras():
            chunks.append(Chunk("opaque", index=index, data=self._owned(call_extras)))
        chunks += self.usage()
        data = dict(self._response)
        if self._finish.finish is not None:
            data["finish_reason"] = self._finish.finish
        chunks.append(Chunk("stop", self._stop_reason(), data=data))
        return chunks

    def usage(self) -> list[Chunk]:
        """What was counted so far, as one chunk; none when nothing was."""
        found = usage_from(self._usage)
        return [Chunk("usage", data=found)] if found else []

    @property
    def complete(self) -> bool:
        """Whether the answer, if it ends here, is whole: the server said that it is done or why
        it stopped, or the usage that follows an answer has come.
        """
        return self.done or self._finish.finish is not None or (self._seen and self._trailer)

    # -- reading -----------------------------------------------------------------------------

    def _feed(self, obj: Any, event: str | None) -> list[Chunk]:
        chunks: list[Chunk] = []
        if not isinstance(obj, dict):
            self._odd = obj
            if event == "error":
                self._fail(obj)
            elif self.failure is None:
                self.failure = self._no_answer("JSON that is not an answer")
            return chunks
        for key, name in (("id", "response_id"), ("model", "response_model")):
            value = obj.get(key)
            if value and isinstance(value, str):
                self._response.setdefault(name, value)
        choices = obj.get("choices")
        self._trailer = self._read_usage(obj) and not choices
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and not choice.get("index"):
                self._read_choice(choice, chunks)
        if not choices:
            self._odd = obj
        if obj.get("error") or event == "error" or (not choices and _is_error(obj)):
            self._fail(obj)
        return chunks

    def _read_usage(self, obj: dict[str, Any]) -> bool:
        usage = obj.get("usage")
        if not usage:
            inside = obj.get("x_groq")
            usage = inside.get("usage") if isinstance(inside, dict) else None
        if not isinstance(usage, dict):
            return False
        # It may come often, growing, with nulls until the end: the last of each counts.
        self._usage.update((key, value) for key, value in usage.items() if value is not None)
        return True

    def _read_choice(self, choice: dict[str, Any], chunks: list[Chunk]) -> None:
        delta, message = choice.get("delta"), choice.get("message")
        if isinstance(delta, dict) and (delta or not isinstance(message, dict)):
            self._read_delta(delta, chunks)
        elif isinstance(message, dict) and not self._seen:
            # Beside deltas a message is all that was said so far, once more.
            self._read_delta(message, chunks)
        self._seen = True
        self._finish.read(choice)
        if choice.get("error"):
            self._fail(choice)

    def _read_delta(self, delta: dict[str, Any], chunks: list[Chunk]) -> None:
        thought = self._reasoning.read(delta)
        if thought:
            chunks.append(Chunk("reasoning", thought))
        content = delta.get("content")
        if isinstance(content, list):
            for part in content:
                self._read_part(part, chunks)
        elif content:
            said = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            chunks.append(Chunk("text", said))
        self._read_refusal(delta.get("refusal"), chunks)
        chunks += self._calls.read(delta)
        audio, images = delta.get("audio"), delta.get("images")
        if isinstance(audio, dict):
            self._read_audio(audio, chunks)
        for image in images if isinstance(images, list) else ():
            chunks.append(Chunk("part", data=image))

    def _read_part(self, part: Any, chunks: list[Chunk]) -> None:
        kind = part.get("type") if isinstance(part, dict) else None
        text: Any = part
        if kind in ("text", "output_text"):
            text = part.get("text")
        if isinstance(text, str):
            if text:
                chunks.append(Chunk("text", text))
        elif kind == "thinking":
            thought = self._reasoning.read_part(part)
            if thought:
                chunks.append(Chunk("reasoning", thought))
        elif kind == "refusal":
            self._read_refusal(part.get("refusal"), chunks)
        else:
            chunks.append(Chunk("part", data=part))

    def _read_refusal(self, refusal: Any, chunks: list[Chunk]) -> None:
        if refusal and isinstance(refusal, str):
            self._refused = True
            chunks.append(Chunk("refusal", refusal))

    def _read_audio(self, audio: dict[str, Any], chunks: list[Chunk]) -> None:
        """Sound is kept as a part; what it says is the text."""
        spoken = audio.get("transcript")
        if not (spoken or audio.get("data") or audio.get("id")):
            return
        if isinstance(spoken, str) and spoken:
            chunks.append(Chunk("text", spoken))
        for key, value in audio.items():
            before = self._audio.get(key)
            grows = key in ("data", "transcript") and isinstance(value, str) and before
            self._audio[key] = before + value if grows else value

    # -- ending ------------------------------------------------------------------------------

    def _fail(self, error: Any) -> None:
        if self.failure is None:
            self.failure = error_in(error, self._model, secrets=self._secrets)

    def _no_answer(self, said: str) -> ModelError:
        text = json.dumps(self._odd, ensure_ascii=False)
        return self._error(
            f"answered with {said}: {excerpt(text, self._secrets, 120)}", "protocol", text
        )

    def _error(self, said: str, kind: str, body: str | None = None) -> ModelError:
        return ModelError(
            f"{self._model} {said}",
            retryable=True,
            billed=True,
            status=200,
            kind=kind,
            body=None if body is None else excerpt(body, self._secrets),
        )

    def _check_complete(self) -> None:
        if not self.complete:
            raise self._error("broke off before its answer was complete", "cut")
        if not self._seen:
            raise self._no_answer("no choices")
        if self._finish.stop == "error":
            raise self._error(f"gave up: finish reason {self._finish.finish!r}", "server")

    def _stop_reason(self) -> str:
        stop = self._finish.stop
        if stop in ("length", "refused"):
            return stop
        if self._refused:
            return "refused"
        if stop == "content_filter":
            return stop
        if not self._calls:
            return "" if stop == "tool" else stop
        return "length" if self._is_cut() else "tool"

    def _is_cut(self) -> bool:
        """Whether the last call was cut at the limit of tokens, whatever the server calls it."""
        written = self._usage.get("completion_tokens")
        at_limit = self._limit and isinstance(written, int) and written >= self._limit
        return bool(at_limit) and not self._calls.last_is_whole()

    def _owned(self, extras: dict[str, Any]) -> dict[str, Any]:
        return {**extras, "origin": self._origin} if self._origin else extras


def _is_error(obj: dict[str, Any]) -> bool:
    """Whether an object without choices is an error, though it has no ``error``."""
    if obj.get("object") == "error" or obj.get("type") == "error" or obj.get("detail"):
        return True
    return isinstance(obj.get("message"), str) and ("code" in obj or "type" in obj)
