"""toolgate beat: the clock of a production deployment."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from toolgate.management.commands.check import require_production
from toolgate.parts import Clock, run_until_told


class Command(BaseCommand):
    help = "Sweeps every so often: ends what is overdue, sends again what was lost. One is enough; two do no harm."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        require_production()
        run_until_told(Clock())
