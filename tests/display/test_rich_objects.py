"""Templates, skills, settings, budgets, hooks, questions, attachments: what their pictures say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from robotlab_nb.core.config import options
from robotlab_nb.core.media import MediaPart
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.display.raster import size_of
from robotlab_nb.prompts.templates import Template
from robotlab_nb.robot.history_search import Hits
from robotlab_nb.runtime.budgets import Budget
from tests.display import rich_samples as rich
from tests.display.test_pictures import check_text
from tests.display.trees import check_inert, flat, words_of

if TYPE_CHECKING:
    from pathlib import Path


def both(thing: Any) -> tuple[str, str]:
    """The words of the HTML and of the text that a notebook is given."""
    bundle = thing._repr_mimebundle_()
    assert "could not be drawn" not in bundle["text/plain"] + bundle["text/html"]
    assert check_text(thing) == bundle["text/plain"]
    return words_of(check_inert(bundle["text/html"])), flat(bundle["text/plain"])


def test_a_template_tells_what_it_takes_and_what_lacks() -> None:
    for shown in both(rich.a_template()):
        assert "Explains a topic to a class." in shown
        assert 'tone any "kind"' in shown
        assert '"easy" | "hard"' in shown
        assert "topic string required What to explain." in shown
        assert 'needs topic: template.render({"topic": …})' in shown
        assert "temperature 0.2" in shown
        assert "Explain {{ topic }} to a class" in shown
        assert "Rendered" not in shown


def test_a_template_that_needs_nothing_is_shown_rendered() -> None:
    for shown in both(rich.rendered_template()):
        assert "Be kind, always." in shown
    for shown in both(rich.open_template()):
        assert "cannot be rendered as it stands: template 'greet' (line 1): 'nane'" in shown
        assert "failed" not in shown


def test_drawing_a_template_runs_no_command(tmp_path: Path) -> None:
    made = tmp_path / "made"
    thing = Template(f"---\nshell: true\n---\n$(touch {made})", "run")
    with options(allow_shell=True):
        for shown in both(thing):
            assert "$(touch" in shown
    assert not made.exists()


def test_an_agent_skill_tells_its_contents_and_that_nothing_confines_it(tmp_path: Path) -> None:
    for shown in both(rich.a_skill(tmp_path)):
        assert "licence MIT" in shown
        assert "scripts count.py" in shown
        assert "files references/forms.md" in shown
        assert "Bash · Read · shown; nothing is approved by it" in shown
        assert "Its scripts run with your rights: nothing confines them." in shown
        assert "they need no network, at most 10 s; only a time limit is enforced" in shown
        assert "5, 7, 5" in shown
    (tmp_path / "haiku" / "scripts" / "count.py").unlink()
    assert "rights" not in text(rich.AgentSkill(tmp_path / "haiku"))


def test_a_catalog_lists_skills_and_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "SKILL.md").write_text("no head", "utf-8")
    found = rich.a_catalog(tmp_path)
    with pytest.warns(UserWarning, match="left out"):
        assert len(found.skills) == 1
    for shown in both(found):
        assert "1 agent skill" in shown
        assert "haiku Writes haiku." in shown
        assert "Left out · 1" in shown
        assert "broken" in shown


def test_settings_in_force_come_strongest_first_with_their_origin_and_no_key() -> None:
    for shown in both(rich.some_settings()):
        told = ("seed 7 run", "temperature 0.2 robot", "max_tokens 500 network", "attempts 5 opt")
        places = [shown.index(words) for words in told]
        assert places == sorted(places)
        assert "model_timeout 30.0 environment ROBOTLAB_MODEL_TIMEOUT" in shown
        assert "api_key (set)" in shown
        assert "canary" not in shown
        assert "6 set · " in shown
    drawn = html(rich.some_settings())
    assert '<span class="rlnb-q">attempts</span>' in drawn  # what holds everywhere steps back
    assert '<span class="rlnb-q">seed</span>' not in drawn


def test_no_key_or_token_is_shown_wherever_it_was_set() -> None:
    key = "sk-canary-0000000000"
    thing = rich.RunConfig(api_key=key, provider_options={"token": key, "n": 1})
    for shown in both(thing):
        assert "canary" not in shown
        assert 'provider_options {"token": "(set)", "n": 1}' in shown


def test_a_config_and_the_options_tell_what_was_set() -> None:
    for shown in both(rich.a_config()):
        assert "temperature 0.2 Sampling temperature." in shown
        assert 'stop ["END"]' in shown
    with options(seed=11):
        for shown in both(rich.some_options()):
            assert "seed 11 options" in shown
    for shown in both(rich.some_options()):
        assert "seed 11" not in shown
    assert "Most requests for one model call." in html(rich.some_options())


def test_a_budget_tells_used_reserved_and_left_in_figures_beside_its_bars() -> None:
    for shown in both(rich.a_budget()):
        assert "8,000 1,200 2,800 12,000" in shown
        assert "$0.0310 $0.0040 $0.4650 $0.5000" in shown
        assert "77%" in shown
        assert "used without a limit · 3 calls" in shown
        assert "spent" not in shown
    assert '<progress max="1" value="0.767"></progress>' in html(rich.a_budget())
    assert "▰▰▰▰▰▰▰▰▱▱ 77%" in text(rich.a_budget()).replace("\u00a0", " ")
    assert "| tokens | 77% | 8,000" in markdown(rich.a_budget()).replace("\u00a0", " ")
    for shown in both(rich.a_budget(spent=True)):
        assert "✕ spent" in shown
        assert "no tokens left: further calls are refused" in shown
    for shown in both(Budget()):
        assert "no limits: it only counts" in shown
    assert "100%" in text(Budget(calls=0))


def test_hooks_tell_who_acts_at_which_point() -> None:
    for shown in both(rich.some_hooks()):
        assert "Audit before_run in a thread 60 s" in shown
        assert "Audit after_tool_call async 60 s" in shown
    for shown in both(rich.Hooks()):
        assert "no handlers" in shown
    assert "handler · 2 points" in words_of(check_inert(html(rich.some_hooks().registrations[0])))


def test_hits_are_a_table_and_still_a_list() -> None:
    hits = rich.some_hits()
    for shown in both(hits):
        assert "0.82 assistant 3 The tower is 330 metres high" in shown
    assert hits == list(hits)
    assert repr(hits) == repr(list(hits))
    assert "0 messages found" in text(Hits())


def test_an_approval_shows_its_arguments_verbatim_and_how_to_answer() -> None:
    thing = rich.an_approval(arguments={"to": "a\u202eb", "x\ny": 1})
    for shown in both(thing):
        assert "? waiting for you · refunds asks to use a tool" in shown
        assert "waits 4 min 32 s, then denied" in shown
        assert "issue_refund" in shown
        assert r'to = "a\u202eb"' in shown
        assert r'"x\ny" = 1' in shown  # a name cannot look like two arguments
        assert "why it asks: it moves money" in shown
        assert "run.answer(True) approves, run.answer(False) denies" in shown


def test_a_question_shows_choices_default_and_how_to_answer() -> None:
    for shown in both(rich.a_question()):
        assert "Which account should receive the refund?" in shown
        assert 'choices: "Card ending 4242", "Bank account"' in shown
        assert 'default: "Card ending 4242"' in shown
        assert 'run.answer("Card ending 4242")' in shown
        assert "no time limit" in shown


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("answered", "✓ answered · refunds asked “Which account should receive the refund?” · “B"),
        ("approved", '✓ approved · refunds · issue_refund(order="A-1009", amount=19.9'),
        ("edited", "✓ approved with other arguments · refunds"),
        ("denied", "✕ denied · refunds · issue_refund("),
        ("default", "✓ default taken · refunds asked"),
        ("timeout", "✕ no answer in time · refunds asked"),
        ("interrupted", "■ not answered, the run was stopped"),
    ],
)
def test_a_settled_question_is_one_frozen_line(status: str, words: str) -> None:
    for shown in both(rich.a_settled(status)):
        assert shown.startswith(words)
        assert "· by " in shown
        assert shown.endswith("at 5.5 s")
        assert "Next cell" not in shown


def test_small_pictures_of_pixels_are_shown_and_nothing_else_is() -> None:
    drawn = {name: html(part) for name, part in rich.media().items()}
    assert [name for name, each in drawn.items() if "<img" in each] == ["png"]
    tree = check_inert(drawn["png"])
    assert [(i.get("width"), i.get("alt"), i.get("src")) for i in tree.iter("img")] == [
        ("60", "chart.png, 60 × 40 pixels", rich.data_url(rich.media()["png"]))
    ]
    for shown in both(rich.media()["pdf"]):
        assert shown == "attached: paper.pdf: application/pdf 18 kB"
    for shown in both(rich.media()["gone"]):
        assert shown == "attached: seen.png: image/png 12 kB, bytes not kept"
    assert "city,temp" in words_of(check_inert(drawn["csv"]))
    assert "<img" in html(rich.photo_message())
    assert "chart.png, 60 × 40 pixels" in text(rich.photo_message())


def test_a_wide_picture_is_shown_smaller() -> None:
    wide = MediaPart.of(rich.png(640, 10), "image/png")
    assert [i.get("width") for i in check_inert(html(wide)).iter("img")] == ["320"]


@pytest.mark.parametrize(
    ("data", "mime", "size"),
    [
        (b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc0\x00\x11\x08\x00\x20\x00\x10", "image/jpeg", (16, 32)),
        (b"RIFF....WEBPVP8X" + b"\0" * 8 + b"\x09\0\0\x04\0\0", "image/webp", (10, 5)),
        (b"RIFF....WEBPVP8L" + b"\0" * 4 + b"\x2f\x09\x00\x01\x00", "image/webp", (10, 5)),
        (b"RIFF....WEBPVP8 " + b"\0" * 10 + b"\x0a\x00\x05\x00", "image/webp", (10, 5)),
        (b"\xff\xd8\xff\xe0", "image/jpeg", None),
        (b"\x89PNG\r\n\x1a\n", "image/png", None),
        (b"GIF89a\0\0\0\0", "image/gif", None),
        (b"", "image/png", None),
        (rich.png(), "image/jpeg", None),
    ],
)
def test_the_size_of_a_picture_is_read_from_its_start(
    data: bytes, mime: str, size: tuple[int, int] | None
) -> None:
    assert size_of(data, mime) == size
