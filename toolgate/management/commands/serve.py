"""toolgate serve: the embedded process."""

from __future__ import annotations

import errno
from argparse import ArgumentParser
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from toolgate.demonstration import seed
from toolgate.serve import serve


class Command(BaseCommand):
    help = "Migrates, seeds the demonstration when the database is new, and serves pages, API, worker and clock."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-demo", action="store_true", help="seed nothing")

    def handle(self, *, host: str, port: int, no_demo: bool, **options: Any) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        if not no_demo:
            seed.when_new()
        url = f"http://{host}:{port}"
        try:
            serve(host, port, lambda: self.stdout.write(seed.welcome(url) if not no_demo else f"toolgate serves {url}\n"))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise CommandError(f"Port {port} is taken. Choose another with --port.") from None
            raise
