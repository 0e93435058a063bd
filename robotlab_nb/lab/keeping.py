"""An experiment as JSON, and back: for files and pickles."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..core.errors import InputError
from .cell import Cell
from .estimate import Estimate
from .state import ExperimentState

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["read", "written"]

#: Version of the shape.
VERSION = 1
_FIELDS = ("name", "run_id", "root_id", "started_at", "started_s", "latest_s", "ended_s",
           "status", "reason", "error", "prompts", "inputs", "rows", "evaluators")  # fmt: skip


def written(state: ExperimentState) -> dict[str, Any]:
    """The whole state as JSON."""
    return {
        "experiment": VERSION,
        **{name: getattr(state, name) for name in _FIELDS},
        "axes": {name: list(labels) for name, labels in state.axes.items()},
        "estimate": None if state.estimate is None else state.estimate.to_dict(),
        "cells": [_cell(cell) for cell in state.cells],
    }


def _cell(cell: Cell) -> dict[str, Any]:
    told = {
        each.name: getattr(cell, each.name)
        for each in fields(cell)
        if each.name not in ("columns", "expected", "scores")
    }
    return {**told, "scores": [score.to_dict() for score in cell.scores]}


def read(data: Mapping[str, Any]) -> ExperimentState:
    """The state that was written.

    Raises
    ------
    InputError
        When it is no experiment, or one of a newer version.
    """
    version = data.get("experiment")
    if version != VERSION:
        what = "no experiment" if version is None else f"an experiment of version {version!r:.20}"
        raise InputError(f"this is {what}", hint="Read what to_dict() of this version wrote.")
    state = ExperimentState()
    for name in _FIELDS:
        setattr(state, name, data.get(name))
    state.axes = {name: tuple(labels) for name, labels in data["axes"].items()}
    told = data.get("estimate")
    state.estimate = None if told is None else Estimate.from_dict(told)
    state.cells = [_cell_of(each, state.rows) for each in data["cells"]]
    return state


def _cell_of(data: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> Cell:
    from .evaluating import Score

    row = rows.get(data["input"]) or {}
    scores = tuple([Score.from_dict(each) for each in data.get("scores") or ()])
    known = {each.name for each in fields(Cell)}
    told = {name: value for name, value in data.items() if name in known}
    return Cell(**{**told, "scores": scores, "columns": row, "expected": row.get("expected")})
