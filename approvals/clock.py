"""What time is it? Always in UTC; on PostgreSQL by the database's clock, so that a machine whose own is wrong does no harm."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

from django.db import DatabaseError, InterfaceError, connection

ASKED_EVERY = 60  # seconds

_lock = threading.Lock()
_offset, _ask_at = timedelta(0), 0.0


def now() -> datetime:
    if connection.vendor != "sqlite" and time.monotonic() >= _ask_at:
        _ask()
    return datetime.now(UTC) + _offset


def _ask() -> None:
    """How far the database is ahead of this machine. One that does not answer leaves it as it was."""
    global _offset, _ask_at
    with _lock:
        if time.monotonic() < _ask_at:
            return
        try:
            with connection.cursor() as cursor:
                before = datetime.now(UTC)
                cursor.execute("SELECT clock_timestamp()")
                (there,) = cursor.fetchone()
                after = datetime.now(UTC)
        except (DatabaseError, InterfaceError):
            return
        _offset, _ask_at = there - before - (after - before) / 2, time.monotonic() + ASKED_EVERY
