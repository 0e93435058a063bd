"""The JSON type, and turning any value into JSON without losing it silently."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeAlias, Union

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["JSON", "canonical"]

JSON: TypeAlias = Union[bool, int, float, str, "Sequence[JSON]", "Mapping[str, JSON]", None]

_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def canonical(value: Any) -> bytes:
    """One byte string for equal JSON values: keys sorted, no spaces, ASCII only.

    Lone surrogates, which UTF-8 cannot hold, are kept as escapes.

    Examples
    --------
    >>> canonical({"b": 1, "a": [True, None]})
    b'{"a":[true,null],"b":1}'
    """
    return _encode(value).encode("ascii")
