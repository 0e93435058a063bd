"""A row of a check-up, and the ways to make one."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..core.secrets import redact

__all__ = ["Row", "clean", "fine", "notice", "wrong"]


class Row(NamedTuple):
    """What one check found.

    Attributes
    ----------
    state : {"ok", "look", "wrong"}
    topic : str
    found : str
    remedy : str
        What to do, code or a command between backticks; empty where nothing is to be done.
    """

    state: Literal["ok", "look", "wrong"]
    topic: str
    found: str
    remedy: str = ""


def fine(topic: str, found: str) -> Row:
    """A row that needs no look."""
    return Row("ok", topic, found)


def notice(topic: str, found: str, remedy: str = "") -> Row:
    """A row to look at: it may be meant."""
    return Row("look", topic, found, remedy)


def wrong(topic: str, found: str, remedy: str = "") -> Row:
    """A row that will hurt."""
    return Row("wrong", topic, found, remedy)


def clean(row: Row) -> Row:
    """A row without registered secrets.

    Examples
    --------
    >>> clean(fine("dot", "found"))
    Row(state='ok', topic='dot', found='found', remedy='')
    """
    return row._replace(topic=redact(row.topic), found=redact(row.found), remedy=redact(row.remedy))
