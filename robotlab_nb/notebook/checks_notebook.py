"""Checks of the notebook: kernel, widgets, patched event loops."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .check_rows import Row, fine, notice, wrong
from .checks_packages import release, release_of

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_kernel", "check_nested_loops", "check_widgets"]


def _in_kernel() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def check_kernel() -> Iterable[Row]:
    """The kernel, and what its release is known for."""
    found = release_of("ipykernel")
    if not _in_kernel():
        yield fine("notebook", "none: this is a script or a plain shell")
        return
    if found is None:
        yield fine("notebook", "a kernel that is not ipykernel")
    elif release(found) < (7, 1):
        yield notice(
            "notebook", f"ipykernel {found}: what tools print may land in another cell",
            "`pip install -U 'ipykernel>=7.1'`, then restart the kernel",
        )  # fmt: skip
    elif release(found) >= (7, 4):
        yield fine(
            "notebook",
            f"ipykernel {found}: while run() blocks, buttons wait; `await arun()` hears them",
        )
    else:
        yield fine("notebook", f"ipykernel {found}")


def check_widgets() -> Iterable[Row]:
    """Whether live views can be shown, and whether a front end has said that it shows them."""
    absent = [name for name in ("ipywidgets", "anywidget") if release_of(name) is None]
    if absent:
        yield wrong(
            "live views", f"{' and '.join(absent)} not installed: pictures stand in their place",
            f"`pip install {' '.join(absent)}`, then reload the page",
        )  # fmt: skip
        return
    widgets, manager = release_of("ipywidgets"), release_of("jupyterlab_widgets")
    versions = f"ipywidgets {widgets}, anywidget {release_of('anywidget')}"
    if manager is not None and release(widgets) >= (8,) and release(manager) < (3,):
        yield wrong(
            "live views", f"{versions} do not fit jupyterlab_widgets {manager}",
            "`pip install -U jupyterlab_widgets`, then reload the page",
        )  # fmt: skip
        return
    if not _in_kernel():
        yield fine("live views", versions)
        return
    yield _heard(versions)


def _heard(versions: str) -> Row:
    from ..runtime.notebook import painter

    found = painter()
    heard = None if found is None else found.widgets
    if heard:
        return fine("live views", f"{versions}; this page shows them")
    if heard is None:
        return fine("live views", f"{versions}; none was shown yet, so the page has not answered")
    return notice(
        "live views", f"{versions}; this page has not answered: pictures stand in their place",
        "Install ipywidgets and anywidget where JupyterLab itself runs, then reload the page.",
    )  # fmt: skip


def check_nested_loops() -> Iterable[Row]:
    """Whether somebody patched asyncio, and with what."""
    import asyncio

    if not hasattr(asyncio, "_nest_patched"):
        yield fine("event loops", "asyncio is as it came: nothing has patched it")
        return
    better = "nest_asyncio2" in sys.modules and "nest_asyncio" not in sys.modules
    if better and release(release_of("nest-asyncio2")) >= (1, 7, 4):
        yield notice(
            "event loops", "nest_asyncio2 has patched asyncio: Stop does not cancel what runs"
        )
        return
    yield wrong(
        "event loops",
        "nest_asyncio has patched asyncio: cells that queue behind a running one are lost",
        "Restart the kernel and take nest_asyncio out: robots need none. For code that does, "
        "`rl.enable_nested_loops()`.",
    )
