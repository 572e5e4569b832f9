"""`POST /tool-calls`."""

from __future__ import annotations

import pytest

from approvals.models import ToolCall
from tests.api.conftest import Caller
from tests.calls import register
from tests.conftest import Deployment

pytestmark = pytest.mark.django_db


def test_stores_a_call_and_answers_201(as_agent: Caller, tools: Deployment) -> None:
    register(tools)
    answer = as_agent.post("tool-calls", {"tool": "tool", "tool_call_id": "c1", "arguments": {"a": 1}})
    assert answer.status == 201, answer.body
    assert answer.body["status"] == "pending"
    assert answer.body["arguments"] == {"submitted": {"a": 1}, "resolved": {"a": 1}, "effective": None}
    assert ToolCall.objects.get().pk.hex == answer.body["id"].replace("-", "")
