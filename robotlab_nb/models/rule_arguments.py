"""Arguments for a tool, drawn from its JSON Schema and from what a message says.

A deterministic guess that always fills what is required. Knows no model, no run and no tool
that could be called: it reads schemas and text.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from .rule_hints import MISSING, Hints
from .rule_words import content_stems, in_words, stem, stems

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .protocol import ToolSpec

__all__ = ["arguments", "fill"]

_TEXT_NAMES = stems(
    "query question text message prompt topic input content body task search subject term q "
    "keywords note request sentence instructions comment"
)
_SUM_NAMES = stems("expression formula calculation equation math")
_CODE_NAMES = stems("id number code reference sku ticket invoice order key account")
_PROPER_NAMES = stems(
    "name city country place location person customer author company title region state "
    "destination origin recipient from to"
)
_WAY_NAMES = {
    "from": stems("from origin start source departure"),
    "to": stems("to destination target arrival"),
}
_ADDRESSES = stems("to from recipient sender address")
#: words in the name of a switch that do not say what it switches
_SWITCHES = content_stems("include enable allow should only flag verbose mode")
_NEGATIONS = frozenset(("no", "not", "without", "never", "don't", "don’t"))
_SHAPED = frozenset(("date", "email", "uri", "url"))
_SAMPLES = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T12:00:00Z",
    "time": "12:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_DEEPEST = 8


def arguments(tool: ToolSpec, hints: Hints) -> dict[str, Any]:
    """Fill the arguments of a tool.

    Parameters
    ----------
    tool : ToolSpec
    hints : Hints
        What the message offers.

    Returns
    -------
    dict
        Every required argument, and of the optional ones those that the message speaks of.

    Examples
    --------
    >>> from robotlab_nb.models.protocol import ToolSpec
    >>> schema = {
    ...     "type": "object",
    ...     "properties": {"city": {"type": "string"}, "unit": {"enum": ["C", "F"]}},
    ...     "required": ["city", "unit"],
    ... }
    >>> arguments(ToolSpec("get_weather", "", schema), Hints("How is the weather in Oslo?"))
    {'city': 'Oslo', 'unit': 'C'}
    """
    found = _object(tool.parameters, hints, tool.parameters, 0, required=True)
    return found if isinstance(found, dict) else {}


def fill(schema: Mapping[str, Any], hints: Hints) -> Any:
    """Fill any schema with a value from the message, else with a default or a sample."""
    found = _fill(schema, hints, "", schema, 0, required=True)
    return None if found is MISSING else found


def _fill(
    schema: Any, hints: Hints, name: str, root: Mapping[str, Any], depth: int, *, required: bool
) -> Any:
    """A value for one schema; MISSING when it is optional and the message says nothing of it."""
    if required and _may_be_null(schema):
        said = _fill(schema, hints, name, root, depth, required=False)
        return schema.get("default") if said is MISSING else said
    schema = _resolved(schema, root)
    if "const" in schema:
        return schema["const"] if required else MISSING
    kind = _type(schema)
    value: Any = MISSING
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        value = next(iter(_mentioned(schema["enum"], hints)), MISSING)
    elif depth <= _DEEPEST and kind == "object":
        value = _object(schema, hints, root, depth, required=required)
    elif depth <= _DEEPEST and kind == "array":
        value = _array(schema, hints, name, root, depth, required=required)
    elif kind in ("integer", "number"):
        value = _figure(schema, kind, hints, name, required=required)
    elif kind == "boolean":
        value = _boolean(hints, name)
    elif kind == "string":
        value = _string(schema, hints, name, required=required)
    if value is MISSING and required:
        return _fallback(schema, kind, hints, name)
    return value


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references and take the first choice that is not null."""
    for _ in range(_DEEPEST):
        if not isinstance(schema, dict):
            return {}
        if isinstance(schema.get("$ref"), str):
            target: Any = root
            for step in schema["$ref"].removeprefix("#").strip("/").split("/"):
                target = target.get(step) if isinstance(target, dict) and step else target
            schema = target
            continue
        choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if not isinstance(choices, list) or not choices:
            return schema
        some = [c for c in choices if not (isinstance(c, dict) and c.get("type") == "null")]
        chosen = (some or choices)[0]
        rest = {k: v for k, v in schema.items() if k not in ("anyOf", "oneOf", "allOf")}
        schema = {**rest, **chosen} if isinstance(chosen, dict) else rest
    return {}


def _may_be_null(schema: Any) -> bool:
    """Whether null is one of the choices that a schema offers."""
    choices = schema.get("anyOf") if isinstance(schema, dict) else None
    return isinstance(choices, list) and {"type": "null"} in choices


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if isinstance(schema.get("properties"), dict) else "string"


def _own(name: str) -> frozenset[str]:
    """The stems of a parameter's name, ``snake_case`` and ``camelCase`` taken apart."""
    return stems(in_words(name))


def _mentioned(options: Sequence[Any], hints: Hints) -> list[Any]:
    """The options of which every word occurs in the message, in the order of the schema."""
    said = stems(hints.text)
    words = [stems(in_words(str(option))) for option in options]
    return [option for option, own in zip(options, words, strict=True) if own and own <= said]


def _object(
    schema: Mapping[str, Any], hints: Hints, root: Mapping[str, Any], depth: int, *, required: bool
) -> Any:
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {} if required else MISSING
    listed = schema.get("required")
    needed = [n for n in properties if isinstance(listed, list) and n in listed]
    values: dict[str, Any] = {}
    # What is needed takes its pick of the message first.
    for name in (*needed, *(n for n in properties if n not in needed)):
        values[name] = _fill(
            properties[name], hints, str(name), root, depth + 1,
            required=required and name in needed,
        )  # fmt: skip
    if not required:
        if all(value is MISSING for value in values.values()):
            return MISSING
        for name in needed:
            if values[name] is MISSING:
                values[name] = _fill(
                    properties[name], hints, str(name), root, depth + 1, required=True
                )
    return {n: values[n] for n in properties if values[n] is not MISSING}


def _array(
    schema: Mapping[str, Any],
    hints: Hints,
    name: str,
    root: Mapping[str, Any],
    depth: int,
    *,
    required: bool,
) -> Any:
    first = schema.get("prefixItems")
    if isinstance(first, list):
        if not required:
            return MISSING
        return [_fill(one, hints, "", root, depth + 1, required=True) for one in first]
    items = _resolved(schema.get("items"), root)
    kind = _type(items)
    spoken_of = required or hints.mentions(_own(name))
    found: list[Any] = []
    if isinstance(items.get("enum"), list):
        found = _mentioned(items["enum"], hints)
    elif (
        "const" in items
        or kind not in ("integer", "number", "string")
        or items.get("format") in _SAMPLES
    ):
        value = _fill(items, hints, "", root, depth + 1, required=False)
        found = [] if value is MISSING else [value]
    elif kind == "string":
        taken = [hints.pool("quotes"), hints.pool("names") if spoken_of else []]
        found = [text for text in next(filter(None, taken), []) if _allowed(text, items)]
        for pool in taken:
            pool.clear()
    else:
        while (
            spoken_of and (value := _figure(items, kind, hints, "", required=True)) is not MISSING
        ):
            found.append(value)
    if not found and (not required or isinstance(schema.get("default"), list)):
        return MISSING
    if schema.get("uniqueItems") and kind in ("string", "integer", "number"):
        found = list(dict.fromkeys(found))
    least, most = schema.get("minItems"), schema.get("maxItems")
    while isinstance(least, int) and len(found) < min(least, 20):
        found.append(_fill(items, hints, "", root, depth + 1, required=True))
    return found[:most] if isinstance(most, int) else found


def _figure(
    schema: Mapping[str, Any], kind: str, hints: Hints, name: str, *, required: bool
) -> Any:
    pool = hints.pool("figures")
    fitting = [figure for figure in pool if _within(figure.value, schema, kind)]
    own = _own(name)
    beside = [figure for figure in fitting if not own.isdisjoint(figure.beside)]
    chosen = beside or (fitting if required or (own and hints.mentions(own)) else [])
    if not chosen and required and kind == "integer":
        chosen = [figure for figure in pool if _within(float(int(figure.value)), schema, kind)]
    if not chosen:
        return MISSING
    pool.remove(chosen[0])
    value = chosen[0].value
    return int(value) if kind == "integer" or value.is_integer() else value


def _within(value: float, schema: Mapping[str, Any], kind: str) -> bool:
    if kind == "integer" and not value.is_integer():
        return False
    step = schema.get("multipleOf")
    if isinstance(step, (int, float)) and step > 0 and value % step:
        return False
    bounds = [schema.get(k) for k in _BOUNDS]
    low, high, above, below = (b if isinstance(b, (int, float)) else None for b in bounds)
    return (
        (low is None or value >= low)
        and (high is None or value <= high)
        and (above is None or value > above)
        and (below is None or value < below)
    )


def _boolean(hints: Hints, name: str) -> Any:
    own = content_stems(in_words(name)) - _SWITCHES
    words = hints.text.lower().split()
    for at, word in enumerate(words):
        if stem(word.strip(".,;:!?")) in own:
            return _NEGATIONS.isdisjoint(words[max(0, at - 2) : at])
    return MISSING


def _string(schema: Mapping[str, Any], hints: Hints, name: str, *, required: bool) -> Any:
    for text in _texts(schema, hints, name, required=required):
        if text is not MISSING and _allowed(text, schema):
            return text
    return MISSING


def _texts(schema: Mapping[str, Any], hints: Hints, name: str, *, required: bool) -> Iterator[Any]:
    """Texts of the message that may be meant, the likeliest first."""
    own = _own(name)
    form = schema.get("format")
    if isinstance(form, str):
        yield hints.shaped(form)
        if form in _SAMPLES:
            return
    for word in own & _SHAPED:
        yield hints.shaped(word)
    if own & _ADDRESSES:
        yield hints.shaped("email")
    if own & _SUM_NAMES:
        yield hints.calculation()
    if own & _CODE_NAMES:
        yield hints.take("codes")
    yield hints.take("quotes")
    for word, names in _WAY_NAMES.items():
        if own & names:
            yield hints.way(word)
    if own & _TEXT_NAMES:
        if required:
            yield hints.wish()
        return
    if required or own & _PROPER_NAMES:
        yield hints.take("names")
    if required:
        yield from hints.after_prepositions()


def _allowed(text: str, schema: Mapping[str, Any]) -> bool:
    least, most, pattern = (schema.get(k) for k in ("minLength", "maxLength", "pattern"))
    if isinstance(least, int) and len(text) < least:
        return False
    if isinstance(most, int) and len(text) > most:
        return False
    if isinstance(pattern, str):
        try:
            return re.search(pattern, text[:200]) is not None
        except re.error:
            return True
    return True


def _fallback(schema: Mapping[str, Any], kind: str, hints: Hints, name: str) -> Any:
    """A value for something required of which the message says nothing."""
    if "default" in schema:
        return schema["default"]
    for listed in (schema.get("examples"), schema.get("enum")):
        if isinstance(listed, list) and listed:
            return listed[0]
    if kind in ("integer", "number"):
        return _bounded(schema, kind)
    if kind == "string":
        return _sample(schema, hints, name)
    return {"boolean": False, "object": {}, "array": []}.get(kind)


def _bounded(schema: Mapping[str, Any], kind: str) -> float | int:
    steps = [schema.get(k) for k in _BOUNDS]
    low, high, above, below = (b if isinstance(b, (int, float)) else None for b in steps)
    tried = [
        1,
        0,
        low,
        high,
        None if above is None else above + 1,
        None if below is None else below - 1,
    ]
    if low is not None or above is not None:
        tried.append(math.ceil(low if low is not None else above or 0))
    if above is not None and below is not None:
        tried.append((above + below) / 2)
    step = schema.get("multipleOf")
    if isinstance(step, (int, float)) and step > 0:
        least = low if low is not None else above or 0
        tried += [math.ceil(least / step) * step, (math.floor(least / step) + 1) * step]
    for value in tried:
        if value is not None and _within(float(value), schema, kind):
            return int(value) if float(value).is_integer() else value
    return 1


def _sample(schema: Mapping[str, Any], hints: Hints, name: str) -> str:
    form = schema.get("format")
    if isinstance(form, str) and form in _SAMPLES:
        return _SAMPLES[form]
    text = hints.last_word() or name or "text"
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(text) < least:
        text = text.ljust(min(least, 1000), "x")
    return text[:most] if isinstance(most, int) and most >= 0 else text
