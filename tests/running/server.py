"""The real command, `toolgate serve`, as a process of its own: started, killed, started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from tests.servers import free_port

STARTS_WITHIN = 90


@dataclass
class Serving:
    folder: Path
    settings: dict[str, str] = field(default_factory=dict)
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    database: str = ""  # its address; empty for one in the folder
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("TOOLGATE_", "DJANGO_"))}
        ours = {"TOOLGATE_DATA_DIR": str(self.folder)}
        if self.database.startswith("postgres"):  # what is in the folder is found without being told
            ours["TOOLGATE_DATABASE_URL"] = self.database
        return {**kept, **ours, **self.settings}

    def run(self, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Another command of `toolgate` on the same data, run to its end."""
        command = [sys.executable, "-m", "toolgate.cli", *arguments]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, timeout=200, check=False, **options
        )

    def start(self) -> None:
        command = [sys.executable, "-m", "toolgate.cli", "serve", "--port", str(self.port), *self.options]
        began = len(self.log)
        with open(self.folder / "serve.log", "ab") as log:
            self.process = subprocess.Popen(command, env=self.environment, stdout=log, stderr=log)
        end = time.monotonic() + STARTS_WITHIN
        while not (self.answers() and "toolgate " in self.log[began:]):
            assert self.process.poll() is None, self.log
            assert time.monotonic() < end, self.log
            time.sleep(0.1)

    def answers(self) -> bool:
        try:
            return httpx2.get(f"{self.url}/api/v1/tools", timeout=5).status_code == 401
        except httpx2.TransportError:
            return False

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Sends the signal to this one process and waits for its end."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(60)

    @property
    def log(self) -> str:
        path = self.folder / "serve.log"
        return path.read_text() if path.exists() else ""

    @property
    def credentials(self) -> dict[str, Any]:
        kept: dict[str, Any] = json.loads((self.folder / "credentials.json").read_text())
        return kept
