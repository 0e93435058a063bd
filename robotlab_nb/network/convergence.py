"""A condition for tasks and loops: whether what several tasks said is the same by now.

It looks at results upstream, says what it found in an event of the run, and decides nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.convergence import THRESHOLD, check_threshold, lowest
from ..core.errors import ConfigurationError, TaskNotRun, near
from ..runtime.working import current_work

__all__ = ["ConvergenceGate", "convergence_gate"]

#: how a result stands that is not what its task had to say
_BROKEN_OFF = ("failed", "interrupted")


class ConvergenceGate:
    """True while the results of tasks say the same. Made by :func:`convergence_gate`.

    Parameters
    ----------
    names : tuple of str
        The tasks; all that are upstream when empty.
    threshold : float
    inverted : bool, optional
        Whether it is true while they do not.
    """

    __slots__ = ("inverted", "names", "threshold")

    def __init__(self, names: tuple[str, ...], threshold: float, *, inverted: bool = False) -> None:
        self.names = names
        self.threshold = threshold
        self.inverted = inverted

    def __call__(self, upstream: Mapping[str, Any]) -> bool:
        """Compare the results, and record what was found in the current run, if there is one.

        Parameters
        ----------
        upstream : mapping of str to result or text
            Of a network that is repeated, its result: its tasks are compared.

        Returns
        -------
        bool

        Raises
        ------
        ConfigurationError
            When a task that was named is not upstream, or it was given a single result.
        """
        texts = self._texts(upstream)
        score = lowest(texts) if len(texts) > 1 else None
        reached = score is not None and score >= self.threshold
        run = current_work()
        if run is not None:
            run.emit(
                "guard.convergence",
                {
                    "score": score,
                    "threshold": self.threshold,
                    "converged": reached,
                    "texts": len(texts),
                },
            )
        return reached is not self.inverted

    def _texts(self, upstream: Mapping[str, Any]) -> list[Any]:
        """What the tasks said; those that did not run, or not to their end, said nothing."""
        if not isinstance(upstream, Mapping):
            raise ConfigurationError(
                f"a convergence gate compares results of tasks, not a {type(upstream).__name__}",
                hint="What is repeated until it holds must be a network: its tasks are compared.",
            )
        found = []
        for name in self.names or upstream:
            try:
                result = upstream[name]
            except TaskNotRun:
                continue
            except KeyError:
                raise ConfigurationError(
                    f"a convergence gate compares {name!r}, which is not upstream of its task",
                    hint=f"{near(name, upstream)} Name it in depends_on= too.",
                ) from None
            if getattr(result, "status", None) not in _BROKEN_OFF:
                found.append(result)
        return found

    def __invert__(self) -> ConvergenceGate:
        return ConvergenceGate(self.names, self.threshold, inverted=not self.inverted)

    def __repr__(self) -> str:
        arguments = [*map(repr, self.names), f"threshold={self.threshold:g}"]
        return f"{'~' * self.inverted}convergence_gate({', '.join(arguments)})"


def convergence_gate(*tasks: str, threshold: float = THRESHOLD) -> ConvergenceGate:
    """Make a condition that is true when tasks have said the same, by the words that they share.

    For ``when=`` of a task, and for ``until=`` of a loop around a network. ``~`` in front turns it
    round: a task with ``when=~rl.convergence_gate("a", "b")`` runs only if the two do not agree.
    Each look is an event ``guard.convergence`` of the run.

    Parameters
    ----------
    *tasks : str
        The tasks to compare, two or more; all that are upstream when left out. One that did not
        run counts as not there, and what is left alone has not converged.
    threshold : float, optional
        What any two of their texts score at least; see :func:`robotlab_nb.agreement`.

    Returns
    -------
    ConvergenceGate

    Raises
    ------
    ConfigurationError
        For a single task, one that is there twice, or no name.
    InputError
        For a threshold that is not above 0 and up to 1.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("review")
    >>> first = net.task("first", lambda: "The charge is a duplicate: refund it.")
    >>> second = net.task("second", lambda: "Refund it: the charge is a duplicate.")
    >>> third = net.task("reconcile", lambda upstream: f"Both say: {upstream}",
    ...                  depends_on=["first", "second"], when=~convergence_gate("first", "second"))
    >>> net.run("Charged twice!").state.tasks["reconcile"].status
    'skipped'
    """
    check_threshold(threshold)
    for name in tasks:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(
                f"a convergence gate compares tasks by name, not {name!r:.60}",
                hint='Write rl.convergence_gate("first", "second").',
            )
    if len(set(tasks)) < len(tasks) or len(tasks) == 1:
        raise ConfigurationError(
            f"a convergence gate compares different tasks, not {', '.join(map(repr, tasks))}",
            hint="Name two or more, or none for all that are upstream.",
        )
    return ConvergenceGate(tasks, threshold)
