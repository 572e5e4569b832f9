"""toolgate demo: the stories, against a running server."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

import httpx2
from django.core.management.base import BaseCommand, CommandError

from toolgate.demonstration import seed, stories


class Command(BaseCommand):
    help = "Tells the gate's stories one after another over HTTP; exits with 1 if anything is not as promised."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default="http://127.0.0.1:8000")

    def handle(self, *, url: str, **options: Any) -> None:
        try:
            credentials = seed.credentials()
        except FileNotFoundError:
            raise CommandError("There is no demonstration in this data directory. Start `toolgate serve` first.") from None
        try:
            failed = stories.tell_all(url.rstrip("/"), credentials, self.stdout.write)
        except httpx2.TransportError as error:
            raise CommandError(f"Nothing answers at {url} ({type(error).__name__}). Is `toolgate serve` running?") from None
        if failed:
            sys.exit(1)
