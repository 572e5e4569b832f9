"""The page of the tools."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from tests.calls import register
from tests.review.browser import visit
from tests.review.conftest import LogIn
from tests.review.showcase import Showcase
from toolgate import Registry

pytestmark = pytest.mark.django_db


def test_says_so_when_there_are_none(ada: Client, tools: Registry) -> None:
    assert "This deployment has no tools" in visit(ada, "/tools").text


def test_tells_what_can_be_asked_for_and_when_people_are(show: Showcase, log_in: LogIn) -> None:
    text = visit(log_in(show.people["bob"]), "/tools").text
    for told in (
        "Pays back money for an order of the shop.",
        "order integer The order's number",
        "reason string optional Why, in a few words",
        "key string secret The new key",
        "Needs 2 approvals of different people.",
        "Groups finance, legal",
        "Denied: no call of it ever runs.",
        "the agent runs it itself",
        "Must be decided within 1 day",
    ):
        assert told in text


def test_tells_the_conditions(ada: Client, tools: Registry) -> None:
    register(tools, "free", require_approval=False, idempotent=True, time_limit=timedelta(minutes=2))
    register(tools, "some", require_approval=lambda arguments: True, deny=lambda arguments: False)
    text = visit(ada, "/tools").text
    assert "Allowed at once, without asking anybody." in text
    assert "Needs 1 approval when its condition is met. Some calls are denied." in text
    assert "May run for 2 minutes" in text
    assert "runs again by itself" in text
