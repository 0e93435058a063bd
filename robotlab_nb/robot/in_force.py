"""What is in force for a run: settings, models and tools, after all levels have had their say."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.config import Effective, RunConfig, options, resolve
from ..core.errors import ConfigurationError
from ..core.fields import FIELDS
from ..models.resolve import resolve as resolve_model
from ..tools.tool_source import pooled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..models.protocol import Model
    from ..tools.decorator import ToolManifest
    from ..tools.tool_source import ToolSource

__all__ = [
    "BUDGETS",
    "InForce",
    "Level",
    "chain",
    "handlers_of",
    "in_force",
    "model_params",
    "run_level",
]

#: an origin ("options", "network", "template:x", "config", "robot", "task", "run") and what was
#: set there
Level = tuple[str, "Mapping[str, Any]"]

#: settings that make a budget: each level's is its owner's and does not cascade
BUDGETS = ("budget", "token_budget", "cost_budget", "time_budget", "call_budget")


class InForce(NamedTuple):
    """Settings with their origins, and what they name: models, tools, handlers, any budget."""

    effective: Effective
    model: Model
    tools: ToolManifest
    fallbacks: tuple[Model, ...] = ()
    hooks: tuple[tuple[str, Any], ...] = ()
    budgeted: bool = False
    #: tool servers, of which nothing is connected yet
    servers: ToolSource | None = None


def in_force(levels: Iterable[Level]) -> InForce:
    """Overlay levels, weakest first; the process's options lie beneath them all.

    Raises
    ------
    ConfigurationError, ToolNotFoundError
        When a model or a tool cannot be meant.
    """
    whole = [*options.levels(), *levels]
    effective = resolve(whole)
    values = effective.values_
    model = resolve_model(
        values["model"],
        provider=values["provider"],
        api_base=values["api_base"],
        api_key=values["api_key"],
        via=values["via"],
    )
    tools, servers = pooled(whole)
    hooks = handlers_of(whole) if values["hooks"] is not None else ()
    budgeted = any(values[name] is not None for name in BUDGETS)
    return InForce(effective, model, tools, _fallbacks(values, model), hooks, budgeted, servers)


def handlers_of(levels: Iterable[Level]) -> tuple[tuple[str, Any], ...]:
    """The handlers of all levels with their origins: they add up, none replaces another."""
    from ..runtime.hook_chain import registrations

    return tuple(
        (origin, registrations(level["hooks"], f"hooks= ({origin})"))
        for origin, level in levels
        if level.get("hooks") is not None
    )


def chain(handlers: tuple[tuple[str, Any], ...]) -> Any:
    """The handlers of all levels, those of the process first; None when there are none."""
    # The process's handlers live in a module that is loaded when somebody has some.
    if not handlers and "robotlab_nb.runtime.hook_registry" not in sys.modules:
        return None
    from ..runtime.hook_chain import collect

    return collect(handlers)


def _fallbacks(values: Mapping[str, Any], first: Model) -> tuple[Model, ...]:
    """The models to ask when the first one fails: full names, or Models.

    One of the first one's provider is asked at the same address, with the same key.
    """
    given = values["fallback"]
    if given is None:
        return ()
    if not isinstance(given, (list, tuple)):
        given = [given]
    for one in given:
        if isinstance(one, str) and "/" not in one:
            raise ConfigurationError(
                f"fallback={one!r} does not say whose model it is",
                hint='Write "provider/name", or pass a Model.',
            )
    found = []
    for one in given:
        if isinstance(one, str) and one.partition("/")[0] == first.provider:
            address = {"api_base": values["api_base"], "api_key": values["api_key"]}
            found.append(resolve_model(one, via=values["via"], **address))
        else:
            found.append(resolve_model(one))
    return tuple(found)


def run_level(
    tools: Sequence[Any] | None,
    config: RunConfig | Mapping[str, Any] | None,
    **keywords: Any,
) -> dict[str, Any]:
    """What a run or a task sets, as one level: its keywords are stronger than its ``config=``."""
    level = dict(RunConfig.of(config)) if config is not None else {}
    if tools is not None:
        level["tools"] = tools
    for name, value in keywords.items():
        if value is not None:
            level[name] = value
    return level


_PARAMS = {name: field.param for name, field in FIELDS.items() if field.param}


def model_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling parameters that are set, and the provider's own options, for a request."""
    params = {sent: values[n] for n, sent in _PARAMS.items() if values[n] is not None}
    more = values["provider_options"]
    return {**params, **more} if more else params
