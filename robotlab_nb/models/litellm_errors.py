"""From what litellm raises to the error that the direct way would have raised.

litellm wraps a provider's answer in several exceptions; the answer itself lies at the bottom of
the chain, and that is what is read. Knows no request and no stream.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ..core.errors import ModelError
from .openai_errors import error_from, error_in, excerpt

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["translated"]

_PREFIX = re.compile(r"^(?:litellm\.)?\w+(?:Error|Exception|Timeout)(?: - |: )\s*")
_CUT = re.compile(
    r"payload is not completed|peer closed connection|incomplete (?:chunked )?read"
    r"|stream ended before a finish_reason",
    re.IGNORECASE,
)
_UNREADABLE = re.compile(
    r"empty or invalid response|invalid response object|error converting|unable to (?:get|parse)"
    r"|expecting value|validation errors? for|provider returned '",
    re.IGNORECASE,
)
#: what Python raises where litellm trips over an answer that it did not expect
_TRIPPED = frozenset(
    {"AttributeError", "IndexError", "JSONDecodeError", "KeyError", "TypeError", "ValidationError"}
)
_TIMEOUTS = frozenset({"Timeout", "APITimeoutError", "TimeoutException"})
_CONNECTION = frozenset({"TransportError", "ClientError", "ConnectError", "OSError"})


def translated(
    error: BaseException,
    model: str,
    *,
    started: bool = False,
    timeout: float | None = None,
    secrets: Sequence[str] = (),
    key_name: str | None = None,
) -> ModelError:
    """Make the ModelError that an exception of litellm means.

    Parameters
    ----------
    error : BaseException
    model : str
        Whom we asked.
    started : bool, optional
        Whether a piece of an answer came before it.
    timeout : float, optional
        Seconds that the request had.
    secrets : sequence of str, optional
        Values that must not show up.
    key_name : str, optional
        The environment variable that holds the key, for the hint.

    Returns
    -------
    ModelError
        Not raised.

    Examples
    --------
    >>> translated(TimeoutError(), "groq/x", timeout=5).kind
    'timeout'
    """
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, ModelError):
            return link
    kinds = {kind.__name__ for link in chain for kind in type(link).__mro__}
    answer = _answer(chain)
    if answer is not None:
        status, headers, body = answer
        return error_from(
            status, headers, body, model, key_name=key_name, secrets=secrets, billed=started
        )
    if kinds & _TIMEOUTS or any(isinstance(link, TimeoutError) for link in chain):
        within = "in time" if timeout is None else f"within {timeout:g} s"
        said, kind = f"gave no complete answer {within}", "timeout"
        return ModelError(f"{model} {said}", retryable=True, billed=started, kind=kind)
    if any(_CUT.search(str(link)) for link in chain) or (started and kinds & _CONNECTION):
        said = "broke off before its answer was complete"
        return ModelError(f"{model} {said}", retryable=True, billed=True, kind="cut")
    if kinds & _CONNECTION:
        why = excerpt(str(chain[-1]) or type(chain[-1]).__name__, secrets, 200)
        said = f"could not be reached: {why}"
        return ModelError(f"{model} {said}", retryable=True, kind="connection")
    inside = _inside(chain)
    if inside is not None:
        return error_in({"error": inside}, model, key_name=key_name, secrets=secrets)
    unreadable = bool(kinds & _TRIPPED) or _UNREADABLE.search(str(error)) is not None
    return _by_status(error, model, started, secrets, key_name, unreadable)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The exception and those that it came from, the outermost first."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _answer(chain: list[BaseException]) -> tuple[int, dict[str, str], bytes] | None:
    """Status, headers and body of the provider's answer, from the innermost link that has them.

    Links further out hold copies without headers, or none at all: litellm makes those up.
    """
    for link in reversed(chain):
        response = getattr(link, "response", None)
        status = getattr(response, "status_code", None)
        if not isinstance(status, int) or status < 400:
            continue
        headers = {str(k).lower(): str(v) for k, v in dict(response.headers).items()}  # type: ignore[union-attr]
        try:
            body = response.content  # type: ignore[union-attr]
        except Exception:
            body = b""
        if headers or body:
            return status, headers, bytes(body) or _body_of(chain)
    return None


def _body_of(chain: list[BaseException]) -> bytes:
    """What a provider said, from the words of the exceptions."""
    found = _inside(chain)
    if found is not None:
        return json.dumps({"error": found}, default=str).encode()
    for link in reversed(chain):
        message = getattr(link, "message", None)
        if isinstance(message, bytes):
            return message
        if isinstance(message, str) and message.lstrip("b'\"").startswith("{"):
            return re.sub(r"^b'(.*)'$", r"\1", message, flags=re.DOTALL).encode()
    return b""


def _inside(chain: list[BaseException]) -> Any:
    """The error object that came inside an answer, if one did."""
    for link in reversed(chain):
        body = getattr(link, "body", None)
        if isinstance(body, dict) and body:
            return body.get("error", body)
    return None


def _by_status(
    error: BaseException,
    model: str,
    started: bool,
    secrets: Sequence[str],
    key_name: str | None,
    unreadable: bool,
) -> ModelError:
    """What litellm itself found wrong: a parameter, a missing key, an answer it cannot read."""
    words = str(getattr(error, "message", None) or error)
    words = words.partition("Traceback (most recent")[0].strip()
    while (shorter := _PREFIX.sub("", words, count=1)) != words:
        words = shorter
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 400 <= status < 500 and status != 422:
        body = json.dumps({"error": {"message": words}}).encode()
        made = error_from(status, {}, body, model, key_name=key_name, secrets=secrets)
        made.message = made.message.replace(f"answered {status}:", "was not asked:", 1)
        made.billed = started
        return made
    if isinstance(status, int) and status >= 500 and not unreadable:
        told = {"code": status, "message": words}
        return error_in({"error": told}, model, key_name=key_name, secrets=secrets)
    said = excerpt(words, secrets, 200) or type(error).__name__
    return ModelError(
        f"{model} gave an answer that litellm cannot read: {said}",
        retryable=True,
        billed=True,
        kind="protocol",
        body=excerpt(words, secrets),
    )
