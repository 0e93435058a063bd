"""Traces: what robots and networks do, as OpenTelemetry spans for whoever collects them.

One more reader of the event stream. Spans are made on a thread of its own, with the times of the
events, so neither a slow exporter nor a broken one holds up a run.
"""

from __future__ import annotations

import os
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..runtime.sinks import OpenSinks

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.trace import TracerProvider

    from ..core.events import Event

__all__ = ["Tracing", "trace"]

#: seconds that closing waits for the spans that are left
PATIENCE_S = 5.0
_tracings: OpenSinks[Tracing] = OpenSinks()


class Tracing:
    """Tells a tracer provider what all runs of the process do, until it is closed.

    ``rl.trace()`` makes one; it may be used with ``with``.

    Parameters
    ----------
    provider : TracerProvider
    content : bool
    """

    def __init__(self, provider: TracerProvider, *, content: bool) -> None:
        self.provider = provider
        self.content = content
        #: whether it tells no more
        self.closed = False
        #: what went wrong in it last
        self.trouble: Exception | None = None
        self._begin()

    def _begin(self) -> None:
        # A forked child has neither the thread nor a queue that can be trusted.
        self._process = os.getpid()
        self._queue: SimpleQueue[tuple[Event, Context | None] | threading.Event | None]
        self._queue = SimpleQueue()
        self._thread = threading.Thread(
            target=self._tell_all, args=(self._queue,), name="robotlab_nb-traces", daemon=True
        )
        self._thread.start()

    def put(self, event: Event) -> None:
        """Take an event. Returns at once."""
        if os.getpid() != self._process:
            self._begin()
        outside = None
        if event.type == "run.started" and event.scope.parent_id is None:
            from opentelemetry import context

            outside = context.get_current()  # the caller's span is around the run's
        self._queue.put((event, outside))

    async def drained(self, root_id: str, seq: int) -> None:
        """Nothing here is durable, so there is nothing to wait for."""

    def flush(self, timeout: float | None = PATIENCE_S) -> bool:
        """Wait until what has happened is told, and the provider has sent it.

        Parameters
        ----------
        timeout : float, optional
            Seconds; None for as long as it takes.

        Returns
        -------
        bool
            Whether all was sent in time.
        """
        told = threading.Event()
        if self._thread.is_alive() and threading.current_thread() is not self._thread:
            self._queue.put(told)
            if not told.wait(timeout):
                return False
        force = getattr(self.provider, "force_flush", None)
        return bool(force(int((timeout or 3_600) * 1_000))) if force is not None else True

    def close(self) -> None:
        """Tell what is left, for at most 5 s, and then no more."""
        _tracings.forget(self)
        if not self.closed:
            self.closed = True
            self._queue.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(PATIENCE_S)
            self.flush()

    def __enter__(self) -> Tracing:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else "with content" if self.content else "without content"
        return f"<traces to {type(self.provider).__name__} ({state})>"

    def _tell_all(self, queue: SimpleQueue[Any]) -> None:
        from .. import __version__
        from .spans import Spans

        spans = Spans(self.provider.get_tracer("robotlab_nb", __version__), content=self.content)
        while (item := queue.get()) is not None:
            try:
                if isinstance(item, threading.Event):
                    item.set()
                else:
                    spans.take(*item)
            except Exception as error:
                self._note(error)
        spans.close()

    def _note(self, error: Exception) -> None:
        """Say once that something could not be told; the rest still is."""
        import warnings

        first, self.trouble = self.trouble is None, error
        if first:
            try:
                warnings.warn(f"a trace has gaps: {error!r}", RuntimeWarning, stacklevel=2)
            except RuntimeWarning:  # warnings are errors here
                pass


def trace(provider: TracerProvider | None = None, *, content: bool = False) -> Tracing:
    """Send what robots and networks do to OpenTelemetry, from now on, in all runs of the process.

    Networks are ``invoke_workflow`` spans, robots' runs ``invoke_agent``, model calls ``chat`` with
    their tokens, tool calls ``execute_tool``, as the conventions for generative AI name them. A run
    that is started inside a span of yours is a part of it. Attempts that failed, waiting for a
    person and fallbacks are events of their spans.

    Parameters
    ----------
    provider : TracerProvider, optional
        The process's own when left out.
    content : bool, optional
        Whether messages, tools' arguments and results are told. They may hold what is private;
        registered keys are masked in any case.

    Returns
    -------
    Tracing
        A context manager; it has ``flush()`` and ``close()``. Tracing to the same provider again
        replaces the one before.

    Raises
    ------
    ConfigurationError
        When no provider is given and the process has none.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> from opentelemetry.sdk.trace import TracerProvider
    >>> from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    >>> from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    >>> kept, provider = InMemorySpanExporter(), TracerProvider()
    >>> provider.add_span_processor(SimpleSpanProcessor(kept))
    >>> with rl.trace(provider):
    ...     answer = rl.build("poet", model=rl.SimulatedModel(["roses are red"])).run("a poem")
    >>> [span.name for span in kept.get_finished_spans()]
    ['chat script', 'invoke_agent poet']
    """
    found = _process_provider() if provider is None else provider
    if not hasattr(found, "get_tracer"):
        raise ConfigurationError(
            f"trace() takes a tracer provider, not {found!r:.80}",
            hint="For example opentelemetry.sdk.trace.TracerProvider().",
        )
    return _tracings.add(
        lambda: Tracing(found, content=content), lambda other: other.provider is found
    )


def _process_provider() -> Any:
    from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

    found = get_tracer_provider()
    if isinstance(found, ProxyTracerProvider):
        raise ConfigurationError(
            "this process has no tracer provider, so nobody would see its traces",
            hint="pip install 'robotlab-nb[otel]', then "
            "opentelemetry.trace.set_tracer_provider(…), or pass one: rl.trace(provider).",
        )
    return found
