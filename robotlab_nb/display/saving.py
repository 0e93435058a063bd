"""A network's picture as a file: SVG, DOT and Mermaid always, PNG where Graphviz is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.errors import ConfigurationError, near
from .graph_picture import svg

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["save"]


def save(thing: Any, path: str | os.PathLike[str]) -> Path:
    """Write a network's picture to a file of the kind that the file's name asks for.

    Parameters
    ----------
    thing : Network, NetworkResult or Run
        A result and a run are pictures of how it went: they can be saved as ``.svg``.
    path : str or path
        Ends in ``.svg``, ``.png``, ``.dot`` (``.gv``) or ``.mmd``. A file that is there is
        replaced.

    Returns
    -------
    Path
        Where it was written.

    Raises
    ------
    GraphError
        For a network that cannot run.
    ConfigurationError
        For another kind of file, and for ``.png`` without Graphviz: nothing is written.
    OSError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from robotlab_nb.network.network import create_network
    >>> net = create_network("count")
    >>> task = net.task("first", lambda message: len(message))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, Path(folder) / "net.svg").read_text("utf-8")[:4]
    '<svg'
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _KINDS:
        hint = f"{near(kind, _KINDS)} Known endings: {', '.join(_KINDS)}."
        raise ConfigurationError(f"no picture is written to {target.name!r}", hint=hint)
    if kind != ".svg" and not hasattr(thing, "to_dot"):
        raise ConfigurationError(
            f"how a network went is drawn as .svg, not as {kind}",
            hint="Save the network itself, or end the name in .svg.",
        )
    data = _KINDS[kind](thing)
    target.write_bytes(data)
    return target


def _svg(thing: Any) -> bytes:
    return svg(thing).encode("utf-8")


def _dot(thing: Any) -> bytes:
    return (secrets.redact(str(thing.to_dot())) + "\n").encode("utf-8")


def _mermaid(thing: Any) -> bytes:
    return (secrets.redact(str(thing.to_mermaid())) + "\n").encode("utf-8")


def _png(thing: Any) -> bytes:
    import shutil

    source = secrets.redact(str(thing.to_dot()))
    if shutil.which("dot") is None:
        raise ConfigurationError(
            "a PNG picture needs Graphviz, and its program `dot` is not on this machine's path",
            hint="Install Graphviz (`apt install graphviz`, `brew install graphviz` or "
            "`conda install graphviz`); or save as .svg, which browsers, editors and slides show "
            "and convert; or save as .dot and draw that where Graphviz is.",
        )
    from graphviz import Source

    drawn: bytes = Source(source).pipe(format="png", quiet=True)
    return drawn


#: ending -> what makes the file
_KINDS: dict[str, Callable[[Any], bytes]] = {
    ".svg": _svg, ".png": _png, ".dot": _dot, ".gv": _dot, ".mmd": _mermaid,
}  # fmt: skip
