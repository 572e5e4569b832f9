"""Who may read /metrics: the token of monitoring, auditors and administrators; nobody else."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from approvals import access
from approvals.clock import now
from approvals.models import Person
from approvals.models.actors import SYSTEM

pytestmark = pytest.mark.django_db
TOKEN = "an-invented-token-of-monitoring"


@pytest.fixture(autouse=True)
def _read_anew(settings: Any) -> None:
    settings.METRICS_KEPT_FOR = timedelta(0)


def status(secret: str = "", scheme: str = "Bearer", **request: Any) -> int:
    client: Client = request.pop("client", None) or Client()
    headers = {"Authorization": f"{scheme} {secret}"} if secret else {}
    return client.get("/metrics", headers=headers, **request).status_code


def token_of(person: Person) -> str:
    return access.issue_personal_token(person=person, actor=SYSTEM, at=now())[1]


def session_of(person: Person) -> Client:
    client = Client()
    client.force_login(person)
    return client


@pytest.mark.parametrize("token", ["", TOKEN])
def test_people_who_may_read_everything_do(token: str, auditor: Person, administrator: Person, settings: Any) -> None:
    settings.METRICS_TOKEN = token
    for person in (auditor, administrator):
        assert status(token_of(person)) == 200
        assert status(client=session_of(person)) == 200


@pytest.mark.parametrize("token", ["", TOKEN])
def test_others_do_not(token: str, reviewer: Person, agent_key: str, settings: Any) -> None:
    settings.METRICS_TOKEN = token
    assert status() == 401
    assert status(agent_key) == 403
    assert status(token_of(reviewer)) == 403
    assert status(client=session_of(reviewer)) == 403
    for guess in ("x", "None", TOKEN[:-1], f"{TOKEN}x", TOKEN.upper()):
        assert status(guess) == 401


def test_token_reads_under_any_host_name_and_only_by_reading(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    answer = Client().get("/metrics", headers={"Authorization": f"Bearer {TOKEN}", "Host": "10.1.2.3:9"})
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    assert b"toolgate_leases 0.0" in answer.content
    assert answer.headers["Cache-Control"] == "no-store"
    assert Client().post("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 401


def test_token_that_is_not_set_is_nobody_s(settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert status(" ") == 401
    assert status(TOKEN) == 401
    assert status(TOKEN, scheme="Basic") == 401


def test_token_that_was_in_use_is_over_when_the_setting_is(settings: Any) -> None:
    settings.METRICS_TOKEN = TOKEN
    assert status(TOKEN) == 200
    settings.METRICS_TOKEN = f"{TOKEN} of next year"
    assert status(TOKEN) == 401
