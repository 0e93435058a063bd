"""Extensions of the process by name: registered by code, or found in installed packages.

A package offers one by an entry point in the group ``robotlab_nb.extensions``. It is imported
when somebody asks for it. Nothing here knows what an extension does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeVar

from .errors import ConfigurationError, near

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["extension", "extension_loaded", "loaded_extensions", "register_extension"]

T = TypeVar("T")

GROUP = "robotlab_nb.extensions"

# Held for moments only: never while an extension is imported, for that may register another.
_lock = threading.Lock()
_registered: dict[str, Any] = {}
#: entry points that failed, so that a list does not try them again and warns once
_failed: set[str] = set()


def register_extension(name: str, thing: T) -> T:
    """Make something known under a name; what was known under it before is replaced.

    Parameters
    ----------
    name : str
    thing : object
        A module, a class, a function: whatever those who ask for it expect.

    Returns
    -------
    object
        The thing.

    Raises
    ------
    ConfigurationError
        For an empty name, or None.

    Examples
    --------
    >>> from robotlab_nb.core.extensions import extension, register_extension
    >>> register_extension("shout", str.upper)("hello")
    'HELLO'
    >>> extension("shout") is str.upper
    True
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(f"an extension's name is a text, not {name!r:.80}")
    if thing is None:
        raise ConfigurationError(f"extension {name!r} is None", hint="Register what it offers.")
    with _lock:
        _registered[name] = thing
    return thing


def extension(name: str) -> Any:
    """The extension of a name; one that an installed package offers is imported now.

    Parameters
    ----------
    name : str

    Returns
    -------
    object
        What was registered, or what the entry point names.

    Raises
    ------
    ConfigurationError
        When there is none, or its package cannot be loaded (the cause is attached).

    Examples
    --------
    >>> from robotlab_nb.core.extensions import extension
    >>> extension("teleport")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: there is no extension 'teleport'. ...
    """
    if name in _registered:
        return _registered[name]
    offered = _offered()
    if name not in offered:
        known = sorted({*_registered, *offered})
        raise ConfigurationError(f"there is no extension {name!r:.80}", hint=near(str(name), known))
    return _load(name, offered[name])


def extension_loaded(name: str) -> bool:
    """Whether an extension is there already. Imports nothing.

    Parameters
    ----------
    name : str

    Examples
    --------
    >>> from robotlab_nb.core.extensions import extension_loaded
    >>> extension_loaded("teleport")
    False
    """
    return name in _registered


def loaded_extensions() -> list[str]:
    """The names of all extensions, those of installed packages included: these are imported now.

    One that cannot be loaded is left out, and told once as a RuntimeWarning.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> from robotlab_nb.core.extensions import loaded_extensions, register_extension
    >>> _ = register_extension("shout", str.upper)
    >>> "shout" in loaded_extensions()
    True
    """
    for name, points in _offered().items():
        if name in _registered or name in _failed:
            continue
        try:
            _load(name, points)
        except ConfigurationError as error:
            import warnings

            warnings.warn(str(error), RuntimeWarning, stacklevel=2)
    with _lock:
        return sorted(_registered)


def _offered() -> dict[str, list[EntryPoint]]:
    """What installed packages offer, by name."""
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, []).append(point)
    return found


def _load(name: str, points: list[EntryPoint]) -> Any:
    """Import what an entry point names, and register it unless its module did that itself."""
    try:
        if len({point.value for point in points}) > 1:
            raise ConfigurationError(f"several packages offer it: {_packages(points)}")
        thing = points[0].load()
        if thing is None:
            raise ConfigurationError(f"{points[0].value} is None")
    except (Exception, SystemExit) as error:
        with _lock:
            _failed.add(name)
        raise ConfigurationError(
            f"extension {name!r} of {_packages(points)} cannot be loaded "
            f"({type(error).__name__}: {error})",
            hint="Mend or uninstall that package; other extensions are not concerned.",
        ) from error
    with _lock:
        _failed.discard(name)
        return _registered.setdefault(name, thing)


def _packages(points: list[EntryPoint]) -> str:
    names = {point.dist.name if point.dist is not None else point.module for point in points}
    return ", ".join(sorted(names))
