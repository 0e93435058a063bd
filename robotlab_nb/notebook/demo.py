"""The demo: one robot with tools, then a network of robots, in the terminal.

The robots say nothing of which model they use: on the simulated one and on a real one the same
code runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..network.network import Network
    from ..robot.robot import Robot

__all__ = ["QUESTION", "TICKET", "guide", "show", "support"]

QUESTION = "What is the weather in Paris, and how far is it from Lyon to Marseille?"
TICKET = "There is a billing error: invoice A-1009 was charged twice."


def get_weather(city: str) -> dict[str, object]:
    """Current weather of a city.

    Parameters
    ----------
    city : str
        The city's name.
    """
    return {"city": city, "sky": "cloudy", "temperature": "18.5 °C"}


def distance(origin: str, destination: str) -> str:
    """Distance in kilometres from one city to another, how far it is.

    Parameters
    ----------
    origin : str
        From where.
    destination : str
        To where.
    """
    known = {frozenset(("Lyon", "Marseille")): 314, frozenset(("Paris", "Lyon")): 465}
    km = known.get(frozenset((origin, destination)))
    return f"{km} km" if km else f"the distance from {origin} to {destination} is not known"


def find_invoice(number: str) -> dict[str, object]:
    """Find an invoice and its charges.

    Parameters
    ----------
    number : str
        Number of the invoice, such as A-1009.
    """
    return {"invoice": number, "charges": 2, "each": 19.90, "refund": "19.90, within 5 days"}


def guide(model: str | None = None) -> Robot[Any]:
    """A robot with two tools."""
    import robotlab_nb as rl

    return rl.build(
        "guide",
        system_prompt="You are a travel guide. Use your tools. Be brief.",
        model=model,
        tools=[get_weather, distance],
    )


def support(model: str | None = None) -> Network:
    """A network: a classifier, optional specialists, a writer that joins what they said."""
    import robotlab_nb as rl

    def robot(name: str, prompt: str, **more: Any) -> Robot[Any]:
        return rl.build(name, system_prompt=prompt, model=model, **more)

    labels = "Classify the message. Answer with one word: billing, technical, general."
    net = rl.create_network("support")
    net.task(
        "classify",
        robot("classifier", labels),
        route=lambda r: r.text.strip().lower().rstrip("."),
        fallback="general",
    )
    specialists = {
        "billing": robot(
            "accountant", "You look up invoices and explain charges.", tools=[find_invoice]
        ),
        "technical": robot("technician", "You solve technical problems, step by step."),
        "general": robot("receptionist", "You answer general questions."),
    }
    for name, who in specialists.items():
        net.task(name, who, optional=True, depends_on=["classify"])
    net.task(
        "reply",
        rl.build(
            "writer",
            system_prompt="You write short, kind replies to customers.",
            model=model or rl.SimulatedModel(_kind_reply),
        ),
        depends_on=list(specialists),
        prompt="Reply to {{ message }} What we know: {{ upstream }}",
    )
    return net


def _kind_reply(request: Any) -> str:
    """What the simulated writer makes of what the specialist found."""
    known = request.messages[-1].text.partition("What we know: ")[2]
    return f"Dear customer, thank you for telling us. {known} We are sorry for the trouble."


def show(question: str, ticket: str, model: str | None) -> int:
    """Print the demo; returns the exit code."""
    import sys

    import robotlab_nb as rl

    out = sys.stdout.write
    try:
        bot, net = guide(model), support(model)
        out(f"{bot!r}\n\n")
        result = bot.run(question)
        out(f"{result!r}\n\nresult.frames.tool_calls, some of its columns:\n")
        calls = result.frames.tool_calls[["round", "tool", "arguments", "result", "status"]]
        out(f"{calls.to_string(index=False)}\n\n{'-' * 72}\n\n{net!r}\n\n")
        answer = net.run(ticket)
        out(f"{answer!r}\n\nanswer.frames.tasks, some of its columns:\n")
        tasks = answer.frames.tasks[["task", "robot", "status", "tokens", "cost_usd"]]
        out(f"{tasks.to_string(index=False)}\n")
    except rl.RobotLabError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1
    if answer.simulated:
        out("\nThese answers are simulated: no model was asked. ")
        out("Try --model openai/gpt-5-mini.\n")
    return 0 if answer.status == "completed" else 1
