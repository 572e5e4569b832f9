"""With 100,000 calls PostgreSQL finds what lists, inbox and clock ask for by an index, never by reading all calls."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from approvals import sweeps
from approvals.clock import now
from approvals.models import Agent, Person, Status
from tests.api.conftest import bearer, key_of, token_of
from tests.calls import CallMaker, register

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]
CALLS = 100_000
# One call in 500 is open, as after a few weeks; the rest are as old as they are many.
FILL = """
INSERT INTO approvals_toolcall ({columns})
SELECT {values} FROM approvals_toolcall, generate_series(1, {pairs}) AS number WHERE status IN ('pending', 'succeeded')
"""
CHANGED = {
    "id": "gen_random_uuid()",
    "submission_key": "'id ' || gen_random_uuid()",
    "tool_call_id": "'call ' || number || status",
    "run_id": "CASE WHEN number % 10 = 0 THEN 'run ' || number / 100 ELSE '' END",
    "position": "number * 2 + (status = 'pending')::int",
    "status": "CASE WHEN status = 'pending' AND number % 250 = 0 THEN 'pending' ELSE 'succeeded' END",
    "settled_at": "CASE WHEN status = 'pending' AND number % 250 = 0 THEN NULL ELSE submitted_at END",
    "is_tallied": "NOT (status = 'pending' AND number % 250 = 0)",
    "result": "CASE WHEN status = 'pending' AND number % 250 = 0 THEN '' ELSE (SELECT max(result) FROM approvals_toolcall) END",
    "expires_at": "CASE WHEN status = 'pending' AND number % 250 = 0 THEN expires_at + number * interval '1 second' END",
    "submitted_at": "submitted_at - number * interval '1 minute'",
    "agent_id": "CASE WHEN number % 50 = 0 THEN agent_id ELSE '{other}'::uuid END",
}


@pytest.fixture
def _many_calls(make_call: CallMaker, other_agent: Agent) -> None:
    register(make_call.tools, "grouped", groups=["finance"])
    make_call(Status.SUCCEEDED)
    make_call(Status.PENDING)
    with connection.cursor() as cursor:
        cursor.execute("SELECT column_name FROM information_schema.columns WHERE table_name = 'approvals_toolcall'")
        columns = [name for (name,) in cursor.fetchall()]
        values = [CHANGED.get(name, name).replace("{other}", str(other_agent.pk)) for name in columns]
        cursor.execute(FILL.format(columns=", ".join(columns), values=", ".join(values), pairs=CALLS // 2))
        cursor.execute("ANALYZE approvals_toolcall")


def plans(ask: Callable[[], Any]) -> dict[str, str]:
    """Each statement about calls that was asked, with what PostgreSQL does for it."""
    with CaptureQueriesContext(connection) as captured:
        ask()
    asked = [query["sql"] for query in captured if query["sql"].startswith("SELECT") and "approvals_toolcall" in query["sql"]]
    with connection.cursor() as cursor:
        found = {}
        for statement in asked:
            cursor.execute(f"EXPLAIN {statement}")
            found[statement] = "\n".join(line for (line,) in cursor.fetchall())
    return found


@pytest.mark.usefixtures("_many_calls")
def test_nothing_that_is_asked_often_reads_all_calls(
    agent: Agent, reviewer: Person, person_maker: Callable[..., Person], auditor: Person
) -> None:
    member, browser, auditing = person_maker("mary", "finance"), Client(), Client()
    browser.force_login(member)
    auditing.force_login(auditor)
    as_agent, as_person = bearer(key_of(agent)), bearer(token_of(member))
    asked: dict[str, Callable[[], Any]] = {
        "the inbox": lambda: browser.get("/"),
        "the history": lambda: browser.get("/history"),
        "the history of an auditor": lambda: auditing.get("/history"),
        "the history of a status": lambda: browser.get("/history?status=pending"),
        "the inbox of a program": lambda: as_person.get("inbox"),
        "the calls of an agent": lambda: as_agent.get("tool-calls"),
        "the open calls of an agent": lambda: as_agent.get("tool-calls", {"status": "pending"}),
        "one call by the id of its model": lambda: as_agent.get("tool-calls", {"tool_call_id": "call 50pending"}),
        "the calls of a person's groups": lambda: as_person.get("tool-calls"),
        "a run": lambda: as_agent.get("runs/run 1"),
        "the clock": lambda: sweeps.sweep(),
        "what is overdue": lambda: sweeps.expire(now() - timedelta(days=400)),
    }
    reading_all = {
        f"{name}: {statement}": plan
        for name, ask in asked.items()
        for statement, plan in plans(ask).items()
        if "Seq Scan on approvals_toolcall" in plan
    }
    assert not reading_all, "\n\n".join(f"{statement}\n{plan}" for statement, plan in reading_all.items())
