"""The pictures of a network, of its run and of its result.

A result reads like a robot's: the answer first, one quiet line, then picture and folds. Knows the
facts of :mod:`.network_facts` and the state that events fold into, nothing of who runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import cost, count, seconds, tokens
from .besides import notes
from .escape import clip, one_line
from .graph_picture import draw
from .json_text import value_line
from .network_facts import LIVE, facts_of
from .parts import (
    Block,
    Fold,
    Head,
    Line,
    Para,
    Picture,
    Pre,
    Prose,
    Quote,
    Table,
    badge,
    bold,
    code,
    dots,
    part,
    quiet,
    state_bit,
    ticked,
)
from .question_card import asked_of, open_cards, settled_fold
from .result_card import fault_lines, waits
from .result_card import run as run_of_a_robot
from .states import state_of
from .task_rows import counts, outline, strip, table
from .task_turns import turns
from .timeline import critical, timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..core.state import RunState
    from ..network.network import Network
    from ..network.result import NetworkResult
    from ..runtime.run import Run
    from .network_facts import NetworkFacts, TaskFacts

__all__ = ["after_notice", "network", "result", "run", "whole"]

#: Failed tasks that have a notice of their own.
_NOTICES = 5
#: Answers shown of a network with many ends.
_ANSWERS = 20
_FINISHED = ("completed", "restored")


def network(thing: Network) -> Picture:
    """The picture of a network as it was declared.

    Parameters
    ----------
    thing : Network
    """
    facts = _once(lambda: facts_of(thing))
    blocks = (
        *part("name", lambda: _head(thing, facts())),
        *part("faults", lambda: _faults(thing)),
        *part("picture", lambda: _drawing(facts())),
        *part("tasks", lambda: _tasks(facts())),
        *part("prompts", lambda: _prompts(facts())),
        *part("configuration", lambda: _configuration(thing)),
    )
    return Picture(blocks, framed=True)


def result(thing: NetworkResult) -> Picture:
    """The picture of a network's result.

    Parameters
    ----------
    thing : NetworkResult
    """
    return Picture(_ended(thing.state, _once(lambda: facts_of(thing)), "result"))


def run(thing: Run[Any]) -> Picture:
    """The picture of a run of whatever kind. One that has ended looks like its result.

    Parameters
    ----------
    thing : Run
    """
    state = thing.state
    if state.scope.kind == "experiment":
        from .experiment_card import run_of

        return run_of(thing) or run_of_a_robot(thing)
    if state.scope.kind != "network":
        return run_of_a_robot(thing)
    facts = _once(lambda: facts_of(thing))
    if state.status not in LIVE:
        return Picture(_ended(state, facts, "run.result()"))
    blocks = (
        *part("state", lambda: _live(facts())),
        *part("notices", lambda: _notices(state, facts(), "run.result()")),
        *part("picture", lambda: _drawing(facts())),
        *part("figures", lambda: [Para(_figures(state, facts()), quiet=True)]),
        *_folds(state, facts),
    )
    return Picture(blocks, framed=True)


def whole(state: RunState, named: str) -> tuple[Block, ...]:
    """Everything about a network's run that has ended, from its state.

    Parameters
    ----------
    state : RunState
    named : str
        Code that gives its result.
    """
    return _ended(state, _once(lambda: facts_of(state)), named)


def after_notice(state: RunState, named: str) -> tuple[Block, ...]:
    """Everything about a network's run but its notices, for an error that tells of those.

    Parameters
    ----------
    state : RunState
    named : str
        Code that gives its result.
    """
    facts = _once(lambda: facts_of(state))
    return _after_notice(state, facts, named)


def _ended(state: RunState, facts: Callable[[], NetworkFacts], named: str) -> tuple[Block, ...]:
    return (
        *part("notices", lambda: _notices(state, facts(), named)),
        *_after_notice(state, facts, named),
    )


def _after_notice(
    state: RunState, facts: Callable[[], NetworkFacts], named: str
) -> tuple[Block, ...]:
    return (
        *part("answer", lambda: _answer(state, facts(), named)),
        *part("figures", lambda: [Para(_figures(state, facts()), quiet=True)]),
        *part("picture", lambda: _drawing(facts())),
        *_folds(state, facts),
    )


def _folds(state: RunState, facts: Callable[[], NetworkFacts]) -> tuple[Block, ...]:
    return (
        *part("tasks", lambda: _tasks(facts())),
        *part("timeline", lambda: _timeline(facts())),
        *part("questions", lambda: settled_fold(asked_of(state))),
        *part("notes", lambda: notes(state)),
        *part("tracebacks", lambda: _tracebacks(state)),
        *part("transcript", lambda: turns(state, facts(), _above(facts()))),
    )


def _once(read: Callable[[], NetworkFacts]) -> Callable[[], NetworkFacts]:
    """Read the facts when the first part asks for them, so that a fault is that part's own."""
    found: list[NetworkFacts] = []

    def facts() -> NetworkFacts:
        if not found:
            found.append(read())
        return found[0]

    return facts


# -- what was declared ---------------------------------------------------------------------


def _head(thing: Network, facts: NetworkFacts) -> Iterable[Block]:
    about = dots(
        count(len(facts.tasks), "task"),
        count(len(facts.robots), "robot") if facts.robots else None,
        badge("simulated") if facts.simulated else None,
    )
    yield Head((one_line(facts.name, 120),), "network", about)
    optional = sum(task.optional for task in facts.tasks)
    routes = sum(task.routes for task in facts.tasks)
    most = thing.config.get("max_concurrent_robots")
    yield Para(
        dots(
            f"{optional:,}\u00a0optional" if optional else None,
            count(routes, "route") if routes else None,
            f"at most {thing.concurrency:,} at the same time"
            + (f", {count(most, 'robot')} among them" if most else ""),
            code("net.run(…)"),
        ),
        quiet=True,
    )


def _faults(thing: Network) -> Iterable[Block]:
    from ..core.errors import GraphError

    try:
        thing.validate()
    except GraphError as error:
        told = {"message": error.message, "hint": error.hint}
        yield Quote(tuple(fault_lines(told, type(error).__name__)), "rail", "kf")


def _drawing(facts: NetworkFacts) -> Iterable[Block]:
    if facts.tasks:
        yield draw(facts, outline(facts))


def _tasks(facts: NetworkFacts) -> Iterable[Block]:
    if facts.tasks:
        yield Fold(("Tasks",), tuple(table(facts)), f"{len(facts.tasks):,}")


def _prompts(facts: NetworkFacts) -> Iterable[Block]:
    asked = [task for task in facts.tasks if task.prompt]
    if not asked:
        return
    blocks: list[Block] = []
    for task in asked[:50]:
        blocks += [Para((bold(one_line(task.name, 80)),)), Pre(task.prompt)]
    if len(asked) > 50:
        blocks.append(Para((quiet(f"… {len(asked) - 50:,} more"),)))
    yield Fold(("Prompts",), tuple(blocks), f"{len(asked):,}")


def _configuration(thing: Network) -> Iterable[Block]:
    from .json_text import masked

    settings = {name: value for name, value in thing.config.to_dict().items() if value is not None}
    if settings:
        rows = tuple(
            ((one_line(name, 64),), (value_line(masked(name, value), 200),))
            for name, value in settings.items()
        )
        yield Fold(
            ("Configuration",), (Table(("setting", "value"), rows),), f"{len(rows)} set here"
        )


# -- what happened -------------------------------------------------------------------------


def _live(facts: NetworkFacts) -> Iterable[Block]:
    about = dots(count(len(facts.tasks), "task"), strip(facts))
    right: Line = (state_bit(facts.status, loud=True),)
    yield Head((one_line(facts.name, 120),), "network", about, right)
    yield Para(dots(counts(facts), (code("run.result()"), " waits for the answer")), quiet=True)


def _notices(state: RunState, facts: NetworkFacts, named: str) -> Iterable[Block]:
    """What a person should know first: what waits for them, what failed, why it ended early."""
    if not state.ended:
        whose = "result" if named == "result" else "run"
        cards = list(open_cards(asked_of(state), whose))
        yield from cards
        waiting = [one_line(t.name, 60) for t in facts.tasks if t.status == "waiting"]
        if not cards and (waiting or state.status == "waiting"):
            yield waits(", ".join(waiting[:_NOTICES]) or one_line(facts.name, 60), whose)
    failed = [task for task in facts.tasks if task.status == "failed"]
    for task in failed[:_NOTICES]:
        yield _failure(task, facts, named)
    if len(failed) > _NOTICES:
        yield Para((quiet(f"… {len(failed) - _NOTICES:,} more tasks failed"),))
    if state.status == "failed" and not failed:
        yield Quote(tuple(fault_lines(state.error or {})), "rail", "kf")
    if state.status == "interrupted":
        yield Quote(tuple(_interrupted(state, facts)), "rail", "ki")
    elif state.status == "abandoned":
        why = "its process ended before the run did; this is what was recorded"
        yield Quote((Para(dots(state_bit("abandoned", loud=True), why)),), "rail", "ki")


def _failure(task: TaskFacts, facts: NetworkFacts, named: str) -> Quote:
    error = task.error or {}
    name = one_line(task.name, 80)
    kind = one_line(error.get("type") or "error", 60)
    message = clip(error.get("message") or "no message", 2000)
    lines: list[Block] = [
        Para(dots(state_bit("failed", loud=True), bold(name), f"{kind}: {message}"))
    ]
    if error.get("hint"):
        lines.append(Para(ticked(clip(error["hint"], 1000))))
    held = [one_line(t.name, 60) for t in facts.tasks if t.status == "blocked" and _needs(t, task)]
    more = f" and {len(held) - 5:,} more" if len(held) > 5 else ""
    after = f"blocks {', '.join(held[:5])}{more}" if held else None
    if task.on_failure == "continue":
        after = "the rest went on without it"
    elif task.on_failure == "stop":
        after = "nothing new was started after it"
    look: Line = ("what it did: ", code(f"{named}[{value_line(task.name, 80)}]"))
    again = "the same call may work when it is repeated" if error.get("retryable") is True else None
    lines.append(Para(dots(after, look, again), quiet=True))
    return Quote(tuple(lines), "rail", "kf")


def _needs(task: TaskFacts, other: TaskFacts) -> bool:
    return other.name in task.depends_on


def _interrupted(state: RunState, facts: NetworkFacts) -> Iterable[Block]:
    after = seconds(state.duration_s)
    done = sum(task.status in _FINISHED for task in facts.tasks)
    told = f"{done:,} of {count(len(facts.tasks), 'task')} finished"
    word = state_bit("interrupted", loud=True)
    yield Para(dots((word, f" after {after}" if after else ""), told))
    if state.stuck:
        names = ", ".join(one_line(name, 64) for name in state.stuck[:8])
        yield Para((f"still running, and not to be stopped: {names}",))


def _answer(state: RunState, facts: NetworkFacts, named: str) -> Iterable[Block]:
    """What the tasks at the end of the network said."""
    ends = _ends(facts)
    for task in ends[:_ANSWERS]:
        text = state.tasks[task.name].text or ""
        if len(ends) > 1:
            yield Para((bold(one_line(task.name, 80)),))
        if task.kind == "function" and "\n" in text:
            yield Pre(text)
        elif text:
            whole = f"{named}[{value_line(task.name, 80)}].text"
            yield Prose(text, whole=whole, limit=40_000 if len(ends) == 1 else 4_000)
        else:
            yield Para((quiet("no text"),))
    if len(ends) > _ANSWERS:
        yield Para((quiet(f"… {len(ends) - _ANSWERS:,} more answers"),))
    if not ends and state.status == "completed":
        yield Para((quiet("no answer: the tasks at the end did not run"),))


def _ends(facts: NetworkFacts) -> list[TaskFacts]:
    """The finished tasks that nothing depends on: what they said is the network's answer."""
    needed = {name for task in facts.tasks for name in task.depends_on}
    return [task for task in facts.tasks if task.name not in needed and task.status in _FINISHED]


def _above(facts: NetworkFacts) -> set[str]:
    """Tasks whose answer stands at the top: those of a run that has ended."""
    return set() if facts.live else {task.name for task in _ends(facts)[:_ANSWERS]}


def _figures(state: RunState, facts: NetworkFacts) -> Line:
    runs = list(state.walk())
    calls = sum(len(each.model_calls) for each in runs)
    tools = sum(len(each.tool_calls) for each in runs)
    usage = state.total_usage()
    found = state_of(state.status)
    restored = sum(task.status == "restored" for task in facts.tasks)
    tasks = count(len(facts.tasks), "task") + (f", {restored:,} restored" if restored else "")
    return dots(
        f"{found.icon}\u00a0{found.word}",
        None if facts.live else strip(facts),
        tasks,
        badge("simulated") if facts.simulated else None,
        count(calls, "call") if calls else None,
        count(tools, "tool call") if tools else None,
        tokens(usage) if calls else None,
        cost(usage) if calls else None,
        seconds(facts.elapsed_s),
    )


def _timeline(facts: NetworkFacts) -> Iterable[Block]:
    drawn = timeline(facts)
    if drawn is None:
        return
    chain = [one_line(name, 40) for name in critical(facts)]
    shown = [*chain[:3], "…", *chain[-2:]] if len(chain) > 6 else chain
    longest = f"longest chain: {' → '.join(shown)}" if len(chain) > 1 else ""
    note = " · ".join(word for word in (seconds(facts.elapsed_s), longest) if word)
    yield Fold(("Timeline",), (drawn,), note)


def _tracebacks(state: RunState) -> Iterable[Block]:
    failed = [task for task in list(state.tasks.values()) if task.traceback]
    for task in failed[:_NOTICES]:
        yield Fold((f"Traceback of {one_line(task.name, 80)}",), (Pre(task.traceback or ""),))
