"""Problems: every code of the table can be reached, each is application/problem+json, and none shows what is inside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client, RequestFactory

from approvals import lifecycle
from approvals.api import problems
from approvals.api.problems import CODES
from approvals.clock import now
from approvals.models import Agent, DecisionKind, Person, Status, ToolCall
from tests.api.conftest import API, Answer, Caller
from tests.calls import CallMaker, register
from toolgate import Error

pytestmark = pytest.mark.django_db

UNKNOWN = "01900000-0000-7000-8000-000000000000"
# What only a worker or the clock can be told; they do not come through this door.
NOT_OVER_HTTP = {"lease_lost", "not_due", "not_its_turn", "declared_only"}


class Scene:
    """Everybody who calls, and the calls they call about."""

    def __init__(self, make: CallMaker, agent: Caller, person: Caller, second: Caller) -> None:
        self.make, self.agent, self.person, self.second = make, agent, person, second

    def decide(self, call: ToolCall, kind: str = "approve", caller: Caller | None = None, **members: Any) -> Answer:
        call.refresh_from_db()
        digest = call.resolution.digest if call.resolution else ""
        body = {"kind": kind, "digest": digest, **members}
        return (caller or self.person).post(f"tool-calls/{call.pk}/decisions", body)

    def edited(self, **facts: Any) -> ToolCall:
        call = self.make.submit(register(self.make.tools, "edited", editor_may_approve=False, **facts))
        assert self.decide(call, "edit", edited_arguments={"b": 1}).status == 200
        return call

    def unresolvable(self) -> ToolCall:
        """Pending, and its parser refuses it since."""
        refusing: list[bool] = []

        def parse(arguments: dict[str, Any]) -> Any:
            return Error("gone") if refusing else arguments

        call = self.make.submit(register(self.make.tools, "fickle", parse_args=parse))
        refusing.append(True)
        return call

    def of_a_tool_that_is_gone(self) -> ToolCall:
        call = self.make.submit(register(self.make.tools, "leaving"))
        self.make.tools.take_away("leaving")
        return call

    def refused_edit(self) -> ToolCall:
        return self.make.submit(register(self.make.tools, "picky", parse_args=lambda a: Error("no") if "bad" in a else a))

    def denied_edit(self) -> ToolCall:
        return self.make.submit(register(self.make.tools, "denying", deny=lambda a: "bad" in a))

    def interrupt(self, call: ToolCall, body: Any) -> Answer:
        asked = call.interrupts.get()
        return self.person.post(f"tool-calls/{call.pk}/interrupts/{asked.pk}/answer", body)

    def settled(self, status: Status, **body: Any) -> Answer:
        return self.person.post(f"tool-calls/{self.make(status).pk}/settlement", body)

    def conflict(self) -> Answer:
        body = {"tool": "x", "tool_call_id": "1", "arguments": {}}
        register(self.make.tools, "x")
        self.agent.post("tool-calls", body)
        return self.agent.post("tool-calls", {**body, "arguments": {"a": 1}})

    def of_an_agent_that_is_off(self) -> ToolCall:
        call = self.make()
        Agent.objects.filter(pk=call.agent_id).update(is_active=False)
        return call

    def of_group(self) -> ToolCall:
        return self.make.submit(register(self.make.tools, "grouped", groups=["finance"]))


def closed(scene: Scene) -> Answer:
    call = scene.make(Status.INTERRUPTED)
    scene.interrupt(call, {"answer": 1})
    return scene.interrupt(call, {"answer": 2})


def expired(scene: Scene) -> Answer:
    """Its time ends between the look at the clock and the decision: here while the parser of an edit works."""

    def parse(arguments: dict[str, Any]) -> Any:
        if "late" in arguments:
            ToolCall.objects.update(expires_at=now() - timedelta(hours=1))
        return arguments

    call = scene.make.submit(register(scene.make.tools, "slow", parse_args=parse))
    return scene.decide(call, "edit", edited_arguments={"late": 1})


def in_dialect(scene: Scene) -> Answer:
    register(scene.make.tools, "a name with blanks")
    return scene.agent.get("tools", {"dialect": "openai"})


def not_allowed(scene: Scene) -> Answer:
    call = scene.make.submit(register(scene.make.tools, "strict", allowed_decisions=["approve", "reject"]))
    return scene.decide(call, "respond", response="no")


def answer_refused(scene: Scene) -> Answer:
    call = scene.make(Status.INTERRUPTED, data={"response_schema": {"type": "integer"}})
    return scene.interrupt(call, {"answer": "three"})


REACHED: dict[str, Callable[[Scene], Answer]] = {
    "malformed": lambda s: s.agent.post("tool-calls", b"{"),
    "not_authenticated": lambda s: Caller().get("tools"),
    "forbidden": lambda s: s.agent.get("inbox"),
    "self_approval": lambda s: s.decide(s.make(on_behalf_of="ada")),
    "own_edit": lambda s: s.decide(s.edited()),
    "not_found": lambda s: s.agent.get("nowhere"),
    "unknown_call": lambda s: s.agent.get(f"tool-calls/{UNKNOWN}"),
    "unknown_interrupt": lambda s: s.person.post(f"tool-calls/{s.make().pk}/interrupts/{UNKNOWN}/answer", {"answer": 1}),
    "unknown_run": lambda s: s.agent.get("runs/nowhere"),
    "unknown_tool": lambda s: s.agent.post("tools/nowhere/parse", {}),
    "method_not_allowed": lambda s: s.agent.post("tools", {}),
    "already_settled": lambda s: s.decide(s.make(Status.REJECTED)),
    "wrong_status": lambda s: s.decide(s.make(Status.APPROVED), "reject", caller=s.second),
    "stale_digest": lambda s: s.person.post(f"tool-calls/{s.make().pk}/decisions", {"kind": "approve", "digest": "0" * 64}),
    "tool_not_served": lambda s: s.decide(s.of_a_tool_that_is_gone()),
    "not_resolvable": lambda s: s.decide(s.unresolvable()),
    "interrupt_closed": closed,
    "submission_conflict": Scene.conflict,
    "unsupported_media_type": lambda s: s.agent.post("tool-calls", b"{}", Content_Type="text/plain"),
    "invalid_request": lambda s: s.agent.post("tool-calls", {}),
    "not_in_this_dialect": in_dialect,
    "unknown_revision": lambda s: s.agent.post("tool-calls", {"tool": "t", "tool_call_id": "1", "revises": UNKNOWN}),
    "not_allowed": not_allowed,
    "edit_refused": lambda s: s.decide(s.refused_edit(), "edit", edited_arguments={"bad": 1}),
    "edit_denied": lambda s: s.decide(s.denied_edit(), "edit", edited_arguments={"bad": 1}),
    "reason_missing": lambda s: s.settled(Status.OUTCOME_UNKNOWN, outcome="failed", reason=" "),
    "response_missing": lambda s: s.decide(s.make(), "respond"),
    "answer_refused": answer_refused,
    "expired": expired,
    "agent_off": lambda s: s.decide(s.of_an_agent_that_is_off()),
}
ELSEWHERE = {"csrf_failed", "too_large", "internal_error", "database_away", "not_a_reviewer", "stopping"}  # other tests


@pytest.fixture
def scene(make_call: CallMaker, as_agent: Caller, as_person: Caller, as_second_person: Caller) -> Scene:
    return Scene(make_call, as_agent, as_person, as_second_person)


@pytest.mark.parametrize("code", sorted(REACHED))
def test_each_code_is_reached(code: str, scene: Scene) -> None:
    answered = REACHED[code](scene)
    assert answered.problem == code, answered.body
    assert answered.status == CODES[code][0]
    assert answered.body["title"] == CODES[code][1]
    assert answered.body["type"] == f"/api/docs#{code}"


def test_no_code_is_left_out() -> None:
    assert REACHED.keys() | ELSEWHERE == CODES.keys()
    assert not REACHED.keys() & ELSEWHERE


def sources() -> Iterator[str]:
    for path in (Path(lifecycle.__file__).parent).glob("*.py"):
        yield path.read_text()


def test_every_refusal_of_a_verb_has_its_http_status() -> None:
    written = {code for text in sources() for code in re.findall(r'NotPossible\(\s*"(\w+)"', text)}
    assert written
    assert written - NOT_OVER_HTTP <= CODES.keys()


@pytest.mark.parametrize("who", ["agent", "person"])
def test_what_is_overdue_is_never_told_to_wait_still(who: str, scene: Scene) -> None:
    call = scene.make()
    ToolCall.objects.filter(pk=call.pk).update(expires_at=now() - timedelta(seconds=1))
    late = scene.agent.post(f"tool-calls/{call.pk}/cancel") if who == "agent" else scene.decide(call)
    assert (late.status, late.problem, late.body["current_status"]) == (409, "already_settled", "expired")
    assert scene.agent.get(f"tool-calls/{call.pk}").body["status"] == "expired"


def test_conflicts_tell_what_the_call_is_now(scene: Scene) -> None:
    assert scene.decide(scene.make(Status.REJECTED)).body["current_status"] == "rejected"


def test_an_auditor_decides_nothing(as_auditor: Caller, scene: Scene) -> None:
    refused = scene.decide(scene.make(), caller=as_auditor)
    assert (refused.status, refused.problem) == (403, "not_a_reviewer")


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v1", "/api/v1/tool-calls/nonsense", "/api/v2/tools", "/api/v1/tools/"])
@pytest.mark.parametrize("method", ["get", "post", "delete", "options"])
def test_an_address_that_is_nothing_is_told_as_json(path: str, method: str, as_agent: Caller, settings: Any) -> None:
    for debug in (False, True):
        settings.DEBUG = debug
        response = getattr(as_agent.client, method)(path)
        assert (response.status_code, response["content-type"]) == (404, "application/problem+json")
        assert response.json()["code"] == "not_found"


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options", "trace"])
def test_a_method_that_an_address_does_not_take_is_told_as_json(method: str, as_agent: Caller) -> None:
    response = getattr(as_agent.client, method)(f"{API}/tools", headers=as_agent.headers)
    assert (response.status_code, response.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in response["allow"]


def test_a_strange_host_is_told_as_json(as_agent: Caller) -> None:
    response = Client(raise_request_exception=False).get(f"{API}/tools", headers={"Host": "evil.example"})
    assert (response.status_code, response["content-type"]) == (400, "application/problem+json")
    assert "evil" not in response.content.decode()


def test_the_pages_keep_their_own_errors() -> None:
    response = Client(raise_request_exception=False).get("/nowhere at all")
    assert "json" not in response["content-type"]


class Away:
    """Stands between Django and the database, and lets nothing pass."""

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        raise OperationalError(f"could not connect: {sql}")


class Broken(Away):
    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        raise RuntimeError(f"unexpected: {sql} at /some/path")


@pytest.mark.parametrize(("wrapper", "code"), [(Away(), "database_away"), (Broken(), "internal_error")])
@pytest.mark.parametrize("method", ["get", "post"])
def test_what_breaks_inside_is_told_without_what_is_inside(method: str, wrapper: Away, code: str, as_agent: Caller) -> None:
    with connection.execute_wrapper(wrapper):
        answered = as_agent.get("tool-calls") if method == "get" else as_agent.post("tool-calls", {})
    assert (answered.problem, answered.status) == (code, CODES[code][0])
    assert ("retry-after" in answered.headers) == (code == "database_away")
    for inside in ("SELECT", "/some/path", "Traceback", "approvals_", "unexpected"):
        assert inside not in answered.text


def test_what_breaks_outside_a_view_is_told_as_json() -> None:
    assert problems.server_error(_request("/api/v1/x")).status_code == 500
    assert problems.server_error(_request("/api/v1/x"))["content-type"] == "application/problem+json"
    assert problems.permission_denied(_request("/api/v1/x"), Exception())["content-type"] == "application/problem+json"
    assert "json" not in problems.server_error(_request("/inbox"))["content-type"]


def _request(path: str) -> Any:
    return RequestFactory().get(path)


def test_one_item_of_a_batch_fails_alone_and_is_told_the_same_way(scene: Scene, reviewer: Person, agent: Agent) -> None:
    good, own = scene.make(), scene.make(on_behalf_of=reviewer.email)
    items = [
        {"tool_call": str(call.pk), "kind": "approve", "digest": call.resolution.digest if call.resolution else ""}
        for call in (good, own)
    ]
    results = scene.person.post("decisions/batch", {"decisions": [*items, {"kind": "approve"}, {}]}).body["results"]
    assert [one["status"] for one in results] == [200, 403, 422, 422]
    assert results[1]["problem"]["code"] == "self_approval"
    assert results[2]["problem"]["errors"][0]["message"] == "is missing"
    assert scene.make.decide(good, DecisionKind.APPROVE).status == Status.APPROVED
