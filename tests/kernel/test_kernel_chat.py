"""A chat box in a real kernel, without a browser: what is published, what a message does."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from .test_kernel_live import WIDGET, Tap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SETUP = """
words = " ".join(f"word{n:03d}" for n in range(300))
def fresh(*script, **more):
    return rl.build("bot", model=rl.SimulatedModel(list(script) or ["hello **you**"], **more))
"""


@pytest.fixture
def tap(kernel: Any) -> Iterator[Tap]:
    kernel.run(SETUP)
    kernel.drain(0.2)
    found = Tap(kernel)
    yield found
    del kernel.client.iopub_channel._recv


def until(kernel: Any, check: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen"
        kernel.drain(0.1)


def comm(tap: Tap) -> str:
    found: str = tap.contents("comm_open")[-1]["comm_id"]
    return found


def shown(tap: Tap) -> list[dict[str, Any]]:
    """What stood in the place of the chat opened last, one after another."""
    display_id = next(i for i, b in reversed(tap.bundles) if "rlnb-seat" in b.get("text/html", ""))
    return [bundle for each, bundle in tap.bundles if each == display_id]


def head(tap: Tap) -> dict[str, Any]:
    """The chat's own record, as a front end has it."""
    record: dict[str, Any] = {}
    for content in tap.contents("comm_open", "comm_msg"):
        data = content["data"]
        state = data.get("state", {}).get("snapshot")
        for batch in (state, data.get("content")):
            for key, change in (batch or {}).get("ops", ()):
                if key == "chat" and isinstance(change, dict):
                    record |= change
    return record


def test_the_cell_ends_at_once_and_holds_a_picture_and_no_widget(kernel: Any, tap: Tap) -> None:
    began = time.monotonic()
    cell = kernel.run("bot = fresh(delay=5); bot.chat()")
    assert cell.status == "ok"
    assert time.monotonic() - began < 3
    (bundle,) = cell.displays
    assert set(bundle) == {"text/html", "text/plain"}
    assert "bot.run(" in bundle["text/plain"]
    assert f"rlnb-seat-{head(tap)['seat']}" in bundle["text/html"]
    kernel.run("bot.chat().close()")


def test_what_is_typed_is_answered_and_stored_after_the_turn(kernel: Any, tap: Tap) -> None:
    kernel.run("chat = fresh().chat(); chat")
    tap.say(comm(tap), {"hello": "page"})
    for _ in range(3):  # said again, as a page does that does not know whether it was heard
        tap.say(comm(tap), {"say": "Who are you?", "id": "page.1"})
    until(kernel, lambda: "hello" in str(shown(tap)))
    assert WIDGET not in str(shown(tap))
    bundle = shown(tap)[-1]
    assert "Who are you?" in bundle["text/plain"]
    assert "hello <strong>you</strong>" in bundle["text/html"]
    assert len(shown(tap)) <= 3, "once for a turn, not for each piece"
    assert kernel.run("len(chat.runs), chat.result.text").text == "(1, 'hello **you**')"
    assert "page.1" in head(tap)["heard"]
    kernel.run("chat.close()")
    assert "rlnb-seat" not in shown(tap)[-1]["text/html"]
    assert "Who are you?" in shown(tap)[-1]["text/html"]


def test_without_a_front_end_for_it_the_picture_follows_and_the_kernel_ends_well(
    kernel: Any, tap: Tap
) -> None:
    kernel.run("chat = fresh(words, pace=0.01).chat(); chat")
    kernel.drain(5.0)  # nobody says hello: first a view is tried, then none
    views = [WIDGET in bundle for bundle in shown(tap)]
    assert (views[0], any(views), views[-1]) == (False, True, False)
    kernel.run("chat.send('go on')")
    until(kernel, lambda: "word299" in str(shown(tap)), 20)
    assert 3 < len(shown(tap)) < 30, "twice a second at most"
    assert WIDGET not in shown(tap)[-1]
    assert kernel.run("chat.close()").status == "ok"
    assert "word299" in shown(tap)[-1]["text/html"]


def test_a_turn_belongs_to_no_cell(kernel: Any, tap: Tap) -> None:
    kernel.run("chat = fresh(words, pace=0.02).chat(); chat", cell_id="shown")
    tap.say(comm(tap), {"say": "go on", "id": "page.1", "hello": "page"})
    until(kernel, lambda: head(tap).get("busy"))
    kernel.run("other = fresh().run('x')", cell_id="other")
    kernel.run("other = fresh().run('x')", cell_id="other")
    kernel.run("print('the cell of the chat, run again')", cell_id="shown")
    assert kernel.run("chat.runs[-1].status").text == "'running'"
    tap.say(comm(tap), {"stop": True, "id": "page.2"})
    until(kernel, lambda: not head(tap)["busy"])
    assert kernel.run("chat.runs[-1].status").text == "'interrupted'"
    kernel.run("chat.close()")


def test_an_open_chat_does_not_hold_up_the_end_of_its_process() -> None:
    from .conftest import Kernel

    other = Kernel()
    try:
        other.run("import robotlab_nb as rl")
        other.run(
            "bot = rl.build('bot', model=rl.SimulatedModel(['x' * 5000], pace=1))\n"
            "chat = bot.chat(); chat.send('go'); chat"
        )
        began = time.monotonic()
        other.manager.shutdown_kernel(now=False)
        assert time.monotonic() - began < 6
    finally:
        other.client.stop_channels()
