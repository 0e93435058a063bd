"""A column of the grid: one prompt, one model, one value of each further axis; how it is asked.

What decides its answers is told as digests, so that a cell is known again in a later run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from ..core.config import RunConfig
from ..core.errors import ConfigurationError
from ..core.fields import FIELDS
from ..core.keys import digest, task_fingerprint
from ..core.messages import Message
from ..models.simulated import SimulatedModel
from ..network.fingerprints import cascade, fingerprint
from ..robot.in_force import in_force, model_params, run_level
from ..robot.robot import Robot
from ..tools.preview import preview

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..models.protocol import Model
    from ..prompts.composing import Composition
    from ..robot.in_force import InForce
    from ..runtime.run import Run
    from .rows import Row
    from .variants import Variant

__all__ = ["GridColumn"]

#: settings that are told elsewhere, or change no answer: how long, how often, how fast it is asked
_ELSEWHERE = frozenset(
    {
        "model", "tools", "output", "fallback", "provider", "api_base", "api_key", "via",
        "attempts", "retry_interval", "retry_backoff", "retry_jitter", "model_timeout",
        "requests_per_minute", "tokens_per_minute", "allow_unpriced", "cache", "ask_timeout",
        *(name for name, field in FIELDS.items() if field.param), "provider_options",
    }
)  # fmt: skip
#: what simulated models of unknown ways are known by
_own: WeakKeyDictionary[Model, str] = WeakKeyDictionary()


class GridColumn:
    """One column.

    Parameters
    ----------
    variant : Variant
    model : Model or None
        None where the prompt keeps its own.
    settings, values : mapping
        Of the further axes: settings, and what placeholders stand for.
    tools, output : object
        As :func:`compare` was given them.

    Attributes
    ----------
    at : tuple of int
        Its place on the axes of prompts and models, and on the further ones.
    models : tuple of Model
        Those that it may ask.
    parts : dict of str to str
        Digests of what decides its answers.

    Raises
    ------
    ConfigurationError
        When it could not be asked: a missing key, a model that would not be used.
    """

    def __init__(
        self,
        variant: Variant,
        model: Model | None,
        settings: Mapping[str, Any],
        values: Mapping[str, Any],
        *,
        tools: Any = None,
        output: Any = None,
        at: tuple[int, ...] = (),
    ) -> None:
        self.variant = variant
        self.values = values
        self.at = at
        level = run_level(tools, settings, output=output)
        if model is not None:
            level["model"] = model
        self.network: Any = None
        self._templates: Composition | None = None
        self.robot: Any = None
        self._level: dict[str, Any] = {}
        if variant.kind == "network":
            self._of_network(level)
        else:
            self._of_robot(level)
        for each in self.models:
            each.check()

    @property
    def simulated(self) -> bool:
        """Whether all its answers are made up."""
        return bool(self.models) and all(model.simulated for model in self.models)

    @property
    def account(self) -> str:
        """What its models have in common when one of them is refused: names and addresses."""
        return "\n".join(f"{model.name} {model.endpoint}" for model in self.models)

    # -- what it is ------------------------------------------------------------------------

    def _of_robot(self, level: dict[str, Any]) -> None:
        variant = self.variant
        if variant.kind == "robot":
            self.robot, self._level = variant.thing, level
        else:
            made: dict[str, Any] = {}
            if variant.kind == "template":
                made["template"] = variant.thing
            elif variant.kind == "system":
                made["system_prompt"] = variant.system(self.values)
            self.robot = Robot(variant.name, **made, **level)
        found, composition = self.robot.look()
        if self._level:
            levels = (*self.robot.levels(composition), ("run", self._level))
            found = in_force(levels)
        self.models: tuple[Model, ...] = (found.model, *found.fallbacks)
        self.tools: Any = found.tools
        self.most_tokens: int | None = found.effective.values_["max_tokens"]
        self._templates = composition
        templates = [] if composition is None else [part.text for _, part in composition.parts]
        self.uses_columns = bool(composition) or (variant.takes_columns and bool(found.tools))
        self.parts = task_fingerprint(
            {
                "prompt": [self.robot.system_prompt, templates],
                "model": _named(found.model),
                "settings": [*_settings(found), _deciding(level)],
                "tools": found.tools.key,
            },
            [tool.function for tool in found.tools if tool.function is not None],
        )
        self.system = "\n".join([*templates, self.robot.system_prompt or ""])

    def _of_network(self, level: dict[str, Any]) -> None:
        network = self.network = self.variant.thing
        self._level = level
        graph = network.validate()
        config = network.config.merge(level) if level else network.config
        above = cascade((), config)
        inside = [
            [name, fingerprint(task, graph.nodes[name], above)]
            for name, task in network.tasks.items()
        ]
        self.models = tuple(_models_of(network, above, chosen="model" in level))
        self.tools, self.most_tokens, self.system, self.uses_columns = (), None, "", True
        named = [_named(model) for model in self.models]
        self.parts = task_fingerprint({"tasks": inside, "model": named})

    # -- asking ----------------------------------------------------------------------------

    def message(self, row: Row) -> Any:
        """What is said for a row.

        Raises
        ------
        ConfigurationError
            When a template lacks a value.
        """
        if self._templates is not None:
            self._check_templates(self._templates, row)
        return self.variant.message(row, self.values)

    def _check_templates(self, templates: Composition, row: Row) -> None:
        """See that a template can be filled in with a row; no command of it is run."""
        values = {**self.robot.build_context(), **row.columns}
        for _, part in templates.parts:
            facts = part.facts(values)
            why = facts["error"]
            if facts["missing"]:
                why = f"{', '.join(facts['missing'])} must be given"
            if why is not None:
                raise ConfigurationError(
                    f"prompt {self.variant.label!r}, input {row.label!r}: {why}",
                    hint=f"The input's columns are {', '.join(row.columns)}.",
                )

    def content(self, message: Any, row: Row) -> list[Any]:
        """What decides the answer to a message: the content of a cell's key."""
        said = message.id if isinstance(message, Message) else message
        columns = digest(row.told) if self.uses_columns else None
        return ["cell", self.parts, said, columns]

    def prepare(self, message: Any, row: Row, label: str) -> Run[Any]:
        """Make the run that asks, inside the run that is going on."""
        context = row.columns if self.variant.takes_columns else None
        if self.network is not None:
            run: Run[Any] = self.network.prepare(
                message, context=context, config=self._level or None, label=label
            )
            return run
        run = self.robot.prepare(message, self._level, context=context, label=label, keep=False)
        return run


def _named(model: Model) -> list[Any]:
    """What a model is known by: where it is asked; of a simulated one also what it answers."""
    told: list[Any] = [model.name, model.endpoint]
    if isinstance(model, SimulatedModel):
        function = model._function
        source = None if function is None else task_fingerprint({}, [function])
        told += [source, [repr(entry) for entry in model._script]]
    elif model.simulated:  # nobody knows what it will say: it is known again as itself alone
        told.append(_own.setdefault(model, os.urandom(8).hex()))
    return told


def _deciding(level: Mapping[str, Any]) -> Any:
    """Settings of the grid itself that may change an answer, besides what is sent to the model."""
    told = {name: value for name, value in level.items() if name not in _ELSEWHERE}
    return preview(told).data if told else None


def _settings(found: InForce) -> list[Any]:
    values = found.effective.values_
    told: list[Any] = [preview(model_params(values)).data]
    if values["output"] is not None:
        from ..robot.structured import shape_of

        shape = shape_of(values["output"], values, found.model, tools=found.tools.names)
        told.append(None if shape is None else shape.schema)
    if found.fallbacks:
        told.append([_named(model) for model in found.fallbacks])
    return told


def _models_of(network: Any, above: Any, *, chosen: bool) -> list[Model]:
    """The models that the robots of a network ask."""
    found: list[Model] = []
    for task in network.tasks.values():
        if task.is_network:
            config = task.runner.config
            if task.config is not None:
                config = config.merge(RunConfig.of(task.config))
            found += _models_of(task.runner, cascade(above, config), chosen=chosen)
        elif task.is_robot:
            robot = task.runner
            level = run_level(task.tools, task.config)
            _, composition = robot.look()
            force = in_force((*above, *robot.levels(composition), ("task", level)))
            if chosen and force.effective.origins.get("model") != "network":
                raise ConfigurationError(
                    f"network {network.name!r}: robot {robot.name!r} has a model of its own, which "
                    "models= would not change",
                    hint="Leave out models=, or the robot's model=.",
                )
            found += [force.model, *force.fallbacks]
    return list(dict.fromkeys(found))


def own_label(columns: list[GridColumn]) -> str:
    """The label of the models' axis where each prompt keeps its own."""
    names = dict.fromkeys(column.models[0].name for column in columns if column.models)
    return next(iter(names)) if len(names) == 1 else "its own"
