"""Nothing happens without its record, every record says who and what, and no hand beside the gate goes unseen."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.db import DatabaseError

from approvals import audit, dispatch, lifecycle, sweeps
from approvals.audit import verify_all, verify_chain
from approvals.audit.chain import record_administration
from approvals.clock import now
from approvals.lifecycle import Reviewer
from approvals.models import AuditEvent, DecisionKind, EventKind, Interrupt, Status, ToolCall
from approvals.models.actors import SYSTEM
from approvals.rendering import sha256
from tests.api.conftest import Caller
from tests.calls import WORKER, CallMaker, finish, register
from tests.lifecycle.test_races import decision, together
from tests.review.browser import press, visit
from toolgate import Interrupt as Asks
from toolgate.celery import app

pytestmark = pytest.mark.usefixtures("real_db")


def events(call: ToolCall) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(chain=str(call.pk)).order_by("sequence"))


def facts(call: ToolCall, kind: EventKind) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(AuditEvent.objects.get(chain=str(call.pk), kind=kind).data)
    return data


# --- one line, however many write ---------------------------------------------------------------------------------------


def test_first_records_of_an_empty_trail_written_at_once_have_one_beginning() -> None:  # B166 B167
    assert not AuditEvent.objects.exists()
    write = partial(record_administration, EventKind.KEY_ISSUED, at=now(), actor=SYSTEM, data={"prefix": "x"})
    together(*[write] * 20)
    found = verify_chain("administration")
    assert (found.is_whole, found.length) == (True, 20)
    assert AuditEvent.objects.filter(previous="0" * 64).count() == 1


def test_votes_looks_and_a_cancel_at_once_make_one_line_of_events(
    make_call: CallMaker, tools: Any, person_maker: Any
) -> None:  # B166
    people = [person_maker(f"reviewer{number}") for number in range(8)]
    call = make_call.submit(register(tools, "quorum", approvals=8))
    looks = [partial(lifecycle.see, call_id=call.pk, reviewer=Reviewer(one, "session"), at=now()) for one in people]
    votes = [decision(call, one, DecisionKind.APPROVE) for one in people]
    assert not [answer for answer in together(*looks, *votes) if isinstance(answer, Exception)]
    assert [event.sequence for event in events(call)] == list(range(1, len(events(call)) + 1))
    assert {event.kind for event in events(call)} >= {EventKind.VOTED, EventKind.APPROVED}
    assert verify_chain(str(call.pk)).is_whole


def test_order_is_the_sequence_when_the_clock_goes_back(make_call: CallMaker, as_person: Caller) -> None:  # B169
    call = make_call()
    make_call.decide(call, DecisionKind.APPROVE, at=now() - timedelta(days=3))
    lifecycle.cancel(call_id=call.pk, agent=make_call.agent, at=now() - timedelta(days=9))
    assert [event.kind for event in events(call)] == ["submitted", "approved", "cancelled"]
    read = as_person.get("audit-events", {"tool_call": str(call.pk)}).body["results"]
    assert [event["sequence"] for event in read] == [3, 2, 1]
    assert verify_chain(str(call.pk)).is_whole


# --- what was hashed is what is stored ----------------------------------------------------------------------------------


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/St_Johns"])
def test_another_time_zone_changes_no_record_and_stops_no_decision(
    zone: str, make_call: CallMaker, settings: Any
) -> None:  # B176
    call = make_call()
    settings.TIME_ZONE = zone
    assert verify_chain(str(call.pk)).is_whole
    assert make_call.decide(call, DecisionKind.APPROVE).status == Status.APPROVED
    settings.TIME_ZONE = "UTC"
    assert verify_chain(str(call.pk)).is_whole
    assert verify_chain(str(call.pk)).length == 2


def test_record_of_another_release_with_words_that_this_one_does_not_know_is_whole(make_call: CallMaker) -> None:  # B172
    call = make_call()
    data = {"status": "pending", "a fact of long ago": {"amount": 0.1, "b": [None]}, "another": "é"}
    old = audit.link(str(call.pk), call, kind="a kind of long ago", at=now(), actor=SYSTEM, data=data)  # type: ignore[arg-type]
    old.save(force_insert=True)
    ToolCall.objects.filter(pk=call.pk).update(chain_length=old.sequence, chain_head=old.digest)
    assert verify_chain(str(call.pk)).is_whole
    assert make_call.decide(call, DecisionKind.REJECT).status == Status.REJECTED
    assert verify_chain(str(call.pk)).is_whole


# --- no hand beside the gate --------------------------------------------------------------------------------------------


def test_answer_to_a_question_that_is_changed_beside_the_trail_is_named(make_call: CallMaker) -> None:  # B173
    call = make_call(Status.INTERRUPTED)
    asked = Interrupt.objects.get(call=call)
    lifecycle.answer_interrupt(call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer="no", at=now())
    assert verify_chain(str(call.pk)).is_whole
    Interrupt.objects.filter(pk=asked.pk).update(answer='"yes"')
    assert verify_chain(str(call.pk)).problem == f"the answer to question {asked.pk} is not what was recorded"


# --- who, what, and by which rule ---------------------------------------------------------------------------------------


def test_every_step_of_a_long_life_names_who_took_it(make_call: CallMaker, agent: Any) -> None:  # B178
    def answered(call: ToolCall) -> ToolCall:
        asked = Interrupt.objects.get(call=call, answered_at=None)
        return lifecycle.answer_interrupt(
            call_id=call.pk, interrupt_id=asked.pk, reviewer=make_call.reviewer, answer=True, at=now()
        )

    call = answered(make_call(Status.INTERRUPTED))
    held = lifecycle.claim(call_id=call.pk, worker=WORKER, at=now())
    assert held.lease is not None
    lifecycle.lose(call_id=call.pk, lease=held.lease, why="a test", at=now(), is_certain=True)
    lifecycle.settle(call_id=call.pk, reviewer=make_call.reviewer, outcome="run_again", reason="It did not begin.", at=now())
    finish(lifecycle.claim(call_id=call.pk, worker=WORKER, at=now()), Status.INTERRUPTED, Asks("Again?"))
    sweeps.expire(now() + timedelta(days=400))
    told = [(event.kind, event.actor_kind, event.actor_name) for event in events(call)]
    person, worker = make_call.reviewer.person.label, WORKER.name
    assert [(kind, name) for kind, _, name in told if kind not in ("lost", "expired")] == [
        ("submitted", agent.name),
        ("approved", person),
        ("claimed", worker),
        ("interrupted", worker),
        ("answered", person),
        ("claimed", worker),
        ("run_again", person),
        ("claimed", worker),
        ("interrupted", worker),
    ]
    assert {kind: actor for kind, actor, _ in told if kind in ("lost", "expired")} == {"lost": "clock", "expired": "clock"}


def test_many_at_once_have_one_record_each_and_none_can_be_deleted(as_person: Caller, make_call: CallMaker) -> None:  # B179
    calls = [make_call() for _ in range(20)]
    decisions = [
        {"tool_call": str(call.pk), "kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
        for call in calls[:10]
    ]
    assert {one["status"] for one in as_person.post("decisions/batch", {"decisions": decisions}).body["results"]} == {200}
    assert sweeps.expire(now() + timedelta(days=400)) == 20
    kinds = [[event.kind for event in events(call)] for call in calls]
    assert kinds == [["submitted", "approved", "expired"]] * 10 + [["submitted", "expired"]] * 10
    with pytest.raises(DatabaseError, match="append-only"):
        AuditEvent.objects.all().delete()
    assert all(found.is_whole for found in verify_all())


WHO = {"login": "session", "email": "ada@example.org", "groups": []}


@pytest.mark.parametrize("kind", [DecisionKind.APPROVE, DecisionKind.REJECT, DecisionKind.EDIT])
def test_decision_says_who_how_signed_in_what_was_shown_and_by_which_policy(
    kind: DecisionKind, make_call: CallMaker, tools: Any
) -> None:  # B181
    call = make_call.submit(register(tools, "ruled", headline="Pay {amount}"), {"amount": 5})
    shown = call.resolution.digest if call.resolution else ""
    more: dict[str, Any] = {}
    if kind == DecisionKind.EDIT:
        preview, _ = lifecycle.preview_edit(call_id=call.pk, edited_arguments='{"amount": 4}')
        more = {"edited_arguments": '{"amount": 4}', "resolved_digest": preview.digest}
    decided = make_call.decide(call, kind, **more)
    done = events(call)[-1]
    told = json.loads(done.data)
    assert (done.actor_kind, done.actor_id, done.actor_name) == ("person", str(make_call.reviewer.person.pk), "Ada Lovelace")
    assert WHO.items() <= told.items()
    assert told["digest"] == shown
    assert facts(call, EventKind.SUBMITTED)["policy"]["rule"] == "registration of ruled"
    if kind == DecisionKind.EDIT:
        assert told["resolved"] == decided.approved_digest
        assert told["policy"] == decided.verdict


def test_policy_that_takes_over_when_a_call_changed_is_in_the_trail(make_call: CallMaker, tools: Any) -> None:  # B181
    call = make_call.submit(register(tools, "ruled"))
    tools.take_away("ruled")
    register(tools, "ruled", approvals=2, version="2")
    with pytest.raises(lifecycle.NotPossible):
        make_call.decide(call, DecisionKind.APPROVE)
    assert facts(call, EventKind.REFRESHED)["policy"]["approvals"] == 2


@pytest.mark.parametrize("outcome", ["succeeded", "failed", "run_again"])
def test_reason_why_a_lost_call_was_settled_is_kept_to_be_read(
    outcome: str, as_person: Caller, ada: Any, make_call: CallMaker
) -> None:  # B181
    call, reason = make_call(Status.OUTCOME_UNKNOWN), "The bank's books have no such entry."
    assert press(ada, visit(ada, f"/calls/{call.pk}"), "/settle", outcome, own_words=reason).status_code == 302
    assert json.loads(events(call)[-1].data)["finding"] == sha256(reason)
    assert call.executions.get().finding == reason
    assert reason in visit(ada, f"/calls/{call.pk}").text


# --- secrets ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def queue_without_worker() -> Iterator[Callable[[], Any]]:
    """Messages are sent and nobody takes them; gives the next one."""
    app.control.purge()
    dispatch.holds_the_queue.set()
    with app.connection_for_read() as broker:
        channel: Any = broker.default_channel
        yield lambda: channel.basic_get("celery")
    dispatch.holds_the_queue.clear()
    app.control.purge()


def test_message_to_a_worker_carries_the_id_of_the_call_and_nothing_of_it(
    make_call: CallMaker, tools: Any, queue_without_worker: Callable[[], Any]
) -> None:  # B184
    tool = register(tools, "secretive", require_approval=False, secrets=["token"])
    call = make_call.submit(tool, {"token": "hunter2"}, context={"user": "hunter2"}, idempotency_key="hunter2")
    message = queue_without_worker()
    assert json.loads(message.body)[:2] == [[str(call.pk)], {}]
    assert "hunter2" not in f"{message.body}{message.headers}{message.properties}"
    assert queue_without_worker() is None
