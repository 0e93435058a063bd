"""Hearing of changed lists where a server tells only those who listen (protocol of 2026)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["listen", "wants_listening"]

#: seconds before listening again, doubled each time it is cut short
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0


def wants_listening(client: Any) -> bool:
    """Whether a connection's server may tell of changed tools, but only when it is listened to."""
    from mcp.types.version import MODERN_PROTOCOL_VERSIONS

    modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
    return modern and client.server_capabilities.tools is not None


async def listen(client: Any, changed: Callable[[], object]) -> None:
    """Call something whenever the server says that its tools changed, until cancelled."""
    from mcp.client.subscriptions import SubscriptionLost

    pause = _FIRST_PAUSE
    while True:
        try:
            async with client.listen(tools_list_changed=True) as told:
                async for _ in told:
                    changed()
                    pause = _FIRST_PAUSE
        except SubscriptionLost:
            changed()  # nobody knows what was missed
        except Exception:
            return  # it cannot; the connection's end is told elsewhere
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
