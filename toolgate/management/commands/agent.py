"""toolgate agent: a program that may submit, and its key."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from approvals import access
from approvals.clock import now
from approvals.models import Agent
from approvals.models.actors import SYSTEM


class Command(BaseCommand):
    help = "Makes the agent if there is none of that name, and issues a key. The key is shown this once."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")

    def handle(self, *, name: str, **options: Any) -> None:
        agent, _ = Agent.objects.get_or_create(name=name)
        _, text = access.issue_agent_key(agent=agent, actor=SYSTEM, at=now(), name="made on the command line")
        self.stdout.write(text)
