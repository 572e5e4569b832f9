"""Several worker processes on one database race for the same approved calls: each call runs once."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.databases import rows

CALLS, WORKERS = 200, 4
SUBMIT = f"""
from approvals import lifecycle
from approvals.clock import now
from approvals.lifecycle import Submission
from approvals.models import Agent
agent = Agent.objects.create(name="an agent")
for number in range({CALLS}):
    sent = Submission("count_at_once", f"call_{{number}}", '{{"number": 1}}')
    lifecycle.submit(agent=agent, submission=sent, at=now())
"""
WORK = """
import sys
from approvals import execution
from approvals.models import ToolCall
approved = list(ToolCall.objects.order_by("id").values_list("pk", flat=True))
print("ready", flush=True)
sys.stdin.readline()
for call_id in approved:
    execution.execute(call_id)
"""


def test_every_call_runs_once(tmp_path: Path, database_url: str) -> None:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLGATE_", "DJANGO_"))}
    ours = {
        "TOOLGATE_DATA_DIR": str(tmp_path),
        "TOOLGATE_DATABASE_URL": database_url,
        "TOOLGATE_TOOLS": "tests.running.counted",
        "TOOLGATE_LOG_LEVEL": "ERROR",
    }
    environment = kept | ours | {"DJANGO_SETTINGS_MODULE": "toolgate.settings"}

    def start(*arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "django", *arguments]
        return subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    for arguments in (["migrate", "--verbosity=0"], ["shell", "-c", SUBMIT]):
        process = start(*arguments)
        process.communicate(timeout=120)
        assert process.returncode == 0
    workers = [start("shell", "-c", WORK) for _ in range(WORKERS)]
    for process in workers:
        assert process.stdout is not None
        while "ready" not in (line := process.stdout.readline()):
            assert line
    for process in workers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in workers:
        process.communicate(timeout=200)
        assert process.returncode == 0

    counted = rows(f"sqlite:///{tmp_path / 'counted.sqlite3'}", "SELECT idempotency_key FROM runs")
    ran = Counter(key for (key,) in counted)
    assert (len(ran), set(ran.values())) == (CALLS, {1})
    statuses = rows(database_url, "SELECT status, count(*) FROM approvals_toolcall GROUP BY status")
    assert statuses == [("succeeded", CALLS)]
    by_worker = dict(rows(database_url, "SELECT worker, count(*) FROM approvals_execution GROUP BY worker"))
    assert sum(by_worker.values()) == CALLS
    assert len(by_worker) > 1
