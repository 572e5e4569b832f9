"""On which database do the tests run? `--database=sqlite` runs every test, `--database=postgres` each that touches a database.

A plugin of pytest that pyproject.toml names, because the settings are read before any conftest.py. Whatever the environment
says of somebody's own deployment is taken out of it, and the data of the tests lie in a folder that is gone afterwards.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
import pytest

from tests.servers import PostgreSQL, new_folder

Execute = Callable[..., list[tuple[Any, ...]]]
FIXTURES = frozenset({"db", "transactional_db", "real_db", "serve", "serving", "database_url"})
FOLDER = pytest.StashKey[Path]()
_names = (f"deployment_{os.getpid()}_{number}" for number in itertools.count())


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "sqlite: every test. postgres: each test that touches a database, on a server of its own."
    parser.addoption("--database", choices=("sqlite", "postgres"), default="sqlite", help=words)


@pytest.hookimpl(wrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Iterator[None]:
    """Before Django reads its settings. The workers of a run find them in the environment that they inherit."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        _clear_environment()
        folder = new_folder()
        early_config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
        early_config.stash[FOLDER] = folder
        os.environ["TOOLGATE_DATA_DIR"] = str(folder / "data")
        if early_config.known_args_namespace.database == "postgres":
            server = PostgreSQL()
            early_config.add_cleanup(server.remove)
            server.start()
            os.environ["TOOLGATE_DATABASE_URL"] = server.url
    yield


def _clear_environment() -> None:
    for name in [*os.environ]:
        if name.startswith("TOOLGATE_") or name in ("DATABASE_URL", "REDIS_URL"):
            del os.environ[name]


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    if (folder := config.stash.get(FOLDER, None)) and not config.option.basetemp:
        config.option.basetemp = folder / "tests"  # in memory: a commit there does not wait for a disk
    config.addinivalue_line("markers", "postgres: about PostgreSQL alone")
    config.addinivalue_line("markers", "sqlite: about SQLite alone")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    belongs = _is_for_postgresql if config.getoption("database") == "postgres" else _is_for_sqlite
    others = [item for item in items if not belongs(item)]
    items[:] = [item for item in items if belongs(item)]
    config.hook.pytest_deselected(items=others)


def _is_for_sqlite(item: pytest.Item) -> bool:
    return item.get_closest_marker("postgres") is None


def _is_for_postgresql(item: pytest.Item) -> bool:
    """Touches a database: by a mark of pytest-django, or by a fixture."""
    if item.get_closest_marker("sqlite"):
        return False
    is_marked = any(item.get_closest_marker(name) for name in ("django_db", "postgres"))
    return is_marked or not FIXTURES.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Tests that touch no database leave nothing to do on PostgreSQL, which is no fault."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and session.config.getoption("database") == "postgres":
        session.exitstatus = pytest.ExitCode.OK


def pytest_report_header(config: pytest.Config) -> str:
    return f"database: {config.getoption('database')}"


# --- a database for a process that a test starts -------------------------------------------------------------------------


def new_database(folder: Path) -> str:
    """The address of an empty database of the kind that the tests run on."""
    if (server := os.environ.get("TOOLGATE_DATABASE_URL")) is None:
        return f"sqlite:///{folder / 'toolgate.sqlite3'}"
    name = next(_names)
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.removesuffix(urlsplit(server).path) + f"/{name}"


def rows(database: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """What a statement (values as `%s`) finds in the database at this address; a UUID as 32 digits."""
    with _connected(database) as execute:
        return execute(statement, *values)


@contextmanager
def past_every_guard(database: str) -> Iterator[Execute]:
    """Executes statements for somebody who owns the machine: no trigger and no foreign key stops them."""
    if not database.startswith("sqlite"):
        url = urlsplit(database)
        owner = url._replace(netloc=f"postgres@{url.netloc.partition('@')[2]}").geturl()
        with _connected(owner) as execute:
            execute("SET session_replication_role = replica")
            yield execute
        return
    with _connected(database) as execute:
        triggers = execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
        for name, _ in triggers:
            execute(f"DROP TRIGGER {name}")
        yield execute
        for _, definition in triggers:
            execute(definition)


@contextmanager
def _connected(database: str) -> Iterator[Execute]:
    if database.startswith("sqlite"):
        with closing(sqlite3.connect(database.removeprefix("sqlite:///"), timeout=60, isolation_level=None)) as sqlite:
            yield lambda statement, *values: sqlite.execute(statement.replace("%s", "?"), values).fetchall()
    else:
        with psycopg.connect(database, autocommit=True) as postgresql:
            yield partial(_execute, postgresql)


def _execute(connection: psycopg.Connection[Any], statement: str, *values: Any) -> list[tuple[Any, ...]]:
    cursor = connection.execute(statement, values or None)
    found = cursor.fetchall() if cursor.description else []
    return [tuple(value.hex if isinstance(value, UUID) else value for value in row) for row in found]
