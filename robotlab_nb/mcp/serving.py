"""Serving robots and networks to other programs, as tools of the Model Context Protocol."""

from __future__ import annotations

import atexit
import os
import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..core.errors import ConfigurationError
from ..core.readings import Pictured, ShownList
from ..runtime.notebook import cell_of_caller, painter
from .serving_address import bound_socket, check_numbers, checked_kind, checked_token
from .serving_calls import Calls
from .serving_gate import Gate, is_loopback, security
from .serving_http import PATHS, application, listen
from .serving_prompts import served_prompts
from .serving_protocol import protocol_server
from .serving_thread import ServingThread, quiet_loggers, standard_streams
from .serving_tools import Served, legal_name, served

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Iterable, Sequence
    from typing import Self

    from .servers import Server

__all__ = ["ServedCall", "Serving", "serve", "servings"]

_SCHEMES = {"http": "http", "sse": "http", "websocket": "ws"}
#: calls that are remembered
RECENT = 50

_lock = threading.Lock()
_live: list[Serving] = []


class ServedCall(NamedTuple):
    """A call that is over.

    Attributes
    ----------
    tool : str
    run_id : str or None
        Its run; None where none was started.
    status : str
        ``completed, failed, cancelled`` or ``refused``.
    duration_s : float
    """

    tool: str
    run_id: str | None
    status: str
    duration_s: float


class Serving(Pictured):
    """Robots and networks that other programs may call. You get one from :func:`serve`.

    It goes on beside whatever else the process does, until :meth:`stop` or the process's end; a
    notebook's cell that is run again replaces what it served before.

    Attributes
    ----------
    name : str
        What clients are told.
    transport : str
        ``http, sse, websocket`` or ``stdio``.
    url : str or None
        The address; None for ``stdio``.
    tools : tuple of Served
        What may be called, each with its ``name``.
    prompts : dict of Template
        Templates that may be rendered, by name.
    instructions : str or None
        What clients are told besides.
    token : str or None
        What clients must bear.
    status : str
        ``serving, stopped`` or ``failed``.
    calls : Calls
        Those that go on.
    count : int
        Calls so far.
    recent : list of ServedCall
        The latest 50 that are over.
    """

    def __init__(self, name: str, transport: str, tools: tuple[Served, ...]) -> None:
        self.name = name
        self.transport = transport
        self.tools = tools
        self.url: str | None = None
        self.prompts: dict[str, Any] = {}
        self.instructions: str | None = None
        self.token: str | None = None
        self.status = "stopped"
        self.error: BaseException | None = None
        self.count = 0
        self.calls = Calls(f"mcp:{name}", 16)
        self._recent: deque[ServedCall] = deque(maxlen=RECENT)
        self._cell: tuple[str, str] | None = None
        self._thread: ServingThread | None = None
        self._gate: Gate | None = None
        self._bound: socket.socket | None = None

    @property
    def active(self) -> int:
        """How many calls go on."""
        return len(self.calls.active)

    @property
    def recent(self) -> list[ServedCall]:
        """The latest calls that are over."""
        return ShownList(self._recent)

    def tool(self, name: str) -> Served | None:
        """What is called by a name; None where nothing is."""
        return next((tool for tool in self.tools if tool.name == name), None)

    def note(self, tool: Served, run_id: str | None, status: str, duration_s: float) -> None:
        """Remember a call that is over."""
        self._recent.append(ServedCall(tool.name, run_id, status, duration_s))

    # -- how to get there ------------------------------------------------------------------

    @property
    def config(self) -> dict[str, Any]:
        """What other clients keep in their JSON: ``{"mcpServers": {…}}``, the token by a name."""
        if self.url is None:
            return {"mcpServers": {}}
        told: dict[str, Any] = {"type": self.transport, "url": self.url}
        if self.token is not None:
            told["headers"] = {"Authorization": f"Bearer ${{{self._variable}}}"}
        return {"mcpServers": {self.name: told}}

    @property
    def _variable(self) -> str:
        letters = "".join(c if c.isalnum() else "_" for c in self.name.upper())
        return f"{letters}_TOKEN"

    @property
    def server(self) -> Server:
        """The description by which robots and a Client of ours get there.

        Raises
        ------
        ConfigurationError
            For ``stdio``, where whoever starts the program is the client.
        """
        from .servers import Server

        if self.url is None:
            raise ConfigurationError(
                f"{self.name!r} is served on standard input and output",
                hint="The program that started this one is its client.",
            )
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else None
        return Server(self.name, url=self.url, type=self.transport, headers=headers)

    # -- its life --------------------------------------------------------------------------

    def _start(self, main: Callable[[Any], Any]) -> None:
        self._thread = ServingThread(f"serves {self.name}", main, self._ended)
        self.status = "serving"
        with _lock:
            _live.append(self)
        try:
            self._thread.start()
        except BaseException:
            self._forget()
            raise

    def _ended(self, error: BaseException | None) -> None:
        self.error = error
        self.status = "stopped" if error is None else "failed"
        self._forget()

    def _forget(self) -> None:
        with _lock:
            if self in _live:
                _live.remove(self)
        if self._bound is not None:
            self._bound.close()

    def stop(self) -> None:
        """Stop serving: calls that go on are stopped, connections are closed. Twice is once."""
        thread = self._thread
        if thread is None or self.status != "serving":
            return
        for call in tuple(self.calls.active.values()):
            call.end("its server was stopped")
        if self._gate is not None:
            thread.call(self._gate.stop)
        thread.stop()
        if self.status == "serving":  # it hangs in something that cannot be stopped
            self.status = "stopped"
            self._forget()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until serving ends; Stop (or Ctrl-C) ends it.

        Parameters
        ----------
        timeout : float, optional
            Seconds; it goes on when the time is up.

        Returns
        -------
        bool
            Whether it has ended.
        """
        from time import monotonic

        end = None if timeout is None else monotonic() + timeout
        thread = self._thread
        try:
            while thread is not None and not thread.wait(0.2):
                if end is not None and monotonic() > end:
                    return False
        except KeyboardInterrupt:
            self.stop()
            raise
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def serve(
    runnable: Any,
    *,
    transport: Literal["http", "sse", "websocket", "stdio"] = "http",
    host: str = "127.0.0.1",
    port: int = 0,
    name: str | None = None,
    instructions: str | None = None,
    prompts: Iterable[Any] = (),
    conversations: bool = False,
    token: str | bool | None = None,
    allowed_hosts: Sequence[str] = (),
    allowed_origins: Sequence[str] = (),
    max_calls: int = 16,
    max_request_bytes: int = 1_048_576,
) -> Serving:
    """Serve robots and networks as tools of the Model Context Protocol. Returns at once.

    A robot is a tool that takes ``message`` and the values of its template (``context``), and gives
    its answer; with ``output=`` set, as data of that shape. A network is a tool that tells task by
    task how far it is. Each call is a run of its own, found in the log by the tag ``mcp:<name>``.
    What a run asks a person is put to the client, and refused where that can ask nobody.

    Only this machine reaches the address unless ``host`` says otherwise; web pages do not.

    Parameters
    ----------
    runnable : Robot, Network, list or dict of them
        A dict gives the tools' names.
    transport : {"http", "sse", "websocket", "stdio"}, optional
        Streamable HTTP, or one of the others. ``stdio`` is for programs that a client starts, not
        for notebooks: ``python -m robotlab_nb serve file.py:bot``.
    host : str, optional
        Where to listen. Anything but this machine's own addresses needs a token.
    port : int, optional
        0 for a free one.
    name : str, optional
        What clients are told; the robot's name, or ``robotlab_nb`` for several.
    instructions : str, optional
        What clients are told besides, for their models.
    prompts : iterable of Template, str or Path, optional
        Templates that clients may have rendered. A robot's own prompt is not shown.
    conversations : bool, optional
        Whether a robot's calls may name a conversation to go on with; else each stands alone.
        Whoever may call may go on with any of them.
    token : str or bool, optional
        What clients must send as ``Authorization: Bearer …``: a text, the name of an environment
        variable, or True for a new one, which is then ``serving.token``.
    allowed_hosts, allowed_origins : sequence of str, optional
        More names of this address (``"robots.example:*"``), and web pages that may call.
    max_calls : int, optional
        Calls at the same time; more wait.
    max_request_bytes : int, optional
        Of one message.

    Returns
    -------
    Serving

    Raises
    ------
    ConfigurationError
        When something cannot be meant, or the port is taken.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> bot = rl.build("poet", model=rl.SimulatedModel(["roses are red"]))
    >>> with rl.mcp.serve(bot) as serving:
    ...     print(serving.status, serving.url.startswith("http://127.0.0.1:"))
    serving True
    >>> serving.status
    'stopped'
    """
    kind = checked_kind(transport)
    tools = served(runnable, conversations=conversations)
    check_numbers(port, max_calls, max_request_bytes)
    told = name if name is not None else tools[0].name if len(tools) == 1 else "robotlab_nb"
    serving = Serving(legal_name(told), kind, tools)
    serving.calls = Calls(f"mcp:{serving.name}", max_calls)
    serving.prompts = served_prompts(prompts)
    serving.instructions = instructions
    if kind == "stdio":
        return _on_standard_streams(serving)
    serving.token = checked_token(token, serving.name)
    if not is_loopback(host) and serving.token is None:
        raise ConfigurationError(
            f"on {host} other machines could call {serving.name!r}",
            hint="token=True makes a token that clients must bear; or leave host= out.",
        )
    serving._cell = cell_of_caller()
    _replace(serving._cell)
    quiet_loggers()
    settings = security(host, allowed_hosts, allowed_origins)
    app = application(kind, protocol_server(serving), settings, max_request_bytes)
    taken = next((s.name for s in servings() if s.url and f":{port}/" in s.url), None)
    bound = serving._bound = bound_socket(host, port, taken)
    gate = serving._gate = Gate(app, settings, serving.token)
    place = f"[{host}]" if ":" in host else host
    serving.url = f"{_SCHEMES[kind]}://{place}:{bound.getsockname()[1]}{PATHS[kind]}"
    serving._start(lambda ready: listen(gate, bound, max_request_bytes, ready))
    return serving


def servings() -> list[Serving]:
    """List what is served by this process, in order of start.

    Returns
    -------
    list of Serving
    """
    with _lock:
        return ShownList(_live)


def _on_standard_streams(serving: Serving) -> Serving:
    if painter() is not None:
        raise ConfigurationError(
            "a notebook's standard input and output belong to the notebook",
            hint='Use transport="http" here, or `python -m robotlab_nb serve file.py:bot`.',
        )
    quiet_loggers()
    server = protocol_server(serving)
    serving._start(lambda ready: standard_streams(server, ready))
    return serving


def _replace(cell: tuple[str, str] | None) -> None:
    """Stop what an earlier execution of a cell served."""
    if cell is None:
        return
    for other in servings():
        if other._cell is not None and other._cell[0] == cell[0] and other._cell != cell:
            other.stop()


@atexit.register
def _stop_all() -> None:
    for serving in servings():
        serving.stop()


def _after_fork() -> None:
    # The threads did not come along, nor may the addresses: they are the parent's.
    global _lock
    _lock = threading.Lock()
    for serving in _live:
        serving.status = "stopped"
        if serving._bound is not None:
            serving._bound.close()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
