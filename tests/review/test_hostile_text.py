"""Hostile text in every field that text from outside can reach, on every page that shows it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.test import Client

from approvals import access, lifecycle
from approvals.clock import now
from approvals.lifecycle import Reviewer
from approvals.models import Agent, DecisionKind, Person, Status, ToolCall
from approvals.models.actors import SYSTEM
from approvals.review import tags
from tests.calls import WORKER, CallMaker, finish
from tests.review.browser import assert_harmless, page_of, press, visit
from tests.review.conftest import LogIn
from toolgate import Error, Function, FunctionParam, Interrupt, Ok, Registry
from toolgate.tools.content_part import ContentPart
from toolgate.tools.tool_result import ToolResult

pytestmark = pytest.mark.django_db
TEMPLATES = Path(__file__).parents[2] / "templates"
MARKUP = "<img src=x onerror=hit()>\"'><script>hit()</script><style>*{display:none}</style>{{ 7|add:7 }}</textarea></pre>"
EVIL = f"{MARKUP}\u202e\u200b\U000e0041[x](javascript:hit())"
NAME = "evil<b onmouseover=hit()>\u202e"


def evil(marker: str) -> str:
    return f"{marker} {EVIL}"


def make_tool(tools: Registry) -> None:
    """Its name, descriptions, titles, headline, policy and parser all say something evil."""
    parameter = FunctionParam(NAME, "string", description=evil("parameter"))
    tools.register(
        Function(
            name=NAME,
            description=evil("tool"),
            display_text=evil("display"),
            parameters=[parameter],
            parse_args=lambda arguments: (
                Error(evil("refusal")) if arguments.get("refuse") else {**arguments, "added": evil("added")}
            ),
            function=lambda arguments, context: "done",
            async_=True,
        ),
        groups=(NAME,),
        headline=lambda arguments: evil("headline"),
        version=EVIL[:20],
    )


def arguments() -> dict[str, Any]:
    inner = {evil("inner key"): [evil("item"), {evil("deep key"): evil("deep value")}]}
    pair = {"before": {evil("field"): evil("old")}, "after": {evil("field"): evil("new")}}
    rows = [{"a": evil("cell"), evil("column"): 1}, {"a": 2, evil("column"): 3}]
    return {NAME: evil("value"), evil("key"): inner, "pair": pair, "rows": rows, "long": evil("long") * 40}


def make_everything(make_call: CallMaker, tools: Registry) -> dict[str, ToolCall]:
    make_tool(tools)
    fields: dict[str, Any] = {
        "run_id": evil("run"),
        "agent_reasoning": evil("reasoning"),
        "on_behalf_of": evil("behalf"),
        "context": {evil("context key"): evil("context")},
        "metadata": {"m": evil("metadata")},
    }
    calls = {}
    for name in ("pending", "asking", "failed", "changes"):
        calls[name] = make_call.submit(NAME, arguments(), tool_call_id=evil(name), **fields)
    revised = make_call.decide(calls["changes"], DecisionKind.REQUEST_CHANGES, reason=evil("reason"))
    calls["revision"] = make_call.submit(NAME, {**arguments(), "rows": []}, revises=revised.pk, **fields)
    calls["unknown"] = make_call.submit(evil("unknown")[:200], {}, tool_call_id=evil("unknown"))
    calls["refused"] = make_call.submit(NAME, {"refuse": True})
    schema = {"type": "object", "properties": {evil("answer"): {"enum": [evil("choice"), "b"], "description": evil("told")}}}
    question = Interrupt(evil("question"), {evil("data"): evil("told"), "response_schema": schema})
    calls["asking"] = run(make_call, calls["asking"], Status.INTERRUPTED, question)
    parts = [ContentPart("image_url", evil("image")), ContentPart("text", evil("result"))]
    calls["failed"] = run(make_call, calls["failed"], Status.FAILED, Ok(ToolResult(parts, is_error=True)))
    return calls


def run(make_call: CallMaker, call: ToolCall, status: Status, outcome: Any) -> ToolCall:
    make_call.decide(call, DecisionKind.APPROVE, reason=evil("vote"))
    return finish(lifecycle.claim(call_id=call.pk, worker=WORKER, at=now()), status, outcome)


@pytest.fixture
def villain(db: None) -> Person:
    """A reviewer with an evil name, in a group with one."""
    person = Person.objects.create_user("villain", password="correct horse", first_name=EVIL[:140], last_name=NAME)
    person.groups.add(Group.objects.get_or_create(name=NAME)[0])
    return person


@pytest.fixture
def calls(make_call: CallMaker, tools: Registry, agent: Agent, villain: Person) -> dict[str, ToolCall]:
    agent.name = evil("agent")[:100]
    agent.save()
    make_call.reviewer = Reviewer(villain, "session")
    access.issue_personal_token(person=villain, actor=SYSTEM, at=now(), name=EVIL[:100])
    return make_everything(make_call, tools)


def addresses(calls: dict[str, ToolCall]) -> Iterator[str]:
    query = "q=%3Cscript%3Ehit()%3C/script%3E%22%3E&run=%22%3E%3Cscript%3Ehit()"
    yield from ("/", "/history", f"/?{query}", f"/history?{query}&status=%22%3E%3Cscript%3E", "/tools", "/tokens")
    for call in calls.values():
        yield f"/calls/{call.pk}"
        yield f"/calls/{call.pk}/trail"
    yield f"/calls/{calls['pending'].pk}?view=compare"
    yield f"/calls/{calls['pending'].pk}/run"
    yield f"/calls/{calls['pending'].pk}/edit"


def test_is_harmless_on_every_page(calls: dict[str, ToolCall], villain: Person, log_in: LogIn) -> None:
    client = log_in(villain)
    for address in addresses(calls):
        assert_harmless(visit(client, address))


def test_is_harmless_for_auditors_and_administrators(
    calls: dict[str, ToolCall], auditor: Person, administrator: Person, log_in: LogIn
) -> None:
    for person in (auditor, administrator):
        for address in ("/trail", "/trail?tool=%22%3E%3Cscript%3E&call=%3Cb%3E", f"/calls/{calls['failed'].pk}"):
            assert_harmless(visit(log_in(person), address))


def test_is_all_there_to_be_read(calls: dict[str, ToolCall], villain: Person, log_in: LogIn) -> None:
    client = log_in(villain)
    told = {
        "pending": ["headline", "value", "key", "inner key", "item", "deep key", "deep value", "field", "old", "new", "cell",
                    "column", "long", "added", "parameter", "reasoning", "behalf", "context key", "context", "metadata",
                    "agent"],
        "asking": ["question", "data", "told", "answer", "choice", "vote"],
        "failed": ["image", "result"],
        "changes": ["reason"],
        "refused": ["refusal"],
        "unknown": ["unknown"],
    }  # fmt: skip
    for name, markers in told.items():
        text = visit(client, f"/calls/{calls[name].pk}").text
        for marker in markers:
            assert f"{marker} <img src=x onerror=hit()>\"'><script>" in text, (name, marker)


def test_is_harmless_in_what_a_press_answers(calls: dict[str, ToolCall], villain: Person, log_in: LogIn) -> None:
    client, call, asking = log_in(villain), calls["pending"], calls["asking"]
    page = visit(client, f"/calls/{call.pk}")
    typed = {"own_words": EVIL, "response": EVIL, "read": "yes"}
    assert_harmless(page_of(client.post(f"/calls/{call.pk}/decide", {**typed, "kind": EVIL})))
    assert_harmless(page_of(press(client, page, "/decide", "approve", **{**typed, "digest": EVIL, "kind": "approve"})))
    editor = visit(client, f"/calls/{call.pk}/edit")
    for text in (EVIL, json.dumps({"refuse": True}), json.dumps(arguments())):
        checked = page_of(press(client, editor, "/edit", "check", arguments=text, own_words=EVIL))
        assert_harmless(checked)
    question = visit(client, f"/calls/{asking.pk}")
    assert_harmless(page_of(press(client, question, "/answer", "answer", **{"answer-0": EVIL, "own_words": MARKUP})))
    press(client, page, "/decide", "reject", own_words=EVIL)
    assert_harmless(page_of(press(client, page, "/decide", "approve", read="yes", own_words=EVIL)))
    assert_harmless(visit(client, f"/calls/{call.pk}"))


def test_stays_within_a_message(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    tools.register(Function(name="note", function=lambda a, c: "x"), headline=lambda arguments: evil("headline"))
    call = make_call.submit("note")
    press(ada, visit(ada, f"/calls/{call.pk}"), "/decide", "reject")
    page = visit(ada, "/")
    assert "headline <img" in page.text
    assert_harmless(page)


@pytest.mark.parametrize("template", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_no_template_switches_escaping_off(template: Path) -> None:
    source = template.read_text()
    assert not re.search(r"\|\s*(safe|safeseq)\b|autoescape|\bmark_safe\b", source)
    assert not re.search(r"<script(?! src=)|<style|\son\w+=|\sstyle=", source)


def test_the_filters_are_the_only_way_out() -> None:
    """Whatever the tag library returns as safe went through the escaping of format_html or of `visible`."""
    source = Path(tags.__file__ or "").read_text()
    assert "mark_safe" not in source
