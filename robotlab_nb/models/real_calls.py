"""Who is asked before a request leaves for a real model: nobody, but for tests.

The pytest plugin sets :data:`guard`, so that no test asks a provider by mistake. Imports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_real_call", "guard"]

#: takes a model's name and address, and raises what is to stop the request; None lets all pass
guard: Callable[[str, str | None], None] | None = None


def check_real_call(name: str, endpoint: str | None) -> None:
    """Raise where a request to a real model is forbidden.

    Parameters
    ----------
    name : str
        The model's full name.
    endpoint : str or None
        Where it is asked.
    """
    if guard is not None:
        guard(name, endpoint)
