"""What every process needs once Django is ready: the Celery application, and connections that it shares with no parent."""

from __future__ import annotations

import os
from typing import Any

from django.apps import AppConfig
from django.db import connections

from toolgate import celery  # noqa: F401 - so that in every process the messages go to the broker of the settings

_inherited: list[Any] = []


class ToolgateConfig(AppConfig):
    name = "toolgate"

    def ready(self) -> None:
        os.register_at_fork(after_in_child=_forget_connections)


def _forget_connections() -> None:
    """Two processes on one connection read each other's answers: the child makes its own.

    Closing what it inherited would end it for the parent, too, and so would Python if it were not kept.
    """
    for database in connections.all():
        pools = getattr(database, "_connection_pools", {})
        _inherited.extend([database.connection, *pools.values()])
        pools.clear()
        database.connection = None
