"""Which agent skills fit a message: by the words they share, or by an embedding model.

A model that fails costs the run its skills, not the run. Nothing is emitted here: what was found,
and what went wrong, is handed back.
"""

from __future__ import annotations

import functools
import re
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from ..core.errors import ConfigurationError, RobotLabError, describe_error
from ..core.scoring import TfIdf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .agent_skills import AgentSkill

__all__ = ["EMBEDDING_THRESHOLD", "MOST_USED", "WORD_THRESHOLD", "Match", "Matched", "match"]

#: the lowest score at which a skill is used, by how it was scored
WORD_THRESHOLD = 0.12
EMBEDDING_THRESHOLD = 0.70
#: skills used for one message: instructions are long, and the best ones come first
MOST_USED = 3
#: characters of a message that are looked at
_LOOKED_AT = 20_000
#: vectors of descriptions that are remembered
_MOST_VECTORS = 5_000

#: what every description says of itself, and what therefore tells nothing
_COMMONPLACE = re.compile(r"\b(?:use[drs]?|users|using|skills?)\b", re.IGNORECASE)

_vectors: dict[tuple[Any, str], list[float]] = {}


class Match(NamedTuple):
    """A skill, how well it fits, and whether it is used."""

    skill: AgentSkill
    score: float
    used: bool


class Matched(NamedTuple):
    """What came of matching.

    Attributes
    ----------
    scorer : str
        ``"tfidf"``, or the embedding model's name.
    threshold : float
        The lowest score at which a skill was used.
    matches : tuple of Match
        All candidates, best first; equally good ones in their order.
    error : dict or None
        Why the embedding model gave nothing, as JSON; then no skill is used.
    """

    scorer: str
    threshold: float
    matches: tuple[Match, ...] = ()
    error: dict[str, Any] | None = None

    @property
    def used(self) -> tuple[AgentSkill, ...]:
        """The skills to use, best first."""
        return tuple(match.skill for match in self.matches if match.used)


async def match(
    skills: Sequence[AgentSkill],
    message_text: str,
    *,
    threshold: float | None = None,
    embedding_model: Any = None,
    settings: Mapping[str, Any] | None = None,
) -> Matched:
    """Score skills against a message, by their names and descriptions.

    Parameters
    ----------
    skills : sequence of AgentSkill
    message_text : str
        Its first 20,000 characters count.
    threshold : float, optional
        The lowest score at which a skill is used, at most 3 of them. By default 0.12 for words
        and 0.70 for an embedding model.
    embedding_model : str, Model or callable, optional
        As for :func:`robotlab_nb.models.embeddings.embed`. None compares words (TF-IDF), which
        takes no model, and knows no synonyms.
    settings : mapping, optional
        ``attempts``, ``model_timeout`` … for an embedding model.

    Returns
    -------
    Matched
    """
    text = message_text[:_LOOKED_AT]
    error: dict[str, Any] | None = None
    scores: Sequence[float] = ()
    if embedding_model is None:
        scorer, usual = "tfidf", WORD_THRESHOLD
        if skills and text.strip():
            from ..runtime.threads import in_thread

            texts = tuple(_COMMONPLACE.sub(" ", _about(skill)) for skill in skills)
            scores = await in_thread(lambda: _index(texts).scores(text))
    else:
        from ..models.embeddings import name_of

        scorer, usual = name_of(embedding_model), EMBEDDING_THRESHOLD
        if skills and text.strip():
            try:
                scores = await _by_model(embedding_model, skills, text, settings)
            except RobotLabError as failure:
                error = describe_error(failure)
                warnings.warn(
                    f"no agent skill is used: {scorer} could not compare them: {failure}",
                    stacklevel=2,
                )
    low = usual if threshold is None else threshold
    return Matched(scorer, low, _ranked(skills, scores, low), error)


def _ranked(skills: Sequence[AgentSkill], scores: Sequence[float], low: float) -> tuple[Match, ...]:
    pairs = sorted(zip(skills, scores, strict=False), key=lambda pair: -pair[1])
    return tuple(
        Match(skill, score, score >= low and place < MOST_USED)
        for place, (skill, score) in enumerate(pairs)
    )


def _about(skill: AgentSkill) -> str:
    return f"{skill.name.replace('-', ' ')}. {skill.description}"


@functools.lru_cache(maxsize=32)
def _index(texts: tuple[str, ...]) -> TfIdf:
    return TfIdf(texts)


async def _by_model(
    model: Any, skills: Sequence[AgentSkill], text: str, settings: Mapping[str, Any] | None
) -> list[float]:
    from ..models.embeddings import cosine, embed

    texts = [_about(skill) for skill in skills]
    try:
        missing = list(dict.fromkeys(t for t in texts if (model, t) not in _vectors))
    except TypeError:
        raise ConfigurationError(
            f"embedding_model={model!r:.80} cannot be told from others",
            hint="Pass a function, or a model's name.",
        ) from None
    if len(_vectors) + len(missing) > _MOST_VECTORS:
        _vectors.clear()
        missing = list(dict.fromkeys(texts))
    asked, *made = await embed(model, [text, *missing], settings=settings)
    known = {t: _vectors[model, t] for t in texts if (model, t) in _vectors}
    known.update(zip(missing, made, strict=True))
    for about, vector in zip(missing, made, strict=True):
        _vectors[model, about] = vector
    if any(len(known[t]) != len(asked) for t in texts):  # the model has changed behind its name
        for about in texts:
            _vectors.pop((model, about), None)
        raise ConfigurationError(f"the vectors of {model!r:.80} have several lengths")
    return [cosine(asked, known[t]) for t in texts]
