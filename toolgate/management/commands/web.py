"""toolgate web: pages and API of a production deployment."""

from __future__ import annotations

import logging
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from toolgate.management.commands.check import require_production, unanswerable_tools
from toolgate.management.commands.serve import listening
from toolgate.settings import settings

log = logging.getLogger(__name__)
OUR_LOGGING: dict[str, Any] = {
    "handlers": {},
    "formatters": {},
    "loggers": {"_granian": {}},
}  # its words go where all others go


class Command(BaseCommand):
    help = "Serves pages and API on threads of several processes. Runs until SIGTERM or SIGINT, then finishes what it answers."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        require_production()
        for warning in unanswerable_tools():
            log.warning(warning)
        listening(host, port).close()  # granian shares a port that is taken, and each server would get some of the requests
        Granian(
            "toolgate.wsgi:application",
            address=host,
            port=port,
            interface=Interfaces.WSGI,
            workers=settings.web_processes,
            blocking_threads=settings.web_threads,
            backpressure=settings.web_threads * 8,  # more than these wait in the kernel's queue, not in this process
            log_level=LogLevels.warning,
            log_dictconfig=OUR_LOGGING,
            respawn_failed_workers=True,
            workers_kill_timeout=max(1, round(settings.grace_seconds)),  # 0 would wait for ever
            websockets=False,
        ).serve()
