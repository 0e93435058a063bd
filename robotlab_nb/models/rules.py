"""What the simulated model says when nobody scripted it: tool calls and short answers, by rules.

Pure functions of one request: no clock, no chance, no memory. What a rule gives back is a step
as :class:`~robotlab_nb.models.simulated.SimulatedModel` takes it (a text, or tool calls); how it
is streamed is decided there. Knows no model and no run.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .rule_arguments import arguments, fill
from .rule_hints import Hints
from .rule_words import content_stems, in_words, labels_in, pick_label, reply, stem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..core.messages import Message, ToolResultPart
    from .protocol import OutputSpec, Request, ToolSpec

__all__ = ["answer"]

#: how much of a message the rules look at, in characters
_LOOK_AT = 4000
#: how much of a tool's result is repeated, in characters
_REPEAT = 300
#: operator written between two numbers -> stems of words that mean it
_OPERATORS = {
    sign: frozenset(map(stem, words.split()))
    for signs, words in (
        ("+", "add sum plus addition"),
        ("-−", "subtract minus difference subtraction"),
        ("*×", "multiply product times multiplication"),
        ("/÷", "divide quotient division"),
    )
    for sign in signs
}
#: a minus or a slash needs room, else dates and codes would look like sums
_SIGN = re.compile(r"(?<=\d)\)?(?:\s?([+*×÷])\s?|\s([-−/])\s)\(?(?=\d)")
_ARITHMETIC = frozenset(map(stem, ("calculator", "calculate", "arithmetic", "math", "compute")))
_IN_NAME, _IN_PARAMETERS, _IN_DESCRIPTION = 3, 2, 1


def answer(request: Request) -> str | list[tuple[str, dict[str, Any]]]:
    """Answer a request by rules.

    A tool that was not called in this turn and shares a word with the user's last message is
    called, its arguments drawn from the message along its schema; several such tools are called
    at once. After tool results they are retold. Otherwise the answer is a label, when the prompt
    asks for one of a list, JSON, when a schema is asked for, or a short reply. An answer whose
    shape is prescribed is drawn from its schema in the same way as the arguments of a tool.

    Parameters
    ----------
    request : Request

    Returns
    -------
    str or list of (str, dict)
        The text of the answer, or the tools to call with their arguments.

    Examples
    --------
    >>> from robotlab_nb.core.messages import Message
    >>> from robotlab_nb.models.protocol import Request, ToolSpec
    >>> city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
    >>> weather = ToolSpec("get_weather", "The weather in a city.", city)
    >>> answer(Request((Message("user", "What is the weather in Paris?"),), (weather,)))
    [('get_weather', {'city': 'Paris'})]
    """
    system, user, turn = _split(request.messages)
    text = user[:_LOOK_AT]
    if request.tools:
        calls = _calls(request, text, turn)
        if calls:
            return calls
    if request.output is not None:
        return _prescribed(request.output, text)
    results = [part for message in turn for part in message.tool_results]
    if results:
        return _retell(results)
    wanted = _wanted_schema(request.params)
    if wanted is not None:
        return json.dumps(fill(wanted, Hints(text)), ensure_ascii=False)
    labels = labels_in(system)
    if labels:
        return pick_label(labels, text)
    labels = labels_in(text)
    if labels:
        return pick_label(labels, text, asked_in_text=True)
    return reply(system, text)


def _split(messages: Sequence[Message]) -> tuple[str, str, Sequence[Message]]:
    """The system prompt, the user's last words, and the messages that came after them."""
    system = messages[0].text if messages and messages[0].role == "system" else ""
    for at in range(len(messages) - 1, -1, -1):
        if messages[at].role == "user":
            return system, messages[at].text, messages[at + 1 :]
    return system, "", messages


# -- tools ---------------------------------------------------------------------------------


def _calls(
    request: Request, text: str, turn: Sequence[Message]
) -> list[tuple[str, dict[str, Any]]]:
    choice = request.params.get("tool_choice")
    if choice == "none":
        return []
    called = {call.name for message in turn for call in message.tool_calls}
    tools = [tool for tool in request.tools if tool.name not in called]
    if not tools:
        return []
    if isinstance(choice, dict):
        named = (choice.get("function") or {}).get("name")
        chosen = [tool for tool in tools if tool.name == named]
    else:
        chosen = _matching(tools, text)
        if not chosen and choice == "required" and not called:
            chosen = tools[:1]
    if not chosen:
        return []
    return [(tool.name, arguments(tool, Hints(text, frozenset(_words(tool))))) for tool in chosen]


def _matching(tools: Sequence[ToolSpec], text: str) -> list[ToolSpec]:
    """The tools that share words with a text, but for those that match far worse than the best.

    A tool whose whole name was said is among them however well another one matches.
    """
    signs = _operators(text)
    said = content_stems(text).union(*(_OPERATORS[sign] for sign in signs))
    scores = _scores(tools, said)
    if signs and not any(_OPERATORS[s] & _words(t).keys() for s in signs for t in tools):
        scores = _scores(tools, said | _ARITHMETIC)
    best = max(scores)
    return [
        tool
        for tool, score in zip(tools, scores, strict=True)
        if score and (2 * score > best or _name(tool) <= said)
    ]


def _scores(tools: Sequence[ToolSpec], said: frozenset[str]) -> list[int]:
    return [sum(words[w] for w in said if w in words) for words in map(_words, tools)]


def _name(tool: ToolSpec) -> frozenset[str]:
    return content_stems(in_words(tool.name)) or frozenset((tool.name,))


def _operators(text: str) -> frozenset[str]:
    """The signs that stand between two numbers."""
    return frozenset(match[1] or match[2] for match in _SIGN.finditer(text))


#: (name, description, id of the schema) -> (the schema, kept so that its id stays its own; words)
_known: dict[tuple[str, str, int], tuple[Mapping[str, Any], dict[str, int]]] = {}


def _words(tool: ToolSpec) -> dict[str, int]:
    """The words of a tool, each with how much it counts."""
    key = (tool.name, tool.description, id(tool.parameters))
    found = _known.get(key)
    if found is None:
        words = dict.fromkeys(content_stems(tool.description), _IN_DESCRIPTION)
        properties = tool.parameters.get("properties")
        for name, schema in properties.items() if isinstance(properties, dict) else ():
            words.update(dict.fromkeys(content_stems(in_words(str(name))), _IN_PARAMETERS))
            options = schema.get("enum") if isinstance(schema, dict) else None
            for option in options if isinstance(options, list) else ():
                words.update(dict.fromkeys(content_stems(in_words(str(option))), _IN_PARAMETERS))
        words.update(dict.fromkeys(content_stems(in_words(tool.name)), _IN_NAME))
        if len(_known) >= 512:
            _known.clear()
        found = _known[key] = (tool.parameters, words)
    return found[1]


def _retell(results: Sequence[ToolResultPart]) -> str:
    if len(results) == 1:
        return _sentence(results[0], "I used {name}, and it says: {said}")
    told = " ".join(_sentence(result, "{name} says: {said}") for result in results)
    return f"I used {len(results)} tools. {told}"


def _sentence(result: ToolResultPart, form: str) -> str:
    said = _plain(result.content_text)
    if result.is_error:
        form = "{name} failed: {said}"
    sentence = form.format(name=result.name, said=said or "nothing")
    return sentence if sentence.endswith((".", "!", "?", "…")) else sentence + "."


def _plain(text: str) -> str:
    """A tool's result in words: a flat JSON object as ``key: value``, anything long cut."""
    text = text.strip()
    if text.startswith("{") and len(text) <= _LOOK_AT:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and not any(isinstance(v, (dict, list)) for v in value.values()):
            text = ", ".join(f"{key}: {_spoken(v)}" for key, v in value.items())
    elif len(text) >= 2 and text[0] == text[-1] == '"':
        text = text[1:-1]
    return text if len(text) <= _REPEAT else text[: _REPEAT - 1].rstrip() + "…"


def _spoken(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# -- structure -------------------------------------------------------------------------------


def _prescribed(output: OutputSpec, text: str) -> str | list[tuple[str, dict[str, Any]]]:
    """An answer of the prescribed shape: a text, or a call of the tool that gives it."""
    value = fill(output.schema, Hints(text))
    if output.tool is not None:
        return [(output.tool.name, value)]
    return json.dumps(value, ensure_ascii=False)


def _wanted_schema(params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The schema that ``response_format`` asks for; None when it asks for none."""
    form = params.get("response_format") if params else None
    if not isinstance(form, dict) or form.get("type") != "json_schema":
        return None
    named = form.get("json_schema")
    schema = named.get("schema") if isinstance(named, dict) else None
    return schema if isinstance(schema, dict) else None
