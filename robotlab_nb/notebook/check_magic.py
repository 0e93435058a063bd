"""``%%robot_check NAME``: a cell of Python as a check, shown where it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class, no_var_expand

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from ..lab.checking import Check

__all__ = ["CheckMagics"]

_USAGE = "%%robot_check NAME, then Python: its last value is True or False, or it asserts"


@magics_class
class CheckMagics(Magics):
    """The magic, for one shell."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell=shell)
        self._at = shell

    @no_var_expand
    @cell_magic
    def robot_check(self, line: str, cell: str) -> Check:
        """Check what the cell says; it never stops the notebook."""
        from ..lab.checked_code import check_code

        name = line.strip()
        if not name or name in ("-h", "--help"):
            raise UsageError(_USAGE)
        return check_code(name, cell, self._at.user_ns, compiled=self._at.transform_cell)
