"""What Prometheus would read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from approvals import metrics

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]
Read = Callable[[], Samples]


def samples(text: str) -> Samples:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def key(name: str, **labels: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    return f"toolgate_{name}", tuple(sorted(labels.items()))


@pytest.fixture
def read(settings: Any) -> Read:
    settings.METRICS_KEPT_FOR = timedelta(0)
    return lambda: samples(metrics.read().decode())
