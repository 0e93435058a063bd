"""A robot as a member of a network, and as a crew of its own: what both answer to alike.

Knows no network: a flow is whatever the network hands in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import Self

__all__ = ["Membership"]


class Membership:
    """What a robot and a network have in common, and the robot's step in a network."""

    __slots__ = ()

    @property
    def crew(self) -> tuple[Self, ...]:
        """All robots: this one."""
        return (self,)

    @property
    def chief(self) -> Self:
        """The first robot: this one."""
        return self

    @property
    def robot_count(self) -> int:
        """How many robots: 1."""
        return 1

    @property
    def is_network(self) -> bool:
        """Whether it is a network."""
        return False

    @property
    def is_single(self) -> bool:
        """Whether it is one robot."""
        return True

    async def call(self, flow: Any) -> Any:
        """Do a step of a network. A subclass may override it, with ``def`` or ``async def``.

        Parameters
        ----------
        flow : FlowResult
            Its ``value`` is what the robot is asked.

        Returns
        -------
        FlowResult or object
            A FlowResult also says which optional tasks run and whether the network halts; anything
            else is the step's value.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> class Sorter(rl.Robot):
        ...     def call(self, flow):
        ...         result = self.run(**self.extract_run_context(flow))
        ...         return flow.continue_with(result).activate(result.text)
        >>> net = rl.create_network("support")
        >>> sort = net.task("sort", Sorter("sorter", model=rl.SimulatedModel(["billing"])))
        >>> for name in ("billing", "other"):
        ...     task = net.task(name, lambda message: f"about {message}", optional=True,
        ...                     depends_on=["sort"])
        >>> result = net.run("I was charged twice")
        >>> result.activated_steps, result.text
        (('billing',), 'about I was charged twice')
        """
        robot: Any = self
        return flow.continue_with(await robot.arun(**self.extract_run_context(flow)))

    def extract_run_context(self, flow: Any) -> dict[str, Any]:
        """The keywords with which a network would have run this robot, for ``run(**…)``.

        Parameters
        ----------
        flow : FlowResult
            Where its value is a text, or a result with one, that is the message.

        Returns
        -------
        dict
            ``message``, ``context``, and where the task sets them ``tools``, ``mcp`` and
            ``config``.
        """
        asked = dict(flow.asked)
        value = flow.value
        text = value if isinstance(value, str) else getattr(value, "text", None)
        if isinstance(text, str):
            asked["message"] = text
        return asked
