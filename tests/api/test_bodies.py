"""Request bodies: read strictly, refused with a sentence and a place, and nothing is stored."""

from __future__ import annotations

from typing import Any

import pytest

from approvals.models import ToolCall
from tests.api.conftest import API, Caller
from tests.calls import Deployment, register

pytestmark = pytest.mark.django_db

HEAD = b'{"tool": "tool", "tool_call_id": "1", '
MALFORMED = [
    (b"{", "line 1 column 2"),
    (b"", ""),
    (b"nonsense", "valid JSON"),
    (HEAD + b'"tool": "other"}', '"tool" appears twice'),
    (HEAD + b'"t\\u006fol": "other"}', '"tool" appears twice'),
    (HEAD + b'"context": {"a": 1, "a": 1}}', '"a" appears twice'),
    (HEAD + b'"arguments": {"a": NaN}}', "NaN"),
    (HEAD + b'"arguments": {"a": -Infinity}}', "-Infinity"),
    (HEAD + b'"arguments": {"a": 1e400}}', "out of range"),
    (HEAD + b'"arguments": {"a": ' + b"1" * 5000 + b"}}", "4300 digits"),
    (HEAD + b'"arguments": {"a": "\\ud83d"}}', "incomplete character"),
    (HEAD + b'"arguments": {"a\\u0000": 1}}', "NUL"),
    (HEAD + b'"agent_reasoning": "a\\u0000b"}', "NUL"),
    (HEAD + b'"arguments": {"a": "\xff"}}', "UTF-8"),
    (HEAD + b'"arguments": ' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
    (HEAD + b'"context": ' + b'{"a":' * 5000 + b"1" + b"}" * 5001, "nested too deeply"),
    (b"\xef\xbb\xbf{}", "valid JSON"),
]


@pytest.fixture(autouse=True)
def _tool(tools: Deployment) -> None:
    register(tools)


@pytest.mark.parametrize(("body", "words"), MALFORMED, ids=lambda value: str(value)[:40])
def test_that_cannot_be_read_without_doubt_are_refused(body: bytes, words: str, as_agent: Caller) -> None:
    answered = as_agent.post("tool-calls", body)
    expected = (400, "malformed") if body else (422, "invalid_request")
    assert (answered.status, answered.problem) == expected
    assert words in answered.body["detail"]
    assert ToolCall.objects.count() == 0


@pytest.mark.parametrize("body", [b"[]", b"1", b'"text"', b"null", b"true"])
@pytest.mark.parametrize("path", ["tool-calls", "tool-calls/batch"])
def test_that_are_no_object_are_refused(path: str, body: bytes, as_agent: Caller) -> None:
    answered = as_agent.post(path, body)
    assert (answered.status, answered.problem) == (422, "invalid_request")
    assert "must be a JSON object" in answered.body["detail"]


def test_that_are_too_large_are_refused(as_agent: Caller, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    answered = as_agent.post("tool-calls", HEAD + b'"agent_reasoning": "' + b"x" * 1000 + b'"}')
    assert (answered.status, answered.problem) == (413, "too_large")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_of_another_kind_are_refused(kind: str, as_agent: Caller) -> None:
    response = as_agent.client.post(f"{API}/tool-calls", b"{}", content_type=kind, headers=as_agent.headers)
    assert response.status_code == 415
    assert response.json()["code"] == "unsupported_media_type"


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON"])
def test_of_json_by_another_spelling_are_read(kind: str, as_agent: Caller) -> None:
    body = HEAD + b'"arguments": {}}'
    response = as_agent.client.post(f"{API}/tool-calls", body, content_type=kind, headers=as_agent.headers)
    assert response.status_code == 201


def test_answers_are_json_whatever_is_asked_for(as_agent: Caller) -> None:
    answered = as_agent.get("tools", Accept="text/html")
    assert (answered.status, answered.headers["content-type"]) == (200, "application/json")
