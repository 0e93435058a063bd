"""A network's picture as a file: SVG, DOT and Mermaid always, PNG where Graphviz is installed."""

from __future__ import annotations

from errno import EISDIR
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from ..core import secrets
from ..core.errors import ConfigurationError, near
from .graph_picture import svg

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["save", "write_file"]


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
        For another kind of file, for ``.png`` without Graphviz, and when the file cannot be
        written: what was there stays as it was.

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
    target = Path(path).expanduser()
    kind = target.suffix.lower()
    if kind not in _KINDS:
        hint = f"{near(kind, _KINDS)} Known endings: {', '.join(_KINDS)}."
        raise ConfigurationError(f"no picture is written to {target.name!r}", hint=hint)
    if kind != ".svg" and not hasattr(thing, "to_dot"):
        raise ConfigurationError(
            f"how a network went is drawn as .svg, not as {kind}",
            hint="Save the network itself, or end the name in .svg.",
        )
    return write_file(target, _KINDS[kind](thing))


def write_file(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file whole or not at all: whoever reads it meanwhile sees the old one.

    Parameters
    ----------
    path : str or path
        ``~`` is the person's own folder. A link is followed.
    data : bytes

    Returns
    -------
    Path

    Raises
    ------
    ConfigurationError
        When it cannot be written; the message says why.
    """
    target = Path(path).expanduser()
    whole = target.resolve()
    fresh = whole.with_name(f".{whole.name[:80]}.{token_hex(4)}.new")
    try:
        if whole.is_dir():
            raise IsADirectoryError(EISDIR, "that is a folder")
        try:
            fresh.write_bytes(data)
            fresh.replace(whole)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigurationError(
            f"{str(target)!r} cannot be written: {error.strerror or type(error).__name__}",
            hint=f"Is there a folder {str(target.parent)!r}, and may you write there?",
        ) from error
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
