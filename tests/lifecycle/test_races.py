"""Two at once, on real threads and a real database file: exactly one wins, and the loser is told the truth."""

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
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import NotPossible, Reviewer
from approvals.models import AuditEvent, Decision, DecisionKind, EventKind, Execution, Person, Status, ToolCall
from tests.calls import WORKER, CallMaker, register, submission

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


def decision(call: ToolCall, person: Person, kind: DecisionKind) -> Callable[[], ToolCall]:
    shown = call.resolution.digest if call.resolution else ""
    reviewer = Reviewer(person, "session")
    return partial(lifecycle.decide, call_id=call.pk, reviewer=reviewer, kind=kind, digest=shown, at=now(), reason="because")


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
    assert set(answers) <= {"succeeded", "wrong_status", "already_settled"}
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
