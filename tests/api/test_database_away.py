"""A database that makes somebody wait too long, or is gone, is told as such: by the API as 503, to people as a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from django.db import connection
from django.test import Client

from approvals.models import Agent, Person, ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.usefixtures("real_db")
HOLD = {"sqlite": "BEGIN EXCLUSIVE", "postgresql": "BEGIN; LOCK TABLE approvals_toolcall"}
NO_PATIENCE = {"sqlite": "PRAGMA busy_timeout = 50", "postgresql": "SET lock_timeout = '50ms'"}
USUAL_PATIENCE = {"sqlite": "PRAGMA busy_timeout = 30000", "postgresql": "RESET lock_timeout"}


@contextmanager
def held_by_somebody() -> Iterator[None]:
    """Another connection holds the calls, and this one waits a moment only."""
    vendor, other = connection.vendor, connection.copy()
    connection.cursor().execute(NO_PATIENCE[vendor])
    other.cursor().execute(HOLD[vendor])
    try:
        yield
    finally:
        other.cursor().execute("ROLLBACK")
        other.close()
        connection.cursor().execute(USUAL_PATIENCE[vendor])


def submit(caller: Caller) -> Answer:
    return caller.post("tool-calls", {"tool": "tool", "tool_call_id": "1", "arguments": {}})


def is_told(answered: Answer) -> bool:
    assert (answered.status, answered.problem) == (503, "database_away"), answered.text
    assert "SELECT" not in answered.text
    return answered.headers["retry-after"] == "5"


def test_a_wait_that_is_too_long_is_told_and_the_next_try_succeeds(make_call: CallMaker, as_agent: Caller) -> None:
    register(make_call.tools)
    with held_by_somebody():
        assert is_told(submit(as_agent))
    assert submit(as_agent).status == 201
    assert ToolCall.objects.count() == 1


def test_a_decision_that_waited_too_long_did_not_happen(make_call: CallMaker, as_person: Caller) -> None:
    call = make_call()
    assert call.resolution is not None
    body = {"kind": "approve", "digest": call.resolution.digest}
    with held_by_somebody():
        assert is_told(as_person.post(f"tool-calls/{call.pk}/decisions", body))
    call.refresh_from_db()
    assert (call.status, call.decisions.count()) == ("pending", 0)
    assert as_person.post(f"tool-calls/{call.pk}/decisions", body).body["status"] == "approved"


def test_people_see_a_page_that_says_so(make_call: CallMaker, reviewer: Person) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(reviewer)
    call = make_call()
    with held_by_somebody():
        page = browser.get(f"/calls/{call.pk}")
    assert (page.status_code, page["retry-after"], page["content-type"]) == (503, "5", "text/html; charset=utf-8")
    assert "The database does not answer" in page.content.decode()
    assert browser.get(f"/calls/{call.pk}").status_code == 200


@pytest.mark.postgres
def test_a_statement_that_takes_too_long_is_told(make_call: CallMaker, as_agent: Caller) -> None:
    call = make_call()
    connection.cursor().execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;"
        "CREATE TRIGGER slow BEFORE UPDATE ON approvals_toolcall FOR EACH ROW EXECUTE FUNCTION slow();"
        "SET statement_timeout = '100ms'"
    )
    try:
        assert is_told(as_agent.post(f"tool-calls/{call.pk}/cancel"))
    finally:
        connection.cursor().execute("RESET statement_timeout; DROP TRIGGER slow ON approvals_toolcall; DROP FUNCTION slow")
    assert as_agent.post(f"tool-calls/{call.pk}/cancel").body["status"] == "cancelled"


@pytest.mark.postgres
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_connection_that_was_ended_is_told_and_the_next_request_has_another(
    method: str, make_call: CallMaker, as_agent: Caller, agent: Agent
) -> None:
    register(make_call.tools)
    with closing(connection.copy()) as other, connection.cursor() as cursor, other.cursor() as killing:
        cursor.execute("SELECT pg_backend_pid()")
        killing.execute("SELECT pg_terminate_backend(%s)", cursor.fetchone())
    assert is_told(submit(as_agent) if method == "post" else as_agent.get("tool-calls"))
    connection.close()  # as Django does at the end of a request; its test client does not
    assert submit(as_agent).status == 201
