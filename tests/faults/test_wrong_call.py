"""An answer, a result and a name belong to the one call they name, however alike the model's ids and however they cross."""

from __future__ import annotations

import random
from functools import partial
from typing import Any

import pytest
from django.test import Client

from approvals import execution
from approvals.models import Agent, DecisionKind, Interrupt, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.execution.working import Working, settled, text, until
from tests.lifecycle.test_races import together
from tests.review.browser import page_of, press, visit
from toolgate import Interrupt as Asks

pytestmark = pytest.mark.usefixtures("real_db")


def ask_twice(arguments: dict[str, Any], context: dict[str, Any]) -> Any:
    answers = [one["answer"] for one in context["interrupts"]]
    name = arguments["name"]
    return Asks(f"{name}{len(answers)}") if len(answers) < 2 else f"{name}: {answers}"


def are_asked(count: int, number: int) -> bool:
    return Interrupt.objects.filter(message__endswith=str(number), answered_at=None).count() == count


def test_answers_given_at_once_and_in_any_order_reach_the_questions_they_name(
    as_person: Caller, make_call: CallMaker, tools: Any, worker: Working
) -> None:  # B037 B038
    tool = register(tools, "asking", function=ask_twice, require_approval=False, async_=True)
    calls = [make_call.submit(tool, {"name": name}, run_id="a run") for name in "ABCDEF"]
    for number in range(2):
        until(partial(are_asked, 6, number))
        questions = list(Interrupt.objects.filter(answered_at=None))
        random.shuffle(questions)
        paths = [f"tool-calls/{one.call_id}/interrupts/{one.pk}/answer" for one in questions]
        posts = [
            partial(as_person.post, path, {"answer": f"for {one.message}"}) for path, one in zip(paths, questions, strict=True)
        ]
        wrong = as_person.post(paths[0].replace(str(questions[0].pk), str(questions[1].pk)), {"answer": "crossed"})
        assert (wrong.status, wrong.problem) == (404, "unknown_interrupt")
        assert {answer.status for answer in together(*posts)} == {200}
        assert {as_person.post(path, {"answer": "again"}).problem for path in paths} == {"interrupt_closed"}
    assert settled(*calls) == [Status.SUCCEEDED] * 6
    assert [text(call) for call in calls] == [f"{name}: ['for {name}0', 'for {name}1']" for name in "ABCDEF"]
    assert Interrupt.objects.count() == 12


def test_siblings_that_need_nobody_run_and_only_the_gated_call_has_buttons(
    as_agent: Caller, ada: Client, as_person: Caller, tools: Any, worker: Working
) -> None:  # B040
    register(tools, "gated", async_=True)
    register(tools, "free", async_=True, require_approval=False)
    items = [{"tool": name, "tool_call_id": str(place)} for place, name in enumerate(("free", "gated", "free"))]
    results = as_agent.post("tool-calls/batch", {"calls": items}).body["results"]
    free, gated, other = (ToolCall.objects.get(pk=one["tool_call"]["id"]) for one in results)
    assert settled(free, other) == [Status.SUCCEEDED] * 2
    for _ in range(2):  # the page, and the page again
        assert "approve" in visit(ada, f"/calls/{gated.pk}").buttons()
        assert not visit(ada, f"/calls/{free.pk}").buttons() & {"approve", "reject"}
    assert [call["id"] for call in as_person.get("inbox").body["results"]] == [str(gated.pk)]
    digest = gated.resolution.digest if gated.resolution else ""
    body = {"decisions": [{"tool_call": str(call.pk), "kind": "approve", "digest": digest} for call in (gated, free)]}
    assert [one["status"] for one in as_person.post("decisions/batch", body).body["results"]] == [200, 409]
    assert settled(gated) == [Status.SUCCEEDED]


def test_calls_that_all_have_one_model_id_each_give_their_own_result_in_order(
    as_agent: Caller, tools: Any, worker: Working
) -> None:  # B043 B044
    tool = register(tools, "echo", function=lambda arguments, context: f"turn {arguments['turn']}", require_approval=False)
    told = []
    for turn in range(10):
        sent = {"tool": tool, "tool_call_id": "call_0", "arguments": {"turn": turn}, "run_id": "a run"}
        call = as_agent.post("tool-calls", sent, Idempotency_Key=f"turn {turn}").body
        answer = as_agent.get(f"tool-calls/{call['id']}", {"wait": "30"}).body
        told.append((answer["tool_call_id"], answer["result"]["content"][0]["content"]))
    assert told == [("call_0", f"turn {turn}") for turn in range(10)]
    results = as_agent.get("runs/a%20run").body["tool_results"]
    assert [result["content"][0]["content"] for result in results] == [f"turn {turn}" for turn in range(10)]


def test_call_keeps_the_names_it_was_submitted_under_when_its_agent_is_renamed(
    as_agent: Caller, as_person: Caller, ada: Client, agent: Agent, tools: Any
) -> None:  # B046 B047
    Agent.objects.filter(pk=agent.pk).update(name="planner")
    tool = register(tools)
    call = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1", "on_behalf_of": "mailer"}).body
    Agent.objects.filter(pk=agent.pk).update(name="another")
    page = visit(ada, f"/calls/{call['id']}")
    assert "planner" in page.text
    assert "mailer" in page.text
    read = as_person.get(f"tool-calls/{call['id']}").body
    assert (read["agent"], read["on_behalf_of"]) == ("planner", "mailer")
    assert as_person.get("inbox").body["count"] == 1


@pytest.mark.parametrize("status", [Status.PENDING, Status.APPROVED, Status.INTERRUPTED, Status.OUTCOME_UNKNOWN])
def test_call_of_an_agent_that_is_switched_off_stays_visible_and_nothing_of_it_begins(
    status: Status, as_person: Caller, ada: Client, make_call: CallMaker, agent: Agent
) -> None:  # B047
    call = make_call(status)
    Agent.objects.filter(pk=agent.pk).update(is_active=False)
    page = visit(ada, f"/calls/{call.pk}")
    assert page.status == 200
    assert not page.buttons() & {"approve", "answer", "run_again"}
    assert "agent is switched off" in page.text
    asked = Interrupt.objects.filter(call=call).first()
    begin: dict[str, tuple[str, dict[str, Any]]] = {
        "pending": ("decisions", {"kind": "approve", "digest": as_person.get(f"tool-calls/{call.pk}").body["digest"]}),
        "interrupted": (f"interrupts/{asked.pk if asked else 0}/answer", {"answer": "yes"}),
        "outcome_unknown": ("settlement", {"outcome": "run_again", "reason": "It did not begin."}),
    }
    if status in begin:
        path, body = begin[status]
        refused = as_person.post(f"tool-calls/{call.pk}/{path}", body)
        assert (refused.status, refused.problem) == (409, "agent_off")
    assert execution.execute(call.pk) in ("not_approved", "agent_off")
    assert ToolCall.objects.get(pk=call.pk).status == status
    Agent.objects.filter(pk=agent.pk).update(is_active=True)
    if status == Status.APPROVED:
        assert execution.execute(call.pk) == Status.SUCCEEDED


def test_call_whose_function_is_gone_stays_as_it_is_and_is_approved_when_it_is_back(
    as_person: Caller, ada: Client, make_call: CallMaker, tools: Any
) -> None:  # B047
    call = make_call.submit(register(tools, "leaving"))
    gone = tools.take_away("leaving")
    digest = call.resolution.digest if call.resolution else ""
    approval = {"kind": "approve", "digest": digest}
    refused = as_person.post(f"tool-calls/{call.pk}/decisions", approval)
    assert (refused.status, refused.problem) == (409, "tool_not_served")
    assert "leaving" in refused.body["detail"]
    assert as_person.get("inbox").body["results"][0]["id"] == str(call.pk)
    page = visit(ada, f"/calls/{call.pk}")
    assert "Its tool is not served now" in page.text
    assert not {"approve", "edit"} & set(page.buttons())
    assert execution.execute(call.pk) == "not_approved"
    assert ToolCall.objects.get(pk=call.pk).version == call.version + 1  # somebody saw it, and that is all
    tools.bring_back(gone)
    assert as_person.post(f"tool-calls/{call.pk}/decisions", approval).status == 200
    assert execution.execute(call.pk) == Status.SUCCEEDED


def test_call_that_a_worker_without_its_function_sent_back_is_resolved_again_when_it_is_back(
    ada: Client, make_call: CallMaker, tools: Any
) -> None:
    call = make_call.decide(make_call.submit(register(tools, "leaving")), DecisionKind.APPROVE)
    gone = tools.take_away("leaving")
    assert execution.execute(call.pk) == Status.PENDING
    tools.bring_back(gone)
    page = visit(ada, f"/calls/{call.pk}")
    assert "Resolve them again" in page.text
    again = page_of(press(ada, page, "/decide", "approve"))
    assert "Look at the new arguments" in again.text
    confirm = page_of(press(ada, again, "/decide", "approve"))
    assert press(ada, confirm, "/decide", "approve").status_code == 302
    assert execution.execute(call.pk) == Status.SUCCEEDED
