"""Deciding a call on its page."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.test import Client

from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import Reviewer
from approvals.models import AuditEvent, Decision, DecisionKind, EventKind, Person, Status, ToolCall
from approvals.review.forms import PRESETS
from tests.calls import CallMaker, register
from tests.review.browser import Page, page_of, press, visit
from tests.review.conftest import LogIn
from toolgate import Registry

pytestmark = pytest.mark.django_db


def address(call: ToolCall) -> str:
    return f"/calls/{call.pk}"


def press_button(client: Client, call: ToolCall, button: str, **typed: Any) -> Any:
    return press(client, visit(client, address(call)), "/decide", button, **typed)


def status_of(call: ToolCall) -> str:
    return ToolCall.objects.get(pk=call.pk).status


def test_approves_what_was_shown_and_goes_on_to_the_next(ada: Client, make_call: CallMaker) -> None:
    call, other = make_call(timeout=timedelta(minutes=5)), make_call(arguments={"another": 1})
    response = press_button(ada, call, "approve", own_words="Looks right.")
    assert response.headers["Location"] == address(other)
    decision = Decision.objects.get(call=call)
    assert (decision.kind, decision.reason, decision.login) == ("approve", "Looks right.", "session")
    assert decision.digest == call.resolution.digest  # type: ignore[union-attr] # a pending call has one
    assert "tool: approved, about to run." in visit(ada, address(other)).text


def test_goes_to_the_inbox_after_the_last(ada: Client, make_call: CallMaker) -> None:
    assert press_button(ada, make_call(), "approve").headers["Location"] == "/"


@pytest.mark.parametrize(
    ("button", "typed", "status", "told"),
    [
        ("reject", {"preset": "The amount is wrong.", "own_words": "By ten."}, Status.REJECTED, "wrong.\nBy ten."),
        ("reject", {}, Status.REJECTED, "rejected by a human reviewer."),
        ("request_changes", {"own_words": "Half of it."}, Status.CHANGES_REQUESTED, "asks for changes: Half of it."),
        ("respond", {"response": "  42\n"}, Status.SUCCEEDED, "  42\n"),
    ],
)
def test_tells_the_agent(
    ada: Client, make_call: CallMaker, button: str, typed: dict[str, str], status: Status, told: str
) -> None:
    call = make_call()
    assert press_button(ada, call, button, **typed).status_code == 302
    call.refresh_from_db()
    assert call.status == status
    assert told in call.result.replace("\\n", "\n")


@pytest.mark.parametrize(
    ("button", "problem"), [("request_changes", "Say what should change"), ("respond", "Write the answer")]
)
def test_says_what_is_missing_and_keeps_what_was_typed(ada: Client, make_call: CallMaker, button: str, problem: str) -> None:
    call = make_call()
    typed = {"own_words": " ", "response": " "} | (
        {"own_words": "kept\r\nhere"} if button == "respond" else {"response": "kept"}
    )
    page = page_of(press_button(ada, call, button, **typed))
    assert page.status == 422
    assert problem in page.text
    fields = page.form("/decide").fields
    assert "kept" in fields["own_words"] + fields["response"]
    assert status_of(call) == Status.PENDING


def test_a_second_press_changes_nothing_and_is_no_error(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    page = visit(ada, address(call))
    for _ in range(3):
        assert press(ada, page, "/decide", "approve").status_code == 302
    assert Decision.objects.filter(call=call).count() == 1
    assert AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.APPROVED).count() == 1


def test_shows_the_new_state_and_the_typed_reason_when_somebody_was_faster(
    ada: Client, grace: Client, make_call: CallMaker
) -> None:
    call = make_call()
    page = visit(ada, address(call))
    press_button(grace, call, "reject", own_words="No.")
    answer = page_of(press(ada, page, "/decide", "approve", own_words="I had checked it."))
    assert answer.status == 409
    assert "Nothing was done. It cannot be decided like that any more: it is rejected (reject by Grace Hopper)." in answer.text
    assert "What you had typed I had checked it." in answer.text
    assert answer.buttons() == set()
    assert "Grace Hopper rejected it No." in answer.text


def test_an_old_tab_is_shown_what_it_means_now(ada: Client, make_call: CallMaker) -> None:
    make_call.extra = {"price": 5}
    call = make_call()
    page = visit(ada, address(call))
    make_call.extra = {"price": 9}
    answer = page_of(press(ada, page, "/decide", "approve", own_words="Fine."))
    assert answer.status == 409
    assert "What you were shown is not what would run now" in answer.text
    assert "price 5 9" in answer.text
    assert answer.form("/decide").fields["own_words"] == "Fine."
    assert "Not what was reviewed before" in answer.text
    sure = page_of(press(ada, answer, "/decide", "approve"))
    assert "price 5 9" in sure.text  # the second step keeps in sight what changed
    assert press(ada, sure, "/decide", "approve").status_code == 302
    assert status_of(call) == Status.APPROVED


@pytest.mark.parametrize("digest", ["", "0" * 64])
def test_what_was_never_shown_is_never_approved(ada: Client, make_call: CallMaker, digest: str) -> None:
    call = make_call()
    assert ada.post(f"{address(call)}/decide", {"kind": "approve", "digest": digest}).status_code == 409
    assert status_of(call) == Status.PENDING


def test_runs_the_stored_call_whatever_a_form_brings_along(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"amount": 5})
    press_button(ada, call, "approve", confirmed="yes", tool="other", arguments='{"amount": 900}', status="succeeded")
    call.refresh_from_db()
    assert (call.tool, call.submitted, call.status) == ("tool", '{"amount": 5}', Status.APPROVED)


def test_is_too_late_after_the_deadline_and_says_so(ada: Client, make_call: CallMaker) -> None:
    call = make_call(timeout=timedelta(minutes=5))
    page = visit(ada, address(call))
    with time_machine.travel(now() + timedelta(minutes=6), tick=False):
        answer = page_of(press(ada, page, "/decide", "approve", own_words="At last."))
    assert answer.status == 409
    assert "it is expired" in answer.text
    assert "What you had typed At last." in answer.text


def test_counts_votes_until_enough_people_agree(ada: Client, grace: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay", approvals=2)
    call = make_call.submit("pay")
    press_button(ada, call, "approve")
    assert "pay: waits for review, 1 of 2 approvals given." in visit(ada, "/").text
    page = visit(ada, address(call))
    assert "You approved it. It waits for others." in page.text
    assert page.buttons() == {"reject", "respond", "request_changes"}
    assert "1 of 2 approvals given" in visit(grace, address(call)).text
    press_button(grace, call, "approve")
    assert status_of(call) == Status.APPROVED


def test_shows_which_group_still_must_agree(reviewer: Person, log_in: LogIn, make_call: CallMaker, tools: Registry) -> None:
    reviewer.groups.add(Group.objects.get_or_create(name="finance")[0])
    register(tools, "pay", groups=("finance", "legal"))
    call = make_call.submit("pay")
    ada = log_in(reviewer)
    press_button(ada, call, "approve")
    page = visit(ada, address(call))
    assert "finance agrees" in page.text
    assert "legal must agree" in page.text


def high_risk(make_call: CallMaker, tools: Registry, **facts: Any) -> ToolCall:
    register(tools, "wire", risk="high", headline="Wire {amount} EUR", **facts)
    return make_call.submit("wire", {"amount": 5})


def test_takes_a_second_step_for_high_risk_that_names_the_consequence(
    ada: Client, make_call: CallMaker, tools: Registry
) -> None:
    call = high_risk(make_call, tools)
    page = page_of(press_button(ada, call, "approve", own_words="Two\r\nlines"))
    assert page.status == 200
    for told in ("Approve this high-risk call?", "Wire 5 EUR", "A worker does exactly this, once", "cannot be taken back"):
        assert told in page.text
    assert status_of(call) == Status.PENDING
    assert press(ada, page, "/decide", "approve").status_code == 302
    assert Decision.objects.get(call=call).reason == "Two\nlines"
    assert status_of(call) == Status.APPROVED


def test_takes_a_second_step_where_something_is_to_be_looked_at_twice(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"amount": 5})  # the tool declares no such parameter
    page = page_of(press_button(ada, call, "approve"))
    for told in ("Approve this call?", "Look twice", "does not fit the declared schema"):
        assert told in page.text
    assert status_of(call) == Status.PENDING


def test_approves_with_no_reason_that_speaks_against_it(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    answer = page_of(press_button(ada, call, "approve", preset=PRESETS[0], own_words="Or is it?"))
    assert (answer.status, status_of(call)) == (422, Status.PENDING)
    assert "You chose a reason that speaks against it" in answer.text
    assert answer.form("/decide").fields["own_words"] == "Or is it?"


def test_says_in_the_second_step_when_others_must_agree_too(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    page = page_of(press_button(ada, high_risk(make_call, tools, approvals=2), "approve"))
    assert "Your vote is one of 2" in page.text


def test_rejects_high_risk_in_one_step(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    assert press_button(ada, high_risk(make_call, tools), "reject").status_code == 302


def test_the_second_step_binds_to_what_the_first_showed(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    prices = [5]
    register(tools, "wire", risk="high", parse_args=lambda arguments: {"price": prices[-1]})
    call = make_call.submit("wire")
    page = page_of(press_button(ada, call, "approve"))
    prices.append(9)
    assert press(ada, page, "/decide", "approve").status_code == 409
    assert status_of(call) == Status.PENDING


@pytest.mark.parametrize("long", ["W" * 1001, "line\n" * 200, ["item"] * 26])
def test_wants_long_values_read_before_an_approval(ada: Client, make_call: CallMaker, long: Any) -> None:
    call = make_call(arguments={"target": "x", "body": long})
    answer = page_of(press_button(ada, call, "approve", own_words="Fine."))
    assert answer.status == 422
    assert "Read the long values to their end first" in answer.text
    assert answer.form("/decide").fields["own_words"] == "Fine."
    assert press(ada, answer, "/decide", "approve", read="yes", confirmed="yes").status_code == 302


def test_rejects_without_reading_to_the_end(ada: Client, make_call: CallMaker) -> None:
    assert press_button(ada, make_call(arguments={"body": "W" * 2000}), "reject").status_code == 302


@pytest.mark.parametrize("kind", ["", "edit", "cancel", "succeeded", "x" * 500])
def test_knows_no_other_decision(ada: Client, make_call: CallMaker, kind: str) -> None:
    call = make_call()
    assert ada.post(f"{address(call)}/decide", {"kind": kind, "digest": "x"}).status_code == 422
    assert status_of(call) == Status.PENDING


def test_what_the_policy_does_not_allow_is_refused(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "limited", allowed_decisions=("reject",))
    call = make_call.submit("limited")
    digest = call.resolution.digest if call.resolution else ""
    page = page_of(ada.post(f"{address(call)}/decide", {"kind": "approve", "digest": digest}))
    assert page.status == 409
    assert "does not allow that" in page.text


def test_nobody_approves_their_own_by_a_made_up_form(ada: Client, make_call: CallMaker) -> None:
    call = make_call(on_behalf_of="ADA")
    digest = call.resolution.digest if call.resolution else ""
    assert ada.post(f"{address(call)}/decide", {"kind": "approve", "digest": digest}).status_code == 409
    assert status_of(call) == Status.PENDING


def test_auditors_decide_nothing(auditor: Person, log_in: LogIn, make_call: CallMaker) -> None:
    call = make_call()
    sent = {"kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
    assert log_in(auditor).post(f"{address(call)}/decide", sent).status_code == 409
    assert status_of(call) == Status.PENDING


def test_a_call_that_never_was_is_not_there(ada: Client) -> None:
    path = "/calls/01a23131-6833-7d83-afb7-43d84243d88b/decide"
    assert ada.post(path, {"kind": "approve", "digest": "x", "tool": "pay", "arguments": "{}"}).status_code == 404


def test_whoever_comes_by_address_is_shown_the_call(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    assert ada.get(f"{address(call)}/decide").headers["Location"] == address(call)


def test_a_cancelled_call_is_closed_in_an_old_tab(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    page = visit(ada, address(call))
    lifecycle.cancel(call_id=call.pk, agent=make_call.agent, at=now())
    answer = page_of(press(ada, page, "/decide", "approve"))
    assert answer.status == 409
    assert "it is cancelled" in answer.text
    assert address(call) not in visit(ada, "/").links


def test_a_reason_holds_any_text(ada: Client, make_call: CallMaker) -> None:
    call, reason = make_call(), "<script>alert(1)</script>\n  two \u202e lines \U0001f680"
    press_button(ada, call, "reject", own_words=reason)
    assert Decision.objects.get(call=call).reason == reason
    page: Page = visit(ada, address(call))
    assert "<script>alert" not in page.source
    assert "U+202E" in page.text


def test_a_vote_through_the_verbs_shows_at_once(ada: Client, make_call: CallMaker, second_reviewer: Person) -> None:
    call = make_call()
    page = visit(ada, address(call))
    grace = Reviewer(second_reviewer, "token")
    digest = call.resolution.digest if call.resolution else ""
    lifecycle.decide(call_id=call.pk, reviewer=grace, kind=DecisionKind.APPROVE, digest=digest, at=now())
    answer = page_of(press(ada, page, "/decide", "reject"))
    assert answer.status == 409
    assert "it is approved" in answer.text
