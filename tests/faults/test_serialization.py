"""What was written is what is stored, shown, run and given back: every digit and every letter, or a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from approvals import execution
from approvals.audit import verify_chain
from approvals.models import Decision, DecisionKind, Status, ToolCall
from tests.api.conftest import Caller
from tests.calls import CallMaker, register
from tests.execution.test_execute import Body
from tests.review.browser import page_of, press, visit

pytestmark = pytest.mark.usefixtures("real_db")

NUMBERS = '{"record_id": 9007199254740993, "other": 1234567890123456789, "price": 0.10000000000000000000001, "c": 12.50}'


def test_digits_are_the_same_on_the_page_in_the_form_in_the_body_and_over_http(
    as_agent: Caller, as_person: Caller, ada: Client, tools: Any
) -> None:  # B073
    body = Body(lambda arguments, context: json.dumps({"echo": arguments["record_id"]}))
    tool = register(tools, "echo", function=body)
    sent = as_agent.post("tool-calls", f'{{"tool": "{tool}", "tool_call_id": "1", "arguments": {NUMBERS}}}')
    assert f'"submitted":{NUMBERS}' in sent.text
    call_id = sent.body["id"]
    page = visit(ada, f"/calls/{call_id}")
    form = visit(ada, f"/calls/{call_id}/edit")
    for digits in ("9007199254740993", "1234567890123456789", "0.10000000000000000000001", "12.50"):
        assert digits in form.form("/edit").fields["arguments"]
        assert digits in page.text
    checked = page_of(press(ada, form, "/edit", "check"))
    assert "It means the same." in checked.text
    assert press(ada, checked, "/edit", "approve").status_code == 302
    assert execution.execute(call_id) == Status.SUCCEEDED
    (arguments, _), *_ = body.received
    assert (arguments["record_id"], arguments["other"]) == (9007199254740993, 1234567890123456789)
    assert str(arguments["price"]) == "0.10000000000000000000001"
    for reader in (as_agent, as_person):
        read = reader.get(f"tool-calls/{call_id}").text
        assert read.count("9007199254740993") >= 4  # submitted, resolved, effective, result
        assert read.count("0.10000000000000000000001") >= 3


NO_NUMBERS = ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"]


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_what_is_no_number_is_refused_in_either_form(number: str, as_agent: Caller, tools: Any) -> None:  # B074
    tool, arguments = register(tools), f'{{"a": [{number}]}}'
    raw = as_agent.post("tool-calls", f'{{"tool": "{tool}", "tool_call_id": "1", "arguments": {arguments}}}')
    assert (raw.status, raw.problem) == (400, "malformed")
    as_text = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "2", "arguments": arguments})
    assert (as_text.status, as_text.body["status"]) == (201, "invalid")


def test_nul_is_refused_and_the_text_that_looks_like_its_escape_is_kept(as_agent: Caller, tools: Any) -> None:  # B076
    tool = register(tools)
    refused = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1", "arguments": {"a": "x\x00y", "b": "\\u0000"}})
    assert (refused.status, refused.problem) == (400, "malformed")
    assert "NUL" in refused.body["detail"]
    kept = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "1", "arguments": {"b": "a \\u0000 b", "c": "\\\\u0000"}})
    assert kept.body["arguments"]["resolved"] == {"b": "a \\u0000 b", "c": "\\\\u0000"}


PLACES: dict[str, dict[str, Any]] = {
    "value": {"arguments": {"a": "x\x00"}},
    "key": {"arguments": {"a\x00": 1}},
    "text": {"arguments": '{"a": "x\\u0000"}'},
    "tool": {"tool": "to\x00ol"},
    "id": {"tool_call_id": "1\x00"},
    "run": {"run_id": "a\x00"},
    "context": {"context": {"a": "\x00"}},
    "reasoning": {"agent_reasoning": "\x00"},
}


@pytest.mark.parametrize("place", list(PLACES))
def test_nul_anywhere_in_a_submit_is_refused(place: str, as_agent: Caller, tools: Any) -> None:  # B077
    answered = as_agent.post("tool-calls", {"tool": register(tools), "tool_call_id": "1", **PLACES[place]})
    assert answered.status in (201, 400)
    assert answered.status == 400 or answered.body["status"] == "invalid"
    stored = (text for row in ToolCall.objects.values() for text in row.values() if isinstance(text, str))
    assert not any("\x00" in text for text in stored)


@pytest.mark.parametrize("kind", ["reject", "request_changes", "respond", "approve"])
def test_nul_in_what_a_reviewer_writes_is_refused_or_shown_and_never_stored(
    kind: str, as_person: Caller, ada: Client, make_call: CallMaker
) -> None:  # B077
    call = make_call()
    words: dict[str, str] = {"reason": "a\x00b"} | ({"response": "a\x00b"} if kind == "respond" else {})
    body = {"kind": kind, "digest": call.resolution.digest if call.resolution else "", **words}
    refused = as_person.post(f"tool-calls/{call.pk}/decisions", body)
    assert (refused.status, refused.problem) == (400, "malformed")
    page = visit(ada, f"/calls/{call.pk}")
    assert press(ada, page, "/decide", kind, own_words="a\x00b", response="a\x00b").status_code == 302
    kept = Decision.objects.get(call=call)
    assert "\x00" not in kept.reason + kept.response
    assert "\ufffd" in kept.reason + kept.response
    assert ada.get("/history", {"q": "\x00"}).status_code < 500


def test_half_a_character_is_refused_when_sent_and_kept_as_an_escape_when_a_tool_answers_it(
    as_agent: Caller, as_person: Caller, ada: Client, make_call: CallMaker, tools: Any
) -> None:  # B079 B080
    tool = register(tools, "halves", function=lambda arguments, context: "half \ud83d of one")
    for arguments in ('{"a": "\\ud83d"}', '{"\\ude00": 1}'):
        raw = as_agent.post("tool-calls", f'{{"tool": "{tool}", "tool_call_id": "1", "arguments": {arguments}}}')
        assert (raw.status, raw.problem) == (400, "malformed")
        as_text = as_agent.post("tool-calls", {"tool": tool, "tool_call_id": "2", "arguments": arguments})
        assert as_text.body["status"] == "invalid"
    call = make_call.submit(tool)
    edit = {"kind": "edit", "digest": call.resolution.digest if call.resolution else ""}
    edited = as_person.post(
        f"tool-calls/{call.pk}/decisions", json.dumps(edit)[:-1] + ', "edited_arguments": {"a": "\\ud83d"}}'
    )
    assert (edited.status, edited.problem) == (400, "malformed")
    make_call.decide(call, DecisionKind.APPROVE)
    assert execution.execute(call.pk) == Status.SUCCEEDED
    assert "half \\ud83d of one" in as_agent.get(f"tool-calls/{call.pk}").text
    assert visit(ada, f"/calls/{call.pk}").status == 200
    assert verify_chain(str(call.pk)).is_whole
