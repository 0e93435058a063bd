"""One quiet line from the package to the person, in the cell that is being run."""

from __future__ import annotations

from ..display import as_html
from ..display.escape import plain
from ..display.parts import Para, Picture, code
from ..display.style import STYLE

__all__ = ["notice"]


def notice(text: str) -> None:
    """Show a line in the running cell; print it where there are no cells.

    Parameters
    ----------
    text : str
        What stands between backticks is code.

    Examples
    --------
    >>> notice("Runs are kept in `log.sqlite`.")
    Runs are kept in log.sqlite.
    """
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    pieces = text.split("`")
    said = plain("".join(pieces))
    if get_ipython() is None:
        print(said)  # noqa: T201  (that is what a plain shell shows)
        return
    line = tuple([code(piece) if at % 2 else piece for at, piece in enumerate(pieces) if piece])
    shown = STYLE + as_html.write(Picture((Para(line, quiet=True),)))
    display({"text/plain": said, "text/html": shown}, raw=True)  # type: ignore[no-untyped-call]
