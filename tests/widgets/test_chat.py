"""A chat, without a browser: turns, what waits, what is said elsewhere, records, pictures."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.display.pictures import html
from robotlab_nb.widgets.assets import script
from robotlab_nb.widgets.chat_box import ChatBox
from robotlab_nb.widgets.chat_prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable

    from robotlab_nb.robot.chat import Chat

HOSTILE = json.loads((Path(__file__).parent.parent / "data" / "hostile.json").read_text("utf-8"))
TEXTS = [text for group in HOSTILE.values() for text in group if isinstance(text, str)]
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def robot(*script: Any, **more: Any) -> rl.Robot[Any]:
    """A robot that streams: in a notebook, the box is what reads the pieces."""
    model = rl.SimulatedModel(list(script) or ["hello"], **more)
    return rl.build("bot", model=model, on_content=len)


def echo(request: Any) -> str:
    text = request.messages[-1].text
    if text == "fail":
        raise rl.ModelError("no such key", kind="auth", hint="Set one.")
    return f"echo {text}"


def echoing(**more: Any) -> rl.Robot[Any]:
    return rl.build("bot", model=rl.SimulatedModel(echo, **more))


def until(check: Callable[[], object], seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


def done(chat: Chat) -> None:
    def rests() -> bool:
        with chat._lock:  # nothing is on its way from the queue to the robot
            return not chat.busy and not chat.waiting

    until(rests)


def look(box: ChatBox) -> dict[str, Any]:
    box.batch()
    return box.doc.records


def told(records: dict[str, Any]) -> list[tuple[str, str]]:
    """Who said what, notes without a name of their own."""
    return [
        (records[r["in"]]["who"] if r["kind"] != "note" else r["icon"], r.get("text") or r["name"])
        for r in records.values()
        if r.get("kind") in ("text", "tool", "note")
    ]


def applied(records: dict[str, Any], ops: list[Any]) -> dict[str, Any]:
    """What the browser does with changes."""
    for key, change in ops:
        if change is None:
            records.pop(key, None)
        elif isinstance(change, str):
            records[key]["text"] += change
        else:
            records.setdefault(key, {}).update(change)
    return records


# -- turns -------------------------------------------------------------------------------------


def test_a_turn_in_a_chat_is_a_turn_of_the_robot() -> None:
    bot = echoing()
    bot.run("before")
    chat = bot.chat()
    chat.send("inside")
    done(chat)
    assert bot.run("after").text == "echo after"
    assert len(chat.parts) == 3
    bot.run("and later")
    said = ["before", "inside", "after", "and later"]
    assert [m.text for m in bot.messages][::2] == said
    assert chat.result is not None
    assert chat.result.text == "echo inside"
    assert len(chat.runs) == 1
    assert [part.kind for part in chat.parts] == ["said", "turn", "said", "said"]
    lines = told(look(ChatBox(chat)))
    assert lines == [line for text in said for line in (("you", text), ("bot", f"echo {text}"))]


def test_messages_wait_for_their_turn_and_too_many_are_refused() -> None:
    chat = echoing(delay=0.3).chat()
    for number in range(6):
        chat.send(f"m{number}")
    assert chat.waiting == ("m1", "m2", "m3", "m4", "m5")
    with pytest.raises(rl.InputError, match="5 messages wait already"):
        chat.send("m6")
    done(chat)
    assert [m.text for m in chat.messages if m.role == "user"] == [f"m{n}" for n in range(6)]
    assert [run.status for run in chat.runs] == ["completed"] * 6


def test_a_box_refuses_what_cannot_wait_and_says_so() -> None:
    chat = echoing(delay=5).chat()
    box = ChatBox(chat)
    for number in range(7):
        box.heard({"say": f"m{number}", "id": f"p.{number}", "hello": "p"})
    assert "5 messages wait already" in look(box)["chat"]["refused"]
    assert [look(box)[f"W{n}"]["text"] for n in range(5)] == [f"m{n}" for n in range(1, 6)]
    chat.close()


def test_stopping_an_answer_keeps_what_was_written_and_goes_on() -> None:
    chat = robot(" ".join(["word"] * 500), "short", pace=0.02).chat()
    chat.send("one")
    chat.send("two")
    box = ChatBox(chat)
    until(lambda: any("word word" in str(r.get("text")) for r in look(box).values()))
    chat.stop()
    until(lambda: len(chat.runs) == 2)
    done(chat)
    assert [run.status for run in chat.runs] == ["interrupted", "completed"]
    lines = told(look(box))
    assert lines[2:] == [("■", "stopped"), ("you", "two"), ("bot", "short")]
    assert lines[1][1].startswith("word word")


def test_a_failed_turn_is_shown_once_and_the_chat_goes_on() -> None:
    chat = echoing().chat()
    chat.send("fail")
    done(chat)
    chat.send("again")
    done(chat)
    assert told(look(ChatBox(chat))) == [
        ("you", "fail"), ("✕", "failed · no such key · Set one."),
        ("you", "again"), ("bot", "echo again"),
    ]  # fmt: skip
    for shown in (html(chat), repr(chat)):
        assert "no such key" in shown
        assert "echo again" in shown


def test_a_turn_that_cannot_begin_is_a_failed_turn() -> None:
    template = rl.Template("---\nparameters: {name: }\n---\nYou help {{ name }}.")
    bot = rl.build("bot", model=rl.SimulatedModel(["x"]), template=template)
    chat = bot.chat()
    chat.send("hello")
    assert chat.runs == ()
    (said, why) = told(look(ChatBox(chat)))
    assert said == ("you", "hello")
    assert why[0] == "✕"
    assert "name" in why[1]
    assert "name" in html(chat)
    other = bot.chat(context={"name": "Ada"})
    other.send("hello")
    done(other)
    assert [run.state.messages[0].text for run in other.runs] == ["You help Ada."]


def test_what_another_run_said_first_makes_a_turn_that_is_not_kept() -> None:
    bot = echoing(delay=0.3)
    chat = bot.chat()
    chat.send("slow")
    quick = bot.start("meanwhile", config={"model": rl.SimulatedModel(["quick"])})
    assert quick.result().text == "quick"
    done(chat)
    lines = told(look(ChatBox(chat)))
    assert lines[2][1].startswith("not kept")
    assert lines[3:] == [("you", "meanwhile"), ("bot", "quick")]
    assert "not kept" in html(chat)


def test_a_cleared_conversation_is_said() -> None:
    bot = echoing()
    chat = bot.chat()
    chat.send("one")
    done(chat)
    bot.clear_messages()
    chat.send("two")
    done(chat)
    lines = [text for _, text in told(look(ChatBox(chat)))]
    assert lines[0] == "one"
    assert "cleared" in lines[2]
    assert len(bot.messages) == 2


def test_what_is_said_next_answers_the_one_open_question() -> None:
    steps = [("ask_user", {"question": "Which size?"}), "ordered"]
    chat = rl.build("shop", model=rl.SimulatedModel(steps), tools=[rl.ask_user]).chat()
    box = ChatBox(chat)
    chat.send("shoes")
    until(lambda: chat.asked is not None)
    records = look(box)
    (question,) = [r for k, r in records.items() if k[0] == "Q"]
    assert question["text"] == "Which size?"
    assert question["how"][0][0].startswith("chat.answer(")
    assert records["chat"]["placeholder"] == "Your answer to shop"
    assert "chat.answer" in html(chat)
    chat.send("L")
    done(chat)
    assert chat.result is not None
    assert chat.result.tool_calls[0].result == "L"
    assert not [key for key in look(box) if key[0] == "Q"]


def test_an_approval_is_not_given_by_what_is_typed() -> None:
    calls: list[str] = []

    def pay(amount: int) -> str:
        "Pay."
        calls.append("paid")
        return "paid"

    steps = [("pay", {"amount": 3}), "done", "what?"]
    bot = rl.build("shop", model=rl.SimulatedModel(steps), tools=[pay], approve=True)
    chat = bot.chat()
    chat.send("pay")
    until(lambda: chat.runs[0].pending)
    assert chat.asked is None
    chat.send("yes")
    assert chat.waiting == ("yes",)
    assert calls == []
    chat.answer(True)
    done(chat)
    assert calls == ["paid"]


def test_tables_hold_all_turns() -> None:
    chat = echoing().chat()
    assert chat.frames.runs.shape[0] == 0
    assert chat.result is None
    for text in ("one", "two"):
        chat.send(text)
        done(chat)
    assert chat.frames.runs["input"].tolist() == ["one", "two"]
    assert chat.usage.calls == 2


# -- beginning and ending ------------------------------------------------------------------------


def test_wrong_settings_are_named() -> None:
    bot = robot()
    with pytest.raises(rl.UnknownKeyword, match="Did you mean 'starters'"):
        bot.chat(starter=["x"])  # type: ignore[call-arg]
    for wrong in ({"starters": [1]}, {"starters": [""]}, {"height": 3}, {"placeholder": 3}):
        with pytest.raises(rl.ConfigurationError, match=next(iter(wrong))):
            bot.chat(**wrong)  # type: ignore[arg-type]
    with pytest.raises(rl.InputError, match="text with something in it"):
        bot.chat().send("  ")


def test_ending_keeps_the_transcript_and_another_chat_goes_on() -> None:
    bot = echoing()
    chat = bot.chat()
    chat.send("one")
    done(chat)
    chat.close()
    with pytest.raises(rl.InputError, match="has ended"):
        chat.send("two")
    bot.run("later on")
    assert [m.text for m in chat.messages] == ["one", "echo one"]
    assert "later on" not in html(chat)
    other = bot.chat()
    assert [m.text for m in other.messages][-1] == "echo later on"
    third = bot.chat()
    assert (other.closed, third.closed) == (True, False)


def test_ending_stops_the_answer() -> None:
    chat = echoing(delay=30).chat()
    chat.send("one")
    chat.send("two")
    began = time.monotonic()
    chat.close()
    assert time.monotonic() - began < 2
    assert [run.status for run in chat.runs] == ["interrupted"]
    assert chat.waiting == ()
    chat.robot.run("later on", config={"model": rl.SimulatedModel(["x"])})
    assert "later on" not in [message.text for message in chat.messages]
    box = ChatBox(chat)
    assert box.ended
    box.make_widget()
    assert box.widget is None


def test_compressed_conversations_are_not_taken_for_changed_ones() -> None:
    bot = rl.build(
        "bot", model=rl.SimulatedModel(lambda request: "the same words " * 40),
        context_window=600, auto_compact=True, recent_turns=1,
    )  # fmt: skip
    chat = bot.chat()
    for number in range(6):
        chat.send(f"question {number}")
        done(chat)
    assert {part.kind for part in chat.parts} == {"turn"}
    assert len(bot.messages) < 12


# -- records and batches -------------------------------------------------------------------------


def test_a_snapshot_and_the_batches_after_it_are_all_there_is() -> None:
    def lookup(word: str) -> str:
        "Look up."
        return word.upper()

    script = [{"reasoning": "hm", "tools": [("lookup", {"word": "a"})]}, "**one** two three " * 20]
    model = rl.SimulatedModel(script, pace=0.005)
    bot = rl.build("bot", model=model, tools=[lookup], on_content=len)
    chat = bot.chat()
    box = ChatBox(chat)
    early = applied({}, json.loads(json.dumps(box.snapshot()))["ops"])
    late: dict[str, Any] = {}
    numbers = []
    for text in ("first", "second"):
        chat.send(text)
        while chat.busy:
            batch = box.batch()
            if batch is not None:
                numbers.append(batch["n"])
                ops = json.loads(json.dumps(batch["ops"]))
                applied(early, ops)
                if late:
                    applied(late, ops)
            if len(numbers) == 5:
                late = applied({}, json.loads(json.dumps(box.snapshot()))["ops"])
            time.sleep(0.01)
    batch = box.batch() or {"ops": []}
    for records in (early, late):
        applied(records, json.loads(json.dumps(batch["ops"])))
        assert records == box.doc.records
    assert numbers == list(range(1, len(numbers) + 1))
    # A box opened afterwards tells the same.
    assert told(ChatBox(chat).doc.records) == told(early)
    heads = [r["who"] for k, r in early.items() if k[0] == "E"]
    assert heads == ["you", "bot", "you", "bot"], "one name for all that is done for an answer"


def test_an_answer_has_its_form_when_it_is_whole() -> None:
    chat = robot("**bold**", pace=0.05).chat()
    box = ChatBox(chat)
    chat.send("x")
    done(chat)
    (answer,) = [r for r in look(box).values() if r.get("text") == "**bold**"]
    assert answer["tree"] == [["p", {}, ["strong", {}, "bold"]]]
    (asked,) = [r for r in look(box).values() if r.get("text") == "x"]
    assert "tree" not in asked


def test_a_message_that_is_said_again_counts_once() -> None:
    chat = echoing().chat()
    box = ChatBox(chat)
    for _ in range(3):
        box.heard({"say": "hi", "id": "page.1", "hello": "page"})
    done(chat)
    assert len(chat.runs) == 1
    assert look(box)["chat"]["heard"] == ["page.1"]
    assert box.heard_from
    box.heard({"end": True, "id": "page.2"})
    until(lambda: box.ended)
    assert look(box)["chat"]["open"] is False


def test_a_long_chat_keeps_the_newest_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    from robotlab_nb.widgets import chat_doc

    monkeypatch.setattr(chat_doc, "ENTRIES", 5)
    chat = echoing().chat()
    box = ChatBox(chat)
    seen = applied({}, box.snapshot()["ops"])
    for number in range(10):
        chat.send(f"m{number}")
        done(chat)
        applied(seen, (box.batch() or {"ops": []})["ops"])
    assert seen == box.doc.records
    assert sum(key[0] == "E" for key in seen) == 5
    assert told(seen)[-1] == ("bot", "echo m9")


def test_an_open_chat_that_rests_costs_next_to_nothing() -> None:
    bot = echoing()
    chat = bot.chat()
    for number in range(20):
        chat.send(f"m{number}")
        done(chat)
    box = ChatBox(chat)
    box.batch()
    began = time.thread_time()
    for _ in range(1000):
        assert box.batch() is None
    assert time.thread_time() - began < 0.1, "10 looks a second: a thousandth of a core at most"


def test_the_picture_is_new_after_a_turn_and_not_while_one_reads_the_box() -> None:
    now = [1000.0]
    chat = robot("word " * 100, pace=0.01).chat()
    box = ChatBox(chat, clock=lambda: now[0])
    first = box.picture()
    assert first is not None
    assert f"rlnb-seat-{box.seat}" in first[0]
    box.heard({"hello": "page"})
    chat.send("go")
    while chat.busy:
        now[0] += 1
        assert box.picture() is None or not chat.busy
        time.sleep(0.05)
    now[0] += 1
    assert box.picture() is None or "word" in (box.last()["text/html"])
    assert "rlnb-seat" not in box.last()["text/html"]


# -- hostile words -------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_text_is_only_ever_visible_text(text: str) -> None:
    chat = robot(text or "-").chat()
    box = ChatBox(chat)
    if text.strip():
        chat.send(text)
        done(chat)
    records = look(box)
    json.dumps(box.snapshot()).encode("utf-8")

    def strings(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [s for v in value.values() for s in strings(v)]
        if isinstance(value, (list, tuple)):
            return [s for v in value for s in strings(v)]
        return [value] if isinstance(value, str) else []

    assert [s for s in strings(list(records.values())) if UNSEEN.search(s)] == []
    page = html(chat)
    assert "<script" not in page.lower().replace("&lt;script", "")
    assert not UNSEEN.search(repr(chat))


@pytest.mark.parametrize("text", TEXTS)
def test_the_form_of_hostile_text_is_made_of_known_elements(text: str) -> None:
    def check(node: Any) -> None:
        if isinstance(node, str):
            return
        tag, attributes, *children = node
        assert re.fullmatch(
            "p|strong|em|s|del|code|pre|[uo]l|li|blockquote|h[3-6]|table|thead|tbody|t[rhd]|div"
            "|span|a|br|hr",
            tag,
        )
        assert set(attributes) <= {"href", "start", "class"}
        assert re.match("https?://|mailto:", attributes.get("href", "https://"), re.I)
        for child in children:
            check(child)

    for node in prose(text):
        check(node)


def test_the_front_end_only_makes_nodes_and_fetches_nothing() -> None:
    text = script("chat.js")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "fetch(", "import("):
        assert word not in text
