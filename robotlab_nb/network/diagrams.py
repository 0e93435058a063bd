"""The diagrams that a network offers: as text, in two languages, and as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.readings import reading
from . import drawing

if TYPE_CHECKING:
    from pathlib import Path

    from .graph import Graph

__all__ = ["Diagrams"]


class Diagrams:
    """What can be drawn of something that has a name and a graph."""

    __slots__ = ()

    if TYPE_CHECKING:
        name: str

        @property
        def graph(self) -> Graph:
            """The compiled graph."""
            ...

    def visualize(self) -> str:
        """The network as a text diagram: order, groups that run side by side, dependencies."""
        return drawing.ascii_diagram(self.name, self.graph)

    def to_mermaid(self) -> str:
        """The network in Mermaid's language; names are escaped."""
        return drawing.mermaid(self.graph)

    def to_dot(self) -> str:
        """The network in Graphviz's language; names are escaped."""
        return drawing.dot(self.name, self.graph)

    def execution_plan(self) -> str:
        """Which tasks run in which phase, after which others."""
        return drawing.plan(self.name, self.graph)

    def to_svg(self) -> str:
        """The network as one SVG picture that follows the page's theme."""
        found: str = reading("svg")(self)
        return found

    def save(self, path: str | Path) -> Path:
        """Save the network's picture.

        Parameters
        ----------
        path : str or Path
            Its ending says what to write: ``.svg``, ``.dot``, ``.mmd`` (Mermaid), or ``.png``,
            which needs Graphviz's ``dot``.

        Returns
        -------
        Path

        Raises
        ------
        ConfigurationError
            When that cannot be written here; the message says what can.
        """
        saved: Path = reading("save")(self, path)
        return saved
