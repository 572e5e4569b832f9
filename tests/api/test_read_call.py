"""`GET /tool-calls/{id}`: one call, as each reader may read it."""

from __future__ import annotations

import pytest

from approvals.models import AuditEvent, EventKind, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db

FIELDS = """
    id tool_call_id run_id position agent tool display_text headline status settled risk arguments digest allowed_decisions
    approvals decisions interrupt result policy agent_reasoning on_behalf_of context metadata revises revised_by
    submitted_at decided_at settled_at expires_at pruned_at
"""


def seen(call: ToolCall) -> int:
    return AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.SEEN).count()


def test_reads_every_field_and_no_other(as_agent: Caller, make_call: CallMaker) -> None:
    assert as_agent.get(f"tool-calls/{make_call().pk}").body.keys() == set(FIELDS.split())


def test_that_a_reviewer_was_shown_it_is_recorded_once(
    as_person: Caller, as_second_person: Caller, as_agent: Caller, as_auditor: Caller, make_call: CallMaker
) -> None:
    call = make_call()
    for caller, times in ((as_agent, 0), (as_auditor, 0), (as_person, 1), (as_person, 1), (as_second_person, 2)):
        assert caller.get(f"tool-calls/{call.pk}").status == 200
        assert seen(call) == times
    settled = make_call(Status.REJECTED)
    as_person.get(f"tool-calls/{settled.pk}")
    assert seen(settled) == 0


def test_each_reader_has_its_own_etag(as_agent: Caller, as_person: Caller, as_auditor: Caller, make_call: CallMaker) -> None:
    path = f"tool-calls/{make_call().pk}"
    as_person.get(path)
    tags = [caller.get(path).headers["etag"] for caller in (as_agent, as_person, as_auditor)]
    assert len(set(tags)) == 3
    assert as_person.get(path, If_None_Match=tags[0]).status == 200
    assert as_person.get(path, If_None_Match=tags[1]).status == 304


def test_what_one_may_decide_depends_on_who_reads(
    as_agent: Caller, as_person: Caller, as_auditor: Caller, make_call: CallMaker
) -> None:
    path = f"tool-calls/{make_call(on_behalf_of='ada').pk}"
    allowed = [set(caller.get(path).body["allowed_decisions"]) for caller in (as_agent, as_person, as_auditor)]
    assert allowed == [{"approve", "edit", "reject", "respond", "request_changes"}, {"reject", "request_changes"}, set()]


def test_the_agent_reads_who_decided_but_not_their_address(as_agent: Caller, as_person: Caller, make_call: CallMaker) -> None:
    path = f"tool-calls/{make_call(Status.REJECTED).pk}"
    assert as_agent.get(path).body["decisions"][0]["person"] == {"name": "Ada Lovelace"}
    for_people = as_person.get(path).body["decisions"][0]["person"]
    assert for_people == {"name": "Ada Lovelace", "email": "ada@example.org", "groups": []}


def test_tells_how_far_a_quorum_is(as_person: Caller, as_agent: Caller, make_call: CallMaker) -> None:
    call = make_call.submit(register(make_call.tools, "two", approvals=2))
    assert call.resolution is not None
    body = {"kind": "approve", "digest": call.resolution.digest}
    voted = as_person.post(f"tool-calls/{call.pk}/decisions", body).body
    assert (voted["status"], voted["approvals"]) == ("pending", {"given": 1, "required": 2})
    assert as_agent.get(f"tool-calls/{call.pk}").body["approvals"] == {"given": 1, "required": 2}


def test_an_answer_is_kept_by_nobody_on_the_way(as_agent: Caller, make_call: CallMaker) -> None:
    assert as_agent.get(f"tool-calls/{make_call().pk}").headers["cache-control"] == "private, no-cache"
    listed = as_agent.get("tool-calls")
    assert (listed.headers["cache-control"], listed.headers["vary"]) == ("no-store", "Authorization, Cookie")
