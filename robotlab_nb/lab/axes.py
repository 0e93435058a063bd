"""The axes besides prompts and inputs: models, further settings or values, repeats."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..core.errors import ConfigurationError, near
from ..core.fields import FIELDS
from ..models.protocol import Model
from ..models.resolve import resolve
from ..tools.preview import preview
from .labelling import short, unique
from .state import AXES

__all__ = ["Axis", "read_models", "read_params", "read_repeats"]

#: settings that are no matter of one cell
_NOT_SETTINGS = frozenset(
    {
        "model", "budget", "token_budget", "cost_budget", "time_budget", "call_budget", "log",
        "log_content", "redact", "show", "status", "session_id", "tags", "hooks", "answers",
        "on_content", "on_tool_call", "on_tool_result",
    }
)  # fmt: skip
MOST_REPEATS = 10_000


class Axis(NamedTuple):
    """A further axis: its values, their labels, and whether they are a setting's."""

    name: str
    labels: tuple[Any, ...]
    values: tuple[Any, ...]
    setting: bool


def read_models(models: Any) -> list[tuple[str | None, Model | None]]:
    """Models with their labels; None where every prompt keeps its own.

    Raises
    ------
    ConfigurationError
        When there is none, or one cannot be meant.

    Examples
    --------
    >>> read_models(None)
    [(None, None)]
    >>> [label for label, _ in read_models(["simulated", "openai/gpt-5-mini"])]
    ['simulated/rules', 'openai/gpt-5-mini']
    """
    if models is None:
        return [(None, None)]
    given: list[tuple[str | None, Any]]
    if isinstance(models, Mapping):
        given = [(str(label), each) for label, each in models.items()]
    elif isinstance(models, (str, Model)) or callable(models):
        given = [(None, models)]
    elif isinstance(models, Iterable):
        given = [(None, each) for each in models]
    else:
        raise ConfigurationError(f"models={models!r:.60} are no models", hint=_MODELS)
    if not given:
        raise ConfigurationError("there are no models", hint=_MODELS)
    for label, each in given:
        if each is None:
            raise ConfigurationError(f"models: {label or 'one'} is None", hint=_MODELS)
    found = [(label, resolve(each)) for label, each in given]
    labels = unique(short(label or model.name) for label, model in found)
    return [(label, model) for label, (_, model) in zip(labels, found, strict=True)]


_MODELS = (
    'Give names ("openai/gpt-5-mini") or Models: one, a list, or a dict by label. '
    "Without models=, each prompt is asked with its own."
)


def read_params(params: Any, named: Iterable[str], columns: Iterable[str]) -> list[Axis]:
    """Further axes: settings, and values of placeholders.

    Parameters
    ----------
    params : mapping or None
        Values by name; one that is no list is a list of one.
    named : iterable of str
        The placeholders that prompts have.
    columns : iterable of str
        The columns of the inputs.

    Raises
    ------
    ConfigurationError
        For a name that is neither, and for a value that the setting does not take.

    Examples
    --------
    >>> axes = read_params({"temperature": [0, 1], "tone": ["kind"]}, ["tone"], [])
    >>> [(axis.name, axis.labels, axis.setting) for axis in axes]
    [('temperature', (0, 1), True), ('tone', ('kind',), False)]
    """
    if params is None:
        return []
    if not isinstance(params, Mapping):
        raise ConfigurationError(
            f"params={params!r:.60} is no mapping", hint="Write params={'temperature': [0, 1]}."
        )
    named, columns = frozenset(named), frozenset(columns)
    return [_axis(str(name), values, named, columns) for name, values in params.items()]


def _axis(name: str, values: Any, named: frozenset[str], columns: frozenset[str]) -> Axis:
    if name in AXES:
        raise ConfigurationError(
            f"params: {name!r} is an axis already", hint=f"Pass {name}s= itself."
        )
    setting = name in FIELDS and name not in _NOT_SETTINGS
    if name in named and name in columns:
        raise ConfigurationError(
            f"params: {name!r} is a column of the inputs, too", hint="Rename one of them."
        )
    if not setting and name not in named:
        known = [*named, *(field for field in FIELDS if field not in _NOT_SETTINGS)]
        raise ConfigurationError(
            f"params: {name!r} is no setting, and no prompt has a placeholder {{{{ {name} }}}}",
            hint=near(name, known),
        )
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        values = [values]
    each = tuple(values)
    if not each:
        raise ConfigurationError(f"params: {name!r} has no values", hint="Give one at least.")
    if setting:
        from ..core.config import check

        each = tuple(
            [v if name == "tools" or v is None else check(name, v, "params") for v in each]
        )
    return Axis(name, _labels(each), each, setting and name not in named)


def _labels(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Plain values as they are, others in words; each its own."""
    plain = all(isinstance(v, (str, int, float, bool)) or v is None for v in values)
    if plain and len(set(map(str, values))) == len(values):
        return tuple(short(v) if isinstance(v, str) else v for v in values)
    return tuple(unique(short(_word(v)) for v in values))


def _word(value: Any) -> str:
    name = getattr(value, "__name__", None)
    if isinstance(name, str):
        return name
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_word, value)) or "none"
    return str(preview(value).data)


def read_repeats(repeats: Any) -> int:
    """How often each cell is asked.

    Raises
    ------
    ConfigurationError
        When that is no whole number from 1 up.
    """
    if type(repeats) is not int or not 1 <= repeats <= MOST_REPEATS:
        raise ConfigurationError(
            f"repeats={repeats!r:.40} is no number of times",
            hint=f"Give a whole number from 1 to {MOST_REPEATS:,}.",
        )
    return repeats
