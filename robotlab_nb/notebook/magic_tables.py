"""What the magics show of themselves: how they are written, and who can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .magic_line import Flag

__all__ = ["Help", "RobotList"]


class Help(Pictured):
    """How a magic is written.

    Parameters
    ----------
    magic : str
        ``robot`` or ``prompt``.
    flags : tuple of Flag
    """

    def __init__(self, magic: str, flags: tuple[Flag, ...]) -> None:
        self.magic = magic
        self.flags = flags


class RobotList(Pictured):
    """The robots and networks of a notebook, by the variables that hold them.

    Parameters
    ----------
    members : mapping of str to Robot or Network

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> found = RobotList({"bot": rl.build("ann")})
    >>> list(found.members), len(found)
    (['bot'], 1)
    """

    def __init__(self, members: Mapping[str, Any]) -> None:
        self.members = dict(members)

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, name: str) -> Any:
        return self.members[name]

    def __iter__(self) -> Any:
        return iter(self.members)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.members)
