"""The few hashes that name things by content. Cache, tape, compare and resume use no other."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from .json import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["cell_key", "digest", "request_key", "task_fingerprint", "text_hash"]


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
    definition: Mapping[str, Any],
    robot_config: Mapping[str, Any] | None,
    tool_schemas: Iterable[Mapping[str, Any]],
    functions: Iterable[Callable[..., Any]] = (),
) -> str:
    """Name a task by everything that decides what it does, so that a change is noticed on resume.

    Parameters
    ----------
    definition : mapping
        The task as declared (JSON).
    robot_config : mapping or None
        The robot's effective configuration (JSON).
    tool_schemas : iterable of mapping
    functions : iterable of callable
        Their source counts where it can be read.
    """
    import inspect

    sources: list[str | None] = []
    for function in functions:
        try:
            sources.append(inspect.getsource(function))
        except (OSError, TypeError):
            sources.append(None)
    return digest([definition, robot_config, list(tool_schemas), sources])
