"""The lists: what waits, what was, the calls of one run, the tools."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from approvals import lifecycle, resolution
from approvals.clock import now
from approvals.models import Risk, Status, ToolCall, TrailCheck
from approvals.models.vocabulary import WAITS_FOR_PEOPLE
from approvals.review import lists, tool_page
from approvals.review.door import find, person_of, reading

MOST_IN_A_RUN = 500


@reading
def inbox(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    waiting = lists.waiting_for(person)
    page = lists.most_urgent_first(lists.filtered(waiting, request.GET).with_everything(), request.GET)
    context = {
        "page": page,
        "total": waiting.count(),
        "is_filtered": lists.is_filtered(request.GET),
        "elsewhere": lists.approved_and_waiting(person),
        "is_first_visit": ToolCall.objects.visible_to(person).order_by("-pk").values_list("pk").first() is None,
        "risks": Risk.choices,
        "run": lists.wanted(request.GET, "run"),
        "trail_check": TrailCheck.last() if person.is_auditor or person.is_superuser else None,
        **lists.choices(waiting),
    }
    return render(request, "review/inbox.html", context)


@reading
def history(request: HttpRequest) -> HttpResponse:
    visible = ToolCall.objects.visible_to(person_of(request))
    calls = lists.filtered(visible, request.GET).select_related("agent", "resolution").prefetch_related("decisions")
    page = lists.newest_first(calls, request.GET)
    context = {
        "page": replace(page, rows=lifecycle.ended_if_overdue(page.rows, now())),
        "is_filtered": lists.is_filtered(request.GET),
        "risks": Risk.choices,
        "statuses": Status.values,
        "waiting_statuses": WAITS_FOR_PEOPLE,
        **lists.choices(visible),
    }
    return render(request, "review/history.html", context)


@reading
def run(request: HttpRequest, call_id: UUID) -> HttpResponse:
    """All calls of the run that this call belongs to, in the order submitted."""
    call = find(request, call_id)
    if not call.run_id:
        raise Http404
    visible = ToolCall.objects.visible_to(person_of(request)).filter(agent=call.agent, run_id=call.run_id)
    calls = lifecycle.ended_if_overdue(visible.with_everything().order_by("position")[: MOST_IN_A_RUN + 1], now())
    context = {"calls": calls[:MOST_IN_A_RUN], "is_cut": len(calls) > MOST_IN_A_RUN, "call": call}
    return render(request, "review/run.html", context)


@reading
def tools(request: HttpRequest) -> HttpResponse:
    known = [tool_page.ToolEntry(registration) for registration in resolution.registry()]
    return render(request, "review/tools.html", {"tools": sorted(known, key=lambda one: one.name)})
