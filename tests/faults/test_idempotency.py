"""One key is one call: whoever sends it twice is given the first, and never an error of the database."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from approvals.models import Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.lifecycle.test_races import together

pytestmark = pytest.mark.usefixtures("real_db")


@pytest.mark.parametrize("run", [{}, {"run_id": "a run"}], ids=["alone", "in a run"])
@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "one"}], ids=["call id", "key"])
def test_fifty_identical_submits_at_once_make_one_call_and_nobody_gets_an_error(
    key: dict[str, str], run: dict[str, str], as_agent: Caller, tools: Any
) -> None:  # B160 B161
    sent = {"tool": register(tools), "tool_call_id": "call_1", "arguments": {"amount": 5}, **run}
    answers = together(*[partial(as_agent.post, "tool-calls", sent, **key)] * 50)
    assert Counter(answer.status for answer in answers) == {201: 1, 200: 49}
    assert len({answer.body["id"] for answer in answers}) == 1
    assert ToolCall.objects.count() == 1


def test_submit_that_is_overtaken_between_looking_and_writing_is_given_the_first(
    as_agent: Caller, make_call: CallMaker, tools: Any
) -> None:  # B164
    """The parser is slow; meanwhile the same submit came again and was stored: the clash shows in the write only."""
    sent: dict[str, Any] = {"tool": "slow", "tool_call_id": "call_1"}
    inner: list[Any] = []

    def parse(arguments: dict[str, Any]) -> None:
        if not inner:
            inner.append(None)
            inner[0] = as_agent.post("tool-calls", sent)

    register(tools, "slow", parse_args=parse)
    outer = as_agent.post("tool-calls", sent)
    assert (inner[0].status, outer.status) == (201, 200)
    assert inner[0].body["id"] == outer.body["id"]
    assert outer.headers["idempotent-replayed"] == "true"
    assert ToolCall.objects.count() == 1


def test_key_of_a_submit_means_nothing_to_decisions_and_answers(
    as_agent: Caller, as_other_agent: Caller, as_person: Caller, make_call: CallMaker, tools: Any
) -> None:  # B163
    key = {"Idempotency_Key": "one"}
    tool = register(tools)
    call = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1"}, **key).body
    others = as_other_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1"}, **key)
    assert (others.status, others.body["id"] != call["id"]) == (201, True)
    approve = {"kind": "approve", "digest": call["digest"]}
    assert as_person.post(f"tool-calls/{call['id']}/decisions", approve, **key).body["status"] == "approved"
    asking = make_call(Status.INTERRUPTED)
    asked = ToolCall.objects.get(pk=asking.pk).open_interrupt
    assert asked is not None
    answer = as_person.post(f"tool-calls/{asking.pk}/interrupts/{asked.pk}/answer", {"answer": "yes"}, **key)
    assert (answer.body["id"], answer.body["status"]) == (str(asking.pk), "approved")
    again = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1"}, **key)
    assert (again.status, again.body["id"], again.body["status"]) == (200, call["id"], "approved")
