"""A person's own tokens."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from approvals import access
from approvals.clock import now
from approvals.models import AuditEvent, EventKind, Person, PersonalToken
from tests.review.browser import Page, page_of, visit

pytestmark = pytest.mark.django_db


def make_token(client: Client, **typed: str) -> Page:
    page = visit(client, "/tokens")
    return page_of(client.post("/tokens", {**page.form("/tokens").fields, "name": "my script", **typed}))


def test_shows_a_new_token_once(ada: Client, reviewer: Person) -> None:
    response = ada.post("/tokens", {"name": "my script", "days": "30"})
    text = next(word for word in page_of(response).text.split() if word.startswith("tg_person_") and not word.endswith("…"))
    assert "no-store" in response.headers["Cache-Control"]
    found = access.person_by_token(text, now())
    assert found == reviewer
    page = visit(ada, "/tokens")
    assert text not in page.source
    assert "my script" in page.text
    assert AuditEvent.objects.get(kind=EventKind.TOKEN_ISSUED).actor_name == "Ada Lovelace"


@pytest.mark.parametrize(("days", "life"), [("30", 30), ("365", 365), ("", None)])
def test_lives_as_long_as_was_chosen(ada: Client, days: str, life: int | None) -> None:
    make_token(ada, days=days)
    expires_at = PersonalToken.objects.get().expires_at
    assert (
        (expires_at is None) if life is None else (expires_at and abs(expires_at - now() - timedelta(days=life)).seconds < 60)
    )


@pytest.mark.parametrize("typed", [{"name": ""}, {"name": "x" * 101}, {"days": "7000"}])
def test_keeps_what_was_typed_when_it_cannot_be(ada: Client, typed: dict[str, str]) -> None:
    page = make_token(ada, **typed)
    assert page.status == 422
    assert page.form("/tokens").fields["name"] == typed.get("name", "my script")
    assert not PersonalToken.objects.exists()


def test_is_revoked_by_a_form(ada: Client, reviewer: Person) -> None:
    make_token(ada)
    token = PersonalToken.objects.get()
    page = visit(ada, "/tokens")
    assert ada.get(f"/tokens/{token.pk}/revoke").status_code == 405
    for _ in range(2):
        assert ada.post(f"/tokens/{token.pk}/revoke", page.form("/revoke").fields).status_code == 302
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert AuditEvent.objects.filter(kind=EventKind.TOKEN_REVOKED).count() == 1
    assert "revoked" in visit(ada, "/tokens").text


def test_of_somebody_else_is_not_there(ada: Client, grace: Client) -> None:
    make_token(ada)
    token = PersonalToken.objects.get()
    assert "my script" not in visit(grace, "/tokens").text
    assert grace.post(f"/tokens/{token.pk}/revoke").status_code == 404


def test_reload_of_a_new_token_makes_no_second_one(ada: Client) -> None:
    form = visit(ada, "/tokens").form("/tokens").fields | {"name": "my script", "days": "30"}
    first, again = (page_of(ada.post("/tokens", form)) for _ in range(2))
    assert ("copy it now" in first.text, "was made already" in again.text) == (True, True)
    assert PersonalToken.objects.count() == 1
    ada.post("/tokens", first.form("/tokens").fields | {"name": "another", "days": "30"})
    assert PersonalToken.objects.count() == 2
