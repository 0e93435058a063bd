"""Agent skills: folders with a ``SKILL.md``, found in roots, read when they are used.

What is read first is little (names and descriptions); instructions, scripts and further files
follow when a skill is used. Which one fits a message is decided in :mod:`.skill_matching`.
"""

from __future__ import annotations

import functools
import os
import threading
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near
from ..core.readings import Pictured
from ..tools.scripts import is_script
from .skill_manifest import FILE, Manifest, instructions_in, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..tools.capabilities import Capabilities
    from ..tools.decorator import Tool

__all__ = ["AgentSkill", "Catalog", "catalog_of", "inside"]

#: files of a bundle that are listed
_LISTED = 100


class AgentSkill(Pictured):
    r"""A bundle of instructions, files and scripts that a robot uses when a message calls for it.

    It follows the open format of agent skills (agentskills.io). ``allowed-tools`` is shown and
    does nothing: a file must not approve the use of tools, and its names are those of the program
    that it was written for.

    Parameters
    ----------
    path : str or Path
        The folder that holds ``SKILL.md``, or that file.

    Attributes
    ----------
    name, description : str
    path : Path
        The folder.
    licence, compatibility : str or None
    metadata : mapping of str to str
    allowed_tools : tuple of str
    capabilities : Capabilities
        What its scripts say that they need: ``fs_read``, ``fs_write``, ``network``, ``timeout``,
        ``trust``, in ``metadata`` or beside it. The smaller time limit holds; the rest is shown,
        not enforced: scripts are not confined.

    Raises
    ------
    ConfigurationError
        When there is no such bundle, or it breaks the format; file, field and rule are named.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     folder = pathlib.Path(root, "haiku")
    ...     folder.mkdir()
    ...     text = "---\nname: haiku\ndescription: Writes haiku.\n---\nCount 5, 7, 5."
    ...     _ = (folder / "SKILL.md").write_text(text)
    ...     skill = AgentSkill(folder)
    ...     print(skill, skill.instructions)
    <AgentSkill haiku> Count 5, 7, 5.
    """

    __slots__ = ("_manifest", "path")

    def __init__(self, path: str | os.PathLike[str]) -> None:
        folder = Path(path).expanduser().absolute()
        if folder.name == FILE:
            folder = folder.parent
        self.path = folder
        file = self._file()
        if file is None:
            raise ConfigurationError(
                f"there is no agent skill in {folder}: it has no {FILE} of its own",
                hint=f"A skill is a folder with a file {FILE}.",
            )
        self._manifest: Manifest = read_manifest(file, folder.name)

    def _file(self) -> Path | None:
        return inside(self.path, FILE)

    @property
    def name(self) -> str:
        """The folder's name."""
        return self._manifest.name

    @property
    def description(self) -> str:
        """What it does and when to use it; what messages are matched against."""
        return self._manifest.description

    @property
    def licence(self) -> str | None:
        """The front matter's ``license``."""
        return self._manifest.licence

    @property
    def compatibility(self) -> str | None:
        """What it needs of its surroundings, in words."""
        return self._manifest.compatibility

    @property
    def metadata(self) -> Mapping[str, str]:
        """Whatever else its author noted."""
        return self._manifest.metadata

    @property
    def allowed_tools(self) -> tuple[str, ...]:
        """The front matter's ``allowed-tools``; nothing is approved by it."""
        return self._manifest.allowed_tools

    @property
    def capabilities(self) -> Capabilities:
        """What its scripts say that they need."""
        return self._manifest.capabilities

    @property
    def instructions(self) -> str:
        """What a model is told, read from the file now."""
        file = self._file()
        if file is None:
            raise ConfigurationError(f"{self.path / FILE} of agent skill {self.name!r} is gone")
        return instructions_in(file)

    @property
    def scripts(self) -> tuple[Path, ...]:
        """Files in ``scripts/`` that can be run, by name; none that lead out of the bundle."""
        return tuple(
            entry
            for entry in _entries(self.path / "scripts")
            if inside(self.path, entry) and is_script(entry)
        )

    @property
    def files(self) -> tuple[str, ...]:
        """Files to read on demand, as paths from the folder: all but ``SKILL.md`` and scripts.

        Hidden ones and those that lead out of the bundle are none of them; at most 100.
        """
        found: list[str] = []
        for folder, folders, names in os.walk(self.path):  # does not follow links to folders
            folders[:] = sorted(f for f in folders if not f.startswith((".", "__")))
            if folder == str(self.path):
                folders[:] = [f for f in folders if f != "scripts"]
                names = [n for n in names if n != FILE]
            paths = [Path(folder, n) for n in sorted(names) if not n.startswith(".")]
            found += [p.relative_to(self.path).as_posix() for p in paths if inside(self.path, p)]
            if len(found) >= _LISTED:
                break
        return tuple(found[:_LISTED])

    def section(self) -> str:
        """What a model is told when this skill alone is used. See :func:`.skill_tools.equip`."""
        from .skill_tools import equip

        return equip([self]).sections[0].text

    def tools(self) -> list[Tool]:
        """The tools that this skill brings when it alone is used: its scripts, and one that reads
        its files. See :func:`.skill_tools.equip`.
        """
        from .skill_tools import equip

        return equip([self]).tools

    def __repr__(self) -> str:
        return f"<AgentSkill {self.name}>"


class Catalog(Pictured):
    """The agent skills in some folders. They are looked at when they are asked for, again and
    again: new, changed and removed ones are noticed.

    A bundle that breaks the format is left out, with one warning. Of two with the same name the
    one in the earlier root counts, which is said too.

    Parameters
    ----------
    roots : iterable of str or Path, optional
        Folders with bundles in them (or bundles); ``~`` is the home folder. They need not exist.

    Attributes
    ----------
    roots : tuple of Path
    faults : mapping of Path to str
        What was left out, and why.

    Examples
    --------
    >>> Catalog(["no/such/folder"]).of(True)
    []
    """

    def __init__(
        self, roots: Iterable[str | os.PathLike[str]] = ("skills", "~/.agents/skills")
    ) -> None:
        given = [roots] if isinstance(roots, (str, os.PathLike)) else roots
        self.roots = tuple(dict.fromkeys(Path(root).expanduser().absolute() for root in given))
        self.faults: dict[Path, str] = {}
        self._lock = threading.Lock()
        self._read: dict[Path, tuple[Any, AgentSkill | None]] = {}
        self._said: set[str] = set()

    @property
    def skills(self) -> dict[str, AgentSkill]:
        """The valid skills by name, as they are now; in the order of roots and names."""
        with self._lock:
            self.faults = {}
            found: dict[str, AgentSkill] = {}
            for root in self.roots:
                for folder in self._bundles(root):
                    skill = self._known(folder)
                    if skill is None:
                        continue
                    first = found.setdefault(skill.name, skill)
                    if first is not skill and not os.path.samefile(first.path, folder):
                        self._say(f"agent skill {folder} is hidden by the one in {first.path}")
            return found

    def of(self, names: Any) -> list[AgentSkill]:
        """The skills that somebody means.

        Parameters
        ----------
        names : bool, None, or sequence of str, Path and AgentSkill
            True: all in the roots. Names are looked up in the roots; what has a slash in it, or
            is a Path, is the path of a bundle.

        Returns
        -------
        list of AgentSkill

        Raises
        ------
        ConfigurationError
            When one is not there, or breaks the format.
        """
        if names is None or names is False:
            return []
        known = self.skills
        if names is True:
            return list(known.values())
        if isinstance(names, (str, os.PathLike, AgentSkill)):
            names = [names]
        found: dict[str, AgentSkill] = {}
        for name in names:
            skill = self._meant(name, known)
            other = found.setdefault(skill.name, skill)
            if other.path != skill.path:
                raise ConfigurationError(
                    f"two agent skills are called {skill.name!r}: {other.path} and {skill.path}",
                    hint="Name one of them.",
                )
        return list(found.values())

    def _meant(self, name: Any, known: Mapping[str, AgentSkill]) -> AgentSkill:
        if isinstance(name, AgentSkill):
            return name
        if not isinstance(name, (str, os.PathLike)):
            raise ConfigurationError(
                f"{name!r:.80} names no agent skill", hint="Write its name, or its folder's path."
            )
        if not isinstance(name, str) or os.sep in name or "/" in name or name.startswith("~"):
            return AgentSkill(name)
        if name in known:
            return known[name]
        for folder, fault in self.faults.items():
            if folder.name == name:
                raise ConfigurationError(f"agent skill {name!r} cannot be used: {fault}")
        listed = ", ".join(map(str, self.roots)) or "no folder"
        raise ConfigurationError(
            f"there is no agent skill {name!r} in {listed}",
            hint=near(name, known) + " A path needs a slash: './my-skill'.",
        )

    def _bundles(self, root: Path) -> list[Path]:
        if (root / FILE).is_file():
            return [root]
        if root.exists() and not root.is_dir():
            self._leave_out(root, f"skill_paths names {root}, which is no folder")
        return [entry for entry in _entries(root) if os.path.lexists(entry / FILE)]

    def _known(self, folder: Path) -> AgentSkill | None:
        """The skill in a folder, read again only when its file has changed."""
        try:
            stat = os.stat(folder / FILE)
            stamp: Any = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        except OSError:
            stamp = None
        before = self._read.get(folder)
        if before is not None and before[0] == stamp and before[1] is not None:
            return before[1]
        skill: AgentSkill | None = None
        try:
            skill = AgentSkill(folder)
        except ConfigurationError as error:
            self._leave_out(folder, str(error))
        self._read[folder] = (stamp, skill)
        return skill

    def _leave_out(self, folder: Path, fault: str) -> None:
        self.faults[folder] = fault
        self._say(f"an agent skill is left out: {fault}")

    def _say(self, words: str) -> None:
        if words not in self._said:
            self._said.add(words)
            warnings.warn(words, stacklevel=4)

    def __repr__(self) -> str:
        return f"<Catalog of {', '.join(map(str, self.roots))}>"


def catalog_of(roots: Iterable[str | os.PathLike[str]]) -> Catalog:
    """The catalog of some roots: the same one for the same roots, so that little is read twice.

    Parameters
    ----------
    roots : iterable of str or Path
        As for :class:`Catalog`.
    """
    given = [roots] if isinstance(roots, (str, os.PathLike)) else roots
    return _catalog(tuple(Path(root).expanduser().absolute() for root in given))


@functools.lru_cache(maxsize=64)
def _catalog(roots: tuple[Path, ...]) -> Catalog:
    return Catalog(roots)


def inside(folder: Path, path: str | os.PathLike[str]) -> Path | None:
    """Where a path of a bundle leads; None when that is nowhere, or outside.

    Parameters
    ----------
    folder : Path
        The bundle.
    path : str or Path
        From the bundle, or absolute.

    Returns
    -------
    Path or None
        Free of links and dots.
    """
    try:
        real = (folder / path).resolve(strict=True)
        return real if real.is_relative_to(folder.resolve()) else None
    except (OSError, RuntimeError, ValueError):  # gone, a circle of links, a NUL in it
        return None


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, by name, without what is hidden; nothing when it cannot be read."""
    try:
        return sorted(entry for entry in folder.iterdir() if not entry.name.startswith((".", "__")))
    except OSError:
        return []
