"""Tokens, money, seconds and counts in words, saying what is unknown, estimated or incomplete.

Figure and unit are joined by a no-break space. Knows :class:`~robotlab_nb.core.usage.Usage`
and numbers; never guesses one.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..core.usage import Usage

__all__ = ["cost", "count", "dollars", "moment", "seconds", "tokens"]

_GAP = "\u00a0"


def count(number: object, noun: str) -> str:
    r"""A number of things.

    Parameters
    ----------
    number : int
    noun : str
        In the singular; the plural adds an s.

    Examples
    --------
    >>> count(1, "call"), count(1234, "token"), count(None, "token")
    ('1\xa0call', '1,234\xa0tokens', 'tokens\xa0unknown')
    """
    if not isinstance(number, int):
        return f"{noun}s{_GAP}unknown"
    words = noun.replace(" ", _GAP)
    return f"{number:,}{_GAP}{words}{'' if number == 1 else 's'}"


def tokens(usage: Usage) -> str:
    r"""Input and output tokens together; an estimate says so.

    Examples
    --------
    >>> from robotlab_nb.core.usage import Usage
    >>> tokens(Usage(1200, 34, estimated=True)), tokens(Usage())
    ('1,234\xa0tokens (estimated)', 'tokens\xa0unknown')
    """
    words = count(usage.total_tokens, "token")
    return f"{words} (estimated)" if usage.estimated and usage.total_tokens is not None else words


def cost(usage: Usage) -> str:
    r"""What it cost: unknown is never 0, and a sum with a gap is a lower bound.

    Examples
    --------
    >>> from robotlab_nb.core.usage import Usage
    >>> cost(Usage(cost_usd=0.0021)), cost(Usage())
    ('$0.0021', 'cost\xa0unknown')
    >>> cost(Usage(cost_usd=0.0021, cost_complete=False))
    'at\xa0least\xa0$0.0021 (some prices unknown)'
    """
    figure = dollars(usage.cost_usd)
    if figure is None:
        return f"cost{_GAP}unknown"
    return figure if usage.cost_complete else f"at{_GAP}least{_GAP}{figure} (some prices unknown)"


def dollars(amount: object) -> str | None:
    r"""US dollars, to four places below one dollar and two above; None for what is no amount.

    Examples
    --------
    >>> dollars(0), dollars(0.00001), dollars(0.0123), dollars(1234.5), dollars(None)
    ('$0', 'under\xa0$0.0001', '$0.0123', '$1,234.50', None)
    """
    number = _finite(amount)
    if number is None:
        return None
    if number == 0:
        return "$0"
    if number < 0.0001:
        return f"under{_GAP}$0.0001"
    return f"${number:,.4f}" if number < 1 else f"${number:,.2f}"


def seconds(duration: object, *, limit: bool = False) -> str | None:
    r"""A length of time in the unit a person would use; None where it is not known.

    Parameters
    ----------
    duration : float
        Seconds.
    limit : bool, optional
        Whether it was set and not measured: then it has no zero after the point.

    Examples
    --------
    >>> seconds(0.142), seconds(2.41), seconds(134), seconds(3780)
    ('142\xa0ms', '2.4\xa0s', '2\xa0min\xa014\xa0s', '1\xa0h\xa003\xa0min')
    >>> seconds(60.0, limit=True), seconds(0.5, limit=True)
    ('60\xa0s', '0.5\xa0s')
    """
    number = _finite(duration)
    if number is None:
        return None
    if limit and number < 119.5:
        return f"{number:.3g}{_GAP}s"
    if number < 0.9995:
        return f"{number * 1000:.0f}{_GAP}ms" if number >= 0.001 else f"under{_GAP}1{_GAP}ms"
    if number < 59.95:
        return f"{number:.1f}{_GAP}s"
    minutes, rest = divmod(round(number), 60)
    if minutes < 60:
        return f"{minutes}{_GAP}min" + (f"{_GAP}{rest:02d}{_GAP}s" if rest or not limit else "")
    return f"{minutes // 60:,}{_GAP}h{_GAP}{minutes % 60:02d}{_GAP}min"


def moment(elapsed: object) -> str | None:
    r"""A point of time, in seconds since the start.

    Examples
    --------
    >>> moment(0.04), moment(71.26)
    ('0.0\xa0s', '71.3\xa0s')
    """
    number = _finite(elapsed)
    return None if number is None else f"{number:,.1f}{_GAP}s"


def _finite(value: object) -> float | None:
    """The value as a number from 0 up, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
