"""Tab completion in cells: a magic's first line, models' names, keys of what robots give.

IPython completes ``net["…"]`` by itself; where a property stands before the bracket
(``bot.tools["…"]``) it does not look, since a property may do anything. Those of this package are
quick and change nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from .magic_line import PROMPT, ROBOT, names_of
from .magic_names import members

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Completions", "keys_of", "offered"]

_MAGIC = re.compile(r"\s*%%?(robot|prompt)\s(.*)\Z", re.S)
#: a value that follows a flag, as far as it is typed
_MODEL = re.compile(r"(?:^|\s)(?:-m|--model)(?:\s+|=)(\S*)\Z")
_VARIABLE = re.compile(r"(?:^|\s)(?:-o|--out|-c|--context)(?:\s+|=)(\S*)\Z")
_WORD = re.compile(r"\S*\Z")
#: a setting that names a model, and the start of its text
_NAMED = re.compile(r"\b(?:model|fallback|summarizer)\s*=\s*\[?\s*[\"']([^\"'\s]*)\Z")
#: names and attributes before an open bracket and quote, and the start of a key
_KEY = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)\[[\"']([^\"'\]]*)\Z")
_PACKAGE = __name__.partition(".")[0]
#: offered at most
_MOST = 60


class Completions:
    """What a shell offers in cells where this package knows better.

    Parameters
    ----------
    shell : InteractiveShell
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def install(self) -> None:
        """Offer it from now on."""
        self._matchers().append(_matcher(self.shell))

    def remove(self) -> None:
        """Offer it no more."""
        known = self._matchers()
        known[:] = [one for one in known if getattr(one, "matcher_identifier", None) != _PACKAGE]

    def _matchers(self) -> list[Any]:
        found: list[Any] = getattr(self.shell.Completer, "custom_matchers", [])
        return found


def _matcher(shell: InteractiveShell) -> Any:
    """A matcher for IPython, asked before slow ones guess. It never raises."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher(identifier=_PACKAGE, priority=100.0)  # type: ignore[untyped-decorator]
    def match(context: Any) -> dict[str, Any]:
        try:
            line, first = context.text_until_cursor, context.cursor_line == 0
            found = offered(line, shell.user_ns, first=first)
        except Exception:
            found = None
        if found is None:
            return {"completions": [], "suppress": False}
        typed, names = found
        return {
            "completions": [SimpleCompletion(text=name, type=_kind(name)) for name in names],
            "matched_fragment": typed, "suppress": True, "ordered": True,
        }  # fmt: skip

    return match


def _kind(name: str) -> str:
    """What a front end calls it, beside its name."""
    return "flag" if name.startswith("-") else "name"


def offered(
    line: str, namespace: Mapping[str, Any], *, first: bool = True
) -> tuple[str, list[str]] | None:
    """What fits at the end of a line, and what of it is typed; None where IPython knows better.

    Parameters
    ----------
    line : str
        Up to the cursor.
    namespace : mapping
        The notebook's variables.
    first : bool, optional
        Whether it is the first line of its cell.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> offered("%%robot b", {"bot": rl.build("bot"), "big": 1})
    ('b', ['bot'])
    >>> offered("%%robot bot --d", {})
    ('--d', ['--dry'])
    >>> offered("x = ", {}) is None
    True
    """
    magic = _MAGIC.match(line) if first or not line.lstrip().startswith("%%") else None
    if magic is not None:
        typed, names = _on_magic(magic[1], magic[2], namespace)
    elif found := _NAMED.search(line):
        typed, names = found[1], _models()
    elif found := _KEY.search(line):
        typed, names = found[2], keys_of(found[1], namespace)
    else:
        return None
    fits = [name for name in names if name.startswith(typed)]
    return typed, fits[:_MOST]


def _on_magic(magic: str, rest: str, namespace: Mapping[str, Any]) -> tuple[str, Iterable[str]]:
    word = _WORD.search(rest)
    typed = word[0] if word is not None else ""
    if magic == "prompt":
        return typed, names_of(PROMPT)
    if found := _MODEL.search(rest):
        return found[1], _models()
    if found := _VARIABLE.search(rest):
        return found[1], [name for name in namespace if not name.startswith("_")]
    if typed.startswith("-"):
        return typed, names_of(ROBOT)
    return typed, [*members(namespace), *(names_of(ROBOT) if not typed else ())]


def _models() -> Iterable[str]:
    from ..models.prices import known_models

    return ("simulated", *known_models())


def keys_of(path: str, namespace: Mapping[str, Any]) -> list[str]:
    """The keys of what an expression of names and dots gives, where it leads through our objects.

    Parameters
    ----------
    path : str
        ``bot.tools``, say.
    namespace : mapping

    Returns
    -------
    list of str
        Empty where it leads elsewhere.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> def add(a: int) -> int:
    ...     "Add one."
    ...     return a + 1
    >>> keys_of("bot.tools", {"bot": rl.build("bot", tools=[add])})
    ['add']
    """
    first, *attributes = path.split(".")
    thing = namespace.get(first)
    for name in attributes:
        ours = type(thing).__module__.partition(".")[0] == _PACKAGE
        if name.startswith("_") or not (ours or thing is namespace.get(_PACKAGE)):
            return []
        thing = getattr(thing, name)
    offers = getattr(type(thing), "_ipython_key_completions_", None)
    found = offers(thing) if offers is not None else thing if isinstance(thing, dict) else ()
    return [key for key in found if isinstance(key, str)]
