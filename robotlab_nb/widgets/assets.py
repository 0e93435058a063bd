"""The front ends of the widgets: small ES modules and stylesheets, joined into one of each.

A widget carries one module as text, so what its modules import from each other is put together
here; nothing is built or fetched. Names of all modules are different, since they share one scope.
"""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from functools import cache
from pathlib import Path

from ..display.style import STYLE

__all__ = ["packed", "script", "sheet"]

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
    *before, last = map(_short, found.values())
    inner = [re.sub(r"^export ", "", text, flags=re.MULTILINE) for text in before]
    return "\n".join([*inner, re.sub(r"^export (?!default)", "", last, flags=re.MULTILINE)])


#: What unpacks a module in the browser, and is that module to whoever imports it.
_UNPACK = """\
// The modules of widgets/js, joined and deflated: each view that is opened sends them once.
const packed = "%s";
const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
const text = await new Response(plain).text();
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const { default: widget } = await import(url);
URL.revokeObjectURL(url);
export default widget;
"""


@cache
def packed(name: str) -> str:
    """One ES module that needs no other, as short as it can be sent.

    Parameters
    ----------
    name : str
        As for :func:`script`.

    Examples
    --------
    >>> len(packed("live.js")) < len(script("live.js")) / 2
    True
    """
    return _UNPACK % b64encode(zlib.compress(script(name).encode(), 9)).decode("ascii")


def _short(text: str) -> str:
    """A module without its comments and indents: each widget sends its whole script once."""
    lines = (line.strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line and not line.startswith("//")) + "\n"


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
    >>> sheet("live.css").count(".rlnb-bar{")
    1
    """
    static = STYLE.removeprefix("<style>").removesuffix("</style>")
    return static + "".join((_HERE / "css" / name).read_text("utf-8") for name in names)
