"""What every test may ask for: three people, an agent, a deployment of tools, and calls in any status.

Statuses are reached by walking the verbs, never by writing a column.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.core.management import call_command
from django.db import connection, connections
from django.test.utils import setup_databases, teardown_databases
from pytest_django.plugin import DjangoDbBlocker

from approvals import access, resolution
from approvals.clock import now
from approvals.lifecycle import Reviewer
from approvals.models import Agent, Person, ToolCall
from approvals.models.actors import SYSTEM
from approvals.models.append_only import INSTALL, REMOVE
from tests.calls import CallMaker, Deployment
from tests.databases import new_database
from toolgate.settings import settings as deployed

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _empty_database() -> None:
    """Each test begins with one, so nothing is known to be stored."""
    resolution.kept_declarations.clear()


@pytest.fixture(autouse=True)
def _quick_passwords(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def tools(settings: Any) -> Iterator[Deployment]:
    """The tools of this test's deployment; empty at first."""
    deployment = Deployment()
    name = f"tests.deployment_{next(_numbers)}"
    module = sys.modules[name] = ModuleType(name)
    module.__dict__["registry"] = deployment
    settings.TOOLGATE_TOOLS = (name,)
    resolution.registry.cache_clear()
    yield deployment
    resolution.registry.cache_clear()
    del sys.modules[name]


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Makes the test database also when only `real_db` asks for one.

    pytest-django looks for its own marks; without any it leaves the deployment's database in place, which `real_db` empties.
    """
    with django_db_blocker.unblock():
        is_made = connection.settings_dict["NAME"] != deployed.database()["NAME"]
        made = [] if is_made else setup_databases(verbosity=0, interactive=False)
    yield
    with django_db_blocker.unblock():
        teardown_databases(made, verbosity=0)


@pytest.fixture
def real_db(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """The database as it is outside tests: real commits, seen by other threads. Emptied afterwards."""
    with django_db_blocker.unblock():
        yield
        connections.close_all()
        with connection.cursor() as cursor:
            for statement in REMOVE[connection.vendor]:
                cursor.execute(statement)
            call_command("flush", interactive=False, verbosity=0)
            for statement in INSTALL[connection.vendor]:
                cursor.execute(statement)
        connections.close_all()


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """An empty database for a process that the test starts."""
    return new_database(tmp_path)


@pytest.fixture
def agent() -> Agent:
    return Agent.objects.create(name=f"agent {next(_numbers)}")


@pytest.fixture
def other_agent() -> Agent:
    return Agent.objects.create(name=f"other agent {next(_numbers)}")


@pytest.fixture
def agent_key(agent: Agent) -> str:
    return access.issue_agent_key(agent=agent, actor=SYSTEM, at=now())[1]


def make_person(username: str, *groups: str, **columns: Any) -> Person:
    person = Person.objects.create_user(username, f"{username}@example.org", "correct horse", **columns)
    person.groups.set([Group.objects.get_or_create(name=group)[0] for group in groups])
    return person


@pytest.fixture
def person_maker() -> Callable[..., Person]:
    return make_person


@pytest.fixture
def reviewer() -> Person:
    return make_person("ada", first_name="Ada", last_name="Lovelace")


@pytest.fixture
def second_reviewer() -> Person:
    return make_person("grace", first_name="Grace", last_name="Hopper")


@pytest.fixture
def auditor() -> Person:
    return make_person("anna", is_auditor=True)


@pytest.fixture
def administrator() -> Person:
    return make_person("root", is_superuser=True, is_staff=True)


@pytest.fixture
def as_reviewer(reviewer: Person) -> Reviewer:
    return Reviewer(reviewer, "session")


@pytest.fixture
def make_call(tools: Deployment, agent: Agent, reviewer: Person) -> Callable[..., ToolCall]:
    """`make_call(status=…, **submission)`: a call that got there by the verbs."""
    return CallMaker(tools, agent, Reviewer(reviewer, "session"))
