"""The trail is verified without anybody asking; what came of it is kept, and shown to those who look after it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from approvals import audit, clock
from approvals.audit import verify_all, verify_chain
from approvals.clock import now
from approvals.models import DecisionKind, EventKind, Person, Status, ToolCall, TrailCheck
from approvals.models.actors import SYSTEM
from tests.calls import CallMaker

CHECKED = timedelta(hours=1)


@pytest.mark.django_db
def test_keeps_what_came_of_it_and_names_the_broken_chains(make_call: CallMaker, caplog: pytest.LogCaptureFixture) -> None:
    whole, broken = make_call(Status.SUCCEEDED), make_call(Status.REJECTED)
    audit.record_administration(EventKind.KEY_ISSUED, at=now(), actor=SYSTEM, data={})
    assert audit.inspect_trail().broken == 0
    ToolCall.objects.filter(pk=broken.pk).update(status=Status.DENIED)
    found = audit.inspect_trail()
    assert (found.chains, found.broken) == (3, 1)
    assert found.events == sum(chain.length for chain in verify_all())
    assert [one["chain"] for one in found.told] == [str(broken.pk)]
    assert TrailCheck.objects.get() == found
    assert f"the trail is broken: {broken.pk}" in caplog.text
    assert str(whole.pk) not in caplog.text


@pytest.mark.django_db
def test_runs_when_it_is_due_whoever_asks(settings: Any) -> None:
    settings.VERIFY_EVERY = CHECKED
    assert audit.inspect_trail_when_due()
    assert not audit.inspect_trail_when_due()
    TrailCheck.objects.update(at=clock.now() - CHECKED)
    assert audit.inspect_trail_when_due()


@pytest.mark.django_db
def test_broken_chain_stands_in_the_inbox_of_auditors_and_administrators_only(
    make_call: CallMaker, person_maker: Callable[..., Person]
) -> None:
    broken = make_call(Status.REJECTED)
    people = {
        "auditor": person_maker("auditor", is_auditor=True),
        "administrator": person_maker("administrator", is_superuser=True),
        "reviewer": person_maker("somebody"),
    }

    def inbox(who: str) -> str:
        client = Client()
        client.force_login(people[who])
        return client.get("/").content.decode()

    audit.inspect_trail()
    assert not any("The trail is broken" in inbox(who) for who in people)
    ToolCall.objects.filter(pk=broken.pk).update(status=Status.DENIED)
    audit.inspect_trail()
    for who in ("auditor", "administrator"):
        assert "The trail is broken" in inbox(who)
        assert f"?call={broken.pk}" in inbox(who)
        assert "the call says denied, its trail says rejected" in inbox(who)
    assert "The trail is broken" not in inbox("reviewer")
    ToolCall.objects.filter(pk=broken.pk).update(status=Status.REJECTED)
    audit.inspect_trail()
    assert "The trail is broken" not in inbox("auditor")


def test_calls_that_move_meanwhile_are_no_fault(real_db: None, make_call: CallMaker) -> None:
    moving = [make_call(Status.PENDING) for _ in range(6)]
    over = threading.Event()
    problems: list[str] = []

    def verify() -> None:
        while not over.is_set():
            problems.extend(f"{found.chain}: {found.problem}" for found in verify_all() if not found.is_whole)
        connection.close()

    watching = [threading.Thread(target=verify) for _ in range(2)]
    for one in watching:
        one.start()
    end = time.monotonic() + 4
    while time.monotonic() < end:
        audit.record_administration(EventKind.TRAIL_READ, at=now(), actor=SYSTEM, data={})
        moving.append(make_call.submit("tool"))
        call = moving.pop(0)
        make_call.decide(call, DecisionKind.REJECT)
        assert verify_chain(str(call.pk)).is_whole
    over.set()
    for one in watching:
        one.join()
    assert not problems
