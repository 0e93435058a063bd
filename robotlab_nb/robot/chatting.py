"""Talking with a robot in a notebook: the one way to it; the box itself is drawn elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.keywords import strict_keywords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .chat import Chat

__all__ = ["Chatting"]


class Chatting:
    """What makes a robot one to chat with."""

    __slots__ = ()

    @strict_keywords
    def chat(
        self,
        *,
        starters: Sequence[str] = (),
        placeholder: str | None = None,
        context: Mapping[str, Any] | None = None,
        height: int | None = None,
    ) -> Chat:
        """Open a chat box, as a cell's last line. The cell ends at once.

        A turn in the chat is a turn of the robot: what was said before shows in it, and what is
        said in it a later ``run()`` knows. Enter sends, Shift-Enter starts a line, Esc stops the
        answer. A message that is sent while the robot answers waits for its turn.

        A robot has one open chat: opening another ends the first, and goes on with it.

        Parameters
        ----------
        starters : sequence of str, optional
            First messages to choose from, as buttons while nothing has been said.
        placeholder : str, optional
            Shown in the empty line.
        context : dict, optional
            Values for the template's parameters and for tools, in every turn.
        height : int, optional
            Pixels that the transcript takes at most; 420 when left out.

        Returns
        -------
        Chat
            It has ``messages``, ``result``, ``runs``, ``frames``, ``send()``, ``stop()`` and
            ``close()``.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> bot = rl.build("guide", model=rl.SimulatedModel(["Take the ferry."]))
        >>> chat = bot.chat(starters=["How do I get to the island?"])
        >>> chat.send("How do I get to the island?")
        >>> chat.runs[-1].result().text
        'Take the ferry.'
        >>> chat.close()
        """
        from .chats import open_chat

        robot: Any = self
        return open_chat(
            robot,
            starters=starters,
            placeholder=placeholder,
            context=context,
            height=height,
        )
