"""Which documents a search is about, by their metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError, near

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .passages import Held

__all__ = ["filtered", "fits"]


def filtered(held: Sequence[Held], where: Any) -> set[Held]:
    """The documents whose metadata is as wanted.

    Raises
    ------
    InputError
        When it cannot be meant, or names what no document's metadata has.
    """
    if callable(where):
        return {one for one in held if where(dict(one.stored.metadata))}
    if not isinstance(where, Mapping):
        raise InputError(
            f"where={where!r:.80} is neither a dict nor a function",
            hint='Write where={"year": 2024}, say.',
        )
    known = {name for one in held for name in one.stored.metadata}
    for name in where:
        if held and name not in known:
            raise InputError(
                f"no document has {name!r:.60} in its metadata", hint=near(str(name), known)
            )
    return {one for one in held if fits(one.stored.metadata, where)}


def fits(metadata: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    """Whether metadata is as wanted.

    Parameters
    ----------
    metadata : mapping
    where : mapping
        By name: a value, several in a list, tuple or set, or a function of the value.

    Examples
    --------
    >>> fits({"year": 2024, "tags": ["a", "b"]}, {"year": [2023, 2024], "tags": "b"})
    True
    >>> fits({"year": 2024}, {"year": lambda year: year < 2000})
    False
    """
    return all(name in metadata and _meets(metadata[name], where[name]) for name in where)


def _meets(value: Any, wanted: Any) -> bool:
    if callable(wanted):
        return bool(wanted(value))
    several = list(wanted) if isinstance(wanted, (list, tuple, set, frozenset)) else [wanted]
    return any(one == value or (isinstance(value, list) and one in value) for one in several)
