"""Labels of tools: what a call reads or sends. Who has all three can be made to leak.

Text that a stranger wrote may tell a robot to send private data out; no filter of texts stops that
for sure. So the mixture is what is guarded: a call that sends out, where the other two are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["LABELS", "NO_LABELS", "OUTWARD", "checked_approval", "checked_labels", "is_mixture"]

OUTWARD = "outward"
#: label -> what a tool does that bears it
LABELS = {
    "private": "reads private data",
    "untrusted": "reads what strangers wrote",
    OUTWARD: "sends something out",
}
NO_LABELS: frozenset[str] = frozenset()


def is_mixture(labels: frozenset[str]) -> bool:
    """Whether labels make up the dangerous whole.

    Examples
    --------
    >>> is_mixture(frozenset({"private", "outward"}))
    False
    >>> is_mixture(frozenset({"private", "outward", "untrusted"}))
    True
    """
    return labels >= LABELS.keys()


def checked_labels(labels: Iterable[str], tool: str) -> frozenset[str]:
    """The labels of a tool.

    Raises
    ------
    ConfigurationError
        For one that is unknown.

    Examples
    --------
    >>> sorted(checked_labels(["private", "outward"], "read"))
    ['outward', 'private']
    """
    if isinstance(labels, str):
        raise ConfigurationError(
            f"tool {tool!r}: labels={labels!r} is not a set of labels",
            hint=f"Write labels={{{labels!r}}}.",
        )
    found = frozenset(labels)
    for label in found:
        if label not in LABELS:
            raise ConfigurationError(
                f"tool {tool!r}: there is no label {label!r}", hint=near(str(label), LABELS)
            )
    return found


def checked_approval(approval: Any, tool: str) -> Any:
    """What says whether calls of a tool need approval: True, or a function of the arguments.

    Raises
    ------
    ConfigurationError
        For anything else.
    """
    if approval is True or callable(approval):
        return approval
    raise ConfigurationError(
        f"tool {tool!r}: approval={approval!r:.80} is neither a bool nor a function",
        hint='Write approval=True, or approval=lambda arguments: arguments["amount"] > 100.',
    )
