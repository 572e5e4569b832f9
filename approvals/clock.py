"""What time it is, asked in one place, so that a test or another source of time replaces one name."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    return timezone.now()
