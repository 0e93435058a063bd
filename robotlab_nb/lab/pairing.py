"""Which cell an answer is compared with: the one at the same place of another variant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from .cell import Cell
    from .evaluating import Evaluator

__all__ = ["baseline_of", "check_baselines", "place_of", "places_of"]

#: where a cell stands on every axis
Place = tuple[tuple[str, "Hashable"], ...]


def place_of(cell: Cell, values: Mapping[str, Any] | None = None) -> Place:
    """Where a cell stands; or where one would that has other values on some axes."""
    axes = {**cell.axes, **(values or {})}
    return tuple((name, _hashable(axes[name])) for name in sorted(axes))


def places_of(cells: Iterable[Cell]) -> dict[Place, int]:
    """Where all cells stand -> their index; for :func:`baseline_of` of many."""
    return {place_of(cell): cell.index for cell in cells}


def _hashable(value: Any) -> Hashable:
    try:
        hash(value)
    except TypeError:
        return repr(value)
    found: Hashable = value
    return found


def baseline_of(
    cells: Sequence[Cell],
    cell: Cell,
    baseline: Mapping[str, Any] | None,
    places: Mapping[Place, int] | None = None,
) -> Cell | None:
    """The cell that a cell is compared with.

    Parameters
    ----------
    cells : sequence of Cell
        All cells of the experiment.
    cell : Cell
    baseline : mapping
        Values by axis, of the variant that is compared with.
    places : mapping, optional
        What :func:`places_of` gave for these cells, where many are looked up.

    Returns
    -------
    Cell or None
        None for the baseline's own cells, and where there is no such cell.

    Examples
    --------
    >>> from robotlab_nb.lab.cell import Cell
    >>> cells = [Cell(n, "", prompt, "m", "rain") for n, prompt in enumerate(["short", "long"])]
    >>> baseline_of(cells, cells[1], {"prompt": "short"}).index
    0
    >>> baseline_of(cells, cells[0], {"prompt": "short"}) is None
    True
    """
    if not baseline:
        return None
    wanted = place_of(cell, baseline)
    if wanted == place_of(cell):
        return None
    index = (places_of(cells) if places is None else places).get(wanted)
    return None if index is None else cells[index]


def check_baselines(evaluators: Iterable[Evaluator], axes: Mapping[str, Sequence[Any]]) -> None:
    """Raise for a baseline that names no variant of an experiment.

    Parameters
    ----------
    evaluators : iterable of Evaluator
    axes : mapping
        Labels by axis.

    Raises
    ------
    ConfigurationError

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> better = rl.judge("Which is clearer?", baseline="sort")
    >>> check_baselines([better], {"prompt": ("short", "long"), "model": ("m",)})
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: judge 'judge': there is no prompt 'sort' to \
compare with. Did you mean 'short'?
    """
    for evaluator in evaluators:
        for axis, value in (evaluator.baseline or {}).items():
            said = f"{evaluator.kind} {evaluator.name!r}"
            if axis not in axes:
                raise ConfigurationError(
                    f"{said}: there is no axis {axis!r:.60} to compare along", hint=near(axis, axes)
                )
            if value not in axes[axis]:
                known = [str(label) for label in axes[axis]]
                raise ConfigurationError(
                    f"{said}: there is no {axis} {value!r:.60} to compare with",
                    hint=near(str(value), known),
                )
