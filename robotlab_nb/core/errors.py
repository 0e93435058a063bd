"""Every error that robotlab_nb raises, under one root.

An error says what was wrong, where, and what to do. The names are robot_lab's;
a few more belong to runs and networks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = [
    "AwaitTimeout",
    "BudgetExceeded",
    "BusError",
    "ConfigurationError",
    "DelegationTimeout",
    "DependencyError",
    "GraphError",
    "InferenceError",
    "InputError",
    "ModelError",
    "NoAnswerChannel",
    "OutputError",
    "RactorBoundaryError",
    "RobotLabError",
    "RunInterrupted",
    "RunWaiting",
    "TaskNotRun",
    "ToolError",
    "ToolLoopError",
    "ToolNotFoundError",
    "UnknownKeyword",
    "describe_error",
    "near",
    "unwrap",
]


class RobotLabError(Exception):
    """Root of all errors of this package.

    Parameters
    ----------
    message : str
        What was wrong and where.
    hint : str, optional
        What to do about it. Shown after the message.
    retryable : bool, optional
        Whether the same call may succeed when it is repeated. The default is the class's.

    Attributes
    ----------
    run : Run or None
        The run that failed, when there was one. Its events, messages and tables remain readable.
    run_id, task : str or None
        Where it happened.

    Examples
    --------
    >>> error = RobotLabError("no model is named", hint="pass model=")
    >>> str(error)
    'no model is named. pass model='
    >>> error.retryable
    False
    """

    retryable: bool = False

    def __init__(
        self, message: str = "", *, hint: str | None = None, retryable: bool | None = None
    ) -> None:
        if secrets.any_known:
            message, hint = secrets.redact(message), hint and secrets.redact(hint)
        super().__init__(message)
        self.message = message
        self.hint = hint
        if retryable is not None:
            self.retryable = retryable
        self.run: Any = None
        self.run_id: str | None = None
        self.task: str | None = None

    def __str__(self) -> str:
        said = self.message
        if self.hint:
            end = "" if said.endswith((".", "!", "?", ":")) else "."
            said = f"{said}{end} {self.hint}"
        # Once more: message and hint may have been set later, or the secret been registered.
        return secrets.redact(said) if secrets.any_known else said

    def __reduce__(self) -> Any:
        # A pickled error keeps what it says, not the live run it came from.
        state = {k: v for k, v in self.__dict__.items() if k != "run"}
        return _revive, (type(self), secrets.redact_data(state))

    def _repr_html_(self) -> str | None:
        from .readings import html

        return html(self)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        from .readings import bundle

        return bundle(self, include, exclude)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        from .readings import pretty

        pretty(self, printer, cycle)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of its own traceback: frames of this package left out."""
        from .readings import reading

        lines: list[str] = reading("traceback")(self)
        return lines


def _revive(cls: type[RobotLabError], state: dict[str, Any]) -> RobotLabError:
    error = cls.__new__(cls)
    Exception.__init__(error, state.get("message", ""))
    error.__dict__.update(state)
    error.run = None
    return error


class ConfigurationError(RobotLabError):
    """Something was set up wrongly: a name, a value, a missing key."""


class DependencyError(ConfigurationError):
    """An optional package is needed and not installed; the message names it."""


class RactorBoundaryError(ConfigurationError):
    """Something cannot be handed to another process: it holds a secret, or something alive."""


class UnknownKeyword(ConfigurationError, TypeError):
    """A keyword that the called function does not have; the near one is named."""


class InputError(RobotLabError, ValueError):
    """A value given to a run or a message cannot be used."""


class ModelError(RobotLabError):
    """A call to a language model failed.

    Parameters
    ----------
    message : str
        What was wrong, with the model's name.
    retryable : bool, optional
        Whether another attempt may succeed.
    retry_after : float, optional
        Seconds that the provider asked us to wait.
    billed : bool, optional
        Whether the provider may have charged for the attempt (bytes of an answer arrived).
    status : int, optional
        The HTTP status, when there was one.
    kind : str, optional
        A short stable word: ``auth, rate_limit, overloaded, timeout, connection, server,
        bad_request, not_found, context_length, content_filter, protocol, cut, output, tool_loop``.
    body : str, optional
        The start of the provider's answer.
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        retryable: bool | None = None,
        retry_after: float | None = None,
        billed: bool = False,
        status: int | None = None,
        kind: str = "server",
        body: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, retryable=retryable)
        self.retry_after = retry_after
        self.billed = billed
        self.status = status
        self.kind = kind
        self.body = secrets.redact(body) if body and secrets.any_known else body


#: robot_lab's name for :class:`ModelError`.
InferenceError = ModelError


class OutputError(ModelError):
    """An answer is not what it must be, and asking again did not help.

    Parameters
    ----------
    message : str
    hint : str, optional
    errors : list of dict, optional
        What was wrong with the last answer: ``path`` and ``message`` of each fault.
    text : str, optional
        The last answer.
    """

    def __init__(
        self,
        message: str = "",
        *,
        hint: str | None = None,
        errors: list[Any] | None = None,
        text: str = "",
    ) -> None:
        super().__init__(message, hint=hint, kind="output")
        self.errors = secrets.redact_data(errors or [])
        self.text = secrets.redact(text)


class ToolLoopError(ModelError):
    """A robot kept calling tools past ``max_tool_rounds``. Never retryable."""

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint, retryable=False, kind="tool_loop")


class ToolNotFoundError(RobotLabError):
    """A tool was named that is not there; the known ones are listed."""


class ToolError(RobotLabError):
    """Raised by a tool to tell the model what went wrong.

    Examples
    --------
    >>> ToolError("the service is busy", retryable=True).retryable
    True
    """


class BusError(RobotLabError):
    """A message could not be sent between robots."""


class BudgetExceeded(RobotLabError):
    """A budget of tokens, cost, calls or time would be passed.

    Attributes
    ----------
    budget, dimension : str
        The budget's name; ``tokens, cost, seconds`` or ``calls``.
    limit, used, reserved, asked : float
        In tokens, US dollars, seconds or calls.
    """

    budget: str = ""
    dimension: str = ""
    limit: float = 0.0
    used: float = 0.0
    reserved: float = 0.0
    asked: float = 0.0


class AwaitTimeout(RobotLabError, TimeoutError):
    """A wait reached its deadline."""


class DelegationTimeout(RobotLabError, TimeoutError):
    """A delegated task did not finish in time."""


class GraphError(ConfigurationError):
    """A network cannot run; every fault is listed."""


class TaskNotRun(RobotLabError, KeyError):
    """A known task has no result: it was skipped, blocked or never reached."""

    __str__ = RobotLabError.__str__


class RunWaiting(RobotLabError):
    """A run waits for a person's answer and has no text yet."""


class RunInterrupted(RobotLabError):
    """A run was stopped before it finished."""


class NoAnswerChannel(RobotLabError):
    """A person had to be asked and there was no way to ask."""


def near(name: str, known: Iterable[str] | Mapping[str, Any], *, limit: int = 12) -> str:
    """Say what a misspelt name may have meant.

    Parameters
    ----------
    name : str
        The name that was not found.
    known : iterable of str
        The names that exist.
    limit : int, optional
        How many names to list when none is near.

    Returns
    -------
    str
        ``"Did you mean 'x'?"``, or a list of the known names, or ``"There are none."``

    Examples
    --------
    >>> near("modle", ["model", "tools"])
    "Did you mean 'model'?"
    >>> near("zzz", ["model", "tools"])
    "Known: 'model', 'tools'."
    """
    import difflib

    names = [str(k) for k in known]
    if not names:
        return "There are none."
    close = difflib.get_close_matches(str(name), names, n=1, cutoff=0.6)
    if close:
        return f"Did you mean {close[0]!r}?"
    shown = ", ".join(repr(n) for n in names[:limit])
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"Known: {shown}{more}."


def _said(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return f"{type(error).__name__} (its message cannot be shown)"


def describe_error(error: BaseException) -> dict[str, Any]:
    """An error as JSON for events: type, message, hint, retryable, and what a ModelError adds."""
    out: dict[str, Any] = {"type": type(error).__name__, "message": _said(error)}
    if isinstance(error, RobotLabError):
        out["message"] = error.message
        if error.hint:
            out["hint"] = error.hint
        out["retryable"] = error.retryable
        for name in ("status", "kind", "retry_after"):
            value = getattr(error, name, None)
            if value is not None:
                out[name] = value
    notes = getattr(error, "__notes__", None)
    if notes:
        out["notes"] = list(map(str, notes))
    described: dict[str, Any] = secrets.redact_data(out)
    return described


def unwrap(error: Exception) -> Exception:
    """The error that a person is to meet: the one inside groups of one, no secret in it."""
    while isinstance(error, ExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    if secrets.any_known:
        from .error_chain import masked

        return masked(error)
    return error
