"""The log-in page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from approvals.models import Person, Status, ToolCall
from tests.review.browser import page_of, visit

pytestmark = pytest.mark.django_db
SOME = "01a23131-6833-7d83-afb7-43d84243d88b"
PAGES = ["/", "/history", "/trail", "/tools", "/tokens", f"/calls/{SOME}", f"/calls/{SOME}/edit"]
PAGES += [f"/calls/{SOME}/run", f"/calls/{SOME}/trail"]


def log_in(client: Client, username: str, password: str, following: str = "") -> Any:
    form = visit(client, f"/login?next={following}").form("")
    return client.post("/login", {**form.fields, "username": username, "password": password})


def test_lets_a_person_in_and_goes_to_the_inbox(client: Client, reviewer: Person) -> None:
    assert log_in(client, "ada", "correct horse").headers["Location"] == "/"
    assert "Ada Lovelace" in visit(client, "/").text


def test_goes_on_to_the_page_that_was_asked_for(client: Client, reviewer: Person) -> None:
    assert log_in(client, "ada", "correct horse", "/history").headers["Location"] == "/history"


def test_never_goes_on_to_another_site(client: Client, reviewer: Person) -> None:
    assert log_in(client, "ada", "correct horse", "https://example.net/").headers["Location"] == "/"


@pytest.mark.parametrize("switched_off", [False, True])
def test_says_that_it_does_not_fit_and_keeps_the_name(client: Client, reviewer: Person, switched_off: bool) -> None:
    Person.objects.update(is_active=not switched_off)
    page = page_of(log_in(client, "ada", "correct horse" if switched_off else "wrong"))
    assert "do not fit together" in page.text
    assert page.form("").fields["username"] == "ada"


@pytest.mark.parametrize("address", PAGES)
def test_is_where_everybody_else_is_sent(client: Client, address: str) -> None:
    response = client.get(address)
    assert response.status_code == 302
    assert response.headers["Location"].startswith(reverse("review:login") + "?next=")


@pytest.mark.parametrize("address", ["/", "/history", "/trail", f"/calls/{SOME}"])
def test_is_where_an_agent_is_sent_too_whatever_its_key(client: Client, agent_key: str, address: str) -> None:
    assert client.get(address, headers={"Authorization": f"Bearer {agent_key}"}).status_code == 302


def test_an_agents_key_never_decides(client: Client, agent_key: str, make_call: Callable[..., ToolCall]) -> None:
    call = make_call()
    sent = {"kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
    response = client.post(f"/calls/{call.pk}/decide", sent, headers={"Authorization": f"Bearer {agent_key}"})
    assert response.headers["Location"] == f"/login?next=/calls/{call.pk}"
    call.refresh_from_db()
    assert call.status == Status.PENDING


def test_a_decision_without_a_log_in_comes_back_to_the_call(client: Client) -> None:
    assert client.post(f"/calls/{SOME}/decide", {"kind": "approve"}).headers["Location"] == f"/login?next=/calls/{SOME}"


def test_logging_out_takes_a_form(ada: Client) -> None:
    assert ada.get("/logout").status_code == 405
    page = visit(ada, "/")
    assert ada.post("/logout", page.form("/logout").fields).headers["Location"] == "/login"
    assert ada.get("/").status_code == 302


def test_a_form_from_another_site_is_refused_with_a_reason(reviewer: Person) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(reviewer)
    response = strict.post("/tokens", {"name": "x"})
    assert response.status_code == 403
    assert "This page was too old" in page_of(response).text


def test_every_page_is_under_the_strict_policy(client: Client) -> None:
    headers = client.get("/login").headers
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe-inline" not in headers["Content-Security-Policy"]
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
