"""What a session reads of its server besides tools: resources, prompts, completions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from ..core.mcp_errors import MCPError
from ..core.messages import Message
from ..core.readings import ShownTuple
from .remote_offers import prompt_of, resource_of
from .remote_results import RemoteResult, parts_of, resource_part
from .requests import Requests, answered

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from .connection import Connection
    from .remote_offers import RemotePrompt, RemoteResource

__all__ = ["Reading"]

T = TypeVar("T")


class Reading(Requests):
    """The reading half of a session."""

    if TYPE_CHECKING:  # the session's

        async def _at_home(self, work: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T: ...

    async def list_resources(self) -> tuple[RemoteResource, ...]:
        """What the server lets us read; nothing when it has no resources.

        Raises
        ------
        MCPError
        """
        return await self._at_home(self._list, "resources", "list_resources")

    async def list_resource_templates(self) -> tuple[RemoteResource, ...]:
        """Patterns of what the server lets us read.

        Raises
        ------
        MCPError
        """
        return await self._at_home(self._list, "resource_templates", "list_resource_templates")

    async def list_prompts(self) -> tuple[RemotePrompt, ...]:
        """The prompts that the server has ready; nothing when it has none.

        Raises
        ------
        MCPError
        """
        return await self._at_home(self._list, "prompts", "list_prompts")

    async def _list(self, field: str, method: str) -> Any:
        from mcp.types import PaginatedRequestParams

        connection = await self._ready()
        offers = "prompts" if field == "prompts" else "resources"
        if offers not in connection.hello.capabilities:
            return ShownTuple()

        async def page(at: Connection, cursor: str | None) -> tuple[list[Any], str | None]:
            params = PaginatedRequestParams(cursor=cursor) if cursor is not None else None
            told = await getattr(at.client.session, method)(params=params)
            return getattr(told, field), told.next_cursor

        found = await self._pages(f"the list of its {field.replace('_', ' ')}", page)
        return ShownTuple(map(prompt_of if field == "prompts" else resource_of, found))

    async def read_resource(self, uri: str) -> RemoteResult:
        """Read one resource.

        Parameters
        ----------
        uri : str

        Returns
        -------
        RemoteResult
            Its parts are what the resource holds: texts and files.

        Raises
        ------
        MCPError
            When the server has no resources, or not this one.
        """
        return await self._at_home(self._read, uri)

    async def _read(self, uri: str) -> RemoteResult:
        await self._offering("resources")

        async def request(at: Connection) -> Any:
            session = at.client.session

            async def send(responses: Any, state: str | None) -> Any:
                return await session.read_resource(
                    uri, input_responses=responses, request_state=state, allow_input_required=True
                )

            return await answered(session, await send(None, None), send)

        told = await self._ask(f"the resource {uri!r}", request)
        parts, notes, files = parts_of(told.contents, resource_part)
        return RemoteResult(tuple(parts), None, False, ". ".join(notes) or None, tuple(files))

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None
    ) -> tuple[Message, ...]:
        """The messages of a prompt.

        Parameters
        ----------
        name : str
        arguments : mapping, optional
            Texts.

        Raises
        ------
        MCPError
            When the server has no prompts, not this one, or wants other arguments.
        """
        texts = {str(k): str(v) for k, v in (arguments or {}).items()}
        return await self._at_home(self._prompt, name, texts)

    async def _prompt(self, name: str, arguments: dict[str, str]) -> tuple[Message, ...]:
        await self._offering("prompts")

        async def request(at: Connection) -> Any:
            session = at.client.session

            async def send(responses: Any, state: str | None) -> Any:
                return await session.get_prompt(
                    name, arguments, input_responses=responses, request_state=state,
                    allow_input_required=True,
                )  # fmt: skip

            return await answered(session, await send(None, None), send)

        told = await self._ask(f"the prompt {name!r}", request)
        return ShownTuple(
            Message(message.role, parts_of([message.content])[0]) for message in told.messages
        )

    async def complete(
        self, of: str, argument: str, begun: str = "", *, known: Mapping[str, str] | None = None
    ) -> tuple[str, ...]:
        """How an argument of a prompt or of a pattern of resources may go on.

        Parameters
        ----------
        of : str
            The prompt's name, or the pattern (which holds ``://``).
        argument : str
            The argument's name.
        begun : str, optional
            What is written so far.
        known : mapping, optional
            The other arguments.

        Raises
        ------
        MCPError
            When the server completes nothing.
        """
        return await self._at_home(self._complete, of, argument, begun, dict(known or {}))

    async def _complete(
        self, of: str, argument: str, begun: str, known: dict[str, str]
    ) -> tuple[str, ...]:
        from mcp.types import PromptReference, ResourceTemplateReference

        await self._offering("completions")
        meant = (
            ResourceTemplateReference(type="ref/resource", uri=of)
            if "://" in of
            else PromptReference(type="ref/prompt", name=of)
        )

        async def request(at: Connection) -> Any:
            return await at.client.session.complete(
                meant, {"name": argument, "value": begun}, known or None
            )

        told = await self._ask(f"completing {argument!r} of {of!r}", request)
        return tuple(told.completion.values)

    async def _offering(self, what: str) -> None:
        """Connect to a server that offers something.

        Raises
        ------
        MCPError
            When it does not.
        """
        connection = await self._ready()
        offered = connection.hello.capabilities
        if what not in offered:
            raise MCPError(
                f"server {self.server.name!r} offers no {what}",
                hint=f"It offers: {', '.join(sorted(offered)) or 'nothing'}.",
                server=self.server.name,
            )
