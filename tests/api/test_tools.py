"""`GET /tools` and `POST /tools/{tool}/parse`."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.models import ToolCall
from tests.api.conftest import Caller
from tests.calls import Deployment, register
from toolgate import Function

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("facts", "approval"),
    [
        ({}, "always"),
        ({"require_approval": False}, "never"),
        ({"require_approval": lambda arguments: True}, "depends"),
        ({"require_approval": False, "deny": lambda arguments: True}, "depends"),
        ({"deny": True}, "denied"),
    ],
    ids=["by default", "never", "predicate", "deny predicate", "denied"],
)
def test_tells_whether_approval_is_to_be_expected(facts: Any, approval: str, as_agent: Caller, tools: Deployment) -> None:
    register(tools, "tool", **facts)
    assert [one["approval"] for one in as_agent.get("tools").body["tools"]] == [approval]


def test_a_declared_tool_is_for_the_agent_to_run(as_agent: Caller, tools: Deployment) -> None:
    tools.register(Function(name="declared", display_text="Declared"), risk="low")
    (told,) = as_agent.get("tools").body["tools"]
    assert (told["runs_by_agent"], told["display_text"], told["risk"]) == (True, "Declared", "low")


def test_a_name_with_a_slash_can_be_parsed(as_agent: Caller, tools: Deployment) -> None:
    register(tools, "server/look_up")
    assert as_agent.post("tools/server/look_up/parse", {"arguments": "{}"}).body["ok"]
    assert as_agent.post("tools/server%2Flook_up/parse", {"arguments": "{}"}).body["ok"]


def test_parse_has_the_context_that_a_call_would_have(as_agent: Caller, tools: Deployment) -> None:
    def parse(arguments: dict[str, Any], context: dict[str, Any]) -> dict[str, Any]:
        return {"context": context}

    register(tools, "curious", parse_args=parse)
    sent = {"arguments": {}, "context": {"user": "u", "tool_call_id": "forged", "interrupts": ["forged"]}}
    first, second = (as_agent.post("tools/curious/parse", sent).body["arguments"]["context"] for _ in range(2))
    assert first.keys() == {"user", "tool_call_id", "idempotency_key", "interrupts"}
    assert (first["user"], first["interrupts"]) == ("u", [])
    assert "forged" != first["tool_call_id"] != second["tool_call_id"]
    assert not ToolCall.objects.exists()
