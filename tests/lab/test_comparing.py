"""Comparing: what is asked, what is not asked again, what ends it, what a person is asked first."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import ConfigurationError, InputError, NoAnswerChannel
from robotlab_nb.lab.journal import Journal
from robotlab_nb.testing import ModelServer, Reply

if TYPE_CHECKING:
    from pathlib import Path

ECHO = rl.SimulatedModel(lambda request: request.messages[-1].text.upper())


def asked(server: ModelServer) -> list[str]:
    """What was said last in each request."""
    return [request.messages[-1]["content"] for request in server.requests]


# -- what is asked ---------------------------------------------------------------------------


def test_a_prompt_is_what_is_said_where_it_names_a_column_else_the_system_prompt(
    server: ModelServer,
) -> None:
    made = rl.compare(
        {"ask": "Where is {{ city }}?", "terse": "Be brief."}, server.model(),
        [{"city": "Oslo"}], concurrency=1,
    )  # fmt: skip
    first, second = (request.messages for request in server.requests)
    assert first == [{"role": "user", "content": "Where is Oslo?"}]
    assert second == [
        {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Oslo"},
    ]  # fmt: skip
    assert [cell.text for cell in made.cells] == ["(Where is Oslo?)", "(Oslo)"]


def test_templates_robots_and_networks_are_prompts() -> None:
    shout = rl.Template("---\nparameters:\n  tone:\n---\nSpeak in a {{ tone }} voice.", "shout")
    bot = rl.build("parrot", model=ECHO)
    net = rl.create_network("pair", tasks=[])
    net.task("say", rl.build("inner", model=ECHO), prompt="{{ message }} {{ tone }}")
    made = rl.compare([shout, bot, net], None, [{"input": "hello", "tone": "loud"}], mixed=True)
    assert made.axes["prompt"] == ("shout", "parrot", "pair")
    assert [cell.text for cell in made.cells[1:]] == ["HELLO", "HELLO LOUD"]
    assert made.run is not None
    system = made.run.state.children[made.cells[0].run_id].messages[0]
    assert system.text == "Speak in a loud voice."


def test_a_robot_begins_each_cell_without_a_conversation_and_keeps_its_own() -> None:
    bot = rl.build("parrot", model=ECHO)
    bot.run("before")
    made = rl.compare([bot], None, ["one", "two"], concurrency=1)
    assert made.run is not None
    assert [len(state.messages) for state in made.run.state.children.values()] == [2, 2]
    assert [message.text for message in bot.messages] == ["before", "BEFORE"]


def test_further_axes_are_settings_and_placeholders(server: ModelServer) -> None:
    made = rl.compare(
        ["{{ tone }}: {{ input }}"], server.model(), ["hi"],
        params={"temperature": [0.0, 1.0], "tone": ["kind", "stern"]}, concurrency=1,
    )  # fmt: skip
    sent = [(r.body["temperature"], r.messages[-1]["content"]) for r in server.requests]
    assert sent == [
        (0.0, "kind: hi"), (0.0, "stern: hi"), (1.0, "kind: hi"), (1.0, "stern: hi"),
    ]  # fmt: skip
    assert made.cells[3].params == {"temperature": 1.0, "tone": "stern"}
    assert made.cell(temperature=0.0, tone="stern").text == "(stern: hi)"


def test_answers_as_data_are_the_cells_values() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    model = rl.SimulatedModel(['{"n": 3}'])
    made = rl.compare(["Count."], model, ["sheep"], output=schema)
    assert made.cells[0].value == {"n": 3}


def test_equal_rows_are_cells_of_their_own(log: rl.Log, server: ModelServer) -> None:
    rows = ["same", "same", "other", "same"]
    made = rl.compare(["Say {{ input }}"], server.model(), rows, repeats=2)
    assert len({cell.key for cell in made.cells}) == 8
    assert made.axes["input"] == ("same", "same (2)", "other", "same (3)")
    assert len(server.requests) == 8
    rl.compare(["Say {{ input }}"], server.model(), rows, repeats=2)
    assert len(server.requests) == 8


@pytest.mark.parametrize("way", ["thread", "async", "tool"])
def test_it_works_wherever_it_is_called(way: str) -> None:
    def ask() -> rl.Experiment:
        return rl.compare(["Say {{ input }}"], ECHO, ["a", "b"])

    if way == "thread":
        found: list[rl.Experiment] = []
        thread = threading.Thread(target=lambda: found.append(ask()))
        thread.start()
        thread.join(60)
        made = found[0]
    elif way == "async":

        async def both() -> list[rl.Experiment]:
            asks = [rl.acompare(["Say {{ input }}"], ECHO, ["a", "b"]) for _ in range(2)]
            return list(await asyncio.gather(*asks))

        made = asyncio.run(both())[1]
    else:
        seen: list[rl.Experiment] = []

        def experiment() -> str:
            "Compare."
            seen.append(ask())
            return seen[0].cells[0].text or ""

        model = rl.SimulatedModel([("experiment", {}), "done"])
        result = rl.build("boss", model=model, tools=[experiment]).run("go")
        assert result.tool_calls[0].result == "SAY A"
        made = seen[0]
        assert made.run is not None
        assert made.run.parent is not None
    assert [cell.text for cell in made.cells] == ["SAY A", "SAY B"]
    assert made.status == "completed"


def test_from_async_code_compare_says_what_to_write() -> None:
    async def wrong() -> None:
        async def inside() -> None:
            rl.compare(["a"], ECHO, ["b"])

        with rl.engine(loop="current"):
            await inside()

    with pytest.raises(ConfigurationError, match="arun|await"):
        asyncio.run(wrong())


# -- never twice -----------------------------------------------------------------------------


@pytest.fixture(params=["log", "journal"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Where answers are remembered."""
    if request.param == "log":
        request.getfixturevalue("log")
        return {}
    return {"journal": tmp_path / "experiments.jsonl"}


def test_only_what_is_missing_is_asked(server: ModelServer, kept: dict[str, Any]) -> None:
    rows = [f"row {n}" for n in range(5)]
    ask = lambda prompts, rows, **more: rl.compare(  # noqa: E731
        prompts, server.model(), rows, **kept, **more
    )
    first = ask({"a": "A {{ input }}", "b": "B {{ input }}"}, rows)
    assert len(server.requests) == 10
    again = ask({"a": "A {{ input }}", "b": "B {{ input }}"}, rows)
    assert len(server.requests) == 10
    assert [c.text for c in again.cells] == [c.text for c in first.cells]
    assert [c.run_id for c in again.cells] == [c.run_id for c in first.cells]
    assert all(c.cached for c in again.cells)
    assert again.estimate.calls == 0
    edited = ask({"a": "A! {{ input }}", "b": "B {{ input }}"}, rows)
    assert len(server.requests) == 15
    assert [c.cached for c in edited.cells] == [False, True] * 5
    ask({"new name": "A! {{ input }}"}, [*reversed(rows), "one more"])
    assert asked(server)[15:] == ["A! one more"]
    ask({"a": "A! {{ input }}"}, rows, params={"temperature": [0.5]})
    assert len(server.requests) == 21, "another setting is another cell"
    ask({"a": "A! {{ input }}"}, rows, params={"attempts": [5]})
    assert len(server.requests) == 21, "how often it is tried changes no answer"
    both = {"max_tool_rounds": [1, 2]}
    assert ask({"a": "A! {{ input }}"}, rows[:1], params=both).progress.cached == 0
    del server.requests[21:]
    ask({"a": "A! {{ input }}"}, rows, fresh=True)
    assert len(server.requests) == 26


def test_a_tools_source_and_a_robots_prompt_are_part_of_a_cell(
    server: ModelServer, kept: dict[str, Any]
) -> None:
    def look(word: str) -> str:
        "Look a word up."
        return word

    bot = rl.build("bot", model=server.model(), system_prompt="Help.")
    rl.compare([bot], None, ["x"], **kept)
    rl.compare(
        [rl.build("other", model=server.model(), system_prompt="Help.")], None, ["x"], **kept
    )
    assert len(server.requests) == 1
    rl.compare([bot], None, ["x"], tools=[look], **kept)
    assert len(server.requests) == 2
    rl.compare([bot], None, ["x"], tools=[rl.Tool(look, description="Find a word.")], **kept)
    assert len(server.requests) == 3
    rl.compare([bot.with_system_prompt("Help!")], None, ["x"], **kept)
    assert len(server.requests) == 4


def test_failed_cells_are_asked_again(kept: dict[str, Any]) -> None:
    replies = [Reply.error(400, "no"), *["fine"] * 3]
    with ModelServer(replies) as server:
        first = rl.compare(["Say {{ input }}"], server.model(), "abc"[:3].split(), **kept)
        assert [c.status for c in first.cells] == ["failed"]
        rl.compare(["Say {{ input }}"], server.model(), ["abc", "d", "e"], **kept)
    assert len(server.requests) == 4


def test_a_damaged_journal_costs_its_damaged_lines(server: ModelServer, tmp_path: Path) -> None:
    journal = tmp_path / "experiments.jsonl"
    rl.compare(["{{ input }}!"], server.model(), ["a", "b", "c"], journal=journal, concurrency=1)
    lines = journal.read_bytes().splitlines(keepends=True)
    answers = [n for n, line in enumerate(lines) if b'"cell.completed"' in line]
    lines[answers[0]] = b'{"type": "cell.completed", "scope": 3}\n\xff\xfe not JSON\n[1]\n'
    cut = b"".join(lines[: answers[2] + 1])[:-30]  # as if killed while it wrote
    journal.write_bytes(cut)
    rl.compare(["{{ input }}!"], server.model(), ["a", "b", "c"], journal=journal, concurrency=1)
    assert asked(server)[3:] == ["a!", "c!"]
    rl.compare(["{{ input }}!"], server.model(), ["a", "b", "c"], journal=journal)
    assert len(server.requests) == 5
    started = [event for event in Journal(journal).events() if event.type == "run.started"]
    assert len(started) == 3, "what was cut off spoils no other line"


def test_a_journal_that_cannot_be_written_is_told_and_loses_no_answer(
    server: ModelServer, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(RuntimeWarning, match="cannot be written") as told:
        made = rl.compare(
            ["{{ input }}!"], server.model(), ["a", "b"], journal=tmp_path / "file" / "x.jsonl"
        )
    assert len(told) == 1
    assert [cell.text for cell in made.cells] == ["(a!)", "(b!)"]


def test_a_log_without_texts_remembers_no_answers(log: rl.Log, server: ModelServer) -> None:
    with rl.options(log_content=False):
        for _ in range(2):  # words that nothing else in this process has said
            rl.compare(["quagga prompt"], server.model(), ["quagga word"], name="quiet")
        assert b"quagga" not in _bytes(log)
        found = rl.experiments("quiet", log=rl.open_log(log.target.address))[0]
    assert len(server.requests) == 2
    assert found.status == "completed"
    assert len(found.cells) == 1


def _bytes(log: rl.Log) -> bytes:
    from pathlib import Path

    log.flush(30)
    assert log.target is not None
    files = Path(log.target.address).parent.glob("log.sqlite*")
    return b"".join(path.read_bytes() for path in files)


# -- what ends it ----------------------------------------------------------------------------


def test_three_of_a_hundred_fail_and_97_answer() -> None:
    def script(request: Any) -> Reply:
        said = request.messages[-1]["content"]
        return (
            Reply.error(400, f"I do not like {said}")
            if said in ("7", "33", "71")
            else Reply.text(said)
        )

    with ModelServer(script=script) as server:
        made = rl.compare(["{{ input }}"], server.model(), [str(n) for n in range(100)])
    assert made.status == "completed"
    frame = made.frame
    assert frame["text"].notna().sum() == 97
    failed = frame[frame["status"] == "failed"]
    assert failed["input"].tolist() == ["7", "33", "71"]
    assert failed["error_type"].tolist() == ["ModelError"] * 3
    assert failed["error_message"].str.contains("I do not like").all()
    assert len(made.failures) == 3


def test_ten_failures_in_a_row_stop_it() -> None:
    with ModelServer(script=lambda _: Reply.error(400, "broken")) as server:
        made = rl.compare(
            ["{{ input }}"], server.model(), [str(n) for n in range(200)], concurrency=4
        )
    assert made.status == "stopped"
    assert made.reason is not None
    assert "10 requests in a row failed" in made.reason
    assert 10 <= len(server.requests) <= 10 + 4
    assert {cell.status for cell in made.cells} == {"failed", "skipped"}


def test_requests_that_are_tried_again_count_as_such() -> None:
    with ModelServer(script=lambda _: Reply.error(500, "down")) as server:
        made = rl.compare(
            ["{{ input }}"], server.model(), [str(n) for n in range(200)], concurrency=2,
            params={"retry_interval": 0.01, "attempts": 3},
        )  # fmt: skip
    assert made.status == "stopped"
    assert 10 <= len(server.requests) <= 10 + 2
    assert len(made.failures) <= 5
    assert {cell.status for cell in made.cells} == {"failed", "interrupted", "skipped"}


def test_a_burst_over_the_rate_limit_is_no_row_of_failures() -> None:
    limited: set[str] = set()

    def script(request: Any) -> Reply:
        text = request.messages[-1]["content"]
        if text in limited:
            return Reply.text("fine")
        limited.add(text)
        return Reply.error(429, "slow down", headers={"retry-after": "0.2"})

    with ModelServer(script=script) as server:
        inputs = [str(n) for n in range(16)]
        made = rl.compare(["{{ input }}"], server.model(), inputs, concurrency=16)
    assert made.status == "completed"
    assert {cell.status for cell in made.cells} == {"completed"}


def test_a_rate_limit_that_never_ends_stops_it() -> None:
    down = Reply.error(429, "slow down", headers={"retry-after": "0"})
    with ModelServer(script=lambda _: down) as server:
        made = rl.compare(
            ["{{ input }}"], server.model(), [str(n) for n in range(60)], concurrency=2,
            params={"attempts": 2},
        )  # fmt: skip
    assert made.status == "stopped"
    assert len(server.requests) <= 2 * (10 + 2)


def test_failures_between_answers_do_not_stop_it() -> None:
    def script(request: Any) -> Reply:
        number = int(request.messages[-1]["content"])
        return Reply.text("fine") if number % 9 == 0 else Reply.error(400, "broken")

    with ModelServer(script=script) as server:
        made = rl.compare(
            ["{{ input }}"], server.model(), [str(n) for n in range(50)], concurrency=1
        )
    assert made.status == "completed"
    assert len(server.requests) == 50


@pytest.mark.parametrize(
    "refusal",
    [
        Reply.error(401, "wrong key"),
        Reply.error(429, "You exceeded your current quota", code="insufficient_quota"),
    ],
    ids=["key", "quota"],
)
def test_what_would_fail_all_of_a_models_cells_ends_these_alone(refusal: Reply) -> None:
    inputs = [str(n) for n in range(30)]
    with ModelServer(script=lambda _: refusal) as bad, ModelServer(["ok"], repeat=True) as good:
        models = {"bad": bad.model("a"), "good": good.model("b")}
        made = rl.compare(["{{ input }}"], models, inputs, concurrency=3)
        assert made.status == "completed"
        assert len(bad.requests) <= 1 + 3
        assert len(good.requests) == 30
        left = [cell for cell in made.cells if cell.model == "bad" and cell.status == "skipped"]
        assert len(left) >= 26
        assert left[0].error is not None
        alone = rl.compare(["{{ input }}"], bad.model("a"), inputs, concurrency=3)
    assert alone.status == "stopped"
    assert "no model can be asked" in str(alone.reason)


def test_a_rate_limit_is_everybodys_and_no_cell_fails() -> None:
    state = {"limited_until": 0.0, "limited": 0, "early": 0}
    lock = threading.Lock()

    def script(request: Any) -> Reply:
        with lock:
            now = time.monotonic()
            if request.messages[-1]["content"] == "5" and not state["limited_until"]:
                state["limited_until"] = now + 1.0
                return Reply.error(429, "slow down", headers={"retry-after": "1"})
            if now < state["limited_until"] - 0.1:
                state["early"] += 1
        return Reply.text("fine").after(0.05)

    with ModelServer(script=script) as server:
        made = rl.compare(
            ["{{ input }}"], server.model(), [str(n) for n in range(40)], concurrency=4
        )
        assert [cell.status for cell in made.cells] == ["completed"] * 40
        assert len(server.requests) == 41
    assert state["early"] <= 3, "only what was on its way already"


def test_a_budget_ends_it_and_answers_are_kept(log: rl.Log, server: ModelServer) -> None:
    inputs = [str(n) for n in range(20)]
    made = rl.compare(["{{ input }}"], server.model(), inputs, budget={"calls": 5}, concurrency=2)
    assert made.status == "stopped"
    assert "5 of 5 calls" in str(made.reason)
    assert len(made.failures) <= 2, "those on their way; no other cell is tried"
    assert len(server.requests) == 5
    rest = rl.compare(["{{ input }}"], server.model(), inputs, budget={"calls": 15})
    assert rest.status == "completed"
    assert len(server.requests) == 20


def test_stop_keeps_what_is_finished(log: rl.Log) -> None:
    def script(request: Any) -> Reply:
        said = request.messages[-1]["content"]
        return Reply.text(said).after(30 if int(said) >= 6 else 0)

    inputs = [str(n) for n in range(20)]
    with ModelServer(script=script) as server:
        plan = lambda: rl.compare(["{{ input }}"], server.model(), inputs, concurrency=2)  # noqa: E731
        thread = threading.Thread(target=plan)
        thread.start()
        assert server.wait_for_requests(8, 60)
        made = rl.experiments()[0]
        made.stop()
        thread.join(30)
        assert made.status == "interrupted"
        statuses = [cell.status for cell in made.cells]
        assert statuses == ["completed"] * 6 + ["interrupted"] * 2 + ["skipped"] * 12
        assert len(server.requests) == 8
        assert rl.compare(["{{ input }}"], server.model(), inputs[:6]).progress.cached == 6
        assert len(server.requests) == 8


# -- before it is spent ------------------------------------------------------------------------


def test_above_the_limit_nobody_is_asked_where_nobody_is(server: ModelServer) -> None:
    async def ask() -> None:
        await rl.acompare(["{{ input }}"], server.model(), ["a"] * 5, confirm_above={"calls": 4})

    with pytest.raises(NoAnswerChannel, match=r"5 calls.*confirm_above"):
        asyncio.run(ask())
    assert server.requests == []


@pytest.mark.parametrize(("answer", "requests"), [("yes", 5), ("no", 0)])
def test_above_the_limit_a_person_is_asked(server: ModelServer, answer: str, requests: int) -> None:
    made = rl.compare(
        ["{{ input }}"], server.model(), ["a"] * 5, confirm_above={"calls": 4}, answers=[answer]
    )
    assert len(server.requests) == requests
    assert made.status == ("completed" if requests else "stopped")
    if not requests:
        assert "not confirmed" in str(made.reason)


def test_known_and_simulated_cells_need_no_confirmation(log: rl.Log, server: ModelServer) -> None:
    ask = lambda **more: rl.compare(["{{ input }}"], server.model(), ["a"] * 5, **more)  # noqa: E731
    ask()
    assert ask(confirm_above=0).estimate.calls == 0
    assert rl.compare(["{{ input }}"], ECHO, ["a"] * 5, confirm_above=0).status == "completed"


def test_a_dry_run_says_what_it_would_take(log: rl.Log, server: ModelServer) -> None:
    model = server.model("gpt-5-mini", provider="openai")
    plan = rl.compare(["{{ input }}"], model, ["a", "b"], repeats=3, dry=True)
    assert (plan.status, plan.run, plan.estimate.calls) == ("pending", None, 6)
    assert plan.estimate.cost_usd is not None
    assert plan.estimate.cost_usd > 0
    assert "taken as 300 tokens" in plan.estimate.basis
    assert server.requests == []
    rl.compare(["{{ input }}"], model, ["a"])
    later = rl.compare(["{{ input }}"], model, ["a", "b"], repeats=3, dry=True)
    assert (later.estimate.calls, later.estimate.cached) == (5, 1)
    assert "1 earlier run" in later.estimate.basis
    assert later.estimate.cost_usd < plan.estimate.cost_usd
    unknown = rl.compare(["{{ input }}"], server.model("no-such"), ["a"], dry=True).estimate
    assert unknown.cost_usd is None
    assert "no price of openai/no-such" in unknown.text


# -- bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        ({"prompts": ["{{ nmae }} {{ city }}"]}, ConfigurationError, "nmae.*Did you mean 'name'"),
        ({"prompts": ["{{ a }} {{ b }} {{ name }}"]}, ConfigurationError, r"{{ a }}, {{ b }}"),
        ({"prompts": ["{{ name "]}, ConfigurationError, "line 1"),
        ({"prompts": ["  "]}, ConfigurationError, "empty"),
        ({"prompts": []}, ConfigurationError, "no prompts"),
        ({"prompts": [3]}, ConfigurationError, "3 is no prompt"),
        ({"prompts": ["Be brief."]}, InputError, "which of the columns name, city is said"),
        ({"inputs": []}, InputError, "empty"),
        ({"inputs": 7}, InputError, "no list of inputs"),
        ({"inputs": [None]}, InputError, "missing"),
        ({"inputs": [b"x"]}, InputError, "no text"),
        ({"inputs": [{"name": "x", "city": float("nan")}]}, ConfigurationError, "has no value"),
        ({"models": []}, ConfigurationError, "no models"),
        ({"models": ["nobody/knows"]}, ConfigurationError, "nobody"),
        ({"models": ["simulated", "REAL"]}, ConfigurationError, "mixed=True"),
        ({"repeats": 0}, ConfigurationError, "repeats=0"),
        ({"repeats": True}, ConfigurationError, "repeats=True"),
        ({"params": {"temprature": [1]}}, ConfigurationError, "Did you mean 'temperature'"),
        ({"params": {"temperature": ["hot"]}}, ConfigurationError, "temperature"),
        ({"params": {"model": ["x"]}}, ConfigurationError, "axis"),
        ({"params": {"name": ["x"]}}, ConfigurationError, "column"),
        ({"params": {"temperature": []}}, ConfigurationError, "no values"),
        ({"concurrency": 0}, ConfigurationError, "concurrency"),
        ({"budget": "much"}, ConfigurationError, "budget"),
        ({"confirm_above": "much"}, ConfigurationError, "confirm_above"),
        ({"journal": 3}, ConfigurationError, "journal"),
        ({"name": ""}, ConfigurationError, "name"),
        ({"evaluators": ["be nice"]}, ConfigurationError, "no evaluator"),
        ({"tols": []}, ConfigurationError, "Did you mean 'tools'"),
    ],
)
def test_what_cannot_be_meant_is_told_before_anything_is_sent(
    server: ModelServer, wrong: dict[str, Any], error: type[Exception], says: str
) -> None:
    right: dict[str, Any] = {
        "prompts": ["{{ name }} of {{ city }}"], "models": server.model(),
        "inputs": [{"name": "Ann", "city": "Oslo"}],
    }  # fmt: skip
    if "REAL" in wrong.get("models", ()):
        wrong = {"models": ["simulated", server.model()]}
    with pytest.raises(error, match=f"(?s){says}"):
        rl.compare(**{**right, **wrong})
    assert server.requests == []


def test_a_missing_key_is_told_before_anything_is_sent(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY"):
        rl.compare(["{{ input }}"], [server.model(), "openai/gpt-5-mini"], ["a"])
    assert server.requests == []


def test_a_networks_own_models_are_not_passed_over(server: ModelServer) -> None:
    net = rl.create_network("pair")
    net.task("say", rl.build("own", model=ECHO))
    with pytest.raises(ConfigurationError, match="robot 'own' has a model of its own"):
        rl.compare([net], server.model(), ["a"])
    open_net = rl.create_network("open")
    open_net.task("say", rl.build("any"))
    assert rl.compare([open_net], server.model(), ["a"]).cells[0].text == "(a)"


def test_mixed_models_are_compared_where_that_is_meant(server: ModelServer) -> None:
    made = rl.compare(["{{ input }}"], {"real": server.model(), "made up": ECHO}, ["a"], mixed=True)
    assert [cell.simulated for cell in made.cells] == [False, True]


# -- scores ------------------------------------------------------------------------------------


def test_scores_are_given_once_for_an_answer(
    log: rl.Log, server: ModelServer, tmp_path: Path
) -> None:
    judged = tmp_path / "judged"  # what a function holds on to is a part of it

    def long(input: str, output: str) -> bool:
        with judged.open("a") as file:
            file.write("x")
        return len(output) > 4

    def ask(*evaluators: Any) -> rl.Experiment:
        return rl.compare(
            ["{{ input }}"], server.model(), ["ab", "abcdef"], evaluators=list(evaluators)
        )

    made = ask(long)
    assert [cell.scores[0].passed for cell in made.cells] == [False, True]
    assert made.frame["long_passed"].tolist() == [False, True]
    ask(long)
    assert judged.read_text() == "xx"
    ask()
    more = ask(long, rl.contains("cd"))
    assert judged.read_text() == "xx"
    assert [len(cell.scores) for cell in more.cells] == [2, 2]
    assert len(server.requests) == 2


def test_an_evaluator_that_fails_loses_no_answer() -> None:
    def broken(input: str, output: str) -> bool:
        raise ZeroDivisionError("oh")

    made = rl.compare(["{{ input }}"], ECHO, ["a"], evaluators=[broken])
    assert made.status == "completed"
    assert made.cells[0].text == "A"
    assert made.cells[0].scores[0].error["type"] == "ZeroDivisionError"


def test_answers_are_compared_with_a_baseline() -> None:
    judge = rl.judge(
        "Which is longer?", model=rl.SimulatedModel(), baseline={"prompt": "short"}, name="pair"
    )
    made = rl.compare(
        {"short": "{{ input }}", "long": "{{ input }} {{ input }}"}, ECHO, ["a", "b"],
        evaluators=[judge],
    )  # fmt: skip
    assert [bool(cell.scores) for cell in made.cells] == [False, True, False, True]
