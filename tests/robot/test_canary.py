"""Two canary keys go wherever a provider, a tool or an error can send them, and are found nowhere.

A real server echoes the key that it was sent; every artefact is searched as raw bytes for every
spelling of it. With masking off the same search finds them: it can see.
"""

from __future__ import annotations

import base64
import io
import json
import logging
import pickle
import traceback
import warnings
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, quote_plus

import pytest

import robotlab_nb as rl
from robotlab_nb.core.secrets import register_secret
from robotlab_nb.display.saving import save
from robotlab_nb.testing import ModelServer, Reply
from robotlab_nb.widgets.live_doc import LiveDoc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from robotlab_nb.testing.recorded import Recorded

USUAL = "sk-canary-Ab3dEf6hIj9kLm2nOp5qRs8tUv"
#: a key that no encoding leaves alone
ODD = 'ca+na/ry"key\\with&all<of>it=9f8e7d6c5b'
TABLES = ("runs", "tasks", "model_calls", "tool_calls", "messages", "events", "attempts")


class Holder:
    """Keeps the key out of the variables of frames, as an environment variable is."""

    key = USUAL


@pytest.fixture(params=[USUAL, ODD], ids=["usual", "odd"])
def key(request: pytest.FixtureRequest) -> Iterator[str]:
    Holder.key = request.param
    yield request.param
    Holder.key = USUAL


def spellings(value: str) -> dict[str, bytes]:
    """What to look for; base64 by the letters that do not depend on the neighbours."""
    found = {
        "plain": value,
        "url": quote(value, safe=""),
        "form": quote_plus(value),
        "json": json.dumps(value)[1:-1],
        "json in json": json.dumps(json.dumps(value)[1:-1])[1:-1],
        "html": escape(value),
        "repr": repr(value)[1:-1],
    }
    for shift in range(3):
        coded = base64.b64encode(bytes(shift) + value.encode()).decode()
        sure = coded[-(-shift * 8 // 6) : (shift + len(value)) * 8 // 6]
        found[f"base64 {shift}"] = sure
        found[f"base64 {shift}, url"] = sure.replace("+", "-").replace("/", "_")
    return {name: text.encode() for name, text in found.items()}


class Artefacts:
    """Everything that a person, a file or a model can get to see."""

    def __init__(self) -> None:
        self.found: list[tuple[str, bytes]] = []

    def add(self, name: str, value: Any) -> None:
        if value is None:
            return
        if not isinstance(value, bytes):
            value = (value if isinstance(value, str) else repr(value)).encode("utf-8", "replace")
        self.found.append((name, value))

    def hits(self, value: str) -> list[str]:
        wanted = spellings(value)
        return [
            f"{name}: {how}"
            for name, data in self.found
            for how, text in wanted.items()
            if text in data
        ]

    # -- what is collected ---------------------------------------------------------------

    def thing(self, name: str, thing: Any) -> None:
        """All that a notebook or a shell shows of an object, and its pickle."""
        self.add(f"{name} repr", repr(thing))
        self.add(f"{name} str", str(thing))
        for method in ("_repr_html_", "_repr_markdown_", "_repr_mimebundle_"):
            draw = getattr(thing, method, None)
            if draw is not None:
                self.add(f"{name} {method}", draw())
        try:
            self.add(f"{name} pickle", pickle.dumps(thing))
        except (rl.ConfigurationError, TypeError, AttributeError) as refused:
            self.add(f"{name} pickle refused", str(refused))

    def run(self, name: str, stream: Any) -> Any:
        """Read a run as it happens, and all that is left of it; returns it."""
        run, items = stream.run, []
        try:
            for item in stream:
                items.append(item)
        except rl.RobotLabError as error:
            self.error(name, error)
        else:
            self.result(f"{name} result", run.result())
        pieces = [i.text for i in items if isinstance(i, rl.Delta)]
        self.add(f"{name} deltas", json.dumps(pieces))
        self.add(f"{name} deltas, joined", "".join(pieces))
        for event in run.events:
            self.add(f"{name} event {event.type}", json.dumps(event.to_dict()))
            self.add(f"{name} event {event.type} repr", repr(event))
        doc = LiveDoc(run.scope)
        doc.take(items)
        self.add(f"{name} live view", json.dumps(doc.whole()))
        self.add(f"{name} state", repr(run.state))
        self.thing(f"{name} run", run)
        self.frames(f"{name} frames", run.frames)
        return run

    def frames(self, name: str, frames: Any) -> None:
        self.thing(name, frames)
        for table in TABLES:
            frame = frames[table]
            self.add(f"{name}.{table} csv", frame.to_csv())
            self.add(f"{name}.{table} json", frame.to_json())
            self.add(f"{name}.{table} html", frame.to_html())
            parquet = io.BytesIO()
            frame.to_parquet(parquet, compression="none")
            self.add(f"{name}.{table} parquet", parquet.getvalue())

    def result(self, name: str, result: Any) -> None:
        self.thing(name, result)
        if not isinstance(result, rl.RobotResult):
            return
        self.add(f"{name} text", result.text)
        self.add(f"{name} to_dict", json.dumps(result.to_dict()))
        self.add(f"{name} export", json.dumps(result.export()))
        self.add(f"{name} to_json", result.to_json(indent=1))
        self.thing(f"{name} messages", result.messages)
        self.thing(f"{name} output", result.output)
        self.thing(f"{name} tool calls", result.tool_calls)
        self.frames(f"{name} frames", result.frames)

    def robot(self, name: str, robot: Any) -> None:
        self.thing(name, robot)
        self.add(f"{name} to_dict", json.dumps(robot.to_dict()))
        self.thing(f"{name} settings", robot.effective_config)
        self.thing(f"{name} messages", robot.messages)
        self.thing(f"{name} model", robot.model)
        self.thing(f"{name} tools", robot.tools)

    def error(self, name: str, error: BaseException) -> None:
        self.thing(name, error)
        self.add(f"{name} args", error.args)
        self.add(f"{name} fields", {k: v for k, v in vars(error).items() if k != "run"})
        self.add(f"{name} traceback", "".join(traceback.format_exception(error)))
        link: BaseException | None = error
        while link is not None:
            self.add(f"{name} link", f"{link!r} {link} {vars(link)}")
            link = link.__cause__ or link.__context__
        render = getattr(error, "_render_traceback_", None)
        if render is not None:
            self.add(f"{name} in IPython", "\n".join(render()))


# -- a provider and tools that tell what they know ----------------------------------------------


def coded(value: str) -> str:
    return base64.b64encode(f"user:{value}".encode()).decode()


def leaking(request: Recorded) -> Reply:
    """What the server answers: the last word of the question says how."""
    sent = request.headers["authorization"].removeprefix("Bearer ")
    asked = [m for m in request.messages if m["role"] == "user"][-1]["content"].split()[-1]
    echo = {"x-echo": quote(sent), "x-request-id": "7"}
    every = f"{sent} {quote(sent, safe='')} {coded(sent)} {json.dumps(sent)}"
    if asked == "text":
        pieces = [every[i : i + 3] for i in range(0, len(every), 3)]
        return Reply.text(pieces, reasoning=f"thinking of {sent}", headers=echo)
    if asked == "tools" and request.messages[-1]["role"] == "user":
        calls = [
            ("leak", {"how": sent}),
            ("explode", {}),
            ("leak", json.dumps({"how": "x", sent: sent})),
            (f"no_{sent[:20]}", {}),
        ]
        return Reply.tool_calls(*calls, text=f"calling with {sent}", headers=echo)
    if asked == "refused":
        return Reply.error(401, f"Incorrect API key: {every}", code=sent, headers=echo)
    if asked == "page":
        return Reply.html(403, title=f"no {every}")
    if asked == "moved":
        return Reply.raw("", status=307, headers={"location": f"http://127.0.0.1/?key={sent}"})
    if asked == "garbage":
        return Reply.raw(f"{every} is no JSON", content_type="application/json")
    if asked == "inside":
        return Reply.raw({"error": {"message": every, "code": 401}})
    if asked == "cut":
        return Reply.text([f"{sent[:9]}", sent[9:], " and more"]).cut(420)
    return Reply.text(f"done, {sent}")


FAILING = ("refused", "page", "moved", "garbage", "inside", "cut")


def leak(how: str) -> dict[str, Any]:
    """Tell the key."""
    return {
        "key": Holder.key,
        Holder.key: [how, f"Bearer {Holder.key}"],
        "long": "x" * 49_960 + Holder.key,
    }


def explode() -> str:
    """Fail with the key."""
    try:
        raise KeyError(Holder.key)
    except KeyError as cause:
        error = ValueError(f"cannot use {Holder.key}")
        error.add_note(f"it was {Holder.key}")
        raise error from cause


def leaking_task(message: str) -> str:
    return f"{message} {Holder.key}"


def exploding_task() -> str:
    raise RuntimeError(f"no {Holder.key}")


@pytest.fixture
def debug() -> Iterator[io.StringIO]:
    """What the loggers of the whole process say at their most talkative."""
    said = io.StringIO()
    handler = logging.StreamHandler(said)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield said
    root.setLevel(before)
    root.removeHandler(handler)


def everything(bot: Any, tmp_path: Path, server: ModelServer) -> Artefacts:
    """Run a robot through all ways of leaking, and gather what can be seen afterwards."""
    seen = Artefacts()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        heard: list[str] = []
        for word in ("text", "tools"):
            seen.result(f"result of {word}", bot.run(word, on_content=heard.append))
            seen.run(word, bot.stream(f"key {Holder.key} then {word}"))
        seen.add("on_content", "".join(heard))
        for word in FAILING:
            seen.run(word, bot.stream(word))
        try:
            bot.run("tools", config={"raise_on_error": True})
        except ValueError as error:
            seen.error("a tool's own error", error)
        net = rl.create_network("net")
        net.task("told", leaking_task)
        net.task("asked", bot, depends_on=["told"], prompt="{{ upstream }} text")
        net.task("failed", exploding_task)
        net.task("refused", bot, prompt="refused")
        result = seen.run("network", net.stream("go")).result()
        seen.add("a task's text", result["asked"].text + result["told"].text)
        for name in ("net.svg", "net.dot", "net.mmd"):
            seen.add(name, net.save(tmp_path / name).read_bytes())
        seen.add("run.svg", save(result, tmp_path / "run.svg").read_bytes())
        try:
            result.raise_for_errors()
        except rl.NetworkFailed as error:
            seen.error("network", error)
        seen.robot("robot", bot)
        seen.thing("network", net)
    for warning in warned:
        seen.add("warning", str(warning.message))
    for request in server.requests:
        seen.add("what a model is sent", request.raw)
    return seen


def watched(
    how: str, server: ModelServer, value: str, monkeypatch: pytest.MonkeyPatch
) -> rl.Robot[Any]:
    """A robot whose key is given in one of the ways there are."""
    more: dict[str, Any] = {"api_base": server.base_url, "model": "openai/test-model"}
    if how == "given":
        more["api_key"] = value
    elif how == "by name":
        monkeypatch.setenv("CANARY_KEY", value)
        more["api_key"] = "CANARY_KEY"
    elif how == "environment":
        monkeypatch.setenv("OPENAI_API_KEY", value)
        monkeypatch.setenv("OPENAI_BASE_URL", more.pop("api_base"))
    elif how == "litellm":
        more |= {"api_key": value, "via": "litellm"}
    return rl.build(
        "bot", tools=[leak, explode], config={"attempts": 2, "retry_interval": 0.0}, **more
    )


@pytest.mark.parametrize("mode", ["Plain", "Context", "Verbose"])
def test_a_traceback_in_ipython_does_not_show_the_key(
    mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell()
    with ModelServer(script=leaking) as server:
        bot = watched("by name", server, USUAL, monkeypatch)
        shell.user_ns["bot"] = bot
        shell.run_line_magic("xmode", mode)
        shell.run_cell("bot.run('refused')")
        if mode != "Verbose":  # that mode prints the variables of the tool's own frames
            shell.run_cell("bot.run('tools', config={'raise_on_error': True})")
    out, err = capsys.readouterr()
    seen = Artefacts()
    seen.add("output", out + err)
    assert "ModelError: openai/test-model answered 401" in out + err
    assert mode == "Verbose" or "cannot use [redacted: CANARY_KEY]" in out + err
    assert seen.hits(USUAL) == []


@pytest.mark.parametrize(
    ("how", "key"),
    [("given", USUAL), ("given", ODD), ("by name", USUAL), ("environment", ODD)],
    ids=["given", "given, odd", "by name", "environment, odd"],
    indirect=["key"],
)
def test_a_key_is_seen_nowhere(
    how: str,
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    debug: io.StringIO,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with ModelServer(script=leaking) as server:
        seen = everything(watched(how, server, key, monkeypatch), tmp_path, server)
        assert any(key in r.headers["authorization"] for r in server.requests), "it was sent"
    out, err = capfd.readouterr()
    seen.add("output", out + err)
    seen.add("logging", debug.getvalue())
    assert seen.hits(key) == []
    assert any(b"[redacted: " in data for _, data in seen.found)


def test_a_key_is_seen_nowhere_on_the_way_through_litellm(
    key: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    debug: io.StringIO,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with ModelServer(script=leaking) as server:
        seen = everything(watched("litellm", server, key, monkeypatch), tmp_path, server)
        assert any(key in r.headers["authorization"] for r in server.requests), "it was sent"
    out, err = capfd.readouterr()
    seen.add("output", out + err)
    seen.add("logging", debug.getvalue())
    assert seen.hits(key) == []


def test_what_was_held_back_arrives_when_the_answer_ends_and_offsets_stay_right() -> None:
    register_secret(USUAL, "KEY")
    said, shown = f"a {USUAL} and the end sk-can", "a [redacted: KEY] and the end sk-can"
    reply = Reply.text([said[at : at + 4] for at in range(0, len(said), 4)])
    heard: list[str] = []
    with ModelServer([reply, reply]) as server:
        bot = rl.build("bot", model=server.model())
        stream = bot.stream("x")
        deltas = [i for i in stream if isinstance(i, rl.Delta)]
        assert stream.run.result().text == "".join(d.text for d in deltas) == shown
        bot.run("x", on_content=heard.append)
    so_far = 0
    for delta in deltas:
        assert delta.offset == so_far
        so_far += len(delta.text)
    assert "".join(heard) == shown


def test_the_end_of_an_attempt_lets_go_of_what_was_held_back() -> None:
    register_secret(USUAL, "KEY")

    async def work(run: Any) -> None:
        run.started({"name": "w"})
        run.root.delta(run, "c", 1, "reasoning", "so sk-can")
        run.emit("model_call.started", {"call_id": "c", "round": 1, "model": "m"})
        run.emit("attempt.completed", {"call_id": "c", "attempt": 1})

    run: rl.Run[Any] = rl.Run("w", "robot", work, lambda run: None)
    watcher = run.watch()
    run.begin()
    items = list(watcher)
    assert "".join(i.text for i in items if isinstance(i, rl.Delta)) == "so sk-can"


def test_a_robot_is_not_pickled_with_a_key_in_it() -> None:
    register_secret(USUAL, "KEY")

    def closed_over(word: str, key: str = USUAL) -> str:
        return word + key

    plain = rl.build("bot", tools=[leak], api_key="SOME_API_KEY", model="openai/x")
    assert b"SOME_API_KEY" in pickle.dumps(plain)
    for robot, where in (
        (rl.build("bob", system_prompt=f"Use {USUAL}."), "system_prompt"),
        (rl.build("bob", tools=[closed_over]), "the default of 'key'"),
        (rl.build("bob", config={"provider_options": {"k": USUAL}}), "provider_options"),
    ):
        with pytest.raises(rl.ConfigurationError, match="robot 'bob' is not pickled") as caught:
            pickle.dumps(robot)
        assert where in str(caught.value)
        assert USUAL not in str(caught.value)


def test_a_result_is_not_pickled_with_a_key_in_its_live_values() -> None:
    register_secret(USUAL, "KEY")

    def table() -> Any:
        return {"key": USUAL, "number": float("nan")}

    model = rl.SimulatedModel([("table", {}), "ok"])
    result = rl.build("bot", tools=[table], model=model).run("x")
    assert result.values
    with pytest.raises(rl.ConfigurationError, match=r"values\['call_\w+'\]\['key'\] holds"):
        pickle.dumps(result)


def test_half_a_key_is_not_left_where_a_long_text_is_cut() -> None:
    register_secret(USUAL, "KEY")

    def long(by: int) -> str:
        return "x" * (50_000 - by) + USUAL + "y" * 100

    def fail(by: int) -> str:
        raise ValueError("x" * (2_000 - by) + USUAL)

    for tool in (long, fail):
        for by in (len(USUAL) - 1, 12):
            model = rl.SimulatedModel([(tool.__name__, {"by": by}), "ok"])
            bot = rl.build("bot", tools=[tool], model=model)
            assert USUAL[:11] not in json.dumps(bot.run("x").to_dict())


def test_what_comes_to_be_known_later_is_still_masked_in_pictures() -> None:
    bot = rl.build("bot", model=rl.SimulatedModel([f"it is {USUAL}"]))
    result = bot.run("x")
    assert USUAL in repr(result)
    register_secret(USUAL, "KEY")
    seen = Artefacts()
    for thing in (result, bot, result.messages[-1]):
        seen.add("repr", repr(thing))
        seen.add("html", thing._repr_html_())
    assert seen.hits(USUAL) == []


def test_with_masking_off_the_same_search_finds_the_key(
    key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rl.options(redact=False), ModelServer(script=leaking) as server:
        seen = everything(watched("given", server, key, monkeypatch), tmp_path, server)
        hits = "\n".join(seen.hits(key))
    for place in ("event", "deltas", "to_dict", "csv", "html", "link", "traceback", "live view"):
        assert place in hits
    for how in ("plain", "base64", "url", "json"):
        assert how in hits
