"""The stylesheet stays small, scoped and silent about the page around it."""

from __future__ import annotations

import re
from pathlib import Path

import robotlab_nb.display
from robotlab_nb.display.lanes import lane, lanes
from robotlab_nb.display.pictures import html
from robotlab_nb.display.states import STATES
from robotlab_nb.display.style import STYLE
from tests.display.samples import a_result, a_robot, a_run, a_tool, an_error, in_state

SHEET = STYLE.removeprefix("<style>").removesuffix("</style>")


def rules() -> list[tuple[str, str]]:
    return re.findall(r"([^{}]+)\{([^{}]*)\}", SHEET)


def selectors(group: str) -> list[str]:
    """Split at commas outside brackets."""
    pieces, depth = [""], 0
    for char in group:
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            pieces.append("")
        else:
            pieces[-1] += char
    return pieces


def test_it_is_at_most_four_kilobytes() -> None:
    assert len(STYLE.encode()) <= 4096


def test_it_is_whole() -> None:
    assert "".join(f"{group}{{{body}}}" for group, body in rules()) == SHEET
    assert len(rules()) > 40


def test_every_selector_is_ours() -> None:
    for group, _ in rules():
        for selector in selectors(group):
            assert re.match(r"\.rlnb-[a-z0-9]", selector), selector


def test_it_asks_nothing_of_the_page() -> None:
    for word in (
        ":root",
        "@media",
        "@import",
        "prefers-color-scheme",
        "url(",
        "!important",
        "#rlnb",
    ):
        assert word not in SHEET
    assert "<" not in SHEET


def test_every_class_that_is_written_is_styled_and_the_other_way_round() -> None:
    sources = Path(robotlab_nb.display.__file__).parent.glob("*.py")
    sheets = ("style.py", "page_style.py")
    code = "".join(p.read_text("utf-8") for p in sources if p.name not in sheets)
    styled = set(re.findall(r"\.(rlnb-[a-z0-9]+)", SHEET))
    hues = {f"rlnb-{state.hue}" for state in STATES.values() if state.hue}
    hues |= {f"rlnb-{lane(n).hue}" for n in range(8)} | {"rlnb-ki"}
    written = set(re.findall(r"rlnb-[a-z0-9]+", code)) | hues
    assert styled == written


def test_every_hue_of_a_picture_is_in_the_sheet() -> None:
    things = [a_robot(), a_tool(), an_error()]
    things += [make(in_state(status)) for status in STATES if status in
               ("running", "waiting", "completed", "failed", "interrupted", "abandoned")
               for make in (a_run, a_result)]  # fmt: skip
    for thing in things:
        for name in re.findall(r'class="([^"]*)"', html(thing)):
            for each in name.split():
                assert f".{each}" in SHEET, each


def test_sixty_four_robots_differ_and_the_first_eight_in_shape_and_hue() -> None:
    marks = [lane(n) for n in range(64)]
    assert len(set(marks)) == 64
    assert len({m.shape for m in marks[:8]}) == len({m.hue for m in marks[:8]}) == 8
    assert lanes(["b", "a", "b"]) == {"b": lane(0), "a": lane(1)}


def test_each_state_has_an_icon_of_its_own_and_a_word() -> None:
    assert len({state.icon for state in STATES.values()}) == len(STATES) == 11
    assert all(len(state.icon) == 1 and state.word for state in STATES.values())
    assert {name for name, state in STATES.items() if state.hue} == {"running", "waiting", "failed"}
