"""Lists: pages without gaps or repeats, filters that are read strictly, a number of queries that does not grow."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from approvals.clock import now
from approvals.models import DecisionKind, Person, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db


def pages(caller: Caller, path: str, **query: Any) -> list[list[Any]]:
    page, found = caller.get(path, query), []
    while True:
        assert page.status == 200, page.body
        found.append([row["id"] for row in page.body["results"]])
        if page.body["next"] is None:
            return found
        page = caller.get(page.body["next"])


def test_pages_are_stable_while_calls_arrive(as_agent: Caller, make_call: CallMaker) -> None:
    there = [str(make_call().pk) for _ in range(4)][::-1]
    first = as_agent.get("tool-calls", {"limit": 2})
    make_call()
    second = as_agent.get(first.body["next"])
    assert [call["id"] for call in first.body["results"] + second.body["results"]] == there
    assert second.body["next"] is None


def test_pages_keep_the_filters(as_agent: Caller, make_call: CallMaker) -> None:
    wanted = [str(make_call(run_id="a&b=c/ü").pk) for _ in range(3)][::-1]
    make_call()
    assert pages(as_agent, "tool-calls", limit=2, run_id="a&b=c/ü") == [wanted[:2], wanted[2:]]


def test_inbox_pages_through_equal_and_absent_deadlines(as_person: Caller, make_call: CallMaker) -> None:
    ids = {}
    for risk in ("low", "high", "medium"):
        register(make_call.tools, risk, risk=risk)
        ids[risk] = [make_call.submit(risk).pk for _ in range(2)]
    lost = [make_call(Status.OUTCOME_UNKNOWN).pk for _ in range(3)]
    soon = make_call.submit("low").pk
    later = now() + timedelta(hours=3)
    ToolCall.objects.filter(expires_at__isnull=False).update(expires_at=later)
    ToolCall.objects.filter(pk=soon).update(expires_at=now() + timedelta(hours=1))
    found = pages(as_person, "inbox", limit=2)
    assert [len(page) for page in found] == [2, 2, 2, 2, 2]
    expected = [*lost, soon, *ids["high"], *ids["medium"], *ids["low"]]
    assert [one for page in found for one in page] == [str(pk) for pk in expected]


def test_inbox_counts_and_filters(as_person: Caller, make_call: CallMaker) -> None:
    for name, risk in (("refund", "high"), ("refund", "high"), ("mail", "low")):
        make_call.submit(register(make_call.tools, name, risk=risk))
    make_call(Status.INTERRUPTED)
    inbox = as_person.get("inbox").body
    assert inbox["count"] == 4
    assert inbox["counts"]["tool"] == {"mail": 1, "refund": 2, "tool": 1}
    assert inbox["counts"]["agent"] == {make_call.agent.name: 4}
    for query, count in (
        ({"tool": "refund"}, 2), ({"risk": "low"}, 1), ({"risk": ["low", "high"]}, 3), ({"status": "interrupted"}, 1),
        ({"agent": "nobody"}, 0),
    ):  # fmt: skip
        narrowed = as_person.get("inbox", query).body
        assert (narrowed["count"], len(narrowed["results"])) == (count, count)
        assert narrowed["counts"] == inbox["counts"]


def test_inbox_shows_a_stranger_nothing_of_others(as_stranger: Caller, make_call: CallMaker) -> None:
    make_call.submit(register(make_call.tools, "grouped", groups=["finance"]))
    empty = as_stranger.get("inbox").body
    assert empty == {"count": 0, "counts": {"tool": {}, "agent": {}, "risk": {}}, "next": None, "results": []}


def test_filters_by_time_take_any_offset(as_agent: Caller, make_call: CallMaker) -> None:
    make_call()
    hour = timedelta(hours=1)
    for name, instant, found in (
        ("submitted_after", now() - hour, 1), ("submitted_after", now() + hour, 0),
        ("submitted_before", now() - hour, 0), ("submitted_before", now() + hour, 1),
    ):  # fmt: skip
        for text in (instant.isoformat(), instant.isoformat().replace("+00:00", "Z"), instant.isoformat().replace("+", " ")):
            assert len(as_agent.get("tool-calls", {name: text}).body["results"]) == found


def cursor(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).decode()


BAD = [
    ("tool-calls", {"status": "nonsense"}, "status"),
    ("tool-calls", {"statsu": "pending"}, "statsu"),
    ("tool-calls", {"tool": "a\x00b"}, "tool"),
    ("tool-calls", {"submitted_after": "2031-03-14"}, "submitted_after"),
    ("tool-calls", {"submitted_after": "2031-03-14T09:30:00"}, "submitted_after"),
    ("tool-calls", {"submitted_before": "0001-01-01T00:00:00+14:00"}, "submitted_before"),
    ("tool-calls", {"submitted_before": "9999-12-31T23:59:59-14:00"}, "submitted_before"),
    ("tool-calls", {"limit": "0"}, "limit"),
    ("tool-calls", {"limit": "201"}, "limit"),
    ("tool-calls", {"limit": "-1"}, "limit"),
    ("tool-calls", {"limit": "٣"}, "limit"),
    ("tool-calls", {"cursor": "nonsense"}, "cursor"),
    ("tool-calls", {"cursor": cursor(b'["x"]')}, "cursor"),
    ("tool-calls", {"cursor": cursor(b"[" * 90000)}, "cursor"),
    ("tool-calls", {"cursor": cursor(b"[7]")}, "cursor"),
    ("audit-events", {"tool_call": "nonsense"}, "tool_call"),
    ("audit-events", {"kind": "nonsense"}, "kind"),
    ("audit-events", {"actor": "\x00"}, "actor"),
    ("audit-events", {"wait": "1"}, "wait"),
    ("audit-events/verification", {"tool_call": "administration"}, "tool_call"),
    ("inbox", {"risk": "extreme"}, "risk"),
    ("inbox", {"cursor": cursor(json.dumps(["9999-12-31T23:59:59-12:00", "0", "x"]).encode())}, "cursor"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "query", "field"), BAD, ids=lambda value: str(value)[:50])
def test_what_cannot_be_asked_for_is_refused(path: str, query: Any, field: str, as_auditor: Caller) -> None:
    refused = as_auditor.get(path, query)
    assert (refused.status, refused.problem, refused.body["field"]) == (422, "invalid_request", field)


@pytest.mark.parametrize("path", ["tool-calls", "inbox", "audit-events"])
def test_queries_do_not_grow_with_the_list(
    path: str, as_person: Caller, make_call: CallMaker, reviewer: Person, second_reviewer: Person
) -> None:
    def decided() -> None:
        call = make_call.submit(register(make_call.tools, "grouped", groups=["g"], approvals=2), run_id="r")
        reviewer.groups.set(call.reviewer_groups.all())
        make_call.decide(call, DecisionKind.APPROVE)
        make_call(Status.INTERRUPTED)

    def count() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert as_person.get(path).status == 200
        return len(queries)

    decided()
    as_person.get(path)
    few = count()
    for _ in range(5):
        decided()
    assert count() == few


def test_run_reads_in_a_number_of_queries_that_does_not_grow(as_agent: Caller, make_call: CallMaker) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert as_agent.get("runs/r").status == 200
        return len(queries)

    make_call(run_id="r")
    as_agent.get("runs/r")
    few = count()
    for _ in range(5):
        make_call(run_id="r")
    assert count() == few


def test_events_of_one_chain_are_found_by_actor_kind_and_time(
    as_auditor: Caller, make_call: CallMaker, shown: Callable[[ToolCall], str], reviewer: Person
) -> None:
    call = make_call(Status.REJECTED)

    def kinds(**query: str) -> list[str]:
        found = as_auditor.get("audit-events", {"tool_call": str(call.pk), **query}).body["results"]
        return [event["kind"] for event in found]

    assert kinds() == ["rejected", "submitted"]
    assert kinds(actor=str(reviewer.pk)) == kinds(actor="Ada Lovelace") == kinds(kind="rejected") == ["rejected"]
    assert kinds(after=(now() + timedelta(hours=1)).isoformat()) == []
    assert kinds(tool="another") == []
