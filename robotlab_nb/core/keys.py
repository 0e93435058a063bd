"""The few hashes that name things by content. Cache, tape, compare and resume use no other."""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from .json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["cell_key", "digest", "request_key", "task_fingerprint", "text_hash"]

#: characters of a part's digest: enough to tell two versions of one task apart
_SHORT = 16
#: sources as they were read first: a file may be changed while what was read of it still runs
_sources: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()


def digest(value: Any) -> str:
    """SHA-256 of a JSON value in its canonical form, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def text_hash(text: str | None) -> str | None:
    """SHA-256 of a text (of a system prompt, say); None for none."""
    if text is None:
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def request_key(
    message_ids: Iterable[str],
    tools_key: str,
    params: Mapping[str, Any],
    model: str,
    endpoint: str | None,
) -> str:
    """Name a model request by its content.

    Parameters
    ----------
    message_ids : iterable of str
        The ids of the messages sent, in order.
    tools_key : str
        :func:`digest` of the tool schemas sent, ``""`` for none.
    params : mapping
        Sampling parameters.
    model, endpoint : str
        Whom we asked, and where.

    Examples
    --------
    >>> a = request_key(["m1"], "", {"temperature": 0}, "openai/x", None)
    >>> a == request_key(["m1"], "", {"temperature": 0}, "openai/x", None)
    True
    >>> a == request_key(["m1"], "", {"temperature": 1}, "openai/x", None)
    False
    """
    try:
        extra = canonical(params).decode() if params else ""
    except (TypeError, ValueError):
        extra = repr(sorted(params.items(), key=lambda item: item[0]))
    joined = "\n".join((*message_ids, "", tools_key, extra, model, endpoint or ""))
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()


def cell_key(content: Any, occurrence: int = 0, repeat: int = 0) -> str:
    """Name a cell of a comparison: its content, its n-th occurrence, its n-th repeat."""
    return digest([content, occurrence, repeat])


def task_fingerprint(
    parts: Mapping[str, Any], functions: Iterable[Callable[..., Any] | type] = ()
) -> dict[str, str]:
    """Name a task by everything that decides what it gives, part by part.

    Two fingerprints are compared part by part, so that it can be said what changed.

    Parameters
    ----------
    parts : mapping of str to JSON
        What a part is called, and what it says: the definition, the model, the tools' schemas …
    functions : iterable of callable
        Their source counts where it can be read.

    Returns
    -------
    dict of str to str
        A digest of each part, and one of the functions as ``"source"``.

    Examples
    --------
    >>> before = task_fingerprint({"model": "openai/x", "prompt": "Hi"})
    >>> after = task_fingerprint({"model": "openai/y", "prompt": "Hi"})
    >>> [part for part in after if after[part] != before[part]]
    ['model']
    """
    found = {name: digest(value)[:_SHORT] for name, value in parts.items()}
    sources = [_source(function) for function in functions]
    if any(source is not None for source in sources):
        found["source"] = digest(sources)[:_SHORT]
    return found


def _source(function: Any) -> str | None:
    """What a function or a class was written as; None where that cannot be read."""
    function = getattr(function, "func", function)  # of a functools.partial
    function = getattr(function, "__func__", function)
    if not isinstance(function, type) and not hasattr(function, "__code__"):
        function = type(function).__call__
    code = getattr(function, "__code__", function)
    try:
        return _sources[code]
    except (KeyError, TypeError):
        pass
    import inspect

    try:
        found: str | None = inspect.getsource(function)
    except (OSError, TypeError):
        found = None
    with contextlib.suppress(TypeError):  # what C code is made of cannot be kept
        _sources[code] = found
    return found
