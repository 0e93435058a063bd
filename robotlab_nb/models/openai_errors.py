"""Reading what an OpenAI-compatible server says when it does not answer.

From status, headers and body (or from an ``error`` inside an answer) to one ``ModelError`` that
says what was wrong, whether to try again, and when. It knows nothing of sockets or attempts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from ..core.secrets import redact
from .retry_after import retry_after_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["EXCERPT", "error_from", "error_in", "excerpt"]

#: Characters of a body that an error keeps.
EXCERPT = 500

_RETRYABLE = frozenset({408, 409, 425, 429, 498})
_KINDS = {
    401: "auth",
    402: "auth",
    403: "auth",
    404: "not_found",
    408: "timeout",
    409: "server",
    429: "rate_limit",
    498: "overloaded",
    503: "overloaded",
    504: "timeout",
    524: "timeout",
    529: "overloaded",
}
#: error codes and types that say more than the status does
_CODES = {
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
    "responsibleaipolicyviolation": "content_filter",
    "context_length_exceeded": "context_length",
    "exceed_context_size_error": "context_length",
    "string_above_max_length": "context_length",
    "model_not_found": "not_found",
    "deploymentnotfound": "not_found",
    "invalid_model": "not_found",
    "not_found_error": "not_found",
    "invalid_api_key": "auth",
    "authentication_error": "auth",
    "permission_error": "auth",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "ratelimitreached": "rate_limit",
    "insufficient_quota": "rate_limit",
    "overloaded_error": "overloaded",
}
#: the status that an error inside an answer would have had, where it names none
_STATUSES = {
    "auth": 401,
    "not_found": 404,
    "context_length": 400,
    "content_filter": 400,
    "rate_limit": 429,
    "overloaded": 529,
}
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_NEVER = frozenset({"context_length", "content_filter"})

_TOO_LONG = re.compile(
    r"context (?:length|window|size)|maximum (?:context|number of tokens)|prompt is too long"
    r"|too many (?:input )?tokens|exceeds? the (?:maximum|available) (?:number of tokens|context)"
    r"|reduce the length of the messages",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _](?:filter|management|policy)|violates? (?:our |the )?(?:usage|content|safety)"
    r"|was flagged",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"(?:invalid|incorrect|not valid|missing).{0,30}\bapi[ _-]?key"
    r"|api[ _-]?key.{0,30}(?:invalid|incorrect|not valid|missing)",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"(?:invalid|unknown|no such) model\b|\bmodel\b.{0,80}(?:not found|does not exist)",
    re.IGNORECASE,
)
_SECRETS = re.compile(
    r"(?i:bearer)\s+[^\s\"',;]{6,}|\b(?:sk|rk|pk|gsk|xai|pplx|csk|nvapi|hf|r8)[-_][A-Za-z0-9_-]{8,}"
    r"|\bAIza[0-9A-Za-z_-]{20,}"
)


def error_from(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    model: str,
    *,
    key_name: str | None = None,
    secrets: Iterable[str] = (),
    billed: bool = False,
) -> ModelError:
    """Make the error that an HTTP answer means.

    Parameters
    ----------
    status : int
        The HTTP status.
    headers : mapping
        The answer's headers.
    body : bytes
        Its body, of any kind: JSON of any provider's shape, HTML, nothing.
    model : str
        Whom we asked, for the message.
    key_name : str, optional
        The environment variable that holds the key, for the hint.
    secrets : iterable of str, optional
        Values that must not show up in the error.
    billed : bool, optional
        Whether the provider may have charged for it.

    Returns
    -------
    ModelError
        Not raised. ``kind``, ``retryable``, ``retry_after`` (seconds), ``status`` and ``body`` (at
        most 500 characters, keys blotted out) are set.

    Examples
    --------
    >>> error = error_from(429, {"retry-after": "2"}, b'{"error": {"message": "slow down"}}', "m")
    >>> error.kind, error.retryable, error.retry_after
    ('rate_limit', True, 2.0)
    >>> print(error)
    m answered 429: slow down
    """
    secrets = tuple(secrets)
    text = body.decode("utf-8", "replace")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return _not_json(status, headers, text, model, secrets, billed)
    prefix = f"{model} answered {status}"
    return _failure(payload, prefix, status, headers, text, secrets, key_name, billed)


def error_in(
    payload: Any,
    model: str,
    *,
    key_name: str | None = None,
    secrets: Iterable[str] = (),
) -> ModelError:
    """Make the error that stands inside an answer whose status was 200.

    Parameters
    ----------
    payload : JSON
        The object that holds the error, or the error itself.
    model : str
        Whom we asked.
    key_name, secrets
        As in :func:`error_from`.

    Returns
    -------
    ModelError
        Not raised. ``status`` is the one that the error names, else 200; ``billed`` is True.

    Examples
    --------
    >>> error = error_in({"error": {"code": 502, "message": "upstream"}}, "m")
    >>> error.status, error.kind, error.retryable, error.billed
    (502, 'server', True, True)
    """
    if not isinstance(payload, (dict, str)):
        payload = {"error": payload}
    error, _ = _parts(payload)
    named = _named_status(error) or _named_status(payload)
    codes = _codes(error)
    meant = named
    if meant is None:
        kind = next((_CODES[code] for code in codes if code in _CODES), "")
        meant = _STATUSES.get(kind) or (400 if "invalid_request_error" in codes else 500)
    text = json.dumps(payload, ensure_ascii=False)
    prefix = f"{model} answered with an error" + (f" {named}" if named else "")
    failure = _failure(payload, prefix, meant, {}, text, tuple(secrets), key_name, True)
    failure.status = named or 200
    return failure


def excerpt(text: str, secrets: Iterable[str] = (), limit: int = EXCERPT) -> str:
    """The start of a text on one line, with keys blotted out.

    Parameters
    ----------
    text : str
        Any text.
    secrets : iterable of str, optional
        Values to blot out, beside everything that looks like a key.
    limit : int, optional
        Characters to keep.

    Returns
    -------
    str
        At most ``limit`` characters.

    Examples
    --------
    >>> excerpt("Authorization: Bearer abcdefgh")
    'Authorization: [redacted]'
    """
    text = redact(text)[: 20 * limit]  # first: a cut may go through a secret
    for secret in secrets:
        if secret:
            text = text.replace(secret, "[redacted]")
    text = _SECRETS.sub("[redacted]", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _failure(
    payload: Any,
    prefix: str,
    status: int,
    headers: Mapping[str, str],
    text: str,
    secrets: tuple[str, ...],
    key_name: str | None,
    billed: bool,
) -> ModelError:
    error, message = _parts(payload)
    codes = _codes(error) + _codes(payload)
    kind = _kind(status, codes, message, text)
    retryable = status in _RETRYABLE or status >= 500
    if isinstance(error, dict) and "failed_generation" in error:
        retryable = True  # the model's own tool call was malformed: another try may fare better
    if kind in _NEVER or not _NO_CREDIT.isdisjoint(codes):
        retryable = False
    should = headers.get("x-should-retry")
    if should in ("true", "false"):
        retryable = should == "true"
    said = excerpt(message, secrets) if message else "no reason was given"
    return ModelError(
        f"{prefix}: {said}",
        hint=_hint(kind, codes, key_name),
        retryable=retryable,
        retry_after=retry_after_from(headers, error, message),
        billed=billed,
        status=status,
        kind=kind,
        body=excerpt(text, secrets),
    )


def _not_json(
    status: int,
    headers: Mapping[str, str],
    text: str,
    model: str,
    secrets: tuple[str, ...],
    billed: bool,
) -> ModelError:
    title = re.search(r"<title[^>]*>\s*(.*?)\s*</title>", text, re.IGNORECASE | re.DOTALL)
    if title:
        said = f"a page, not JSON: {excerpt(title[1], secrets, 120)}"
    elif text.strip():
        said = f"text that is not JSON: {excerpt(text, secrets, 120)}"
    else:
        said = "an empty body"
    failed = status >= 400
    return ModelError(
        f"{model} answered {status} with {said}",
        hint=None if failed else "Is api_base right? It usually ends in /v1.",
        retryable=status in _RETRYABLE or status >= 500,
        retry_after=retry_after_from(headers, None, text[:EXCERPT]) if failed else None,
        billed=billed,
        status=status,
        kind=_kind(status, (), text[:EXCERPT], "") if failed else "protocol",
        body=excerpt(text, secrets),
    )


def _parts(payload: Any) -> tuple[Any, str]:
    """The error itself and its words, from whichever shape it came in."""
    if isinstance(payload, list) and payload:
        payload = payload[0]
    if not isinstance(payload, dict):
        return payload, payload if isinstance(payload, str) else ""
    error: Any = payload
    for key in ("error", "errors", "detail"):
        found = payload.get(key)
        if key == "errors" and isinstance(found, list) and found:
            found = found[0]
        if found:
            error = found
            break
    return error, _words(error) or _words(payload)


def _words(error: Any) -> str:
    if isinstance(error, str):
        return error
    if isinstance(error, list):
        return "; ".join(filter(None, map(_words, error[:5])))
    if not isinstance(error, dict):
        return ""
    words = _words(error.get("message") or error.get("msg") or error.get("detail"))
    where = error.get("loc")
    if words and where and isinstance(where, list):
        words = f"{'.'.join(map(str, where))}: {words}"
    metadata = error.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    for more in (_words(error.get("details")), raw if isinstance(raw, str) else ""):
        if more and more not in words:
            words = f"{words} ({more[:200]})" if words else more[:200]
    return words


def _codes(error: Any) -> tuple[str, ...]:
    if not isinstance(error, dict):
        return ()
    found = (error.get("code"), error.get("type"), error.get("status"))
    return tuple(c.lower() for c in found if isinstance(c, str)) + _codes(error.get("innererror"))


def _named_status(error: Any) -> int | None:
    if isinstance(error, dict):
        for key in ("status_code", "status", "code", "raw_status_code"):
            value = error.get(key)
            if isinstance(value, str) and re.fullmatch(r"[45]\d\d", value):
                value = int(value)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _kind(status: int, codes: Iterable[str], message: str, text: str) -> str:
    for code in codes:
        kind = _CODES.get(code)
        if kind and (status < 500 or kind == "overloaded"):
            return kind
    if status in (400, 413, 422) and _TOO_LONG.search(message):
        return "context_length"
    if status in (400, 403, 422):
        if _FILTERED.search(message) or (status == 403 and _FILTERED.search(text)):
            return "content_filter"
        if _BAD_KEY.search(message):
            return "auth"
        if _NO_MODEL.search(message):
            return "not_found"
    return _KINDS.get(status) or ("server" if status >= 500 else "bad_request")


def _hint(kind: str, codes: Iterable[str], key_name: str | None) -> str | None:
    if not _NO_CREDIT.isdisjoint(codes):
        return "The account has no credit left."
    if kind == "auth":
        return f"Check the key in {key_name}." if key_name else "Check the API key."
    if kind == "not_found":
        return "Check the model's name and api_base."
    if kind == "context_length":
        return "Shorten the conversation or the tool results."
    return None
