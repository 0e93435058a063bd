"""A network as text: a diagram, Mermaid, Graphviz's DOT, and a plan. Pure functions of its graph.

Node ids are made up (``t0``, ``t1`` …) and names only ever stand in labels, escaped: a task may be
called anything.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ..core.readings import reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .graph import Graph, Node

__all__ = ["ascii_diagram", "dot", "mermaid", "phases", "plan"]

_BOX = ("[", "]")
#: who does a task -> its shape in Mermaid's language, and what DOT says of it besides
_SHAPES = {"network": ("[[", "]]"), "human": ("[/", "/]")}
_MARKS = {"network": ", peripheries=2", "human": ", shape=house", "map": ", shape=box3d"}
#: characters of a name in a diagram
_LONGEST = 500
#: kinds that need no word
_PLAIN = ("", "robot", "function")


def phases(graph: Graph) -> list[list[str]]:
    """Tasks by the length of the longest path to them: what could run side by side."""
    found: dict[int, list[str]] = defaultdict(list)
    for name in graph.nodes:
        found[graph.ranks[name]].append(name)
    return [found[rank] for rank in sorted(found)]


def ascii_diagram(name: str, graph: Graph) -> str:
    """The network as an indented outline, phase by phase.

    Examples
    --------
    >>> from robotlab_nb.network.graph import Node, compile_graph
    >>> graph = compile_graph([Node("sort", routes=True), Node("pay", ("sort",), optional=True)])
    >>> print(ascii_diagram("support", graph))
    Network support: 2 tasks, 2 phases
      1  sort (routes)
      2  pay (optional) ← sort
    """
    grouped = phases(graph)
    lines = [f"Network {_line(name)}: {_count(graph.nodes, 'task')}, {_count(grouped, 'phase')}"]
    for number, names in enumerate(grouped, 1):
        side = " side by side" if len(names) > 1 else ""
        for position, task in enumerate(names):
            head = f"{number:>3}  " if position == 0 else "     "
            node = graph.nodes[task]
            after = f" ← {', '.join(map(_line, node.depends_on))}" if node.depends_on else ""
            mark = f"  [{len(names)}{side}]" if position == 0 and side else ""
            lines.append(f"{head}{_line(task)}{_notes(node)}{after}{mark}")
    return "\n".join(lines)


def plan(name: str, graph: Graph) -> str:
    """Totals, then each phase with what its tasks wait for.

    Examples
    --------
    >>> from robotlab_nb.network.graph import Node, compile_graph
    >>> print(plan("n", compile_graph([Node("a"), Node("b"), Node("c", ("a", "b"))])))
    Execution plan of n: 3 tasks in 2 phases
    Phase 1 (side by side): a; b
    Phase 2: c after a, b
    At most 1.50 times as fast as one task after the other.
    """
    grouped = phases(graph)
    lines = [
        f"Execution plan of {_line(name)}: {_count(graph.nodes, 'task')} in "
        f"{_count(grouped, 'phase')}"
    ]
    for number, names in enumerate(grouped, 1):
        told = []
        for task in names:
            deps = graph.nodes[task].depends_on
            after = f" after {', '.join(map(_line, deps))}" if deps else ""
            told.append(f"{_line(task)}{_notes(graph.nodes[task])}{after}")
        side = " (side by side)" if len(names) > 1 else ""
        lines.append(f"Phase {number}{side}: {'; '.join(told)}")
    speed = len(graph.nodes) / len(grouped)
    lines.append(f"At most {speed:.2f} times as fast as one task after the other.")
    return "\n".join(lines)


def mermaid(graph: Graph) -> str:
    """The network in Mermaid's language.

    Examples
    --------
    >>> from robotlab_nb.network.graph import Node, compile_graph
    >>> print(mermaid(compile_graph([Node("a"), Node('say "hi"', ("a",), optional=True)])))
    graph TD
        t0["a"]
        t1(["say #34;hi#34;"])
        t0 -.-> t1
    """
    ids = {n: f"t{i}" for i, n in enumerate(graph.nodes)}
    lines = ["graph TD"]
    for number, (group, names) in enumerate(_grouped(graph)):
        inner = "    " if group is None else "        "
        if group is not None:
            lines.append(f'    subgraph g{number} ["{_entity(group)}"]')
        for name in names:
            node = graph.nodes[name]
            left, right = ("([", "])") if node.optional else _SHAPES.get(node.kind, _BOX)
            lines.append(f'{inner}{ids[name]}{left}"{_entity(name)}"{right}')
        if group is not None:
            lines.append("    end")
    for name, node in graph.nodes.items():
        arrow = "-.->" if node.optional else "-->"
        lines += [f"    {ids[dep]} {arrow} {ids[name]}" for dep in node.depends_on]
    return "\n".join(lines)


def dot(name: str, graph: Graph) -> str:
    r"""The network in Graphviz's language.

    Examples
    --------
    >>> from robotlab_nb.network.graph import Node, compile_graph
    >>> print(dot("n", compile_graph([Node("a"), Node("b", ("a",))])))
    digraph {
      graph [rankdir=LR, label="n"];
      node [shape=box, style=rounded];
      t0 [label="a"];
      t1 [label="b"];
      t0 -> t1;
    }
    """
    ids = {n: f"t{i}" for i, n in enumerate(graph.nodes)}
    lines = [
        "digraph {",
        f"  graph [rankdir=LR, label={_quoted(name)}];",
        "  node [shape=box, style=rounded];",
    ]
    for number, (group, names) in enumerate(_grouped(graph)):
        if group is not None:
            lines.append(f"  subgraph cluster_{number} {{ label={_quoted(group)}; style=rounded;")
        for task in names:
            node = graph.nodes[task]
            style = ', style="rounded,dashed"' if node.optional else ""
            style += _MARKS.get(node.kind, "")
            lines.append(f"  {ids[task]} [label={_quoted(task)}{style}];")
        if group is not None:
            lines.append("  }")
    for task, node in graph.nodes.items():
        style = " [style=dashed]" if node.optional else ""
        lines += [f"  {ids[dep]} -> {ids[task]}{style};" for dep in node.depends_on]
    return "\n".join([*lines, "}"])


def _grouped(graph: Graph) -> list[tuple[str | None, list[str]]]:
    """Tasks by the parallel group that they were declared in; those of none first."""
    found: dict[str | None, list[str]] = {None: []}
    for name, node in graph.nodes.items():
        found.setdefault(node.group, []).append(name)
    return list(found.items())


def _quoted(text: str) -> str:
    """A double-quoted DOT string: quotes and backslashes escaped, no line or control character."""
    # dot reads entities in labels: an ampersand is to stay one.
    plain = _line(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{plain}"'


def _entity(text: str) -> str:
    """A Mermaid label: whatever could mean something there becomes a numbered entity."""
    return "".join(c if c.isalnum() or c in " _-.,:äöüß" else f"#{ord(c)};" for c in _line(text))


def _line(text: str) -> str:
    """A text on one line, in which characters that do not show are written out."""
    line: str = reading("line")(text, _LONGEST)
    return line or "?"


def _notes(node: Node) -> str:
    notes = []
    if node.kind == "network":
        notes.append(f"network of {_count(range(node.size), 'task')}")
    elif node.kind not in _PLAIN:
        notes.append(_line(node.kind))
    if node.group is not None:
        notes.append(f"in {_line(node.group)}")
    if node.optional:
        notes.append("conditional" if node.conditional else "optional")
    if node.routes:
        notes.append("routes")
    if node.on_failure != "block":
        notes.append(f"on failure {node.on_failure}")
    return f" ({', '.join(notes)})" if notes else ""


def _count(things: Sequence[object] | object, word: str) -> str:
    count = len(things)  # type: ignore[arg-type]
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
