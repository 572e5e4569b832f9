"""A reviewer's session: it decides like a token does, and only with its CSRF token."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from approvals.models import Decision, Person, ToolCall
from tests.api.conftest import Caller, bearer, key_of, token_of
from tests.calls import CallMaker

pytestmark = pytest.mark.django_db


@pytest.fixture
def in_session(reviewer: Person) -> Caller:
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.force_login(reviewer)
    client.cookies["csrftoken"] = "x" * 32
    return Caller(client=client)


def body(call: ToolCall, shown: Callable[[ToolCall], str]) -> dict[str, str]:
    return {"kind": "approve", "digest": shown(call)}


def test_reads_and_decides(in_session: Caller, make_call: CallMaker, shown: Callable[[ToolCall], str]) -> None:
    call = make_call()
    assert in_session.get("inbox").body["count"] == 1
    decided = in_session.post(f"tool-calls/{call.pk}/decisions", body(call, shown), X_CSRFToken="x" * 32)
    assert (decided.status, decided.body["status"]) == (200, "approved")
    assert Decision.objects.get().login == "session"


def test_decides_nothing_without_its_csrf_token(
    in_session: Caller, make_call: CallMaker, shown: Callable[[ToolCall], str]
) -> None:
    call = make_call()
    refused = in_session.post(f"tool-calls/{call.pk}/decisions", body(call, shown))
    assert (refused.status, refused.problem) == (403, "csrf_failed")
    assert not Decision.objects.exists()


def test_token_needs_none_and_is_recorded_as_what_it_is(
    reviewer: Person, make_call: CallMaker, shown: Callable[[ToolCall], str]
) -> None:
    call = make_call()
    assert bearer(token_of(reviewer)).post(f"tool-calls/{call.pk}/decisions", body(call, shown)).status == 200
    assert Decision.objects.get().login == "token"


def test_does_not_stand_in_for_a_proof_that_fails(in_session: Caller) -> None:
    for proof in ("Bearer nonsense", "Basic YTpi", "Bearer tg_agent_000000000000_wrong", "Bearer"):
        refused = in_session.get("inbox", Authorization=proof)
        assert (refused.status, refused.problem) == (401, "not_authenticated")
        assert refused.headers["www-authenticate"] == 'Bearer realm="toolgate"'


def test_does_not_lend_an_agent_the_reviewers_rights(in_session: Caller, make_call: CallMaker) -> None:
    call = make_call()
    refused = in_session.post(
        f"tool-calls/{call.pk}/decisions", {"kind": "approve", "digest": ""}, Authorization=f"Bearer {key_of(call.agent)}"
    )
    assert (refused.status, refused.problem) == (403, "forbidden")


def test_of_somebody_who_left_is_none(in_session: Caller, reviewer: Person) -> None:
    token = bearer(token_of(reviewer))
    assert token.get("inbox").status == 200
    reviewer.is_active = False
    reviewer.save()
    assert in_session.get("inbox").status == token.get("inbox").status == 401
