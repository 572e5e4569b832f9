"""Saying what happened when a worker was lost."""

from __future__ import annotations

import pytest
from django.test import Client

from approvals.models import AuditEvent, EventKind, Person, Status
from tests.calls import CallMaker
from tests.review.browser import page_of, press, visit
from tests.review.conftest import LogIn

pytestmark = pytest.mark.django_db


def test_asks_what_happened(ada: Client, make_call: CallMaker) -> None:
    page = visit(ada, f"/calls/{make_call.lost().pk}")
    assert "Nobody knows whether it happened" in page.text
    assert page.buttons() == {"succeeded", "failed", "run_again"}


@pytest.mark.parametrize(
    ("button", "status"), [("succeeded", Status.SUCCEEDED), ("failed", Status.FAILED), ("run_again", Status.APPROVED)]
)
def test_a_person_settles_it_and_a_second_press_is_harmless(
    ada: Client, make_call: CallMaker, button: str, status: Status
) -> None:
    call = make_call.lost()
    page = visit(ada, f"/calls/{call.pk}")
    for _ in range(2):
        assert press(ada, page, "/settle", button, own_words="Seen in the bank's books.").status_code == 302
    call.refresh_from_db()
    assert call.status == status
    said = AuditEvent.objects.filter(chain=str(call.pk), kind__in=[EventKind.SETTLED, EventKind.RUN_AGAIN])
    assert said.count() == 1


def test_a_reason_is_needed(ada: Client, make_call: CallMaker) -> None:
    call = make_call.lost()
    page = page_of(press(ada, visit(ada, f"/calls/{call.pk}"), "/settle", "failed", own_words="  "))
    assert page.status == 422
    assert "Say how you know what happened" in page.text


def test_tells_who_comes_second_and_keeps_their_reason(ada: Client, grace: Client, make_call: CallMaker) -> None:
    call = make_call.lost()
    page = visit(ada, f"/calls/{call.pk}")
    press(grace, visit(grace, f"/calls/{call.pk}"), "/settle", "succeeded", own_words="I saw it.")
    late = page_of(press(ada, page, "/settle", "failed", own_words="I did not see it."))
    assert late.status == 409
    assert "it is succeeded" in late.text
    assert "What you had typed I did not see it." in late.text


@pytest.mark.parametrize("outcome", ["", "approved", "denied"])
def test_knows_no_other_outcome(ada: Client, make_call: CallMaker, outcome: str) -> None:
    call = make_call.lost()
    assert ada.post(f"/calls/{call.pk}/settle", {"outcome": outcome, "own_words": "x"}).status_code == 422


def test_nobody_sends_their_own_to_run_again(ada: Client, make_call: CallMaker, second_reviewer: Person) -> None:
    make_call.reviewer = type(make_call.reviewer)(second_reviewer, "session")
    call = make_call.lost(on_behalf_of="ada")
    assert visit(ada, f"/calls/{call.pk}").buttons() == {"succeeded", "failed"}
    assert ada.post(f"/calls/{call.pk}/settle", {"outcome": "run_again", "own_words": "x"}).status_code == 409


def test_an_auditor_has_no_form(auditor: Person, log_in: LogIn, make_call: CallMaker) -> None:
    assert visit(log_in(auditor), f"/calls/{make_call.lost().pk}").buttons() == set()
