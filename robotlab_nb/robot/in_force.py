"""What is in force for a run: settings, model and tools, after all levels have had their say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.config import Effective, RunConfig, options, resolve
from ..models.resolve import resolve as resolve_model
from ..tools.decorator import ToolManifest
from ..tools.selection import select

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ..models.protocol import Model

__all__ = ["InForce", "Level", "in_force", "model_params", "run_level"]

#: an origin ("options", "network", "config", "robot", "task", "run") and what was set there
Level = tuple[str, "Mapping[str, Any]"]

NO_TOOLS = ToolManifest(())


class InForce(NamedTuple):
    """Settings with their origins, the model they name, and the tools they leave."""

    effective: Effective
    model: Model
    tools: ToolManifest


def in_force(levels: Iterable[Level]) -> InForce:
    """Overlay levels, weakest first; the process's options lie beneath them all.

    Raises
    ------
    ConfigurationError, ToolNotFoundError
        When the model or a tool cannot be meant.
    """
    whole = [("options", options.level()), *levels]
    effective = resolve(whole)
    values = effective.values_
    model = resolve_model(
        values["model"],
        provider=values["provider"],
        api_base=values["api_base"],
        api_key=values["api_key"],
        via=values["via"],
    )
    tools = NO_TOOLS
    for _, level in whole:
        if "tools" in level:
            tools = select(level["tools"], tools)
    return InForce(effective, model, tools)


def run_level(
    tools: Sequence[Any] | None,
    config: RunConfig | Mapping[str, Any] | None,
    on_content: Callable[[str], object] | None = None,
) -> dict[str, Any]:
    """What a run or a task sets, as one level: its keywords are stronger than its ``config=``."""
    level = dict(RunConfig.of(config)) if config is not None else {}
    if tools is not None:
        level["tools"] = tools
    if on_content is not None:
        level["on_content"] = on_content
    return level


#: settings that go to the model under their own names
_PARAMS = (
    "temperature", "top_p", "top_k", "max_tokens", "presence_penalty", "frequency_penalty",
    "stop", "seed", "reasoning_effort",
)  # fmt: skip


def model_params(values: Mapping[str, Any]) -> dict[str, Any]:
    """The sampling parameters that are set, and the provider's own options, for a request."""
    params = {name: values[name] for name in _PARAMS if values[name] is not None}
    more = values["provider_options"]
    return {**params, **more} if more else params
