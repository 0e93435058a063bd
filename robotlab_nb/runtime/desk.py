"""The desk of a root run: the questions that wait for a person, and who can only wait for them.

Every question is settled exactly once, from whatever thread. While there are questions, the desk
reads along: a run in which nothing else goes on any more is ``waiting`` (``run.waiting``), and is
not any longer when something does (``run.resumed``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from time import monotonic
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .questions import Answer, Question, read_answer, told

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from ..core.events import Event, Scope
    from .root import Root
    from .working import Work

__all__ = [
    "Desk", "Open", "answer", "asks", "attend", "desk_of", "leave", "pending", "waits",
]  # fmt: skip

#: seconds without news before a run counts as waiting: between two events of a turn there is
#: nothing that the events show
SETTLE_S = 0.05


class Open:
    """A question that is not settled yet, and who waits for it."""

    __slots__ = (
        "answer", "began", "channel", "check", "future", "loop", "news", "question", "run",
        "suspends", "withdraw",
    )  # fmt: skip

    def __init__(
        self,
        run: Work[Any],
        question: Question,
        check: Callable[[Mapping[str, Any]], None] | None,
        loop: asyncio.AbstractEventLoop,
        *,
        suspends: bool,
    ) -> None:
        self.run = run
        self.question = question
        self.check = check
        self.loop = loop
        #: whether it may wait for ``answer()`` where nobody can be asked
        self.suspends = suspends
        self.began = monotonic()
        self.future: asyncio.Future[None] = loop.create_future()
        #: set when a channel takes the question, and when it gives it back
        self.news: asyncio.Future[None] = loop.create_future()
        self.channel: str | None = None
        self.answer: Answer | None = None
        #: takes the question back from the person who is being asked
        self.withdraw: Callable[[], None] | None = None


class Desk:
    """The open questions of a root run and of all runs inside it.

    Parameters
    ----------
    root : Root
    """

    __slots__ = ("_attached", "_scheduled", "deltas", "opens", "positions", "root")

    def __init__(self, root: Root) -> None:
        self.root = root
        self.deltas = False
        #: by question id, in order
        self.opens: dict[str, Open] = {}
        #: how far lists of scripted answers have been used
        self.positions: dict[int, int] = {}
        self._attached = False
        self._scheduled = False

    # -- questions -------------------------------------------------------------------------

    def put(self, opened: Open) -> None:
        """Lay a question on the desk."""
        with self.root.lock:
            self.opens[opened.question.id] = opened
            if not self._attached:
                self._attached = True
                self.root.attach(self)
            self._look_soon(opened.loop)

    def announce(self, opened: Open) -> None:
        """Say to whoever waits for its run that a question is open."""
        _call_all(opened.run)

    def claim(self, opened: Open, channel: str) -> bool:
        """Take a question to a person. False when it is settled, or another channel has it."""
        with self.root.lock:
            if opened.answer is not None or opened.channel is not None:
                return False
            opened.channel = channel
            _set(opened.loop, opened.news)
        return True

    def give_back(self, opened: Open, channel: str | None = None) -> bool:
        """A channel could not ask: let another one, or the person by ``answer()``.

        False when a channel was named, and it is not the one that has the question.
        """
        with self.root.lock:
            if channel is not None and opened.channel != channel:
                return False
            opened.channel = None
            _set(opened.loop, opened.news)
        _call_all(opened.run)
        return True

    def settle(self, opened: Open, answer: Answer) -> bool:
        """Settle a question. False when somebody was faster."""
        with self.root.lock:
            if opened.answer is not None:
                return False
            opened.answer = answer
            self.opens.pop(opened.question.id, None)
            opened.run.emit("hitl.answered", answered(opened.question, answer, opened.began))
            above: Work[Any] | None = opened.run
            while above is not None:
                if above.state.status == "waiting":
                    above.emit("run.resumed", {})
                above = above.parent
            if opened.withdraw is not None:
                opened.withdraw()
            if not self.opens and self._attached:
                self._attached = False
                self.root.detach(self)
        _set(opened.loop, opened.future)
        return True

    def of(self, run: Work[Any]) -> list[Open]:
        """The open questions of a run and of those inside it."""
        with self.root.lock:
            return [o for o in self.opens.values() if run.owns(o.run.id) and not o.run.done]

    # -- who can only wait -----------------------------------------------------------------

    def push(self, event: Event) -> None:
        """Look again soon: something has happened. Called under the root's lock."""
        for opened in self.opens.values():
            self._look_soon(opened.loop)
            return

    def push_delta(
        self, scope: Scope, call_id: str, attempt: int, kind: str, offset: int, text: str
    ) -> None:
        """Pieces of text change nothing here."""

    def _look_soon(self, loop: asyncio.AbstractEventLoop) -> None:
        if not self._scheduled:
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits there
                loop.call_soon_threadsafe(loop.call_later, SETTLE_S, self._look)
                self._scheduled = True

    def _look(self) -> None:
        with self.root.lock:
            self._scheduled = False
            for opened in self.opens.values():
                _only_waits(_top(opened.run), self)
                return


def _top(run: Work[Any]) -> Work[Any]:
    while run.parent is not None:
        run = run.parent
    return run


def _only_waits(work: Work[Any], desk: Desk) -> bool:
    """Whether nothing goes on in a run but waiting for a person; its events say so too."""
    state = work.state
    children = [child for child in tuple(work._children) if not child.done]
    inside = [_only_waits(child, desk) for child in children]
    # Each strand of the run, a tool call or a task, may wait for a question or a run of its own.
    waiting = sum(a.status == "pending" for a in state.asked.values()) + len(children)
    strands = sum(c.status == "running" for c in state.tool_calls.values())
    strands += sum(t.status == "running" for t in state.tasks.values())
    thinking = any(c.status == "running" for c in state.model_calls.values())
    found = 0 < waiting >= strands and all(inside) and not thinking
    if found and state.status == "running":
        ids = [o.question.id for o in desk.opens.values() if work.owns(o.run.id)]
        work.emit("run.waiting", {"questions": ids})
        _call_all(work)
    elif not found and state.status == "waiting":
        work.emit("run.resumed", {})
    return found


def _call_all(run: Work[Any]) -> None:
    """Call those who attend to a run or to one around it."""
    above: Work[Any] | None = run
    while above is not None:
        for callback in above._attending:
            callback()
        above = above.parent


def _set(loop: asyncio.AbstractEventLoop, future: asyncio.Future[None]) -> None:
    def settle() -> None:
        if not future.done():
            future.set_result(None)

    with contextlib.suppress(RuntimeError):  # that loop is closed: nobody waits there
        loop.call_soon_threadsafe(settle)


def answered(question: Question, answer: Answer, began: float) -> dict[str, Any]:
    """The data of a ``hitl.answered`` event."""
    return {
        "question_id": question.id,
        "kind": question.kind,
        "answer": answer.value,
        "by": answer.by,
        "status": answer.status,
        "waited_s": monotonic() - began,
    }


def desk_of(run: Work[Any]) -> Desk:
    """The desk of a run's root, made if need be."""
    top = _top(run)
    if top.desk is None:
        with top.root.lock:
            if top.desk is None:
                top.desk = Desk(top.root)
    return top.desk


def attend(run: Work[Any], callback: Callable[[], object]) -> None:
    """Have something called when a question of a run is put, or the run can only wait."""
    with run.root.lock:
        run._attending = (*run._attending, callback)


def leave(run: Work[Any], callback: Callable[[], object]) -> None:
    """Undo :func:`attend`."""
    with run.root.lock:
        run._attending = tuple([c for c in run._attending if c != callback])


def asks(run: Work[Any]) -> bool:
    """Whether a question of a run is open. Costs next to nothing where none ever was."""
    desk = _top(run).desk
    return desk is not None and bool(desk.opens) and bool(desk.of(run))


def waits(run: Work[Any]) -> bool:
    """Whether a run can only go on when a person calls ``answer()``: nobody is being asked."""
    if run.state.status != "waiting":
        return False
    idle = [opened for opened in desk_of(run).of(run) if opened.channel is None]
    return bool(idle) and all(opened.suspends for opened in idle)


def pending(run: Work[Any]) -> tuple[Question, ...]:
    """The questions of a run, and of those inside it, that wait for an answer."""
    top = _top(run)
    return () if top.desk is None else tuple(o.question for o in top.desk.of(run))


# -- a person's answer -----------------------------------------------------------------------


def answer(run: Work[Any], value: Any, *, by: str = "answer") -> None:
    """Answer what a run waits for: all that was said, or nothing when something is wrong with it.

    Parameters
    ----------
    run : Work
    value : object
        An answer, when one question is open; else a dict of them by question or tool-call id.
    by : str, optional
        Through which channel.

    Raises
    ------
    InputError
        When nothing is open, a key or a value cannot be meant, or somebody was faster. The
        message lists what is open.
    """
    opens = desk_of(run).of(run)
    chosen = _chosen(run, opens, value)
    ready = [(o, read_answer(o.question, v, by=by, check=o.check)) for o, v in chosen]
    desk = desk_of(run)
    late = [o.question for o, found in ready if not desk.settle(o, found)]
    if late:
        raise InputError(
            f"already settled: {'; '.join(map(told, late))}",
            hint="Somebody answered, or the time was up, a moment ago.",
        )


def _chosen(run: Work[Any], opens: list[Open], value: Any) -> list[tuple[Open, Any]]:
    by_key = {key: opened for opened in opens for key in opened.question.keys}
    if isinstance(value, Mapping) and not _is_edit(value, opens, by_key):
        unknown = [key for key in value if key not in by_key]
        if unknown or not value:
            raise _nothing_like_it(run, opens, unknown)
        chosen = [(by_key[key], said) for key, said in value.items()]
        if len({id(opened) for opened, _ in chosen}) < len(chosen):
            raise InputError("one question is answered twice", hint=_listed(opens))
        return chosen
    if len(opens) == 1:
        return [(opens[0], value)]
    if not opens:
        raise _nothing_like_it(run, opens, [])
    raise InputError(
        f"{len(opens)} questions of {run.name!r} are open, and {value!r:.80} does not say which",
        hint=f"Answer with {{id: value}}. {_listed(opens)}",
    )


def _is_edit(value: Mapping[Any, Any], opens: list[Open], by_key: dict[str, Open]) -> bool:
    """Whether a dict is itself the answer to the one approval that is open."""
    one = len(opens) == 1 and opens[0].question.kind == "approval"
    return one and "arguments" in value and "arguments" not in by_key


def _nothing_like_it(run: Work[Any], opens: list[Open], unknown: list[Any]) -> InputError:
    before = [
        asked
        for state in run.state.walk()
        for asked in state.asked.values()
        if asked.status != "pending"
    ]
    for key in unknown:
        for asked in before:
            if key in (asked.question_id, asked.tool_call_id):
                return InputError(
                    f"{key!r} is settled already: {asked.status} by {asked.by}",
                    hint=_listed(opens),
                )
    if unknown:
        return InputError(
            f"no question of {run.name!r} is open under {', '.join(map(repr, unknown))}",
            hint=_listed(opens),
        )
    if opens:
        return InputError(f"no answer was given to {run.name!r}", hint=_listed(opens))
    last = f"; the last one is settled: {before[-1].status} by {before[-1].by}" if before else ""
    return InputError(f"{run.name!r} has no open question{last}", hint=f"It is {run.state.status}.")


def _listed(opens: list[Open]) -> str:
    if not opens:
        return "Nothing is open."
    return "Open: " + "; ".join(told(opened.question) for opened in opens) + "."
