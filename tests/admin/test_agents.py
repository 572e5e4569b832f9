"""Administering agents and their keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals import access
from approvals.clock import now
from approvals.models import Agent, AgentKey, EventKind, Person
from tests.calls import Deployment, register
from tests.review.browser import page_of, visit

pytestmark = pytest.mark.django_db
Events = Callable[[EventKind], list[dict[str, Any]]]


def issue(root: Client, agent: Agent, **typed: str) -> str:
    response = root.post(f"/admin/approvals/agent/{agent.pk}/keys/issue", {"name": "laptop", "days": "30", **typed})
    assert response.status_code == 200
    assert "no-store" in response.headers["Cache-Control"]
    found = re.search(r"<pre>(tg_agent_\S+)</pre>", response.content.decode())
    assert found
    return found[1]


def test_makes_and_changes_an_agent_with_an_event_each(
    root: Client, events: Events, administrator: Person, tools: Deployment
) -> None:
    register(tools, "pay")
    register(tools, "refund")
    sent = {"name": "shop", "description": "", "tools": "pay\nrefund", "is_active": "on", "owner": ""}
    assert root.post("/admin/approvals/agent/add/", sent).status_code == 302
    agent = Agent.objects.get()
    changed = {**sent, "owner": administrator.pk, "is_active": ""}
    assert root.post(f"/admin/approvals/agent/{agent.pk}/change/", changed).status_code == 302
    made, after = events(EventKind.AGENT_CHANGED)
    assert (made["agent"], made["change"], made["tools"]) == ("shop", "made", ["pay", "refund"])
    assert (after["change"], after["owner"], after["is_active"]) == ("changed", "root", False)


def test_shows_a_new_key_once(root: Client, agent: Agent, events: Events) -> None:
    text = issue(root, agent)
    assert access.agent_by_key(text, now()) == agent
    page = visit(root, f"/admin/approvals/agent/{agent.pk}/change/")
    assert text not in page.source
    assert "laptop" in page.text
    assert all(text not in cookie.value for cookie in root.cookies.values())
    assert text not in str(dict(root.session.items()))
    (event,) = events(EventKind.KEY_ISSUED)
    assert event["agent"] == agent.name
    assert text not in str(event)


@pytest.mark.parametrize("days", ["0", "-1", "x", "99999999999"])
def test_issues_no_key_with_an_end_that_is_none(root: Client, agent: Agent, days: str) -> None:
    response = root.post(f"/admin/approvals/agent/{agent.pk}/keys/issue", {"name": "kept", "days": days})
    assert page_of(response).form("").fields["name"] == "kept"
    assert not AgentKey.objects.exists()


def test_revokes_a_key_by_a_form_and_at_once(root: Client, agent: Agent, events: Events) -> None:
    text = issue(root, agent)
    key = AgentKey.objects.get()
    assert root.get(f"/admin/approvals/agent/keys/{key.pk}/revoke").status_code == 405
    page = visit(root, f"/admin/approvals/agent/{agent.pk}/change/")
    assert root.post(page.form("/revoke").action, page.form("/revoke").fields).status_code == 302
    assert access.agent_by_key(text, now()) is None
    assert [event["prefix"] for event in events(EventKind.KEY_REVOKED)] == [key.prefix]


def test_an_agent_that_is_switched_off_has_no_key_that_works(root: Client, agent: Agent) -> None:
    text = issue(root, agent)
    sent = {"name": agent.name, "description": "", "tools": "", "owner": ""}
    root.post(f"/admin/approvals/agent/{agent.pk}/change/", sent)
    assert access.agent_by_key(text, now()) is None


def test_no_agent_is_deleted(root: Client, agent: Agent) -> None:
    assert root.post(f"/admin/approvals/agent/{agent.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Agent.objects.filter(pk=agent.pk).exists()


@pytest.mark.parametrize("place", ["{agent}/keys/issue", "keys/{key}/revoke", "{agent}/change/", ""])
def test_is_for_administrators_only(client: Client, root: Client, agent: Agent, reviewer: Person, place: str) -> None:
    issue(root, agent)
    address = f"/admin/approvals/agent/{place.format(agent=agent.pk, key=AgentKey.objects.get().pk)}"
    for person in (None, reviewer):
        if person:
            client.force_login(person)
        assert client.post(address, {"name": "x"}).status_code in (302, 405)
    reviewer.is_staff = True  # in by mistake, without being an administrator
    reviewer.save()
    assert client.post(address, {"name": "x"}).status_code == 403
    assert AgentKey.objects.filter(revoked_at=None).count() == 1


def test_a_name_that_deceives_is_shown_as_codes(root: Client, agent: Agent) -> None:
    agent.name = "shop\u202e<script>hit()</script>"
    agent.save()
    for address in ("/admin/approvals/agent/", f"/admin/approvals/agent/{agent.pk}/keys/issue"):
        source = visit(root, address).source
        assert "U+202E" in source
        assert "<script>hit" not in source


def test_reload_of_a_new_key_issues_no_second_one(root: Client, agent: Agent) -> None:
    address = f"/admin/approvals/agent/{agent.pk}/keys/issue"
    form = visit(root, address).form("").fields | {"name": "laptop"}
    first, again = (page_of(root.post(address, form)) for _ in range(2))
    assert ("copy it now" in first.text, "was issued already" in again.text) == (True, True)
    assert AgentKey.objects.count() == 1


def test_a_tool_that_does_not_exist_is_refused_and_one_that_is_gone_may_stay(
    root: Client, agent: Agent, tools: Deployment
) -> None:
    register(tools, "refund_order")
    agent.tools = "gone_since"
    agent.save()
    address = f"/admin/approvals/agent/{agent.pk}/change/"
    sent = {"name": agent.name, "description": "", "is_active": "on", "owner": ""}
    refused = page_of(root.post(address, sent | {"tools": "gone_since\nrefund_ordr"}))
    assert "There is no tool refund_ordr. Did you mean refund_order?" in refused.text
    assert root.post(address, sent | {"tools": "gone_since\r\n refund_order \r\n"}).status_code == 302
    agent.refresh_from_db()
    assert agent.tools == "gone_since\nrefund_order"
