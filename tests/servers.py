"""Real PostgreSQL and Redis servers for tests: on a free port, ended by process id; killed, frozen and restarted in between.

A server keeps its port and its data until `remove`. What it has written survives `kill`, as the machine itself stays up.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import psycopg
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

COMES_WITHIN = 60  # seconds; a bound, not a promise
ROOM = 1 << 30  # bytes; containers often have 64 MB of shared memory, which is less than one database


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
    return port


def new_folder() -> Path:
    """In memory where there is room for it."""
    memory = Path("/dev/shm")  # noqa: S108 - mkdtemp makes a name of its own in it
    has_room = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > ROOM
    return Path(tempfile.mkdtemp(prefix="toolgate-", dir=memory if has_room else None))


def until(is_so: Callable[[], bool], what: Callable[[], str], within: float = COMES_WITHIN) -> None:
    end = time.monotonic() + within
    while not is_so():
        assert time.monotonic() < end, what()
        time.sleep(0.02)


class Server(ABC):
    """One server. `start` returns once it answers; `stop` ends it as an administrator would."""

    STOP: signal.Signals

    def __init__(self) -> None:
        self.folder = new_folder()
        self.port = free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self.account: str | None = None  # root starts it as this account; anybody else as themselves

    @property
    @abstractmethod
    def url(self) -> str:
        """What DATABASE_URL or REDIS_URL says of it."""

    @abstractmethod
    def command(self) -> list[str]: ...

    @abstractmethod
    def answers(self) -> bool: ...

    def run(self, *command: str) -> subprocess.Popen[bytes]:
        """Any command as the server's account, its words in the log."""
        with open(self.folder / "log", "ab") as log:
            if self.account is None:
                return subprocess.Popen(command, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
            return subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                user=self.account, group=pwd.getpwnam(self.account).pw_gid, extra_groups=[],
            )  # fmt: skip

    @property
    def log(self) -> str:
        return (self.folder / "log").read_text(errors="replace")

    def start(self) -> None:
        self.process = self.run(*self.command())
        until(lambda: self._lives() and self.answers(), lambda: self.log)

    def _lives(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log
        return True

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """Ends it in good order, connections included."""
        if self.process is not None and self.is_running:
            self.go_on()
            self.process.send_signal(self.STOP)
            self.process.wait(COMES_WITHIN)

    def kill(self) -> None:
        """Ends every process of it at once, as losing its machine would."""
        ours = self.freeze()
        self._send(signal.SIGKILL, ours)
        if self.process is not None:
            self.process.wait(COMES_WITHIN)
        until(lambda: not any(_is_there(pid) for pid in ours), lambda: f"still there: {ours}")

    def freeze(self) -> list[int]:
        """It takes connections and answers nothing until `go_on`, as behind a network that swallows everything.

        Answers with its processes.
        """
        if self.process is None or not self.is_running:
            return []
        self._send(signal.SIGSTOP, [self.process.pid])  # first, so that it starts no more of them
        children = _children(self.process.pid)
        self._send(signal.SIGSTOP, children)
        return [self.process.pid, *children]

    def go_on(self) -> None:
        if self.process is not None and self.is_running:
            self._send(signal.SIGCONT, [*_children(self.process.pid), self.process.pid])

    def restart(self) -> None:
        """The same port, the same data."""
        self.stop()
        self.start()

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _send(self, how: signal.Signals, processes: list[int]) -> None:
        for pid in processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, how)


class PostgreSQL(Server):
    """Owned by an ordinary role, `toolgate`, that may make databases: what holds for it holds without a superuser."""

    STOP = signal.SIGINT  # the fast way: connections are ended, nobody waits for them

    def __init__(self, *options: str) -> None:
        super().__init__()
        self.options = options
        if os.geteuid() == 0:
            self.account = next(name for name in ("postgres", "nobody") if _is_account(name))
            shutil.chown(self.folder, self.account, pwd.getpwnam(self.account).pw_gid)

    @property
    def url(self) -> str:
        return self.url_of("toolgate")

    def url_of(self, database: str, role: str = "toolgate") -> str:
        return f"postgres://{role}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        is_new = not (self.folder / "data").exists()
        if is_new:
            self._make()
        super().start()
        if is_new:
            with psycopg.connect(self.url_of("postgres", "postgres"), autocommit=True) as connection:
                connection.execute("CREATE ROLE toolgate LOGIN CREATEDB")
                connection.execute("CREATE DATABASE toolgate OWNER toolgate")

    def _make(self) -> None:
        # People's order of letters, as most installations have it, so that no test leans on the order of bytes.
        words = ("--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US")
        made = self.run(
            _binary("initdb"), "--pgdata=data", "--username=postgres", "--auth=trust", "--no-sync", "--no-instructions", *words
        )
        assert made.wait(COMES_WITHIN) == 0, self.log

    def command(self) -> list[str]:
        words = [
            f"port={self.port}", "listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200",
            "fsync=off", "full_page_writes=off", "max_wal_size=256MB", *self.options,
        ]  # fmt: skip
        return [_binary("postgres"), "-D", "data", *(part for word in words for part in ("-c", word))]

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url_of("postgres", "postgres"), connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True


class Redis(Server):
    STOP = signal.SIGTERM

    def __init__(self, *options: str) -> None:
        super().__init__()
        self.options = options

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        words = [
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--dir",
            str(self.folder),
            "--save",
            "",
            "--appendonly",
            "yes",
        ]
        return [_binary("redis-server"), *words, *self.options]

    def answers(self) -> bool:
        try:
            with redis.Redis(port=self.port, socket_timeout=5, retry=Retry(NoBackoff(), 0)) as client:
                return bool(client.ping())
        except redis.exceptions.RedisError:  # refused, or still loading its data
            return False


def _binary(name: str) -> str:
    """Debian keeps PostgreSQL's own programs beside the path, a folder a version; the newest one serves."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[4]))
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or (versions and versions[-1])
    assert found, f"install it: {name} is not here"
    return str(found)


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _children(pid: int) -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if _parent(path) == pid]


def _parent(process: Path) -> int | None:
    stat = _stat(process)
    return int(stat[1]) if stat else None


def _is_there(pid: int) -> bool:
    """A process that has ended and that nobody has asked about yet is not there any more."""
    stat = _stat(Path("/proc", str(pid)))
    return bool(stat) and stat[0] != "Z"


def _stat(process: Path) -> list[str]:
    """State, parent and the rest, after the name in brackets, which may hold anything."""
    try:
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
