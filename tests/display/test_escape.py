"""Untrusted text is shown as it is: nothing of it acts, hides, moves or disappears."""

from __future__ import annotations

import unicodedata

import html5lib  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robotlab_nb.display import escape
from robotlab_nb.display.escape import attr, clip, cut, esc, one_line, plain
from tests.display.trees import CORPUS, PAYLOADS, text_of

#: text of any code points, surrogates included, with pieces of the corpus in it
ANY_TEXT = st.lists(
    st.one_of(
        st.text(st.characters(exclude_categories=()), max_size=20),
        st.sampled_from([payload for payload in PAYLOADS if len(payload) < 200]),
    ),
    max_size=4,
).map("".join)

#: invisible only in name: they print, in front of digits
NUMBER_SIGNS = (
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)


@given(ANY_TEXT)
@example("a\r\nb\rc")
@settings(max_examples=300, deadline=None)
def test_html_shows_the_visible_form_and_nothing_else(text: str) -> None:
    tree = html5lib.parseFragment(f"<div>{esc(text)}</div>", namespaceHTMLElements=False)
    assert text_of(tree) == plain(text)
    assert [e.tag for e in tree[0].iter()][1:] == ["span"] * (len(list(tree[0].iter())) - 1)
    assert not any(e.attrib for e in tree[0].iter())


@given(ANY_TEXT, st.booleans())
@settings(max_examples=100, deadline=None)
def test_formulas_left_alone_change_no_character(text: str, math: bool) -> None:
    tree = html5lib.parseFragment(f"<p>{esc(text, math=math)}</p>", namespaceHTMLElements=False)
    assert text_of(tree) == plain(text)


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_an_attribute_holds_the_visible_form_and_ends_where_it_should(text: str) -> None:
    tree = html5lib.parseFragment(f'<i title="{attr(text)}">.</i>', namespaceHTMLElements=False)
    assert len(tree) == 1
    assert tree[0].attrib == {"title": plain(text)}
    assert tree[0].text == "."


@given(ANY_TEXT)
@settings(max_examples=200, deadline=None)
def test_the_visible_form_is_its_own_visible_form(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    plain(text).encode("utf-8")  # a lone surrogate would raise


def test_no_control_format_or_broken_character_survives() -> None:
    unseen = [
        chr(point)
        for point in range(0x110000)
        if unicodedata.category(chr(point)) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        or point & 0xFFFE == 0xFFFE
    ]
    assert len(unseen) > 2200
    for char in unseen:
        if char in "\n\t" or char in NUMBER_SIGNS:
            assert plain(f"a{char}b") == f"a{char}b"
        else:
            assert char not in plain(f"a{char}b"), hex(ord(char))


@pytest.mark.parametrize("text", CORPUS["unicode"])
def test_joiners_that_spell_words_and_emoji_stay(text: str) -> None:
    assert plain(text) == text


def test_joiners_that_hide_between_letters_do_not() -> None:
    assert plain("a\u200db\u200cc") == "a\\u200db\\u200cc"
    assert plain("\u0645\u200c\u200d\u200c\u06cc").count("\\u200") >= 1
    assert plain("A\ufe0f") == "A\\ufe0f"


def test_terminal_escapes_are_named_and_lines_kept() -> None:
    assert plain("a\x1b[31m\r\nb\rc\x00\x7f\t") == "a␛[31m\nb␍c␀␡\t"
    assert plain("\u202e\ud800\U000e0041") == "\\u202e\\ud800\\U000e0041"


def test_amounts_are_kept_apart_so_that_no_mathematics_begins() -> None:
    assert esc("$0.0140 of $1,050.20.") == "<span>$0.0140</span> of <span>$1,050.20</span>."
    assert esc("$HOME and $PATH") == "<span>$</span>HOME and <span>$</span>PATH"
    assert esc(r"\(x\) \begin{a}") == r"<span>\</span>(x<span>\</span>) <span>\</span>begin{a}"
    assert esc("$x^2$ costs $5", math=True) == "$x^2$ costs <span>$5</span>"


@given(ANY_TEXT, st.integers(0, 40))
@settings(max_examples=200, deadline=None)
def test_a_cut_is_never_longer_and_counts_what_it_left_out(text: str, limit: int) -> None:
    shown, left = cut(text, limit)
    assert len(shown) <= limit
    assert shown == plain(text[: len(text) - left])
    assert left > 0 or shown == plain(text)
    line = one_line(text, limit + 1)
    assert len(line) <= limit + 1
    assert "\n" not in line


def test_a_huge_text_is_not_read_beyond_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []

    def spy(value: object) -> str:
        read.append(len(str(value)))
        return plain(value)

    monkeypatch.setattr(escape, "plain", spy)
    huge = "<b>\x00" * 2_500_000
    assert clip(huge, 100).endswith(" … 9,999,900 more characters")
    assert one_line(huge, 50).endswith("…")
    assert max(read) <= 200


def test_a_cut_says_one_character_or_several() -> None:
    assert clip("abc", 2) == "ab … 1 more character"
    assert clip("abcd", 2) == "ab … 2 more characters"
    assert clip("ab", 2) == "ab"


def test_what_cannot_be_printed_is_named_by_its_type() -> None:
    class Sulking:
        def __str__(self) -> str:
            raise RuntimeError("no")

    assert plain(Sulking()) == "<Sulking that cannot be printed>"
    assert plain(10**5000).startswith("<int that cannot")
    assert esc(None) == "None"


def test_a_string_that_lies_about_itself_is_read_as_it_is() -> None:
    class Liar(str):
        def __str__(self) -> str:
            return "<script>"

        def replace(self, *args: object) -> str:
            return "<script>"

    assert esc(Liar("a<b")) == "a&lt;b"
