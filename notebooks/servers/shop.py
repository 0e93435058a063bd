"""A small shop as a tool server: the one that the notebooks about tool servers use.

Run it with ``python servers/shop.py``: it speaks on standard input and output. Nothing in it
changes by itself: the same calls get the same answers.
"""

from __future__ import annotations

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import (
    AcceptedElicitation,
    Context,
    Elicit,
    ElicitationResult,
    MCPServer,
    Resolve,
)
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

shop = MCPServer(
    "shop",
    instructions="Prices are in euros. Ask for the stock before you order.",
    log_level="WARNING",
)

STOCK = {
    "umbrella": (19.0, 12),
    "raincoat": (49.0, 3),
    "sunhat": (25.0, 0),
    "boots": (79.0, 7),
}


class Item(BaseModel):
    """What the shop knows of an item."""

    name: str
    price: float = Field(description="euros")
    stock: int = Field(description="pieces that are there")


class Confirmed(BaseModel):
    """A customer's answer."""

    confirm: bool = Field(description="place the order?")


def found(name: str) -> Item:
    """The item of that name; an error that lists the others where there is none."""
    if name not in STOCK:
        raise ToolError(f"no item {name!r}; there are {', '.join(STOCK)}")
    price, stock = STOCK[name]
    return Item(name=name, price=price, stock=stock)


@shop.tool()
def look_up(name: str) -> Item:
    """Look up the price and the stock of an item."""
    return found(name)


@shop.tool()
async def count_stock(ctx: Context) -> int:
    """Count all pieces in the shop, shelf by shelf. Takes a moment."""
    total = 0
    for number, (name, (_, stock)) in enumerate(STOCK.items(), 1):
        await anyio.sleep(0.05)
        total += stock
        await ctx.report_progress(number, len(STOCK), f"counted {name}")
    return total


def confirmation(name: str, pieces: int) -> Elicit[Confirmed]:
    """Ask the customer before anything is ordered."""
    item = found(name)
    return Elicit(f"Order {pieces} × {name} for {item.price * pieces:.2f} euros?", Confirmed)


@shop.tool()
def order(
    name: str,
    pieces: int,
    answer: Annotated[ElicitationResult[Confirmed], Resolve(confirmation)],
) -> str:
    """Order an item; the customer is asked to confirm."""
    if isinstance(answer, AcceptedElicitation) and answer.data.confirm:
        return f"Ordered {pieces} × {name}."
    return "Nothing was ordered: the customer did not confirm."


@shop.resource("shop://hours", mime_type="text/plain")
def hours() -> str:
    """When the shop is open."""
    return "Monday to Friday 9 to 18, Saturday 10 to 14."


@shop.resource("shop://items/{name}", mime_type="application/json")
def item(name: str) -> str:
    """An item of the shop."""
    return found(name).model_dump_json()


@shop.prompt()
def advise(weather: str) -> str:
    """Advice on what to buy for the weather."""
    return f"Which items of the shop help when the weather is {weather}? Name at most two."


if __name__ == "__main__":
    print("the shop is open", file=sys.stderr)
    shop.run("stdio")
