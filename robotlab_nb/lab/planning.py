"""A plan: every cell of a grid with its message and its key. Nothing is sent for it."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError
from ..core.keys import cell_key
from ..core.messages import Message
from ..core.secrets import redact
from ..prompts.rendering import placeholders
from .axes import read_models, read_params, read_repeats
from .grid_columns import GridColumn, own_label
from .labelling import short
from .rows import read_rows
from .variants import check_placeholders, read_variants

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from .axes import Axis
    from .estimate import Estimate
    from .evaluating import Evaluator
    from .rows import Row
    from .variants import Variant

__all__ = ["Plan", "Planned", "make_plan"]

#: cells that one experiment has at most
MOST_CELLS = 1_000_000
#: cells that one event tells
CHUNK = 500


@dataclass(slots=True)
class Planned:
    """A cell that is to be asked: its column, its row, what is said, what it is known by."""

    index: int
    key: str
    column: GridColumn
    row: Row
    message: Any
    at: tuple[int, ...]


@dataclass
class Plan:
    """Everything that is decided before the first request.

    Attributes
    ----------
    axes : dict of str to tuple
        Labels by axis, in order.
    """

    name: str
    axes: dict[str, tuple[Any, ...]]
    variants: list[Variant]
    rows: list[Row]
    columns: list[GridColumn]
    cells: list[Planned]
    evaluators: tuple[Evaluator, ...] = ()
    estimate: Estimate | None = None
    #: what earlier runs answered, by key
    known: Mapping[str, Any] = field(default_factory=dict)
    #: keys of cells that an earlier run had begun, and nobody knows how they ended
    begun: Collection[str] = ()

    @property
    def simulated(self) -> bool:
        """Whether all answers will be made up."""
        return all(column.simulated for column in self.columns)

    def told(self) -> Iterator[dict[str, Any]]:
        """The plan as the data of ``experiment.planned`` events."""
        cells = [{"key": cell.key, "at": list(cell.at)} for cell in self.cells]
        yield {
            "axes": {name: list(labels) for name, labels in self.axes.items()},
            "sizes": [len(labels) for labels in self.axes.values()],
            "prompts": [variant.text for variant in self.variants],
            "inputs": [row.text for row in self.rows],
            "rows": [row.told for row in self.rows],
            "cells": cells[:CHUNK],
            "estimate": {} if self.estimate is None else self.estimate.to_dict(),
            "evaluators": {each.name: dict(each.fingerprint) for each in self.evaluators},
        }
        for at in range(CHUNK, len(cells), CHUNK):
            yield {"cells": cells[at : at + CHUNK]}


def make_plan(
    prompts: Any,
    models: Any,
    inputs: Any,
    *,
    repeats: Any = 1,
    params: Any = None,
    tools: Any = None,
    output: Any = None,
    evaluators: Any = (),
    mixed: bool = False,
    name: str | None = None,
) -> Plan:
    """Work out the cells of a grid, and see that each can be asked.

    Parameters as for :func:`compare`.

    Raises
    ------
    ConfigurationError, InputError
        When something cannot be meant. Nothing was sent.
    """
    rows = read_rows(inputs)
    names = dict.fromkeys(name for row in rows for name in row.columns)
    variants = read_variants(prompts, names)
    named = [n for v in variants if isinstance(v.thing, str) for n in placeholders(v.thing)]
    further = read_params(params, named, names)
    values = [axis.name for axis in further if not axis.setting]
    _fallback_to_text(variants, rows)
    check_placeholders(variants, rows, values)
    chosen = read_models(models)
    count = len(variants) * len(chosen) * len(rows) * read_repeats(repeats)
    for axis in further:
        count *= len(axis.values)
    if count > MOST_CELLS:
        raise ConfigurationError(
            f"this would be {count:,} cells", hint=f"An experiment has at most {MOST_CELLS:,}."
        )
    columns = list(_columns(variants, chosen, further, tools=tools, output=output))
    _check_mixed(columns, mixed)
    labels = [label or own_label(columns) for label, _ in chosen]
    axes = {
        "prompt": tuple(variant.label for variant in variants),
        "model": tuple(labels),
        "input": tuple(row.label for row in rows),
        **{axis.name: axis.labels for axis in further},
        "repeat": tuple(range(repeats)),
    }
    cells = list(_cells(columns, rows, repeats))
    made = Plan(_name(name, variants), axes, variants, rows, columns, cells)
    if evaluators:
        from .evaluating import as_evaluators
        from .pairing import check_baselines

        made.evaluators = as_evaluators(evaluators)
        check_baselines(made.evaluators, axes)
    return made


def _columns(
    variants: Sequence[Variant],
    models: Sequence[tuple[str | None, Any]],
    further: Sequence[Axis],
    *,
    tools: Any,
    output: Any,
) -> Iterator[GridColumn]:
    places = [range(len(axis.values)) for axis in further]
    for p, variant in enumerate(variants):
        for m, (_, model) in enumerate(models):
            for at in itertools.product(*places):
                settings: dict[str, Any] = {}
                values: dict[str, Any] = {}
                for axis, place in zip(further, at, strict=True):
                    (settings if axis.setting else values)[axis.name] = axis.values[place]
                yield GridColumn(
                    variant, model, settings, values, tools=tools, output=output, at=(p, m, *at)
                )


def _cells(columns: Sequence[GridColumn], rows: Sequence[Row], repeats: int) -> Iterator[Planned]:
    """Input by input, so that whatever is there of a grid that was stopped can be compared."""
    seen: Counter[str] = Counter()
    index = 0
    for r, row in enumerate(rows):
        asked = []
        for column in columns:
            message = _checked(column.message(row), column, row)
            content = column.content(message, row)
            first = cell_key(content)
            asked.append((column, message, content, seen[first]))
            seen[first] += 1
        for repeat in range(repeats):
            for column, message, content, occurrence in asked:
                prompt, model, *more = column.at
                yield Planned(
                    index, cell_key(content, occurrence, repeat), column, row, message,
                    (prompt, model, r, *more, repeat),
                )  # fmt: skip
                index += 1


def _checked(message: Any, column: GridColumn, row: Row) -> Any:
    if isinstance(message, Message) or message.strip():
        return message
    raise ConfigurationError(
        f"prompt {column.variant.label!r}, input {row.label!r}: there is nothing to say",
        hint="The text is empty. Drop that row, or write something.",
    )


def _fallback_to_text(variants: Sequence[Variant], rows: Sequence[Row]) -> None:
    """A template is said itself where no row has a message."""
    if any(row.message is not None for row in rows):
        return
    for variant in variants:
        if variant.kind == "template":
            variant.kind = "said"


def _check_mixed(columns: Sequence[GridColumn], mixed: bool) -> None:
    made_up = [column for column in columns if column.simulated]
    if mixed or not made_up or len(made_up) == len(columns):
        return
    real = next(column for column in columns if not column.simulated)
    raise ConfigurationError(
        f"simulated and real models are in one grid: {made_up[0].models[0].name} and "
        f"{real.models[0].name if real.models else real.variant.label}",
        hint="Made-up answers beside real ones mislead. Pass mixed=True if you mean it.",
    )


def _name(name: str | None, variants: Sequence[Variant]) -> str:
    if name is None:
        return f"compare {short(', '.join(variant.name for variant in variants), 40)}"
    if not isinstance(name, str) or not name.strip():
        raise ConfigurationError(f"an experiment's name is a text, not {name!r:.60}")
    return redact(name.strip())
