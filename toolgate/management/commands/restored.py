"""toolgate restored: what a database that was restored from a backup must be told before anything works with it."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from approvals import clock, sweeps


class Command(BaseCommand):
    help = (
        "Run it once after a restore, before any worker: a call that was approved or running when the backup was made may have "
        "run since. It waits for people then, as one whose outcome nobody knows."
    )

    def handle(self, **options: Any) -> None:
        self.stdout.write(f"{sweeps.after_restore(clock.now())} calls wait for somebody to look whether they ran.")
