"""The front ends of the widgets: small ES modules and stylesheets, joined into one of each.

A widget carries one module as text, so what its modules import from each other is put together
here; nothing is built or fetched. Names of all modules are different, since they share one scope.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from ..display.style import STYLE

__all__ = ["script", "sheet"]

_HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+\.js)";\n', re.MULTILINE)


@cache
def script(name: str) -> str:
    """One ES module that needs no other.

    Parameters
    ----------
    name : str
        The file of ``js/`` whose default export the widget is.

    Examples
    --------
    >>> text = script("live.js")
    >>> text.count("export default"), "import " in text, text.count("class Records")
    (1, False, 1)
    """
    found: dict[str, str] = {}
    _collect(name, found)
    *before, last = found.values()
    inner = [re.sub(r"^export ", "", text, flags=re.MULTILINE) for text in before]
    return "\n".join([*inner, re.sub(r"^export (?!default)", "", last, flags=re.MULTILINE)])


def _collect(name: str, found: dict[str, str]) -> None:
    """Put a module after those that it imports, each once."""
    text = (_HERE / "js" / name).read_text("utf-8")
    for needed in _IMPORT.findall(text):
        if needed not in found:
            _collect(needed, found)
    found.setdefault(name, _IMPORT.sub("", text))


@cache
def sheet(*names: str) -> str:
    """The stylesheet of the static pictures, then those of the widget.

    Parameters
    ----------
    *names : str
        Files of ``css/``.

    Examples
    --------
    >>> sheet("live.css").count(".rlnb-live{")
    1
    """
    static = STYLE.removeprefix("<style>").removesuffix("</style>")
    return static + "".join((_HERE / "css" / name).read_text("utf-8") for name in names)
