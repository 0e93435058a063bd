"""An evaluator that sees whether an answer is data of a shape: a pydantic model, a JSON Schema."""

from __future__ import annotations

from json import JSONDecodeError
from typing import TYPE_CHECKING, Any

from ..core.errors import AwaitTimeout
from ..core.keys import task_fingerprint
from ..core.strict_json import Unreadable, read
from ..robot.json_in_text import unfenced
from ..robot.output_types import reader_of
from ..tools.failing import failure
from ..tools.running import Late, Raised, run_sync
from .evaluating import Evaluator, Score, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .evaluating import Judged

__all__ = ["Fits"]

#: seconds that reading an answer may take: a model's validators are a person's own code
TIMEOUT_S = 60.0
MOST_REASON = 500


class Fits(Evaluator):
    """Whether the whole of an answer is JSON that fits.

    Parameters
    ----------
    output : type or dict
        A pydantic model, another type that pydantic reads, or a JSON Schema.
    name : str, optional
        The type's name, the schema's title, when left out.

    Raises
    ------
    ConfigurationError
        When it is no type that an answer can have.

    Examples
    --------
    >>> Fits(list[int])("Three numbers", "[1, 2, 3]")
    <score fits list[int]: passed>
    >>> Fits({"type": "object", "required": ["city"]}, "city")("Where?", "{}")
    <score city: failed, 'city' is a required property>
    """

    kind = "shape"

    def __init__(self, output: Any, name: str | None = None) -> None:
        self._reader = reader_of(output)
        self._output = output
        super().__init__(name or f"fits {self._reader.written}")

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """Digests of the schema, and of a class's source: its validators count."""
        sources = [self._output] if isinstance(self._output, type) else []
        return task_fingerprint({"evaluator": ["fits", self._reader.schema]}, sources)

    def told(self) -> Iterable[tuple[str, Any]]:
        """What it is, for people: names and values."""
        yield "schema", text_of(self._reader.schema)

    async def look(self, judged: Judged) -> Any:
        """Read the answer, in a thread."""
        found = await run_sync(self._read, {"output": judged.output}, TIMEOUT_S)
        if isinstance(found, Late):
            raise AwaitTimeout(f"{self.name!r} took longer than {TIMEOUT_S:g} s to read an answer")
        if isinstance(found, Raised):
            raise failure(found.error, self.name).exception
        return found.value

    def _read(self, output: Any) -> Score:
        data = output
        if isinstance(output, str):
            try:
                data = read(unfenced(output))
            except Unreadable as fault:
                return Score(passed=False, reason=f"it cannot be read: {fault}")
            except JSONDecodeError as fault:
                return Score(passed=False, reason=f"it is no JSON: {fault}")
        elif callable(getattr(output, "model_dump", None)):
            data = output.model_dump(mode="json")
        _, _, faults = self._reader.read(data)
        if not faults:
            return Score(passed=True)
        told = [f"{f['path']}: {f['message']}" if f["path"] else f["message"] for f in faults]
        return Score(passed=False, reason="; ".join(told)[:MOST_REASON])
