"""What a ``SKILL.md`` says at its head: read, and checked rule by rule.

The open format of agent skills: a folder with a Markdown file whose front matter has a name and a
description. Keys that it does not know are other programs' and left alone. Runs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, near
from ..core.yaml_text import read_mapping
from ..tools.capabilities import Capabilities
from .front_matter import split

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

__all__ = ["FILE", "Manifest", "instructions_in", "read_manifest"]

FILE = "SKILL.md"
#: bytes of a SKILL.md; the format recommends less than a tenth
_MOST = 500_000
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
#: a tool, perhaps with what it may be used for in parentheses, spaces and all
_TOOL = re.compile(r"[^\s(]+(?:\([^)]*\))?\S*|\S+")
_CAPABILITIES = tuple(one.name for one in fields(Capabilities))


@dataclass(frozen=True)
class Manifest:
    """The head of a ``SKILL.md``, checked."""

    name: str
    description: str
    licence: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    allowed_tools: tuple[str, ...] = ()
    capabilities: Capabilities = field(default_factory=Capabilities)


def read_manifest(file: Path, folder_name: str) -> Manifest:
    """Read the head of a ``SKILL.md``.

    Parameters
    ----------
    file : Path
    folder_name : str
        What its folder is called, which must be the skill's name.

    Raises
    ------
    ConfigurationError
        When it breaks the format; every fault is listed, with its field and the rule.
    """
    front = split(_text(file), str(file))
    if front.front is None:
        raise ConfigurationError(
            f"{file} has no front matter",
            hint="It begins with a line `---`, then name: and description:, then `---`.",
        )
    data, _ = read_mapping(front.front, str(file), first_line=front.front_line)
    faults: list[str] = []
    read: dict[str, Any] = {
        "name": _name(data, folder_name, faults),
        "description": _words(data, "description", 1024, faults, required=True),
        "licence": _words(data, "license", None, faults),
        "compatibility": _words(data, "compatibility", 500, faults),
        "metadata": _metadata(data, faults),
        "allowed_tools": _tools(data, faults),
    }
    read["capabilities"] = _capabilities(data, read["metadata"], faults)
    if faults:
        raise ConfigurationError(f"{file} is no valid skill: {'; '.join(faults)}")
    return Manifest(**read)


def instructions_in(file: Path) -> str:
    """The Markdown under the head of a ``SKILL.md``, without blank lines around it."""
    return split(_text(file), str(file)).body.strip()


def _text(file: Path) -> str:
    try:
        with open(file, "rb") as opened:
            found = opened.read(_MOST + 1)
        text = found.decode("utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{file} is not UTF-8 text") from None
    if len(found) > _MOST:
        raise ConfigurationError(
            f"{file} has more than {_MOST:,} bytes",
            hint="Move the long parts to files in references/.",
        )
    return text


def _missing(data: Mapping[str, Any], key: str) -> str:
    close = near(key, data)
    return f"{key} is missing" + (f" ({close})" if close.startswith("Did") else "")


def _name(data: Mapping[str, Any], folder: str, faults: list[str]) -> str:
    name = data.get("name")
    if name is None:
        faults.append(_missing(data, "name"))
        return ""
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > 64:
        faults.append(
            f"name is 1 to 64 of a-z, 0-9 and single hyphens between them, not {name!r:.80}"
        )
        return ""
    if name != folder:
        faults.append(f"name is {name!r}, and must be its folder's, {folder!r}")
    return name


def _words(
    data: Mapping[str, Any],
    key: str,
    most: int | None,
    faults: list[str],
    *,
    required: bool = False,
) -> str | None:
    value = data.get(key)
    if value is None and not required:
        return None
    if value is None:
        faults.append(_missing(data, key))
        return ""
    text = value.strip() if isinstance(value, str) else ""
    if not text:
        faults.append(f"{key} is a text, not {value!r:.80}")
    elif most is not None and len(text) > most:
        faults.append(f"{key} has at most {most:,} characters, not {len(text):,}")
    return text


def _metadata(data: Mapping[str, Any], faults: list[str]) -> dict[str, str]:
    found = data.get("metadata")
    if found is None:
        return {}
    if not isinstance(found, dict):
        faults.append(f"metadata maps names to texts, not {found!r:.80}")
        return {}
    plain: dict[str, str] = {}
    for key, value in found.items():
        if isinstance(value, bool):
            value = str(value).lower()
        if isinstance(value, (int, float)):
            value = str(value)  # a version without quotes
        if isinstance(value, str):
            plain[str(key)] = value
        else:
            faults.append(f"metadata.{key} is a text, not {value!r:.80}")
    return plain


def _tools(data: Mapping[str, Any], faults: list[str]) -> tuple[str, ...]:
    found = data.get("allowed-tools")
    if found is None:
        return ()
    if isinstance(found, str):
        return tuple(_TOOL.findall(found))
    if isinstance(found, list) and all(isinstance(name, str) and name.strip() for name in found):
        return tuple(name.strip() for name in found)
    faults.append(f"allowed-tools is a list of tools with spaces between them, not {found!r:.80}")
    return ()


def _capabilities(
    data: Mapping[str, Any], metadata: Mapping[str, str], faults: list[str]
) -> Capabilities:
    """What its scripts say that they need: in ``metadata``, or beside it."""
    given = {key: data[key] for key in _CAPABILITIES if data.get(key) is not None}
    given.update({key: metadata[key] for key in _CAPABILITIES if key in metadata})
    try:
        return Capabilities.of(given)
    except ConfigurationError as error:
        faults.append(error.message)
        return Capabilities()
