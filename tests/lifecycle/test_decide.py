"""Deciding: who may, what counts, what is void."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import lifecycle
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.models import Agent, Decision, DecisionKind, Outcome, Person, Status, ToolCall
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db
APPROVE, EDIT, REJECT = DecisionKind.APPROVE, DecisionKind.EDIT, DecisionKind.REJECT
People = Callable[..., Person]


def by(person: Person) -> dict[str, Any]:
    return {"reviewer": Reviewer(person, "token")}


def refusal(make: CallMaker, call: ToolCall, kind: DecisionKind, **answer: Any) -> str:
    before = ToolCall.objects.values().get(pk=call.pk)
    with pytest.raises(NotPossible) as refused:
        make.decide(call, kind, **answer)
    assert ToolCall.objects.values().get(pk=call.pk) == before
    return refused.value.code


def test_one_person_twice_is_one_of_two(make_call: CallMaker, tools: Any, second_reviewer: Person) -> None:
    call = make_call.submit(register(tools, "two", approvals=2))
    assert make_call.decide(call, APPROVE).status == Status.PENDING
    assert make_call.decide(call, APPROVE).status == Status.PENDING
    assert Decision.objects.filter(call=call).count() == 1
    assert make_call.decide(call, APPROVE, **by(second_reviewer)).status == Status.APPROVED


def test_vote_counts_anew_after_an_edit_that_means_the_same(make_call: CallMaker, tools: Any, second_reviewer: Person) -> None:
    call = make_call.submit(register(tools, "two", approvals=2), {"a": 1})
    make_call.decide(call, APPROVE)
    assert make_call.decide(call, EDIT, edited_arguments='{ "a": 1 }', **by(second_reviewer)).review_round == 2
    make_call.decide(call, APPROVE)
    assert [vote.person for vote in ToolCall.objects.get(pk=call.pk).votes()] == [make_call.reviewer.person]
    assert make_call.decide(call, APPROVE, **by(second_reviewer)).status == Status.APPROVED


def test_one_rejection_ends_a_quorum(make_call: CallMaker, tools: Any, second_reviewer: Person) -> None:
    call = make_call.submit(register(tools, "two", approvals=2))
    make_call.decide(call, APPROVE)
    assert make_call.decide(call, REJECT, **by(second_reviewer)).status == Status.REJECTED


def test_every_group_must_agree_by_people_of_its_own(make_call: CallMaker, tools: Any, person_maker: People) -> None:
    call = make_call.submit(register(tools, "grouped", groups=["finance", "legal"]))
    both, finance, other = person_maker("both", "finance", "legal"), person_maker("fin", "finance"), person_maker("oth", "ops")
    assert refusal(make_call, call, APPROVE, **by(other)) == "not_a_reviewer"
    assert make_call.decide(call, APPROVE, **by(both)).status == Status.PENDING
    assert make_call.decide(call, APPROVE, **by(finance)).status == Status.APPROVED


def test_only_its_groups_see_a_grouped_call(make_call: CallMaker, tools: Any, person_maker: People) -> None:
    call = make_call.submit(register(tools, "grouped", groups=["finance"]))
    inside, outside = person_maker("in", "finance"), person_maker("out", "ops")
    assert ToolCall.objects.waiting_for(inside).filter(pk=call.pk).exists()
    assert not ToolCall.objects.visible_to(outside).filter(pk=call.pk).exists()


@pytest.mark.parametrize("named", ["ada", "ADA@example.org"])
def test_nobody_approves_their_own(named: str, make_call: CallMaker, reviewer: Person, second_reviewer: Person) -> None:
    call = make_call(Status.PENDING, on_behalf_of=named)
    for kind, answer in ((APPROVE, {}), (EDIT, {"edited_arguments": "{}"}), (DecisionKind.RESPOND, {"response": "x"})):
        assert refusal(make_call, call, kind, **answer) == "self_approval"
    assert make_call.decide(call, APPROVE, **by(second_reviewer)).status == Status.APPROVED


def test_administrators_and_owners_are_no_exception(make_call: CallMaker, agent: Agent, administrator: Person) -> None:
    agent.owner = administrator
    agent.save()
    assert refusal(make_call, make_call(), APPROVE, **by(administrator)) == "self_approval"


def test_one_may_reject_or_where_policy_says_approve_ones_own(make_call: CallMaker, tools: Any) -> None:
    assert make_call.decide(make_call(on_behalf_of="ada"), REJECT).status == Status.REJECTED
    tool = register(tools, "own", self_approval=True)
    assert make_call.decide(make_call.submit(tool, on_behalf_of="ada"), APPROVE).status == Status.APPROVED


def test_auditors_decide_nothing(make_call: CallMaker, auditor: Person) -> None:
    for kind in (APPROVE, REJECT):
        assert refusal(make_call, make_call(), kind, **by(auditor)) == "not_a_reviewer"


def test_only_what_the_policy_allows(make_call: CallMaker, tools: Any) -> None:
    call = make_call.submit(register(tools, "yes or no", allowed_decisions=["approve", "reject"]))
    assert refusal(make_call, call, DecisionKind.RESPOND, response="x") == "not_allowed"
    assert lifecycle.may_decide(call, make_call.reviewer.person, now()) == ["approve", "reject"]


def test_stale_digest_is_refused_and_told(make_call: CallMaker) -> None:
    call = make_call()
    with pytest.raises(NotPossible) as refused:
        make_call.decide(call, REJECT, digest="0" * 64)
    assert refused.value.code == "stale_digest"
    assert call.resolution is not None
    assert refused.value.data["digest"] == call.resolution.digest


def test_what_changed_while_it_waited_is_shown_before_it_counts(make_call: CallMaker) -> None:
    call = make_call()
    make_call.extra["price"] = 500
    with pytest.raises(NotPossible) as refused:
        make_call.decide(call, APPROVE)
    assert refused.value.code == "stale_digest"
    again = ToolCall.objects.get(pk=call.pk)
    assert again.resolution is not None
    assert again.resolution.resolved == '{"price":500}'
    assert make_call.decide(again, APPROVE).status == Status.APPROVED


def test_edit_voids_votes_and_waits_for_who_has_seen_it(make_call: CallMaker, tools: Any, second_reviewer: Person) -> None:
    call = make_call.submit(register(tools, "two", approvals=2), {"amount": 5})
    make_call.decide(call, APPROVE, **by(second_reviewer))
    edited = make_call.decide(call, EDIT, edited_arguments='{"amount": 4}')
    assert (edited.status, len(ToolCall.objects.with_everything().get(pk=call.pk).votes())) == (Status.PENDING, 0)
    assert make_call.decide(call, APPROVE).status == Status.PENDING
    done = make_call.decide(call, APPROVE, **by(second_reviewer))
    assert done.status == Status.APPROVED
    assert json.loads(ToolCall.objects.get(pk=call.pk).submitted) == {"amount": 5}


def test_editor_who_saw_what_it_means_approves_at_once(make_call: CallMaker) -> None:
    call = make_call()
    shown, verdict = lifecycle.preview_edit(call_id=call.pk, edited_arguments='{"amount": 4}')
    assert verdict is not None
    assert ToolCall.objects.get(pk=call.pk).version == call.version
    done = make_call.decide(call, EDIT, edited_arguments='{"amount": 4}', resolved_digest=shown.digest)
    assert (done.status, done.approved_digest) == (Status.APPROVED, shown.digest)
    assert refusal(make_call, make_call(), EDIT, edited_arguments="{}", resolved_digest="0" * 64) == "stale_digest"


def test_four_eyes_keep_the_editor_from_approving(make_call: CallMaker, tools: Any, second_reviewer: Person) -> None:
    call = make_call.submit(register(tools, "four eyes", editor_may_approve=False))
    shown, _ = lifecycle.preview_edit(call_id=call.pk, edited_arguments='{"a": 1}')
    edited = make_call.decide(call, EDIT, edited_arguments='{"a": 1}', resolved_digest=shown.digest)
    assert edited.status == Status.PENDING
    assert refusal(make_call, call, APPROVE) == "own_edit"
    assert make_call.decide(call, APPROVE, **by(second_reviewer)).status == Status.APPROVED


def test_edit_that_is_refused_or_denied_changes_nothing(make_call: CallMaker, tools: Any) -> None:
    deny = lambda arguments: arguments.get("amount", 0) > 100  # noqa: E731 - said once
    schema = {"type": "object", "required": ["amount"]}
    call = make_call.submit(register(tools, "limited", deny=deny, parameters_schema=schema), {"amount": 5})
    assert refusal(make_call, call, EDIT, edited_arguments="{}") == "edit_refused"
    assert refusal(make_call, call, EDIT, edited_arguments='{"amount": 500}') == "edit_denied"
    assert refusal(make_call, call, EDIT, edited_arguments='{"amount": 5, "amount": 6}') == "edit_refused"


def test_late_decision_expires_the_call_without_any_sweep(make_call: CallMaker) -> None:
    call = make_call(timeout=timedelta(seconds=1))
    with pytest.raises(NotPossible) as refused:
        make_call.decide(call, APPROVE, at=now() + timedelta(seconds=2))
    assert refused.value.code == "already_settled"
    assert ToolCall.objects.get(pk=call.pk).status == Status.EXPIRED


def test_reasons_and_responses_are_asked_for(make_call: CallMaker) -> None:
    assert refusal(make_call, make_call(), DecisionKind.REQUEST_CHANGES, reason=" ") == "reason_missing"
    assert refusal(make_call, make_call(), DecisionKind.RESPOND, response=" ") == "response_missing"


def test_decision_keeps_who_they_were_then(make_call: CallMaker, person_maker: People) -> None:
    mary = person_maker("mary", "finance", first_name="Mary", last_name="S")
    call = make_call()
    make_call.decide(call, APPROVE, **by(mary))
    mary.groups.clear()
    mary.first_name = "Somebody"
    mary.save()
    kept = Decision.objects.get(call=call)
    assert (kept.person_name, kept.person_email, kept.groups, kept.login) == (
        "Mary S",
        "mary@example.org",
        ["finance"],
        "token",
    )
    assert verify_chain(str(call.pk)).is_whole


RULES: dict[str, tuple[dict[str, Any], Status]] = {
    "no metadata": ({}, Status.PENDING),
    "allowed": ({"require_approval": False}, Status.APPROVED),
    "denied": ({"deny": True}, Status.DENIED),
    "below the limit": ({"require_approval": lambda arguments: arguments["amount"] > 100}, Status.APPROVED),
    "above the limit": ({"require_approval": lambda arguments, context: arguments["amount"] > 5}, Status.PENDING),
    "a predicate that fails": ({"require_approval": lambda arguments: arguments["no such"]}, Status.PENDING),
    "a denial that fails": ({"deny": lambda arguments: 1 / 0, "require_approval": False}, Status.PENDING),
    "a denial of these": ({"deny": lambda arguments: arguments["amount"] == 50}, Status.DENIED),
}


@pytest.mark.parametrize("name", list(RULES))
def test_policy_decides_by_the_resolved_arguments(name: str, make_call: CallMaker, tools: Any) -> None:
    facts, status = RULES[name]
    call = make_call.submit(register(tools, name, **facts), {"amount": 50})
    assert call.status == status
    assert call.verdict["reason"]
    assert call.outcome in Outcome.values


def test_deadlines_come_from_policy_and_the_shorter_wish(make_call: CallMaker, tools: Any) -> None:
    tool = register(tools, "hourly", expires_after=timedelta(hours=1))
    for timeout, hours in ((None, 1.0), (timedelta(hours=5), 1.0), (timedelta(minutes=30), 0.5)):
        call = make_call.submit(tool, timeout=timeout)
        assert call.expires_at is not None
        assert call.expires_at - call.submitted_at == timedelta(hours=hours)


def _voted(make: CallMaker, tools: Any) -> ToolCall:
    return make.decide(make.submit(register(tools, "two", approvals=2)), APPROVE)


def _edited(make: CallMaker, tools: Any) -> ToolCall:
    call = make.submit(register(tools, "four eyes", editor_may_approve=False))
    return make.decide(call, EDIT, edited_arguments='{"a": 2}')


def _overdue(make: CallMaker, tools: Any) -> ToolCall:
    call = make()
    ToolCall.objects.filter(pk=call.pk).update(expires_at=now() - timedelta(seconds=1))
    return call


SITUATIONS: dict[str, Callable[[CallMaker, Any], ToolCall]] = {
    "free to decide": lambda make, tools: make(),
    "voted already": _voted,
    "edited it": _edited,
    "overdue": _overdue,
    "their own": lambda make, tools: make(on_behalf_of="ada"),
    "of another group": lambda make, tools: make.submit(register(tools, "grouped", groups=["finance"])),
    "narrow policy": lambda make, tools: make.submit(register(tools, "narrow", allowed_decisions=["approve", "respond"])),
    "settled": lambda make, tools: make(Status.REJECTED),
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_is_offered_is_what_is_possible(situation: str, make_call: CallMaker, tools: Any) -> None:
    answers = {"edited_arguments": '{"a": 3}', "reason": "r", "response": "r"}
    for kind in DecisionKind:
        call = ToolCall.objects.with_everything().get(pk=SITUATIONS[situation](make_call, tools).pk)
        is_offered = kind in lifecycle.may_decide(call, make_call.reviewer.person, now())
        before = Decision.objects.count()
        try:
            make_call.decide(call, kind, **answers)
        except NotPossible:
            assert not is_offered, kind
        else:
            assert is_offered == (Decision.objects.count() > before), kind
