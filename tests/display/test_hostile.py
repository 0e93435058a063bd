"""Text of models, tools, people and logs never acts in anything that is shown or exported."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any

import html5lib  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from robotlab_nb.core import secrets
from robotlab_nb.core.events import Delta
from robotlab_nb.display.escape import plain
from robotlab_nb.display.graph_picture import svg
from robotlab_nb.display.narration import Narration
from robotlab_nb.display.pictures import html, markdown, text
from robotlab_nb.widgets.live_doc import LiveDoc
from tests.display import network_samples as nets
from tests.display.catalogue import EVERYTHING
from tests.display.samples import Story, weather
from tests.display.test_graph_picture import check_drawn
from tests.display.test_pictures import check_text
from tests.display.trees import ALLOWED, CORPUS, PAYLOADS, SCHEMES, check_inert

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST_BYTES = 2_000_000
#: every payload goes through every `STEP`-th object, and through all of them in the slow test
STEP = 7
_READER = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def check_markdown(source: str) -> None:
    """A reader that lets HTML through shows words, and links that go where it is safe."""
    assert plain(source) == source
    rendered = _READER.render(source)
    tree = html5lib.parseFragment(rendered, namespaceHTMLElements=False)
    for element in tree.iter():
        if element is tree:
            continue
        assert element.tag in ALLOWED or element.tag in ("h1", "h2"), element.tag
        assert element.tag != "img"
        assert not [name for name in element.attrib if name.startswith("on")]
        assert element.get("href", "https://").lower().startswith(SCHEMES)


def check_visible(shown: str) -> None:
    """Nothing in it is unseen: no controls, no bidi or zero width, tags or halves of characters.

    Asked of Python's own tables, not of what makes texts visible. Joiners stay in some scripts.
    """
    for char in set(shown) - set("\n\t\u200c\u200d"):
        assert unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Zl", "Zp"), hex(ord(char))
    assert not re.search("[a-z][\u200c\u200d]|[\U000e0000-\U000e0fff]", shown)


def check(name: str, payload: str) -> None:
    thing = EVERYTHING[name](payload)
    drawn, source = html(thing), markdown(thing)
    for shown in (drawn, source, text(thing)):
        check_visible(shown)
    assert len(drawn.encode("utf-8", "replace")) <= MOST_BYTES
    assert len(source) <= MOST_BYTES
    check_inert(drawn)
    check_text(thing)
    check_markdown(source)


def chosen(payloads: Iterable[str]) -> list[tuple[str, str]]:
    """Each payload with some objects, so that all objects see all kinds of payloads."""
    names = list(EVERYTHING)
    found = []
    for payload in payloads:
        start = PAYLOADS.index(payload) % STEP
        found += [(name, payload) for name in names[start::STEP]]
    return found


@pytest.mark.parametrize("group", CORPUS)
def test_hostile_corpus(group: str) -> None:
    """Every text of the corpus is inert and bounded in objects, diagrams, views and exports."""
    for name, payload in chosen(CORPUS[group]):
        check(name, payload)
    for payload in CORPUS[group]:
        check_live(payload)
        check_diagram(payload)
        check_line(payload)


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERYTHING)
def test_hostile_corpus_in_every_object(name: str) -> None:
    for payload in PAYLOADS:
        check(name, payload)


def told(payload: str) -> Story:
    return weather(question=payload, answer=payload, tool=payload, robot=payload, model=payload)


def check_live(payload: str) -> None:
    """What a live view is sent: bounded JSON of visible text; the front end makes text nodes."""
    story = told(payload)
    doc = LiveDoc(story.scope)
    changes = doc.take(story.events)
    changes += doc.take([Delta(story.scope, "r1.2", 1, "text", 0, payload)])
    sent = json.dumps([doc.whole(), [list(each) for each in changes]], ensure_ascii=False)
    assert len(sent.encode("utf-8")) <= MOST_BYTES  # no lone surrogate is left in it
    for each in strings(json.loads(sent)):
        check_visible(each)


def strings(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from strings(each)


def check_diagram(payload: str) -> None:
    """Drawings are plain structure; DOT and Mermaid have no line that a name could have made."""
    tasks = [nets.declared(payload, payload, route=True), nets.declared("b", payload, [payload])]
    check_drawn(svg(nets.NetworkStory(tasks, payload).starts(payload, 0.0).state))
    if not payload.strip() or len(payload) > 2000:
        return
    names = [payload, f"{payload} 2"]
    for kind in ("to_dot", "to_mermaid"):
        hostile, tame = (getattr(network(each), kind)() for each in (names, ["a", "c"]))
        assert hostile.count("\n") == tame.count("\n"), kind
        check_visible(hostile)
        if kind == "to_mermaid":
            assert "<" not in hostile.replace("<br/>", "")


def network(names: list[str]) -> Any:
    import robotlab_nb as rl

    net = rl.create_network("net")
    first = net.task(names[0], lambda message: message)
    net.task(names[1], lambda message: message, depends_on=[first.name])
    return net


def check_line(payload: str) -> None:
    """What is narrated is one visible line."""
    narration = Narration()
    for event in told(payload).events:
        line = narration.line(event)
        if line is not None:
            check_visible(line)
            assert "\n" not in line
            assert len(line) <= 400


@given(st.text(st.characters(exclude_categories=()), max_size=60), st.sampled_from([*EVERYTHING]))
@settings(max_examples=200, deadline=None)
def test_any_text_is_inert_in_everything(payload: str, name: str) -> None:
    thing = EVERYTHING[name](payload)
    check_inert(html(thing))
    check_text(thing)


@pytest.mark.parametrize("canary", CORPUS["canaries"])
def test_a_registered_key_is_shown_in_no_object(canary: str) -> None:
    secrets.register(canary, "a key of the corpus")
    for name, make in EVERYTHING.items():
        thing = make(f"before {canary} after")
        assert canary not in html(thing) + text(thing) + markdown(thing), name
