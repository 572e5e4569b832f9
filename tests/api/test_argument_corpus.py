"""Every row of the corpus of argument inputs gets its expected answer over HTTP, as text and as raw JSON."""

from __future__ import annotations

import base64
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from approvals.models import Status, ToolCall
from tests.api.conftest import Answer, Caller
from tests.calls import Deployment, answer
from toolgate import Function
from toolgate.tools.parsers import json_schema_parser

pytestmark = pytest.mark.django_db

CORPUS = json.loads((Path(__file__).parent.parent / "cases" / "argument-corpus.json").read_text())
ROWS = {row["id"]: row for row in CORPUS["inputs"]}
ALONE = [row for row in ROWS.values() if not row["name"].startswith(("id_pair", "key_"))]
IN_ORDER = [row for row in ROWS.values() if row["name"].startswith(("id_pair", "key_"))]

# Where the corpus leaves the choice open, and ours is not the one it names first.
OUR_CHOICE = {
    "A005": "refused", "A016": "refused", "A017": "refused", "A025": "refused", "A032": "refused", "A037": "refused",
    "A040": "refused", "A128": "refused", "A227": "refused",
    "A217": "accepted", "A236": "refused",
}  # fmt: skip

# What the answer to each refused row must say: the words of `error_must_say` that carry it.
MUST_SAY: dict[str, tuple[str, ...]] = {
    "A005": ("object", "text was sent"),
    "A007": ("unknown field", "dummy"),
    "A008": ("amount", "currency", "payee", "missing"),
    "A010": ("amount", "currency", "payee", "missing"),
    "A013": ("amount must be a number", "null was sent"),
    "A014": ("payee must not be empty",),
    "A016": ("memo", "null was sent"),
    "A017": ("urgent", "null was sent"),
    "A019": ("pinned must be true, false or null", "text was sent"),
    "A020": ("level must be low, mid, high or null",),
    "A025": ("must be a JSON object", "text was sent"),
    "A026": ("must be a JSON object", "more than once"),
    "A028": ("tags must be a list",),
    "A029": ("tags must be a list",),
    "A031": ("tags must be a list", "an object was sent"),
    "A032": ("lines must be a list", "text was sent"),
    "A037": ("amount must be a number", "text was sent"),
    "A038": ("amount must be a number",),
    "A040": ("urgent must be true or false",),
    "A041": ("urgent must be true or false",),
    "A043": ("urgent must be true or false",),
    "A044": ("record_id must be an integer",),
    "A046": ("unknown field", "input"),
    "A047": ("record_id is missing", "unknown field"),
    "A049": ("unknown field", "reasoning"),
    "A050": ("unknown field", "Record_ID", "record_id is missing"),
    "A052": ("valid JSON", "line 1 column"),
    "A053": ("text after the end of the JSON value",),
    "A055": ("text after the end of the JSON value",),
    "A056": ("valid JSON",),
    "A058": ("valid JSON",),
    "A059": ("valid JSON",),
    "A061": ("valid JSON", "JSON only"),
    "A062": ("valid JSON",),
    "A064": ("control character", "inside a string"),
    "A065": ("unknown escape",),
    "A068": ("must be a JSON object",),
    "A070": ("must be a JSON object",),
    "A071": ("valid JSON",),
    "A073": ("not valid UTF-8",),
    "A074": ("not valid UTF-8",),
    "A076": ("not valid UTF-8",),
    "A083": ("record_id must be an integer",),
    "A088": ("amount must be above 0",),
    "A089": ("amount must be above 0",),
    "A091": ("NaN is not allowed",),
    "A092": ("Infinity is not allowed",),
    "A094": ("number out of range",),
    "A095": ("number out of range",),
    "A097": ("amount must be a number",),
    "A098": ("valid JSON",),
    "A100": ("valid JSON",),
    "A101": ("valid JSON",),
    "A103": ("record_id must be an integer",),
    "A104": ("amount must be a number",),
    "A106": ("field name", "contains a NUL character"),
    "A109": ("incomplete character", "body"),
    "A110": ("incomplete character", "body"),
    "A128": ("url", "mixed scripts"),
    "A131": ("currency must be EUR, USD or GBP", "<U+0415>UR"),
    "A158": ("amount", "appears twice"),
    "A160": ("qty", "appears twice", "lines[0]"),
    "A161": ("record_id", "appears twice"),
    "A163": ("tool", "appears twice"),
    "A170": ("unknown field", "as_user"),
    "A172": ("currency must be EUR, USD or GBP", '"EUR "'),
    "A173": ("fields item 2 must be name, status or owner",),
    "A175": ("lines item 2 must be an object",),
    "A176": ("lines[0].sku", "lines[0].qty"),
    "A178": ("root.children[0].children[0]",),
    "A181": ("url", "must start with http or https"),
    "A185": ("at must be a date with a time and an offset",),
    "A187": ("at must be a date",),
    "A190": ("at must be a date with a time",),
    "A191": ("at must be", "ISO form"),
    "A193": ("at must be", "ISO form"),
    "A196": ("nested too deeply", "100"),
    "A197": ("nested too deeply",),
    "A199": ("nested too deeply",),
    "A218": ("already used with other content", "unchanged"),
    "A220": ("already used with other content",),
    "A221": ("already used with other content",),
    "A223": ("must not be blank",),
    "A224": ("must be text",),
    "A227": ("tool_call_id is missing",),
    "A230": ("Ping", "not found"),
    "A232": ("<U+0440>ing", "not found"),
    "A233": ("functions.ping", "not found"),
    "A235": ("__class__", "not found"),
    "A236": ("approved", "status", "decided_by", "unknown field"),
    "A239": ("valid JSON", "line 1 column"),
}


@pytest.fixture(autouse=True)
def _reference_tools(tools: Deployment) -> None:
    for name, schema in CORPUS["schemas"].items():
        parser = json_schema_parser(schema)
        tools.register(Function(name=name, parameters_schema=schema, parse_args=parser, function=answer))


def text_of(row: dict[str, Any]) -> str:
    text: str = row["text"]
    for mark, expansion in row.get("expand", {}).items():
        text = text.replace(mark, expansion["repeat"] * expansion["times"])
    return text


def envelope(row: dict[str, Any], arguments: bytes) -> bytes:
    head = json.dumps({"tool": row["schema"], "tool_call_id": f"call {row['id']}"}).encode()
    return head[:-1] + b', "arguments": ' + arguments + b"}"


def as_text(row: dict[str, Any]) -> bytes:
    """The arguments as JSON text, in a string."""
    if "bytes_base64" in row:
        raw = base64.b64decode(row["bytes_base64"])
        return envelope(row, b'"' + raw.replace(b'"', b'\\"') + b'"')
    return envelope(row, json.dumps(text_of(row)).encode())


def as_raw(row: dict[str, Any]) -> bytes:
    """The arguments spliced into the body as they are."""
    raw = base64.b64decode(row["bytes_base64"]) if "bytes_base64" in row else text_of(row).encode()
    return envelope(row, raw)


def as_body(row: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
    """A whole body with our names; a key that is text goes into its header."""
    body, headers = row["text"].replace('"call_id"', '"tool_call_id"').replace('"function"', '"tool"'), {}
    if found := re.match(r'\{"key": "([^"]*)", ', body):
        body, headers = body.replace(found[0], "{", 1), {"Idempotency-Key": found[1]}
    return body.replace('"key"', '"idempotency_key"').encode(), headers


def was_refused(answered: Answer) -> str:
    """What a refusal says; empty for a call that is stored and waits for people."""
    if answered.status >= 400:
        assert 400 <= answered.status < 500
        assert answered.problem
        return str(answered.body["detail"])
    assert answered.status in (200, 201)
    if answered.body["status"] == "invalid":
        return str(answered.body["result"]["content"][0]["content"])
    assert answered.body["status"] == "pending"
    return ""


def check(row: dict[str, Any], answered: Answer, *, in_words: bool = True) -> bool:
    """Whether it was accepted; fails when that, or what a refusal says, is not as the corpus wants."""
    expected = OUR_CHOICE.get(row["id"], row["expected"])
    assert expected == row["expected"] or row.get("either_ok"), "a choice that is not ours"
    said = was_refused(answered)
    assert bool(said) == (expected == "refused"), (answered.status, answered.text[:2000])
    if said:
        assert not ToolCall.objects.filter(status=Status.PENDING, tool_call_id=f"call {row['id']}").exists()
        if in_words:
            assert [words for words in MUST_SAY[row["id"]] if words not in said] == [], said
    return not said


def exactly(answered: Answer) -> Any:
    return json.loads(answered.text, parse_float=Decimal)


def resolved_value(row: dict[str, Any]) -> Any:
    text = text_of(row).strip()
    value = json.loads(text, parse_float=Decimal) if text else {}
    if row["id"] == "A082":
        return {"record_id": 41}
    return {**value, "token": "••••••"} if row["id"] == "A206" else value


@pytest.mark.parametrize("row", [row for row in ALONE if row["envelope"] == "arguments"], ids=lambda row: row["id"])
class TestArguments:
    def test_are_answered_as_text(self, row: dict[str, Any], as_agent: Caller) -> None:
        answered = as_agent.post("tool-calls", as_text(row))
        if check(row, answered):
            read = exactly(answered)["arguments"]
            assert read["submitted"] == text_of(row)
            assert read["resolved"] == resolved_value(row)
            assert ToolCall.objects.get().submitted == json.dumps(text_of(row))

    def test_are_answered_as_raw_json(self, row: dict[str, Any], as_agent: Caller) -> None:
        if row["json_form"] == "malformed" and row["expected"] == "accepted":
            assert as_agent.post("tool-calls", as_raw(row)).problem == "malformed"  # nothing stands where a value must
            return
        answered = as_agent.post("tool-calls", as_raw(row))
        if row["json_form"] != "valid" or row["id"] in ("A094", "A095", "A106", "A109", "A110"):
            assert answered.problem == "malformed"
            assert ToolCall.objects.count() == 0
        is_double_encoded = row["id"] == "A025"
        if is_double_encoded:
            row = {**row, "expected": "accepted", "either_ok": False, "id": "A025 once"}
        if row["id"] == "A005":
            row = {**row, "id": "A005 once"}
        if check(row, answered, in_words=row["json_form"] == "valid"):
            read = exactly(answered)["arguments"]
            assert text_of(row) in answered.text
            assert read["submitted"] == json.loads(text_of(row), parse_float=Decimal)
            if isinstance(read["submitted"], dict):
                assert read["resolved"] == resolved_value(row)

    def test_get_the_same_answer_every_time(self, row: dict[str, Any], as_agent: Caller, as_other_agent: Caller) -> None:
        answers = [caller.post("tool-calls", as_text(row)) for caller in (as_agent, as_other_agent)]
        assert answers[0].status == answers[1].status
        assert was_refused(answers[0]) == was_refused(answers[1])
        if answers[0].status == 201:
            assert answers[0].body["digest"] == answers[1].body["digest"]


@pytest.mark.parametrize("row", [row for row in ALONE if row["envelope"] == "body"], ids=lambda row: row["id"])
def test_whole_bodies_are_answered(row: dict[str, Any], as_agent: Caller) -> None:
    body, headers = as_body(row)
    answered = as_agent.post("tool-calls", body, **headers)
    if check(row, answered):
        assert exactly(answered)["arguments"]["resolved"] == ({"record_id": 41} if row["schema"] == "lookup" else {})


def test_rows_about_keys_are_answered_in_order_by_one_agent(as_agent: Caller) -> None:
    stored: dict[str, Any] = {}
    for row in IN_ORDER:
        if row["envelope"] == "arguments":
            assert check(row, as_agent.post("tool-calls", as_raw(row)))
            continue
        body, headers = as_body(row)
        before = ToolCall.objects.count()
        answered = as_agent.post("tool-calls", body, **headers)
        if check(row, answered):
            stored[row["id"]] = answered.body["id"]
            assert ToolCall.objects.count() == before + (answered.status == 201)
        else:
            assert ToolCall.objects.count() == before
    assert stored["A217"] == stored["A215"]  # 5.0 is 5: one rule, by value
    assert len(set(stored.values())) == 3  # two keys of A214 and A215, and their twin in capitals
    first = ToolCall.objects.get(pk=stored["A215"])
    assert json.loads(first.submitted)["amount"] == 5


def test_a_replay_answers_the_first_call(as_agent: Caller) -> None:
    body, headers = as_body(ROWS["A215"])
    first, again = (as_agent.post("tool-calls", body, **headers) for _ in range(2))
    assert (first.status, again.status) == (201, 200)
    assert again.headers["idempotent-replayed"] == "true"
    assert first.body["id"] == again.body["id"]
    assert ToolCall.objects.count() == 1


def test_a_key_may_be_used_again_after_a_refusal(as_agent: Caller) -> None:
    body, headers = as_body(ROWS["A239"])
    assert as_agent.post("tool-calls", body, **headers).body["status"] == "invalid"
    corrected = body.replace(b': 4\\"}', b": 4}").replace(b': 4"', b': 4}"')
    answered = as_agent.post("tool-calls", corrected, **headers)
    assert (answered.status, answered.body["status"]) == (201, "pending")


SAME = [
    ("note", '{"title": "t", "body": "\U0001f680"}', '{"title": "t", "body": "\\ud83d\\ude80"}'),
    ("note", '{"body": "b", "title": "t"}', '{"title": "t", "body": "b"}'),
    ("transfer", '{"amount": 12.50, "currency": "EUR", "payee": "R"}', '{"amount": 12.5, "currency": "EUR", "payee": "R"}'),
    ("lookup", '{"record_id": 41}', json.dumps('{"record_id": 41}')),
    ("lookup", '{"record_id": 41}', '{"record_id": 41.0}'),
]
DIFFERENT = [
    ("filter", '{"where": "{\\"status\\": \\"open\\"}"}', '{"where": {"status": "open"}}'),
    ("note", '{"title": "a\\u200b", "body": "b"}', '{"title": "a", "body": "b"}'),
    ("free", '{"café": 1, "cafe\u0301": 2}', '{"café": 2, "cafe\u0301": 1}'),
    ("lookup", '{"record_id": 9007199254740993}', '{"record_id": 9007199254740992}'),
    ("note", '{"title": "t ", "body": "b"}', '{"title": "t", "body": "b"}'),
]


def digest_of(caller: Caller, tool: str, arguments: str) -> str:
    body = json.dumps({"tool": tool, "tool_call_id": arguments[:200]})[:-1] + f', "arguments": {arguments}}}'
    answered = caller.post("tool-calls", body.encode())
    assert answered.body["status"] == "pending", answered.body
    return str(answered.body["digest"])


@pytest.mark.parametrize(("tool", "one", "other"), SAME)
def test_the_same_meaning_has_the_same_digest(tool: str, one: str, other: str, as_agent: Caller) -> None:
    assert digest_of(as_agent, tool, one) == digest_of(as_agent, tool, other)


@pytest.mark.parametrize(("tool", "one", "other"), DIFFERENT)
def test_another_meaning_has_another_digest(tool: str, one: str, other: str, as_agent: Caller) -> None:
    assert digest_of(as_agent, tool, one) != digest_of(as_agent, tool, other)


def test_every_refused_row_says_something_that_is_checked() -> None:
    refused = {row["id"] for row in ROWS.values() if OUR_CHOICE.get(row["id"], row["expected"]) == "refused"}
    assert refused == MUST_SAY.keys()
