"""What may be asked for in an address: filters of the lists, read as strictly as a body."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

import django_filters  # type: ignore[import-untyped] # it has no stubs
from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Q, QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from approvals.api.problems import Problem, invalid
from approvals.models import AuditEvent, EventKind, Risk, Status, ToolCall
from toolgate.tools.diagnostics import quote

Rows = TypeVar("Rows", bound=QuerySet[Any])
PAGE = frozenset({"cursor", "limit"})
_PLUS_LOST = re.compile(r" (\d\d:\d\d)$")


class InstantField(forms.CharField):
    """An ISO 8601 date with time and offset. A `+` that the address turned into a blank is understood."""

    def clean(self, value: Any) -> Any:
        text = super().clean(value)
        if not text:
            return None
        try:
            instant = datetime.fromisoformat(_PLUS_LOST.sub(r"+\1", text))
            if instant.tzinfo is not None:
                return instant.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        raise ValidationError("must be a date with time and offset, such as 2031-03-14T09:30:00Z")


class InstantFilter(django_filters.Filter):  # type: ignore[misc] # the library is not typed
    field_class = InstantField


class CallFilter(django_filters.FilterSet):  # type: ignore[misc] # the library is not typed
    status = django_filters.MultipleChoiceFilter(choices=Status.choices)
    tool = django_filters.CharFilter()
    run_id = django_filters.CharFilter()
    tool_call_id = django_filters.CharFilter()
    submitted_after = InstantFilter(field_name="submitted_at", lookup_expr="gt")
    submitted_before = InstantFilter(field_name="submitted_at", lookup_expr="lt")

    class Meta:
        model = ToolCall
        fields = ("status", "tool", "run_id", "tool_call_id")


class InboxFilter(django_filters.FilterSet):  # type: ignore[misc] # the library is not typed
    status = django_filters.MultipleChoiceFilter(choices=Status.choices)
    tool = django_filters.CharFilter()
    agent = django_filters.CharFilter(field_name="agent_name")
    risk = django_filters.MultipleChoiceFilter(choices=Risk.choices)

    class Meta:
        model = ToolCall
        fields = ("status", "tool", "risk")


class EventFilter(django_filters.FilterSet):  # type: ignore[misc] # the library is not typed
    tool_call = django_filters.UUIDFilter(method="of_call")
    actor = django_filters.CharFilter(method="by_actor")
    kind = django_filters.MultipleChoiceFilter(choices=EventKind.choices)
    tool = django_filters.CharFilter()
    after = InstantFilter(field_name="at", lookup_expr="gt")
    before = InstantFilter(field_name="at", lookup_expr="lt")

    class Meta:
        model = AuditEvent
        fields = ("kind", "tool")

    def of_call(self, events: QuerySet[AuditEvent], name: str, value: Any) -> QuerySet[AuditEvent]:
        return events.filter(chain=str(value))

    def by_actor(self, events: QuerySet[AuditEvent], name: str, value: str) -> QuerySet[AuditEvent]:
        return events.filter(Q(actor_id=value) | Q(actor_name=value))


def chosen(request: Request, rows: Rows, by: type[Any]) -> Rows:
    """The rows that the address asks for. An unknown filter is refused: it would silently choose everything."""
    require_known(request, {*by.base_filters, *PAGE})
    filters = by(request.query_params, rows)
    if not filters.is_valid():
        errors = [{"field": name, "message": str(found[0])} for name, found in filters.errors.items()]
        detail = "; ".join(f"{one['field']}: {one['message']}" for one in errors)
        raise Problem("invalid_request", detail, field=errors[0]["field"], errors=errors)
    found: Rows = filters.qs
    return found


def require_known(request: Request, known: Collection[str]) -> None:
    for name in request.query_params:
        if name not in known:
            detail = f"is an unknown query parameter: {quote(name)}. Known: {', '.join(sorted(known)) or 'none'}"
            raise invalid(name[:100], detail)


def parameters(names: Iterable[str], **choices: Iterable[str]) -> list[OpenApiParameter]:
    """How the filters stand in the OpenAPI file: `choices` may be given several times."""
    plain = [OpenApiParameter(name, str) for name in names]
    several = [OpenApiParameter(name, str, many=True, enum=list(values)) for name, values in choices.items()]
    page = [
        OpenApiParameter("cursor", str, description="From `next` of the page before."),
        OpenApiParameter("limit", int, description="At most 200; 50 if left out."),
    ]
    return [*several, *plain, *page]
