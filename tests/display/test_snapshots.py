"""A handful of canonical pictures, whole: a change of any of them should be seen and meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.messages import Message
from robotlab_nb.display.pictures import html, markdown, text
from tests.display import rich_samples as rich
from tests.display.samples import (
    a_result,
    a_robot,
    a_run,
    a_tool,
    an_error,
    completed,
    failed,
    in_state,
    nested,
)
from tests.display.trees import body_of

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

PICTURES: dict[str, Any] = {
    "robot": a_robot(),
    "tool": a_tool(),
    "completed": a_result(completed()),
    "failed": a_result(failed()),
    "interrupted": a_result(in_state("interrupted")),
    "running": a_run(in_state("running")),
    "nested": a_result(nested()),
    "error": an_error(),
    "template": rich.a_template(),
    "budget": rich.a_budget(),
    "hooks": rich.some_hooks(),
    "approval": rich.an_approval(),
    "waiting": a_result(rich.waiting(both=True)),
    "approved": a_result(rich.approved()),
    "parsed": a_result(rich.parsed()),
    "fallback": a_result(rich.fallen_back()),
    "guarded": a_result(rich.guarded()),
    "output_error": rich.an_output_error(),
    "photo": rich.photo_message(),
    "message": Message("user", "What is 2 < 3 worth, $5 or $10?"),
}


@pytest.mark.parametrize("name", PICTURES)
def test_html(name: str, snapshot: SnapshotAssertion) -> None:
    # A line for each element, so that a difference is short.
    assert body_of(html(PICTURES[name])).replace("><", ">\n<") == snapshot


@pytest.mark.parametrize("name", PICTURES)
def test_text(name: str, snapshot: SnapshotAssertion) -> None:
    assert text(PICTURES[name]) == snapshot


@pytest.mark.parametrize(
    "name", ["robot", "completed", "failed", "waiting", "parsed", "guarded", "budget"]
)
def test_markdown(name: str, snapshot: SnapshotAssertion) -> None:
    assert markdown(PICTURES[name]) == snapshot
