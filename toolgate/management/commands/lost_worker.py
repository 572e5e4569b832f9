"""toolgate lost_worker: a process that takes a call, begins to run it, and is killed in the middle. For the demonstration."""

from __future__ import annotations

import os
import secrets
import signal
import threading
from typing import Any

from django.core.management.base import BaseCommand

from approvals import execution, lifecycle
from approvals.clock import now
from approvals.lifecycle import Submission
from approvals.models import Agent
from toolgate.demonstration import seed

LIVES_FOR = 1.0


class Command(BaseCommand):
    help = "Submits one slow call, prints its id, begins to run it and kills itself while its body runs."

    def handle(self, **options: Any) -> None:
        agent = Agent.objects.get(name=seed.AGENT)
        sent = Submission("slow_report", f"lost_{secrets.token_hex(4)}", '{"seconds": 30}')
        call, _ = lifecycle.submit(agent=agent, submission=sent, at=now())
        self.stdout.write(str(call.pk))
        self.stdout.flush()
        threading.Timer(LIVES_FOR, os.kill, (os.getpid(), signal.SIGKILL)).start()
        execution.execute(call.pk)
