"""A whole production deployment on this machine: real PostgreSQL and Redis, and the commands of docker-compose.yml.

`python -m tests.running.production` starts it, tells it to `toolgate demo`, and ends it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import yaml

from tests.running.server import Serving
from tests.servers import PostgreSQL, Redis, free_port, new_folder, until

COMPOSE = Path(__file__).parents[2] / "docker-compose.yml"
STARTS_WITHIN = 90  # seconds; a bound, not a promise
ENDS_WITHIN = 60


def commands() -> dict[str, list[str]]:
    """What docker-compose.yml starts of ours, by service, without the program's name."""
    services = yaml.safe_load(COMPOSE.read_text())["services"]
    ours = {name: service["command"] for name, service in services.items() if service["image"] == "toolgate"}
    return {name: command[1:] for name, command in ours.items() if command[0] == "toolgate"}


@dataclass
class Process:
    """One of our processes, with its words in a log of its own."""

    command: list[str]
    environment: dict[str, str]
    log_path: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log, start_new_session=True)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Sends the signal to this one process; to all that it started, too, where it cannot pass it on."""
        assert self.process is not None
        if self.process.poll() is None:
            if how == signal.SIGKILL:
                os.killpg(self.process.pid, how)
            else:
                self.process.send_signal(how)
        return self.process.wait(ENDS_WITHIN)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def log(self) -> str:
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""


@dataclass
class Production(Serving):
    """`folder` is the data directory that all processes share, as the volume of docker-compose.yml is."""

    folder: Path = field(default_factory=new_folder)
    postgres: PostgreSQL = field(default_factory=PostgreSQL)
    redis: Redis = field(default_factory=Redis)
    waiting_port: int = field(default_factory=free_port)
    processes: dict[str, Process] = field(default_factory=dict)
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(50))

    @property
    def environment(self) -> dict[str, str]:
        ours = {
            "TOOLGATE_MODE": "production",
            "TOOLGATE_SECRET_KEY": self.secret,
            "TOOLGATE_DATABASE_URL": self.postgres.url,
            "TOOLGATE_REDIS_URL": self.redis.url,
            "TOOLGATE_TOOLS": "toolgate.demonstration.tools",
            "TOOLGATE_PUBLIC_URL": self.url,
        }
        return {**super().environment, **ours, **self.settings}

    def command(self, service: str) -> list[str]:
        """As docker-compose.yml has it, at ports of our own."""
        ports = {"8000": str(self.port), "8001": str(self.waiting_port), "0.0.0.0": "127.0.0.1"}  # noqa: S104 - replaced
        return [sys.executable, "-m", "toolgate.cli", *(ports.get(word, word) for word in commands()[service])]

    def start(self, *services: str) -> None:
        """The servers, a migrated database with the demonstration, and the services; all of them unless named."""
        self.postgres.start()
        self.redis.start()
        for words in (commands()["migrate"], ["demo", "--prepare", "--url", self.url]):
            done = self.run(*words)
            assert done.returncode == 0, done.stderr
        for service in services or [name for name in commands() if name != "migrate"]:
            self.start_one(service)
        self.until_ready()

    def start_one(self, service: str, name: str = "", **settings: str) -> Process:
        name = name or service
        process = Process(self.command(service), self.environment | settings, self.folder / f"{name}.log")
        self.processes[name] = process
        process.start()
        return process

    def until_ready(self) -> None:
        self.until_web_answers()
        until(lambda: self.readiness()["ok"], lambda: f"{self.readiness()} {self.log}")

    def until_web_answers(self) -> None:
        end = time.monotonic() + STARTS_WITHIN
        while not self.answers():
            assert time.monotonic() < end, self.log
            time.sleep(0.1)

    def readiness(self) -> dict[str, Any]:
        found: dict[str, Any] = httpx2.get(f"{self.url}/readyz", timeout=30).json()
        return found

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ends all that runs; answers the worst exit code."""
        codes = [process.end(how) for process in self.processes.values() if process.process is not None]
        self.processes.clear()
        self.postgres.remove()
        self.redis.remove()
        shutil.rmtree(self.folder, ignore_errors=True)
        return max((abs(code) for code in codes), default=0)

    @property
    def log(self) -> str:
        return "\n".join(f"== {name}\n{process.log}" for name, process in self.processes.items())


def check(production: Production) -> int:
    """Starts everything, with collected static files, and tells the stories. What `make production-check` runs."""
    production.settings["TOOLGATE_STATIC_DIR"] = str(production.folder / "collected")
    failed = ended = 1
    try:
        collect(production)
        production.start()
        print(f"serving {production.url} with {', '.join(production.processes)}", flush=True)
        told = production.run("demo", "--url", production.url)
        print(told.stdout, told.stderr)
        failed = told.returncode
    finally:
        if failed:
            print(production.log)
        ended = production.end()
        print(f"ended with {ended}")
    return failed or ended


def collect(production: Production) -> None:
    """As the Dockerfile does."""
    command = [sys.executable, "-m", "django", "collectstatic", "--no-input", "--settings", "toolgate.settings"]
    subprocess.run(command, env=production.environment, check=True, timeout=60)


if __name__ == "__main__":
    sys.exit(check(Production()))
