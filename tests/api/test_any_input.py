"""No input gives a 500: whatever is sent to any endpoint is answered, below 500, as JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from approvals.models import DecisionKind, Status
from tests.api.conftest import Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db

MEMBERS = (
    "tool", "tool_call_id", "arguments", "run_id", "context", "metadata", "agent_reasoning", "on_behalf_of", "revises",
    "timeout_seconds", "idempotency_key", "calls", "decisions", "tool_call", "kind", "digest", "reason", "response",
    "edited_arguments", "resolved_digest", "answer", "reject", "outcome", "approved",
)  # fmt: skip
LIKELY = ("tool", "number", "nowhere", "approve", "edit", "respond", "succeeded", "run_again", "{}", '{"a": 1}', "{")
TEXTS = st.sampled_from(LIKELY) | st.text(max_size=8) | st.sampled_from(["\x00", "\ud83d", "\U0001f680", "\x1b[2J", "9" * 400])
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -(10**4299), 1e308, 5e-324])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(st.sampled_from(MEMBERS), VALUES, max_size=8)
LISTS = st.fixed_dictionaries({}, optional={name: st.lists(OBJECTS, max_size=3) for name in ("calls", "decisions")})


BODIES = (OBJECTS | LISTS | VALUES).map(json.dumps) | st.binary(max_size=40) | st.just(b'{"answer": ' + b"1" * 5000 + b"}")
SENSIBLE: dict[str, dict[str, Any]] = {
    "tool-calls": {"tool": "tool", "tool_call_id": "1"},
    "tool-calls/batch": {"calls": [{"tool": "tool", "tool_call_id": "2"}]},
    "tools/tool/parse": {"arguments": {}},
    "decisions": {"kind": "approve", "digest": ""},
    "decisions/batch": {"decisions": [{"kind": "reject", "digest": ""}]},
    "preview": {"edited_arguments": {}},
    "answer": {"answer": 1},
    "settlement": {"outcome": "failed", "reason": "r"},
}
ALMOST = st.tuples(st.sampled_from(sorted(SENSIBLE)), OBJECTS).map(lambda pair: json.dumps({**SENSIBLE[pair[0]], **pair[1]}))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies=st.lists(BODIES | ALMOST, min_size=4, max_size=4))
def test_bodies_are_always_answered(bodies: list[Any], make_call: CallMaker, as_agent: Caller, as_person: Caller) -> None:
    register(make_call.tools, "number", require_approval=False)
    calls = [make_call(), make_call(Status.INTERRUPTED), make_call(Status.OUTCOME_UNKNOWN)]
    asked = calls[1].interrupts.get()
    agents = ["tool-calls", "tool-calls/batch", "tools/tool/parse", *(f"tool-calls/{call.pk}/cancel" for call in calls)]
    people = ["decisions/batch", f"tool-calls/{calls[1].pk}/interrupts/{asked.pk}/answer"]
    people += [f"tool-calls/{call.pk}/{verb}" for call in calls for verb in ("decisions", "preview", "settlement")]
    for body in bodies:
        for caller, paths in ((as_agent, agents), (as_person, people)):
            for path in paths:
                answered = caller.post(path, body)
                assert answered.status < 500, (path, body, answered.body)
                assert isinstance(answered.body, dict)


QUERY = st.dictionaries(
    st.sampled_from(
        ["status", "tool", "run_id", "tool_call_id", "submitted_after", "cursor", "limit", "wait", "until", "dialect",
         "risk", "agent", "kind", "actor", "after", "before", "tool_call"]
    ),
    st.text(max_size=12) | st.sampled_from(["pending", "0001-01-01T00:00:00+14:00", "W10", "WyJ4Il0", "0", "openai"]),
    max_size=2,
)  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=QUERY, rest=st.text(max_size=10))
def test_addresses_are_always_answered(
    query: dict[str, str], rest: str, make_call: CallMaker, as_agent: Caller, as_auditor: Caller
) -> None:
    query = {**query, "wait": "0"} if query.get("wait", "").strip().isdecimal() else query
    query = {name: text.encode("utf-8", "replace").decode() for name, text in query.items()}
    for caller, path in (
        (as_agent, "tools"), (as_agent, "tool-calls"), (as_agent, "runs/r"), (as_auditor, "inbox"),
        (as_auditor, "tool-calls"), (as_auditor, "audit-events"), (as_auditor, "audit-events/verification"),
    ):  # fmt: skip
        assert caller.get(path, query).status < 500
    quoted = "".join(f"%{byte:02x}" for byte in rest.encode("utf-8", "replace"))
    for path in (f"runs/{quoted}", f"tools/{quoted}/parse", f"tool-calls/{quoted}", f"{quoted}"):
        assert as_agent.get(path).status < 500
        assert as_agent.post(path, {}).status < 500


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=st.text(st.characters(max_codepoint=255), max_size=20))
def test_headers_are_always_answered(value: str, make_call: CallMaker, as_agent: Caller) -> None:
    call = make_call()
    for name in ("Idempotency-Key", "Authorization", "If-None-Match", "Accept", "Content-Type", "X-CSRFToken"):
        assert as_agent.get(f"tool-calls/{call.pk}", None, **{name: value}).status < 500
        assert as_agent.post("tool-calls", {"tool": "tool", "tool_call_id": "1"}, **{name: value}).status < 500


def test_a_decided_call_stays_readable_for_everybody(make_call: CallMaker, as_agent: Caller, as_person: Caller) -> None:
    call = make_call.decide(make_call(), DecisionKind.REJECT, reason="\u2028 <b> \U0001f680")
    for caller in (as_agent, as_person):
        assert caller.get(f"tool-calls/{call.pk}").status == 200
