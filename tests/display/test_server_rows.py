"""What a run's pictures say of tool servers: still, live, and line by line."""

from __future__ import annotations

import pytest

from robotlab_nb.core.event_data_servers import SERVER_TYPES
from robotlab_nb.core.events import Event, Scope
from robotlab_nb.core.state import RunState
from robotlab_nb.display.narration import Narration
from robotlab_nb.display.pictures import html, text
from robotlab_nb.display.server_rows import progress_words, reports, servers
from robotlab_nb.widgets.live_doc import LiveDoc
from tests.display.samples import Story, a_result
from tests.display.used_servers_samples import used_servers


def used():
    return used_servers("fares")


def test_the_fold_says_which_servers_were_used_and_which_failed():
    shown = text(a_result(used()))
    assert "Tool servers · 2 ready, 1 failed" in shown
    assert "fares-mcp fares" in shown
    assert "tool server gone failed: did not answer: fares" in shown
    assert "fatal: fares" in shown
    assert "read of disk: paused" in shown
    assert '+ "description": "fares"' in shown
    assert "chose fares, gone, disk for the message" in shown


def test_what_a_server_reported_stands_in_the_call():
    drawn = html(a_result(used()))
    call = drawn[drawn.index("ƒ") :]
    assert "reported" in call
    assert "1 of 4 · fares" in call


def test_a_picture_that_a_tool_gave_is_shown_beside_its_result():
    assert "data:image/png" in html(a_result(used()))


def test_progress_stands_on_the_calls_line_while_it_runs_and_gives_way_to_the_result():
    story = Story("bot").asks("x").tool("c1", "scan", "{}", 0.1)
    doc = LiveDoc(story.scope)
    doc.take(story.events)
    (key,) = [k for k, r in doc.records.items() if r.get("kind") == "tool"]
    for n in (1.0, 2.0):
        story.add("mcp.progress", 0.2, server="s", tool="scan", tool_call_id="c1", progress=n,
                  total=4.0, text="row")  # fmt: skip
    doc.take(story.events[-2:])
    assert doc.records[key]["out"] == "2 of 4 · row"
    story.tool_ends("c1", "all rows", 0.3)
    doc.take(story.events[-1:])
    assert doc.records[key]["out"] == "all rows"


def test_a_live_view_and_a_narrator_tell_of_servers():
    state_events = Story("bot").asks("x")
    state_events.add("mcp.connecting", 0.1, server="disk", transport="stdio", command="disk-mcp",
                     origin=None, first=True)  # fmt: skip
    state_events.add("mcp.failed", 0.2, server="disk", error={"message": "no such program"})
    doc = LiveDoc(state_events.scope)
    doc.take(state_events.events)
    notes = [r for r in doc.records.values() if r.get("kind") == "note"]
    assert "starts tool server disk: disk-mcp" in notes[0]["text"]
    assert notes[1]["err"]
    told = Narration()
    lines = [told.line(event) for event in state_events.events]
    assert "[bot] starts tool server disk: disk-mcp" in "\n".join(filter(None, lines))
    assert "no such program" in lines[-1]


def test_progress_without_a_total_or_a_text():
    assert progress_words({"progress": 3.0}) == "3"
    assert progress_words({}) == ""


ODD = ["\x1b[2J", "a\nb", "", None, 3.0, float("nan"), True, [], ["x", 3], {}, [{"tool": None}]]


@pytest.mark.parametrize("type_", sorted(SERVER_TYPES))
def test_an_event_unlike_any_that_was_declared_is_told_all_the_same(type_):
    scope = Scope("r", "r", None, 0, "robot", ("b",), "b")
    fields = list(SERVER_TYPES[type_].__annotations__)
    for shift in range(len(ODD)):
        data = {name: ODD[(at + shift) % len(ODD)] for at, name in enumerate(fields)}
        event = Event(type_, scope, 1, 0.0, data)
        assert "\n" not in (Narration().line(event) or "")
        state = RunState(scope)
        state.notes.append(event)
        assert isinstance(list(servers(state)), list)
        assert isinstance(reports(state), dict)
