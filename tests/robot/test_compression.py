"""Long conversations: what stays, what goes, what is summed up, and that it can always be sent."""

from __future__ import annotations

import json
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import robotlab_nb as rl
from robotlab_nb.core.fields import FIELDS
from robotlab_nb.core.messages import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from robotlab_nb.models import tokens
from robotlab_nb.models.openai_request import encode
from robotlab_nb.models.protocol import Request
from robotlab_nb.robot.compression import (
    SUMMARY,
    accepted,
    compact,
    counted,
    needs_compacting,
    tokens_of,
    turns_of,
    window_of,
)
from robotlab_nb.robot.conversation import repair
from robotlab_nb.testing import ModelServer, Reply, ScriptedModel

MODEL = rl.SimulatedModel(["x"])


def settings(**more: Any) -> dict[str, Any]:
    return {**{name: field.default for name, field in FIELDS.items()}, "recent_turns": 1, **more}


def turn(question: str, answer: str) -> list[Message]:
    return [Message("user", question), Message("assistant", answer)]


PARIS = turn("Which hotels are there in Paris?", "Hotel Lutetia and hotel Ritz in Paris.")
COOKING = turn("How long do I boil an egg?", "Seven minutes, for a soft one.")
TRAIN = turn("When does the train leave?", "The train to Paris leaves at nine from platform four.")
LATEST = turn("Which of the hotels in Paris is cheap?", "The hotel Ritz in Paris is not cheap.")


async def test_older_turns_stay_if_they_are_like_the_latest_and_go_if_they_are_not():
    found = await compact(None, [*PARIS, *COOKING, *LATEST], settings(), model=MODEL, keep=0.3)
    assert list(found.messages) == [*PARIS, *LATEST]
    assert (found.summary, found.dropped, found.new) == (None, 2, ())
    assert found.strategy == "context_window"
    assert (found.before, found.after) == (
        tokens_of([*PARIS, *COOKING, *LATEST]), tokens_of(found.messages),
    )  # fmt: skip


async def test_what_lies_between_is_summed_up_before_the_words_that_follow():
    asked = []

    def shorten(text):
        asked.append(text)
        return "Train at nine."

    said = [*COOKING, *TRAIN, *LATEST]
    found = await compact(None, said, settings(summarizer=shorten), model=MODEL, drop=0.01)
    assert asked == [
        "User: When does the train leave?\n"
        "Assistant: The train to Paris leaves at nine from platform four."
    ]
    assert found.summary.text == f"{SUMMARY}Train at nine.\n\n{LATEST[0].text}"
    assert found.messages == (found.summary, LATEST[1])
    assert (found.new, found.dropped) == ((found.summary,), 4)


async def test_without_a_summarizer_what_lies_between_goes():
    found = await compact(None, [*TRAIN, *LATEST], settings(), model=MODEL, drop=0.01)
    assert list(found.messages) == LATEST


async def test_the_summary_stands_where_the_first_of_what_it_sums_up_stood():
    later = turn("And in Rome?", "Rome has the hotel Eden, not cheap.")
    said = [*PARIS, *TRAIN, *PARIS, *TRAIN, *later, *LATEST]
    found = await compact(
        None, said, settings(summarizer=lambda text: "S", recent_turns=2), model=MODEL,
        keep=0.3, drop=0.01,
    )  # fmt: skip
    assert found.messages[0] is PARIS[0]
    assert found.messages[2] == found.summary
    assert found.summary.text.endswith(PARIS[0].text)
    assert [m.text for m in found.messages].count(found.summary.text) == 1


async def test_a_turn_equal_to_the_latest_stays_whatever_the_threshold():
    found = await compact(
        None, [*LATEST, *COOKING, *LATEST], settings(), model=MODEL, keep=1.0, drop=0.99
    )
    assert list(found.messages) == [*LATEST, *LATEST]


async def test_system_messages_and_the_latest_turns_always_stay():
    system = Message("system", "Be brief.")
    many = [m for n in range(6) for m in turn(f"Question number {n}" * 9, f"Answer {n}" * 9)]
    said = [system, *COOKING, *many]
    found = await compact(
        None, said, settings(recent_turns=5), model=MODEL, keep=1.0, drop=0.999
    )  # fmt: skip
    assert list(found.messages) == [system, *many[2:]]


async def test_tool_calls_never_part_from_their_results():
    asked = Message("assistant", [ToolCallPart("c1", "boil", '{"egg": 1}')])
    told = Message("tool", [ToolResultPart("c1", "boil", "soft")])
    cooking = [COOKING[0], asked, told, COOKING[1]]
    assert [len(t) for t in turns_of([*cooking, *LATEST])] == [4, 2]
    found = await compact(None, [*cooking, *LATEST], settings(), model=MODEL)
    assert list(found.messages) == LATEST


async def test_very_short_turns_stay():
    short = turn("Hi", "Hello")
    found = await compact(None, [*short, *COOKING, *LATEST], settings(), model=MODEL)
    assert list(found.messages) == [*short, *LATEST]


async def test_nothing_shorter_is_nothing():
    assert await compact(None, LATEST, settings(), model=MODEL) is None
    assert await compact(None, [*PARIS, *LATEST], settings(), model=MODEL, keep=0.3) is None
    wordy = settings(summarizer=lambda text: text * 5)
    assert await compact(None, [*TRAIN, *LATEST], wordy, model=MODEL, drop=0.01) is None


@pytest.mark.parametrize(("keep", "drop"), [(0.5, 0.5), (0.2, 0.6), (1.5, 0.2), (0.6, -1)])
async def test_thresholds_without_room_between_them_are_an_error(keep, drop):
    with pytest.raises(rl.ConfigurationError, match="nothing lies between"):
        await compact(None, LATEST, settings(), model=MODEL, keep=keep, drop=drop)


async def test_an_earlier_summary_is_summed_up_again_and_not_dropped():
    carrier = Message("user", [TextPart(f"{SUMMARY}Ann lives in Oslo.\n\n"), TextPart("Eggs?")])
    heard = []

    def shorten(text):
        heard.append(text)
        return "Ann, Oslo."

    said = [carrier, COOKING[1], *LATEST]
    found = await compact(None, said, settings(summarizer=shorten), model=MODEL)
    assert "Ann lives in Oslo." in heard[0]
    assert found.summary.text.startswith(f"{SUMMARY}Ann, Oslo.")


async def test_the_question_that_is_being_answered_keeps_its_own_words():
    going_on = [Message("user", "How high is the tower?")]
    run = SimpleNamespace(name="b", state=SimpleNamespace(turn=going_on))
    said = [*TRAIN, *LATEST, *going_on]
    found = await compact(
        run, said, settings(summarizer=lambda text: "S"), model=MODEL, keep=1.0, drop=0
    )
    assert found.messages == (found.summary, LATEST[1], *going_on)


# -- summarizers -----------------------------------------------------------------------------------

SAID = [*TRAIN, *LATEST]


async def compacted(summarizer: Any) -> Any:
    return await compact(None, SAID, settings(summarizer=summarizer), model=MODEL, drop=0.01)


async def test_an_async_function_a_robot_a_model_and_a_name_can_sum_up(monkeypatch):
    async def shorten(text):
        return f"async {len(text)}"

    assert "async 9" in (await compacted(shorten)).summary.text
    model = ScriptedModel(["By a model."])
    assert "By a model." in (await compacted(model)).summary.text
    assert [m.role for m in model.requests[0].messages] == ["system", "user"]
    assert model.requests[0].messages[1].text.endswith("leaves at nine from platform four.")
    writer = rl.build("writer", model=rl.SimulatedModel(["By a robot."]))
    assert "By a robot." in (await compacted(writer)).summary.text
    assert writer.messages == ()
    with ModelServer(["By name."]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "test-key-123")
        assert "By name." in (await compacted("openai/gpt-5-mini")).summary.text


async def test_a_summarizer_that_fails_or_gives_no_text_is_named():
    def broken(text):
        raise KeyError("no")

    with pytest.raises(rl.RobotLabError, match="the summarizer broken failed: KeyError: 'no'"):
        await compacted(broken)
    with pytest.raises(rl.InputError, match="the summarizer .* gave int"):
        await compacted(lambda text: 3)
    with pytest.raises(rl.ConfigurationError, match="summarizer= takes a Robot"):
        await compacted(3)
    assert (await compacted(lambda text: None)).summary is None


# -- functions of one's own ------------------------------------------------------------------------


async def test_a_function_gets_the_messages_and_what_it_names():
    got = {}

    def last_two(messages, window, model):
        got.update(window=window, model=model, kind=type(messages))
        return messages[-2:]

    said = [Message("system", "Be brief."), *COOKING, *LATEST]
    found = await compact(None, said, settings(context_window=500), model=MODEL, strategy=last_two)
    assert list(found.messages) == [said[0], *LATEST]
    assert found.strategy == "last_two"
    assert got == {"window": 500, "model": MODEL, "kind": list}


async def test_what_a_function_gives_is_repaired_and_its_own_messages_are_told():
    asked = Message("assistant", [ToolCallPart("c1", "boil", "{}")])
    told = Message("tool", [ToolResultPart("c1", "boil", "soft " * 200)])
    said = [COOKING[0], asked, told, *LATEST]

    async def without_results(messages):
        return [{"role": "user", "content": "short"}, asked, LATEST[0]]

    found = await compact(None, said, settings(), model=MODEL, strategy=without_results)
    assert [m.role for m in found.messages] == ["user", "assistant", "tool", "user"]
    assert found.messages[2].tool_results[0].is_error
    assert [m.role for m in found.new] == ["user", "tool"]
    assert await compact(None, said, settings(), model=MODEL, strategy=lambda m: m * 2) is None


@pytest.mark.parametrize(
    ("gives", "told"),
    [
        (None, "gave NoneType, not messages"),
        ("text", "gave str, not messages"),
        ([3], r"gave no conversation: messages\[0\]: not a message: int"),
        ([], "left no message"),
    ],
)
async def test_a_function_that_gives_no_conversation_is_named(gives, told):
    def mine(messages):
        return gives

    with pytest.raises(rl.InputError, match=f"auto_compact='mine' {told}"):
        await compact(None, LATEST, settings(), model=MODEL, strategy=mine)


# -- when ------------------------------------------------------------------------------------------


def test_the_window_is_what_is_set_or_known_or_a_default():
    model = rl.SimulatedModel(["x"])
    assert window_of(model, settings(context_window=1000)) == 1000
    assert window_of(model, settings()) == 128_000
    known = ScriptedModel(["x"])
    known.name, known.provider = "openai/gpt-4o", "openai"
    assert window_of(known, settings()) == 128_000
    known.name, known.provider = "anthropic/claude-sonnet-4-5", "anthropic"
    assert window_of(known, settings()) == 200_000


def test_it_is_time_at_the_threshold_and_not_before():
    said = [Message("user", "x" * 384)]
    assert tokens_of(said) == 100
    assert needs_compacting(said, 125, settings())
    assert not needs_compacting(said, 126, settings())
    assert needs_compacting(said, 200, settings(compact_threshold=0.5))


def test_what_the_provider_counted_comes_before_an_estimate():
    said = [*LATEST, Message("user", "x" * 384)]
    assert not needs_compacting(said, 1000, settings())
    assert needs_compacting(said, 1000, settings(), 700)
    assert not needs_compacting(said, 1000, settings(), 699)


async def test_a_run_tells_what_its_provider_counted():
    usage = {"prompt_tokens": 900, "completion_tokens": 30}
    replies = [Reply.text("Hello", usage=usage), Reply.text("Hello", usage=None)]
    with ModelServer(replies) as server:
        result = await rl.build("b", model=server.model()).arun("Hi")
        uncounted = await rl.build("b", model=server.model()).arun("Hi")
    assert counted(result.state) == 930
    assert counted(uncounted.state) is None
    result.state.messages[0] = Message("user", "Something else was said")
    assert counted(result.state) is None


def test_a_tokenizer_of_ones_own_counts():
    tokens.set_token_counter(lambda text: 7)
    try:
        assert tokens_of([Message("user", "any")]) == 11
    finally:
        tokens.set_token_counter(None)
    with pytest.raises(rl.ConfigurationError, match="a function of a text, not int"):
        tokens.set_token_counter(3)


# -- in a robot ------------------------------------------------------------------------------------


def chat(bot: Any, turns: int) -> None:
    for n in range(turns):
        bot.run(f"Question {n} about {'eggs and pans ' * 10}")


def test_a_robot_compresses_by_itself_and_records_it():
    with ModelServer([f"Answer {n}, with a spoon" for n in range(8)]) as server:
        bot = rl.build(
            "cook", system_prompt="Be brief.", model=server.model(), auto_compact=True,
            context_window=300, recent_turns=1, summarizer=lambda text: "Eggs were discussed.",
        )  # fmt: skip
        chat(bot, 6)
        result = bot.run("How is the weather in Lisbon today?")
        sent = [request.messages for request in server.requests[:7]]
        bot.clear_messages()
        bot.run("over")
    compacted = [e for e in result.events if e.type == "conversation.compacted"]
    assert len(compacted) == 1
    assert compacted[0].data["after_tokens"] < compacted[0].data["before_tokens"]
    assert len(sent[6]) < len(sent[2]) + 3
    for messages in sent:
        roles = [m["role"] for m in messages]
        assert roles[:2] == ["system", "user"]
        assert all(a != b for a, b in pairwise(roles))
    assert rl.RobotResult.from_dict(result.to_dict()).state == result.state


def test_a_summarizing_robot_is_a_run_inside_the_run():
    writer = rl.build("writer", model=rl.SimulatedModel(["In short: eggs."]))
    model = ScriptedModel([f"Answer {n}" for n in range(4)])
    bot = rl.build(
        "cook", model=model, auto_compact=True, context_window=100, recent_turns=1,
        summarizer=writer,
    )  # fmt: skip
    bot.run("Question one about boiling eggs in a pan with salt and water and patience")
    bot.run("Question two about boiling eggs in water, and frying them in a pan with butter")
    bot.run("Question three about potatoes in water with butter and some salt for taste")
    result = bot.run("Question four about eggs, potatoes, pans, water, butter and salt")
    children = list(result.state.children.values())
    assert [child.scope.robot for child in children] == ["writer"]
    assert result.usage.calls == 2
    asked = model.requests[3].messages
    assert asked[0].text.startswith(SUMMARY)
    assert bot.messages[0].text.startswith(f"{SUMMARY}In short: eggs.")


def test_what_still_does_not_fit_is_sent_and_the_provider_says_so():
    too_long = Reply.error(400, "maximum context length", code="context_length_exceeded")
    with ModelServer([too_long]) as server:
        bot = rl.build("b", model=server.model(), auto_compact=True, context_window=10)
        with pytest.raises(rl.ModelError) as error:
            bot.run("word " * 100)
    assert error.value.kind == "context_length"


def test_compressing_by_hand():
    bot = rl.build("cook", model=rl.SimulatedModel(["Fine."]), recent_turns=1)
    bot.replace_messages([*COOKING, *LATEST])
    assert bot.compress_history() == 2
    assert list(bot.messages) == LATEST
    assert bot.compress_history() == 0


# -- any history -----------------------------------------------------------------------------------


def valid(messages) -> bool:
    """Every call has exactly one result in the very next message, and a person speaks first."""
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            if [r.id for r in message.tool_results] != waiting:
                return False
            waiting = []
        elif waiting:
            return False
        else:
            waiting = [c.id for c in message.tool_calls]
    roles = [m.role for m in messages if m.role != "system"]
    return not waiting and roles[:1] in ([], ["user"])


words = st.lists(
    st.sampled_from("egg pan water train Paris hotel cheap nine".split()), min_size=1, max_size=12
).map(" ".join)
media = st.sampled_from(
    [
        MediaPart.of(b"\x89PNG\r\n\x1a\n", "image/png", "a.png"),
        MediaPart("image/*", url="https://x/a"),
        MediaPart.of(b"a,b", "text/csv", "a.csv"),
    ]
)


@st.composite
def turns(draw, number):
    parts = [TextPart(draw(words)), *draw(st.lists(media, max_size=2))]
    if draw(st.booleans()):
        parts.insert(0, TextPart(f"{SUMMARY}{draw(words)}\n\n"))
    out = [Message("user", parts)]
    for round_ in range(draw(st.integers(0, 2))):
        ids = [f"c{number}.{round_}.{i}" for i in range(draw(st.integers(1, 2)))]
        out.append(Message("assistant", [ToolCallPart(i, "t", "{}", i) for i in ids]))
        out.append(Message("tool", [ToolResultPart(i, "t", draw(words)) for i in ids]))
    return [*out, Message("assistant", draw(words))]


@st.composite
def histories(draw):
    return [m for n in range(draw(st.integers(1, 7))) for m in draw(turns(n))]


@given(histories(), st.data())
def test_a_history_cut_anywhere_can_be_mended_and_sent(messages, data):
    cut = data.draw(st.integers(0, len(messages)))
    mended, _ = repair(messages[:cut])
    assert valid(mended)
    stored = [Message.from_dict(json.loads(json.dumps(m.to_dict()))) for m in mended]
    assert stored == mended
    encode(Request(tuple(stored)), "m")


@given(histories(), st.integers(1, 3), st.sampled_from([None, "Short.", ""]), st.booleans())
async def test_a_compressed_history_is_shorter_valid_and_whole_in_its_latest_turns(
    messages, recent, summary, system
):
    given_ = [Message("system", "Be brief."), *messages] if system else messages
    summarizer = None if summary is None else (lambda text: summary)
    found = await compact(
        None, given_, settings(recent_turns=recent, summarizer=summarizer), model=MODEL
    )
    if found is None:
        return
    assert valid(found.messages)
    assert tokens_of(found.messages) == found.after < found.before
    assert found.messages[0].is_system == system
    encode(Request(found.messages), "m")
    latest = [m for t in turns_of(messages)[-recent:] for m in t]
    kept = list(found.messages[-len(latest) :])
    assert kept[1:] == latest[1:]
    assert kept[0] in (latest[0], found.summary)
    new = {m.id for m in found.new}
    assert new == ({found.summary.id} if found.summary is not None else set())
    assert ("user", "user") not in pairwise(m.role for m in found.messages)
    again = repair(found.messages)
    assert again == (list(found.messages), [])


def test_a_handlers_messages_are_checked():
    given_ = [Message("system", "s"), *COOKING]
    assert accepted(LATEST, given_, "handler h") == (given_[0], *LATEST)
    with pytest.raises(rl.InputError, match="handler h gave dict, not messages"):
        accepted({"role": "user"}, given_, "handler h")


def test_turns_that_are_all_alike_give_way_too_when_they_do_not_fit():
    bot = rl.build(
        "b", model=rl.SimulatedModel(lambda request: "the same words " * 40), context_window=600,
        auto_compact=True, recent_turns=1, summarizer=lambda text: "They said the same.",
    )  # fmt: skip
    for _ in range(6):
        result = bot.run("the same words again")
        assert result.state.model_calls
        assert result.input_tokens < 600
    assert any(e.type == "conversation.compacted" for e in result.events)
    assert "They said the same." in bot.messages[0].text


def test_a_strategy_that_means_nothing_is_refused_before_the_run():
    with pytest.raises(rl.ConfigurationError, match="auto_compact='yes'"):
        rl.build("b", auto_compact="yes").run("x")
