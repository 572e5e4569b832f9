"""A deployment whose tools append a row to a table of its own each time a body runs, so that runs can be counted."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from toolgate import Function, FunctionParam, Registry

registry = Registry()
DATABASE = os.path.join(os.environ["TOOLGATE_DATA_DIR"], "counted.sqlite3")


def count(arguments: dict[str, Any], context: dict[str, Any]) -> str:
    with sqlite3.connect(DATABASE, timeout=60) as database:
        database.execute("CREATE TABLE IF NOT EXISTS runs (idempotency_key TEXT)")
        database.execute("INSERT INTO runs VALUES (?)", (context["idempotency_key"],))
    database.close()
    return f"counted {arguments['number']}"


for name, asks in (("count", True), ("count_at_once", False)):
    parameters = [FunctionParam("number", "integer", required=True)]
    registry.register(Function(name=name, parameters=parameters, function=count, async_=True), require_approval=asks)
