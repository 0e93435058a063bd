"""Conversations with a name: they go on in another process, fork, and are deleted."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core import readings
from robotlab_nb.core.media import MediaPart
from robotlab_nb.runtime import recording

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Any]:
    with rl.options(log=str(tmp_path / "log.sqlite")):
        yield rl.log
        rl.log.flush(30)
    recording.look()


def counting(request: Any) -> str:
    return f"{len(request.messages)} messages"


def bot(
    session_id: str | None = "alice", name: str = "bot", delay: float = 0.0, **more: Any
) -> Any:
    model = rl.SimulatedModel(counting, delay=delay)
    return rl.build(name, model=model, session_id=session_id, **more)


def ask(robot: Any, text: str = "hi", **more: Any) -> str:
    return str(robot.run(text, show=False, **more).text)


OTHER = """
import sys
import robotlab_nb as rl
rl.options.log = sys.argv[1]
model = rl.SimulatedModel(lambda request: f"{len(request.messages)} messages")
robot = rl.build("bot", model=model, session_id="alice")
print([m.text for m in robot.messages])
print(robot.run("from another process", show=False).text)
"""


def test_a_conversation_goes_on_in_another_process_and_back(log: Any) -> None:
    robot = bot()
    assert ask(robot) == "1 messages"
    log.flush(30)
    done = subprocess.run(
        [sys.executable, "-c", OTHER, log.place], capture_output=True, text=True, timeout=120
    )
    assert done.stdout == "['hi', '1 messages']\n3 messages\n", done.stderr
    assert ask(robot) == "5 messages"  # it has heard of it
    assert [m.text for m in log.conversation("alice").messages[2:4]] == [
        "from another process", "3 messages",
    ]  # fmt: skip


def test_a_new_robot_reads_its_conversation_when_it_is_needed(log: Any) -> None:
    ask(bot())
    assert len(bot().messages) == 2
    assert ask(bot()) == "3 messages"
    assert ask(bot(name="other")) == "1 messages"  # each robot has its own
    assert ask(bot("bob")) == "1 messages"
    assert ask(bot(None)) == "1 messages"


def test_one_robot_can_talk_in_several_sessions(log: Any) -> None:
    robot = bot(None)
    for user, count in (("ann", 1), ("ben", 1), ("ann", 3), (None, 1), ("ben", 3)):
        config = None if user is None else {"session_id": user}
        assert ask(robot, f"I am {user}", config=config) == f"{count} messages"
    assert {m.text for m in log.conversation("ann").messages if m.is_user} == {"I am ann"}
    assert len(robot.messages) == 2
    with rl.options(log=None):  # in memory it is the same
        robot = bot(None)
        for user, count in (("ann", 1), ("ben", 1), ("ann", 3)):
            assert ask(robot, config={"session_id": user}) == f"{count} messages"


def test_who_is_second_keeps_the_turn_as_a_fork(log: Any) -> None:
    ask(bot(), "first")
    slow, quick = bot(delay=0.6), bot()
    run = slow.start("slow")
    assert quick.run("quick", show=False).state.conversation == "committed"
    result = run.result()
    assert result.state.conversation == "forked"
    assert result.text == "3 messages"
    assert "not committed: another run was first" in repr(result.state) + str(result._repr_html_())
    said = [m.text for m in log.conversation("alice").messages if m.is_user]
    assert said == ["first", "quick"]
    assert [fork.id for fork in log.conversation("alice").forks] == [result.run_id]
    assert ask(slow, "again") == "5 messages"  # and goes on from there


def test_who_was_overtaken_unseen_is_told(log: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from robotlab_nb.robot.sessions import NamedConversation

    ask(bot(), "first")
    one, two = bot(), bot()
    assert len(one.messages) == len(two.messages) == 2
    with monkeypatch.context() as blind:  # as if both had looked at the same moment
        blind.setattr(NamedConversation, "refresh", lambda self: None)
        lost = one.run("one", show=False)
        two.run("two", show=False)
    with pytest.warns(UserWarning, match=f"is kept in run {lost.run_id}"):
        assert ask(one, "three") == "5 messages"


def test_clearing_and_compressing_hold(log: Any) -> None:
    robot = bot()
    ask(robot)
    robot.clear_messages()
    assert ask(robot) == "1 messages"
    assert len(bot().messages) == 2
    for topic in ("kittens and cats", "rain in Paris", "rain in London", "more rain"):
        ask(robot, topic)
    before = len(robot.messages)
    assert robot.compress_history(keep=1.0, drop=0.999, recent_turns=1) > 0
    ask(robot, "after")
    assert len(robot.messages) < before
    assert bot().messages == robot.messages


def test_what_was_not_kept_cannot_be_continued(log: Any) -> None:
    with rl.options(log_content=False):
        ask(bot(), "secret")
        log.flush(30)
    with pytest.raises(rl.InputError, match="recorded without its texts"):
        ask(bot())
    with pytest.raises(rl.InputError, match="recorded without its texts"):
        _ = bot().messages
    assert "recorded without its texts" in readings.text(log.conversation("alice"))


def test_the_list_tells_turns_tokens_and_times(log: Any) -> None:
    for _ in range(3):
        ask(bot())
    ask(bot("b*b", name="ro[b]ot"))
    found = log.conversations()
    assert [(each.session_id, each.robot, each.turns) for each in found] == [
        ("b*b", "ro[b]ot", 1), ("alice", "bot", 3),
    ]  # fmt: skip
    alice = log.conversation("alice")
    assert alice.tokens == sum(run.row.input_tokens + run.row.output_tokens
                               for run in log.where(robot="bot"))  # fmt: skip
    assert alice.first_at < alice.last_at
    table = found.frame
    assert list(table["turns"]) == [1, 3]
    assert str(table["last_at"].dtype) == "datetime64[us, UTC]"
    assert "alice" in found._repr_html_()
    assert "3 messages" in alice._repr_html_()
    with pytest.raises(rl.InputError, match="Did you mean 'alice'"):
        log.conversation("alise")
    assert log.conversation("b*b").turns == 1


def test_two_robots_of_one_session_are_told_apart(log: Any) -> None:
    ask(bot())
    ask(bot(name="tutor"))
    with pytest.raises(rl.InputError, match="2 robots have a conversation 'alice'"):
        log.conversation("alice")
    assert log.conversation("alice", "tutor").turns == 1


def test_a_fork_goes_on_by_itself(log: Any) -> None:
    ask(bot())
    made = log.conversation("alice").fork("bob")
    assert made.messages == log.conversation("alice").messages
    assert ask(bot("bob")) == "3 messages"
    assert ask(bot()) == "3 messages"
    assert len(log.conversation("alice").messages) == 4
    assert log.store.check() == []
    assert len(log) == 3  # it is no run
    with pytest.raises(rl.InputError, match="already"):
        log.conversation("alice").fork("bob")


def test_deleting_asks_first_and_takes_all_of_it(log: Any) -> None:
    ask(bot())
    ask(bot())
    ask(bot("bob"))
    log.conversation("alice").fork("carol")
    alice = log.conversation("alice")
    with pytest.raises(rl.ConfigurationError, match=r"confirm=True"):
        alice.delete()
    assert alice.delete(confirm=True) == 2
    assert [each.session_id for each in log.conversations()] == ["carol", "bob"]
    assert ask(bot()) == "1 messages"
    assert ask(bot("carol")) == "5 messages"


def test_another_robot_can_take_it_over(log: Any) -> None:
    ask(bot())
    other = bot(None, name="other")
    assert ask(log.conversation("alice").resume(other)) == "3 messages"
    same = bot(None)
    assert ask(log.conversation("alice").resume(same)) == "3 messages"
    assert log.conversation("alice").turns == 2


def test_pictures_that_were_not_kept_become_words(log: Any) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(1_600_000)
    robot = bot()
    robot.run("look", attachments=[MediaPart.of(data, "image/png", "cat.png")], show=False)
    assert ask(bot()) == "3 messages"
    assert "[cat.png: not kept in the log]" in log.conversation("alice").messages[0].text


def test_a_log_that_cannot_be_read_later_is_a_warning(
    log: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from robotlab_nb.runlog.faults import LogLocked

    robot = bot()
    ask(robot)

    def locked(*_: Any) -> None:
        raise LogLocked("the log is locked")

    readings.reading("conversation")
    monkeypatch.setitem(readings._loaded, "conversation", locked)
    with pytest.warns(UserWarning, match="not asked for news: the log is locked"):
        assert ask(robot) == "3 messages"
    with pytest.raises(LogLocked):
        ask(bot())


def test_networks_and_delegated_work_leave_no_conversation(log: Any) -> None:
    net = rl.create_network("net", config={"session_id": "alice"})
    net.task("one", bot(None))
    net.run("go", show=False)
    assert log.conversations() == []


def test_the_last_commit_counts_and_not_the_last_end(log: Any) -> None:
    from dataclasses import replace

    from robotlab_nb.runlog.records import Batch

    ask(bot(), "first")
    (run,) = log.runs()
    events = run.events
    for name, committed, ended in (("late", 30.0, 40.0), ("slow", 10.0, 50.0)):
        scope = replace(events[0].scope, run_id=name, root_id=name)
        times = {"conversation.committed": committed, "run.completed": ended}
        told = [replace(e, scope=scope, elapsed=times.get(e.type, e.elapsed)) for e in events]
        log.store.write(Batch(told))
    assert log.conversation("alice").run_id == "late"
    from robotlab_nb.runlog.sessions import latest

    found = latest("alice", "bot")
    assert found is not None
    assert found.run_id == "late"


def test_hostile_names_and_texts_are_inert_in_the_pictures(log: Any) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\u202e"
    model = rl.SimulatedModel([evil, evil])
    rl.build(evil, model=model, session_id=evil).run(evil, show=False)
    (kept,) = found = log.conversations()
    for thing in (found, kept):
        drawn = thing._repr_html_()
        assert "alert(1)" in drawn
        assert "<script" not in drawn
        assert "<img" not in drawn
        assert "\u202e" not in readings.text(thing)
