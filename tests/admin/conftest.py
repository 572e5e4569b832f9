"""The administrator at work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from approvals import audit
from approvals.models import Administration, AuditEvent, EventKind, Person
from approvals.rendering import read


@pytest.fixture
def root(administrator: Person) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(administrator)
    return client


@pytest.fixture
def events() -> Callable[[EventKind], list[dict[str, Any]]]:
    """What the trail says of one kind of change; its chain is whole."""

    def of(kind: EventKind) -> list[dict[str, Any]]:
        assert audit.verify_chain(Administration.NAME).is_whole
        return [read(event.data) for event in AuditEvent.objects.filter(kind=kind).order_by("sequence")]

    return of
