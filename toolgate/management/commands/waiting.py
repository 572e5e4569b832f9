"""toolgate waiting: the door for those who wait, of a production deployment."""

from __future__ import annotations

import logging
import os
import signal
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from toolgate.management.commands.check import require_production
from toolgate.management.commands.serve import listening
from toolgate.serve import serve


class Command(BaseCommand):
    help = "Answers requests that wait. Runs until SIGTERM or SIGINT, then tells those who still wait to come back."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8001)

    def handle(self, *, host: str, port: int, **options: Any) -> None:
        require_production()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends it like Ctrl-C, at any time
        is_over = serve(listening(host, port), lambda: self.stdout.write(f"toolgate waiting on port {port}"))
        logging.shutdown()
        os._exit(0 if is_over else 1)  # a request that has not ended within the grace has been told so
