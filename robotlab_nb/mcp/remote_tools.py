"""A tool as its server describes it. The words are the server's: nothing in them is trusted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.readings import Pictured

__all__ = ["RemoteTool", "tool_of"]


@dataclass(frozen=True, slots=True, repr=False)
class RemoteTool(Pictured):
    """A tool of a server.

    Parameters
    ----------
    name : str
        As the server calls it.
    title, description : str, optional
    input_schema : mapping
        JSON Schema of its arguments, verbatim.
    output_schema : mapping, optional
        JSON Schema of its structured result.
    annotations : mapping, optional
        What the server says of it (``readOnlyHint`` …): hints of a stranger, not facts.
    digest : str
        SHA-256 of all of these: another one means that the definition was changed.
    """

    name: str
    title: str | None = None
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", _digest(self.definition()))

    def definition(self) -> dict[str, Any]:
        """All that the digest is made of, as JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "input_schema": dict(self.input_schema),
            "output_schema": None if self.output_schema is None else dict(self.output_schema),
            "annotations": dict(self.annotations),
        }

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        required = self.input_schema.get("required")
        properties = self.input_schema.get("properties")
        named = list(properties) if isinstance(properties, Mapping) else []
        needed = required if isinstance(required, list) else []
        words = ", ".join(n if n in needed else f"{n}?" for n in map(str, named))
        return f"<RemoteTool {self.name}({words})>"


def _digest(definition: dict[str, Any]) -> str:
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def tool_of(told: Any) -> RemoteTool:
    """A tool from what the SDK read."""
    annotations = told.annotations
    return RemoteTool(
        told.name,
        told.title,
        told.description or "",
        told.input_schema or {},
        told.output_schema,
        {}
        if annotations is None
        else annotations.model_dump(by_alias=True, mode="json", exclude_none=True),
    )
