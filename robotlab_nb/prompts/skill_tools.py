"""What a robot gets with the agent skills that it uses: sections of its prompt, and tools.

Instructions come at once; a bundle's further files are read by the model when it needs them, its
scripts are tools. Nothing outside a bundle is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, ToolError, near
from ..tools.decorator import Tool
from ..tools.scripts import TIMEOUT_S, script_tool
from ..tools.traits import clean_name
from .agent_skills import inside

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from pathlib import Path

    from .agent_skills import AgentSkill

__all__ = ["READER", "Equipment", "SkillSection", "equip"]

#: the tool that reads a bundle's files
READER = "read_skill_file"
#: characters of one reading
_PAGE = 40_000
#: bytes of a file that can be read at all
_MOST = 10_000_000


class SkillSection(NamedTuple):
    """What a model is told of a skill: the skill's name, and the text."""

    name: str
    text: str


class Equipment(NamedTuple):
    """What used skills bring: a section each, and their tools."""

    sections: list[SkillSection]
    tools: list[Tool]


def equip(
    skills: Iterable[AgentSkill],
    *,
    taken: Container[str] = (),
    timeout: float | None = None,
) -> Equipment:
    """Make sections and tools of the skills that are used.

    Files are read: some instructions, and the first lines of scripts.

    Parameters
    ----------
    skills : iterable of AgentSkill
    taken : container of str, optional
        Names of tools that are there already. A script of such a name gets its skill's name
        before its own.
    timeout : float or None, optional
        Seconds for one call of a script; a skill may declare less. 60 when left out.

    Returns
    -------
    Equipment

    Raises
    ------
    ConfigurationError
        When a skill's file has gone or been broken since it was found.
    """
    sections: list[SkillSection] = []
    tools: dict[str, Tool] = {}
    read: dict[str, Path] = {}
    reader = _free(READER, "skills", taken, tools)
    for skill in skills:
        files = skill.files
        if files:
            read[skill.name] = skill.path
        own = _scripts(skill, taken, {**tools, reader: None}, timeout)
        tools.update(own)
        sections.append(SkillSection(skill.name, _section(skill, list(own), files, reader)))
    found = list(tools.values())
    if read:
        found.append(_reader(reader, read))
    return Equipment(sections, found)


def _section(skill: AgentSkill, scripts: list[str], files: tuple[str, ...], reader: str) -> str:
    lines = [f"# Skill: {skill.name}", "", skill.instructions]
    if scripts:
        lines += ["", f"Scripts of this skill that are tools: {', '.join(scripts)}."]
    if files:
        lines += ["", f"Files of this skill ({reader} with skill {skill.name!r} reads them):"]
        lines += [f"- {path}" for path in files]
    return "\n".join(lines).rstrip()


def _scripts(
    skill: AgentSkill, taken: Container[str], others: dict[str, Any], timeout: float | None
) -> dict[str, Tool]:
    found: dict[str, Tool] = {}
    for path in skill.scripts:
        name = _free(path.stem, skill.name, taken, {**others, **found})
        found[name] = script_tool(
            path,
            name=name,
            folder=skill.path,
            timeout=TIMEOUT_S if timeout is None else timeout,
            capabilities=skill.capabilities,
            source=f"script {path.name} of skill {skill.name} "
            "(not confined: it runs with your rights)",
        )
    return found


def _free(name: str, skill: str, taken: Container[str], others: Container[str]) -> str:
    """A name for a tool that no other has."""
    plain, longer = _fit(name), _fit(f"{skill}_{name}")
    numbered = (f"{longer[:60]}_{number}" for number in range(2, 1_000))
    for found in (plain, longer, *numbered):
        if found not in taken and found not in others:
            return found
    raise ConfigurationError(f"no name is left for {name!r} of agent skill {skill!r}")


def _fit(name: str) -> str:
    try:
        return clean_name(name[:64])
    except ConfigurationError:
        return "script"


@dataclass(frozen=True)
class _Reader:
    """Reads files of some bundles: what the tool's function is."""

    folders: tuple[tuple[str, Path], ...]

    def __call__(self, skill: str, path: str, offset: int = 0) -> str:
        folders = dict(self.folders)
        folder = folders.get(skill)
        if folder is None:
            raise ToolError(f"no skill {skill!r:.100} is used here", hint=near(skill, folders))
        file = inside(folder, path)
        if file is None or not file.is_file():
            from .agent_skills import AgentSkill

            listed = AgentSkill(folder).files
            raise ToolError(
                f"skill {skill!r} has no file {path!r:.200}", hint=near(path, listed, limit=50)
            )
        return _page(file, path, offset)


def _page(file: Path, path: str, offset: int) -> str:
    if file.stat().st_size > _MOST:
        raise ToolError(f"{path} is too large to be read: over {_MOST:,} bytes")
    data = file.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ToolError(f"{path} is no text file ({len(data):,} bytes)") from None
    if "\0" in text:
        raise ToolError(f"{path} is no text file ({len(data):,} bytes)")
    if not 0 <= offset <= len(text):
        raise ToolError(f"{path} has {len(text):,} characters; offset {offset} is not in it")
    page = text[offset : offset + _PAGE]
    left = len(text) - offset - len(page)
    if left:
        page += f"\n[… {left:,} characters left: read on with offset {offset + _PAGE}]"
    return page


def _reader(name: str, folders: dict[str, Path]) -> Tool:
    parameters = {
        "type": "object",
        "properties": {
            "skill": {"type": "string", "enum": list(folders)},
            "path": {"type": "string", "description": "As listed with the skill."},
            "offset": {"type": "integer", "description": "Characters to skip.", "minimum": 0},
        },
        "required": ["skill", "path"],
        "additionalProperties": False,
    }
    return Tool(
        _Reader(tuple(folders.items())),
        name=name,
        description="Read a text file that belongs to a skill.",
        parameters=parameters,
        source="agent skills",
    )
