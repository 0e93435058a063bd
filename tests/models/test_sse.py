"""Events from bytes, however they are cut."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotlab_nb.models.sse import EventReader

Event = tuple[str | None, str]


def read(*blocks: bytes) -> list[Event]:
    reader = EventReader()
    events: list[Event] = []
    for block in blocks:
        events += reader.feed(block)
    return events + reader.finish()


def by_the_book(text: str) -> list[Event]:
    """The rules of the format, written down once more and slowly."""
    events: list[Event] = []
    data: list[str] = []
    name = None
    lines = re.split("\r\n|\n|\r", text.removeprefix("\ufeff"))
    for line in [*lines, "", ""]:
        if line == "":
            if data:
                events.append((name, "\n".join(data)))
            data, name = [], None
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                data.append(value)
            elif field == "event":
                name = value or None
    return events


LINE = st.sampled_from(
    [
        "data: one",
        "data: ünï🌍",
        "data:",
        "data",
        "data:  two spaces",
        " data: not ours",
        ": comment",
        ":",
        "event: error",
        "event:",
        "id: 7",
        "retry: 10",
        "other: x",
        "",
        "",
        "",
    ]
)
STREAM = st.lists(st.tuples(LINE, st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])), max_size=25)


@given(STREAM, st.booleans(), st.lists(st.integers(0, 400), max_size=12))
@example([("data: a", "\r"), ("", "\r"), ("data: b", "\n")], False, [8, 9])
@example([("data: a", "\r\n"), ("", "\r\n")], True, [1, 2, 3, 11])
@settings(max_examples=400, deadline=None)
def test_every_split_gives_the_events_of_the_format(
    lines: list[tuple[str, str]], bom: bool, cuts: list[int]
) -> None:
    text = "".join(line + end for line, end in lines)
    text = ("\ufeff" if bom else "") + text
    raw = text.encode()
    places = sorted({min(cut, len(raw)) for cut in cuts})
    blocks = [raw[a:b] for a, b in zip([0, *places], [*places, len(raw)], strict=True)]
    assert read(*blocks) == by_the_book(text)


@given(st.lists(st.text(max_size=8).filter(lambda s: not set(s) & {"\r", "\n"}), max_size=12))
def test_byte_by_byte_is_the_same_as_in_one_piece(texts: list[str]) -> None:
    raw = b"".join(f"data: {text}\n\n".encode() for text in texts)
    expected = [(None, text) for text in texts]
    assert read(raw) == expected
    assert read(*(bytes([byte]) for byte in raw)) == expected


def test_a_character_cut_in_two_is_read_whole() -> None:
    raw = "data: 🌍\n\n".encode()
    assert read(raw[:8], raw[8:]) == [(None, "🌍")]


def test_bytes_that_are_not_utf8_do_not_stop_the_stream() -> None:
    assert read(b"data: a\xff\n\ndata: b\n\n") == [(None, "a\ufffd"), (None, "b")]


def test_several_data_lines_are_one_event() -> None:
    assert read(b"data: a\ndata:\ndata: b\n\n") == [(None, "a\n\nb")]


def test_an_event_is_given_out_as_soon_as_it_is_complete() -> None:
    reader = EventReader()
    assert reader.feed(b"data: a\r\n\r") == [(None, "a")]
    assert reader.feed(b"\ndata: b\n") == []
    assert reader.feed(b"\n") == [(None, "b")]
    assert reader.finish() == []


def test_a_line_end_cut_between_its_two_bytes_is_one_line_end() -> None:
    assert read(b"event: error\r", b"\ndata: a\r", b"\ndata: b\r\n\r\n") == [("error", "a\nb")]


def test_an_event_that_began_in_one_block_goes_on_in_the_next() -> None:
    assert read(b"data: a\n", b"data: b\n\n") == [(None, "a\nb")]
    assert read(b"event: error\n", b"data: b\n\n") == [("error", "b")]


def test_the_last_event_needs_no_blank_line() -> None:
    assert read(b"data: a\n\ndata: b") == [(None, "a"), (None, "b")]
    assert read(b"event: error\ndata: c\n") == [("error", "c")]


def test_a_name_belongs_to_one_event_only() -> None:
    assert read(b"event: error\ndata: a\n\ndata: b\n\n") == [("error", "a"), (None, "b")]


def test_an_error_field_is_an_event() -> None:
    raw = b'data: {}\n\nerror: {"detail": "no memory"}\n'
    assert read(raw) == [(None, "{}"), ("error", '{"detail": "no memory"}')]


@pytest.mark.parametrize("size", [1 << 20, 16_384, 1_000])
def test_plain_events_are_read_by_the_block(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fast way is taken: hardly a line is looked at on its own."""
    seen = 0
    slow = EventReader._lines

    def counting(self: EventReader, block: bytes) -> list[Event]:
        nonlocal seen
        seen += len(block)
        return slow(self, block)

    monkeypatch.setattr(EventReader, "_lines", counting)
    raw = b"".join(b"data: %b\n\n" % json.dumps({"n": n}).encode() for n in range(2000))
    events = read(*(raw[i : i + size] for i in range(0, len(raw), size)))
    assert [json.loads(data)["n"] for _, data in events] == list(range(2000))
    assert seen < len(raw) / 20


def test_a_long_event_in_small_pieces_is_not_copied_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader = EventReader()
    reader.feed(b"data: ")
    for _ in range(50):
        assert reader.feed(b"x" * 1000) == []
    assert len(reader._tail) == 51  # kept as they came, joined once
    assert reader.feed(b"\n\n") == [(None, "x" * 50_000)]
