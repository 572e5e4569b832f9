"""What PostgreSQL is told of each connection, asked of the server itself."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import OperationalError, connection, connections
from django.db.models.signals import pre_migrate

from tests.running.server import Serving
from toolgate.settings import Settings
from toolgate.settings import settings as deployed

pytestmark = [pytest.mark.postgres, pytest.mark.usefixtures("real_db")]


class Databases:
    """Connections to the database of the tests as other settings make them."""

    def __init__(self) -> None:
        self.aliases: list[str] = []

    def alias(self, address: str = "", **given: Any) -> str:
        alias = uuid4().hex
        url = (deployed.database_url or "").rpartition("/")[0]
        made = Settings(database_url=f"{url}/{connection.settings_dict['NAME']}{address}", **given).database()
        connections.settings[alias] = made
        connections.configure_settings(connections.settings)
        self.aliases.append(alias)
        return alias

    def forget(self) -> None:
        for alias in self.aliases:
            connections[alias].close()
            connections[alias].close_pool()  # type: ignore[attr-defined] # what PostgreSQL's has beside the others
            del connections[alias]
            del connections.settings[alias]


@pytest.fixture
def databases() -> Iterator[Databases]:
    made = Databases()
    yield made
    made.forget()


def shown(alias: str, name: str) -> str:
    with connections[alias].cursor() as cursor:
        cursor.execute(f"SHOW {name}")
        return str(cursor.fetchone()[0])


@pytest.mark.parametrize(
    ("setting", "name", "usual"),
    [
        ("database_statement_seconds", "statement_timeout", "30s"),
        ("database_lock_seconds", "lock_timeout", "10s"),
        ("database_idle_seconds", "idle_in_transaction_session_timeout", "1min"),
    ],
)
def test_keeps_a_limit_as_set(setting: str, name: str, usual: str, databases: Databases) -> None:
    assert shown("default", name) == usual
    given: dict[str, Any] = {setting: 7.5}
    assert shown(databases.alias(**given), name) == "7500ms"


@pytest.mark.parametrize(
    ("name", "value"), [("default_transaction_isolation", "read committed"), ("application_name", "toolgate")]
)
def test_knows_what_the_gate_relies_on(name: str, value: str) -> None:
    assert shown("default", name) == value


def test_is_told_what_the_address_says_beside(databases: Databases) -> None:
    alias = databases.alias("?application_name=gate&options=-c%20work_mem%3D8MB")
    assert (shown(alias, "application_name"), shown(alias, "work_mem"), shown(alias, "lock_timeout")) == ("gate", "8MB", "10s")


def test_has_no_transaction_around_a_whole_request() -> None:
    assert not connection.settings_dict["ATOMIC_REQUESTS"]
    assert not django_settings.DATABASES["default"].get("ATOMIC_REQUESTS")


def test_gives_no_more_connections_than_the_pool_has_and_says_so(databases: Databases) -> None:
    alias = databases.alias(database_pool=1, database_pool_seconds=0.2)
    assert shown(alias, "lock_timeout") == "10s"
    refused: list[Exception] = []

    def ask() -> None:
        try:
            shown(alias, "lock_timeout")
        except OperationalError as error:
            refused.append(error)
        finally:
            connections[alias].close()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert len(refused) == 1


@pytest.mark.parametrize(("given", "size"), [({}, 25), ({"web_threads": 3, "worker_threads": 2}, 8), ({"database_pool": 4}, 4)])
def test_has_a_connection_for_each_thread(given: dict[str, Any], size: int) -> None:
    made = Settings(database_url="postgres://gate@database.invalid/gate", **given).database()
    assert made["OPTIONS"]["pool"]["max_size"] == size


def test_lets_a_migration_take_its_time_and_only_that() -> None:
    seen: list[str] = []

    def look(sender: Any, using: str, **facts: Any) -> None:
        seen.append(shown(using, "statement_timeout"))

    pre_migrate.connect(look)
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(look)
    assert set(seen) == {"0"}
    assert shown("default", "statement_timeout") == "30s"


FORKS = """
import os, sys
from django.db import connection
def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]
mine = backend()
if (child := os.fork()) == 0:
    theirs = backend()
    connection.close()
    connection.close_pool()
    os._exit(0 if theirs != mine else 1)
_, code = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(code) or backend() != mine)
"""


def test_is_not_shared_with_a_forked_process_nor_ended_by_it(database_url: str, tmp_path: Path) -> None:
    forked = Serving(tmp_path, {"DJANGO_SETTINGS_MODULE": "toolgate.settings"}, database=database_url)
    command = [sys.executable, "-m", "django", "shell", "-c", FORKS]
    done = subprocess.run(command, env=forked.environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
