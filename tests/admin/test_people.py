"""Administering people and groups: each change is an event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from approvals import access, audit
from approvals.clock import now
from approvals.models import EventKind, Person
from approvals.models.actors import SYSTEM
from tests.calls import CallMaker, Deployment, register

pytestmark = pytest.mark.django_db
Events = Callable[[EventKind], list[dict[str, Any]]]
PASSWORD = "a long enough phrase"


def add(root: Client, username: str = "mary") -> Any:
    sent = {"username": username, "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    return root.post("/admin/approvals/person/add/", sent)


def change(root: Client, person: Person, **fields: Any) -> Any:
    sent = {"username": person.username, "first_name": "", "last_name": "", "email": "", "is_active": "on", **fields}
    sent |= {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    return root.post(f"/admin/approvals/person/{person.pk}/change/", {k: v for k, v in sent.items() if v is not None})


def test_makes_a_person_who_can_log_in(root: Client, events: Events, client: Client) -> None:
    assert add(root).status_code == 302
    (event,) = events(EventKind.PERSON_CHANGED)
    assert (event["person"], event["role"], event["change"], event["login"]) == ("mary", "reviewer", "made", "session")
    assert client.login(username="mary", password=PASSWORD)


def test_a_refused_change_is_no_event(root: Client, events: Events) -> None:
    assert add(root, "not a name!").status_code == 200
    assert events(EventKind.PERSON_CHANGED) == []


def test_tells_what_changed_with_role_and_groups(root: Client, events: Events, reviewer: Person) -> None:
    finance = Group.objects.create(name="finance")
    assert change(root, reviewer, groups=[finance.pk], is_auditor="on", email="a@example.org").status_code == 302
    (event,) = events(EventKind.PERSON_CHANGED)
    assert (event["role"], event["groups"]) == ("auditor", ["finance"])
    assert {"Groups", "Auditor", "Email address"} <= set(event["fields"])


def test_an_administrator_may_come_in_here_and_a_former_one_not(root: Client, reviewer: Person) -> None:
    for given, is_staff in (("on", True), (None, False)):
        change(root, reviewer, is_superuser=given)
        reviewer.refresh_from_db()
        assert (reviewer.is_superuser, reviewer.is_staff) == (is_staff, is_staff)


def test_whoever_is_switched_off_is_out_at_once(root: Client, client: Client, reviewer: Person) -> None:
    _, token = access.issue_personal_token(person=reviewer, actor=SYSTEM, at=now())
    client.force_login(reviewer)
    change(root, reviewer, is_active=None)
    assert client.get("/").status_code == 302
    assert access.person_by_token(token, now()) is None


def test_nobody_is_deleted(root: Client, reviewer: Person) -> None:
    assert root.post(f"/admin/approvals/person/{reviewer.pk}/delete/", {"post": "yes"}).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": [reviewer.pk], "post": "yes"}
    root.post("/admin/approvals/person/", sent)
    assert Person.objects.filter(pk=reviewer.pk).exists()


def test_a_new_password_is_an_event_without_the_password(root: Client, events: Events, reviewer: Person) -> None:
    sent = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD, "set-password": "x"}
    assert root.post(f"/admin/approvals/person/{reviewer.pk}/password/", sent).status_code == 302
    (event,) = events(EventKind.PERSON_CHANGED)
    assert event["fields"] == ["password"]
    assert PASSWORD not in str(event)


def test_a_change_whose_event_cannot_be_written_is_not_made(
    root: Client, reviewer: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("the trail cannot be written")

    monkeypatch.setattr(audit, "record_administration", broken)
    assert add(root).status_code == 500
    assert change(root, reviewer, email="new@example.org").status_code == 500
    sent = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD, "set-password": "x"}
    assert root.post(f"/admin/approvals/person/{reviewer.pk}/password/", sent).status_code == 500
    reviewer.refresh_from_db()
    assert reviewer.email == "ada@example.org"
    assert reviewer.check_password("correct horse")
    assert not Person.objects.filter(username="mary").exists()


def test_groups_are_made_renamed_and_deleted_with_an_event_each(root: Client, events: Events) -> None:
    root.post("/admin/auth/group/add/", {"name": "finance"})
    group = Group.objects.get()
    root.post(f"/admin/auth/group/{group.pk}/change/", {"name": "money"})
    assert root.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"}).status_code == 302
    told = [(event["group"], event["change"]) for event in events(EventKind.GROUP_CHANGED)]
    assert told == [("finance", "made"), ("money", "changed"), ("money", "deleted")]
    assert not Group.objects.exists()


def test_a_group_that_a_call_waits_for_stays(root: Client, make_call: CallMaker, tools: Deployment) -> None:
    register(tools, "pay", groups=("finance",))
    make_call.submit("pay")
    group = Group.objects.get(name="finance")
    assert root.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"}).status_code == 403
    assert Group.objects.filter(pk=group.pk).exists()
