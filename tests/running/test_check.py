"""What `toolgate check` warns of: it works, and yet somebody should know."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command

from approvals.models import Person
from tests.calls import register

pytestmark = pytest.mark.django_db


def test_warns_of_a_tool_that_may_run_longer_than_the_broker_waits(
    tools: Any, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:  # B004
    register(tools, "nightly", time_limit=timedelta(hours=2))
    register(tools, "quick")
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 3600}
    call_command("check")
    warned = capsys.readouterr().err
    assert "nightly may run for 7200 seconds; the broker hands its message out again after 3600." in warned
    assert "quick" not in warned


def test_has_nothing_to_say_of_a_broker_that_waits_for_ever(tools: Any, capsys: pytest.CaptureFixture[str]) -> None:
    register(tools, "nightly", time_limit=timedelta(hours=2))
    call_command("check")
    assert "nightly" not in capsys.readouterr().err


def test_warns_of_a_tool_that_waits_for_nobody(
    tools: Any, person_maker: Any, auditor: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    register(tools, "pay", groups=["finance", "legal"])
    person_maker("mary", "finance")
    auditor.groups.add(Group.objects.create(name="legal"))  # who decides nothing
    call_command("check")
    assert "pay waits for people of 'legal', where nobody is who can decide" in capsys.readouterr().err
    person_maker("lea", "legal")
    call_command("check")
    assert "waits for people" not in capsys.readouterr().err
