"""A person as a member of a network: asked like any question, and the answer is the task's text.

While the person thinks, other tasks go on; when nothing else does, the network waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.errors import AwaitTimeout, ConfigurationError, NoAnswerChannel
from ..core.readings import Pictured

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..runtime.run import Run

__all__ = ["Human"]

#: stands for "as the run says"
_AS_THE_RUN = -1.0


class Human(Pictured):
    """A person who does tasks of a network.

    The person is asked the task's prompt: by ``answers=`` (the task's name is a key), a widget,
    the prompt of the thread that waits, else the network waits for ``result.answer(…)``.

    Parameters
    ----------
    name : str
        Who it is.
    description : str, optional
        What the person is for.
    choices : iterable of str, optional
        The possible answers; free text when left out.
    default : str, optional
        What an empty answer means, and what is taken when nobody answers in time.
    timeout : float or None, optional
        Seconds that a question waits; None for no limit, ``ask_timeout`` when left out.

    Raises
    ------
    ConfigurationError

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> net = rl.create_network("letter")
    >>> draft = net.task("draft", lambda message: f"Dear {message}")
    >>> check = net.task("check", rl.Human("editor", choices=["send", "drop"]),
    ...                  depends_on=["draft"])
    >>> waiting = net.run("Ada")
    >>> waiting.status, waiting.pending[0].text
    ('waiting', 'Dear Ada')
    >>> waiting.answer("send").text
    'send'
    """

    __slots__ = ("__weakref__", "choices", "default", "description", "name", "timeout")

    def __init__(
        self,
        name: str = "human",
        *,
        description: str | None = None,
        choices: Iterable[str] = (),
        default: str | None = None,
        timeout: float | None = _AS_THE_RUN,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise ConfigurationError(f"a person's name is a text, not {name!r}")
        if isinstance(choices, str):
            raise ConfigurationError(
                f"human {name!r}: choices={choices!r} is not a list of texts",
                hint="Write choices=[…].",
            )
        self.name = name
        self.description = description
        self.choices = tuple(map(str, choices))
        self.default = default
        self.timeout = timeout
        if default is not None and self.choices and default not in self.choices:
            raise ConfigurationError(
                f"human {name!r}: the default {default!r} is none of the choices"
            )

    async def reply(self, run: Run[Any], task: str, text: str) -> str:
        """Ask the person, and wait for what they say.

        Parameters
        ----------
        run : Run
            The network's run.
        task : str
            Which of its tasks.
        text : str
            What is asked.

        Raises
        ------
        AwaitTimeout
            When nobody answered in time and there is no default.
        NoAnswerChannel
            When whoever called from outside would not answer.
        """
        from ..runtime.asking import Question, ask, new_id

        seconds = run.ask_timeout if self.timeout == _AS_THE_RUN else self.timeout
        question = Question(
            new_id(), "question", text, run.id, robot=self.name, choices=self.choices,
            default=self.default, timeout_s=seconds, task=task,
        )  # fmt: skip
        answer = await ask(run, question, run.answers)
        if answer.status == "timeout":
            raise AwaitTimeout(
                f"task {task!r}: {self.name} did not answer within {seconds:g} s",
                hint="Raise timeout= of the Human, or give it a default=.",
            )
        if answer.status == "denied":
            raise NoAnswerChannel(
                f"task {task!r}: no answer of {self.name}: {answer.value}",
                hint="Call it with a client that can ask a person, or give a default=.",
            )
        return str(answer.value)

    def __repr__(self) -> str:
        choices = f", choices={list(self.choices)}" if self.choices else ""
        return f"Human({self.name!r}{choices})"
