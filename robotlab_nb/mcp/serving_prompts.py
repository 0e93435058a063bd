"""Templates that are served as prompts: what they take, and their text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, RobotLabError, describe_error, near
from ..prompts.templates import Template
from .serving_tools import told_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["prompt_handlers", "served_prompts"]


def served_prompts(given: Iterable[Any]) -> dict[str, Template]:
    """Templates by name.

    Parameters
    ----------
    given : iterable of Template, str or Path

    Raises
    ------
    ConfigurationError
        For what is no template, and for two of one name.
    """
    found: dict[str, Template] = {}
    if isinstance(given, (str, Path, Template)):
        given = (given,)
    for each in given:
        template = each if isinstance(each, Template) else Template.load(each)
        if template.name in found:
            raise ConfigurationError(f"two prompts are called {template.name!r}")
        found[template.name] = template
    return found


def prompt_handlers(templates: Mapping[str, Template]) -> dict[str, Any]:
    """What the SDK's server is given so that it lists and renders templates.

    Parameters
    ----------
    templates : mapping
    """
    from mcp.shared.exceptions import MCPError
    from mcp.types import (
        INVALID_PARAMS,
        GetPromptResult,
        ListPromptsResult,
        Prompt,
        PromptArgument,
        PromptMessage,
        TextContent,
    )

    async def list_prompts(ctx: Any, params: Any) -> ListPromptsResult:
        prompts = [
            Prompt(
                name=name,
                description=template.description,
                arguments=[
                    PromptArgument(name=p.name, description=p.description, required=p.required)
                    for p in template.parameters
                ],
            )
            for name, template in templates.items()
        ]
        return ListPromptsResult(prompts=prompts)

    async def get_prompt(ctx: Any, params: Any) -> GetPromptResult:
        template = templates.get(params.name)
        if template is None:
            told = f"there is no prompt {params.name!r:.80}. {near(params.name, templates)}"
            raise MCPError(code=INVALID_PARAMS, message=told)
        try:
            text = template.render(_read(template, params.arguments or {}))
        except RobotLabError as error:
            told = told_error(describe_error(error))
            raise MCPError(code=INVALID_PARAMS, message=told) from None
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=template.description, messages=[message])

    return {"on_list_prompts": list_prompts, "on_get_prompt": get_prompt}


def _read(template: Template, arguments: Mapping[str, str]) -> dict[str, Any]:
    r"""Arguments as the template takes them: the protocol sends texts only.

    Examples
    --------
    >>> template = Template("---\nparameters:\n  n: {type: integer}\n---\n{{ n + 1 }}")
    >>> template.render(_read(template, {"n": "2"}))
    '3'
    """
    kinds = {p.name: p.type for p in template.parameters}
    found: dict[str, Any] = {}
    for name, text in arguments.items():
        found[name] = text
        if kinds.get(name) not in (None, "string"):
            try:
                found[name] = json.loads(text)
            except ValueError:
                pass  # the template says what it takes
    return found
