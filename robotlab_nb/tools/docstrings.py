"""What a docstring says of a function and of its parameters: NumPy, Google and reST styles.

It reads text only and knows neither tools nor types.
"""

from __future__ import annotations

import inspect
import re

__all__ = ["read_docstring"]

_RULE = re.compile(r"^-{3,}\s*$")
_GOOGLE = re.compile(
    r"^(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Returns?"
    r"|Yields?|Raises|Examples?|Notes?|Warnings?|Attributes|References|See Also|Todo)\s*:\s*$"
    r"|^(Returns?|Yields?|Raises)\s*:\s"
)
_REST_PARAM = re.compile(
    r"^:(?:param|parameter|arg|argument|key|keyword)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)$"
)
_REST = re.compile(r"^:[A-Za-z]+(?:\s[^:]*)?:")
_NUMPY_ENTRY = re.compile(r"^(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?$")
_GOOGLE_ENTRY = re.compile(r"^\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?:\s+(.*))?$")
_OF_PARAMETERS = frozenset(
    {
        "Args", "Arguments", "Parameters", "Params", "Keyword Args", "Keyword Arguments",
        "Other Parameters",
    }
)  # fmt: skip


class _Reader:
    """One pass over the lines: the description first, then whatever section a line opens."""

    def __init__(self) -> None:
        self.section = "description"
        self.description: list[str] = []
        self.texts: dict[str, list[str]] = {}
        self._names: tuple[str, ...] = ()
        self._indent = 0

    def open(self, section: str) -> None:
        self.section = section
        self._names = ()
        self._indent = 0

    def entry(self, names: tuple[str, ...], text: str | None) -> None:
        self._names = names
        for name in names:
            self.texts[name] = [text] if text else []

    def line(self, line: str) -> None:
        if self.section == "description":
            self.description.append(line)
        elif self.section != "other" and line.strip():
            getattr(self, "_" + self.section)(line, len(line) - len(line.lstrip()))

    def _numpy(self, line: str, indent: int) -> None:
        found = _NUMPY_ENTRY.match(line) if indent == 0 else None
        if found:
            self.entry(tuple(n.strip().lstrip("*") for n in found[1].split(",")), None)
        else:
            self._more(line)

    def _google(self, line: str, indent: int) -> None:
        if indent == 0:
            self.open("other")
            return
        self._indent = self._indent or indent
        found = _GOOGLE_ENTRY.match(line.strip()) if indent <= self._indent else None
        if found:
            self.entry((found[1],), found[2])
        else:
            self._more(line)

    def _rest(self, line: str, indent: int) -> None:
        if indent:
            self._more(line)
        else:
            self.open("other")

    def _more(self, line: str) -> None:
        for name in self._names:
            self.texts[name].append(line.strip())


def read_docstring(text: str | None) -> tuple[str, dict[str, str]]:
    """Take a docstring apart.

    Parameters
    ----------
    text : str or None
        A docstring as written.

    Returns
    -------
    tuple of (str, dict of str to str)
        The prose before the first section (summary and what follows it), and the text of each
        parameter that has one.

    Examples
    --------
    >>> read_docstring('''Weather of a city.
    ...
    ...     Args:
    ...         city (str): Its name,
    ...             in English.
    ...     ''')
    ('Weather of a city.', {'city': 'Its name, in English.'})
    """
    if not text:
        return "", {}
    lines = inspect.cleandoc(text).splitlines()
    reader = _Reader()
    for at, line in enumerate(lines):
        underlined = at + 1 < len(lines) and _RULE.match(lines[at + 1])
        if underlined and line and not line[0].isspace():
            reader.open("numpy" if line.strip() in _OF_PARAMETERS else "other")
        elif _RULE.match(line) and reader.section != "description":
            continue
        elif google := _GOOGLE.match(line):
            reader.open("google" if google[1] in _OF_PARAMETERS else "other")
        elif param := _REST_PARAM.match(line):
            reader.open("rest")
            reader.entry((param[1],), param[2])
        elif _REST.match(line):
            reader.open("other")
        else:
            reader.line(line)
    texts = {name: " ".join(parts).strip() for name, parts in reader.texts.items()}
    return "\n".join(reader.description).strip(), {n: t for n, t in texts.items() if t}
