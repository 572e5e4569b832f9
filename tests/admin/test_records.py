"""Calls, decisions, executions and the trail: there to be looked at, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client

from approvals.models import AuditEvent, Decision, Execution, Interrupt, PersonalToken, Resolution, Status, ToolCall
from tests.calls import CallMaker, Deployment, register
from tests.review.browser import visit

pytestmark = pytest.mark.django_db
RECORDS = [ToolCall, Decision, Execution, Resolution, Interrupt, AuditEvent]


def address(model: Any) -> str:
    return f"/admin/approvals/{model._meta.model_name}/"


@pytest.fixture
def call(make_call: CallMaker, tools: Deployment) -> ToolCall:
    register(tools, "rotate", secrets=("key",))
    make_call.submit("rotate\u202e<b>", {"key": "demo-token-0000"})
    make_call.submit("rotate", {"key": "demo-token-0000"})
    return make_call(Status.INTERRUPTED)


@pytest.mark.parametrize("model", RECORDS)
def test_is_shown_in_a_list_and_row_by_row(root: Client, call: ToolCall, model: Any) -> None:
    page = visit(root, address(model))
    assert page.status == 200
    assert "/add/" not in page.source.replace("/admin/approvals/agent/add/", "").replace("person/add/", "").replace(
        "group/add/", ""
    )
    for row in model.objects.all():
        page = visit(root, f"{address(model)}{row.pk}/change/")
        assert page.status == 200
        assert not [tag for tag, facts in page.tags if facts.get("name") in ("_save", "_continue", "_addanother")]
        assert "demo-token" not in page.source
        assert "\u202e" not in page.source


@pytest.mark.parametrize("model", [*RECORDS, PersonalToken])
def test_is_never_added_changed_or_deleted(root: Client, call: ToolCall, model: Any) -> None:
    before = list(model.objects.order_by("pk").values())
    assert root.post(f"{address(model)}add/", {"status": "approved"}).status_code == 403
    for row in model.objects.all()[:2]:
        assert root.post(f"{address(model)}{row.pk}/change/", {"status": "approved"}).status_code == 403
        assert root.post(f"{address(model)}{row.pk}/delete/", {"post": "yes"}).status_code == 403
    sent = {"action": "delete_selected", "_selected_action": [row.pk for row in model.objects.all()], "post": "yes"}
    root.post(address(model), sent)
    assert list(model.objects.order_by("pk").values()) == before


def test_leads_to_the_page_of_the_call(root: Client, call: ToolCall) -> None:
    assert f"/calls/{call.pk}" in visit(root, address(ToolCall)).links


def test_searches_and_filters(root: Client, call: ToolCall) -> None:
    assert "0 tool calls" in visit(root, f"{address(ToolCall)}?q=nothing").text
    assert "1 audit event" in visit(root, f"{address(AuditEvent)}?kind=interrupted").text


def test_nothing_else_of_the_gate_is_administered() -> None:
    shown = {model.__name__ for model in admin.site._registry if model._meta.app_label == "approvals"}
    assert shown == {"Person", "Agent", "PersonalToken", *(model.__name__ for model in RECORDS)}
    assert {model.__name__ for model in apps.get_app_config("approvals").get_models()} >= shown
