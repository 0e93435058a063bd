"""One call of something served: a run from its start to its answer, and what it asks meanwhile.

The run goes on where runs do; the call waits for news of it on the loop that serves. Questions go
to whoever calls, never to the person whose notebook serves.
"""

from __future__ import annotations

import contextlib
import secrets as _random
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import InputError
from ..robot.conversation import Conversation
from ..runtime.asking import Answer, add_channel, remove_channel
from ..runtime.desk import answer, desk_of

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

    from ..core.events import Event, Scope
    from ..runtime.questions import Question
    from ..runtime.run import Run
    from .serving_tools import Served

__all__ = ["Call", "Calls", "Progress", "cannot_ask", "form_of", "settle"]

#: calls that wait for a client to come back with answers, and conversations that are kept
HELD, CONVERSATIONS = 64, 256
#: characters of a question's arguments that the form shows
SHOWN = 4000


class Progress(NamedTuple):
    """How far a call is: how much is done, of how much if that is known, what happened last."""

    done: float
    total: float | None
    message: str


class Call:
    """A call: its run, and what is new of it.

    Parameters
    ----------
    tool : Served
    run : Run
        Made, not begun.
    loop : asyncio.AbstractEventLoop
        The loop that serves.
    progress : bool
        Whether somebody wants to hear how far it is.

    Attributes
    ----------
    news : asyncio.Queue
        Progress, questions, and None when the run has ended.
    asked : dict
        Questions that were put to the client and have no answer yet, by id.
    """

    deltas = False

    def __init__(
        self, tool: Served, run: Run[Any], loop: asyncio.AbstractEventLoop, *, progress: bool
    ) -> None:
        import asyncio

        self.tool = tool
        self.run = run
        self.news: asyncio.Queue[Progress | Question | None] = asyncio.Queue()
        self.asked: dict[str, Question] = {}
        self.began = monotonic()
        #: released when the call is over
        self.locks: list[asyncio.Lock | asyncio.Semaphore] = []
        self._loop = loop
        self._told = 0.0
        if progress:
            run.root.attach(self)
        run.when_done(lambda: self.tell(None))

    def tell(self, item: Progress | Question | None) -> None:
        """Add something to the news, from whatever thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody reads it
            self._loop.call_soon_threadsafe(self.news.put_nowait, item)

    def push(self, event: Event) -> None:
        """Tell how far the run is, where an event brings it on. Called under the root's lock."""
        if event.scope.run_id != self.run.id or event.type not in _WORDS:
            return
        words, data = _WORDS[event.type], event.data
        total = None
        if self.tool.kind == "network":
            tasks = self.run.state.tasks.values()
            total = float(len(tasks))
            done = sum(_SHARES.get(task.status, 1.0) for task in tasks)
            message = f"{data.get('task')}: {data.get('status') or words}"
        else:
            done = self._told + 1
            message = f"{words} {data['tool']}" if "tool" in data else words
        if done > self._told:  # a client may insist that each is more than the last
            self._told = done
            self.tell(Progress(done, total, message))

    def push_delta(
        self, scope: Scope, call_id: str, attempt: int, kind: str, offset: int, text: str
    ) -> None:
        """Pieces of text are not told: the answer comes whole."""

    def end(self, reason: str) -> None:
        """Stop the run if it goes on: nobody waits for it any more."""
        if not self.run.done:
            self.run.cancel(reason)


#: how much of a task is done, by its status; all where it is none of these
_SHARES = {"pending": 0.0, "running": 0.5, "waiting": 0.5}
#: events that bring a run on, in words
_WORDS: dict[str, str] = {
    "task.started": "started",
    "task.completed": "completed",
    "task.restored": "restored",
    "task.failed": "failed",
    "task.settled": "settled",
    "model_call.started": "asks the model",
    "tool_call.started": "calls",
}


class Calls:
    """The calls of one served address, and the channel by which their questions go out.

    Parameters
    ----------
    tag : str
        What the log finds their runs by.
    most : int
        Calls at the same time; more wait.
    """

    def __init__(self, tag: str, most: int) -> None:
        self.tag = tag
        self._most = most
        self._seats: asyncio.Semaphore | None = None
        #: by the id of their run
        self.active: dict[str, Call] = {}
        self._held: OrderedDict[str, tuple[Call, asyncio.TimerHandle]] = OrderedDict()
        self._conversations: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    async def begin(self, tool: Served, arguments: Mapping[str, Any], *, progress: bool) -> Call:
        """Wait for a turn, check what a call gives, and start its run.

        Calls in one conversation take turns; others do not wait for each other.

        Raises
        ------
        RobotLabError
            When that cannot be meant; nothing was started.
        """
        import asyncio

        if self._seats is None:
            self._seats = asyncio.Semaphore(self._most)
        kept = self._conversation(tool, arguments)
        locks: list[asyncio.Lock | asyncio.Semaphore] = []
        try:
            turns: list[asyncio.Lock | asyncio.Semaphore] = [self._seats]
            if kept is not None:
                turns.insert(0, kept.lock)
            for lock in turns:
                await lock.acquire()
                locks.append(lock)
            spoken = None if kept is None else kept.conversation
            run = tool.prepare(arguments, self.tag, spoken)
        except BaseException:
            for lock in locks:
                lock.release()
            raise
        call = Call(tool, run, asyncio.get_running_loop(), progress=progress)
        call.locks = locks
        self.active[run.id] = call
        # Before all others: the person in this notebook is not the one who asks.
        remove_channel(self)
        add_channel(self)
        run.begin()
        return call

    def over(self, call: Call) -> None:
        """A call has its answer, or nobody waits for it any more."""
        if self.active.pop(call.run.id, None) is None:
            return
        call.run.root.detach(call)
        for lock in call.locks:
            lock.release()
        if not self.active:
            remove_channel(self)

    def _conversation(self, tool: Served, arguments: Mapping[str, Any]) -> _Kept | None:
        import asyncio

        name = arguments.get("conversation")
        if not tool.conversations or not isinstance(name, str):
            return None
        key = (tool.name, name)
        found = self._conversations.pop(key, None) or _Kept(Conversation(), asyncio.Lock())
        self._conversations[key] = found
        while len(self._conversations) > CONVERSATIONS:
            self._conversations.popitem(last=False)
        return found

    # -- questions that need another request ------------------------------------------------

    def hold(self, call: Call, seconds: float) -> str:
        """Keep a call whose client has to come back with answers; gives what it is found by."""
        import asyncio

        state = _random.token_urlsafe(24)
        timer = asyncio.get_running_loop().call_later(seconds, self._drop, state)
        self._held[state] = (call, timer)
        while len(self._held) > HELD:
            self._drop(next(iter(self._held)))
        return state

    def held(self, state: str) -> Call | None:
        """The call that was kept under a state, which is used up by that."""
        call, timer = self._held.pop(state, (None, None))
        if timer is not None:
            timer.cancel()
        return call

    def _drop(self, state: str) -> None:
        call = self.held(state)
        if call is not None:
            call.end("the client did not come back with an answer")
            self.over(call)

    # -- a channel to a person ---------------------------------------------------------------

    def _call_of(self, run_id: str) -> Call | None:
        for call in tuple(self.active.values()):
            if call.run.owns(run_id):
                return call
        return None

    def offers(self, question: Question) -> bool:
        """Whether a question belongs to a run that was called from outside."""
        return self._call_of(question.run_id) is not None

    def ask(self, question: Question) -> None:
        """Have the client asked."""
        call = self._call_of(question.run_id)
        if call is not None:
            call.tell(question)


class _Kept(NamedTuple):
    """A conversation, and the lock that its calls take turns by."""

    conversation: Conversation
    lock: asyncio.Lock


def form_of(question: Question) -> tuple[str, dict[str, Any]]:
    """A question as the protocol asks it: a message, and the schema of a flat form.

    Parameters
    ----------
    question : Question

    Examples
    --------
    >>> from robotlab_nb.runtime.questions import Question
    >>> text, schema = form_of(Question("q", "question", "Which size?", "r", choices=("S", "L")))
    >>> text, schema["properties"]["answer"]["enum"]
    ('Which size?', ['S', 'L'])
    """
    import json

    if question.kind == "approval":
        given = json.dumps(question.arguments or {}, ensure_ascii=False, default=str)
        shown = given if len(given) <= SHOWN else f"{given[:SHOWN]}…"
        text = f"{question.text}\n{question.tool}({shown})\n{question.why}"
        return text, {
            "type": "object",
            "properties": {
                "approve": {"type": "boolean", "title": "Approve this call"},
                "reason": {"type": "string", "title": "Why not"},
            },
            "required": ["approve"],
        }
    field: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.choices:
        field["enum"] = list(question.choices)
    if question.default is not None:
        field["default"] = question.default
    schema = {"type": "object", "properties": {"answer": field}}
    return question.text, schema if question.default is not None else {
        **schema, "required": ["answer"],
    }  # fmt: skip


def settle(call: Call, question: Question, action: str, content: Any) -> None:
    """Take in how a client answered a question. What is no answer is a refusal.

    Parameters
    ----------
    call : Call
    question : Question
    action : str
        ``accept``, ``decline`` or ``cancel``.
    content : object
        The form's fields.
    """
    fields = content if isinstance(content, dict) else {}
    if action != "accept":
        _refuse(call, question, "declined" if action == "decline" else "closed the question")
        return
    if question.kind == "approval":
        reason = str(fields.get("reason") or "").strip()
        value: Any = fields.get("approve") is True or (f"no, {reason}" if reason else False)
    else:
        value = fields.get("answer", question.default)
    try:
        answer(call.run, {question.id: value}, by="client")
    except InputError as error:
        _refuse(call, question, f"gave no answer that fits: {error.message}")


def cannot_ask(call: Call, question: Question) -> None:
    """Settle a question of a client that can ask nobody: by its default, else as refused."""
    if question.default is not None:
        _settle(call, question, Answer(question.default, "client", "default"))
    else:
        _refuse(call, question, "it can ask nobody")


def _refuse(call: Call, question: Question, why: str) -> None:
    _settle(call, question, Answer(why, "client", "denied"))


def _settle(call: Call, question: Question, found: Answer) -> None:
    desk = desk_of(call.run)
    opened = desk.opens.get(question.id)
    if opened is not None:
        desk.settle(opened, found)
