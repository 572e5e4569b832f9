"""Secrets that a registration declares: masked wherever they are shown, kept where a reviewer leaves the mask alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from approvals import resolution
from approvals.models import ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import CallMaker, register

pytestmark = pytest.mark.django_db

SCHEMA = {"type": "object", "properties": {"service": {}, "token": {"type": "string", "writeOnly": True}}}
SENT = {"service": "billing", "token": "hush-0000"}
MASKED = {"service": "billing", "token": "••••••"}


@pytest.fixture
def call(make_call: CallMaker) -> ToolCall:
    register(make_call.tools, "credential", parameters_schema=SCHEMA)
    return make_call.submit("credential", SENT)


def test_are_masked_for_people_and_the_agent_sees_only_what_it_sent(
    call: ToolCall, as_agent: Caller, as_person: Caller, as_auditor: Caller
) -> None:
    for caller in (as_person, as_auditor):
        for answered in (caller.get(f"tool-calls/{call.pk}"), caller.get("tool-calls"), caller.get("inbox")):
            assert "hush" not in answered.text
    assert as_person.get(f"tool-calls/{call.pk}").body["arguments"]["submitted"] == MASKED
    read = as_agent.get(f"tool-calls/{call.pk}").body["arguments"]
    assert (read["submitted"], read["resolved"]) == (SENT, MASKED)


@pytest.mark.parametrize(("text", "shown"), [(json.dumps(SENT), json.dumps(MASKED, ensure_ascii=False)), ("{hush", "••••••")])
def test_are_masked_within_text(text: str, shown: str, call: ToolCall, make_call: CallMaker, as_person: Caller) -> None:
    sent_as_text = make_call.submit("credential", json.dumps(text))
    read = as_person.get(f"tool-calls/{sent_as_text.pk}")
    assert "hush" not in json.dumps(read.body["arguments"])
    assert read.body["arguments"]["submitted"].replace(" ", "") == shown.replace(" ", "")


def test_stay_masked_when_the_tool_is_gone(as_person: Caller, settings: Any, make_call: CallMaker) -> None:
    call = make_call.submit(register(make_call.tools, "credential", secrets=["token"]), SENT)
    settings.TOOLGATE_TOOLS = ()
    resolution.registry.cache_clear()
    read = as_person.get(f"tool-calls/{call.pk}")
    assert read.body["arguments"]["resolved"] == MASKED
    assert "hush" not in read.text


def decided(caller: Caller, call: ToolCall, edited: Any, digest: Callable[[ToolCall], str]) -> Answer:
    body = {"kind": "edit", "digest": digest(call), "edited_arguments": edited}
    return caller.post(f"tool-calls/{call.pk}/decisions", body)


@pytest.mark.parametrize("form", [dict, json.dumps])
def test_are_kept_by_an_edit_that_leaves_the_mask_alone(
    form: Callable[[Any], Any], call: ToolCall, as_person: Caller, shown: Callable[[ToolCall], str]
) -> None:
    edited = form({**MASKED, "service": "mail"})
    preview = as_person.post(f"tool-calls/{call.pk}/preview", {"edited_arguments": edited})
    assert preview.body["arguments"] == {**MASKED, "service": "mail"}
    answered = decided(as_person, call, edited, shown)
    assert answered.body["digest"] == preview.body["digest"]
    assert "hush" not in answered.text
    call.refresh_from_db()
    assert call.resolution is not None
    assert json.loads(call.resolution.resolved) == {"service": "mail", "token": "hush-0000"}


def test_are_changed_by_an_edit_that_replaces_them(call: ToolCall, as_person: Caller, shown: Callable[[ToolCall], str]) -> None:
    decided(as_person, call, {**SENT, "token": "new"}, shown)
    call.refresh_from_db()
    assert call.resolution is not None
    assert json.loads(call.resolution.resolved)["token"] == "new"


def test_are_kept_in_lists_too(make_call: CallMaker, as_person: Caller, shown: Callable[[ToolCall], str]) -> None:
    register(make_call.tools, "many", secrets=["keys.*.value"])
    sent = {"keys": [{"name": "a", "value": "hush-1"}, {"name": "b", "value": "hush-2"}]}
    call = make_call.submit("many", sent)
    edited = as_person.get(f"tool-calls/{call.pk}").body["arguments"]["resolved"]
    assert [key["value"] for key in edited["keys"]] == ["••••••"] * 2
    edited["keys"].append({"name": "c", "value": "••••••"})
    edited["keys"][1]["name"] = "B"
    decided(as_person, call, edited, shown)
    call.refresh_from_db()
    assert call.resolution is not None
    kept = json.loads(call.resolution.resolved)["keys"]
    assert [(key["name"], key["value"]) for key in kept] == [("a", "hush-1"), ("B", "hush-2"), ("c", "••••••")]
