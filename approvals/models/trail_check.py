"""What came of the last time that every chain of the trail was walked. One row, so that every process can tell."""

from __future__ import annotations

import json

from django.db import models


class TrailCheck(models.Model):
    ONLY = 1
    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    at = models.DateTimeField(help_text="When it ended.")
    chains = models.PositiveIntegerField()
    events = models.PositiveIntegerField()
    broken = models.PositiveIntegerField()
    problems = models.TextField(default="[]", help_text="JSON: chain and problem of the first broken ones.")

    @property
    def told(self) -> list[dict[str, str]]:
        found: list[dict[str, str]] = json.loads(self.problems)
        return found

    @classmethod
    def last(cls) -> TrailCheck | None:
        return cls.objects.filter(pk=cls.ONLY).first()
