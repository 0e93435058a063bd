"""Showing a check in the cell that makes it: once, also where it is the cell's value as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.readings import bundle

if TYPE_CHECKING:
    from ..lab.checking import Check

__all__ = ["show"]


def show(check: Check, *, anew: bool = False) -> bool:
    """Show a check in the running cell, unless this cell has shown it.

    Parameters
    ----------
    check : Check
    anew : bool, optional
        Whether it was made just now.

    Returns
    -------
    bool
        Whether there is a cell at all.
    """
    from IPython.core.getipython import get_ipython
    from IPython.display import display

    shell = get_ipython()
    if shell is None:
        return False
    here = getattr(shell, "execution_count", None)
    if anew or check._shown != [here]:
        display(bundle(check), raw=True)  # type: ignore[no-untyped-call]
    check._shown[:] = [here]
    return True
