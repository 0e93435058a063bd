"""The weather as a tool server. Made up, and the same every time."""

from __future__ import annotations

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

weather = MCPServer("weather", log_level="WARNING")

CITIES = {"Paris": ("sunny", 24), "London": ("rain", 14), "Oslo": ("snow", -3)}


class Report(BaseModel):
    """The weather of one city on one day."""

    city: str
    sky: str
    celsius: int


def report(city: str, days: int) -> Report:
    """The weather of a city in some days; each day is a degree colder."""
    if city not in CITIES:
        raise ToolError(f"no weather for {city!r}; there are {', '.join(CITIES)}")
    sky, celsius = CITIES[city]
    return Report(city=city, sky=sky, celsius=celsius - days)


@weather.tool()
def current_weather(city: str) -> Report:
    """The weather in a city now."""
    return report(city, 0)


@weather.tool()
def forecast(city: str, days: int) -> list[Report]:
    """The weather in a city for the next days."""
    return [report(city, day) for day in range(1, days + 1)]


if __name__ == "__main__":
    weather.run("stdio")
