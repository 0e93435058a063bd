"""Models that are asked directly, by HTTP, on the OpenAI chat-completions wire.

One attempt and no more: no retries, no waiting, no prices. The wire itself is read and written by
``openai_request`` and ``openai_body``; here are the request, its deadline and its failures.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from ..core.errors import ConfigurationError, ModelError
from .key_refs import KeyRef, missing_key, remember
from .openai_body import BodyReader
from .openai_errors import error_from, excerpt
from .openai_request import encode
from .output_request import answer_marks, hinted
from .protocol import Model
from .real_calls import check_real_call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from aiohttp import ClientResponse

    from .protocol import Chunk, Request
    from .sessions import Pool

__all__ = ["DirectModel"]

#: Bytes of an error's body that are read.
_ERROR_BODY = 65_536
#: Bytes of an answer that is read whole.
_MOST_BODY = 2**27
#: Seconds to wait for a connection, of the seconds that a request has.
_CONNECT = 30.0
#: hosts whose models keep to a schema and yet call tools
_BOTH = ("api.openai.com", ".openai.azure.com")
#: ends of the names of headers that let somebody in
_PRIVATE = ("authorization", "key", "token", "secret", "cookie")
#: Above this many bytes aiohttp wants a body as a file.
_BIG = 2**20


class DirectModel(Model):
    """A model behind an OpenAI-compatible server.

    Parameters
    ----------
    model : str
        The model's name at the server.
    provider : str, optional
        Whose it is; the first half of ``name``.
    api_base : str
        The server's base URL, up to and without ``/chat/completions``; often it ends in ``/v1``.
    api_key : str or callable, optional
        The key, or something without arguments that gives it. It goes into the Authorization
        header and nowhere else.
    key_name : str, optional
        The environment variable that holds the key; read at each call when there is no
        ``api_key``. With it, a missing key is an error.
    headers : mapping, optional
        Further headers of every request.

    Examples
    --------
    >>> model = DirectModel("llama3.2", provider="ollama", api_base="http://127.0.0.1:11434/v1/")
    >>> model
    <DirectModel ollama/llama3.2>
    >>> model.endpoint
    'http://127.0.0.1:11434/v1'
    """

    output_modes = frozenset({"schema", "tool", "text"})

    def __init__(
        self,
        model: str,
        *,
        provider: str = "openai",
        api_base: str,
        api_key: str | Callable[[], str | None] | None = None,
        key_name: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        self.provider = provider
        self.name = f"{provider}/{model}"
        self.endpoint, self._url, self._host = _addresses(api_base, self.name)
        self.schema_beside_tools = self._host.endswith(_BOTH)
        self.key_name = key_name
        self._key: Callable[[], str | None] | None
        if isinstance(api_key, str):
            self._key = KeyRef(value=api_key)
        else:
            self._key = KeyRef(key_name) if api_key is None and key_name else api_key
        self._headers = dict(headers or {})
        for header, value in self._headers.items():
            if header.lower().endswith(_PRIVATE):
                remember(value.rpartition(" ")[2], header)

    def check(self) -> None:
        """Raise ConfigurationError when a key is needed and missing, or cannot be sent."""
        self._secret()

    async def stream(self, request: Request) -> AsyncIterator[Chunk]:
        """Answer one request, once: one HTTP request, whatever happens.

        Parameters
        ----------
        request : Request
            ``timeout`` (seconds) counts for the whole attempt, however slowly bytes come.

        Yields
        ------
        Chunk

        Raises
        ------
        ModelError
            ``billed`` tells whether any byte of an answer came.
        ConfigurationError
            When there is no key.
        """
        from aiohttp import ClientError

        from .sessions import pool_for

        key = self._secret()
        secrets = [value for value in (key, *self._headers.values()) if value and len(value) > 7]
        body = BodyReader(
            self.name, origin=self._host, limit=_limit(request.params), secrets=secrets
        )
        pool = await pool_for(self)
        response: ClientResponse | None = None
        failure: ModelError | None = None
        mark = answer_marks(request)
        try:
            response = await self._post(pool, request, key)
            if 200 <= response.status < 300:
                async for block in response.content.iter_any():
                    for chunk in body.feed(block):
                        yield chunk if mark is None else mark(chunk)
                    if body.ended:
                        break
                for chunk in body.finish():
                    yield chunk if mark is None else mark(chunk)
                failure = body.failure
            else:
                failure = hinted(await self._refusal(response, secrets), request)
        except (ClientError, OSError) as error:  # TimeoutError is an OSError
            failure = self._translated(error, request.timeout, body.started, secrets)
        finally:
            if response is not None:
                if body.done and not response.content.is_eof():
                    pool.drain(response)
                else:
                    response.close()
        # Raised here and not above: aiohttp's errors hold the request, and with it the key.
        if failure is not None:
            raise failure

    async def post(self, path: str, body: Mapping[str, Any], *, timeout: float | None) -> bytes:
        """Ask the same server for something else than an answer, once.

        Parameters
        ----------
        path : str
            What to append to the base URL, ``/embeddings`` say.
        body : mapping
            Sent as JSON.
        timeout : float or None
            Seconds for the whole of it.

        Returns
        -------
        bytes
            The body of a successful answer.

        Raises
        ------
        ModelError
            As :meth:`stream` raises it.
        ConfigurationError
            When there is no key.
        """
        from aiohttp import ClientError

        from .sessions import pool_for

        key = self._secret()
        secrets = [value for value in (key, *self._headers.values()) if value and len(value) > 7]
        base, mark, query = str(self.endpoint).partition("?")
        url = f"{base.rstrip('/')}{path}{mark}{query}"
        pool = await pool_for(self)
        started = False
        try:
            response = await self._send(pool, url, body, timeout, key)
            async with response:
                if not 200 <= response.status < 300:
                    failure = await self._refusal(response, secrets)
                else:
                    started = True
                    found = bytearray()
                    async for block in response.content.iter_any():
                        found += block
                        if len(found) > _MOST_BODY:
                            break
                    else:
                        return bytes(found)
                    failure = ModelError(
                        f"{self.name} sent more than {_MOST_BODY:,} bytes", billed=True,
                        kind="protocol",
                    )  # fmt: skip
        except (ClientError, OSError) as error:
            failure = self._translated(error, timeout, started, secrets)
        # Raised here and not above: aiohttp's errors hold the request, and with it the key.
        raise failure

    async def aclose(self) -> None:
        """Let go of connections. The model can be used again."""
        from .sessions import release

        await release(self)

    # -- the request -------------------------------------------------------------------------

    async def _post(self, pool: Pool, request: Request, key: str | None) -> ClientResponse:
        body = encode(request, self.model, origin=self._host)
        return await self._send(pool, self._url, body, request.timeout, key)

    async def _send(
        self, pool: Pool, url: str, body: Mapping[str, Any], timeout: float | None, key: str | None
    ) -> ClientResponse:
        from io import BytesIO

        from aiohttp import ClientTimeout

        check_real_call(self.name, self.endpoint)
        data = json.dumps(body).encode("ascii")
        headers = {"Content-Type": "application/json", **self._headers}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        extra = self._proxied(pool, headers)
        # To aiohttp no seconds mean no deadline.
        total = None if timeout is None else max(timeout, 0.001)
        connect = _CONNECT if total is None else min(_CONNECT, total)
        return await pool.session.post(
            url,
            data=data if len(data) < _BIG else BytesIO(data),
            headers=headers,
            # Whole seconds would do for aiohttp; we promise what we were told.
            timeout=ClientTimeout(total=total, sock_connect=connect, ceil_threshold=1e9),
            allow_redirects=False,  # another address has no right to the key
            **extra,
        )

    def _proxied(self, pool: Pool, headers: dict[str, str]) -> dict[str, Any]:
        proxy = pool.proxy(self._url)
        if proxy is None:
            return {}
        parts = urlsplit(proxy)
        user, _, place = parts.netloc.rpartition("@")
        extra: dict[str, Any] = {"proxy": urlunsplit(parts._replace(netloc=place))}
        if user:
            from base64 import b64encode
            from urllib.parse import unquote

            remember(unquote(user.partition(":")[2]), "proxy password")
            login = "Basic " + b64encode(unquote(user).encode()).decode()
            if self._url.startswith("https:"):
                extra["proxy_headers"] = {"Proxy-Authorization": login}
            else:
                headers["Proxy-Authorization"] = login
        return extra

    def _secret(self) -> str | None:
        """The key, fit for a header."""
        key = ((self._key() if self._key is not None else None) or "").strip()
        if not key and self.key_name:
            raise missing_key(self.name, self.key_name)
        remember(key, self.key_name or "api_key")
        if not (key.isascii() and key.isprintable()):
            raise ConfigurationError(
                f"the API key of {self.name} holds characters that no key has",
                hint="Was it copied whole, and nothing with it?",
            )
        return key or None

    # -- failures ------------------------------------------------------------------------------

    async def _refusal(self, response: ClientResponse, secrets: list[str]) -> ModelError:
        found = bytearray()
        try:
            async for block in response.content.iter_any():
                found += block
                if len(found) > _ERROR_BODY:
                    break
        except OSError:
            pass  # the status says enough
        return error_from(
            response.status,
            response.headers,
            bytes(found),
            self.name,
            key_name=self.key_name,
            secrets=secrets,
        )

    def _translated(
        self, error: BaseException, timeout: float | None, started: bool, secrets: list[str]
    ) -> ModelError:
        import aiohttp

        retryable, hint = True, None
        if isinstance(error, TimeoutError):
            kind = "timeout"
            if isinstance(error, aiohttp.ConnectionTimeoutError):
                said = f"did not accept a connection at {self.endpoint} in time"
            else:
                said = f"gave no complete answer within {timeout or _CONNECT:g} s"
        elif started or isinstance(error, aiohttp.ClientPayloadError):
            kind, said = "cut", "broke off before its answer was complete"
        else:
            kind = "connection"
            why = excerpt(str(error) or type(error).__name__, secrets, 200)
            if isinstance(error, aiohttp.ClientConnectorError):
                said = f"could not be reached at {self.endpoint}: {why}"
                if self._host in ("localhost", "127.0.0.1", "::1"):
                    hint = "Is the server running?"
            else:
                said = f"gave no answer at {self.endpoint}: {why}"
            if isinstance(error, aiohttp.ClientSSLError | aiohttp.InvalidURL):
                retryable, hint = False, "Check api_base and the server's certificate."
        return ModelError(
            f"{self.name} {said}", hint=hint, retryable=retryable, billed=started, kind=kind
        )


def _limit(params: Mapping[str, Any]) -> int | None:
    limit = params.get("max_completion_tokens") or params.get("max_tokens")
    return limit if isinstance(limit, int) else None


def _addresses(api_base: str, name: str) -> tuple[str, str, str]:
    """The base without its end, the address to post to, and the host."""
    parts = urlsplit(api_base.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigurationError(
            f"api_base of {name} is not a web address: {api_base!r}",
            hint="It looks like http://127.0.0.1:8000/v1.",
        )
    if "@" in parts.netloc:
        raise ConfigurationError(
            f"api_base of {name} holds a user name or a password",
            hint="Pass the key as api_key=; it goes into a header.",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    base = urlunsplit(parts._replace(path=path, fragment=""))
    url = urlunsplit(parts._replace(path=f"{path}/chat/completions", fragment=""))
    return base, url, parts.hostname
