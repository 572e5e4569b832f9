"""Adds each settled call to the totals, once. By the clock, in short transactions.

Summing over all calls would read more with every call there ever was; a counter in each process would forget, and would have
to be added up. A total grows in the transaction that marks the call as counted, so it is exact and never goes back.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from approvals import resolution
from approvals.models import Count, Execution, ToolCall, Total

BATCH = 200
OTHER = "other"  # whatever is not registered: an agent may send any name
BUCKETS = {
    "decide": (1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0),
    "start": (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0),
    "run": (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 60.0, 300.0, 900.0),
}
INFINITE, SUM = "+Inf", "sum"


def tool_label(tool: str) -> str:
    return tool if resolution.registry().get(tool) is not None else OTHER


def tally() -> int:
    """Counts what was settled since the last time; answers how many calls that were."""
    done = 0
    while _uncounted().exists():  # most rounds find nothing, and need no transaction
        done += (counted := _tally_some())
        if counted < BATCH:
            break
    return done


def _uncounted() -> QuerySet[ToolCall]:
    return ToolCall.objects.filter(is_tallied=False, settled_at__isnull=False).order_by("settled_at")


@transaction.atomic
def _tally_some() -> int:
    calls = list(_uncounted().select_for_update(skip_locked=True)[:BATCH])  # two clocks take different ones
    totals: defaultdict[Count, float] = defaultdict(float)
    runs = Execution.objects.filter(call__in=calls).order_by("attempt")
    for call in calls:
        tool = tool_label(call.tool)
        totals[Count("calls", tool, status=call.status, outcome=call.outcome)] += 1
        for measure, seconds in _times(call, [run for run in runs if run.call_id == call.pk]):
            totals[Count(measure, tool, bucket=bucket(measure, seconds))] += 1
            totals[Count(measure, tool, bucket=SUM)] += seconds
    Total.add(totals)
    ToolCall.objects.filter(pk__in=[call.pk for call in calls]).update(is_tallied=True)
    return len(calls)


def _times(call: ToolCall, runs: list[Execution]) -> Iterator[tuple[str, float]]:
    """How long people took, how long it then took to begin, and how long each run took."""
    if call.decided_at:
        yield "decide", _seconds(call.submitted_at, call.decided_at)
    free_at = call.decided_at or call.submitted_at
    if first := next((run for run in runs if run.started_at >= free_at), None):
        yield "start", _seconds(free_at, first.started_at)
    for run in runs:
        if run.ended_at:
            yield "run", _seconds(run.started_at, run.ended_at)


def _seconds(start: datetime, end: datetime) -> float:
    return max(0.0, (end - start).total_seconds())


def bucket(measure: str, seconds: float) -> str:
    """The smallest upper bound that holds it."""
    bounds = BUCKETS[measure]
    place = bisect_left(bounds, seconds)
    return str(bounds[place]) if place < len(bounds) else INFINITE
