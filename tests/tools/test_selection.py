"""What ``tools=`` means at every level."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from robotlab_nb.core.errors import ConfigurationError, ToolNotFoundError
from robotlab_nb.tools.decorator import Tool, ToolManifest, as_tool
from robotlab_nb.tools.selection import cap, draws_from_above, select


def get_time() -> str:
    return ""


def get_date() -> str:
    return ""


def send_mail(to: str) -> str:
    return to


def other() -> str:
    return ""


class Clock(Tool):
    def execute(self) -> str:
        return ""


@pytest.fixture
def above() -> ToolManifest:
    return select([get_time, get_date, send_mail], ToolManifest())


def test_left_out_takes_all_from_above(above: ToolManifest) -> None:
    assert select(None, above) is above


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ([], ()),
        ((), ()),
        ([...], ("get_time", "get_date", "send_mail")),
        (["send_mail", "get_time"], ("send_mail", "get_time")),
        (["get_*"], ("get_time", "get_date")),
        (["get_[d]ate"], ("get_date",)),
        ([other], ("other",)),
        ([..., other], ("get_time", "get_date", "send_mail", "other")),
        ([get_time, "get_*"], ("get_time", "get_date")),
        ([get_date, ...], ("get_date", "get_time", "send_mail")),
    ],
)
def test_a_list_is_the_exact_set(value: Any, names: tuple[str, ...], above: ToolManifest) -> None:
    assert select(value, above).names == names


def test_a_class_stands_for_its_object_above() -> None:
    above = select([Clock], ToolManifest())
    assert select([Clock], above)["clock"] is above["clock"]
    assert len(select([..., Clock], above)) == 1
    assert select([Clock], ToolManifest()).names == ("clock",)


@pytest.mark.parametrize("value", ["none", "inherit", "None", ["none"], ["inherit"]])
def test_words_of_old_name_what_to_write(value: Any, above: ToolManifest) -> None:
    with pytest.raises(ConfigurationError, match=r"\[\] means none.*\.\.\. into the list"):
        select(value, above)


@pytest.mark.parametrize("value", ["get_time", get_time, ..., 3, {get_time}, {"get_time": 1}])
def test_what_is_no_list_is_refused(value: Any, above: ToolManifest) -> None:
    with pytest.raises(ConfigurationError, match=r"\["):
        select(value, above)


def test_unknown_names_list_the_known(above: ToolManifest) -> None:
    with pytest.raises(ToolNotFoundError, match=r"Did you mean 'get_time'.*'send_mail'"):
        select(["get_tim"], above)
    with pytest.raises(ToolNotFoundError, match="There are none"):
        select(["get_time"], ToolManifest())


def test_a_glob_that_matches_nothing_warns_and_selects_none(above: ToolManifest) -> None:
    with pytest.warns(UserWarning, match=r"'put_\*'.*'get_time'"):
        assert select(["put_*"], above).names == ()


def test_a_new_tool_of_a_known_name_is_a_clash(above: ToolManifest) -> None:
    clash = Tool.create("get_time", "", None, lambda: 1)
    with pytest.raises(ConfigurationError, match="two tools are called 'get_time'"):
        select([..., clash], above)
    assert select([clash], above)["get_time"] is clash


@pytest.mark.parametrize(
    ("value", "draws"),
    [
        (None, True), ([...], True), (["a"], True), (["a_*"], True), ([Clock], True),
        ([], False), ([get_time], False), ([as_tool(other)], False), (ToolManifest(), False),
    ],
)  # fmt: skip
def test_whether_the_level_above_need_be_asked(value: Any, draws: bool) -> None:
    assert draws_from_above(value) is draws


def test_a_cap_keeps_the_first_and_says_what_it_drops(above: ToolManifest) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cap(above, None) is above
        assert cap(above, 3) is above
    with pytest.warns(UserWarning, match="get_date, send_mail"):
        assert cap(above, 1).names == ("get_time",)


def test_a_cap_may_have_a_strategy(above: ToolManifest) -> None:
    with pytest.warns(UserWarning, match="not offered: get_time"):
        kept = cap(above, 2, lambda tools, most: list(tools)[::-1][:most])
    assert kept.names == ("get_date", "send_mail")


def test_a_cap_of_none_is_no_way_to_say_none(above: ToolManifest) -> None:
    for most in (0, -1):
        with pytest.raises(ConfigurationError, match=r"tools=\[\] means no tools"):
            cap(above, most)
