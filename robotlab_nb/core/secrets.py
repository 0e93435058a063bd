"""Registered secrets, and masking them wherever text leaves the program.

Exact values are masked, in the spellings that :mod:`.secret_forms` knows; nothing is guessed from
how a text looks. While nothing is registered ``any_known`` is False, and callers look no further.
Knows no events, no models and no pictures.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from .secret_forms import Form, forms_of

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = [
    "SHORTEST",
    "StreamRedactor",
    "any_known",
    "forget",
    "found_in",
    "redact",
    "redact_data",
    "register",
    "register_secret",
]

#: Characters of the shortest value that is masked: shorter ones stand in innocent texts too.
SHORTEST = 8

#: whether anything is registered; callers test it before they call
any_known = False

_lock = threading.Lock()
_NOTHING: Collection[str] = frozenset()


class _Known:
    """All registered values, ready to be searched for. Replaced as a whole, never changed."""

    # No repr of its own: it would show what is to be hidden.
    __slots__ = ("anchors", "by_first", "forms", "values")

    def __init__(self, values: dict[str, list[Form]]) -> None:
        self.values = values
        # Of two values, one within the other, the longer is to be found first.
        longest = sorted(values, key=len, reverse=True)
        self.forms = tuple([form for value in longest for form in values[value]])
        self.anchors = tuple(dict.fromkeys(form.anchor for form in self.forms))
        #: forms by the characters with which they may begin
        self.by_first: dict[str, list[Form]] = {}
        for form in self.forms:
            for first in form.firsts:
                self.by_first.setdefault(first, []).append(form)


_known = _Known({})


def register_secret(value: str, name: str = "secret") -> None:
    """Have a value masked from now on, wherever the program shows or keeps text.

    API keys that a robot uses are registered by themselves. Masked are the value itself and its
    URL-encoded, base64 and escaped spellings: in events and what is made of them (results, tables,
    logs, exports), in what is sent to models, in errors, pictures and reprs.

    Parameters
    ----------
    value : str
        At least 8 characters; white space around it does not count.
    name : str, optional
        What is shown in its place: ``[redacted: name]``.

    Raises
    ------
    ConfigurationError
        When the value is too short to be told from other text, or the name would give it away.

    Examples
    --------
    >>> register_secret("correct-horse-battery", "VAULT_TOKEN")
    >>> redact("curl -H 'Token: correct-horse-battery'")
    "curl -H 'Token: [redacted: VAULT_TOKEN]'"
    """
    from .errors import ConfigurationError

    for what, given in (("value", value), ("name", name)):
        if not isinstance(given, str):
            raise ConfigurationError(
                f"register_secret: the {what} is a text, not {type(given).__name__}"
            )
    # What stands in a value's place must not break JSON or markup around it.
    shown = " ".join(re.sub(r"[^\w\s.,:/+-]", "_", name).split())
    if not shown:
        raise ConfigurationError("register_secret: the name is empty", hint="Say whose key it is.")
    secret = value.strip()
    if len(secret) < SHORTEST:
        raise ConfigurationError(
            f"register_secret: {shown!r} has {len(secret)} characters and would be masked inside "
            "innocent words",
            hint=f"A secret has at least {SHORTEST} characters.",
        )
    if secret in f"[redacted: {shown}]":
        raise ConfigurationError(
            "register_secret: the value is a part of what would be shown in its place",
            hint="Choose another name.",
        )
    register(secret, shown)


def register(value: str, name: str) -> None:
    """Register a value that the program came to know; too short a one is let be.

    Parameters
    ----------
    value : str
    name : str
        Its environment variable, or the field in which it was given.
    """
    global _known, any_known
    if value in _known.values or len(value) < SHORTEST:
        return
    with _lock:
        _known = _Known({**_known.values, value: forms_of(value, name)})
        any_known = True


def forget() -> None:
    """Register nothing any more (tests do)."""
    global _known, any_known
    with _lock:
        _known = _Known({})
        any_known = False


#: the process's options, and what they said of masking when they were last asked
_options: Any = None
_asked = -1
_wanted = True


def _on() -> bool:
    """Whether the process wants masking (``rl.options.redact``)."""
    global _options, _asked, _wanted
    if _options is None:
        from .config import options

        _options = options
    if _options.version != _asked:
        # First: an error of the options themselves is masked on its way.
        _asked, _wanted = _options.version, True
        try:
            _wanted = bool(_options.redact)
        except Exception:
            pass  # whoever asks the options next is told
    return _wanted


# -- texts and JSON ---------------------------------------------------------------------------


def redact(text: str) -> str:
    """A text with all registered values masked; the same object when there are none in it.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
    """
    return _masked(text, _known) if any_known and _on() else text


def found_in(text: str) -> str | None:
    """The name of a registered value that stands in a text, in any spelling; None when none does.

    Examples
    --------
    >>> found_in("nothing to see") is None
    True
    """
    if any_known and _on():
        for form in _known.forms:
            if form.anchor in text and _pattern((form,)).search(text):
                return form.name
    return None


def redact_data(value: Any, *, skip: Collection[str] = _NOTHING) -> Any:
    """A JSON value with all registered values masked, keys of objects included.

    Parameters
    ----------
    value : JSON
        Anything else in it is passed through.
    skip : collection of str, optional
        Names of top-level fields that need no look.

    Returns
    -------
    JSON
        The same object when nothing was masked in it; what was not masked is never copied.

    Examples
    --------
    >>> data = {"city": ["Paris"]}
    >>> redact_data(data) is data
    True
    """
    if not (any_known and _on()):
        return value
    if _clean(value, _known.anchors):
        return value
    try:
        if skip and isinstance(value, Mapping):
            return _mapping(value, _known, skip)
        return _data(value, _known)
    except RecursionError:
        return "[redacted: nested too deeply to be searched]"


def _clean(value: Any, anchors: tuple[str, ...]) -> bool:
    """Whether nothing in a JSON value can be masked: all its texts are searched at once."""
    texts: list[str] = []
    left = [value]
    while left:
        item = left.pop()
        kind = type(item)
        if kind is str:
            if len(item) >= SHORTEST:
                texts.append(item)
        elif kind is float or kind is int or item is None or kind is bool:
            pass
        elif kind is list or kind is tuple:
            left += item
        elif kind is dict or isinstance(item, Mapping):
            texts += item
            left += item.values()
        elif isinstance(item, str):
            texts.append(str.__str__(item))
    joined = "\n".join(texts)
    return not any(anchor in joined for anchor in anchors)


def _masked(text: str, known: _Known) -> str:
    for anchor in known.anchors:
        if anchor in text:
            break
    else:
        return text
    found = tuple([form for form in known.forms if form.anchor in text])
    masked = _pattern(found).sub(lambda m: _mask(found[(m.lastindex or 1) - 1]), text)
    return text if masked == text else masked


def _mask(form: Form) -> str:
    return f"[redacted: {form.name}]"


@lru_cache(maxsize=64)
def _pattern(forms: tuple[Form, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"({form.pattern})" for form in forms))


def _data(value: Any, known: _Known) -> Any:
    kind = type(value)
    if kind is str:
        return _masked(value, known) if len(value) >= SHORTEST else value
    if value is None or kind is int or kind is float or kind is bool:
        return value
    if kind is dict:
        return _mapping(value, known, _NOTHING)
    if kind is list or kind is tuple:
        new = [_data(item, known) for item in value]
        for item, old in zip(new, value, strict=True):
            if item is not old:
                return new if kind is list else tuple(new)
        return value
    if isinstance(value, Mapping):
        return _mapping(value, known, _NOTHING)
    return _masked(str.__str__(value), known) if isinstance(value, str) else value


def _mapping(value: Mapping[str, Any], known: _Known, skip: Collection[str]) -> Any:
    changed: dict[str, Any] | None = None
    for key, item in value.items():
        if key in skip:
            continue
        new = _data(item, known)
        if new is not item or _data(key, known) is not key:
            changed = changed or {}
            changed[key] = new
    if changed is None:
        return value
    out: dict[str, Any] = {}
    for key, item in value.items():
        stem = name = _data(key, known)
        n = 1
        while name in out:  # two keys that held the same secret
            n += 1
            name = f"{stem} ({n})"
        out[name] = changed.get(key, item)
    # A message's record is more than its fields.
    remade = getattr(value, "remade", None)
    return out if remade is None else remade(out)


# -- text that streams ------------------------------------------------------------------------


class StreamRedactor:
    """Masks a text that comes in pieces, however it was cut.

    What could be the start of a registered value is held back until more has come. All that was
    passed on, joined, is what :func:`redact` makes of the whole text.

    Examples
    --------
    >>> register_secret("correct-horse-battery", "VAULT_TOKEN")
    >>> stream = StreamRedactor()
    >>> [stream.feed("say correct-ho"), stream.feed("rse-battery!"), stream.end()]
    ['say ', '[redacted: VAULT_TOKEN]!', '']
    """

    __slots__ = ("held",)

    def __init__(self) -> None:
        #: what was fed and not yet passed on
        self.held = ""

    def feed(self, piece: str) -> str:
        """Take a piece in; returns what can be passed on, perhaps nothing."""
        text = self.held + piece
        if not (any_known and _on()):
            self.held = ""
            return text
        passed, self.held = _passed(text, _known)
        return passed

    def end(self) -> str:
        """What was held back: nothing comes any more."""
        held, self.held = self.held, ""
        return redact(held)


def _passed(text: str, known: _Known) -> tuple[str, str]:
    """The masked text that can be passed on, and the rest, which may be the start of a value."""
    by_first = known.by_first
    # Another place cannot become the start of a value that begins before it.
    starts = [
        at
        for at, character in enumerate(text)
        if character in by_first and _may_begin(by_first[character], text[at:])
    ]
    if not any(anchor in text for anchor in known.anchors):
        hold = starts[0] if starts else len(text)
        return text[:hold], text[hold:]
    out = []
    at = 0
    spans = _spans(text, known)
    while True:
        hold = next((start for start in starts if start >= at), len(text))
        begin, end, mask = next((s for s in spans if s[0] >= at), (len(text), 0, ""))
        if begin >= hold:
            out.append(text[at:hold])
            return "".join(out), text[hold:]
        out += [text[at:begin], mask]
        at = end


def _may_begin(forms: list[Form], text: str) -> bool:
    return any(form.begins(text) for form in forms)


def _spans(text: str, known: _Known) -> list[tuple[int, int, str]]:
    found = tuple([form for form in known.forms if form.anchor in text])
    return [
        (m.start(), m.end(), _mask(found[(m.lastindex or 1) - 1]))
        for m in _pattern(found).finditer(text)
    ]
