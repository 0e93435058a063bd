"""Vectors of texts on a tape: asked for once, text by text, and played ever after.

A model gives the same vector for the same text, so there is no n-th answer here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..core.keys import request_key, text_hash
from ..core.tape_errors import TapeError, TapeMiss
from .taping import tape_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from .protocol import Model
    from .taping import Tape

__all__ = ["vectors_on_tape"]

#: digits of a number on a tape; more would be noise, and make it long
_DIGITS = 7


async def vectors_on_tape(
    setting: Any,
    model: Model,
    texts: Sequence[str],
    ask: Callable[[list[str]], Awaitable[list[list[float]]]],
) -> list[list[float]]:
    """A vector of each text: the tape's, or the model's, which is recorded.

    Parameters
    ----------
    setting : Tape, str or path
    model : Model
    texts : sequence of str
    ask : callable
        Asks the model for the vectors of those that are missing.

    Raises
    ------
    TapeMiss
        When the tape is only played and a text is not on it.
    """
    tape = tape_of(setting)
    keys = [
        request_key([text_hash(text) or ""], "vectors", {}, model.name, model.endpoint)
        for text in texts
    ]
    found: dict[str, list[float]] = {}
    if tape.mode != "record":
        for key in keys:
            line = tape.file.found("vectors", key, 0)
            if line is not None:
                found[key] = _sound(line.get("vector"), tape)
    missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
    if missing and tape.mode == "strict":
        text = next(iter(missing.values()))
        raise TapeMiss(
            f"the tape {tape.name} has no vector by {model.name} for {len(missing)} of "
            f"{len(texts)} texts; the first is {text[:60]!r}",
            hint='Record it: mode="auto" asks only for what is missing.',
        )
    if missing:
        made = await ask(list(missing.values()))
        short = [[float(f"{value:.{_DIGITS}g}") for value in vector] for vector in made]
        found |= dict(zip(missing, short, strict=True))
        tape.keep(
            [{"vectors": key, "nth": 0, "model": model.name, "text": text[:60],
              "vector": found[key]} for key, text in missing.items()]
        )  # fmt: skip
    return [found[key] for key in keys]


def _sound(vector: Any, tape: Tape) -> list[float]:
    """A vector of a tape, if it is one."""
    if isinstance(vector, list) and vector and all(type(v) in (int, float) for v in vector):
        return vector
    raise TapeError(f"a vector on the tape {tape.name} is none", hint="Record it again.")
