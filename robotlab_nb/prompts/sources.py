"""Template files: how they are found, kept inside their folder, read, and read again.

A source is a template as it was read: head, body without comments, and the line of the file on
which each line of the body stands. Renders nothing.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from ..core.errors import ConfigurationError, near
from ..core.option_files import shown_path
from .front_matter import NOTHING, FrontMatter, read_front, split

__all__ = [
    "Source",
    "confined",
    "find",
    "has_changed",
    "is_there",
    "read_file",
    "read_text",
    "source_of",
    "unknown",
]

#: bytes of a template, or of a file that one inserts
_LARGEST = 2_000_000
#: seconds; a file changed as lately as this may change again without a new time
_SETTLED = 3.0
_MOST_KEPT = 512
_MOST_LISTED = 500
_SUFFIX = ".md"


@dataclass(frozen=True, eq=False)
class Source:
    """A template as it was read.

    Attributes
    ----------
    name : str
        What people call it: ``"shop/support"``.
    key : str
        What Jinja calls it: ``"shop/support.md"``, or ``"<name>"`` for a text.
    path : Path or None
        Its file.
    root : Path
        The folder that it may include files of.
    text, body : str
        The whole file; and what is rendered of it.
    front : FrontMatter
    """

    name: str
    key: str
    path: Path | None
    root: Path
    text: str
    body: str
    front: FrontMatter = NOTHING
    #: (line of the body, how many lines of the file were left out before the next one)
    gaps: tuple[tuple[int, int], ...] = ()
    stamp: Any = None
    #: what is worked out of it once
    made: dict[str, Any] = field(default_factory=dict)

    def where(self, body_line: int | None = None) -> str:
        """The template's name, its file, and the line of it, for errors."""
        at = [] if self.path is None else [shown_path(self.path)]
        if body_line is not None:
            at.append(f"line {body_line + sum(n for line, n in self.gaps if line < body_line)}")
        return f"template {self.name!r}" + (f" ({', '.join(at)})" if at else "")


def source_of(
    text: str, name: str, root: Path, *, path: Path | None = None, stamp: Any = None
) -> Source:
    r"""Read a template's text.

    Raises
    ------
    ConfigurationError
        When its front matter is broken; it names file and line.

    Examples
    --------
    >>> found = source_of("---\nskills: [tone]\n---\nHello<!-- a note -->!", "x", Path("."))
    >>> found.body, found.front.skills
    ('Hello!', ('tone',))
    """
    where = f"template {name!r}" + (f" ({shown_path(path)})" if path is not None else "")
    parts = split(text, where)
    front = read_front(parts.front, where, parts.front_line)
    body, gaps = _without_comments(parts.body.removeprefix("\ufeff"))
    told = body.lstrip("\r\n")
    skipped = body.count("\n", 0, len(body) - len(told))
    above = parts.body_line - 1 + skipped + sum(n for line, n in gaps if line <= skipped)
    return Source(
        name=name,
        key=f"{name}{_SUFFIX}" if path is not None else f"<{name}>",
        path=path,
        root=root,
        text=text,
        body=told.rstrip(),
        front=front,
        gaps=((0, above), *((line - skipped, n) for line, n in gaps if line > skipped)),
        stamp=stamp,
    )


def _without_comments(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """A text without HTML comments; one that has lines to itself takes them along."""
    kept: list[str] = []
    gaps: list[tuple[int, int]] = []
    at = line = 0
    while (start := text.find("<!--", at)) >= 0 and (end := text.find("-->", start + 4)) >= 0:
        end += 3
        before = text[text.rfind("\n", 0, start) + 1 : start]
        after = len(text) if (found := text.find("\n", end)) < 0 else found + 1
        alone = not before.strip() and not text[end:after].strip()
        cut = start - len(before) if alone and start - len(before) >= at else start
        if alone:
            end = after
        kept.append(text[at:cut])
        line += kept[-1].count("\n")
        gaps.append((line if alone else line + 1, text.count("\n", cut, end)))
        at = end
    kept.append(text[at:])
    return "".join(kept), tuple((line, n) for line, n in gaps if n)


# -- files -----------------------------------------------------------------------------------

_kept: dict[tuple[Path, Path], Source] = {}
_lock = threading.Lock()


def read_file(path: Path, root: Path, name: str) -> Source:
    """Read a template's file, again when it has changed.

    Raises
    ------
    ConfigurationError
        When it cannot be read, is too large, or its front matter is broken.
    """
    known = _kept.get((path, root))
    if known is not None and known.name == name and not has_changed(known):
        return known
    stamp = _stamp(path)
    text = read_text(path, f"template {name!r} ({shown_path(path)})")
    if known is not None and (known.name, known.text) == (name, text):
        found = replace(known, stamp=stamp)  # what was worked out of it still holds
    else:
        found = source_of(text, name, root, path=path, stamp=stamp)
    with _lock:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[path, root] = found
    return found


def read_text(path: Path, where: str) -> str:
    """A file's text.

    Raises
    ------
    ConfigurationError
        When it cannot be read as UTF-8, or is larger than a prompt can be.
    """
    try:
        if path.stat().st_size > _LARGEST:
            raise ConfigurationError(f"{where} is larger than {_LARGEST:,} bytes")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{where} is no UTF-8 text: {error.reason}") from None
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{where} cannot be read: {error}") from None


def has_changed(source: Source) -> bool:
    """Whether a source's file may be another than the one that was read."""
    if source.path is None:
        return False
    stamp = _stamp(source.path)
    return stamp is None or not stamp[-1] or stamp != source.stamp


def _stamp(path: Path) -> tuple[int, int, int, bool] | None:
    try:
        told = path.stat()
    except OSError:
        return None
    # Two changes within a tick of the file system's clock have one time.
    settled = abs(time.time() - told.st_mtime) > _SETTLED
    return told.st_mtime_ns, told.st_size, told.st_ino, settled


# -- names -----------------------------------------------------------------------------------


def find(name: str, root: Path, *, by: str) -> Source | None:
    """The template of a name inside a folder; None when there is none.

    Parameters
    ----------
    name : str
        ``"support"``, ``"shop/support"``; with or without ``.md``.
    root : Path
    by : str
        Who names it, for errors.

    Raises
    ------
    ConfigurationError
        When the name leads out of the folder, or the template is broken.
    """
    bare = name.removesuffix(_SUFFIX)
    path = confined(bare + _SUFFIX, root, by=by)
    return read_file(path, root, PurePosixPath(bare).as_posix()) if is_there(path) else None


def named(ref: Any, root: Path, *, by: str, also: str = "") -> Source:
    """The template that a person names: by its name inside a folder, or by its file.

    Parameters
    ----------
    ref : str or Path
    root : Path
    by, also : str
        For errors: who names it, and what else to do when it is not there.

    Raises
    ------
    ConfigurationError
        When it is no name, or there is no such template.
    """
    if not isinstance(ref, (str, Path)) or not str(ref).strip():
        raise ConfigurationError(
            f"{by}: a template is named by a text, a Path or a Template, not {ref!r:.80}",
            hint='"support" is the file support.md in the folder of prompts.',
        )
    if isinstance(ref, str) and "\n" in ref:
        raise ConfigurationError(
            f"{by}: a template is named, not written out: {ref!r:.80}",
            hint="rl.Template(text) makes one of a text.",
        )
    if isinstance(ref, Path) or ref.endswith(".md"):
        return _file(Path(ref), root, by, also)
    found = find(ref, root, by=by)
    if found is None:
        if " " in ref.strip():
            also += " rl.Template(text) makes one of a text."
        raise unknown(ref, root, by=by, also=also)
    return found


def _file(path: Path, root: Path, by: str, also: str) -> Source:
    whole = path.expanduser().absolute()
    for candidate in (whole, root / path):
        if not is_there(candidate):
            continue
        if candidate.is_relative_to(root):
            name = candidate.relative_to(root).as_posix()
            return read_file(candidate, root, name.removesuffix(".md"))
        return read_file(candidate, candidate.parent, candidate.stem)
    raise unknown(str(path), root, by=by, also=also)


def confined(name: str, root: Path, *, by: str) -> Path:
    """A file's path inside a folder.

    Raises
    ------
    ConfigurationError
        When the name is absolute, has ``..`` in it, or a link on the way leads out.

    Examples
    --------
    >>> confined("../secret.md", Path("prompts"), by="template 'a'")
    Traceback (most recent call last):
    ...
    robotlab_nb.core.errors.ConfigurationError: template 'a': '../secret.md' leads out of the \
folder prompts. Name a file inside of it, with / between folders.
    """
    parts = PurePosixPath(name).parts
    inside = not (
        not parts
        or ".." in parts
        or PurePosixPath(name).is_absolute()
        or PureWindowsPath(name).drive
        or any(c in name for c in "\\\0")
    )
    if inside:
        try:
            real = os.path.realpath(root)
            inside = os.path.realpath(root / name).startswith(os.path.join(real, ""))
        except (OSError, ValueError):  # a circle of links, half a character
            inside = False
    if not inside:
        raise ConfigurationError(
            f"{by}: {name!r:.200} leads out of the folder {shown_path(root)}",
            hint="Name a file inside of it, with / between folders.",
        )
    return root / name


def is_there(path: Path) -> bool:
    """Whether there is a file; none has a name that is too long or no text."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def unknown(name: str, root: Path, *, by: str, also: str = "") -> ConfigurationError:
    """The error to raise when a folder has no template of a name."""
    missing = f"{by}: there is no template {name!r:.200}"
    if not root.is_dir():
        return ConfigurationError(
            f"{missing}, and no folder {shown_path(root)}",
            hint=f"Make it, or name another: rl.options.prompts_path.{also}",
        )
    hint = f"{near(name, known_names(root))} Looked in {shown_path(root)}.{also}"
    return ConfigurationError(missing, hint=hint)


def known_names(root: Path) -> list[str]:
    """The names of the templates in a folder, hidden folders left out; some, when it is vast."""
    found: list[str] = []
    for visited, (folder, folders, files) in enumerate(os.walk(root)):
        if visited >= _MOST_LISTED or len(found) >= _MOST_LISTED:
            break
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = PurePosixPath(Path(folder).relative_to(root).as_posix())
        found += [
            (inside / file).as_posix().removesuffix(_SUFFIX)
            for file in sorted(files)
            if file.endswith(_SUFFIX) and not file.startswith(".")
        ]
    return found
