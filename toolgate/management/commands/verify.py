"""toolgate verify: is the trail whole?"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from approvals import audit


class Command(BaseCommand):
    help = "Walks every chain of the trail, or that of one call, and names the first broken link of each broken one."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("chain", nargs="?", help="the id of a tool call, or `administration`")

    def handle(self, *, chain: str | None, **options: Any) -> None:
        found = [audit.verify_chain(chain)] if chain else list(audit.verify_all())
        if chain and not found[0].length and found[0].is_whole:
            raise CommandError(f"There is no tool call {chain}, nor a trail of one.")
        broken = [one for one in found if not one.is_whole]
        for one in broken:
            event = f" (event {one.event_id})" if one.event_id else ""
            self.stdout.write(self.style.ERROR(f"{one.chain}: {one.problem}{event}"))
        events = sum(one.length for one in found)
        self.stdout.write(f"{len(found)} chains, {events} events, {len(broken)} broken.")
        if broken:
            sys.exit(1)
