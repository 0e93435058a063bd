"""Which tool calls of a turn need a person's approval, and what became of each.

A tool says so itself, a policy says so, or the mixture of what the robot's tools read and send
does. Whoever is asked sees the arguments as the tool would get them, and may change them.
"""

from __future__ import annotations

import fnmatch
import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, InputError
from ..runtime.asking import Question, ask, new_id
from ..tools.arguments import ArgumentsError, bind, parse
from ..tools.labels import LABELS, NO_LABELS, OUTWARD, is_mixture

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..core.messages import ToolCallPart
    from ..runtime.run import Run
    from ..tools.decorator import Tool, ToolManifest

__all__ = ["Approvals", "Decision", "approvals_of"]

#: who denied, as the model is told
_WHO = {
    "policy": "the policy here",
    "scripted": "the policy here",
    "client": "the client that called",
    "timeout": "nobody: no answer came in time",
    "stop": "nobody: the run was stopped",
}


class Decision(NamedTuple):
    """Whether a call may go ahead.

    Attributes
    ----------
    arguments_text : str or None
        The arguments that were put in place of the model's, as JSON.
    by : str or None
        Who approved; None where no approval was needed.
    denied : str or None
        Why not, for the model; None when it may.
    """

    arguments_text: str | None = None
    by: str | None = None
    denied: str | None = None


GO = Decision()


def approvals_of(
    settings: Mapping[str, Any], tools: ToolManifest, labels: frozenset[str] = NO_LABELS
) -> Approvals | None:
    """What decides over the calls of a turn; None when none of them can need approval.

    Parameters
    ----------
    settings : mapping
        ``approve`` (``"allow"`` grants whatever needs approval, the mixture of labels included:
        a person who says so means it; ``"deny"`` refuses it) and ``ask_timeout``.
    tools : ToolManifest
        All that the robot may call.
    labels : frozenset of str, optional
        Labels of what came to the robot from elsewhere: of the tools of robots before it. What it
        reads later counts as well, when a call is decided.

    Raises
    ------
    ConfigurationError
        When the policy cannot be meant.

    Examples
    --------
    >>> from robotlab_nb.tools.decorator import ToolManifest, tool
    >>> @tool(approval=True)
    ... def pay(amount: float) -> str: ...
    >>> settings = {"approve": None, "ask_timeout": 60}
    >>> approvals_of(settings, ToolManifest([pay])) is None, approvals_of(settings, ToolManifest())
    (False, None)
    """
    policy = settings["approve"]
    if policy is None or policy is False or policy in ("allow", "deny"):
        if not any(tool.approval or tool.labels for tool in tools):
            return None
    elif policy is not True and not callable(policy):
        policy = _names(policy)
    found = Approvals(policy, settings, tools, labels)
    if any(OUTWARD in tool.labels or found.may_need(tool) for tool in tools):
        return found
    return None


def _names(policy: Any) -> tuple[str, ...]:
    if isinstance(policy, (list, tuple, set, frozenset)):
        names = tuple(policy)
        if all(isinstance(name, str) for name in names):
            return names
    raise ConfigurationError(
        f"approve={policy!r:.80} is no policy",
        hint='Give tool names or globs in a list, True for all, "allow", "deny", or a function '
        "(tool, arguments) -> bool.",
    )


def _mixture(tools: Iterable[Tool], labels: frozenset[str]) -> str:
    """Why outward calls need approval: who does what."""
    parts = []
    for label, does in LABELS.items():
        names = [tool.name for tool in tools if label in tool.labels]
        if label in labels and not names:
            names.append("in what came to it")
        parts.append(f"{does} ({', '.join(names)})")
    return f"this robot {parts[0]}, {parts[1]} and {parts[2]}: it could be made to leak"


class Approvals:
    """Decides over the calls of one turn.

    Parameters
    ----------
    policy : object
        As checked by :func:`approvals_of`.
    settings : mapping
    tools : iterable of Tool
        All that the robot may call.
    labels : frozenset of str, optional
        Labels of what the robot has seen so far.
    """

    __slots__ = ("_labels", "_mixture", "_policy", "_timeout_s", "_tools")

    def __init__(
        self,
        policy: Any,
        settings: Mapping[str, Any],
        tools: Iterable[Tool],
        labels: frozenset[str] = NO_LABELS,
    ) -> None:
        self._policy = policy
        self._timeout_s: float | None = settings["ask_timeout"]
        self._tools = tuple(tools)
        self._labels = frozenset().union(*(tool.labels for tool in self._tools))
        #: why every outward call needs approval; ``""`` when that is not so
        self._mixture = ""
        self._look(labels)

    def _look(self, seen: frozenset[str]) -> None:
        """Take in what the robot has seen: it may make the mixture whole."""
        if not self._mixture and is_mixture(self._labels | seen):
            self._mixture = _mixture(self._tools, seen)

    def may_need(self, tool: Tool) -> bool:
        """Whether some call of a tool may need approval, by what the robot has seen so far."""
        policy = self._policy
        if tool.approval or policy is True or (self._mixture and OUTWARD in tool.labels):
            return True
        if isinstance(policy, tuple):
            return any(fnmatch.fnmatchcase(tool.name, name) for name in policy)
        return callable(policy)

    async def check(
        self, run: Run[Any], robot_name: str, part: ToolCallPart, tool: Tool
    ) -> Decision:
        """Decide over one call; a person may be asked, and the run waits meanwhile.

        A call whose arguments do not fit is let through: it is refused where it is called.

        Parameters
        ----------
        run : Run
        robot_name : str
        part : ToolCallPart
            The call as the model wrote it.
        tool : Tool

        Returns
        -------
        Decision
        """
        self._look(run.labels_seen)
        if not self.may_need(tool):
            return GO
        try:
            arguments = parse(part.arguments)
            _check_fit(tool, arguments)
        except ArgumentsError:
            return GO
        why = await self._why(tool, arguments)
        if why is None:
            return GO

        def check(changed: Mapping[str, Any]) -> None:
            try:
                # What the tool will read is checked: the JSON text.
                _check_fit(tool, parse(json.dumps(changed, allow_nan=False)))
            except (ArgumentsError, TypeError, ValueError) as error:
                raise InputError(
                    f"these arguments do not fit {tool.name!r}: {error}", hint="Nothing was called."
                ) from error

        question = Question(
            new_id(), "approval", f"May {robot_name} call {tool.name}?", run.id, robot=robot_name,
            tool=tool.name, tool_call_id=part.id, arguments=arguments, why=why,
            timeout_s=self._timeout_s,
        )  # fmt: skip
        answer = await ask(run, question, run.answers, self._policy, check=check)
        if answer.status == "denied":
            reason = f": {answer.value}" if isinstance(answer.value, str) else ""
            return Decision(denied=f"denied by {_WHO.get(answer.by, 'a person')}{reason}")
        if answer.status == "edited":
            return Decision(json.dumps(answer.value["arguments"]), answer.by)
        return Decision(by=answer.by)

    async def _why(self, tool: Tool, arguments: dict[str, Any]) -> str | None:
        """Why a call needs approval; None when it does not."""
        if self._mixture and OUTWARD in tool.labels:
            return self._mixture
        if tool.approval is True:
            return f"{tool.name} needs approval"
        if tool.approval:
            why = await _says(tool.approval, (deepcopy(arguments),), tool.name)
            if why:
                return why
        policy = self._policy
        if policy is True or isinstance(policy, tuple):
            named = policy is True or any(fnmatch.fnmatchcase(tool.name, n) for n in policy)
            return "the policy here asks for approval" if named else None
        if callable(policy):
            return await _says(policy, (tool, deepcopy(arguments)), "the policy here")
        return None


async def _says(function: Any, arguments: tuple[Any, ...], name: str) -> str | None:
    """Why a person's function wants approval. One that fails wants it: the safe side."""
    try:
        found = function(*arguments)
        if hasattr(type(found), "__await__"):
            found = await found
    except Exception as error:
        return f"{name} could not decide: {type(error).__name__}: {error}"
    return f"{name} asks for approval of calls like this" if found else None


def _check_fit(tool: Tool, arguments: dict[str, Any]) -> None:
    """Raise ArgumentsError when a tool cannot be called with some arguments."""
    signature = tool.signature
    host = dict.fromkeys(kind for kind, _ in signature.injected.values())
    try:
        bind(signature, arguments, host, tool=tool.name)
    except (ArgumentsError, ConfigurationError):
        raise
    except Exception as error:  # a validator of the user's types
        raise ArgumentsError(str(error)) from error
