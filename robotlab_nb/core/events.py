"""The one record of everything that happens: scopes, events and deltas.

Results, tables, pictures, logs and replays are readings of these; nothing is recorded
in a second place. What each type says stands in :mod:`robotlab_nb.core.event_data`.

=====================  ==========================================================
robot_lab's event       ours
=====================  ==========================================================
``run.started``         ``run.started`` (``kind`` tells robot, network or task)
``run.completed``       ``run.completed``, ``run.failed``, ``run.interrupted``
``step.started``        ``model_call.started``
``step.completed``      ``model_call.completed``
``part.created``        ``message.added``
``text.delta``          a :class:`Delta` of kind ``text``
``reasoning.delta``     a :class:`Delta` of kind ``reasoning``
``tool_call.arguments.delta``  a :class:`Delta` of kind ``arguments``
``tool_call.output.delta``     ``tool_call.completed`` (whole, once)
``usage.updated``       the ``usage`` of ``model_call.completed``
``stream.ended``        the run's last event
=====================  ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from .json import JSON  # noqa: TC001  (used by the dataclass's annotations)
from .readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["SCHEMA_VERSION", "Delta", "Event", "Scope"]

#: Version of the events' shapes; it stands on each root's first event.
SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Scope:
    """Where something happened.

    Parameters
    ----------
    run_id, root_id : str
        The run, and the outermost run that it belongs to.
    parent_id : str or None
        The run that started it.
    depth : int
        0 for a root.
    kind : {"session", "experiment", "network", "task", "robot"}
    path : tuple of str
        Names from the root down, e.g. ``("support", "draft", "map:17", "try:1")``.
    robot : str or None
        The robot's name.
    """

    run_id: str
    root_id: str
    parent_id: str | None
    depth: int
    kind: str
    path: tuple[str, ...]
    robot: str | None

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        return {
            "run_id": self.run_id,
            "root_id": self.root_id,
            "parent_id": self.parent_id,
            "depth": self.depth,
            "kind": self.kind,
            "path": list(self.path),
            "robot": self.robot,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scope:
        """Read what :meth:`to_dict` wrote."""
        return cls(
            data["run_id"], data["root_id"], data.get("parent_id"), data.get("depth", 0),
            data["kind"], tuple(data.get("path", ())), data.get("robot"),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Event(Pictured):
    """A thing that happened: numbered, kept, logged.

    Parameters
    ----------
    type : str
        A key of ``EVENT_TYPES``.
    scope : Scope
    seq : int
        Dense per root run, from 0.
    elapsed : float
        Seconds (monotonic) since the root started; the root's first event holds the UTC start.
    data : mapping
        JSON; its fields depend on the type.

    Examples
    --------
    >>> scope = Scope("r1", "r1", None, 0, "robot", ("assistant",), "assistant")
    >>> event = Event("run.completed", scope, 7, 0.25, {"stop_reason": "stop"})
    >>> Event.from_dict(event.to_dict()) == event
    True
    """

    type: str
    scope: Scope
    seq: int
    elapsed: float
    data: Mapping[str, JSON]

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON, lossless."""
        return {
            "type": self.type,
            "scope": self.scope.to_dict(),
            "seq": self.seq,
            "elapsed": self.elapsed,
            "data": self.data,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Event:
        """Read what :meth:`to_dict` wrote."""
        return cls(
            data["type"], Scope.from_dict(data["scope"]), data["seq"], data["elapsed"],
            data["data"],
        )  # fmt: skip


class Delta(NamedTuple):
    """A piece of what streams: text, reasoning, arguments. Void if its attempt fails.

    Parameters
    ----------
    scope : Scope
    call_id : str
        The model call.
    attempt : int
        From 1.
    kind : str
        ``text``, ``reasoning``, ``refusal``, or ``arguments:N`` (of the N-th tool call; -1 for the
        call that gives an answer of a prescribed shape).
    offset : int
        Characters of this kind that came before.
    text : str
    """

    scope: Scope
    call_id: str
    attempt: int
    kind: str
    offset: int
    text: str
