"""Evaluators that look at the letters of an answer: words in it, patterns, the right answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ..core.errors import ConfigurationError, InputError
from ..core.keys import task_fingerprint
from .evaluating import MOST_NAME, Evaluator, Score, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .evaluating import Judged

__all__ = ["contains", "equals", "lacks", "matches"]


class TextCheck(Evaluator):
    """An evaluator of an answer's text that is made of data, not of code.

    Parameters
    ----------
    name : str
    said : mapping of str to JSON
        Everything that decides what it finds.
    find : callable
        Takes what is judged and its text; gives whether it passed, and why.
    """

    kind = "check"

    def __init__(
        self,
        name: str,
        said: Mapping[str, Any],
        find: Callable[[Judged, str], tuple[bool, str | None]],
    ) -> None:
        super().__init__(name)
        self._said = said
        self._find = find

    @property
    def fingerprint(self) -> Mapping[str, str]:
        """The digest of what it was made of."""
        return task_fingerprint({"evaluator": self._said})

    def told(self) -> Iterable[tuple[str, Any]]:
        """What it is, for people: names and values."""
        for name, value in self._said.items():
            shown = ", ".join(map(repr, value)) if isinstance(value, list) else value
            if shown not in (None, False) and name != "flags":
                yield name.replace("_", " "), "yes" if shown is True else shown

    async def look(self, judged: Judged) -> Score:
        """Look at the answer's text."""
        passed, reason = self._find(judged, text_of(judged.output))
        return Score(passed=passed, reason=reason)


def contains(
    *texts: str, any_of: bool = False, ignore_case: bool = False, name: str | None = None
) -> Evaluator:
    """An evaluator: the answer must contain some text.

    Parameters
    ----------
    *texts : str
        All of them must be there.
    any_of : bool, optional
        One of them is enough.
    ignore_case : bool, optional
    name : str, optional
        What its scores are called.

    Returns
    -------
    Evaluator

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.contains("Paris", "Seine")("Which city?", "Paris, of course.")
    <score contains Paris, Seine: failed, it lacks 'Seine'>
    """
    wanted = _texts("contains", texts)
    fold = str.casefold if ignore_case else str

    def find(judged: Judged, text: str) -> tuple[bool, str | None]:
        folded = fold(text)
        lacking = [each for each in wanted if fold(each) not in folded]
        passed = len(lacking) < len(wanted) if any_of else not lacking
        return passed, None if passed else f"it lacks {_listed(lacking)}"

    said = {"contains": wanted, "any_of": any_of, "ignore_case": ignore_case}
    return TextCheck(name or _named("contains", wanted), said, find)


def lacks(*texts: str, ignore_case: bool = False, name: str | None = None) -> Evaluator:
    """An evaluator: the answer must contain none of some texts.

    Parameters
    ----------
    *texts : str
    ignore_case : bool, optional
    name : str, optional
        What its scores are called.

    Returns
    -------
    Evaluator

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.lacks("as an AI", ignore_case=True)("Who are you?", "As an AI model, I …")
    <score lacks as an AI: failed, it contains 'as an AI'>
    """
    unwanted = _texts("lacks", texts)
    fold = str.casefold if ignore_case else str

    def find(judged: Judged, text: str) -> tuple[bool, str | None]:
        folded = fold(text)
        found = [each for each in unwanted if fold(each) in folded]
        return not found, f"it contains {_listed(found)}" if found else None

    said = {"lacks": unwanted, "ignore_case": ignore_case}
    return TextCheck(name or _named("lacks", unwanted), said, find)


def matches(
    pattern: str | re.Pattern[str],
    *,
    whole: bool = False,
    ignore_case: bool = False,
    name: str | None = None,
) -> Evaluator:
    r"""An evaluator: a regular expression must be found in the answer.

    Parameters
    ----------
    pattern : str or re.Pattern
        A compiled one keeps its flags. A pattern that backtracks without end holds up everything:
        Python cannot stop it.
    whole : bool, optional
        Whether it must fit all of the answer, blanks around it left out.
    ignore_case : bool, optional
    name : str, optional
        What its scores are called.

    Returns
    -------
    Evaluator

    Raises
    ------
    ConfigurationError
        When it is no regular expression.

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.matches(r"\d+ °C")("How warm?", "It is 21 °C.")
    <score matches \d+ °C: passed, '21 °C'>
    """
    try:
        compiled = re.compile(pattern) if isinstance(pattern, str) else pattern
        if ignore_case:
            compiled = re.compile(compiled.pattern, compiled.flags | re.IGNORECASE)
    except re.error as error:
        raise ConfigurationError(f"{pattern!r:.80} is no regular expression: {error}") from None
    if not isinstance(getattr(compiled, "pattern", None), str):
        raise ConfigurationError(f"{pattern!r:.80} is no regular expression for text")

    def find(judged: Judged, text: str) -> tuple[bool, str | None]:
        found = compiled.fullmatch(text.strip()) if whole else compiled.search(text)
        return found is not None, repr(_cut(found[0])) if found else "nothing in it fits"

    said = {"matches": compiled.pattern, "flags": int(compiled.flags), "whole": whole}
    return TextCheck(name or _named("matches", [compiled.pattern]), said, find)


def equals(expected: Any = None, *, ignore_case: bool = False, name: str = "equals") -> Evaluator:
    """An evaluator: the answer must be the expected one.

    Parameters
    ----------
    expected : object, optional
        What it must be; left out, what the input's row says in its column ``expected``. Texts are
        compared without the blanks around them.
    ignore_case : bool, optional
    name : str, optional
        What its scores are called.

    Returns
    -------
    Evaluator

    Examples
    --------
    >>> import robotlab_nb as rl
    >>> rl.equals(ignore_case=True)("Capital of France?", " paris ", "Paris")
    <score equals: passed>
    """

    def find(judged: Judged, text: str) -> tuple[bool, str | None]:
        wanted = judged.expected if expected is None else expected
        if wanted is None:
            raise InputError(
                "there is nothing that the answer should equal",
                hint="Give the input's row a column 'expected', or write rl.equals('…').",
            )
        told = text_of(wanted).strip()
        if ignore_case:
            passed = text.strip().casefold() == told.casefold()
        else:
            passed = text.strip() == told
        return passed, None if passed else f"expected {_cut(told)!r}, not {_cut(text.strip())!r}"

    said = {"equals": None if expected is None else text_of(expected), "ignore_case": ignore_case}
    return TextCheck(name, said, find)


def _texts(what: str, texts: tuple[str, ...]) -> list[str]:
    for each in texts:
        if not isinstance(each, str) or not each:
            raise ConfigurationError(f"{what}() takes texts, not {each!r:.60}")
    if not texts:
        raise ConfigurationError(f"{what}() was given no text", hint=f'Write rl.{what}("…").')
    return list(texts)


def _named(what: str, texts: list[str]) -> str:
    return _cut(" ".join(f"{what} {', '.join(texts)}".split()), MOST_NAME)


def _listed(texts: list[str]) -> str:
    return ", ".join(repr(_cut(each)) for each in texts[:5])


def _cut(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
