"""toolgate migrate: brings the database up to date. An index on many rows may take its time; waiting for a lock may not."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from django.core.management.commands import migrate
from django.db import DatabaseError, connections


class Command(migrate.Command):
    def handle(self, *args: Any, **options: Any) -> None:
        connection = connections[options["database"]]
        if connection.vendor != "postgresql":
            super().handle(*args, **options)
            return
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = 0")
        try:
            super().handle(*args, **options)
        finally:  # the connection goes back to a pool, and the next who gets it is not to be without a limit
            with suppress(DatabaseError), connection.cursor() as cursor:
                cursor.execute("RESET statement_timeout")
