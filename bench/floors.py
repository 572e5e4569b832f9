"""What nothing can be faster than on this machine, measured in the same run: bare transactions, bare Celery round trips."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from statistics import median
from uuid import uuid4

import psycopg
import redis
from celery import Celery

COUNT = 400
TABLES = ("approvals_toolcall", "approvals_resolution", "approvals_auditevent")
app = Celery("bare", broker=os.environ.get("BENCH_REDIS_URL", "memory://"))
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=1, worker_hijack_root_logger=False)


@app.task(name="bare")
def bare(key: str) -> None:
    redis.Redis.from_url(os.environ["BENCH_REDIS_URL"]).rpush(key, 1)


def transactions_per_second(url: str, connections: int, seconds: float) -> float:
    """One insert into a copy of each table that a submit writes, then a commit; as many connections at once."""
    with psycopg.connect(url, autocommit=True) as connection:
        for table in TABLES:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS bare_{table} (LIKE {table} INCLUDING DEFAULTS INCLUDING INDEXES)".encode()
            )
    counts: list[int] = []

    def insert() -> None:
        done, end = 0, time.monotonic() + seconds
        with psycopg.connect(url) as connection:
            rows = {table: _sample(connection, table) for table in TABLES}
            while time.monotonic() < end:
                for table, (names, values) in rows.items():
                    _insert(connection, table, names, values)
                connection.commit()
                done += 1
        counts.append(done)

    threads = [threading.Thread(target=insert) for _ in range(connections)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / (time.monotonic() - began)


def _sample(connection: psycopg.Connection, table: str) -> tuple[list[str], list[object]]:
    cursor = connection.execute(f"SELECT * FROM {table} LIMIT 1".encode())
    row = cursor.fetchone()
    if row is None or cursor.description is None:
        raise RuntimeError(f"{table} holds no row to copy")
    return [column.name for column in cursor.description], list(row)


UNIQUE = {"id", "submission_key", "chain", "call_id"}


def _insert(connection: psycopg.Connection, table: str, names: list[str], values: list[object]) -> None:
    fresh = [
        (uuid4() if name in ("id", "call_id") else uuid4().hex) if name in UNIQUE else value
        for name, value in zip(names, values, strict=True)
    ]
    columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join(["%s"] * len(names))
    connection.execute(f"INSERT INTO bare_{table} ({columns}) VALUES ({marks})".encode(), fresh)


def commit_seconds(url: str) -> float:
    """The median of one small update and its commit."""
    spent: list[float] = []
    with psycopg.connect(url) as connection:
        for _ in range(COUNT):
            began = time.perf_counter()
            connection.execute("UPDATE approvals_sweep SET at = at")
            connection.commit()
            spent.append(time.perf_counter() - began)
    return median(spent)


def round_trip_seconds(redis_url: str) -> float:
    """The median from sending a bare Celery task to holding what it wrote."""
    environment = os.environ | {"BENCH_REDIS_URL": redis_url}
    command = [sys.executable, "-m", "celery", "--app", "bench.floors", "worker", "--queues", "bare", "--loglevel", "ERROR"]
    command += ["--pool", "threads", "--concurrency", "4", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    app.conf.update(broker_url=redis_url)
    spent: list[float] = []
    try:
        with redis.Redis.from_url(redis_url) as client:
            for number in range(COUNT):
                began = time.perf_counter()
                app.send_task("bare", args=[f"bare {number}"], queue="bare")
                client.blpop([f"bare {number}"], timeout=60)
                spent.append(time.perf_counter() - began)
    finally:
        worker.terminate()
        worker.wait(60)
    return median(spent[20:])
