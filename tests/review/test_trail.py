"""The trail: of one call, and of everything."""

from __future__ import annotations

import pytest
from django.test import Client

from approvals.models import Administration, AuditEvent, DecisionKind, EventKind, Person
from approvals.rendering import read
from approvals.review import lists
from tests.calls import CallMaker
from tests.review.browser import visit
from tests.review.conftest import LogIn

pytestmark = pytest.mark.django_db


def looks() -> list[dict[str, object]]:
    return [read(event.data)["filters"] for event in AuditEvent.objects.filter(kind=EventKind.TRAIL_READ)]


def test_of_a_call_has_every_event_with_its_digest(ada: Client, make_call: CallMaker) -> None:
    call = make_call.decide(make_call(), DecisionKind.REJECT)
    page = visit(ada, f"/calls/{call.pk}/trail")
    for event in AuditEvent.objects.filter(chain=str(call.pk)):
        assert event.digest in page.text
        assert event.previous in page.text
        assert event.data in page.text
    assert "Ada Lovelace person rejected it" in page.text
    assert "The trail is whole: 2 events" in page.text


def test_of_a_call_is_noted_when_somebody_looks(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    visit(ada, f"/calls/{call.pk}/trail")
    assert looks() == [{"call": str(call.pk)}]


def test_of_everything_is_not_there_for_reviewers(ada: Client) -> None:
    assert ada.get("/trail").status_code == 404
    assert "/trail" not in visit(ada, "/").links


@pytest.mark.parametrize("who", ["auditor", "administrator"])
def test_of_everything_is_for_auditors_and_administrators(
    request: pytest.FixtureRequest, log_in: LogIn, make_call: CallMaker, who: str
) -> None:
    person: Person = request.getfixturevalue(who)
    call = make_call()
    page = visit(log_in(person), "/trail")
    assert f"?call={call.pk}" in page.links
    assert "submitted it" in page.text
    assert person.label in page.text  # their own look is the newest event
    assert looks() == [{}]


@pytest.mark.parametrize(
    ("filters", "count"),
    [("kind=rejected", 1), ("tool=tool", 3), ("actor=lovelace", 1), ("call={call}", 2), ("kind=nonsense", 0), ("call=x", 0)],
)
def test_filters_stand_in_the_address(auditor: Person, log_in: LogIn, make_call: CallMaker, filters: str, count: int) -> None:
    call = make_call.decide(make_call(), DecisionKind.REJECT)
    make_call()
    page = visit(log_in(auditor), f"/trail?{filters.format(call=call.pk)}")
    assert sum(tag == "details" for tag, _ in page.tags) == count
    assert len(looks()) == 1


def test_goes_on_page_by_page_and_is_one_look(
    auditor: Person, log_in: LogIn, make_call: CallMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PAGE", 2)
    for _ in range(4):
        make_call()
    client, address, pages = log_in(auditor), "/trail", 0
    while address:
        address = next((f"/trail{link}" for link in visit(client, address).links if "after=" in link), "")
        pages += 1
    assert pages == 3
    assert len(looks()) == 1


def test_says_loudly_when_the_chain_of_administration_is_broken(auditor: Person, log_in: LogIn) -> None:
    client = log_in(auditor)
    visit(client, "/trail")
    Administration.objects.update(chain_head="0" * 64)
    AuditEvent.objects.all()
    assert "The trail is broken" in visit(client, "/trail").text
