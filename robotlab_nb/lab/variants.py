"""What stands on the axis of prompts: texts, templates, robots and networks.

A text that names columns of the inputs is what is said, filled in; any other text is a system
prompt, and the input is what is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, near
from ..core.messages import Message
from ..network.network import Network
from ..prompts.rendering import check_prompt, placeholders, render
from ..prompts.templates import Template
from ..robot.robot import Robot
from .labelling import short, unique

if TYPE_CHECKING:
    from .rows import Row

__all__ = ["Variant", "read_variants"]

_HINT = (
    "Give texts, templates, robots or networks: a list, or a dict by label. A text may name "
    "columns of the inputs: 'Summarise {{ text }}'."
)


@dataclass(slots=True)
class Variant:
    """One prompt.

    Parameters
    ----------
    label : str
    kind : str
        ``message`` (a text that is filled in and said), ``system`` (a text that comes first),
        ``template``, ``said`` (a template that is said itself), ``robot``, ``network``.
    thing : object
        As it was given.
    name : str
        What its robot is called: the label where somebody chose it. A label that is made of a
        text is said nowhere but in the plan.
    """

    label: str
    kind: str
    thing: Any
    name: str = ""

    @property
    def text(self) -> str:
        """The prompt in full, or what can be told of it."""
        thing = self.thing
        if isinstance(thing, str):
            return thing
        if isinstance(thing, Template):
            return str(thing.body)
        if isinstance(thing, Robot):
            if thing.system_prompt is not None:
                return str(thing.system_prompt)
            return f"robot {thing.name}"
        return f"network {thing.name}: {', '.join(thing.tasks)}"

    @property
    def takes_columns(self) -> bool:
        """Whether the columns of a row are handed on as values."""
        return self.kind in ("template", "robot", "network")

    def message(self, row: Row, more: Mapping[str, Any]) -> Any:
        """What is said for a row.

        Raises
        ------
        InputError
            When there is nothing to say.
        ConfigurationError
            When a placeholder has no value.
        """
        if self.kind == "message":
            return render(self.thing, {**row.values, **more}, where=self._where(row))
        if self.kind == "said":
            return self.thing.render(row.values)
        if row.message is None:
            raise InputError(
                f"prompt {self.label!r} names no column, and which of the columns "
                f"{', '.join(row.columns)} is said cannot be told",
                hint="Call that column 'input', or write {{ column }} in the prompt.",
            )
        return row.message

    def system(self, more: Mapping[str, Any]) -> str:
        """The system prompt, filled in with the values of further axes."""
        made = render(self.thing, more, where=f"prompt {self.label!r}") if more else self.thing
        return str(made)

    def lacking(self, row: Row, more: Mapping[str, Any]) -> frozenset[str]:
        """The names in the prompt that a row gives no value."""
        if self.kind != "message":
            return frozenset()
        return placeholders(self.thing) - row.values.keys() - more.keys()

    def _where(self, row: Row) -> str:
        return f"prompt {self.label!r}, input {row.label!r}"


def read_variants(prompts: Any, columns: Iterable[str]) -> list[Variant]:
    """The prompts that a person gives.

    Parameters
    ----------
    prompts : list, dict, or one prompt
    columns : iterable of str
        The columns of the inputs.

    Returns
    -------
    list of Variant

    Raises
    ------
    ConfigurationError
        When there is none, or something that is no prompt.

    Examples
    --------
    >>> found = read_variants({"terse": "Be brief.", "ask": "Where is {{ city }}?"}, ["city"])
    >>> [(each.label, each.kind) for each in found]
    [('terse', 'system'), ('ask', 'message')]
    """
    given: list[tuple[str | None, Any]]
    if isinstance(prompts, (str, Path, Template, Robot, Network)):
        given = [(None, prompts)]
    elif isinstance(prompts, Mapping):
        given = [(str(label), each) for label, each in prompts.items()]
    elif isinstance(prompts, Iterable):
        given = [(None, each) for each in prompts]
    else:
        raise ConfigurationError(f"prompts={prompts!r:.60} are no prompts", hint=_HINT)
    if not given:
        raise ConfigurationError("there are no prompts", hint=_HINT)
    names = frozenset(columns) | {"input", "row"}
    made = [_variant(label, each, names) for label, each in given]
    labels = unique(each.label for each in made)
    for place, (variant, label) in enumerate(zip(made, labels, strict=True)):
        variant.label = label
        text = given[place][0] is None and isinstance(variant.thing, str)
        variant.name = f"prompt {place + 1}" if text else label
    return made


def _variant(label: str | None, thing: Any, names: frozenset[str]) -> Variant:
    if isinstance(thing, Message):
        thing = thing.text
    if isinstance(thing, Path):
        thing = Template.load(thing)
    if isinstance(thing, str):
        if not thing.strip():
            raise ConfigurationError(
                f"prompt {label or ''!r} is empty",
                hint="For no prompt at all, pass a robot without one: {'none': rl.build()}.",
            )
        wrong = check_prompt(thing)
        if wrong is not None:
            raise ConfigurationError(
                f"prompt {label or short(thing)!r}: {wrong}",
                hint="Braces that are meant as they are: {% raw %}…{% endraw %}.",
            )
        kind = "message" if placeholders(thing) & names else "system"
        return Variant(label or short(thing), kind, thing)
    if isinstance(thing, Template):
        return Variant(label or thing.name, "template", thing)
    if isinstance(thing, Robot):
        return Variant(label or thing.name, "robot", thing)
    if isinstance(thing, Network):
        return Variant(label or thing.name, "network", thing)
    raise ConfigurationError(f"{thing!r:.60} is no prompt", hint=_HINT)


def check_placeholders(
    variants: Iterable[Variant], rows: Iterable[Row], given: Iterable[str]
) -> None:
    """Raise for placeholders that nothing gives a value, naming all of them, and where.

    Parameters
    ----------
    variants : iterable of Variant
    rows : iterable of Row
    given : iterable of str
        Names of further axes.

    Raises
    ------
    ConfigurationError
    """
    rows, more = list(rows), dict.fromkeys(given, "")
    for variant in variants:
        if variant.kind == "system":
            absent = placeholders(variant.thing) - more.keys()
            if absent:
                _raise_absent(variant, sorted(absent), None, [*rows[0].values, *more])
        for row in rows:
            absent = variant.lacking(row, more)
            if absent and not _renders(variant, row, more):
                _raise_absent(variant, sorted(absent), row, [*row.values, *more])


def _renders(variant: Variant, row: Row, more: Mapping[str, Any]) -> bool:
    """Whether a prompt does without a name in it: ``{{ tone | default("kind") }}``."""
    try:
        variant.message(row, more)
    except ConfigurationError:
        return False
    return True


def _raise_absent(variant: Variant, absent: list[str], row: Row | None, known: list[str]) -> None:
    names = ", ".join(f"{{{{ {name} }}}}" for name in absent)
    if row is not None and all(name in row.columns for name in absent):
        raise ConfigurationError(
            f"prompt {variant.label!r} needs {names}, and input {row.label!r} has no value there",
            hint="Fill the gaps (table.fillna('')), drop these rows, or write "
            f"{{{{ {absent[0]} | default('…') }}}}.",
        )
    where = "" if row is None else f", input {row.label!r}"
    known = [name for name in known if name != "row"]
    raise ConfigurationError(
        f"prompt {variant.label!r}{where}: nothing gives {names} a value",
        hint=near(absent[0], known),
    )
