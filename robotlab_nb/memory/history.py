"""The part of a memory that keeps what runs gave: their results, and messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .storing import Storing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["History", "exported"]


class History(Storing):
    """Part of a memory: results and messages, the last 1,000 of each."""

    def append_result(self, result: Any) -> None:
        """Keep the result of a run. A backend elsewhere keeps what ``export()`` says of it."""
        self._push("results", (result,))

    def set_results(self, results: Iterable[Any]) -> None:
        """Put other results in place of those that are kept."""
        self._replace("results", results)

    @property
    def results(self) -> list[Any]:
        """A copy of the list of results, oldest first."""
        return self._items("results")[1]

    def results_from(self, index: int) -> list[Any]:
        """The results from the index-th on, counted from 0, those that are not kept included.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory.set_results(["one", "two", "three"])
        >>> memory.results_from(1)
        ['two', 'three']
        """
        before, found = self._items("results")
        return found[max(0, index - before) :]

    def append_message(self, message: Any) -> None:
        """Keep a message."""
        self._push("messages", (message,))

    def set_messages(self, messages: Iterable[Any]) -> None:
        """Put other messages in place of those that are kept."""
        self._replace("messages", messages)

    @property
    def messages(self) -> list[Any]:
        """A copy of the list of messages, oldest first."""
        return self._items("messages")[1]

    def format_history(self, formatter: Callable[[Any], str] | None = None) -> str:
        """The results as text, for a prompt.

        Parameters
        ----------
        formatter : callable, optional
            Makes the text of one result; by default ``name: answer``.

        Returns
        -------
        str
            One paragraph for each result.

        Examples
        --------
        >>> import robotlab_nb as rl
        >>> memory = rl.create_memory()
        >>> memory.append_result(rl.build("poet", model=rl.SimulatedModel(["roses"])).run("a poem"))
        >>> memory.format_history()
        'poet: roses'
        """
        return "\n\n".join(map(formatter or _told, self.results))

    def _push(self, which: str, values: Iterable[Any]) -> None:
        given = [self._storable(value) for value in values]
        with self._order:
            self.backend.push(which, given)

    def _replace(self, which: str, values: Iterable[Any]) -> None:
        given = [self._storable(value) for value in values]
        with self._order:
            self.backend.replace(which, given)

    def _items(self, which: str) -> tuple[int, list[Any]]:
        with self._order:
            return self.backend.items(which)

    def _storable(self, value: Any) -> Any:
        return exported(value) if self.backend.shared else value


def exported(value: Any) -> Any:
    """A result or a message as plain data, where it has a way to say it."""
    for way in ("export", "to_dict"):
        told = getattr(value, way, None)
        if callable(told):
            return told()
    return value


def _told(result: Any) -> str:
    if isinstance(result, dict) and "robot_name" in result:
        said = [m.get("content") for m in result.get("output", ()) if m.get("type") == "text"]
        return f"{result['robot_name']}: {said[-1] if said else ''}"
    name = getattr(result, "robot_name", None)
    return str(result) if name is None else f"{name}: {result}"
