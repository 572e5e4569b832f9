"""Every verb × every status: it leads where the table says, with its event, or is refused and changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from approvals import lifecycle
from approvals.audit import verify_chain
from approvals.clock import now
from approvals.lifecycle import TRANSITIONS, NotPossible, Reviewer
from approvals.models import AuditEvent, DecisionKind, EventKind, Status, ToolCall, Verb, uuid7
from approvals.resolution import Resolved
from tests.calls import WORKER, CallMaker, finish
from toolgate import Ok

pytestmark = pytest.mark.django_db


def _decide(kind: DecisionKind) -> Callable[[CallMaker, ToolCall], ToolCall]:
    answers: dict[DecisionKind, dict[str, Any]] = {
        DecisionKind.EDIT: {"edited_arguments": '{"edited": true}'},
        DecisionKind.RESPOND: {"response": "Use the other one."},
    }
    return lambda make, call: make.decide(call, kind, **answers.get(kind, {}))


def _drift(make: CallMaker, call: ToolCall) -> ToolCall:
    return lifecycle.drift(
        call_id=call.pk,
        lease=call.lease or uuid7(),
        worker=WORKER,
        resolved=Resolved(call.tool, "{}", refusal="gone"),
        verdict=None,
        why="a test",
        at=now(),
    )


def _refresh(make: CallMaker, call: ToolCall) -> ToolCall:
    """The verb of its own that an approval begins with: the parser answers differently now."""
    make.extra["answer"] = "another one"
    with pytest.raises(NotPossible) as refused:
        make.decide(call, DecisionKind.APPROVE)
    if refused.value.code != "stale_digest":
        raise refused.value
    return ToolCall.objects.get(pk=call.pk)


def _finish(make: CallMaker, call: ToolCall) -> ToolCall:
    if call.lease is None:
        call.lease = uuid7()
    return finish(call, Status.SUCCEEDED, Ok("done"))


def _lose(make: CallMaker, call: ToolCall) -> ToolCall:
    return lifecycle.lose(call_id=call.pk, lease=call.lease or uuid7(), why="a test", at=now() + timedelta(hours=1))


def _answer(make: CallMaker, call: ToolCall) -> ToolCall:
    asked = call.interrupts.last()
    interrupt = asked.pk if asked else uuid7()
    return lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=interrupt, reviewer=make.reviewer, answer=True, at=now())


def _settle(make: CallMaker, call: ToolCall) -> ToolCall:
    return lifecycle.settle(call_id=call.pk, reviewer=make.reviewer, outcome="failed", reason="I looked", at=now())


DO: dict[Verb, Callable[[CallMaker, ToolCall], ToolCall]] = {
    Verb.APPROVE: _decide(DecisionKind.APPROVE),
    Verb.EDIT: _decide(DecisionKind.EDIT),
    Verb.RESPOND: _decide(DecisionKind.RESPOND),
    Verb.REQUEST_CHANGES: _decide(DecisionKind.REQUEST_CHANGES),
    Verb.REJECT: _decide(DecisionKind.REJECT),
    Verb.CANCEL: lambda make, call: lifecycle.cancel(call_id=call.pk, agent=make.agent, at=now()),
    Verb.EXPIRE: lambda make, call: lifecycle.expire(call_id=call.pk, at=now() + timedelta(days=400)),
    Verb.CLAIM: lambda make, call: lifecycle.claim(call_id=call.pk, worker=WORKER, at=now()),
    Verb.DRIFT: _drift,
    Verb.REFRESH: _refresh,
    Verb.FINISH: _finish,
    Verb.LOSE: _lose,
    Verb.RESTORE: lambda make, call: lifecycle.restore(call_id=call.pk, at=now()),
    Verb.ANSWER: _answer,
    Verb.SETTLE: _settle,
}


def test_table_speaks_of_every_verb_and_reaches_every_status() -> None:
    assert set(TRANSITIONS) == set(Verb)
    assert {target for transition in TRANSITIONS.values() for target in transition.targets} == set(Status)
    assert set(DO) == set(Verb) - {Verb.SUBMIT}


@pytest.mark.parametrize("status", list(Status))
@pytest.mark.parametrize("verb", list(DO))
def test_verb_leads_where_the_table_says_or_changes_nothing(
    verb: Verb, status: Status, make_call: CallMaker, second_reviewer: Any
) -> None:
    call = make_call(status)
    make_call.reviewer = Reviewer(second_reviewer, "token")  # a repeat by the same person is harmless, not refused
    before = ToolCall.objects.values().get(pk=call.pk)
    events = AuditEvent.objects.filter(chain=str(call.pk)).count()
    legal = status in TRANSITIONS[verb].sources or (verb == Verb.CANCEL and status == Status.CANCELLED)

    if legal:
        after = DO[verb](make_call, call)
        assert after.status in TRANSITIONS[verb].targets
    else:
        with pytest.raises(NotPossible) as refused:
            DO[verb](make_call, call)
        assert refused.value.status == status
        assert ToolCall.objects.values().get(pk=call.pk) == before

    is_repeat = verb == Verb.CANCEL and status == Status.CANCELLED
    assert AuditEvent.objects.filter(chain=str(call.pk)).count() == events + (legal and not is_repeat)
    assert verify_chain(str(call.pk)).is_whole


@pytest.mark.parametrize("status", list(Status))
def test_every_event_of_the_way_to_a_status_names_an_actor(status: Status, make_call: CallMaker) -> None:
    call = make_call(status)
    events = list(AuditEvent.objects.filter(chain=str(call.pk)).order_by("sequence"))
    assert events[0].kind == EventKind.SUBMITTED
    assert all(event.actor_kind and event.actor_name for event in events)
    assert all(event.tool == call.tool for event in events)
