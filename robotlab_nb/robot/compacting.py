"""When a conversation is compressed, and what is recorded of it; how is :mod:`.compression`'s."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from ..core.config import RunConfig, resolve
from ..core.errors import InputError
from ..core.messages import MEDIA_IN_EVENTS
from ..runtime.recording import stamps
from ..runtime.run import Run
from .compression import accepted, compact, counted, needs_compacting, tokens_of, window_of
from .in_force import chain

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from ..core.messages import Message
    from ..models.protocol import Model
    from ..runtime.hook_chain import Chain
    from .compression import Compacted
    from .turn import Turn

__all__ = ["compact_turn", "compress_now"]


async def compact_turn(turn: Turn) -> None:
    """Compress the turns before this one when the model's window fills up. Recorded."""
    if not turn.history:
        return
    run, settings = turn.run, turn.settings
    window = window_of(turn.model, settings)
    if not needs_compacting(run.state.messages, window, settings, known=counted(run.state)):
        return
    rest = [m for m in run.state.messages if m.role == "system"] + run.state.turn
    room = settings["compact_threshold"] * window - tokens_of(rest)
    do = functools.partial(compact, room=room)
    found = await _hooked(turn.hooks, run, turn.robot, turn.history, settings, turn.model, do)
    if found is None:
        return
    turn.history = tuple(found.messages)
    _record(run, found)


async def _hooked(
    hooks: Chain | None,
    run: Run[Any],
    robot: Any,
    messages: Sequence[Message],
    settings: Mapping[str, Any],
    model: Model,
    do: Callable[..., Awaitable[Compacted | None]],
) -> Compacted | None:
    """Compress within the handlers, which may give messages of their own."""
    chosen = settings["auto_compact"]
    strategy = chosen if callable(chosen) else "context_window"

    async def core() -> Compacted | None:
        return await do(run, messages, settings, model=model, strategy=strategy)

    if hooks is None or "compaction" not in hooks.families:
        return await core()
    from ..runtime.hook_chain import HookContext

    context = HookContext(
        "compaction", run=run, robot=robot, messages_before=tuple(messages), config=settings,
        strategy=strategy,
    )  # fmt: skip
    done: list[Compacted | None] = []

    async def kept() -> Any:
        done.append(await core())
        return None if done[-1] is None else done[-1].messages

    given = await hooks.around(context, kept, run)
    if done and (given is None or (done[-1] is not None and given is done[-1].messages)):
        return done[-1]

    def handler(_: Any) -> Any:
        return accepted(given, messages, "a handler of compaction")

    return await compact(run, messages, settings, model=model, strategy=handler)


def _record(run: Run[Any], found: Compacted) -> None:
    run.emit(
        "conversation.compacted",
        {
            "strategy": found.strategy,
            "message_ids": [m.id for m in found.messages],
            "new": [m.to_dict(most_media=MEDIA_IN_EVENTS) for m in found.new],
            "summary": found.summary.id if found.summary is not None else None,
            "dropped": found.dropped,
            "before_tokens": found.before,
            "after_tokens": found.after,
        },
    )


def compress_now(robot: Any, keep: float, drop: float, settings: Mapping[str, Any]) -> int:
    """Compress a robot's conversation in a run of its own, and wait for it.

    Returns
    -------
    int
        How many messages were dropped or summed up.

    Raises
    ------
    InputError
        When another run changed the conversation meanwhile.
    """
    level = dict(RunConfig.of(settings))
    inside = robot._in_force()
    effective = resolve([("robot", inside.effective.values_), ("call", level)])
    values = effective.values_
    version, messages = robot._conversation.snapshot()
    dropped: list[int] = []

    async def work(run: Run[Any]) -> None:
        run.started(
            {
                "name": robot.name,
                "model": inside.model.name,
                "provider": inside.model.provider,
                "simulated": inside.model.simulated,
                "input": "",
                **stamps(values),
            }
        )
        told = [m.to_dict(most_media=MEDIA_IN_EVENTS) for m in messages]
        run.emit("conversation.loaded", {"messages": told})
        do = functools.partial(compact, keep=keep, drop=drop)
        found = await _hooked(chain(inside.hooks), run, robot, messages, values, inside.model, do)
        if found is None:
            return
        _record(run, found)
        if not robot._conversation.commit(version, found.messages):
            raise InputError(
                f"the conversation of robot {robot.name!r} changed while it was compressed",
                hint="It is as that other run left it. Compress it again.",
            )
        dropped.append(found.dropped)

    run: Run[None] = Run(robot.name, "robot", work, lambda _: None, robot=robot.name)
    run.check_may_block("compress_history()")
    run.begin().result()
    return sum(dropped)
