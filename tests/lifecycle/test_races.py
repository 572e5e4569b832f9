"""Two at once, on real threads and real commits: exactly one wins, and the loser is told the truth."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import connection

from approvals import execution, lifecycle
from approvals.audit import record_administration, verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.models import Administration, AuditEvent, Decision, DecisionKind, EventKind, Execution, Person, Status, ToolCall
from approvals.models.actors import SYSTEM
from approvals.rendering import read
from tests.calls import WORKER, CallMaker, finish, register, submission
from toolgate import Ok

pytestmark = pytest.mark.usefixtures("real_db")


def together(*actions: Callable[[], Any]) -> list[Any]:
    """Runs all of them from one starting gun, each in a thread; answers or exceptions in order."""
    gun = threading.Barrier(len(actions))

    def run(action: Callable[[], Any]) -> Any:
        gun.wait()
        try:
            return action()
        except NotPossible as refused:
            return refused
        finally:
            connection.close()

    with ThreadPoolExecutor(len(actions)) as pool:
        return list(pool.map(run, actions))


def decision(call: ToolCall, person: Person, kind: DecisionKind, **more: Any) -> Callable[[], ToolCall]:
    shown = call.resolution.digest if call.resolution else ""
    reviewer = Reviewer(person, "session")
    facts: dict[str, Any] = {"reviewer": reviewer, "kind": kind, "digest": shown, "at": now(), "reason": "because"}
    return partial(lifecycle.decide, call_id=call.pk, **facts, **more)


def split(answers: list[Any]) -> tuple[list[ToolCall], list[NotPossible]]:
    return [a for a in answers if isinstance(a, ToolCall)], [a for a in answers if isinstance(a, NotPossible)]


def test_approve_and_reject_at_once_have_one_winner(make_call: CallMaker, reviewer: Person, second_reviewer: Person) -> None:
    for _ in range(25):
        call = make_call()
        approve = decision(call, reviewer, DecisionKind.APPROVE)
        reject = decision(call, second_reviewer, DecisionKind.REJECT)
        (won,), (lost,) = split(together(approve, reject))
        call.refresh_from_db()
        assert won.status == call.status == lost.status
        assert lost.code in ("already_settled", "wrong_status")
        assert Decision.objects.filter(call=call).count() == 1
        assert verify_chain(str(call.pk)).is_whole


def test_three_approvals_in_the_same_moment_reach_a_quorum_of_three(
    make_call: CallMaker, tools: Any, person_maker: Callable[..., Person]
) -> None:
    people = [person_maker(f"reviewer{number}") for number in range(3)]
    tool = register(tools, "quorum", approvals=3)
    for _ in range(15):
        call = make_call.submit(tool)
        _, refused = split(together(*(decision(call, one, DecisionKind.APPROVE) for one in people)))
        call.refresh_from_db()
        assert call.status == Status.APPROVED
        assert not refused
        kinds = Counter(AuditEvent.objects.filter(chain=str(call.pk)).values_list("kind", flat=True))
        assert (kinds[EventKind.VOTED], kinds[EventKind.APPROVED]) == (2, 1)
        assert verify_chain(str(call.pk)).is_whole


def test_decision_against_expiry_has_one_winner(make_call: CallMaker, reviewer: Person) -> None:
    for _ in range(15):
        call = make_call()
        assert call.expires_at is not None
        late = call.expires_at + timedelta(seconds=1)
        approve = decision(call, reviewer, DecisionKind.APPROVE)
        answers = together(approve, partial(lifecycle.expire, call_id=call.pk, at=late))
        call.refresh_from_db()
        won, lost = split(answers)
        if call.status == Status.EXPIRED and len(won) == 2:  # approved in time, and then not started in time
            continue
        assert len(won) == len(lost) == 1
        assert lost[0].status == call.status


def test_two_workers_claim_one_call_and_one_gets_it(make_call: CallMaker) -> None:
    for _ in range(15):
        call = make_call(Status.APPROVED)
        claims = [partial(lifecycle.claim, call_id=call.pk, worker=WORKER, at=now())] * 2
        (won,), (lost,) = split(together(*claims))
        assert (won.status, lost.status, lost.code) == (Status.EXECUTING, Status.EXECUTING, "wrong_status")
        assert Execution.objects.filter(call=call).count() == 1


def test_same_message_five_times_runs_once(make_call: CallMaker, tools: Any) -> None:
    ran: list[str] = []

    def count(arguments: dict[str, Any], context: Any) -> str:
        ran.append("once")
        return "done"

    tool = register(tools, "counted", function=count)
    call = make_call.decide(make_call.submit(tool), DecisionKind.APPROVE)
    answers = together(*[partial(execution.execute, call.pk)] * 5)
    assert ran == ["once"]
    assert Counter(answers)["succeeded"] == 1
    assert set(answers) <= {"succeeded", "not_approved", "wrong_status", "already_settled"}
    call.refresh_from_db()
    assert call.status == Status.SUCCEEDED


def test_twenty_identical_submits_make_one_call(make_call: CallMaker, tools: Any, agent: Any) -> None:
    sent = submission(register(tools), {"amount": 5}, tool_call_id="the same", run_id="a run")
    answers = together(*[partial(lifecycle.submit, agent=agent, submission=sent, at=now())] * 20)
    assert len({call.pk for call, _ in answers}) == 1
    assert [created for _, created in answers].count(True) == 1
    assert ToolCall.objects.count() == 1


def test_calls_of_one_run_submitted_at_once_get_places_of_their_own(make_call: CallMaker, tools: Any, agent: Any) -> None:
    tool = register(tools)
    sent = [submission(tool, tool_call_id=f"call {n}", run_id="a run") for n in range(12)]
    together(*(partial(lifecycle.submit, agent=agent, submission=one, at=now()) for one in sent))
    assert sorted(ToolCall.objects.values_list("position", flat=True)) == list(range(12))


def test_twenty_presses_of_approve_are_one_decision(make_call: CallMaker, reviewer: Person) -> None:
    call = make_call()
    answers, refused = split(together(*[decision(call, reviewer, DecisionKind.APPROVE)] * 20))
    assert not refused
    assert {answer.status for answer in answers} == {Status.APPROVED}
    assert Decision.objects.filter(call=call).count() == 1


def test_events_of_administration_written_at_once_are_one_chain() -> None:
    facts = [{"number": number} for number in range(16)]
    record = partial(record_administration, EventKind.KEY_ISSUED, at=now(), actor=SYSTEM)
    together(*(partial(record, data=one) for one in facts))
    assert verify_chain(Administration.NAME).is_whole
    events = AuditEvent.objects.filter(chain=Administration.NAME)
    assert sorted(read(event.data)["number"] for event in events) == list(range(16))


def test_same_key_with_other_content_at_once_makes_one_call(make_call: CallMaker, tools: Any, agent: Any) -> None:
    tool = register(tools)
    for turn in range(5):
        sent = [submission(tool, {"amount": n}, tool_call_id=f"the same {turn}") for n in range(8)]
        answers = together(*(partial(lifecycle.submit, agent=agent, submission=one, at=now()) for one in sent))
        refused = [one for one in answers if isinstance(one, NotPossible)]
        assert {one.code for one in refused} == {"submission_conflict"}
        assert len(refused) == 7
        assert ToolCall.objects.filter(tool_call_id=f"the same {turn}").count() == 1


def test_workers_that_race_for_a_whole_run_take_its_calls_in_order(make_call: CallMaker, tools: Any, agent: Any) -> None:
    tool = register(tools, require_approval=False)
    calls = [make_call.submit(tool, run_id="a run") for _ in range(6)]
    for first in calls:
        claims = [partial(lifecycle.claim, call_id=call.pk, worker=WORKER, at=now()) for call in calls * 2]
        (won,), refused = split(together(*claims))
        assert won.pk == first.pk
        assert {one.code for one in refused} <= {"not_its_turn", "wrong_status", "already_settled"}
        finish(won, Status.SUCCEEDED, Ok("done"))


def test_looks_while_it_is_decided_are_links_of_the_same_chain(
    make_call: CallMaker, person_maker: Callable[..., Person]
) -> None:
    people = [person_maker(f"person{number}") for number in range(6)]
    for _ in range(5):
        call = make_call()
        looks = [partial(lifecycle.see, call_id=call.pk, reviewer=Reviewer(one, "session"), at=now()) for one in people]
        _, refused = split(together(*looks, decision(call, people[0], DecisionKind.APPROVE)))
        assert not refused
        assert verify_chain(str(call.pk)).is_whole


def test_edit_against_approval_never_approves_what_was_not_shown(
    make_call: CallMaker, reviewer: Person, second_reviewer: Person
) -> None:
    for _ in range(10):
        call = make_call()
        edit = decision(call, second_reviewer, DecisionKind.EDIT, edited_arguments='{"a": 2}')
        won, refused = split(together(decision(call, reviewer, DecisionKind.APPROVE), edit))
        call.refresh_from_db()
        assert len(won) == len(refused) == 1
        assert refused[0].code in ("stale_digest", "wrong_status")
        shown = call.resolution.digest if call.resolution else ""
        assert call.approved_digest == (shown if call.status == Status.APPROVED else "")
        assert verify_chain(str(call.pk)).is_whole


def test_lease_that_is_renewed_in_the_moment_it_runs_out_is_kept_or_lost_and_not_both(make_call: CallMaker) -> None:
    for _ in range(10):
        call = make_call(Status.EXECUTING)
        assert call.lease is not None
        assert call.lease_expires_at is not None
        late = call.lease_expires_at + timedelta(seconds=1)
        renew = partial(lifecycle.renew, call_id=call.pk, lease=call.lease, at=late)
        lose = partial(lifecycle.lose, call_id=call.pk, lease=call.lease, why="a test", at=late)
        renewed, lost = together(renew, lose)
        call.refresh_from_db()
        assert renewed == isinstance(lost, NotPossible) == (call.status == Status.EXECUTING)


def test_corrections_of_one_call_at_once_are_all_links_of_its_chain(make_call: CallMaker, agent: Any) -> None:
    call = make_call(Status.CHANGES_REQUESTED)
    sent = [submission("tool", {"a": n}, tool_call_id=f"correction {n}", revises=call.pk) for n in range(8)]
    answers = together(*(partial(lifecycle.submit, agent=agent, submission=one, at=now()) for one in sent))
    assert all(created for _, created in answers)
    assert AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.REVISED).count() == 8
    assert verify_chain(str(call.pk)).is_whole


def test_new_tools_with_new_groups_in_any_order_do_not_stop_one_another(make_call: CallMaker, tools: Any, agent: Any) -> None:
    for turn in range(5):
        groups = [f"group {turn} {number}" for number in range(4)]
        names = [register(tools, f"tool {turn} {n}", groups=groups if n % 2 else groups[::-1]) for n in range(8)]
        answers = together(*(partial(lifecycle.submit, agent=agent, submission=submission(one), at=now()) for one in names))
        assert all(created for _, created in answers)
