"""Is the trail still whole? Asked every so often without anybody asking; what came of it is kept and shown."""

from __future__ import annotations

import logging
from datetime import datetime

from django.conf import settings

from approvals import clock
from approvals.audit.verification import Verification, verify_all
from approvals.models import TrailCheck
from toolgate.tools.canonical import canonical

log = logging.getLogger(__name__)
MOST_TOLD = 20


def inspect_trail_when_due() -> bool:
    """Whether it was time. Kept with the outcome, so that a clock that is started anew, or a second one, changes nothing."""
    last = TrailCheck.last()
    if last is not None and clock.now() < last.at + settings.VERIFY_EVERY:
        return False
    inspect_trail()
    return True


def inspect_trail() -> TrailCheck:
    """Walks every chain and keeps the outcome. A broken chain is told in the log each time, until it is repaired."""
    chains = events = 0
    broken: list[Verification] = []
    for found in verify_all():
        chains, events = chains + 1, events + found.length
        if not found.is_whole:
            broken.append(found)
            log.critical("the trail is broken: %s: %s", found.chain, found.problem)
    return keep_outcome(chains, events, broken, clock.now())


def keep_outcome(chains: int, events: int, broken: list[Verification], at: datetime) -> TrailCheck:
    problems = [{"chain": found.chain, "problem": found.problem} for found in broken[:MOST_TOLD]]
    columns = {"at": at, "chains": chains, "events": events, "broken": len(broken), "problems": canonical(problems)}
    kept, _ = TrailCheck.objects.update_or_create(pk=TrailCheck.ONLY, defaults=columns)
    return kept
