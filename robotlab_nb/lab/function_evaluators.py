"""A person's own function as an evaluator: calling it in a thread or on the loop, within a time."""

from __future__ import annotations

import inspect
from functools import partial
from typing import TYPE_CHECKING, Any, overload

from ..core.errors import AwaitTimeout, ConfigurationError
from ..core.keys import task_fingerprint
from ..tools.failing import failure
from ..tools.running import Late, Raised, run_async, run_sync
from .evaluating import Evaluator, Judged, as_evaluator, renamed
from .scores import scores_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["FunctionEvaluator", "evaluator"]

#: seconds that a function has for an answer, unless it is said otherwise
TIMEOUT_S = 60.0
_OFFERED = Judged._fields
_TAKES = "It takes (input, output), (input, output, expected), or (output)."


class FunctionEvaluator(Evaluator):
    """A function that looks at an answer.

    Parameters
    ----------
    function : callable
        Its parameters are filled by name where they are called ``input``, ``output``,
        ``expected``, ``cell``, ``baseline``; else by place: (output), (input, output) or
        (input, output, expected).
    name : str, optional
        The function's own when left out.
    passes : float, optional
        The smallest number that is good enough.
    timeout : float or None, optional
        Seconds for one answer.

    Raises
    ------
    ConfigurationError
        When it cannot be called so.
    """

    kind = "function"

    def __init__(
        self,
        function: Callable[..., Any],
        name: str | None = None,
        *,
        passes: float | None = None,
        timeout: float | None = TIMEOUT_S,
    ) -> None:
        super().__init__(name or _name_of(function))
        self.function = function
        self.passes = passes
        self.timeout = timeout
        self._places, self._names = _parameters(function, self.name)
        self._is_async = _is_async(function)

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Digests of its source, and of what it closes over or holds where that is plain."""
        function = self.function
        held: list[Any] = [self.passes, _name_of(function)]
        held.append([_plain(value) for value in _held(function)])
        return task_fingerprint({"evaluator": held}, [function])

    def told(self) -> Iterable[tuple[str, Any]]:
        """What it is, for people: names and values."""
        takes = ", ".join((*self._places, *self._names))
        yield "function", f"{_name_of(self.function)}({takes})"
        if self.passes is not None:
            yield "passes", f"from {self.passes:g}"
        if self.timeout is not None:
            yield "time", f"{self.timeout:g} s"

    async def look(self, judged: Judged) -> Any:
        """Call the function; raises what it raised, or AwaitTimeout."""
        offered = judged._asdict()
        call = partial(
            self.function,
            *[offered[name] for name in self._places],
            **{name: offered[name] for name in self._names},
        )
        if self._is_async:
            found = await run_async(call, {}, self.timeout, None)
        else:
            found = await run_sync(call, {}, self.timeout)
        if isinstance(found, Late):
            still = "; its thread still runs and cannot be stopped" if found.leaked else ""
            raise AwaitTimeout(
                f"evaluator {self.name!r} took longer than {self.timeout:g} s{still}",
                hint="Give it more: rl.evaluator(function, timeout=300).",
            )
        if isinstance(found, Raised):
            # One that would end the loop, SystemExit say, stands behind another.
            raise failure(found.error, self.name).exception
        return scores_of(self.name, found.value, self.passes)


@overload
def evaluator(
    thing: None = None,
    *,
    name: str | None = None,
    passes: float | None = None,
    timeout: float | None = TIMEOUT_S,
) -> Callable[[Any], Evaluator]: ...
@overload
def evaluator(
    thing: Any,
    *,
    name: str | None = None,
    passes: float | None = None,
    timeout: float | None = TIMEOUT_S,
) -> Evaluator: ...
def evaluator(
    thing: Any = None,
    *,
    name: str | None = None,
    passes: float | None = None,
    timeout: float | None = TIMEOUT_S,
) -> Evaluator | Callable[[Any], Evaluator]:
    """Say more of an evaluator: its name, the number that is good enough, the time it has.

    A function works without this. Also a decorator.

    Parameters
    ----------
    thing : callable, re.Pattern, type or dict, optional
        A function, or whatever else judges an answer; left out in ``@rl.evaluator(passes=0.8)``.
    name : str, optional
        What its scores are called.
    passes : float, optional
        The smallest number that is good enough, so that a function that gives numbers has a pass
        rate.
    timeout : float or None, optional
        Seconds that a function has for one answer; None for no limit.

    Returns
    -------
    Evaluator
        It can be called like a function, to try it: ``judge("question", "answer")``.

    Raises
    ------
    ConfigurationError
        When it can judge nothing.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> @rl.evaluator(passes=0.5)
    ... def overlap(output, expected):
    ...     "Share of the expected words that are there."
    ...     wanted = set(expected.split())
    ...     return len(wanted & set(output.split())) / len(wanted)
    >>> overlap("a question", "red and green", "red green blue")
    <score overlap: passed, 0.666667>
    """
    if thing is None:
        return lambda given: evaluator(given, name=name, passes=passes, timeout=timeout)
    if passes is not None and (isinstance(passes, bool) or not isinstance(passes, (int, float))):
        raise ConfigurationError(f"passes={passes!r:.40} is no number")
    if timeout is not None and not (isinstance(timeout, (int, float)) and timeout > 0):
        raise ConfigurationError(f"timeout={timeout!r:.40} is no number of seconds")
    made = as_evaluator(thing, name)
    if not isinstance(made, FunctionEvaluator):
        if passes is not None:
            raise ConfigurationError(
                f"{made.name!r} says itself what is good enough; passes= is for functions"
            )
        return made
    again = renamed(made, made.name)
    again.passes, again.timeout = passes, timeout
    return again


def _name_of(function: Any) -> str:
    inner = getattr(function, "func", function)  # of a functools.partial
    name = getattr(inner, "__name__", None) or type(inner).__name__
    return "function" if name == "<lambda>" else str(name)


def _is_async(function: Any) -> bool:
    function = getattr(function, "func", function)
    own = type(function).__dict__.get("__call__")
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own)


def _parameters(function: Any, name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What a function is given: by place, and by name."""
    try:
        found = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        raise ConfigurationError(
            f"evaluator {name!r}: its parameters cannot be read", hint=f"Wrap it. {_TAKES}"
        ) from None
    kinds = inspect.Parameter
    named = [p.name for p in found if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    needed = [p for p in found if p.default is p.empty and p.kind in _FILLED]
    if needed and all(p.name in _OFFERED and p.name in named for p in needed):
        return (), tuple(each for each in named if each in _OFFERED)
    by_place = [p for p in needed if p.kind is not kinds.KEYWORD_ONLY]
    others = [p.name for p in needed if p.kind is kinds.KEYWORD_ONLY and p.name not in _OFFERED]
    order = {1: ("output",), 2: ("input", "output"), 3: ("input", "output", "expected")}
    if others or len(by_place) not in order:
        if not needed and any(p.kind is kinds.VAR_POSITIONAL for p in found):
            return ("input", "output"), ()
        raise ConfigurationError(
            f"evaluator {name!r} cannot be called: it takes "
            f"({', '.join(p.name for p in found) or 'nothing'})",
            hint=_TAKES,
        )
    by_name = [p.name for p in needed if p.kind is kinds.KEYWORD_ONLY]
    return order[len(by_place)], tuple(by_name)


_FILLED = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _held(function: Any) -> list[Any]:
    """What a function closes over, what a partial holds, what defaults there are."""
    held: list[Any] = []
    if isinstance(function, partial):
        held += [*function.args, *[v for _, v in sorted(function.keywords.items())]]
        function = function.func
    for cell in getattr(function, "__closure__", None) or ():
        try:
            held.append(cell.cell_contents)
        except ValueError:  # not filled yet
            held.append(None)
    held += getattr(function, "__defaults__", None) or ()
    held += [v for _, v in sorted((getattr(function, "__kwdefaults__", None) or {}).items())]
    return held


def _plain(value: Any) -> Any:
    """A value as it can be told in every process; of others, only the type."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, (set, frozenset)):
        return sorted(str(_plain(each)) for each in value)
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    code = getattr(value, "__code__", None)
    if code is not None:
        return task_fingerprint({"name": str(getattr(value, "__name__", ""))}, [value])
    return type(value).__qualname__
