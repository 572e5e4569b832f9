"""The trail: of one call for those who may see it, of everything for auditors and administrators. A look is an event, too."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from approvals import audit
from approvals.clock import now
from approvals.models import Administration, AuditEvent, EventKind, Person
from approvals.models.actors import Actor
from approvals.review import lists
from approvals.review.call_page import call_page
from approvals.review.door import find, person_of, reading

_COLUMNS = {"kind": "kind", "tool": "tool", "actor": "actor_name__icontains", "call": "chain"}


@reading
def trail_of_call(request: HttpRequest, call_id: UUID) -> HttpResponse:
    page = call_page(find(request, call_id), person_of(request))
    _note_the_look(page.person, {"call": str(call_id)})
    return render(request, "review/trail_of_call.html", {"page": page, "call": page.call})


@reading
def trail(request: HttpRequest) -> HttpResponse:
    person = person_of(request)
    if not (person.is_auditor or person.is_superuser):
        raise Http404
    filters = {name: value for name in _COLUMNS if (value := lists.wanted(request.GET, name).strip())}
    if not request.GET.get("after"):
        _note_the_look(person, {name: value[:200] for name, value in filters.items()})
    events = AuditEvent.objects.filter(**{_COLUMNS[name]: value for name, value in filters.items()})
    context = {
        "page": lists.newest_first(events, request.GET),
        "kinds": EventKind.values,
        "is_filtered": bool(filters),
        "administration": Administration.NAME,
        "verification": audit.verify_chain(filters.get("call") or Administration.NAME),
    }
    return render(request, "review/trail.html", context)


def _note_the_look(person: Person, filters: dict[str, str]) -> None:
    actor = Actor.person(person, "session")
    audit.record_administration(EventKind.TRAIL_READ, at=now(), actor=actor, data={"filters": filters})
