"""toolgate person: somebody who may sign in."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import Group
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from approvals import audit
from approvals.clock import now
from approvals.models import EventKind, Person
from approvals.models.actors import SYSTEM


class Command(BaseCommand):
    help = "Makes a reviewer (or an auditor, or an administrator). The password is asked for, or read from standard input."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")
        parser.add_argument("--email", default="")
        parser.add_argument("--group", action="append", default=[], help="may be given several times")
        parser.add_argument("--auditor", action="store_true")
        parser.add_argument("--administrator", action="store_true")

    @transaction.atomic
    def handle(
        self, *, username: str, email: str, group: list[str], auditor: bool, administrator: bool, **options: Any
    ) -> None:
        if Person.objects.filter(username=username).exists():
            raise CommandError(f"There is a person named {username} already.")
        password = getpass.getpass() if sys.stdin.isatty() else sys.stdin.readline().strip()
        try:
            validate_password(password)
        except ValidationError as error:
            raise CommandError(" ".join(error.messages)) from None
        roles = {"is_auditor": auditor, "is_superuser": administrator, "is_staff": administrator}
        person = Person.objects.create_user(username, email, password, **roles)
        person.groups.set([Group.objects.get_or_create(name=name)[0] for name in group])
        facts = {"person": username, "role": person.role, "groups": group, "change": "made"}
        audit.record_administration(EventKind.PERSON_CHANGED, at=now(), actor=SYSTEM, data=facts)
        self.stdout.write(f"{username} can sign in as {person.role}.")
