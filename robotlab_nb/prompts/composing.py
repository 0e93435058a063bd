"""What a robot is told, put together of templates: its skills' texts, then its template's.

Works out what they say of the robot and which settings they make; renders when the values are
there. What the robot was given beside them stands above all of it and is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError
from .front_matter import is_dotted, resolve_tool
from .parameters import how_to_give, told
from .templates import Template, load_named, load_template

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ..tools.decorator import Tool

__all__ = ["Composition", "Section", "compose"]


class Section(NamedTuple):
    """A part of what a robot is told: ``"skill"`` or ``"template"``, its name, its text."""

    kind: str
    name: str
    text: str


@dataclass(frozen=True, eq=False)
class Composition:
    """A template and its skills, in the order in which they are told.

    Attributes
    ----------
    parts : tuple of (kind, Template)
        Skills first, those that a skill needs before it; the template last.
    repeats : tuple of str
        Skills that were named again and count once.
    """

    parts: tuple[tuple[str, Template], ...]
    repeats: tuple[str, ...] = ()

    @property
    def template(self) -> Template | None:
        """The template itself; None when there are skills alone."""
        kind, last = self.parts[-1]
        return last if kind == "template" else None

    @property
    def robot_name(self) -> str | None:
        """What the template calls a robot that was given no name."""
        return None if self.template is None else self.template.robot_name

    @property
    def description(self) -> str | None:
        """What the template says that the robot is for."""
        return None if self.template is None else self.template.description

    @property
    def tools(self) -> list[str] | None:
        """The tools that are named, each once, skills' first; None when nothing is said of tools.

        An empty list in a head takes away what came before it.
        """
        return _joined(part.tools for _, part in self.parts)

    def selection(self) -> list[str | Tool] | None:
        """What ``tools=`` would be given: :attr:`tools`, those named by their place found there.

        Raises
        ------
        ConfigurationError
            When there is none, or it is no tool; it names the template and its file.
        """
        if self.tools is None:
            return None
        by = {ref: part.where() for _, part in self.parts for ref in part.tools or ()}
        return [resolve_tool(ref, by[ref]) if is_dotted(ref) else ref for ref in self.tools]

    @property
    def mcp(self) -> list[Any] | None:
        """The tool servers that are named, as :attr:`tools`."""
        return _joined(part.source.front.mcp for _, part in self.parts)

    @property
    def names_servers(self) -> tuple[str, ...]:
        """The names of the parts that name tool servers."""
        return tuple(part.name for _, part in self.parts if part.source.front.mcp is not None)

    @property
    def agent_skills(self) -> bool | list[str] | None:
        """The agent skills that are named; True for all; None when nothing is said of them."""
        found: bool | list[str] | None = None
        for _, part in self.parts:
            said = part.source.front.agent_skills
            if said is None:
                continue
            if isinstance(said, bool):
                found = said
            elif found is not True:
                found = list(dict.fromkeys((*(found or ()), *said)))
        return found

    @property
    def levels(self) -> tuple[tuple[str, dict[str, Any]], ...]:
        """The settings that are made, weakest first: ``("skill:tone", {"temperature": 0.2})``."""
        found = ((f"{kind}:{part.name}", part.level()) for kind, part in self.parts)
        return tuple((origin, level) for origin, level in found if level)

    @property
    def runs_commands(self) -> bool:
        """Whether rendering may start commands, and so take long."""
        return any(part.source.front.shell for _, part in self.parts)

    def has_changed(self) -> bool:
        """Whether a file may be another than the one that was read."""
        return any(part.has_changed() for _, part in self.parts)

    def missing(self, context: Mapping[str, Any]) -> tuple[str, ...]:
        """The parameters that must be given and are not, each once."""
        found = [name for _, part in self.parts for name in part.missing(context)]
        return tuple(dict.fromkeys(found))

    def sections(self, context: Mapping[str, Any], *, robot: str) -> list[Section]:
        """Render everything, with one context for all.

        Parameters
        ----------
        context : mapping
        robot : str
            Whose they are, for errors.

        Returns
        -------
        list of Section
            In order; a part that renders to nothing is left out.

        Raises
        ------
        ConfigurationError
            When parameters are missing; it names them, the files that need them, and the robot.
            When one cannot be rendered.
        """
        absent = self.missing(context)
        if absent:
            needs = "; ".join(
                f"{part.where()} needs {told(names)}"
                for _, part in self.parts
                if (names := part.missing(context))
            )
            raise ConfigurationError(f"robot {robot!r}: {needs}", hint=how_to_give(absent))
        found = []
        for kind, part in self.parts:
            try:
                text = part.render(context)
            except ConfigurationError as error:
                raise ConfigurationError(
                    f"robot {robot!r}: {error.message}", hint=error.hint
                ) from error
            if text.strip():
                found.append(Section(kind, part.name, text))
        return found


def compose(
    template: Any, skills: Sequence[Any] | None, *, folder: str | Path, settings: Mapping[str, Any]
) -> Composition | None:
    """Put a template and its skills together.

    Skills are templates that come before it: those given here first, then those of its head. A
    skill's own skills come before the skill, however deep; each comes once.

    Parameters
    ----------
    template : str, Path, Template or None
    skills : sequence of str, Path or Template, optional
    folder : str or Path
        Where names are looked up.
    settings : mapping
        ``allow_shell`` and ``allow_environment`` are read.

    Returns
    -------
    Composition or None
        None when there is neither a template nor a skill.

    Raises
    ------
    ConfigurationError
        When a template or a skill is not there or is broken.

    Examples
    --------
    >>> tone = Template("Be kind.", "tone")
    >>> found = compose(Template("Greet {{ name }}."), [tone], folder=".", settings={})
    >>> [section.text for section in found.sections({"name": "Ada"}, robot="x")]
    ['Be kind.', 'Greet Ada.']
    """
    given = _as_list(skills)
    if template is None and not given:
        return None
    order = _Order(settings)
    main = None
    if template is not None:
        main = load_template(template, folder=folder, settings=settings)
        order.seen.add(_identity(main))
    for ref in given:
        found = load_template(ref, folder=folder, settings=settings, by="skills=", also=_ALSO)
        order.add(found)
    if main is not None:
        for skill in order.skills_of(main):
            order.add(skill)
        order.parts.append(("template", main))
    return Composition(tuple(order.parts), tuple(order.repeats))


#: there are two kinds of skills, and a name of the other kind is an easy mistake
_ALSO = " A bundle with a SKILL.md is named by agent_skills=."


class _Order:
    """The skills as they are come upon: depth first, each once."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self.seen: set[Any] = set()
        self.parts: list[tuple[str, Template]] = []
        self.repeats: list[str] = []

    def add(self, skill: Template) -> None:
        waiting = [(skill, False)]
        while waiting:  # a file may nest deeper than Python does
            found, opened = waiting.pop()
            if opened:
                self.parts.append(("skill", found))
            elif _identity(found) in self.seen:
                self.repeats.append(found.name)
            else:
                self.seen.add(_identity(found))
                waiting.append((found, True))
                waiting.extend((one, False) for one in reversed(self.skills_of(found)))

    def skills_of(self, template: Template) -> list[Template]:
        """The templates that a head names; they lie in the folder of its file."""
        if not template.skills:
            return []
        root, by = template.source.root, f"{template.where()}: skills:"
        return [
            load_named(name, root=root, settings=self._settings, by=by, also=_ALSO)
            for name in template.skills
        ]


def _as_list(skills: Any) -> Sequence[Any]:
    if skills is None:
        return ()
    if not isinstance(skills, (list, tuple)):
        raise ConfigurationError(
            f"skills= takes a list of templates, not {skills!r:.80}",
            hint="Put it in brackets: skills=[…].",
        )
    return skills


def _identity(template: Template) -> Any:
    return template.path or (template.name, template.text)


def _joined(said: Iterable[tuple[Any, ...] | None]) -> list[Any] | None:
    found: list[Any] | None = None
    for items in said:
        if items is not None:
            before = (found or []) if items else []
            found = [*before, *(item for item in items if item not in before)]
    return found
