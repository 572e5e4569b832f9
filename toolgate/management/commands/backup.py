"""toolgate backup: a copy of the SQLite database, taken while it is at work."""

from __future__ import annotations

import os
import sqlite3
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection


class Command(BaseCommand):
    help = "Writes a whole copy of the SQLite database to a new file, while it is at work. PostgreSQL has pg_dump."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *, file: Path, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("This deployment is on PostgreSQL: see docs/operations.md for pg_dump.", returncode=2)
        try:
            os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))  # it holds all that the gate has seen
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}.", returncode=2) from None
        with connection.cursor() as source, closing(sqlite3.connect(file)) as target:
            source.connection.backup(target)
            (problem,) = target.execute("PRAGMA integrity_check").fetchone()
        if problem != "ok":
            raise CommandError(f"The copy is not whole: {problem}")
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes.")
