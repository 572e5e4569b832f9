"""toolgate worker: executes approved calls of a production deployment."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from toolgate.management.commands.check import require_production
from toolgate.parts import Worker, run_until_told


class Command(BaseCommand):
    help = "Executes approved calls on threads. Runs until SIGTERM or SIGINT, then finishes what it holds or gives it up."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        require_production()
        run_until_told(Worker())
