"""Texts as vectors whose nearness is nearness of meaning, by a model that makes such vectors.

Three ways, as for answers: the OpenAI wire directly, litellm for other providers, a function.
What comes back is checked and scaled to length 1. It knows nothing of what is compared.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from math import fsum, hypot, isfinite
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.config import DEFAULTS
from ..core.errors import ConfigurationError, InputError, ModelError, RobotLabError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

    from .protocol import Model

    Ask = Callable[[list[str], float | None], Awaitable[Any]]

__all__ = ["cosine", "embed", "name_of"]

#: Texts, and characters together, of one request: below every provider's limits.
_TEXTS = 256
_CHARACTERS = 400_000
#: Requests under way at once.
_AT_ONCE = 4


async def embed(
    model: Any,
    texts: Sequence[str],
    *,
    api_base: str | None = None,
    api_key: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> list[list[float]]:
    """Make a vector of each text.

    Parameters
    ----------
    model : str, Model or callable
        ``provider/name``: directly for ``openai``, ``ollama``, ``hosted_vllm`` and any
        ``api_base``, else through litellm. Or a function, sync or async, from a list of texts to
        as many vectors.
    texts : sequence of str
        None of them blank. Many are asked for in several requests.
    api_base, api_key : str, optional
        As for a robot.
    settings : mapping, optional
        ``attempts``, ``model_timeout`` (seconds for one request, its repetitions included) and
        the ``retry_…`` settings; the defaults where left out.

    Returns
    -------
    list of list of float
        One for each text, in order, of one length, scaled to length 1 (one of zeros stays so).

    Raises
    ------
    ModelError
        When it failed or gave no usable vectors: too few, of several lengths, not numbers.
    ConfigurationError
        When there is no such model, or it makes no vectors.
    InputError
        For a blank text: no provider takes it.

    Examples
    --------
    >>> import asyncio
    >>> def letters(texts):
    ...     return [[text.count("a"), text.count("b")] for text in texts]
    >>> asyncio.run(embed(letters, ["abba", "aaa"]))
    [[0.70..., 0.70...], [1.0, 0.0]]
    """
    texts = [*texts]
    for number, text in enumerate(texts):
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                f"text {number} of {len(texts)} is blank or no text: {text!r:.40}",
                hint="Leave it out: there is nothing in it to compare.",
            )
    limits = {**DEFAULTS, **(settings or {})}
    name = name_of(model)
    found = _found(model, api_base, api_key)

    async def ask_all(asked: list[str]) -> list[list[float]]:
        ask = _by_function(model) if found is None else _by_model(found)
        batches: list[Awaitable[list[list[float]]]] = [
            _request(name, ask, batch, limits) for batch in _batches(asked)
        ]
        return [vector for batch in await _side_by_side(batches) for vector in batch]

    if found is None or limits["tape"] is None:
        vectors = await ask_all(texts)
    else:
        from .tape_vectors import vectors_on_tape

        vectors = await vectors_on_tape(limits["tape"], found, texts, ask_all)
    if len({len(vector) for vector in vectors}) > 1:
        raise _unusable(name, "gave vectors of several lengths")
    return vectors


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    """How near two vectors of length 1 are: 1 for equal ones, 0 for unrelated ones.

    Parameters
    ----------
    a, b : sequence of float
        As :func:`embed` returns them.

    Returns
    -------
    float
        From -1 to 1.

    Examples
    --------
    >>> cosine([1.0, 0.0], [0.6, 0.8])
    0.6
    """
    return max(-1.0, min(1.0, fsum(x * y for x, y in zip(a, b, strict=True))))


def name_of(model: Any) -> str:
    """What an embedding model is called in events and errors.

    Examples
    --------
    >>> name_of("openai/text-embedding-3-small"), name_of(len)
    ('openai/text-embedding-3-small', 'len')
    """
    if isinstance(model, str):
        return model
    own = getattr(model, "name", None) or getattr(model, "__name__", None)
    return own if isinstance(own, str) else type(model).__name__


# -- whom to ask -----------------------------------------------------------------------------


def _found(model: Any, api_base: str | None, api_key: str | None) -> Model | None:
    """The model that is meant; None for a function."""
    from .protocol import Model

    if callable(model) and not isinstance(model, (Model, type)):
        return None
    if model is None:
        raise ConfigurationError(
            "no embedding model is named", hint="Write 'openai/text-embedding-3-small', say."
        )
    from .resolve import resolve

    return resolve(model, api_base=api_base, api_key=api_key)


def _by_model(found: Model) -> Ask:
    from .direct import DirectModel
    from .litellm import LiteLLMModel

    if isinstance(found, DirectModel):
        direct = found

        async def ask_directly(texts: list[str], seconds: float | None) -> Any:
            body = {"model": direct.model, "input": texts}
            return _read(await direct.post("/embeddings", body, timeout=seconds), found.name)

        return ask_directly
    if isinstance(found, LiteLLMModel):
        through = found

        async def ask_through(texts: list[str], seconds: float | None) -> Any:
            return _listed(await through.embed(texts, timeout=seconds), found.name)

        return ask_through
    raise ConfigurationError(
        f"{found.name} makes no vectors of texts",
        hint="Name an embedding model, pass a function, or leave it out: words are compared then.",
    )


def _by_function(function: Callable[[list[str]], Any]) -> Ask:
    from ..runtime.threads import in_thread

    async def ask(texts: list[str], seconds: float | None) -> Any:
        import asyncio
        import inspect

        try:
            async with asyncio.timeout(seconds) as limit:
                if inspect.iscoroutinefunction(function):
                    return await function(texts)
                given = await in_thread(lambda: function(texts))
                return await given if inspect.isawaitable(given) else given
        except RobotLabError:
            raise
        except Exception as error:
            if limit.expired():
                raise ModelError(f"{name_of(function)} was too slow", kind="timeout") from None
            said = f"failed: {type(error).__name__}: {error}"
            raise ModelError(f"{name_of(function)} {said}", kind="model") from error

    return ask


# -- one request after another ---------------------------------------------------------------


def _batches(texts: list[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _TEXTS or size + len(text) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


async def _side_by_side(work: list[Awaitable[list[list[float]]]]) -> list[list[list[float]]]:
    import asyncio

    if len(work) == 1:
        return [await work[0]]
    places = asyncio.Semaphore(_AT_ONCE)

    async def one(batch: Awaitable[list[list[float]]]) -> list[list[float]]:
        async with places:
            return await batch

    tasks = [asyncio.ensure_future(one(batch)) for batch in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


async def _request(
    name: str, ask: Ask, texts: list[str], settings: Mapping[str, Any]
) -> list[list[float]]:
    """Ask for the vectors of one batch, as often and as long as the settings allow."""
    import asyncio

    began = monotonic()
    timeout: float | None = settings["model_timeout"]
    attempt = 1
    while True:
        left = None if timeout is None else max(0.0, timeout - (monotonic() - began))
        try:
            return _checked(await ask(texts, left), len(texts), name)
        except ModelError as error:
            spent = monotonic() - began
            if error.kind == "timeout" and timeout is not None and spent >= timeout:
                raise ModelError(
                    f"{name} gave no vectors within {timeout:g} s",
                    hint="Raise model_timeout.", kind="timeout", billed=error.billed,
                ) from None  # fmt: skip
            wait = _pause(error, attempt, settings)
            if wait is None or (timeout is not None and spent + wait >= timeout):
                raise
        attempt += 1
        await asyncio.sleep(wait)


def _pause(error: ModelError, attempt: int, settings: Mapping[str, Any]) -> float | None:
    """Seconds to wait before asking again; None when that makes no sense."""
    if not error.retryable or attempt >= settings["attempts"]:
        return None
    if error.retry_after is not None:
        return max(0.0, error.retry_after)
    wait: float = settings["retry_interval"] * settings["retry_backoff"] ** (attempt - 1)
    wait *= 1 + settings["retry_jitter"] * random.random()
    return wait


# -- what comes back -------------------------------------------------------------------------


def _unusable(name: str, what: str) -> ModelError:
    return ModelError(f"{name} {what}", billed=True, kind="protocol")


def _read(body: bytes, name: str) -> Any:
    from .openai_errors import error_from, error_in

    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        raise error_from(200, {}, body, name, billed=True) from None
    if isinstance(payload, dict) and payload.get("error") and "data" not in payload:
        raise error_in(payload, name)
    return _listed(payload, name)


def _listed(payload: Any, name: str) -> Any:
    """The vectors of an answer of OpenAI's shape, by their indices."""
    data = payload.get("data") if isinstance(payload, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise _unusable(name, "answered without a list of vectors")
    indices = [entry.get("index") for entry in data]
    if all(type(index) is int for index in indices) and len(set(indices)) == len(indices):
        data = sorted(data, key=lambda entry: entry["index"])
    return [entry.get("embedding") for entry in data]


def _checked(given: Any, number: int, name: str) -> list[list[float]]:
    """Vectors as lists of numbers, scaled to length 1."""
    if hasattr(given, "tolist"):
        given = given.tolist()
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, dict)):
        raise _unusable(name, f"gave no list of vectors, but {type(given).__name__}")
    rows = list(given)
    if len(rows) != number:
        raise _unusable(name, f"gave {len(rows)} vectors for {number} texts")
    vectors = [_unit(row, name) for row in rows]
    if len({len(vector) for vector in vectors}) > 1:
        raise _unusable(name, "gave vectors of several lengths")
    return vectors


def _unit(row: Any, name: str) -> list[float]:
    if hasattr(row, "tolist"):
        row = row.tolist()
    if isinstance(row, (str, bytes)) or not isinstance(row, Iterable):
        raise _unusable(name, f"gave a vector that is none: {row!r:.40}")
    try:
        values = [float(value) for value in row]
    except (TypeError, ValueError, OverflowError):
        raise _unusable(name, "gave a vector with something in it that is no number") from None
    length = hypot(*values)
    if not values or not all(map(isfinite, values)):
        what = "infinite or not a number (NaN) in it" if values else "nothing in it"
        raise _unusable(name, f"gave a vector with {what}")
    if length == 0.0:
        return values
    if not isfinite(length):  # too large for their sum, one by one not
        largest = max(map(abs, values))
        return _unit([value / largest for value in values], name)
    return [value / length for value in values]
