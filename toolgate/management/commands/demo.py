"""toolgate demo: the stories, against a running server."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError

from approvals import resolution
from toolgate.demonstration import seed, stories


class Command(BaseCommand):
    help = "Tells the gate's stories one after another over HTTP; exits with 1 if anything is not as promised."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8000")
        parser.add_argument("--prepare", action="store_true", help="make its people and calls in a new database; no stories")

    def handle(self, *, url: str, prepare: bool, **options: Any) -> None:
        if prepare:
            seed.when_new()
            self.stdout.write(seed.welcome(url))
            return
        try:
            credentials = seed.credentials()
        except FileNotFoundError:
            raise CommandError(
                "There is no demonstration in this data directory. `toolgate serve` or `toolgate demo --prepare` makes it."
            ) from None
        if "refund_order" not in resolution.registry():
            raise CommandError(
                "The stories are about the demonstration's own tools, and TOOLGATE_TOOLS names others. "
                "Start a server without it, with a TOOLGATE_DATA_DIR of its own, to hear them."
            )
        try:
            failed = stories.tell_all(url.rstrip("/"), credentials, self.stdout.write)
        except httpx2.TransportError as error:
            raise CommandError(f"Nothing answers at {url} ({type(error).__name__}). Is the server running?") from None
        if failed:
            sys.exit(1)
