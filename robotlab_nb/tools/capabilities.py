"""What a script says that it needs, read and shown. Only its time limit is enforced.

Knows no process: nothing here confines anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Capabilities", "seconds_in"]


@dataclass(frozen=True)
class Capabilities:
    """What a script says that it needs. The smaller time limit holds; the rest is not enforced.

    Parameters
    ----------
    fs_read, fs_write : tuple of str
        Paths.
    network : bool or None
        None: it says nothing.
    timeout : float or None
        Seconds.
    trust : {"external", "core"}
        Where it comes from.
    """

    fs_read: tuple[str, ...] = ()
    fs_write: tuple[str, ...] = ()
    network: bool | None = None
    timeout: float | None = None
    trust: str = "external"

    @classmethod
    def of(cls, declared: Mapping[str, Any]) -> Capabilities:
        """Read what was declared, as values or as text.

        Raises
        ------
        ConfigurationError
            For an unknown name, or a value that cannot be meant.

        Examples
        --------
        >>> Capabilities.of({"fs_read": "data docs", "network": "false", "timeout": "10"})
        Capabilities(fs_read=('data', 'docs'), fs_write=(), network=False, timeout=10.0, \
trust='external')
        """
        found: dict[str, Any] = {}
        for name, value in declared.items():
            read = _DECLARED.get(name)
            if read is None:
                raise ConfigurationError(
                    f"no capability is called {name!r}", hint=near(name, _DECLARED)
                )
            try:
                found[name] = read(value)
            except (TypeError, ValueError) as error:
                raise ConfigurationError(f"{name} is {error}, not {value!r:.80}") from None
        return cls(**found)


def _paths(value: Any) -> tuple[str, ...]:
    words = value.split() if isinstance(value, str) else value
    if not isinstance(words, (list, tuple)) or not all(isinstance(word, str) for word in words):
        raise ValueError("a list of paths")
    return tuple(words)


def _yes_or_no(value: Any) -> bool:
    known = {"true": True, "false": False}
    found = value if isinstance(value, bool) else known.get(str(value).lower())
    if found is None:
        raise ValueError("true or false")
    return found


def seconds_in(value: Any) -> float:
    """A time limit, from a number or a text.

    Raises
    ------
    ValueError
        When it is none; it says what one is.
    """
    try:
        seconds = 0.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise ValueError("a number of seconds above 0")
    return seconds


def _trust(value: Any) -> str:
    if value not in ("external", "core"):
        raise ValueError('"external" or "core"')
    return str(value)


_DECLARED: dict[str, Callable[[Any], Any]] = {
    "fs_read": _paths, "fs_write": _paths, "network": _yes_or_no, "timeout": seconds_in,
    "trust": _trust,
}  # fmt: skip
