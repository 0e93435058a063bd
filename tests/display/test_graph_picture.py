"""A network's picture: every task and state is in it, nothing in it acts, and it parses."""

from __future__ import annotations

import base64
import html
import html as entities
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.errors import ConfigurationError, GraphError
from robotlab_nb.display import graph_layout
from robotlab_nb.display.escape import one_line
from robotlab_nb.display.graph_picture import MOST_BOXES, img, svg, told
from robotlab_nb.display.network_facts import facts_of
from robotlab_nb.display.saving import save
from robotlab_nb.display.states import STATES
from robotlab_nb.display.svg_parts import shortened, wide
from tests.display.network_samples import (
    TASK_STATES,
    NetworkStory,
    a_run,
    all_states,
    declared,
    large,
    nine,
    support,
    three,
)
from tests.display.trees import PAYLOADS, sanitised

if TYPE_CHECKING:
    from pathlib import Path

SVG = "{http://www.w3.org/2000/svg}"
#: every element a picture may have, and its attributes
ALLOWED = {
    "svg": {"width", "height", "viewBox"},
    "rect": {"class", "x", "y", "width", "height", "rx", "stroke-width", "stroke-dasharray"},
    "path": {"class", "d", "transform", "stroke-width", "stroke-dasharray"},
    "text": {"class", "x", "y", "text-anchor"},
    "tspan": {"class"},
    "g": {"transform"},
    "title": set(),
    "desc": set(),
    "style": set(),
}
any_text = st.text(st.characters(exclude_categories=()), min_size=1, max_size=40)


@pytest.fixture(autouse=True, scope="module")
def _library() -> Any:
    """The same places on every machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_layout, "dot_is_there", lambda: False)
        graph_layout._layout.cache_clear()
        yield
    graph_layout._layout.cache_clear()


def check_drawn(picture: str) -> ElementTree.Element:
    """Parse a picture, and refuse whatever is not listed."""
    root = ElementTree.fromstring(picture.encode("utf-8"))
    for element in root.iter():
        name = str(element.tag).removeprefix(SVG)
        assert name in ALLOWED, name
        assert set(element.attrib) <= ALLOWED[name], (name, element.attrib)
    style = root.findtext(f"{SVG}style") or ""
    for word in ("url(", "@import", "expression", "<", "script"):
        assert word not in style
    return root


def words_of(root: ElementTree.Element) -> list[str]:
    """The lines of words in a picture."""
    return ["".join(element.itertext()) for element in root.iter(f"{SVG}text")]


def stands(name: str, words: list[str]) -> bool:
    """Whether a name is among words, whole or as much of it as there is room for."""
    whole = one_line(name, 200) or "?"
    return whole in words or any(
        line.endswith("…") and len(line) > 5 and whole.startswith(line[:-1].rstrip())
        for line in words
    )


def test_a_declared_network_is_plain_structure() -> None:
    root = check_drawn(svg(support()))
    words = words_of(root)
    for line in ("classify", "classifier", "routes", "optional", "reply", "writer", "simulated"):
        assert line in words
    assert not any(state.word in line for state in STATES.values() for line in words)
    assert "not passed" not in words
    assert len(root.findall(f"{SVG}rect")) == 1 + 4 + 1  # paper, boxes, the frame of a word


@pytest.mark.parametrize("status", TASK_STATES)
def test_each_state_has_its_icon_word_and_colours(status: str) -> None:
    root = check_drawn(svg(all_states()))
    words = words_of(root)
    state = STATES[status]
    assert any(line.startswith(state.word) for line in words)
    hue = state.hue[1:]
    boxes = [rect.get("class") for rect in root.iter(f"{SVG}rect")][1:]
    faint = status in ("pending", "blocked", "skipped", "halted")
    expected = f"b{hue} s{hue}" if hue else "p o" if faint else "p d"
    assert boxes[TASK_STATES.index(status)] == expected


def test_the_last_line_of_a_box_says_why_or_how_much() -> None:
    words = words_of(check_drawn(svg(nine())))
    for line in (
        "from run 7f3a", "800 ms · $0.0002", "route not taken", "3.1 s · $0.0041",
        "6.0 s · $0.0011", "needs orders", "needs policy",
    ):  # fmt: skip
        assert line in words
    assert "completed · classifier" in words
    assert "completed" in words  # billing does billing: named once


def test_a_cost_with_a_gap_says_so() -> None:
    story = NetworkStory([declared("a", "x"), declared("b", "y")])
    story.starts("a", 0.0, robot="x").asks("a", "x", 0.0, 1.0, 5, None).ends("a", 1.0)
    story.starts("b", 0.0, robot="y").asks("b", "y", 0.0, 1.0, 5, 0.5)
    again = story._within("b", "y")
    story.add("model_call.started", 1.0, again, call_id="b.2", round=2, model="m")
    gap = {"input_tokens": 5, "calls": 1, "cost_complete": False}
    story.add("model_call.completed", 2.0, again, call_id="b.2", usage=gap).ends("b", 2.0)
    words = words_of(check_drawn(svg(story.state)))
    assert "1.0 s · cost unknown" in words
    assert "2.0 s · ≥ $0.5000" in words


def test_time_so_far_is_up_to_the_last_event_or_to_the_time_given() -> None:
    story = NetworkStory([declared("a", "x"), declared("b", "y")])
    story.starts("a", 0.5, robot="x").starts("b", 2.0, robot="y")
    words = words_of(check_drawn(svg(story.state)))
    assert "1.5 s" in words
    assert "just started" in words
    words = words_of(check_drawn(svg(story.state, now=9.5)))
    assert "9.0 s" in words
    assert "7.5 s" in words
    run = a_run(story.state)
    run.events = [story.events[-1], story.add("memory.set", 4.5).events[-1]]
    assert "4.0 s" in words_of(check_drawn(svg(run)))


def test_edges_are_solid_dashed_and_thin() -> None:
    root = check_drawn(svg(three()["completed"]))
    lines = [path.get("class") for path in root.findall(f"{SVG}path") if not path.get("transform")]
    # thin dashed to general and thin from it, strong dashed to billing, strong on; then arrows
    assert lines == ["v d", "v d q", "w z", "w z q", "h", "x"]
    words = words_of(root)
    assert {"needs", "optional", "not passed"} <= set(words)
    assert "not yet passed" in words_of(check_drawn(svg(three()["running"])))


def test_a_task_that_only_a_route_leads_to_hangs_on_the_router() -> None:
    tasks = [declared("sort", "x", route=True), declared("pay", "y", optional=True)]
    edges = facts_of(NetworkStory(tasks).state).edges
    assert [(edge.source, edge.target, edge.optional) for edge in edges] == [(0, 1, True)]


def test_a_nested_network_has_a_second_sheet() -> None:
    plain_ = NetworkStory([declared("audit")]).state
    nested = NetworkStory([declared("audit", None, kind="network")]).state
    assert svg(nested).count("<rect") == svg(plain_).count("<rect") + 1


def test_a_simulated_network_says_so_and_others_do_not() -> None:
    net = support()
    assert "simulated" in words_of(check_drawn(svg(net)))
    assert "simulated" in words_of(check_drawn(svg(net.run("I was charged twice"))))
    assert "simulated" not in svg(nine())


def test_the_alt_names_every_task_and_where_it_stands() -> None:
    state = all_states()
    words = told(facts_of(state))
    for name, task in state.tasks.items():
        assert f"{name} {STATES[task.status].word}" in words
    assert told(facts_of(support())).startswith("Network support, simulated. classify, classifier")


def test_what_an_untrusted_notebook_keeps_still_names_all() -> None:
    state = nine()
    left = sanitised(img(state))
    found = re.fullmatch(
        r'<div><img width="\d+" alt="([^"]*)" src="data:image/svg\+xml;base64,([^"]*)"></div>', left
    )
    assert found
    check_drawn(base64.b64decode(found[2]).decode("utf-8"))
    alt = entities.unescape(found[1])
    for name, task in state.tasks.items():
        assert f"{name} {STATES[task.status].word}" in alt
    title = ElementTree.fromstring(base64.b64decode(found[2])).findtext(f"{SVG}desc")
    assert title == alt


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_hostile_names_are_inert(number: int) -> None:
    payload = PAYLOADS[number]
    tasks = [
        declared(payload, payload, route=True),
        declared(payload + "2", payload, [payload], optional=True),
    ]
    story = NetworkStory(tasks, payload).starts(payload, 0.0).fails(payload, 1.0, payload)
    story.settles(payload + "2", 1.0, "blocked", payload)
    root = check_drawn(svg(story.state))
    assert stands(payload, words_of(root))
    assert one_line(payload, 80) in (root.findtext(f"{SVG}desc") or "")
    kept = sanitised(img(story.state))
    assert kept.startswith('<div><img width="')
    assert kept.count("<") == 3


@given(st.lists(any_text, min_size=1, max_size=4, unique=True), any_text)
@settings(max_examples=150, deadline=None)
def test_any_names_parse(names: list[str], robot: str) -> None:
    tasks = [declared(name, robot, names[:place]) for place, name in enumerate(names)]
    state = NetworkStory(tasks, robot).settles(names[-1], 0.0, "skipped", robot).state
    root = check_drawn(svg(state))
    words = words_of(root)
    assert stands(names[0], words)


@given(any_text, st.floats(0, 300))
@settings(max_examples=200, deadline=None)
def test_what_does_not_fit_is_shortened(words: str, room: float) -> None:
    line = shortened(words, room)
    assert wide(line) <= max(room, wide("…")) or line == "…"
    if wide(one_line(words, 200)) <= room:
        assert line == one_line(words, 200)


def test_many_tasks_are_drawn_by_phase_and_say_so() -> None:
    state = large(400)
    root = check_drawn(svg(state))
    words = words_of(root)
    assert f"400 tasks: more than {MOST_BOXES} are drawn by phase" in words
    boxes = [line for line in words if re.match(r"phases? \d", line)]
    assert 1 < len(boxes) <= 12
    counted = [int(line.split()[0]) for line in words if re.fullmatch(r"\d+ tasks?", line)]
    assert sum(counted) == 400
    failed = sum(int(line.split()[0]) for line in words if line.endswith(" failed"))
    assert failed == sum(task.status == "failed" for task in state.tasks.values())
    alt = told(facts_of(state))
    assert "task 7 failed" in alt
    assert len(alt) < 4000
    assert "by phase" not in svg(large(MOST_BOXES))
    check_drawn(svg(large(1000)))


def calls_of(count: int) -> int:
    """How many Python functions are called to draw a chain of tasks."""
    tasks = [declared(f"t{n}", "x", [f"t{n - 1}"] if n else []) for n in range(count)]
    facts = NetworkStory(tasks).state
    graph_layout._layout.cache_clear()
    calls = 0

    def count_one(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count_one)
    try:
        svg(facts)
    finally:
        sys.setprofile(before)
    return calls


def test_twice_the_tasks_are_about_twice_the_work() -> None:
    calls_of(10)
    assert calls_of(120) < 2.4 * calls_of(60)


def test_the_same_data_give_the_same_picture_in_every_process() -> None:
    code = (
        "import hashlib; from robotlab_nb.display.graph_picture import svg;"
        "from tests.display.network_samples import nine, large;"
        "print([hashlib.sha1(svg(s, renderer='builtin').encode()).hexdigest()"
        " for s in (nine(), large(40))])"
    )
    found = set()
    for seed in ("1", "77"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        found.add(subprocess.check_output([sys.executable, "-c", code], env=environment, text=True))
    assert len(found) == 1
    assert svg(nine()) == svg(nine())


def test_words_are_readable_on_either_paper() -> None:
    style = ElementTree.fromstring(svg(nine())).findtext(f"{SVG}style") or ""
    light, _, dark = style.partition("@media(prefers-color-scheme:dark){")
    for sheet in (light, dark):
        fills = dict(re.findall(r"([.\w]+)\{fill:(#\w+)\}", sheet))
        assert len(fills) > 18
        for name in ("text", ".n", ".x", ".fr", ".fw", ".ff", *(f".k{n}" for n in range(8))):
            assert contrast(fills[name], fills[".p"]) >= 4.5, name
        for hue in "rwf":
            for name in (f".f{hue}", "text", ".n"):
                assert contrast(fills[name], fills[f".b{hue}"]) >= 4.5, (hue, name)


def contrast(one: str, other: str) -> float:
    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
        parts = [int(digits[n : n + 2], 16) / 255 for n in (0, 2, 4)]
        red, green, blue = (
            p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_a_network_that_cannot_run_is_not_exported() -> None:
    net = rl.create_network("broken")
    net.task("a", lambda message: message, depends_on=["b"])
    with pytest.raises(GraphError, match="'b', which is not there"):
        svg(net)
    with pytest.raises(GraphError):
        net.to_svg()
    assert "a, function, after b" in img(net)  # what there is can be shown


def test_a_network_gives_its_own_svg() -> None:
    net = support()
    assert net.to_svg() == svg(net)
    with pytest.raises(ConfigurationError, match="renderer"):
        svg(net, renderer="dott")


# -- files ---------------------------------------------------------------------------------


def test_files_are_written_by_their_ending(tmp_path: Path) -> None:
    net = support()
    assert save(net, tmp_path / "net.svg") == tmp_path / "net.svg"
    assert (tmp_path / "net.svg").read_text("utf-8") == svg(net)
    assert save(net, str(tmp_path / "net.DOT")).read_text("utf-8") == net.to_dot() + "\n"
    assert save(net, tmp_path / "net.gv").read_text("utf-8") == net.to_dot() + "\n"
    assert save(net, tmp_path / "net.mmd").read_text("utf-8") == net.to_mermaid() + "\n"
    result = net.run("I was charged twice")
    assert "completed" in save(result, tmp_path / "result.svg").read_text("utf-8")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    net = support()
    with pytest.raises(ConfigurationError, match=r"'net\.svgg'") as caught:
        save(net, tmp_path / "net.svgg")
    assert "'.svg'" in str(caught.value)
    with pytest.raises(ConfigurationError, match="no picture"):
        save(net, tmp_path / "net")
    with pytest.raises(ConfigurationError, match=r"drawn as \.svg, not as \.dot"):
        save(nine(), tmp_path / "run.dot")
    with pytest.raises(ConfigurationError, match=r"no_such_folder.* cannot be written: No such"):
        save(net, tmp_path / "no_such_folder" / "net.svg")
    assert list(tmp_path.iterdir()) == []


def test_png_without_graphviz_names_the_ways_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ConfigurationError) as caught:
        save(support(), tmp_path / "net.png")
    for way in ("conda install graphviz", "save as .svg", "save as .dot"):
        assert way in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("dot") is None, reason="dot is not installed")
def test_png_with_graphviz(tmp_path: Path) -> None:
    assert save(support(), tmp_path / "net.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


# -- other languages, read back ------------------------------------------------------------

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\\n]|\\[\\"])*)"|([A-Za-z_][A-Za-z_0-9]*)|(->|[{}\[\]=,;]))')


def read_dot(source: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The labels and edges of a DOT graph, by a reader that takes nothing it does not know."""
    tokens, at = [], 0
    source = source.strip()
    while at < len(source):
        found = _TOKEN.match(source, at)
        assert found, source[at : at + 40]
        quoted, word, sign = found.groups()
        tokens.append(("string", quoted) if quoted is not None else ("plain", word or sign))
        at = found.end()
    assert tokens[:2] == [("plain", "digraph"), ("plain", "{")]
    assert tokens[-1] == ("plain", "}")
    labels: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    statement: list[tuple[str, str]] = []
    for token in tokens[2:-1]:
        if token != ("plain", ";"):
            statement.append(token)
            continue
        kinds = [value if kind == "plain" else '""' for kind, value in statement]
        if kinds[1] == "->":
            edges.append((kinds[0], kinds[2]))
        elif kinds[0] not in ("graph", "node"):
            assert re.fullmatch(r"t\d+", kinds[0])
            assert kinds[1:5] == ["[", "label", "=", '""']
            labels[kinds[0]] = html.unescape(re.sub(r"\\(.)", r"\1", statement[4][1]))
        statement = []
    assert not statement
    return labels, edges


def read_mermaid(source: str) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The labels and edges of a Mermaid graph, by a reader as strict."""
    first, *lines = source.split("\n")
    assert first == "graph TD"
    labels: dict[str, str] = {}
    edges: list[tuple[str, str]] = []
    for line in lines:
        node = re.fullmatch(r'    (t\d+)(\[|\(\[)"([^"\[\](){}<>|`&]*)"(\]|\]\))', line)
        edge = re.fullmatch(r"    (t\d+) (?:-->|-\.->) (t\d+)", line)
        if node:
            labels[node[1]] = re.sub(r"#(\d+);", lambda found: chr(int(found[1])), node[3])
        else:
            assert edge, line
            edges.append((edge[1], edge[2]))
    return labels, edges


def shown(name: str) -> str:
    """A name as it may stand in a label: on one line, what does not show written out."""
    return one_line(name, 500) or "?"


def named(names: list[str]) -> Any:
    net = rl.create_network(names[0])
    for place, name in enumerate(names):
        net.task(name, lambda message: message, depends_on=names[:place], when=lambda message: True)
    return net


@given(
    st.lists(
        st.one_of(any_text, st.sampled_from(PAYLOADS)).filter(str.strip),
        min_size=1, max_size=4, unique=True,
    )
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_dot_and_mermaid_read_back(names: list[str]) -> None:
    net = named(names)
    wanted = {f"t{place}": shown(name) for place, name in enumerate(names)}
    pairs = {(f"t{a}", f"t{b}") for b in range(len(names)) for a in range(b)}
    for labels, edges in (read_dot(net.to_dot()), read_mermaid(net.to_mermaid())):
        assert labels == wanted
        assert set(edges) == pairs


@pytest.mark.skipif(shutil.which("dot") is None, reason="dot is not installed")
def test_dot_itself_reads_every_name() -> None:
    payloads = [payload for payload in PAYLOADS if payload.strip() and len(payload) < 500]
    for start in range(0, len(payloads), 40):
        net = rl.create_network("names")
        for name in dict.fromkeys(payloads[start : start + 40]):
            net.task(name, lambda message: message)
        ran = subprocess.run(
            ["dot", "-Tcanon"], input=net.to_dot().encode("utf-8"), capture_output=True, check=True
        )
        assert ran.stderr == b""
