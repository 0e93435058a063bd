"""What goes through a person's own step of a network: a value, and what is to happen next.

A FlowResult is immutable: each method gives a new one. What it says is carried out by the
scheduler; nothing here knows a run.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["FlowResult", "Left", "joined"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class FlowResult(Pictured):
    """What a step of a network is given, and what it gives back.

    A Robot's subclass overrides ``call(self, flow)``; a function names ``flow`` among its
    parameters, or returns one of its own making.

    Parameters
    ----------
    value : object, optional
        What the step works on, and then what it made.
    context : mapping, optional
        Values for the steps after it. A step is given ``run_params`` (message and context of the
        run) and the results of the tasks before it, by name.
    errors : mapping of str to sequence of str, optional
        What was noted; it stops nothing.
    activated_steps : sequence of str, optional
        Optional tasks to run.
    halted : bool, optional
        Whether nothing new is to start.
    asked : mapping, optional
        Keywords for ``run(**…)``: what the network would have asked the robot.

    Examples
    --------
    >>> flow = FlowResult("a question")
    >>> flow.continue_with("an answer").activate("billing").activated_steps
    ('billing',)
    >>> flow.halt().halted, flow.halted
    (True, False)
    >>> dict(flow.with_error("price", "unknown").with_error("price", "odd").errors)
    {'price': ('unknown', 'odd')}
    """

    __slots__ = ("_activated", "_asked", "_context", "_errors", "_halted", "_value")

    def __init__(
        self,
        value: Any = None,
        *,
        context: Mapping[str, Any] | None = None,
        errors: Mapping[str, Iterable[str]] | None = None,
        activated_steps: Iterable[str] = (),
        halted: bool = False,
        asked: Mapping[str, Any] | None = None,
    ) -> None:
        self._value = value
        self._context = MappingProxyType(dict(context)) if context else _NOTHING
        self._errors = (
            MappingProxyType({k: tuple(v) for k, v in errors.items()}) if errors else _NOTHING
        )
        self._activated = tuple(dict.fromkeys(activated_steps))
        self._halted = halted
        self._asked = MappingProxyType(dict(asked)) if asked else _NOTHING

    @property
    def value(self) -> Any:
        """What the step works on, or what it made."""
        return self._value

    @property
    def context(self) -> Mapping[str, Any]:
        """Values that go along."""
        return self._context

    @property
    def errors(self) -> Mapping[str, tuple[str, ...]]:
        """What was noted, by key."""
        return self._errors

    @property
    def activated_steps(self) -> tuple[str, ...]:
        """Optional tasks that were activated, in order."""
        return self._activated

    @property
    def halted(self) -> bool:
        """Whether nothing new is to start."""
        return self._halted

    @property
    def continue_(self) -> bool:
        """Whether the network goes on."""
        return not self._halted

    @property
    def asked(self) -> Mapping[str, Any]:
        """Keywords for ``run(**…)``: what the network would have asked the robot."""
        return self._asked

    def _with(self, **changes: Any) -> FlowResult:
        kept = {
            "value": self._value, "context": self._context, "errors": self._errors,
            "activated_steps": self._activated, "halted": self._halted, "asked": self._asked,
        }  # fmt: skip
        return FlowResult(**{**kept, **changes})

    def continue_with(self, value: Any) -> FlowResult:
        """Go on with a value."""
        return self._with(value=value)

    def halt(self, value: Any = None) -> FlowResult:
        """Let nothing new start; the value as it is when None is given."""
        return self._with(halted=True, value=self._value if value is None else value)

    def with_context(self, key: str, value: Any) -> FlowResult:
        """Give a value to the steps after this one."""
        return self._with(context={**self._context, key: value})

    def with_error(self, key: str, message: str) -> FlowResult:
        """Note something that is wrong and stops nothing."""
        noted = (*self._errors.get(key, ()), str(message))
        return self._with(errors={**self._errors, key: noted})

    def activate(self, *tasks: str) -> FlowResult:
        """Have optional tasks run.

        Raises
        ------
        InputError
            For what is no name. Names are looked up when the step has ended.
        """
        for task in tasks:
            if not isinstance(task, str):
                raise InputError(f"activate() takes names of optional tasks, not {task!r:.80}")
        return self._with(activated_steps=(*self._activated, *tasks))

    def news(self, before: FlowResult) -> dict[str, list[str]]:
        """What was noted since another one."""
        found = {}
        for key, noted in self._errors.items():
            known = before.errors.get(key, ())
            fresh = [text for text in noted if text not in known]
            if fresh:
                found[str(key)] = fresh
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FlowResult):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"{self._value!r:.80}"]
        if self._activated:
            parts.append(f"activates {', '.join(self._activated)}")
        if self._errors:
            parts.append(f"notes {', '.join(self._errors)}")
        if self._halted:
            parts.append("halts")
        return f"<FlowResult: {'; '.join(parts)}>"


class Left:
    """What a run leaves that lives in its process alone: its context, and its steps' words.

    It is pickled as nothing.
    """

    __slots__ = ("context", "flows")

    def __init__(
        self,
        context: Mapping[str, Any] | None = None,
        flows: Mapping[str, FlowResult] | None = None,
    ) -> None:
        self.context = context or {}
        self.flows = flows or {}

    def __reduce__(self) -> Any:
        return Left, ()


def joined(flows: Iterable[FlowResult]) -> FlowResult:
    """What several steps before one say together: contexts overlaid in order, the rest added up.

    Examples
    --------
    >>> one = FlowResult(1).with_context("k", 1).activate("a")
    >>> two = FlowResult(2).with_context("k", 2).activate("a", "b")
    >>> both = joined([one, two])
    >>> both.context["k"], both.activated_steps
    (2, ('a', 'b'))
    """
    context: dict[str, Any] = {}
    errors: dict[str, dict[str, None]] = {}
    activated: list[str] = []
    for flow in flows:
        context |= flow.context
        for key, noted in flow.errors.items():
            errors.setdefault(key, {}).update(dict.fromkeys(noted))
        activated += flow.activated_steps
    return FlowResult(context=context, errors=errors, activated_steps=activated)
