"""`make bench`: prints what was measured as ratios against the floors, and writes all of it as JSON."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import platform
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from bench import floors
from bench.http import Connection
from tests.running.production import Production

CONNECTIONS = 8
SETTINGS = {"TOOLGATE_TOOLS": "bench.tools", "TOOLGATE_WORKER_THREADS": "4", "TOOLGATE_LOG_LEVEL": "ERROR"}
numbers = itertools.count()
Step = Callable[[Connection, Connection], Awaitable[None]]


class Bench:
    def __init__(self, production: Production, seconds: float) -> None:
        self.production, self.seconds = production, seconds
        self.waits: list[float] = []

    def pair(self) -> tuple[Connection, Connection]:
        known = self.production.credentials
        secrets = known["agent_key"], known["people"]["ada"]["token"]
        agent, person = (Connection(self.production.port, secret) for secret in secrets)
        return agent, person

    async def submit(self, agent: Connection) -> dict[str, Any]:
        number = next(numbers)
        body = {"tool": "nothing", "tool_call_id": f"bench {number}", "arguments": {"number": number, "text": "a short text"}}
        return await agent.ask("POST", "/tool-calls", body)

    async def approve(self, person: Connection, call: dict[str, Any]) -> None:
        await person.ask("POST", f"/tool-calls/{call['id']}/decisions", {"kind": "approve", "digest": call["digest"]})

    async def lifecycle(self, agent: Connection, person: Connection) -> None:
        call = await self.submit(agent)
        began = time.perf_counter()
        await self.approve(person, call)
        while not call["settled"]:
            call = await agent.ask("GET", f"/tool-calls/{call['id']}?wait=30")
        self.waits.append(time.perf_counter() - began)
        if call["status"] != "succeeded":
            raise RuntimeError(call["status"])

    async def rate(self, step: Step) -> float:
        """Steps a second with all connections at it."""
        done, end = 0, time.monotonic() + self.seconds

        async def work() -> None:
            nonlocal done
            agent, person = self.pair()
            while time.monotonic() < end:
                await step(agent, person)
                done += 1
            await agent.end()
            await person.end()

        began = time.monotonic()
        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))
        return done / (time.monotonic() - began)

    async def only_submits(self, agent: Connection, person: Connection) -> None:
        await self.submit(agent)

    async def measure(self) -> dict[str, Any]:
        agent, person = self.pair()
        for _ in range(20):
            await self.lifecycle(agent, person)
        self.waits.clear()
        for _ in range(100):
            await self.lifecycle(agent, person)
        alone = sorted(self.waits)
        self.waits.clear()
        found: dict[str, Any] = {"submits_per_second": await self.rate(self.only_submits)}
        found["decisions_per_second"] = await self.decisions()
        found["lifecycles_per_second"] = await self.rate(self.lifecycle)
        found["approve_to_result_alone"] = {"p50": median(alone), "p99": quantiles(alone, n=100)[98]}
        found["approve_to_result_busy"] = {"p50": median(self.waits), "p99": quantiles(self.waits, n=100)[98]}
        await agent.end()
        await person.end()
        return found

    async def decisions(self) -> float:
        """Approvals a second of calls that were submitted before."""
        agent, _ = self.pair()
        calls = [await self.submit(agent) for _ in range(300)]
        await agent.end()

        async def work(mine: list[dict[str, Any]]) -> None:
            _, person = self.pair()
            for call in mine:
                await self.approve(person, call)
            await person.end()

        began = time.monotonic()
        await asyncio.gather(*(work(calls[start::CONNECTIONS]) for start in range(CONNECTIONS)))
        return len(calls) / (time.monotonic() - began)


def memory(production: Production) -> dict[str, int]:
    """Kilobytes of each process, its share of what is shared counted once."""
    found = {}
    for name, process in production.processes.items():
        pids = [process.process.pid] if process.process else []
        pids += [int(path.name) for path in Path("/proc").glob("[0-9]*") if pids and _parent(path) == pids[0]]
        for number, pid in enumerate(pids):
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            found[f"{name} {number}"] = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return found


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def ratios(found: dict[str, Any], bare: dict[str, float]) -> dict[str, float]:
    floor = bare["round_trip_seconds"] + 2 * bare["commit_seconds"]
    return {
        "a submit, in bare transactions of the same rows": bare["transactions_per_second"] / found["submits_per_second"],
        "approve to result alone, in a Celery round trip and two commits": found["approve_to_result_alone"]["p50"] / floor,
        "approve to result busy, in the same": found["approve_to_result_busy"]["p50"] / floor,
        "a lifecycle, in bare transactions": bare["transactions_per_second"] / found["lifecycles_per_second"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    parser.add_argument("--file", type=Path, default=Path("var/bench.json"))
    options = parser.parse_args()
    production = Production(settings=dict(SETTINGS))
    try:
        production.start("web", "worker", "beat")
        found = asyncio.run(Bench(production, options.seconds).measure())
        found["memory_kilobytes"] = memory(production)
        bare = {
            "transactions_per_second": floors.transactions_per_second(production.postgres.url, CONNECTIONS, options.seconds),
            "commit_seconds": floors.commit_seconds(production.postgres.url),
            "round_trip_seconds": floors.round_trip_seconds(production.redis.url),
        }
    finally:
        production.end()
    told = {"ratios": ratios(found, bare), "measured": found, "floors": bare, "python": platform.python_version()}
    options.file.parent.mkdir(parents=True, exist_ok=True)
    options.file.write_text(json.dumps(told, indent=1))
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
