"""Worker processes that are killed at random points: `python -m tests.running.killed_workers WORKERS KILLS`.

Each is a fork of this process, which has loaded everything and opened nothing, so that it is at work at once. It runs what
`toolgate worker` runs. Prints how many it has killed; after the last one it keeps them alive until SIGTERM.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from types import FrameType

import django

told = threading.Event()


def start() -> int:
    if (pid := os.fork()) == 0:
        signal.set_wakeup_fd(-1)
        parts.run_until_told(parts.Worker())
    return pid


def on_signal(number: int, frame: FrameType | None) -> None:
    told.set()


def main(count: int, kills: int) -> None:
    workers = [start() for _ in range(count)]
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    for killed in range(1, kills + 1):
        if told.wait(random.uniform(0.0, 0.5)):  # noqa: S311 - chance, not a secret
            break
        victim = workers.pop(random.randrange(len(workers)))  # noqa: S311
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        workers.append(start())
        print(f"killed {killed}", flush=True)
    told.wait()
    for worker in workers:
        os.kill(worker, signal.SIGTERM)
        os.waitpid(worker, 0)


if __name__ == "__main__":
    django.setup()
    from toolgate import parts

    main(int(sys.argv[1]), int(sys.argv[2]))
