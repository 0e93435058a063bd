"""Approval of tool calls: per tool, per argument, by policy, and by what tools read and send."""

from __future__ import annotations

import json
import threading
import time

import pytest

import robotlab_nb as rl
from robotlab_nb.core.errors import InputError
from robotlab_nb.robot.approvals import approvals_of
from robotlab_nb.testing import ScriptedModel
from robotlab_nb.tools.decorator import ToolManifest


class Bank:
    """Tools that note what they were called with."""

    def __init__(self, **options):
        self.paid = []

        def pay(amount: float, to: str = "Ada") -> str:
            "Pay somebody."
            self.paid.append((amount, to))
            return f"paid {amount:g} to {to}"

        self.pay = rl.tool(**options)(pay)

    def robot(self, *calls, tools=(), **settings):
        calls = calls or (("pay", {"amount": 5}),)
        model = rl.SimulatedModel([*calls, "done"])
        return rl.build("teller", model=model, tools=[self.pay, *tools], config=settings)


def settled(result):
    return [(e.data["by"], e.data["status"]) for e in result.events if e.type == "hitl.answered"]


def requested(result):
    return [e.data for e in result.events if e.type == "hitl.requested"]


# -- who needs it ----------------------------------------------------------------------------


def test_a_call_waits_for_approval_and_is_carried_out_once_approved():
    bank = Bank(approval=True)
    run = bank.robot().start("pay")
    assert run.result().status == "waiting"
    assert bank.paid == []
    (question,) = run.pending
    assert question.kind == "approval"
    assert (question.tool, question.robot) == ("pay", "teller")
    assert question.arguments == {"amount": 5}
    assert question.why == "pay needs approval"
    result = run.answer(True).result()
    assert bank.paid == [(5.0, "Ada")]
    (call,) = result.tool_calls
    assert (call.status, call.approved_by) == ("completed", "answer")
    assert settled(result) == [("answer", "approved")]


def test_a_denied_call_is_not_made_and_the_model_reads_why():
    bank = Bank(approval=True)
    run = bank.robot().start("pay")
    run.result()
    result = run.answer("no, too expensive").result()
    assert bank.paid == []
    (call,) = result.tool_calls
    assert call.status == "failed"
    assert "denied by a person: too expensive" in call.content
    assert call.approved_by is None
    assert result.text == "done"
    assert settled(result) == [("answer", "denied")]


def test_arguments_may_be_changed_and_are_checked_before_anything_is_called():
    bank = Bank(approval=True)
    run = bank.robot(("pay", {"amount": 500})).start("pay")
    run.result()
    for wrong in ({"amount": "much"}, {"sum": 5}, {}, {"amount": float("nan")}):
        with pytest.raises(InputError, match="do not fit 'pay'"):
            run.answer({"arguments": wrong})
    assert len(run.pending) == 1
    run.answer({"arguments": {"amount": 50, "to": "Bob"}})
    result = run.result()
    assert bank.paid == [(50.0, "Bob")]
    assert settled(result) == [("answer", "edited")]
    call = result.tool_calls[0]
    assert (call.arguments["amount"], json.loads(call.arguments_text)) == (50, {"amount": 500})
    assert result.tool_calls[0].approved_by == "answer"


def test_a_function_of_the_arguments_says_which_calls_need_it():
    for big in (lambda arguments: arguments["amount"] > 100, _big):
        bank = Bank(approval=big)
        calls = [("pay", {"amount": 5}), ("pay", {"amount": 500})]
        run = bank.robot(calls).start("pay")
        run.result()
        assert bank.paid == [(5.0, "Ada")]
        assert [q.arguments["amount"] for q in run.pending] == [500]
        run.answer(True).result()
        assert bank.paid == [(5.0, "Ada"), (500.0, "Ada")]


async def _big(arguments):
    return arguments["amount"] > 100


def test_a_function_that_fails_needs_approval_to_be_safe():
    bank = Bank(approval=lambda arguments: arguments["total"] > 100)
    run = bank.robot().start("pay")
    assert run.result().status == "waiting"
    assert "could not decide: KeyError" in run.pending[0].why
    run.stop()


def test_a_function_cannot_change_what_the_person_sees_nor_what_the_tool_gets():
    def sly(*given):
        given[-1]["amount"] = 0
        return True

    for options, settings in (({"approval": sly}, {}), ({}, {"approve": sly})):
        bank = Bank(**options)
        run = bank.robot(**settings).start("pay")
        run.result()
        assert run.pending[0].arguments == {"amount": 5}
        run.answer(True).result()
        assert bank.paid == [(5.0, "Ada")]


def test_a_tool_class_may_ask_for_approval():
    class Launch(rl.Tool):
        """Launch the rocket."""

        approval = True
        labels = ("outward",)

        def execute(self) -> str:
            return "launched"

    bot = rl.build("b", model=rl.SimulatedModel([("launch", {}), "done"]), tools=[Launch])
    run = bot.start("go")
    assert run.result().status == "waiting"
    assert run.answer("yes").result().tool_calls[0].result == "launched"


# -- policies --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [True, ["pay"], ["p*"], ("x", "pay"), lambda tool, arguments:
                                    tool.name == "pay" and arguments["amount"] == 5])  # fmt: skip
def test_a_policy_asks_for_approval_of_plain_tools(policy):
    bank = Bank()
    run = bank.robot(approve=policy).start("pay")
    assert run.result().status == "waiting"
    assert bank.paid == []
    run.answer(False)
    assert "denied by a person" in run.result().tool_calls[0].content


@pytest.mark.parametrize(
    "policy", [None, False, "allow", "deny", [], ["other"], lambda tool, arguments: False]
)
def test_a_policy_that_does_not_mean_a_plain_tool_lets_it_pass(policy):
    bank = Bank()
    result = bank.robot(approve=policy).run("pay")
    assert bank.paid == [(5.0, "Ada")]
    assert settled(result) == []
    assert result.tool_calls[0].approved_by is None


@pytest.mark.parametrize(
    ("policy", "paid", "status"), [("allow", 1, "approved"), ("deny", 0, "denied")]
)
def test_allow_and_deny_settle_what_needs_approval_without_asking(policy, paid, status):
    bank = Bank(approval=True)
    result = bank.robot(approve=policy, answers={"pay": policy == "deny"}).run("pay")
    assert len(bank.paid) == paid
    assert settled(result) == [("policy", status)]
    assert result.tool_calls[0].approved_by == ("policy" if paid else None)


@pytest.mark.parametrize("policy", ["pay", "ask", 3, [pow], {"pay": True}])
def test_a_policy_that_cannot_be_meant_is_refused(policy):
    with pytest.raises(rl.ConfigurationError, match="approve"):
        Bank().robot(approve=policy).run("pay")


def test_scripted_answers_approve_deny_and_change():
    for answer, paid in (
        (True, [(5.0, "Ada")]),
        ("no, never", []),
        ({"arguments": {"amount": 1}}, [(1.0, "Ada")]),
        (lambda question: question.arguments["amount"] < 100, [(5.0, "Ada")]),
    ):
        bank = Bank(approval=True)
        result = bank.robot(answers={"pay": answer}).run("pay")
        assert bank.paid == paid
        assert settled(result)[0][0] == "scripted"
    with pytest.raises(rl.ConfigurationError, match="do not fit"):
        Bank(approval=True).robot(answers={"pay": {"arguments": {"x": 1}}}).run("pay")


def test_parallel_approvals_are_answered_one_by_one():
    bank = Bank(approval=True)
    run = bank.robot([("pay", {"amount": n}) for n in (1, 2, 3)]).start("pay")
    run.result()
    ids = [q.tool_call_id for q in run.pending]
    run.answer({ids[1]: True, ids[0]: False})
    assert run.result().status == "waiting"
    assert bank.paid == [(2.0, "Ada")]
    result = run.answer({"arguments": {"amount": 30}}).result()
    assert bank.paid == [(2.0, "Ada"), (30.0, "Ada")]
    assert [c.status for c in result.tool_calls] == ["failed", "completed", "completed"]


def test_a_call_that_does_not_fit_is_refused_without_asking_a_person():
    bank = Bank(approval=True)
    result = bank.robot(("pay", {"amount": "much"}), ("pay", {"sum": 1})).run("pay")
    assert [c.error["type"] for c in result.tool_calls] == ["ArgumentsError"] * 2
    assert requested(result) == []


# -- deadlines and stops ---------------------------------------------------------------------


def test_nobody_approves_in_time_and_the_call_is_denied():
    bank = Bank(approval=True)
    run = bank.robot(ask_timeout=0.15).start("pay")
    ended = threading.Event()
    run.when_done(ended.set)
    assert ended.wait(10)
    result = run.result()
    assert bank.paid == []
    assert "denied by nobody: no answer came in time" in result.tool_calls[0].content
    assert settled(result) == [("timeout", "denied")]


def test_stop_denies_and_each_call_has_one_result():
    bank = Bank(approval=True)
    run = bank.robot([("pay", {"amount": 1}), ("pay", {"amount": 2})]).start("pay")
    run.result()
    run.stop()
    assert bank.paid == []
    assert settled(run) == [("stop", "denied")] * 2
    ends = [e.data for e in run.events if e.type == "tool_call.completed"]
    assert [e["status"] for e in ends] == ["interrupted"] * 2
    assert run.state.stuck == ()  # nothing was called, so nothing goes on in a thread
    assert [len(m.tool_results) for m in run.state.messages if m.role == "tool"] == [2]


def test_an_answer_and_the_deadline_never_both_settle():
    for turn in range(20):
        bank = Bank(approval=True)
        run = bank.robot(ask_timeout=0.05).start("pay")
        while not run.pending and not run.done:
            time.sleep(0.001)
        time.sleep(0.04 + turn * 0.001)
        try:
            run.answer(True)
            won = True
        except InputError:
            won = False
        ended = threading.Event()
        run.when_done(ended.set)
        assert ended.wait(10)
        assert settled(run) == [("answer", "approved") if won else ("timeout", "denied")]
        assert len(bank.paid) == won


# -- labels ----------------------------------------------------------------------------------


@rl.tool(labels={"private"})
def read_mail() -> str:
    "Read mail."
    return "the code is 1234"


@rl.tool(labels={"untrusted"})
def read_page() -> str:
    "Read a page."
    return "hello"


@rl.tool(labels={"outward"})
def send(text: str) -> str:
    "Send a text."
    return "sent"


def outward(*tools, **settings):
    model = rl.SimulatedModel([("send", {"text": "x"}), "done"])
    return rl.build("b", model=model, tools=[*tools, send], config=settings)


def test_a_robot_that_combines_all_three_labels_needs_approval_to_send():
    run = outward(read_mail, read_page).start("go")
    assert run.result().status == "waiting"
    why = run.pending[0].why
    for part in ("read_mail", "read_page", "send", "private", "strangers"):
        assert part in why
    assert run.answer(True).result().tool_calls[0].result == "sent"


@pytest.mark.parametrize("tools", [(), (read_mail,), (read_page,)])
def test_two_labels_are_free(tools):
    assert outward(*tools).run("go").tool_calls[0].status == "completed"


def test_only_outward_calls_need_approval():
    model = rl.SimulatedModel([[("read_mail", {}), ("read_page", {})], "done"])
    bot = rl.build("b", model=model, tools=[read_mail, read_page, send])
    assert bot.run("go").text == "done"


def test_a_person_may_opt_out_of_it_knowingly():
    result = outward(read_mail, read_page, approve="allow").run("go")
    assert result.tool_calls[0].approved_by == "policy"
    assert settled(result) == [("policy", "approved")]


def test_the_mixture_counts_whatever_the_tool_or_another_policy_says():
    never = rl.tool(name="send", labels={"outward"}, approval=lambda arguments: False)
    lenient = never(send.function)
    model = rl.SimulatedModel([("send", {"text": "x"}), "done"])
    bot = rl.build("b", model=model, tools=[read_mail, read_page, lenient],
                   config={"approve": ["nothing"]})  # fmt: skip
    run = bot.start("go")
    assert run.result().status == "waiting"
    run.stop()


def test_labels_that_came_from_elsewhere_count():
    settings = {"approve": None, "answers": None, "ask_timeout": 60}
    tools = ToolManifest([send])
    for harmless in ((), {"private"}):
        assert not approvals_of(settings, tools, frozenset(harmless)).may_need(send)
    found = approvals_of(settings, tools, frozenset({"private", "untrusted"}))
    assert found is not None
    assert found.may_need(send)
    assert not found.may_need(read_mail)


def test_a_tool_with_labels_alone_costs_no_approvals():
    settings = {"approve": None, "answers": None, "ask_timeout": 60}
    assert approvals_of(settings, ToolManifest([read_mail, read_page])) is None
    assert approvals_of({**settings, "approve": ["other"]}, ToolManifest([read_mail])) is None


def plain() -> None:
    "Do nothing."


@pytest.mark.parametrize("labels", [{"secret"}, "private", ["privat"], [3]])
def test_unknown_labels_are_errors(labels):
    with pytest.raises(rl.ConfigurationError, match="label"):
        rl.tool(labels=labels)(plain)


def test_a_misspelt_label_is_told_its_name():
    with pytest.raises(rl.ConfigurationError, match="Did you mean 'private'"):
        rl.tool(labels={"privat"})(plain)


def test_an_approval_that_is_no_function_is_an_error():
    with pytest.raises(rl.ConfigurationError, match="neither a bool nor a function"):
        rl.tool(approval="yes")(plain)


def test_labels_and_approval_stay_with_methods_and_copies():
    class Box:
        @rl.tool(labels={"private"}, approval=True)
        def look(self) -> str:
            "Look."
            return "x"

    bound = Box().look
    assert (bound.labels, bound.approval) == (frozenset({"private"}), True)


# -- what a person sees ----------------------------------------------------------------------


def test_what_is_invisible_in_arguments_is_shown_to_the_person(monkeypatch, capsys):
    from robotlab_nb.runtime import console

    class Prompt:
        def can_ask(self):
            return threading.current_thread() is threading.main_thread()

        def input(self, prompt):
            print(prompt)
            return "yes"

    monkeypatch.setattr(console, "_console", Prompt)
    bank = Bank(approval=True)
    hidden = "Ada\u200b\u202e\U000e0041\x1b[2J"
    result = bank.robot(("pay", {"amount": 5, "to": hidden})).run("pay")
    shown = capsys.readouterr().out
    assert not any(c in shown for c in "\u200b\u202e\U000e0041\x1b")
    for escape in (r"\u200b", r"\u202e", r"\U000e0041"):
        assert escape in shown
    assert "Allow pay? yes / no" in shown
    assert "→ approved" in shown
    assert settled(result) == [("input", "approved")]
    assert bank.paid == [(5.0, hidden)]


@pytest.mark.parametrize(
    ("typed", "paid"),
    [("", []), ("no, too much", []), ('{"arguments": {"amount": 1}}', [(1.0, "Ada")])],
)
def test_at_a_prompt_nothing_means_no_and_json_changes_the_arguments(monkeypatch, typed, paid):
    from robotlab_nb.runtime import console

    class Prompt:
        def can_ask(self):
            return threading.current_thread() is threading.main_thread()

        def input(self, prompt):
            return typed

    monkeypatch.setattr(console, "_console", Prompt)
    bank = Bank(approval=True)
    bank.robot().run("pay")
    assert bank.paid == paid


def test_handlers_see_the_arguments_that_a_person_put_in_place():
    paid, seen = [], []

    @rl.tool(approval=True)
    def pay(amount: int, to: str) -> str:
        """Pay."""
        paid.append((amount, to))
        return f"paid {amount} to {to}"

    def never_eve(context):
        seen.append(context.tool_args)
        if context.tool_args["to"] == "Eve":
            raise rl.ToolError("nothing goes to Eve")

    steps = [ScriptedModel.tool_call("pay", {"amount": 500, "to": "Bob"}), "done"]
    for to in ("Ann", "Eve"):
        bot = rl.build("b", model=ScriptedModel(list(steps)), tools=[pay],
                       hooks={"before_tool_call": never_eve})  # fmt: skip
        result = bot.run("pay").answer({"arguments": {"amount": 5, "to": to}})
    assert seen == [{"amount": 5, "to": "Ann"}, {"amount": 5, "to": "Eve"}]
    assert paid == [(5, "Ann")]
    assert "nothing goes to Eve" in result.tool_calls[0].content
