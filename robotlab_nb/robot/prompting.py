"""What a robot is told first: agent skills, template skills, template, prompt, learnings.

The parts are kept apart and put together anew for each run, so that changing one loses none of
the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.keys import text_hash
from ..core.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from ..prompts.agent_skills import AgentSkill
    from ..prompts.composing import Composition
    from ..runtime.run import Run
    from ..tools.decorator import Tool
    from .structured import Shape

__all__ = ["Part", "Prompt", "prompt_of"]


class Part(NamedTuple):
    """A part of what a robot is told first: its kind, its name where it has one, its text."""

    kind: str
    name: str | None
    text: str


class Prompt:
    """What a robot is told first, for one run.

    Parameters
    ----------
    parts : sequence of Part, or callable
        What is the same for every message; or what gives it, where that may take long.
    skills : sequence of AgentSkill, optional
        Agent skills that may match the message.
    """

    __slots__ = ("_late", "parts", "skills")

    def __init__(
        self,
        parts: Sequence[Part] | Callable[[], Sequence[Part]],
        skills: Sequence[AgentSkill] = (),
    ) -> None:
        self._late = parts if callable(parts) else None
        self.parts: list[Part] = [] if callable(parts) else _said(parts)
        self.skills = tuple(skills)

    def message(self) -> Message | None:
        """One system message, a blank line between the parts; None when there are none."""
        if not self.parts:
            return None
        return Message("system", "\n\n".join(part.text.strip("\n") for part in self.parts))

    async def fill(self) -> None:
        """Work the parts out, where that was put off: in a thread, for commands may take long."""
        if self._late is not None:
            from ..runtime.threads import in_thread

            self.parts = _said(await in_thread(self._late))
            self._late = None

    async def match(
        self, run: Run[Any], message: str, settings: Mapping[str, Any], taken: Container[str]
    ) -> list[Tool]:
        """Put the agent skills that fit a message before the other parts.

        What matched, and what the whole was made of, is recorded.

        Parameters
        ----------
        run : Run
        message : str
        settings : mapping
        taken : container of str
            Names of the robot's tools.

        Returns
        -------
        list of Tool
            The tools that come with these skills.
        """
        tools: list[Tool] = []
        if self.skills:
            from ..prompts.skill_matching import match
            from ..prompts.skill_tools import equip
            from ..runtime.threads import in_thread

            found = await match(
                self.skills,
                message,
                threshold=settings["skill_threshold"],
                embedding_model=settings["embedding_model"],
                settings=settings,
            )
            run.emit(
                "prompt.skills_matched",
                {
                    "scorer": found.scorer,
                    "threshold": found.threshold,
                    "matches": [
                        {"name": m.skill.name, "score": m.score, "used": m.used}
                        for m in found.matches
                    ],
                    "error": found.error,
                },
            )
            timeout = settings["tool_timeout"]
            more = await in_thread(lambda: equip(found.used, taken=taken, timeout=timeout))
            before = [Part("agent_skill", section.name, section.text) for section in more.sections]
            self.parts = [*before, *self.parts]
            tools = more.tools
        if any(part.kind != "system_prompt" for part in self.parts):
            run.emit("prompt.composed", {"parts": [_told(part) for part in self.parts]})
        return tools


def _said(parts: Iterable[Part]) -> list[Part]:
    return [part for part in parts if part.text.strip()]


def _told(part: Part) -> dict[str, Any]:
    """A part as an event lists it: what it was, not what it said."""
    return {
        "kind": part.kind, "name": part.name, "chars": len(part.text),
        "hash": text_hash(part.text),
    }  # fmt: skip


def prompt_of(
    robot: Any,
    composition: Composition | None,
    context: Mapping[str, Any],
    settings: Mapping[str, Any],
    shape: Shape | None = None,
    *,
    lenient: bool = False,
) -> Prompt:
    """What a robot is told first: templates, its own prompt, what it learned, how to answer.

    Parameters
    ----------
    robot : Robot
    composition : Composition or None
        Template and template skills.
    context : mapping
        Values for their parameters.
    settings : mapping
        What is in force.
    shape : Shape, optional
        What the answer must be.
    lenient : bool, optional
        Whether templates that lack a value are left out instead of raising.

    Raises
    ------
    ConfigurationError
        When a template lacks a value; it names parameter, file and robot.
    """

    def parts() -> list[Part]:
        found: list[Part] = []
        if composition is not None and not (lenient and composition.missing(context)):
            for section in composition.sections(context, robot=robot.name):
                found.append(Part(section.kind, section.name, section.text))
        if robot.system_prompt:
            found.append(Part("system_prompt", None, robot.system_prompt))
        if robot.learns(settings):
            found.append(Part("learnings", None, robot._learned().section()))
        if shape is not None and shape.instructions:
            found.append(Part("output", None, shape.instructions))
        return found

    skills: Sequence[AgentSkill] = ()
    if settings["agent_skills"]:
        from ..prompts.agent_skills import catalog_of

        skills = catalog_of(settings["skill_paths"]).of(settings["agent_skills"])
    slow = composition is not None and composition.runs_commands and not lenient
    return Prompt(parts if slow else parts(), skills)
