"""A robot's past: its conversation and what it has learned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from ..core.messages import Message, Transcript
from .conversation import as_messages, repair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from ..bus.mailboxes import Mailbox
    from ..memory.reactive import Memory
    from ..prompts.composing import Composition
    from .conversation import Conversation
    from .history_search import Hit
    from .in_force import InForce
    from .learnings import Learnings

__all__ = ["Remembering"]


class Remembering:
    """What a robot remembers, and how it is read, replaced, shortened and searched."""

    __slots__ = ("_learnings", "_mailbox", "_memory", "_own")

    #: the conversation of no session
    _own: Conversation
    _memory: Any
    _learnings: Learnings | None
    #: the robot's place on a bus, and what it has sent
    _mailbox: Mailbox | None

    if TYPE_CHECKING:
        _system: Message | None
        _template: Any
        _skills: tuple[Any, ...]

        name: str

        def _in_force(self) -> InForce: ...

        def _say_first(self, system: Message | None) -> None: ...

        def build_context(self) -> dict[str, Any]:
            """The values for templates and tools that the robot was built with."""
            ...

        def look(self) -> tuple[InForce, Composition | None]:
            """What is in force now, and the templates that are part of it."""
            ...

    @property
    def _conversation(self) -> Conversation:
        """The conversation of the session that the robot is in."""
        session_id = self._in_force().effective.values_["session_id"]
        if session_id is None:
            return self._own
        from .sessions import conversation_of

        return conversation_of(self, session_id)

    @property
    def messages(self) -> Transcript:
        """The conversation so far, system message first."""
        kept = self._conversation.messages
        system = self._system_message()
        return Transcript((system, *kept) if system is not None else kept)

    def _system_message(self) -> Message | None:
        """What the model would be told first, as far as that is known before a run."""
        values = self._in_force().effective.values_
        if self._template is None and not self._skills and not self.learns(values):
            return self._system
        from .prompting import prompt_of

        composition = self.look()[1]
        return prompt_of(self, composition, self.build_context(), values, lenient=True).message()

    def clear_messages(self, *, keep_system: bool = True) -> Self:
        """Forget the conversation.

        Parameters
        ----------
        keep_system : bool, optional
            False forgets system prompt, template and skills too.

        Returns
        -------
        Robot
            This robot.
        """
        self._conversation.replace(())
        if not keep_system:
            self._say_first(None)
        return self

    def replace_messages(self, messages: Sequence[Any]) -> Self:
        """Put another conversation in place (a saved one, say).

        Parameters
        ----------
        messages : sequence
            Messages, dicts (ours, robot_lab's, or ``{"role", "content"}``) or strings (a
            person's). A leading system message becomes the robot's system prompt, and stands
            alone: template and skills are taken away, unless it is what they say already. Tool
            calls without a result get one that says so; results without a call are dropped.

        Returns
        -------
        Robot
            This robot.

        Raises
        ------
        InputError
            When something is not a message; nothing is changed then.
        """
        found = as_messages(messages)
        system = found.pop(0) if found and found[0].role == "system" else None
        if any(m.role == "system" for m in found):
            raise InputError(
                f"robot {self.name!r}: a system message stands inside the conversation",
                hint="It can only be the first message.",
            )
        mended, _ = repair(found)
        if system is not None and system != self._system_message():
            self._say_first(system)
        self._conversation.replace(mended)
        return self

    @property
    def memory(self) -> Memory:
        """What the robot shares with its tools and keeps between runs."""
        from ..memory.reactive import Memory

        found = self._memory
        if not isinstance(found, Memory):
            made = Memory(name=self.name)
            for key, value in (found or {}).items():
                made.set(key, value)
            found = self._memory = made
        return found

    def reset_memory(self) -> Self:
        """Empty the robot's memory; the conversation stays.

        Returns
        -------
        Robot
            This robot.
        """
        self.memory.reset()
        return self

    def compress_history(self, *, keep: float = 0.6, drop: float = 0.0, **settings: Any) -> int:
        """Compress old turns of the conversation now, as ``auto_compact`` does by itself.

        Parameters
        ----------
        keep, drop : float, optional
            Likeness (0 to 1) to the latest turns from which an older one stays. What is less like
            them goes, summed up where there is a ``summarizer``; below ``drop`` even then not.
        **settings
            ``recent_turns``, ``summarizer`` and other settings, for this time.

        Returns
        -------
        int
            How many messages were dropped or summed up.

        Raises
        ------
        ConfigurationError
            When it is called on the event loop that does the work.
        """
        from .compacting import compress_now

        return compress_now(self, keep, drop, settings)

    def search_history(self, query: str, *, limit: int = 5) -> list[Hit]:
        """Find what was said in the conversation.

        Words are compared by their stems; with an ``embedding_model`` set, meanings are.

        Parameters
        ----------
        query : str
        limit : int, optional
            Most hits.

        Returns
        -------
        list of Hit
            ``text, role, score, index``, best first; ``index`` counts in :attr:`messages`.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bot = rl.build(model=rl.SimulatedModel(["The tower is 330 metres high."]))
        >>> _ = bot.run("How high is the Eiffel tower in Paris?")
        >>> [hit.role for hit in bot.search_history("height of the tower in metres")]
        ['assistant', 'user']
        """
        from .history_search import asearch, search

        values = self._in_force().effective.values_
        model = values["embedding_model"]
        if model is None:
            return search(self.messages, query, limit=limit)
        from ..runtime.threads import aside

        return aside(asearch(self.messages, query, model=model, limit=limit, settings=values))

    def learn(self, text: str) -> bool:
        """Note an observation; it stands in the system message from then on.

        What is blank, or contained in a known one, is not noted; what contains a known one
        replaces it.

        Returns
        -------
        bool
            Whether it was noted.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bot = rl.build("guide")
        >>> bot.learn("The user prefers short answers."), bot.learn("short answers")
        (True, False)
        """
        from .learning import learn

        return learn(self, text)

    @property
    def learnings(self) -> tuple[str, ...]:
        """What the robot has learned, in order."""
        return tuple(self._learned().texts)

    def learns(self, settings: Mapping[str, Any]) -> bool:
        """Whether there may be learnings that the model is to be told."""
        return bool(self._learnings) or settings["learnings"] is not None

    def _learned(self) -> Learnings:
        if self._learnings is None:
            from .learnings import Learnings

            self._learnings = Learnings(self._in_force().effective.values_["learnings"])
        return self._learnings

    def _remember_like(self, other: Any) -> None:
        """Start from another robot's conversation and learnings."""
        self._conversation.replace(other._conversation.messages)
        if other._memory is not None:
            self._memory = other.memory.clone()
        if other._learnings is not None:
            self._learnings = other._learnings.copy()
