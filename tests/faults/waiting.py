"""A deployment for several worker processes: a call notes that it began, and ends once it is let go."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import Any

from toolgate import Function, Registry

waiting = Registry()
FOLDER = Path(os.environ["TOOLGATE_DATA_DIR"])
LONGEST = 60.0  # seconds; ends a hang


def wait(arguments: dict[str, Any], context: dict[str, Any]) -> str:
    with sqlite3.connect(FOLDER / "runs.sqlite3", timeout=30) as database:
        database.execute("INSERT INTO runs VALUES (?)", (context["idempotency_key"],))
    database.close()
    end = time.monotonic() + LONGEST
    while not (FOLDER / "go").exists() and time.monotonic() < end:
        time.sleep(0.05)
    return "done"


waiting.register(Function(name="wait", function=wait, async_=True), require_approval=False)
