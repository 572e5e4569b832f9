"""When did the clock last look? One row, so that every process can tell."""

from __future__ import annotations

from datetime import datetime

from django.db import models


class Sweep(models.Model):
    ONLY = 1
    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY)
    at = models.DateTimeField()

    @classmethod
    def note(cls, at: datetime) -> None:
        if not cls.objects.filter(pk=cls.ONLY).update(at=at):
            cls.objects.update_or_create(pk=cls.ONLY, defaults={"at": at})
