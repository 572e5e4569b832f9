"""Migrations: from an empty database and from rows of the first state to the newest; and none that stops traffic.

Nothing was released yet, so the first state is the oldest there is. From the first release on, `SINCE` holds the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.core.management import call_command
from django.db import DatabaseError, connections, migrations, models
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.models.functions import Now
from pytest_django.plugin import DjangoDbBlocker

from approvals.clock import now
from approvals.models import uuid7
from toolgate.settings import Settings

SINCE = ("0001_initial", "0002_append_only")  # what a new database begins with; nobody has rows before them


@pytest.fixture
def older(database_url: str, tmp_path: Path, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The alias of an empty database."""
    database = Settings(database_url=database_url, data_dir=tmp_path).database()
    database["OPTIONS"].pop("pool", None)
    connections.settings["older"] = database
    connections.configure_settings(connections.settings)  # fills in Django's defaults
    with django_db_blocker.unblock():
        yield "older"
        connections["older"].close()
    del connections["older"]
    del connections.settings["older"]


def migrate(alias: str, name: str | None) -> Any:
    """Up to this migration of the gate, or to the newest of everything; answers the models as they are then."""
    executor = MigrationExecutor(connections[alias])
    targets = [("approvals", name)] if name else executor.loader.graph.leaf_nodes()
    return executor.migrate(targets).apps


def test_bring_an_empty_database_to_what_the_models_say(older: str) -> None:
    migrate(older, None)
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
    call_command("migrate", database=older, check_unapplied=True, verbosity=0)


def test_keep_every_row_of_the_first_state(older: str) -> None:
    apps = migrate(older, "0001_initial")
    agent = apps.get_model("approvals", "Agent").objects.using(older).create(name="an agent")
    call = apps.get_model("approvals", "ToolCall").objects.using(older).create(
        agent_id=agent.pk, agent_name="an agent", tool="pay", tool_call_id="1", fingerprint="f" * 64, status="pending",
        submitted='{"b": 1.50, "a": 1e2}', submitted_at=now(),
    )  # fmt: skip
    event = apps.get_model("approvals", "AuditEvent").objects.using(older).create(
        id=uuid7(), chain=str(call.pk), sequence=1, kind="submitted", at=now(), actor_kind="agent", data="{}",
        previous="0" * 64, digest="d" * 64,
    )  # fmt: skip
    apps = migrate(older, None)
    kept = apps.get_model("approvals", "ToolCall").objects.using(older).get()
    assert (kept.pk, kept.submitted, kept.status) == (call.pk, '{"b": 1.50, "a": 1e2}', "pending")
    events = apps.get_model("approvals", "AuditEvent").objects.using(older)
    assert events.get().pk == event.pk
    with pytest.raises(DatabaseError, match="append-only"):
        events.update(kind="denied")


# --- no migration stops traffic ------------------------------------------------------------------------------------------


def faults(migration: migrations.Migration) -> list[str]:
    """What would hold a lock on a table for as long as its rows take, or break the servers that still run the old code."""
    return [fault for operation in migration.operations if (fault := _fault(migration, operation))]


def _fault(migration: migrations.Migration, operation: Any) -> str:
    new = {one.name.lower() for one in migration.operations if isinstance(one, migrations.CreateModel)}
    if getattr(operation, "model_name", "").lower() in new:
        return ""
    match operation:
        case AddIndexConcurrently() | RemoveIndexConcurrently():
            return "" if not migration.atomic else "an index is made concurrently outside a transaction only: atomic = False"
        case migrations.AddIndex() | migrations.RemoveIndex() | migrations.AddConstraint():
            return "it locks the table while it reads all rows: AddIndexConcurrently, or a constraint NOT VALID first"
        case migrations.AddField() if not operation.field.null and operation.field.db_default is models.NOT_PROVIDED:
            return "the old code does not fill a new column: null=True or db_default"
        case migrations.AlterField() | migrations.RenameField() | migrations.RenameModel() | migrations.AlterUniqueTogether():
            return "the old code still asks for the old column, or the table is written anew"
        case migrations.RemoveField() | migrations.DeleteModel():
            return "the old code still asks for it: remove it from the state in one release, from the database in the next"
        case migrations.RunPython() | migrations.RunSQL() if migration.atomic:
            return "rows that it changes stay locked until it ends: atomic = False, and rows in batches"
    return ""


def test_none_since_the_first_stops_traffic() -> None:
    loader = MigrationLoader(None)
    ours = {name: one for (app, name), one in loader.disk_migrations.items() if app == "approvals" and name not in SINCE}
    assert {name: found for name, one in ours.items() if (found := faults(one))} == {}


def _migration(*operations: Any, atomic: bool = True) -> migrations.Migration:
    kind = type("Migration", (migrations.Migration,), {"operations": operations, "atomic": atomic})
    made: migrations.Migration = kind("9999_made_up", "approvals")
    return made


INDEX = models.Index(fields=["tool"], name="an_index")
UNIQUE = models.UniqueConstraint(fields=["tool"], name="a_constraint")
STOPS = {
    "an index in a transaction": _migration(migrations.AddIndex("toolcall", INDEX)),
    "a concurrent index in a transaction": _migration(AddIndexConcurrently("toolcall", INDEX)),
    "a constraint": _migration(migrations.AddConstraint("toolcall", UNIQUE)),
    "a column that the old code does not fill": _migration(
        migrations.AddField("toolcall", "color", models.CharField(max_length=9, default="red"))
    ),
    "another type": _migration(migrations.AlterField("toolcall", "tool", models.TextField())),
    "a column that goes": _migration(migrations.RemoveField("toolcall", "tool")),
    "rows in one transaction": _migration(migrations.RunPython(migrations.RunPython.noop)),
}
PASSES = {
    "a concurrent index": _migration(AddIndexConcurrently("toolcall", INDEX), atomic=False),
    "a column that may be empty": _migration(migrations.AddField("toolcall", "color", models.TextField(null=True))),
    "a column that the database fills": _migration(
        migrations.AddField("toolcall", "seen_at", models.DateTimeField(db_default=Now()))
    ),
    "a table and its index": _migration(
        migrations.CreateModel("Color", [("id", models.BigAutoField(primary_key=True)), ("tool", models.TextField())]),
        migrations.AddIndex("color", INDEX),
    ),
    "rows outside a transaction": _migration(migrations.RunPython(migrations.RunPython.noop), atomic=False),
}


@pytest.mark.parametrize("what", list(STOPS))
def test_that_stop_traffic_are_found(what: str) -> None:
    assert faults(STOPS[what])


@pytest.mark.parametrize("what", list(PASSES))
def test_that_do_not_are_left_alone(what: str) -> None:
    assert not faults(PASSES[what])
