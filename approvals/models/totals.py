"""What was counted since the beginning: sums that every process adds to and `/metrics` tells. They only grow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import models
from django.db.models import F


@dataclass(frozen=True, slots=True, order=True)
class Count:
    """What a total is of. `bucket` is for times: an upper bound in seconds, `+Inf`, or `sum`."""

    measure: str
    tool: str = ""
    status: str = ""
    outcome: str = ""
    bucket: str = ""


class Total(models.Model):
    measure = models.CharField(max_length=20)
    tool = models.CharField(max_length=256, blank=True)
    status = models.CharField(max_length=20, blank=True)
    outcome = models.CharField(max_length=20, blank=True)
    bucket = models.CharField(max_length=10, blank=True)
    value = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["measure", "tool", "status", "outcome", "bucket"], name="one_total_a_count")
        ]

    @classmethod
    def add(cls, counted: Mapping[Count, float]) -> None:
        """Adds to each total; always in the same order, so that two who add never wait for each other in a circle."""
        for count in sorted(counted):
            key = {name: getattr(count, name) for name in Count.__slots__}
            row, _ = cls.objects.get_or_create(**key)
            cls.objects.filter(pk=row.pk).update(value=F("value") + counted[count])
