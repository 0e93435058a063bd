"""What a task sees of the tasks before it: their results by name, and the text they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.errors import TaskNotRun, near

__all__ = ["Upstream", "fan_in"]


def fan_in(results: Mapping[str, Any]) -> str:
    """The text of several results: one alone as it is, more each under its task's name.

    Examples
    --------
    >>> fan_in({"a": "yes"})
    'yes'
    >>> print(fan_in({"a": "yes", "b": "no"}))
    a:
    yes
    <BLANKLINE>
    b:
    no
    """
    if len(results) == 1:
        return str(next(iter(results.values())))
    return "\n\n".join(f"{name}:\n{result}" for name, result in results.items())


class Upstream(Mapping[str, Any]):
    """Finished dependencies' results by task name. ``str()`` is their text.

    In a prompt, ``{{ upstream }}`` prints that text and ``{{ upstream.billing }}`` one result's.

    Parameters
    ----------
    results : mapping
        In the order that the task declared.
    routers : frozenset of str
        Those that only routed: their text is not part of the default prompt.
    known : sequence of str
        All dependencies, finished or not.
    """

    def __init__(
        self,
        results: Mapping[str, Any],
        *,
        routers: frozenset[str] = frozenset(),
        known: tuple[str, ...] = (),
    ) -> None:
        self._results = dict(results)
        self._routers = routers
        self._known = known

    def __getitem__(self, name: str) -> Any:
        try:
            return self._results[name]
        except KeyError:
            if name in self._known:
                raise TaskNotRun(
                    f"task {name!r} has no result here", hint="It did not run; use .get()."
                ) from None
            raise KeyError(f"{name!r} is not upstream. {near(name, self._known)}") from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._results[name]
        except KeyError:
            raise AttributeError(
                f"nothing upstream is called {name!r}. {near(name, self._results)}"
            ) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(name for name in self if name.isidentifier())]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._results)

    def __str__(self) -> str:
        return fan_in(self._results) if self._results else ""

    def __repr__(self) -> str:
        return f"<Upstream: {', '.join(self._results) or 'nothing'}>"

    def default_prompt(self, message: str) -> str:
        """What a robot is asked when its task has no ``prompt=``.

        The original message at a root, and wherever all finished dependencies only routed; else
        the text of the others.
        """
        told = {n: r for n, r in self._results.items() if n not in self._routers}
        return fan_in(told) if told else message
