"""The text that Prometheus reads. Everything is asked of the database, with few queries, at most every few seconds."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime

from django.conf import settings
from django.db import OperationalError
from django.db.models import Count as CountOf
from django.db.models import Min
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from approvals import clock
from approvals.metrics.tally import BUCKETS, INFINITE, SUM, tool_label
from approvals.models import OPEN, WAITS_FOR_PEOPLE, Execution, Status, Sweep, ToolCall, Total, TrailCheck

CONTENT_TYPE = CONTENT_TYPE_LATEST
PATIENCE = 5.0  # seconds to wait for somebody else who is asking the database

_lock = threading.Lock()
_kept: tuple[float, bytes] = (0.0, b"")


def read() -> bytes:
    """Raises OperationalError when the database does not answer whoever asked first."""
    global _kept
    if not _lock.acquire(timeout=PATIENCE):
        raise OperationalError("the metrics are being read, and the database does not answer")
    try:
        read_at, text = _kept
        if not text or time.monotonic() - read_at >= settings.METRICS_KEPT_FOR.total_seconds():
            registry = CollectorRegistry()
            registry.register(_Gate())
            text = generate_latest(registry)
            _kept = (time.monotonic(), text)
        return text
    finally:
        _lock.release()


class _Gate(Collector):
    def describe(self) -> list[Metric]:
        return []  # or registering it would read everything once more

    def collect(self) -> Iterator[Metric]:
        at = clock.now()
        yield from _calls(at)
        yield from _totals()
        yield from _leases(at)
        yield from _clock(at)
        yield from _trail()


def _calls(at: datetime) -> Iterator[Metric]:
    """Calls that are not settled: one query that reads those and no others."""
    found = ToolCall.objects.filter(status__in=sorted(OPEN)).order_by().values_list("tool", "status")
    numbers: dict[tuple[str, str], int] = defaultdict(int)
    oldest: dict[str, datetime] = {}
    for tool, status, number, since in found.annotate(CountOf("pk"), Min("submitted_at")):
        label = tool_label(tool)
        numbers[label, status] += number
        if status in WAITS_FOR_PEOPLE:
            oldest[label] = min(since, oldest.get(label, since))
    calls = GaugeMetricFamily("toolgate_open_calls", "Calls that are not settled.", labels=("tool", "status"))
    for labels, number in sorted(numbers.items()):
        calls.add_metric(labels, number)
    waiting = GaugeMetricFamily(
        "toolgate_waiting_oldest_seconds", "Age of the oldest call that waits for people.", labels=("tool",)
    )
    for label, since in sorted(oldest.items()):
        waiting.add_metric((label,), (at - since).total_seconds())
    yield calls
    yield waiting


_TIMES = {
    "decide": "From submit to the decision of people.",
    "start": "From the decision, or the submit where policy allowed it, to the start.",
    "run": "Of each run, from start to end.",
}


def _totals() -> Iterator[Metric]:
    calls = CounterMetricFamily(
        "toolgate_settled_calls", "Calls that were settled, with what policy said.", labels=("tool", "status", "outcome")
    )
    hints = CounterMetricFamily("toolgate_hints", "Hints to workers.", labels=("delivery",))
    times: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in Total.objects.order_by("measure", "tool", "status", "outcome"):
        if row.measure == "calls":
            calls.add_metric((row.tool, row.status, row.outcome or "none"), row.value)
        elif row.measure == "hints":
            hints.add_metric((row.status,), row.value)
        else:
            times[row.measure, row.tool][row.bucket] = row.value
    yield calls
    yield hints
    for measure, words in _TIMES.items():
        histogram = HistogramMetricFamily(f"toolgate_{measure}_seconds", words, labels=("tool",))
        for tool in sorted(tool for name, tool in times if name == measure):
            found = times[measure, tool]
            histogram.add_metric((tool,), _cumulative(measure, found), found.get(SUM, 0.0))
        yield histogram


def _cumulative(measure: str, found: dict[str, float]) -> list[tuple[str, float]]:
    total, buckets = 0.0, []
    for bound in [*map(str, BUCKETS[measure]), INFINITE]:
        total += found.get(bound, 0.0)
        buckets.append((bound, total))
    return buckets


def _leases(at: datetime) -> Iterator[Metric]:
    runs = Execution.objects.filter(call__status=Status.EXECUTING, ended_at=None)
    held = runs.aggregate(number=CountOf("pk"), since=Min("started_at"))
    yield GaugeMetricFamily("toolgate_leases", "Calls that a worker holds.", held["number"])
    age = (at - held["since"]).total_seconds() if held["since"] else 0.0
    yield GaugeMetricFamily("toolgate_lease_oldest_seconds", "How long the oldest of them is held; 0 when none is.", age)


def _clock(at: datetime) -> Iterator[Metric]:
    swept_at = Sweep.objects.values_list("at", flat=True).first()
    age = (at - swept_at).total_seconds() if swept_at else float("inf")
    yield GaugeMetricFamily("toolgate_last_sweep_age_seconds", "How long ago the clock swept; +Inf if never.", age)


def _trail() -> Iterator[Metric]:
    """Nothing until it was verified once."""
    if (found := TrailCheck.last()) is None:
        return
    yield GaugeMetricFamily("toolgate_trail_verified_timestamp_seconds", "When the trail was verified.", found.at.timestamp())
    yield GaugeMetricFamily("toolgate_trail_chains", "Chains that were verified.", found.chains)
    yield GaugeMetricFamily("toolgate_trail_events", "Events that were verified.", found.events)
    yield GaugeMetricFamily("toolgate_trail_broken_chains", "Chains that were found broken.", found.broken)
