"""What a robot has learned: said once, kept in a file that processes share."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.robot import learnings as module
from robotlab_nb.robot.learnings import Learnings, LearningsFile, merged


def test_what_is_blank_or_known_is_not_noted():
    known = Learnings()
    assert not known.add(" \n ")
    assert known.add("The user likes  tea")
    assert not known.add("the USER likes tea")
    assert not known.add("likes tea")
    assert known.texts == ("The user likes  tea",)
    with pytest.raises(rl.InputError, match="a learning is a text, not int"):
        known.add(3)


def test_what_says_more_replaces_what_says_less():
    known = Learnings()
    for text in ("likes tea", "has a dog", "She likes tea", "lives in Rome and she likes tea"):
        assert known.add(text)
    assert known.texts == ("has a dog", "lives in Rome and she likes tea")


texts = st.lists(st.text("aAb \n", max_size=6), max_size=8)


@given(texts)
def test_no_observation_ever_contains_another(added):
    found: tuple[str, ...] = ()
    for text in added:
        before, found = found, merged(found, text)
        assert (found == before) == any(
            not text.strip() or plain(text) in plain(old) for old in before or ("",)
        )
    for a in found:
        assert a.strip()
        assert [b for b in found if plain(a) in plain(b)] == [a]


def plain(text):
    return " ".join(text.casefold().split())


def test_the_section_of_the_system_message():
    known = Learnings()
    assert known.section() == ""
    known.add("likes tea")
    known.add("two\nlines")
    assert known.section() == "What you have learned so far:\n- likes tea\n- two\n  lines"


# -- kept ------------------------------------------------------------------------------------------


def test_a_file_keeps_them_and_is_read_again_when_it_changes(tmp_path):
    path = tmp_path / "new folder" / "learned.jsonl"
    one, two = Learnings(path), Learnings(str(path))
    assert one.texts == ()
    assert not path.exists()
    one.add("likes tea ☕")
    assert two.texts == ("likes tea ☕",)
    two.add("has a dog")
    assert one.texts == ("likes tea ☕", "has a dog")
    lines = path.read_text().splitlines()
    assert [json.loads(line) for line in lines] == [{"text": t} for t in one.texts]
    one.clear()
    assert two.texts == ()


def test_hostile_texts_are_kept_as_they_are(tmp_path):
    corpus = json.loads((Path(__file__).parents[1] / "data" / "hostile.json").read_text("utf-8"))
    for text in texts_in(corpus):
        known = Learnings(tmp_path / "a.jsonl")
        known.clear()
        if known.add(text):
            assert Learnings(tmp_path / "a.jsonl").texts == (text.strip(),)


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts_in(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


def test_an_unchanged_file_is_not_read_again(tmp_path, monkeypatch):
    known = Learnings(tmp_path / "a.jsonl")
    known.add("likes tea")
    assert known.texts
    monkeypatch.setattr(LearningsFile, "_read", lambda self: pytest.fail("read again"))
    assert known.texts == ("likes tea",)


def test_a_change_that_a_coarse_clock_does_not_show_is_not_lost(tmp_path):
    path = tmp_path / "a.jsonl"
    known = Learnings(path)
    known.add("likes tea")
    assert known.texts == ("likes tea",)
    before = path.stat()
    path.write_text(path.read_text().replace("tea", "jam"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    known.add("has a dog")
    assert known.texts == ("likes jam", "has a dog")


def test_damaged_lines_are_reported_once_and_kept_aside(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(
        b'{"text": "likes tea"}\n{"text": \xff\n{"text": 3}\n{"text": "has a dog"}\n{"te'
    )
    known = Learnings(path)
    with pytest.warns(RuntimeWarning, match=r"a.jsonl: 3 damaged line\(s\).*\(line 2, 3, 5\)"):
        assert known.texts == ("likes tea", "has a dog")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert known.add("lives in Rome")
    assert known.texts == ("likes tea", "has a dog", "lives in Rome")
    aside = (tmp_path / "a.jsonl.damaged").read_bytes()
    assert aside == b'{"text": \xff\n{"text": 3}\n{"te\n'
    assert len(path.read_text().splitlines()) == 3


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_failed_write_loses_nothing(tmp_path, monkeypatch, fails):
    known = Learnings(tmp_path / "a.jsonl")
    known.add("likes tea")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, fails, full)
    with pytest.raises(OSError, match="No space"):
        known.add("has a dog")
    monkeypatch.undo()
    assert known.texts == ("likes tea",)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jsonl", "a.jsonl.lock"]


def test_processes_and_threads_lose_none_of_each_others(tmp_path):
    path = tmp_path / "a.jsonl"
    code = textwrap.dedent(
        """
        import sys
        from robotlab_nb.robot.learnings import Learnings
        for n in range(25):
            Learnings(sys.argv[1]).add(f"<{sys.argv[2]}-{n}>")
        """
    )
    others = [
        subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("a", "b")
    ]

    def here(name):
        for n in range(25):
            Learnings(path).add(f"<{name}-{n}>")

    threads = [threading.Thread(target=here, args=(name,)) for name in ("c", "d")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.wait(120) for other in others] == [0, 0]
    assert set(Learnings(path).texts) == {f"<{name}-{n}>" for name in "abcd" for n in range(25)}


def test_a_lock_that_is_never_let_go_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_S", 0.05)
    known = Learnings(tmp_path / "a.jsonl")
    with (
        LearningsFile(tmp_path / "a.jsonl").locked(),
        pytest.raises(rl.AwaitTimeout, match="locked for 0.05 s"),
    ):
        known.add("likes tea")


def test_a_store_of_ones_own():
    class Kept:
        held = ("likes tea",)

        def load(self):
            return list(self.held)

        def save(self, texts):
            self.held = tuple(texts)

    store = Kept()
    known = Learnings(store)
    fork = known.copy()
    assert fork.add("has a dog")
    assert known.texts == store.held == ("likes tea", "has a dog")
    with pytest.raises(rl.ConfigurationError, match="takes a path or a store, not int"):
        Learnings(3)


def test_a_copy_goes_its_own_way():
    known = Learnings()
    known.add("likes tea")
    fork = known.copy()
    fork.add("has a dog")
    assert (known.texts, len(fork)) == (("likes tea",), 2)


# -- in a robot ------------------------------------------------------------------------------------


def test_learnings_stand_in_the_system_message_and_not_in_the_conversation(tmp_path):
    model = rl.testing.ScriptedModel(["one", "two"])
    bot = rl.build("b", system_prompt="Be brief.", model=model, learnings=tmp_path / "a.jsonl")
    bot.run("Hi")
    assert bot.learn("The user likes tea")
    assert not bot.learn("likes tea")
    bot.run("Again")
    assert model.requests[0].messages[0].text == "Be brief."
    assert model.requests[1].messages[0].text == (
        "Be brief.\n\nWhat you have learned so far:\n- The user likes tea"
    )
    assert [m.text for m in bot.messages[1:]] == ["Hi", "one", "Again", "two"]
    again = rl.build("c", model=model, learnings=tmp_path / "a.jsonl")
    assert again.learnings == ("The user likes tea",)
