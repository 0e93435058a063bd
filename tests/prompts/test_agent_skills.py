"""Agent skills: the open SKILL.md format, catalogs over several roots, matching, what is used."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
import warnings
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.errors import ConfigurationError
from robotlab_nb.prompts import skill_matching
from robotlab_nb.prompts.agent_skills import AgentSkill, Catalog, catalog_of
from robotlab_nb.prompts.skill_manifest import _NAME
from robotlab_nb.prompts.skill_matching import match
from robotlab_nb.prompts.skill_tools import equip
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel
from robotlab_nb.tools.call import call_tool
from robotlab_nb.tools.manifest import ToolManifest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from robotlab_nb.tools.call import Outcome
    from robotlab_nb.tools.decorator import Tool

ABOUT = {
    "pdf": "Extracts text and tables from PDF files, fills forms. Use when the user mentions PDFs.",
    "code-review": "Reviews code for bugs. Use when the user asks for a review of a pull request.",
    "charts": "Plots CSV and Excel data as charts and computes statistics.",
    "haiku": "Writes haiku and other short poems.",
}
GREET = f"#!{sys.executable}\n# Greet somebody.\nimport sys\nprint('hello', *sys.argv[1:])\n"


def bundle(root: Path, name: str, description: str | None = None, more: str = "") -> Path:
    folder = root / name
    folder.mkdir(parents=True, exist_ok=True)
    about = json.dumps(ABOUT.get(name, "Does things.") if description is None else description)
    text = f"---\nname: {name}\ndescription: {about}\n{more}---\n\nDo {name} well.\n"
    (folder / "SKILL.md").write_text(text, encoding="utf-8")
    return folder


def put(folder: Path, path: str, text: str) -> Path:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.fixture
def skills(tmp_path: Path) -> list[AgentSkill]:
    return [AgentSkill(bundle(tmp_path, name)) for name in ABOUT]


def fault(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught:
        AgentSkill(folder)
    return str(caught.value)


async def read(tool: Tool, **arguments: Any) -> Outcome:
    return await call_tool(tool, json.dumps(arguments))


# the format


def test_a_bundle_says_what_it_is(tmp_path: Path) -> None:
    more = """license: MIT
compatibility: Needs git
metadata:
  author: ada
  version: 1.5
  network: true
  timeout: "20"
allowed-tools: Bash(git add:*) Bash(jq:*) Read
color: blue
"""
    skill = AgentSkill(bundle(tmp_path, "pdf", more=more))
    assert (skill.name, skill.description) == ("pdf", ABOUT["pdf"])
    assert (skill.licence, skill.compatibility) == ("MIT", "Needs git")
    assert skill.metadata["version"] == "1.5"
    assert skill.allowed_tools == ("Bash(git add:*)", "Bash(jq:*)", "Read")
    assert (skill.capabilities.network, skill.capabilities.timeout) == (True, 20.0)
    assert skill.instructions == "Do pdf well."
    assert skill.path == tmp_path / "pdf"
    assert AgentSkill(tmp_path / "pdf" / "SKILL.md").name == "pdf"


def test_tools_and_capabilities_may_be_lists(tmp_path: Path) -> None:
    more = "allowed-tools: [Read, 'Bash(git:*)']\nfs_read: [data, docs]\nnetwork: false\n"
    skill = AgentSkill(bundle(tmp_path, "pdf", more=more))
    assert skill.allowed_tools == ("Read", "Bash(git:*)")
    assert skill.capabilities.fs_read == ("data", "docs")
    assert skill.capabilities.network is False


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("name: pdf", "description is missing"),
        ("name: pdf\ndescripton: x", "description is missing (Did you mean 'descripton'?)"),
        ("description: x", "name is missing"),
        ("name: pdf\ndescription: ''", "description is a text, not ''"),
        ("name: pdf\ndescription: [a]", "description is a text, not ['a']"),
        (f"name: pdf\ndescription: {'x' * 1025}", "description has at most 1,024 characters"),
        ("name: PDF\ndescription: x", "not 'PDF'"),
        ("name: -pdf\ndescription: x", "single hyphens between them, not '-pdf'"),
        ("name: pdf-\ndescription: x", "not 'pdf-'"),
        ("name: p--df\ndescription: x", "not 'p--df'"),
        ("name: größe\ndescription: x", "not 'größe'"),
        (f"name: {'a' * 65}\ndescription: x", "1 to 64 of a-z"),
        ("name: other\ndescription: x", "name is 'other', and must be its folder's, 'pdf'"),
        ("name: pdf\ndescription: x\ncompatibility: " + "x" * 501, "at most 500 characters"),
        ("name: pdf\ndescription: x\nmetadata: [a]", "metadata maps names to texts, not ['a']"),
        ("name: pdf\ndescription: x\nmetadata: {a: {b: c}}", "metadata.a is a text"),
        ("name: pdf\ndescription: x\nallowed-tools: 3", "allowed-tools is a list of tools"),
        ("name: pdf\ndescription: x\nlicense: 3", "license is a text, not 3"),
        ("name: pdf\ndescription: x\ntimeout: soon", "timeout is a number of seconds"),
        ("name: pdf\ndescription: x\nmetadata: {trust: me}", "trust is"),
        ("name: PDF", "not 'PDF'; description is missing"),
        ("name: [", "SKILL.md, line"),
        ("- a", "SKILL.md, line 2"),
    ],
)
def test_a_broken_rule_is_named_with_file_and_field(tmp_path: Path, head: str, words: str) -> None:
    put(tmp_path / "pdf", "SKILL.md", f"---\n{head}\n---\nDo.")
    found = fault(tmp_path / "pdf")
    assert words in found
    assert str(tmp_path / "pdf" / "SKILL.md") in found


def test_what_is_no_bundle_is_said(tmp_path: Path) -> None:
    assert "it has no SKILL.md of its own" in fault(tmp_path / "nothing")
    put(tmp_path / "plain", "SKILL.md", "Just text")
    assert "has no front matter" in fault(tmp_path / "plain")
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "SKILL.md").write_bytes(b"---\nname: \xff\n---\n")
    assert "is not UTF-8 text" in fault(tmp_path / "bytes")
    put(tmp_path / "big", "SKILL.md", "---\nname: big\ndescription: x\n---\n" + "x" * 500_000)
    assert "more than 500,000 bytes" in fault(tmp_path / "big")
    put(tmp_path / "open", "SKILL.md", "---\nname: open\n")
    assert "does not end" in fault(tmp_path / "open")


@given(st.text(alphabet="ab1-A_é", max_size=8))
def test_a_name_is_words_of_small_letters_with_single_hyphens(name: str) -> None:
    valid = (
        name != ""
        and set(name) <= set("ab1-")
        and not (name[0] == "-" or name[-1] == "-" or "--" in name)
    )
    assert bool(_NAME.fullmatch(name)) is valid


# catalogs


def test_a_catalog_finds_bundles_in_several_roots_and_reads_instructions_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("HOME", str(home))
    bundle(tmp_path / "one", "pdf")
    bundle(home / "mine", "haiku")
    single = bundle(tmp_path / "three", "charts")
    put(tmp_path / "one", "notes/README.md", "no bundle")
    catalog = Catalog([tmp_path / "one", "~/mine", tmp_path / "none", single])
    assert list(catalog.skills) == ["pdf", "haiku", "charts"]
    assert catalog.roots[1] == home / "mine"
    skill = catalog.skills["pdf"]
    put(tmp_path, "one/pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\nChanged.")
    assert skill.instructions == "Changed."


def test_of_two_with_one_name_the_first_counts_which_is_said_once(tmp_path: Path) -> None:
    first, second = bundle(tmp_path / "one", "pdf"), bundle(tmp_path / "two", "pdf")
    catalog = Catalog([tmp_path / "one", tmp_path / "two"])
    with pytest.warns(UserWarning, match="is hidden by the one in") as said:
        found = [catalog.skills["pdf"].path for _ in range(2)]
    assert found == [first, first]
    assert len(said) == 1
    assert str(second) in str(said[0].message)


def test_an_invalid_bundle_is_left_out_with_one_warning_and_raises_when_it_is_named(
    tmp_path: Path,
) -> None:
    bundle(tmp_path, "pdf")
    put(tmp_path / "broken", "SKILL.md", "---\nname: broken\n---\n")
    catalog = Catalog([tmp_path])
    with pytest.warns(UserWarning, match=r"broken/SKILL\.md.*description is missing") as said:
        found = [[skill.name for skill in catalog.of(True)] for _ in range(2)]
    assert found == [["pdf"], ["pdf"]]
    assert len(said) == 1
    assert list(catalog.faults) == [tmp_path / "broken"]
    for name in ("broken", tmp_path / "broken", str(tmp_path / "broken")):
        with pytest.raises(ConfigurationError, match="description is missing"):
            catalog.of([name])


def test_new_changed_and_removed_bundles_are_noticed_and_unchanged_ones_are_not_read_again(
    tmp_path: Path,
) -> None:
    bundle(tmp_path, "pdf")
    catalog = Catalog([tmp_path])
    before = catalog.skills
    assert catalog.skills["pdf"] is before["pdf"]
    bundle(tmp_path, "haiku")
    bundle(tmp_path, "pdf", "Something else entirely.")
    after = catalog.skills
    assert list(after) == ["haiku", "pdf"]
    assert after["pdf"].description == "Something else entirely."
    (tmp_path / "haiku" / "SKILL.md").unlink()
    assert list(catalog.skills) == ["pdf"]


def test_a_fault_that_is_mended_is_forgotten(tmp_path: Path) -> None:
    put(tmp_path / "pdf", "SKILL.md", "---\nname: pdf\n---\n")
    catalog = Catalog([tmp_path])
    with pytest.warns(UserWarning, match="left out"):
        assert catalog.skills == {}
    bundle(tmp_path, "pdf")
    assert list(catalog.skills) == ["pdf"]
    assert catalog.faults == {}


def test_skills_are_named_by_name_path_or_all_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pdf", "haiku"):
        bundle(tmp_path / "root", name)
    elsewhere = bundle(tmp_path, "charts")
    catalog = Catalog([tmp_path / "root"])
    monkeypatch.chdir(tmp_path)

    def names(given: Any) -> list[str]:
        return [skill.name for skill in catalog.of(given)]

    assert names(True) == ["haiku", "pdf"]
    assert names(None) == names(False) == names([]) == []
    assert names(["pdf", elsewhere, "./charts", "pdf"]) == ["pdf", "charts"]
    assert names([AgentSkill(elsewhere)]) == ["charts"]
    assert names("pdf") == ["pdf"]


def test_a_name_that_is_not_there_is_an_error_that_lists_near_names_and_roots(
    tmp_path: Path,
) -> None:
    bundle(tmp_path, "haiku")
    bundle(tmp_path / "more", "haiku")
    catalog = Catalog([tmp_path])
    with pytest.raises(ConfigurationError, match="Did you mean 'haiku'") as caught:
        catalog.of(["haikus"])
    assert str(tmp_path) in str(caught.value)
    with pytest.raises(ConfigurationError, match="two agent skills are called 'haiku'"):
        catalog.of(["haiku", tmp_path / "more" / "haiku"])
    with pytest.raises(ConfigurationError, match="names no agent skill"):
        catalog.of([3])


def test_circles_of_links_and_links_out_of_the_bundle_are_survived(tmp_path: Path) -> None:
    root = tmp_path / "root"
    folder = bundle(root, "pdf")
    (root / "loop").symlink_to(root / "loop")
    (root / "up").symlink_to(root)
    (folder / "again").symlink_to(folder)
    put(tmp_path, "secret.md", "---\nname: leak\ndescription: x\n---\nsecret")
    put(tmp_path, "run.sh", "#!/bin/sh\n")
    (root / "leak").mkdir()
    (root / "leak" / "SKILL.md").symlink_to(tmp_path / "secret.md")
    put(folder, "scripts/ok.sh", "#!/bin/sh\n")
    (folder / "scripts" / "leak.sh").symlink_to(tmp_path / "run.sh")
    (folder / "leak.md").symlink_to(tmp_path / "secret.md")
    catalog = Catalog([root])
    with pytest.warns(UserWarning, match=r"leak: it has no SKILL\.md of its own"):
        (skill,) = catalog.of(True)
    assert [path.name for path in skill.scripts] == ["ok.sh"]
    assert skill.files == ()


def test_a_linked_bundle_is_one(tmp_path: Path) -> None:
    folder = bundle(tmp_path / "real", "pdf")
    put(folder, "scripts/go.sh", "#!/bin/sh\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "pdf").symlink_to(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (skill,) = Catalog([tmp_path / "root", tmp_path / "real"]).of(True)
    assert [path.name for path in skill.scripts] == ["go.sh"]


def test_many_threads_read_a_catalog_at_once(tmp_path: Path) -> None:
    for number in range(20):
        bundle(tmp_path, f"skill-{number}")
    catalog = Catalog([tmp_path])
    start = threading.Barrier(8)
    found: list[dict[str, AgentSkill]] = []

    def look() -> None:
        start.wait(10)
        found.append(catalog.skills)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(found) == 8
    for one in found:
        assert all(skill is found[0][name] for name, skill in one.items())
        assert len(one) == 20


def test_the_same_roots_have_the_same_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert catalog_of(("skills",)) is catalog_of([tmp_path / "skills"])
    assert catalog_of(("skills",)) is not catalog_of(("skills", "more"))
    (tmp_path / "other").mkdir()
    before = catalog_of("skills")
    monkeypatch.chdir(tmp_path / "other")
    assert catalog_of("skills") is not before


# matching


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("Please extract the tables from this PDF", ["pdf"]),
        ("Can you review my pull request?", ["code-review"]),
        ("Write me a poem about autumn", ["haiku"]),
        ("WRITING POEMS", ["haiku"]),
        ("plot sales.csv as a chart and review the code", ["charts", "code-review"]),
        ("What is the capital of France?", []),
        ("How do I use a dictionary in Python?", []),
        ("The user uses a skill", []),
        ("   ", []),
    ],
)
async def test_a_message_gets_the_skills_that_share_its_words(
    skills: list[AgentSkill], message: str, names: list[str]
) -> None:
    found = await match(skills, message)
    assert [skill.name for skill in found.used] == names
    assert (found.scorer, found.error) == ("tfidf", None)


async def test_all_candidates_are_told_best_first(skills: list[AgentSkill]) -> None:
    found = await match(skills, "Extract text from PDF files and plot the data")
    assert {one.skill.name for one in found.matches} == set(ABOUT)
    scores = [one.score for one in found.matches]
    assert scores == sorted(scores, reverse=True)
    assert [one.used for one in found.matches] == [s >= found.threshold for s in scores]
    assert found.matches[0].skill.name == "pdf"
    assert await match([], "anything") == ("tfidf", skill_matching.WORD_THRESHOLD, (), None)


async def test_a_description_as_message_fits_wholly_and_a_threshold_is_obeyed(
    tmp_path: Path,
) -> None:
    skill = AgentSkill(bundle(tmp_path, "haiku", "writes short poems"))
    found = await match([skill], "Haiku: writes short POEMS", threshold=0.99)
    assert found.matches[0].score == pytest.approx(1.0)
    assert found.used == (skill,)
    assert (await match([skill], "poems", threshold=0.9)).used == ()
    assert (await match([skill], "nothing of it", threshold=0.0)).used == (skill,)


async def test_three_skills_are_used_at_most(tmp_path: Path) -> None:
    many = [AgentSkill(bundle(tmp_path, f"poem-{n}", "Writes poems.")) for n in range(6)]
    found = await match(many, "write poems")
    assert [skill.name for skill in found.used] == ["poem-0", "poem-1", "poem-2"]
    assert len(found.matches) == 6


async def test_an_embedding_model_is_asked_once_and_remembers_descriptions(
    skills: list[AgentSkill], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_matching, "_vectors", {})
    async with ModelServer() as server:
        model = server.model("embedder")
        first = await match(skills, f"haiku. {ABOUT['haiku']}", embedding_model=model)
        second = await match(skills, "something else", embedding_model=model)
        sizes = [len(request.body["input"]) for request in server.requests]
    assert sizes == [5, 1]
    assert (first.scorer, first.threshold) == ("openai/embedder", 0.70)
    assert [skill.name for skill in first.used] == ["haiku"]
    assert first.matches[0].score == pytest.approx(1.0)
    assert second.used == ()
    assert len(second.matches) == 4


async def test_a_function_compares_meanings(skills: list[AgentSkill]) -> None:
    def meaning(texts: list[str]) -> list[list[float]]:
        verse = ("haiku", "verse", "sonnet")
        return [[1.0, 0.0] if any(w in t.lower() for w in verse) else [0.0, 1.0] for t in texts]

    found = await match(skills, "I need a sonnet", embedding_model=meaning)
    assert [skill.name for skill in found.used] == ["haiku"]
    assert found.scorer == "meaning"


async def test_an_embedding_model_that_fails_costs_the_skills_and_not_the_run(
    skills: list[AgentSkill],
) -> None:
    twice = {"attempts": 2, "retry_interval": 0.0}
    async with ModelServer(embeddings=[Reply.error(500, "out of order")] * 2) as server:
        model = server.model("e")
        with pytest.warns(UserWarning, match="no agent skill is used: openai/e .*out of order"):
            found = await match(skills, "haiku", embedding_model=model, settings=twice)
        assert len(server.requests) == 2
    assert (found.used, found.matches, found.scorer) == ((), (), "openai/e")
    assert found.error is not None
    assert (found.error["type"], found.error["kind"]) == ("ModelError", "server")
    json.dumps(found.error)


@pytest.mark.parametrize("model", ["simulated", "nobody/nothing", dict])
async def test_a_model_without_vectors_is_such_a_failure_too(
    skills: list[AgentSkill], model: Any
) -> None:
    with pytest.warns(UserWarning, match="no agent skill is used"):
        found = await match(skills, "haiku", embedding_model=model)
    assert found.error is not None
    assert found.used == ()


async def test_vectors_that_changed_their_length_are_forgotten(
    skills: list[AgentSkill], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(skill_matching, "_vectors", {})
    size = 3

    def model(texts: list[str]) -> list[list[float]]:
        return [[1.0] * size for _ in texts]

    assert len((await match(skills, "x", embedding_model=model)).used) == 3
    size = 4
    with pytest.warns(UserWarning, match="several lengths"):
        assert (await match(skills, "x", embedding_model=model)).used == ()
    assert len((await match(skills, "x", embedding_model=model)).used) == 3


async def test_a_stop_while_vectors_are_awaited_goes_through(skills: list[AgentSkill]) -> None:
    asked = asyncio.Event()

    async def slow(texts: list[str]) -> Any:
        asked.set()
        await asyncio.sleep(60)

    task = asyncio.create_task(match(skills, "haiku", embedding_model=slow))
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_ten_skills_are_matched_in_a_few_milliseconds(tmp_path: Path) -> None:
    many = [AgentSkill(bundle(tmp_path, f"s-{n}", f"{ABOUT['pdf']} {n}")) for n in range(10)]
    await match(many, "warm up")
    took = []
    for _ in range(20):
        began = time.perf_counter()
        await match(many, "Please extract the tables from this PDF file")
        took.append(time.perf_counter() - began)
    assert sorted(took)[10] < 0.05


# what is used


async def test_a_used_skill_brings_instructions_scripts_and_a_reader(tmp_path: Path) -> None:
    folder = bundle(tmp_path, "pdf", more="metadata: {timeout: 5}\n")
    put(folder, "scripts/greet.py", GREET)
    put(folder, "scripts/lib.py", "x = 1\n")
    put(folder, "references/FORMS.md", "How to fill forms.")
    put(folder, "assets/a/table.csv", "1,2")
    put(folder, ".git/config", "hidden")
    skill = AgentSkill(folder)
    section = skill.section()
    assert section.startswith("# Skill: pdf\n\nDo pdf well.")
    assert "Scripts of this skill that are tools: greet." in section
    assert section.endswith("- assets/a/table.csv\n- references/FORMS.md")
    greet, reader = skill.tools()
    assert (greet.name, greet.description) == ("greet", "Greet somebody.")
    assert greet.function.timeout == 5  # type: ignore[attr-defined]
    assert greet.function.folder == folder  # type: ignore[attr-defined]
    assert "not confined" in greet.source
    assert "of skill pdf" in greet.source
    assert (await read(greet, args=["you"])).content == "hello you\n"
    done = await read(reader, skill="pdf", path="references/FORMS.md")
    assert done.content == "How to fill forms."


def test_a_skill_with_nothing_but_instructions_brings_no_tools(skills: list[AgentSkill]) -> None:
    assert skills[0].tools() == []
    assert skills[0].section() == "# Skill: pdf\n\nDo pdf well."


def test_several_skills_share_one_reader_and_clashing_scripts_get_longer_names(
    tmp_path: Path,
) -> None:
    chosen = []
    for name in ("pdf", "charts"):
        folder = bundle(tmp_path, name)
        put(folder, "scripts/run.py", GREET)
        put(folder, "scripts/run.sh", "#!/bin/sh\n")
        put(folder, "references/a.md", "x")
        chosen.append(AgentSkill(folder))
    found = equip(chosen, taken={"charts_run"}, timeout=7)
    names = [tool.name for tool in found.tools]
    assert names == ["run", "pdf_run", "charts_run_2", "charts_run_3", "read_skill_file"]
    assert len(ToolManifest(found.tools)) == 5
    assert "tools: charts_run_2, charts_run_3." in found.sections[1].text
    assert found.tools[0].function.timeout == 7  # type: ignore[attr-defined]
    again = equip(chosen, taken={"read_skill_file"})
    assert again.tools[-1].name == "skills_read_skill_file"
    assert "(skills_read_skill_file with skill 'pdf' reads them)" in again.sections[0].text


def test_odd_file_names_make_tool_names(tmp_path: Path) -> None:
    folder = bundle(tmp_path, "pdf")
    for name in ("größe messen.sh", "日本.sh", "x" * 100 + ".sh", "9.sh"):
        put(folder, f"scripts/{name}", "#!/bin/sh\n")
    names = {tool.name for tool in AgentSkill(folder).tools()}
    assert names == {"9", "gro_e_messen", "x" * 64, "script"}


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt", "references/../../secret.txt", "/etc/passwd", "link.md", "references",
        "nothing.md", "loop", "", ".", "a\0b",
    ],
)  # fmt: skip
async def test_a_reader_reads_files_of_its_bundle_only(tmp_path: Path, path: str) -> None:
    folder = bundle(tmp_path, "pdf")
    put(folder, "references/a.md", "x")
    secret = put(tmp_path, "secret.txt", "the secret")
    (folder / "link.md").symlink_to(secret)
    (folder / "loop").symlink_to(folder / "loop")
    (reader,) = AgentSkill(folder).tools()
    done = await read(reader, skill="pdf", path=path)
    assert done.status == "failed"
    assert "has no file" in done.content
    assert "the secret" not in done.content
    assert path != "nothing.md" or "'references/a.md'" in done.content


async def test_a_reader_names_what_it_cannot_read(tmp_path: Path) -> None:
    folder = bundle(tmp_path, "pdf")
    put(folder, "a.md", "x")
    (folder / "b.png").write_bytes(b"\x89PNG\xff")
    put(folder, "c.txt", "a\0b")
    (reader,) = AgentSkill(folder).tools()
    assert "is no text file (5 bytes)" in (await read(reader, skill="pdf", path="b.png")).content
    assert "is no text file (3 bytes)" in (await read(reader, skill="pdf", path="c.txt")).content
    assert "skill" in (await read(reader, skill="charts", path="a.md")).content
    assert "offset 9 is not" in (await read(reader, skill="pdf", path="a.md", offset=9)).content
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        assert "has no file" in (await read(reader, skill="pdf", path="pipe")).content


async def test_a_long_file_is_read_page_by_page(tmp_path: Path) -> None:
    folder = bundle(tmp_path, "pdf")
    text = "".join(f"line {n} ü\n" for n in range(9_000))
    put(folder, "long.md", text)
    (reader,) = AgentSkill(folder).tools()
    found, offset = "", 0
    while True:
        page = (await read(reader, skill="pdf", path="long.md", offset=offset)).content
        body, cut, rest = page.partition("\n[… ")
        found += body
        if not cut:
            break
        offset = int(rest.rpartition("offset ")[2].rstrip("]"))
    assert found == text


def test_a_skill_that_has_gone_is_said(skills: list[AgentSkill]) -> None:
    (skills[0].path / "SKILL.md").unlink()
    with pytest.raises(ConfigurationError, match="is gone"):
        skills[0].section()


# in a run


def test_a_run_uses_the_skill_that_fits_its_message_and_no_other(tmp_path: Path) -> None:
    put(bundle(tmp_path, "pdf"), "scripts/greet.py", GREET)
    put(bundle(tmp_path, "haiku"), "scripts/count.sh", "#!/bin/sh\n")
    call = ScriptedModel.tool_call("greet", {"args": ["a b; c"]})
    model = ScriptedModel([call, "done", "plain"])
    bot = rl.build(
        "b", model=model, agent_skills=True, skill_paths=[str(tmp_path)], system_prompt="Be brief."
    )
    result = bot.run("Extract the text of this PDF")
    assert result.text == "done"
    assert result.tool_calls[0].result == "hello a b; c\n"
    (matched,) = [e.data for e in result.events if e.type == "prompt.skills_matched"]
    assert [(m["name"], m["used"]) for m in matched["matches"]] == [("pdf", True), ("haiku", False)]
    told = result.state.messages[0].text
    assert told.startswith("# Skill: pdf")
    assert told.endswith("Be brief.")
    other = bot.run("What is the capital of France?")
    assert other.state.messages[0].text == "Be brief."
    assert other.state.info["tools"] == []


@pytest.mark.skipif(not os.path.exists("/proc/self"), reason="processes are looked at in /proc")
@pytest.mark.parametrize("stop", ["cancel", "stop_all"])
def test_stopping_a_run_ends_the_processes_of_its_scripts(tmp_path: Path, stop: str) -> None:
    text = "#!/bin/sh\nsleep 300 &\necho $$ $! > pids\nmv pids ready\nwait\n"
    folder = bundle(tmp_path, "pdf")
    put(folder, "scripts/slow.sh", text)
    model = ScriptedModel([ScriptedModel.tool_call("slow", {})])
    bot = rl.build("b", model=model, agent_skills=["pdf"], skill_paths=[str(tmp_path)])
    run = bot.start("Extract the text of this PDF")
    wait_for(lambda: (folder / "ready").exists() or run.done)
    pids = [int(word) for word in (folder / "ready").read_text().split()]
    assert all(map(alive, pids))
    if stop == "cancel":
        run.cancel()
    else:
        rl.stop_all()
    wait_for(lambda: run.done and not any(map(alive, pids)))
    assert run.status == "interrupted"
    assert [call.status for call in run.state.tool_calls.values()] == ["interrupted"]


def wait_for(true: Callable[[], object]) -> None:
    give_up = time.monotonic() + 20
    while not true():
        assert time.monotonic() < give_up
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False
