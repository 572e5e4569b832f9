"""toolgate prune: retention."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from approvals import clock, sweeps
from approvals.models.actors import SYSTEM


class Command(BaseCommand):
    help = (
        "Removes the payloads of calls that were settled longer ago than so many days: arguments, results, reasons, questions. "
        "Their rows, times, deciders and chains stay."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        days = settings.PRUNE_AFTER.days if settings.PRUNE_AFTER else None
        parser.add_argument("--older-than", type=int, default=days, metavar="DAYS", help="default: TOOLGATE_PRUNE_DAYS")
        parser.add_argument("--dry-run", action="store_true", help="say of how many, and remove nothing")

    def handle(self, *, older_than: int | None, dry_run: bool, **options: Any) -> None:
        if older_than is None or not 0 <= older_than <= 36_500:
            raise CommandError("Say from how many days on: --older-than 90, or TOOLGATE_PRUNE_DAYS.", returncode=2)
        at, age = clock.now(), timedelta(days=older_than)
        if dry_run:
            self.stdout.write(f"{sweeps.to_prune(at, age).count()} calls would lose their payloads.")
            return
        self.stdout.write(f"{sweeps.prune(at, older_than=age, actor=SYSTEM)} calls lost their payloads.")
