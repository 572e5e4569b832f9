"""Which calls and events a list shows: who may see them, the filters in the address, and one page after another by key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict

from approvals import resolution
from approvals.models import Decision, Person, Status, ToolCall, ToolCallQuerySet

PAGE = 50
MOST_CHOICES = 200
MOST_COUNTED = 2000
_EXACT = {"tool": "tool", "agent": "agent_name", "risk": "risk", "run": "run_id", "status": "status"}


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows in order; `following` is the address of the next page, empty when these are the last."""

    rows: list[Any]
    following: str = ""


def wanted(asked: QueryDict, name: str) -> str:
    """One filter of the address. No stored text has a NUL, and PostgreSQL does not want to hear of one."""
    return asked.get(name, "").replace("\x00", "")


def waiting_for(person: Person) -> ToolCallQuerySet:
    """What waits for this very person: in a group of theirs or anybody's, and not yet approved by them."""
    waiting = ToolCall.objects.waiting_for(person)
    if person.is_auditor and not person.is_superuser:
        return waiting
    theirs = ToolCall.reviewer_groups.through.objects.filter(group__in=person.groups.all()).values("toolcall_id")
    mine = waiting.filter(Q(is_restricted=False) | Q(pk__in=theirs))
    return mine.exclude(_voted(person), status=Status.PENDING)


def approved_and_waiting(person: Person) -> int:
    """How many calls this person approved that still wait for others."""
    return ToolCall.objects.filter(_voted(person), status=Status.PENDING).count()


def _voted(person: Person) -> Exists:
    votes = Decision.objects.filter(call=OuterRef("pk"), person=person, counts=True, review_round=OuterRef("review_round"))
    return Exists(votes)


def filtered(calls: ToolCallQuerySet, asked: QueryDict) -> ToolCallQuerySet:
    calls = calls.filter(**{column: value for name, column in _EXACT.items() if (value := wanted(asked, name))})
    return calls.filter(_holding(text)) if (text := wanted(asked, "q")) else calls


def _holding(text: str) -> Q:
    """Where a text may stand. Arguments of tools with secrets are not searched: searching would tell what they hold."""
    secretive = [one.function.name for one in resolution.registry() if one.secrets]
    in_arguments = Q(submitted__icontains=text) | Q(resolution__resolved__icontains=text)
    plain = ("run_id", "resolution__headline", "tool_call_id", "tool", "agent_reasoning", "on_behalf_of", "display_text")
    found = in_arguments & ~Q(tool__in=secretive)
    if (call_id := _uuid(text.strip())) is not None:
        found |= Q(pk=call_id)
    for column in plain:
        found |= Q(**{f"{column}__icontains": text})
    return found


def is_filtered(asked: QueryDict) -> bool:
    return any(wanted(asked, name) for name in (*_EXACT, "q"))


def choices(calls: ToolCallQuerySet) -> dict[str, Any]:
    """What the filters offer: the tools and agents of the newest calls, with their numbers where these are all there are.

    Of the newest, because counting every call there ever was would read them all for each page.
    """
    newest = list(calls.order_by("-pk").values_list("tool", "agent_name")[: MOST_COUNTED + 1])
    tools, agents = (Counter(column) for column in zip(*newest, strict=True)) if newest else (Counter(), Counter())
    is_cut = len(newest) > MOST_COUNTED
    return {"tools": _offered(tools, is_cut), "agents": _offered(agents, is_cut)}


def _offered(names: Counter[str], is_cut: bool) -> list[tuple[str, int | None]]:
    return [(name, None if is_cut else number) for name, number in sorted(names.items())[:MOST_CHOICES]]


# --- pages -------------------------------------------------------------------------------------------------------------


def newest_first(rows: QuerySet[Any, Any], asked: QueryDict) -> Page:
    """A page of what sorts by its id, from the row after the one that the address names."""
    if after := _uuid(wanted(asked, "after")):
        rows = rows.filter(pk__lt=after)
    return _page(rows.order_by("-pk"), asked, lambda row: str(row.pk))


def most_urgent_first(calls: ToolCallQuerySet, asked: QueryDict) -> Page:
    """A page of the inbox; the address carries all three values by which the last row is ordered."""
    ranked = calls.by_urgency()
    if (place := _Place.read(wanted(asked, "after"))) is not None:
        ranked = ranked.filter(place.beyond())
    return _page(ranked, asked, lambda call: str(_Place(call.urgent_at, call.rank, call.pk)))


def _page(rows: QuerySet[Any, Any], asked: QueryDict, key: Any) -> Page:
    found = list(rows[: PAGE + 1])
    return Page(found[:PAGE], address(asked, after=key(found[PAGE - 1])) if len(found) > PAGE else "")


def address(asked: QueryDict, **changes: str) -> str:
    """The filters as they stand, with other values for some."""
    kept = asked.copy()
    for name, value in changes.items():
        kept[name] = value
    return f"?{kept.urlencode()}"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in the inbox a row stands."""

    urgent_at: datetime
    rank: int
    pk: UUID

    def __str__(self) -> str:
        return f"{self.urgent_at.isoformat()}~{self.rank}~{self.pk}"

    @classmethod
    def read(cls, text: str) -> _Place | None:
        try:
            urgent_at, rank, pk = text.split("~")
            moment = datetime.fromisoformat(urgent_at)
            return cls(moment, int(rank), UUID(pk)) if moment.tzinfo and int(rank) in range(3) else None
        except ValueError:
            return None

    def beyond(self) -> Q:
        later = Q(rank__gt=self.rank) | Q(rank=self.rank, id__gt=self.pk)
        return Q(urgent_at__gt=self.urgent_at) | (Q(urgent_at=self.urgent_at) & later)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
