"""The pictures of what judges answers: scores, evaluators, the difference of two variants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .amounts import dollars
from .escape import clip, one_line
from .parts import Bit, Fields, Fold, Head, Para, Picture, Pre, Table, badge, bold, code, dots, part

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..lab.differences import Difference
    from ..lab.evaluating import Evaluator, Score
    from ..lab.judging import Judge
    from .parts import Block, Line

__all__ = ["difference", "evaluator", "judge", "score", "scores"]

_NAME, _REASON = 80, 600
_ROWS = 50


def score(thing: Score) -> Picture:
    """The picture of a score: what it says on one line, and why.

    Parameters
    ----------
    thing : Score
    """

    def blocks() -> Iterable[Block]:
        yield Para(dots(*_verdict(thing), bold(one_line(thing.name, _NAME)), *_figures(thing)))
        why = _why(thing)
        if why:
            yield Para((clip(why, _REASON),))
        yield from _from(thing)

    return Picture(part("score", blocks))


def scores(things: Sequence[Score]) -> Picture:
    """The picture of several scores: a row for each.

    Parameters
    ----------
    things : sequence of Score
    """

    def blocks() -> Iterable[Block]:
        rows = tuple(
            (
                (one_line(each.name, _NAME),), _verdict(each), dots(*_figures(each)),
                (one_line(_why(each), 160),),
            )
            for each in things[:_ROWS]
        )  # fmt: skip
        yield Table(("score", "verdict", "value", "why"), rows)
        if len(things) > _ROWS:
            yield Para((f"… {len(things) - _ROWS:,} more",), quiet=True)

    return Picture(part("scores", blocks))


def _verdict(thing: Score) -> Line:
    if thing.error is not None:
        return (Bit("no score", "state", icon="⊘", hue="kf"),)
    if thing.passed is None:
        return ()
    if thing.passed:
        return (Bit("passed", "mark", icon="✓"),)
    return (Bit("failed", "state", icon="✕", hue="kf"),)


def _figures(thing: Score) -> Iterable[str | Bit]:
    if thing.value is not None:
        yield f"{thing.value:.4g}"
    if thing.label:
        yield one_line(thing.label, _NAME)
    if thing.simulated:
        yield badge("simulated")


def _why(thing: Score) -> str:
    error = thing.error
    if error is None:
        return thing.reason or ""
    told = (error.get("type"), error.get("message"), error.get("hint"))
    return " · ".join(str(each) for each in told if each)


def _from(thing: Score) -> Iterable[Block]:
    run = ("judged in run ", code(thing.run_id[:6])) if thing.run_id else None
    price = dollars(thing.cost_usd) if not thing.simulated else None
    if run or price:
        yield Para(dots(run, price), quiet=True)


def evaluator(thing: Evaluator) -> Picture:
    """The picture of an evaluator: what it is called, and what decides its scores.

    Parameters
    ----------
    thing : Evaluator
    """

    def blocks() -> Iterable[Block]:
        yield Head((one_line(thing.name, _NAME),), thing.kind)
        rows = [(one_line(name, 40), (clip(str(value), 300),)) for name, value in thing.told()]
        if rows:
            yield Fields(tuple(rows))

    return Picture(part("evaluator", blocks), framed=True)


def judge(thing: Judge) -> Picture:
    """The picture of a judge: who judges, on what scale, by which rubric.

    Parameters
    ----------
    thing : Judge
    """

    def blocks() -> Iterable[Block]:
        made_up = badge("simulated") if thing.simulated else None
        names = ", ".join(one_line(name, _NAME) for name in thing.model_names)
        yield Head((one_line(thing.name, _NAME),), "judge", dots(names, made_up))
        rows = [(one_line(name, 40), (clip(str(value), 300),)) for name, value in thing.told()]
        yield Fields((("rubric", (clip(thing.rubric, _REASON),)), *rows))
        told = clip(thing.instructions, 4_000)
        yield Fold(
            ("What it is told",), (Pre(told),), note=f"{len(thing.instructions):,} characters"
        )

    return Picture(part("judge", blocks), framed=True)


def difference(thing: Difference) -> Picture:
    """The picture of a difference: both variants, the gap with its interval, and what it tells.

    Parameters
    ----------
    thing : Difference
    """

    def blocks() -> Iterable[Block]:
        a, b = (_side(side) for side in (thing.a, thing.b))
        made_up = badge("simulated") if thing.simulated else None
        about = dots(one_line(thing.score, _NAME), made_up)
        yield Head((a, " against ", b), "difference", about)
        if thing.gap is None:
            yield Para(("nothing to compare",))
            return
        yield Para(dots(bold(f"{thing.gap:+.2f}"), _ends(thing), _says(thing, a, b)))
        yield Table(
            ("variant", "mean" if thing.low is None or not _counted(thing) else "passed"),
            (((a,), (_figure(thing.rate_a, thing),)), ((b,), (_figure(thing.rate_b, thing),))),
            frozenset({1}),
        )
        pairs = f"{thing.judged:,} pairs" if thing.paired else f"{thing.judged:,} answers, no pairs"
        only = None
        if _counted(thing):
            only = f"{thing.only_a:,} passed only with {a}, {thing.only_b:,} only with {b}"
        left = f"{thing.left_out:,} answers left out" if thing.left_out else None
        yield Para(dots(pairs, f"{thing.inputs:,} inputs", only, left), quiet=True)

    return Picture(part("difference", blocks), framed=True)


def _side(side: Any) -> str:
    return one_line(" × ".join(str(value) for value in side.values()), _NAME)


def _counted(thing: Difference) -> bool:
    return bool(thing.both or thing.only_a or thing.only_b or thing.neither)


def _ends(thing: Difference) -> str | None:
    if thing.low is None or thing.high is None:
        return None
    return f"between {thing.low:+.2f} and {thing.high:+.2f}"


def _says(thing: Difference, a: str, b: str) -> str:
    told = {"a": f"{a} is better", "b": f"{b} is better"}
    return told.get(thing.told, "no difference can be told")


def _figure(rate: float | None, thing: Difference) -> str:
    if rate is None:
        return ""
    return f"{rate:.0%}" if _counted(thing) or not thing.paired else f"{rate:.3g}"
