"""Conversations that a log has kept. A part of :class:`~robotlab_nb.runlog.opened.Log`.

A conversation is the runs of a robot that have the same ``session_id``. It is what its last turn
left; a turn that came second to another is kept as a run, and is no part of it.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError, near
from ..core.events import SCHEMA_VERSION, Event, Scope
from ..core.keywords import strict_keywords
from ..core.messages import Transcript
from ..core.readings import Pictured, ShownList
from .asking import Asking

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..core.messages import Message
    from ..frames.log_frames import DataFrame
    from .logged import LoggedRun
    from .opened import Log
    from .records import RunRow
    from .store import Store

__all__ = ["Conversations", "Conversing", "KeptConversation"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Conversing(Asking):
    """The part of a log that this module adds; it reads ``store``."""

    @strict_keywords
    def conversations(
        self, *, session_id: str | None = None, robot: str | None = None
    ) -> Conversations:
        """List the conversations, the latest first.

        A robot's turns belong to the conversation that its ``session_id`` names.

        Parameters
        ----------
        session_id, robot : str, optional
            Only those; ``*`` stands for any characters.

        Returns
        -------
        Conversations
            A list of them; ``frame`` is a table.

        Examples
        --------
        >>> import tempfile
        >>> import robotlab_nb as rl
        >>> folder = tempfile.TemporaryDirectory()
        >>> model = rl.SimulatedModel(["Hello Alice.", "Goodbye."])
        >>> with rl.options(log=f"{folder.name}/log.sqlite"):
        ...     _ = rl.build("guide", model=model, session_id="alice").run("I am Alice.")
        ...     _ = rl.build("guide", model=model, session_id="alice").run("Bye.")
        ...     [alice] = rl.log.conversations()
        ...     alice.turns, [message.text for message in alice.messages]
        (2, ['I am Alice.', 'Hello Alice.', 'Bye.', 'Goodbye.'])
        >>> folder.cleanup()
        """
        from .conditions import Where

        log: Log = self.fixed  # type: ignore[assignment]
        store = log.store
        if store is None:
            return Conversations()
        where = Where(session_id=session_id or "*", robot=robot, kind=["robot", "session"])
        runs: dict[tuple[str, str], list[RunRow]] = {}
        for row in store.select(where):
            if row.session_id is not None and row.robot is not None:
                runs.setdefault((row.session_id, row.robot), []).append(row)
        commits = _commits(store, runs.values())
        found = [KeptConversation(log, *key, rows, commits) for key, rows in runs.items()]
        kept = [each for each in found if each.run_id]
        return Conversations(sorted(kept, key=lambda each: each._last, reverse=True))

    def conversation(self, session_id: str, robot: str | None = None) -> KeptConversation:
        """A conversation.

        Parameters
        ----------
        session_id : str
        robot : str, optional
            Whose, where several robots have one of this name.

        Raises
        ------
        InputError
            When there is none, or there are several.
        """
        from .log_source import literal

        name = None if robot is None else literal(robot)
        found = self.conversations(session_id=literal(session_id), robot=name)
        if len(found) == 1:
            return found[0]
        if found:
            robots = ", ".join(repr(each.robot) for each in found[:8])
            raise InputError(
                f"{len(found)} robots have a conversation {session_id!r}",
                hint=f"Say whose it is, robot=…: {robots}.",
            )
        known = [each.session_id for each in self.conversations()]
        raise InputError(
            f"there is no conversation {session_id!r:.80} in this log",
            hint=near(session_id, known) or "log.conversations() lists them.",
        )


def _commits(store: Store, rows: Iterable[Sequence[RunRow]]) -> dict[str, int]:
    """Run -> when it committed, in microseconds since 1970."""
    from .sessions import COMMITTED

    began = {row.run_id: row.root_started_at for each in rows for row in each}
    roots = dict.fromkeys(row.root_id for each in rows for row in each)
    return {
        event.scope.run_id: began[event.scope.run_id] + round(event.elapsed * 1e6)
        for event in store.events(roots, types={COMMITTED})
        if event.scope.run_id in began
    }


class KeptConversation(Pictured):
    """A conversation that a log has kept. You get one from ``log.conversation("alice")``.

    Attributes
    ----------
    session_id, robot : str
    run_id : str
        The run that ended with it.
    turns : int
        How many turns it has had; those that compression took away are counted.
    tokens : int or None
    cost_usd : float or None
        None where a price is not known.
    """

    def __init__(
        self, log: Log, session_id: str, robot: str, rows: Sequence[RunRow],
        commits: dict[str, int],
    ) -> None:  # fmt: skip
        self._log = log
        self.session_id = session_id
        self.robot = robot
        mine = [row for row in rows if row.run_id in commits]
        last = max(mine, key=lambda row: commits[row.run_id], default=None)
        self.run_id = "" if last is None else last.run_id
        self._last = 0 if last is None else commits[last.run_id]
        self._first = min((row.started_at or 0 for row in mine), default=0)
        turns = [row for row in mine if row.kind == "robot"]
        self.turns = len(turns)
        used = [row.input_tokens for row in turns] + [row.output_tokens for row in turns]
        self.tokens = None if None in used else sum(each for each in used if each is not None)
        prices = [row.cost_usd for row in turns]
        self.cost_usd = None if None in prices else sum(each for each in prices if each)

    @property
    def name(self) -> str:
        """The session's id: what its page is called."""
        return self.session_id

    @property
    def first_at(self) -> datetime:
        """When it began (UTC)."""
        return _EPOCH + timedelta(microseconds=self._first)

    @property
    def last_at(self) -> datetime:
        """When its last turn ended (UTC)."""
        return _EPOCH + timedelta(microseconds=self._last)

    @property
    def run(self) -> LoggedRun:
        """The run that ended with it."""
        return self._found(self.run_id)

    def _found(self, run_id: str) -> LoggedRun:
        from .conditions import Where
        from .logged import LoggedRun

        store = self._log.store
        where = Where(run_id=run_id, kind=["robot", "session"])
        for row in () if store is None else store.select(where):
            return LoggedRun(self._log, row)
        raise InputError(
            f"run {run_id!r} is not in the log any more", hint="The conversation was deleted."
        )

    @property
    def messages(self) -> Transcript:
        """What was said, system message apart.

        Raises
        ------
        InputError
            When the log was told not to keep what is said.
        """
        from .sessions import said

        return Transcript(said(self.run))

    @property
    def forks(self) -> list[LoggedRun]:
        """The turns that came second to another one, and are no part of it; newest first."""
        from .conditions import Where
        from .log_source import literal

        store = self._log.store
        if store is None:
            return ShownList()
        where = Where(session_id=[literal(self.session_id)], robot=[literal(self.robot)])
        rows = {row.run_id: row for row in store.select(where)}
        roots = dict.fromkeys(row.root_id for row in rows.values())
        told = store.events(roots, types={"conversation.forked"})
        return ShownList(
            self._found(e.scope.run_id) for e in told if e.scope.run_id in rows
        )  # fmt: skip

    def fork(self, session_id: str) -> KeptConversation:
        """Begin another conversation from here: both go on by themselves.

        Parameters
        ----------
        session_id : str
            Its name, which no conversation of this robot has yet.

        Returns
        -------
        KeptConversation

        Raises
        ------
        InputError
            When there is one of this name.
        LogError
            When the log cannot be written.
        """
        from .records import Batch

        if not isinstance(session_id, str) or not session_id:
            raise InputError(f"a conversation cannot be called {session_id!r:.60}")
        log = self._log
        store = log._writable()
        if store is None:
            raise InputError("the log is gone", hint="It was deleted meanwhile.")
        if any(each.session_id == session_id for each in log.conversations(robot=self.robot)):
            raise InputError(
                f"robot {self.robot!r} has a conversation {session_id!r} already",
                hint="Choose another name, or delete that one first.",
            )
        store.write(Batch(_beginning(session_id, self.robot, self.run_id, self.messages)))
        return log.conversation(session_id, self.robot)

    def delete(self, *, confirm: bool = False) -> int:
        """Delete it for good: all its runs, each with the whole run that it belongs to.

        A robot that is in it just now keeps what it has in memory.

        Parameters
        ----------
        confirm : bool
            True: it is meant.

        Returns
        -------
        int
            How many root runs were deleted.
        """
        from .sessions import in_session

        if confirm is not True:
            raise ConfigurationError(
                f"the conversation {self.session_id!r} would be deleted for good, {self.turns} "
                "turns of it",
                hint="If that is meant: delete(confirm=True).",
            )
        store = self._log._writable()
        return 0 if store is None else store.purge(in_session(self.session_id, self.robot))

    def resume(self, robot: Any) -> Any:
        """Have a robot go on with it: its next turn is the next one here.

        A robot of the same name needs no more than ``session_id=``; this is for another one, and
        for a robot that keeps no log. What was said becomes its conversation.

        Parameters
        ----------
        robot : Robot

        Returns
        -------
        Robot
            The same robot.
        """
        messages = self.messages
        if robot.name == self.robot:
            robot.update(session_id=self.session_id)
        return robot.replace_messages(messages)

    def __repr__(self) -> str:
        return f"<conversation {self.session_id!r} with {self.robot!r}: {self.turns} turns>"


def _beginning(
    session_id: str, robot: str, run_id: str, messages: Iterable[Message]
) -> list[Event]:
    """The events by which a conversation begins with what was said in another one."""
    root = f"session-{os.urandom(6).hex()}"
    scope = Scope(root, root, None, 0, "session", (), robot)
    said = [message.to_dict() for message in messages]
    told: list[tuple[str, dict[str, Any]]] = [
        (
            "run.started",
            {
                "schema_version": SCHEMA_VERSION, "started_at": datetime.now(UTC).isoformat(),
                "name": robot, "session_id": session_id, "resumed_from": run_id,
            },
        ),
        ("conversation.loaded", {"messages": said}),
        ("conversation.committed", {"length": len(said)}),
        ("run.completed", {}),
    ]  # fmt: skip
    return [Event(kind, scope, n, 0.0, data) for n, (kind, data) in enumerate(told)]


class Conversations(ShownList[KeptConversation]):
    """Conversations of a log: a list, the latest first."""

    __slots__ = ()

    @property
    def frame(self) -> DataFrame:
        """One row for each: session_id, robot, turns, first_at, last_at, tokens, cost_usd."""
        from ..frames.conversation_table import conversation_table

        return conversation_table(self)
