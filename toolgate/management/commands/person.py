"""toolgate person: somebody who may sign in."""

from __future__ import annotations

import difflib
import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from approvals import audit, resolution
from approvals.clock import now
from approvals.models import EventKind, Person
from approvals.models.actors import SYSTEM


class Command(BaseCommand):
    help = (
        "Makes a reviewer (or an auditor, or an administrator); the password is asked for, or read from standard input. "
        "Somebody who is there already is added to the groups."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="")
        parser.add_argument("--group", action="append", default=[], help="may be given several times")
        parser.add_argument("--new-group", action="store_true", help="a group may be one that no tool and nobody has yet")
        parser.add_argument("--auditor", action="store_true")
        parser.add_argument("--administrator", action="store_true")

    @transaction.atomic
    def handle(
        self,
        *,
        username: str,
        email: str,
        group: list[str],
        new_group: bool,
        auditor: bool,
        administrator: bool,
        **options: Any,
    ) -> None:
        groups = [Group.objects.get_or_create(name=name)[0] for name in _known(group, new_group)]
        if (person := Person.objects.filter(username=username).first()) is not None:
            if email or auditor or administrator or not groups:
                raise CommandError(f"There is a person named {username} already: only --group can be added here.")
            person.groups.add(*groups)
            _record(person, "added to groups")
            self.stdout.write(f"{username} is now in {', '.join(person.group_names())}.")
            return
        password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().strip()
        try:
            validate_password(password)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        roles = {"is_auditor": auditor, "is_superuser": administrator, "is_staff": administrator}
        person = Person.objects.create_user(username, email, password, **roles)
        person.groups.set(groups)
        _record(person, "made")
        self.stdout.write(f"{username} can sign in as {person.role}.")


def _record(person: Person, change: str) -> None:
    facts = {"person": person.username, "role": person.role, "groups": person.group_names(), "change": change}
    audit.record_administration(EventKind.PERSON_CHANGED, at=now(), actor=SYSTEM, data=facts)


def _known(names: list[str], may_be_new: bool) -> list[str]:
    """A slip of the pen would make a group that no tool asks for, and its calls would wait for nobody."""
    known = {group for one in resolution.registry() for group in one.groups} | set(Group.objects.values_list("name", flat=True))
    for name in names:
        if name not in known and not may_be_new:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise CommandError(f"No tool and nobody has a group named {name}.{meant} --new-group makes it.")
    return names
