"""toolgate web: pages and API of a production deployment."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from granian import Granian
from granian.constants import Interfaces

from toolgate.management.commands.check import require_production
from toolgate.settings import settings


class Command(BaseCommand):
    help = "Serves pages and API on threads of several processes. Runs until SIGTERM or SIGINT, then finishes what it answers."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        require_production()
        Granian(
            "toolgate.wsgi:application",
            address=host,
            port=port,
            interface=Interfaces.WSGI,
            workers=settings.web_processes,
            blocking_threads=settings.web_threads,
            backpressure=settings.web_threads * 8,  # more than these wait in the kernel's queue, not in this process
            log_enabled=False,
            respawn_failed_workers=True,
            workers_kill_timeout=int(settings.grace_seconds),
            websockets=False,
        ).serve()
