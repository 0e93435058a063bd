"""Kinds of transport by name: the built-in ones, and those that a person adds.

It says what a transport's options are; none is opened here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["factory_of", "register_transport", "transport_kind", "transport_names"]

#: every spelling that is understood -> what we call it
_BUILT_IN = {
    "stdio": "stdio",
    "http": "http",
    "streamable-http": "http",
    "streamable_http": "http",
    "streamableHttp": "http",
    "sse": "sse",
    "websocket": "websocket",
    "ws": "websocket",
}
_factories: dict[str, Callable[[dict[str, Any]], Any]] = {}
_METHODS = ("connect", "send", "receive", "disconnect")


def register_transport(name: str, factory: Callable[[dict[str, Any]], Any]) -> None:
    """Add a way to reach tool servers; a name that is registered already is replaced.

    Parameters
    ----------
    name : str
        The ``type`` by which servers name it.
    factory : callable
        ``factory(options)`` returns an object with four coroutine methods: ``connect()``,
        ``send(message)``, ``receive()`` and ``disconnect()``. ``options`` is the transport's
        dict less ``type``; a message is a dict (JSON-RPC). ``receive`` waits for the next one and
        returns None, or raises EOFError, when no more come.

    Raises
    ------
    ConfigurationError
        For a built-in name, an empty one, or a factory that cannot be called.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> class Echo:
    ...     def __init__(self, options): self.options = options
    ...     async def connect(self): ...
    ...     async def send(self, message): ...
    ...     async def receive(self): ...
    ...     async def disconnect(self): ...
    >>> rl.mcp.register_transport("echo", Echo)
    >>> rl.mcp.Server("mine", type="echo", volume=3).transport["volume"]
    3
    """
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError("register_transport: the name is a text that is not empty")
    if name in _BUILT_IN:
        raise ConfigurationError(
            f"the transport {name!r} is built in", hint="Register yours by another name."
        )
    if not callable(factory):
        raise ConfigurationError(
            f"register_transport({name!r}): the factory cannot be called",
            hint="Give a class or a function that takes the options.",
        )
    _factories[name] = factory


def transport_names() -> list[str]:
    """What ``type`` may be."""
    return [*dict.fromkeys(_BUILT_IN.values()), "streamable-http", "ws", *_factories]


def transport_kind(name: Any, server: str) -> str:
    """What we call a transport by what a person called it.

    Raises
    ------
    ConfigurationError
        When there is none of that name; the near one is named.
    """
    if isinstance(name, str):
        if name in _factories:
            return name
        if name in _BUILT_IN:
            return _BUILT_IN[name]
    raise ConfigurationError(
        f"server {server!r}: there is no transport type {name!r}",
        hint=near(str(name), transport_names()),
    )


def factory_of(kind: str) -> Callable[[dict[str, Any]], Any] | None:
    """The factory of a registered transport; None for a built-in one."""
    return _factories.get(kind)


def checked(made: Any, kind: str) -> Any:
    """What a factory made, when it has the methods that a transport has.

    Raises
    ------
    ConfigurationError
        Naming the methods that it lacks.
    """
    lacks = [m for m in _METHODS if not callable(getattr(made, m, None))]
    if lacks:
        raise ConfigurationError(
            f"what the transport {kind!r} makes ({type(made).__name__}) lacks {', '.join(lacks)}",
            hint="It needs the coroutine methods connect, send, receive and disconnect.",
        )
    return made
