"""`?wait=`: holds an answer until a call moves. Looks at the row every so often and holds no connection meanwhile.

Simple on purpose: the waiting door in front of Django takes this over.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from django.conf import settings
from django.db import connection
from django.http import QueryDict

from approvals.api.problems import Problem

LONGEST = 60.0
EVERY = 0.1
_places = threading.BoundedSemaphore(settings.WAIT_LIMIT)


def asked_for(query: QueryDict) -> tuple[float, str]:
    """How long to wait at the most, in seconds, and until what."""
    until = query.get("until", "settled")
    if until not in ("decided", "settled"):
        raise Problem(422, "invalid_request", "until must be decided or settled", field="until")
    try:
        seconds = float(query.get("wait", "0"))
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST:
        raise Problem(422, "invalid_request", f"wait must be a number of seconds from 0 to {LONGEST:g}", field="wait")
    return seconds, until


def hold(seconds: float, moved: Callable[[], bool]) -> None:
    """Returns when `moved()` says so, when the time is over, or at once when too many wait already."""
    if not seconds or moved() or not _places.acquire(blocking=False):
        return
    try:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            connection.close()
            time.sleep(min(EVERY, max(0.0, end - time.monotonic())))
            if moved():
                return
    finally:
        _places.release()
