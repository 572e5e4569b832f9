"""Who gets into administration."""

from __future__ import annotations

import pytest
from django.test import Client

from approvals.models import Person

pytestmark = pytest.mark.django_db


def test_everybody_comes_in_by_the_same_door(client: Client) -> None:
    response = client.get("/admin/approvals/agent/", follow=True)
    assert response.redirect_chain[-1][0] == "/login?next=/admin/approvals/agent/"
    assert "<h1>Log in</h1>" in response.content.decode()


def test_an_administrator_goes_on_to_where_they_wanted(client: Client, administrator: Person) -> None:
    sent = {"username": "root", "password": "correct horse", "next": "/admin/"}
    assert client.post("/login", sent).headers["Location"] == "/admin/"
    assert client.get("/admin/").status_code == 200


@pytest.mark.parametrize("who", ["reviewer", "auditor"])
def test_for_others_there_is_nothing_here(client: Client, request: pytest.FixtureRequest, who: str) -> None:
    client.force_login(request.getfixturevalue(who))
    for address in ("/admin/", "/admin/approvals/person/", "/admin/approvals/auditevent/"):
        assert client.get(address, follow=True).status_code == 404


def test_an_agents_key_opens_nothing(client: Client, agent_key: str) -> None:
    assert client.get("/admin/", headers={"Authorization": f"Bearer {agent_key}"}).status_code == 302


def test_leaving_is_by_the_same_door(root: Client) -> None:
    assert root.post("/admin/logout/").headers["Location"] == "/login"


def test_password_resets_and_other_doors_are_not_there(root: Client) -> None:
    assert root.get("/admin/password_reset/").status_code == 404
