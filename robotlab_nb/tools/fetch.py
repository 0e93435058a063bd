"""A tool that reads web pages at addresses that a model chooses: public ones only.

Its labels say that it reads what strangers wrote and sends something out: the address itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import ConfigurationError, ToolError
from ..core.keywords import strict_keywords
from .decorator import tool
from .page_text import page_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..models.guarded_fetch import Fetched
    from .decorator import Tool

__all__ = ["fetch_tool", "fetch_url"]

_TEXTS = (
    "text/", "application/json", "application/xml", "application/javascript", "application/yaml",
    "application/x-ndjson", "application/toml",
)  # fmt: skip
_HTML = ("text/html", "application/xhtml+xml")


@strict_keywords
def fetch_tool(
    *,
    allow_hosts: Iterable[str] = (),
    timeout: float = 20.0,
    most_bytes: int = 1_000_000,
    most_chars: int = 50_000,
    use_proxy: bool = False,
) -> Tool:
    """Make a tool that reads web pages; :data:`fetch_url` is the one with these defaults.

    Only GET, only http and https, only text; HTML becomes plain text. Every host is looked up
    first, and refused where any of its addresses is not public; the connection goes to just these
    addresses, and each of at most 5 redirects is judged anew. No cookies, no passwords.

    Parameters
    ----------
    allow_hosts : iterable of str, optional
        Hosts that may be read although they are not public (``"127.0.0.1"``, ``"wiki.corp"``).
    timeout : float, optional
        Seconds for a page, redirects included.
    most_bytes : int, optional
        How much of a page is read.
    most_chars : int, optional
        How much of its text the model gets.
    use_proxy : bool, optional
        Whether to go through the proxy that the environment names, which looks names up by itself.

    Returns
    -------
    Tool
        Named ``fetch_url``, labelled ``untrusted`` and ``outward``.

    Raises
    ------
    ConfigurationError
        When an option cannot be meant.

    Examples
    --------
    >>> wiki = fetch_tool(allow_hosts=["wiki.corp"])
    >>> wiki.name, sorted(wiki.labels), list(wiki.parameters["properties"])
    ('fetch_url', ['outward', 'untrusted'], ['url'])
    """
    if isinstance(allow_hosts, str):
        raise ConfigurationError(
            f"allow_hosts={allow_hosts!r} is not a list of hosts", hint="Write allow_hosts=[…]."
        )
    hosts = frozenset(allow_hosts)

    # The page's own time limit comes first and says more than the tool's.
    @tool(name="fetch_url", timeout=timeout + 5, labels=("untrusted", "outward"))
    async def fetch_url(url: str) -> str:
        """Read a public web page and return its text.

        Parameters
        ----------
        url : str
            Its address, beginning with https:// or http://.
        """
        from ..models.guarded_fetch import fetch

        found = await fetch(
            url, allow_hosts=hosts, most_bytes=most_bytes, seconds=timeout, use_proxy=use_proxy
        )
        return _told(found, most_chars)

    return fetch_url


def _told(page: Fetched, most: int) -> str:
    """A page for a model: where it is, what it says, and whether there was more."""
    text = _decoded(page)
    if page.content_type in _HTML:
        text = page_text(text)
    cut = page.cut or len(text) > most
    note = "\n[cut: there was more]" if cut else ""
    return f"{page.url}\n\n{text[:most]}{note}"


def _decoded(page: Fetched) -> str:
    kind = page.content_type
    textual = kind.startswith(_TEXTS) or kind.endswith(("+json", "+xml"))
    if not textual and (kind != "application/octet-stream" or b"\0" in page.body):
        raise ToolError(f"{page.url[:200]!r} is no text but {kind[:80]!r}")
    try:
        return page.body.decode(page.charset or "utf-8", "replace")
    except LookupError:  # a character set that nobody knows
        return page.body.decode("utf-8", "replace")


#: reads public web pages
fetch_url = fetch_tool()
