"""The spellings in which a secret value turns up: as it is, escaped, percent-encoded, in base64.

Each form is a row of steps, and each step a text or a choice of texts. From that come a pattern
that finds whole spellings and the answer to whether a text could be the start of one. Knows no
registry and no events.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from html import escape
from itertools import product
from urllib.parse import quote

__all__ = ["Form", "forms_of"]

#: characters that no encoding changes
_SAFE = re.compile(r"[A-Za-z0-9._-]+")
#: shorter texts than this stand everywhere and would save no search
_ANCHOR = 4
#: capital and small letters of escapes are all tried, up to so many ways of writing one
_CASES = 64
_HEXADECIMAL = re.compile(r"%(?:25)*[0-9A-F]{2}|\\u[0-9a-f]{4}|\\U[0-9a-f]{8}|&#x[0-9a-f]+;")

#: how the two characters of base64 that are no letters may be written
_IN_BASE64 = {
    "+": ("\\u002B", "\\u002b", "%2B", "%2b", "+", "-"),
    "/": ("\\u002F", "\\u002f", "%2F", "%2f", "\\/", "/", "_"),
}

Step = tuple[str, ...]


class Form:
    """One way of writing a secret value.

    Parameters
    ----------
    name : str
        What stands in its place.
    steps : sequence of tuple of str
        The texts that follow one another; several in a tuple are a choice.

    Examples
    --------
    >>> form = Form("KEY", [("ab",), ("%2F", "/"), ("cd",)])
    >>> bool(re.fullmatch(form.pattern, "ab/cd")), form.begins("ab%2"), form.begins("ab-")
    (True, True, False)
    """

    # No repr of its own: a form is the secret.
    __slots__ = ("anchor", "name", "pattern", "steps")

    def __init__(self, name: str, steps: list[Step]) -> None:
        self.name = name
        self.steps = tuple(steps)
        plain = max((s[0] for s in steps if len(s) == 1), key=len, default="")
        #: a text that every spelling holds; "" where there is none
        self.anchor = plain if len(plain) >= _ANCHOR else ""
        self.pattern = "".join(map(_choice, steps))

    @property
    def firsts(self) -> set[str]:
        """The characters with which a spelling may begin."""
        return {text[0] for text in self.steps[0]}

    def begins(self, text: str) -> bool:
        """Whether a spelling begins with a text and goes on after it."""
        return _begins(self.steps, 0, text, 0)


def forms_of(value: str, name: str) -> list[Form]:
    r"""All forms of a value: its own, and base64 at the three places where it may start.

    Parameters
    ----------
    value : str
        At least 8 characters.
    name : str
        What stands in its place.

    Examples
    --------
    >>> own, *encoded = forms_of('a key/"1"', "KEY")
    >>> all(re.fullmatch(own.pattern, t) for t in ("a+key%2f%221%22", 'a key/\\"1\\"'))
    True
    >>> len(encoded), bool(re.search(encoded[2].pattern, b64encode(b'user:a key/"1"').decode()))
    (3, True)
    """
    data = value.encode("utf-8", "surrogatepass")
    return [
        Form(name, _own(value)),
        *(Form(name, _in_base64(data, shift)) for shift in (0, 1, 2)),
    ]


def _own(value: str) -> list[Step]:
    steps: list[Step] = []
    # Each level of escaping doubles all backslashes alike: a row of them is one step.
    for part in re.findall(rf"{_SAFE.pattern}|\\+|[\s\S]", value):
        if _SAFE.fullmatch(part):
            steps.append((part,))
        elif part[0] == "\\":
            rows = [part * times for times in (8, 4, 2, 1)]
            encoded = [
                case * len(part) * times
                for times in (2, 1)
                for case in ("%255C", "%255c", "%5C", "%5c")
            ]
            steps.append((*encoded, *rows))
        else:
            steps.append(_spellings(part))
    return steps


def _in_base64(data: bytes, shift: int) -> list[Step]:
    """The characters that the bytes alone decide, wherever in a longer text they begin."""
    encoded = b64encode(bytes(shift) + data).decode("ascii")
    sure = encoded[-(-shift * 8 // 6) : (shift + len(data)) * 8 // 6]
    return [_IN_BASE64.get(part, (part,)) for part in re.findall(r"[A-Za-z0-9]+|[+/]", sure)]


def _spellings(character: str) -> Step:
    """How a character may be written, the longest first."""
    found = {character}
    for depth in range(3):
        found |= {written for text in found for written in _written(text, depth == 0)}
    code = ord(character)
    found |= {f"&#{code};", f"&#x{code:x};"}
    if character == " ":
        found.add("+")
    every = {cased for text in found for cased in _cases(text)}
    return tuple(sorted(every, key=lambda text: (-len(text), text)))


def _written(text: str, first: bool) -> set[str]:
    """A text in the next level of escaping."""
    levels = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    levels |= {quote(text, safe="", errors="surrogatepass"), escape(text)}
    if first:
        levels |= {repr(text)[1:-1], ascii(text)[1:-1]}
        if text in "/'":
            levels.add("\\" + text)
    return levels


def _cases(text: str) -> set[str]:
    """A text with the hexadecimal digits of its escapes in capitals, small letters, or both."""
    if not _HEXADECIMAL.search(text):
        return {text}
    choices: list[Step] = []
    end = 0
    for match in _HEXADECIMAL.finditer(text):
        choices += [(c,) for c in text[end : match.start()]]
        head = 2 if match[0][0] == "\\" else 3 if match[0][0] == "&" else 1
        choices += [(c,) for c in match[0][:head]]
        choices += [tuple({c.lower(), c.upper()}) for c in match[0][head:]]
        end = match.end()
    choices += [(c,) for c in text[end:]]
    ways = 1
    for choice in choices:
        ways *= len(choice)
    if ways > _CASES:
        return {text, _capitals(text), _small(text)}
    return {"".join(way) for way in product(*choices)}


def _capitals(text: str) -> str:
    return _HEXADECIMAL.sub(lambda found: found[0][:2] + found[0][2:].upper(), text)


def _small(text: str) -> str:
    return _HEXADECIMAL.sub(lambda found: found[0][:2] + found[0][2:].lower(), text)


def _choice(step: Step) -> str:
    if len(step) == 1:
        return re.escape(step[0])
    return f"(?:{'|'.join(map(re.escape, step))})"


def _begins(steps: tuple[Step, ...], at: int, text: str, start: int) -> bool:
    """Whether the steps from ``at`` on begin with a text's rest, and go on after it."""
    if at == len(steps):
        return False
    left = len(text) - start
    if left == 0:
        return True
    for spelling in steps[at]:
        if len(spelling) > left:
            found = spelling.startswith(text[start:])
        else:
            end = start + len(spelling)
            found = text.startswith(spelling, start) and _begins(steps, at + 1, text, end)
        if found:
            return True
    return False
