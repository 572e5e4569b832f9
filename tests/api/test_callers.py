"""Every endpoint × every caller: nobody, a wrong or revoked key, agents, reviewers, strangers, auditors, administrators."""

from __future__ import annotations

from typing import Any

import pytest

from approvals import access
from approvals.clock import now
from approvals.models import Agent, AgentKey, Status
from approvals.models.actors import SYSTEM
from tests.api.conftest import Caller, bearer, key_of
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db

UNKNOWN = "01900000-0000-7000-8000-000000000000"
DECISION = {"kind": "reject", "digest": "", "reason": "no"}
# method, path, body; then what an agent, the other agent, a reviewer, a stranger and an auditor are answered.
TABLE: list[tuple[str, str, Any, tuple[int, int, int, int, int]]] = [
    ("get", "tools", None, (200, 200, 403, 403, 403)),
    ("post", "tools/grouped/parse", {}, (200, 200, 403, 403, 403)),
    ("get", "tool-calls", None, (200, 200, 200, 200, 200)),
    ("post", "tool-calls", {"tool": "grouped", "tool_call_id": "x"}, (201, 201, 403, 403, 403)),
    ("post", "tool-calls/batch", {"calls": [{"tool": "grouped", "tool_call_id": "y"}]}, (200, 200, 403, 403, 403)),
    ("get", "tool-calls/{id}", None, (200, 404, 200, 404, 200)),
    ("get", "runs/a-run", None, (200, 404, 403, 403, 403)),
    ("post", "tool-calls/{id}/cancel", None, (200, 404, 403, 403, 403)),
    ("get", "inbox", None, (403, 403, 200, 200, 200)),
    ("post", "tool-calls/{id}/decisions", DECISION, (403, 403, 409, 404, 403)),
    ("post", "tool-calls/{id}/preview", {"edited_arguments": {}}, (403, 403, 200, 404, 403)),
    ("post", "decisions/batch", {"decisions": [{"tool_call": "{id}", **DECISION}]}, (403, 403, 200, 200, 200)),
    ("post", "tool-calls/{id}/interrupts/" + UNKNOWN + "/answer", {"answer": 1}, (403, 403, 404, 404, 404)),
    ("post", "tool-calls/{id}/settlement", {"outcome": "failed", "reason": "r"}, (403, 403, 409, 404, 409)),
    ("get", "audit-events?tool_call={id}", None, (403, 403, 200, 200, 200)),
    ("get", "audit-events", None, (403, 403, 200, 200, 200)),
    ("get", "audit-events/verification?tool_call={id}", None, (403, 403, 403, 403, 200)),
    ("get", "audit-events/verification", None, (403, 403, 403, 403, 200)),
]


def ask(caller: Caller, method: str, path: str, body: Any, call_id: str) -> int:
    path = path.replace("{id}", call_id)
    if method == "get":
        return caller.get(path).status
    filled = {"decisions": [{"tool_call": call_id, **DECISION}]} if "decisions" in (body or {}) else body
    return caller.post(path, filled).status


@pytest.mark.parametrize("row", TABLE, ids=[f"{method} {path}" for method, path, _, _ in TABLE])
def test_each_gets_what_is_theirs(row: Any, make_call: CallMaker, request: pytest.FixtureRequest, reviewer: Any) -> None:
    method, path, body, expected = row
    tool = register(make_call.tools, "grouped", groups=["finance"])
    call = make_call.submit(tool, run_id="a-run")
    reviewer.groups.set(list(call.reviewer_groups.all()))
    names = ("as_agent", "as_other_agent", "as_person", "as_stranger", "as_auditor")
    order = (1, 3, 4, 2, 0)  # who changes something goes last
    told = {place: ask(request.getfixturevalue(names[place]), method, path, body, str(call.pk)) for place in order}
    assert tuple(told[place] for place in range(5)) == expected


@pytest.mark.parametrize("row", TABLE, ids=[f"{method} {path}" for method, path, _, _ in TABLE])
def test_nobody_and_wrong_keys_are_401(row: Any, make_call: CallMaker, as_nobody: Caller, agent: Agent) -> None:
    method, path, body, _ = row
    call_id = str(make_call().pk)
    revoked = key_of(agent)
    access.revoke(credential=AgentKey.objects.get(prefix=AgentKey.prefix_of(revoked)), actor=SYSTEM, at=now())
    secrets = ("tg_agent_000000000000_wrong", "tg_person_000000000000_wrong", "x", revoked)
    callers = [as_nobody, *(bearer(secret) for secret in secrets)]
    assert {ask(caller, method, path, body, call_id) for caller in callers} == {401}


def test_agent_without_the_tool_is_told_as_if_there_were_none(agent: Agent, make_call: CallMaker, as_agent: Caller) -> None:
    register(make_call.tools, "hers")
    register(make_call.tools, "another")
    agent.tools = "hers"
    agent.save()
    assert [one["name"] for one in as_agent.get("tools").body["tools"]] == ["hers"]
    assert as_agent.post("tools/another/parse", {}).status == 404
    forbidden = as_agent.post("tool-calls", {"tool": "another", "tool_call_id": "1"}).body
    unknown = as_agent.post("tool-calls", {"tool": "nowhere", "tool_call_id": "2"}).body
    assert forbidden["status"] == unknown["status"] == Status.INVALID
    said = [call["result"]["content"][0]["content"] for call in (forbidden, unknown)]
    assert said[0].replace("another", "nowhere") == said[1]


def test_events_of_a_call_that_one_may_not_see_are_not_listed(
    make_call: CallMaker, as_stranger: Caller, as_auditor: Caller
) -> None:
    call = make_call.submit(register(make_call.tools, "grouped", groups=["finance"]))
    assert as_stranger.get("audit-events").body["results"] == []
    assert as_stranger.get("audit-events", {"tool_call": str(call.pk)}).body["results"] == []
    assert len(as_auditor.get("audit-events", {"tool_call": str(call.pk)}).body["results"]) == 1
