"""Which limiter a model's requests go through: one for each provider, address and key.

Keys are told apart by a digest and kept nowhere. Knows no run.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING, Any

from .key_refs import default_key
from .limits import Limiter

if TYPE_CHECKING:
    from .protocol import Model

__all__ = ["forget_limits", "known", "limiter_of", "pause"]

#: by provider, address and digest of the key; empty as long as nobody has a limit
known: dict[tuple[Any, ...], Limiter] = {}
#: above this many, those that hold nothing are let go
_MOST = 256
_lock = threading.Lock()


def limiter_of(model: Model, *, make: bool = True) -> Limiter | None:
    """The limiter of a model's account.

    Parameters
    ----------
    model : Model
    make : bool, optional
        Whether it is made when there is none.

    Returns
    -------
    Limiter or None
        The same one for every model of a provider that is asked at the same address with the
        same key; None when there is none and none was to be made.

    Examples
    --------
    >>> from robotlab_nb.models.direct import DirectModel
    >>> one, other = (DirectModel(n, api_base="http://localhost:1/v1", api_key="k") for n in "ab")
    >>> limiter_of(one) is limiter_of(other)
    True
    """
    account = _account(model)
    found = known.get(account)
    if found is not None or not make:
        return found
    with _lock:
        found = known.get(account)
        if found is None:
            if len(known) >= _MOST:
                for other, limiter in list(known.items()):
                    if limiter.idle:
                        del known[other]
            found = known[account] = Limiter()
        return found


def pause(model: Model, seconds: float) -> None:
    """Stop everybody who asks with a model's key: its provider wants no request for a while.

    It holds without any limit of ours: what a provider refuses for one, it refuses for all. Made
    up answers have no provider, and stop nobody.
    """
    limiter = None if model.simulated or not seconds > 0 else limiter_of(model)
    if limiter is not None:
        limiter.pause(seconds)


def forget_limits() -> None:
    """Forget what was asked so far, and every pause; who waits goes on waiting."""
    with _lock:
        known.clear()


def _account(model: Model) -> tuple[Any, ...]:
    """What tells accounts apart, without a key in it."""
    provider, endpoint = model.provider, model.endpoint
    key: Any = getattr(model, "_key", None)
    if key is None and endpoint is None:
        key = default_key(provider)
    value = key() if callable(key) else None
    digest = hashlib.sha256(value.encode("utf-8", "surrogatepass")).digest() if value else None
    # A model of one's own tells nothing of its provider but its name.
    return provider, endpoint, digest, model.name if provider == "custom" else None
