"""The little world that the demonstration's tools act on: a shop's database, a folder of files, a folder of sent mail."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolgate.settings import settings

ROOT = settings.data_dir.resolve() / "demonstration"
DATABASE, FILES, MAIL = ROOT / "shop.sqlite3", ROOT / "files", ROOT / "mail"

SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    number INTEGER PRIMARY KEY, customer TEXT, email TEXT, total TEXT, currency TEXT, status TEXT
);
CREATE TABLE IF NOT EXISTS refunds (idempotency_key TEXT PRIMARY KEY, number INTEGER, amount TEXT, at TEXT);
CREATE TABLE IF NOT EXISTS updates (idempotency_key TEXT PRIMARY KEY, changed INTEGER);
CREATE TABLE IF NOT EXISTS runs (idempotency_key TEXT, tool TEXT, at TEXT);
"""
ORDERS = [
    (17, "Ada Byron", "ada@example.org", "120.00", "EUR", "delivered"),
    (18, "Charles Babbage", "charles@example.org", "89.90", "EUR", "delivered"),
    (19, "Mary Somerville", "mary@example.org", "1450.00", "EUR", "shipped"),
    (20, "Luigi Menabrea", "luigi@example.org", "35.50", "EUR", "delivered"),
    (21, "Augustus De Morgan", "augustus@example.org", "9.99", "EUR", "cancelled"),
]
REPORTS = {"report-2024.txt": "Sales of 2024", "report-2025.txt": "Sales of 2025", "draft.txt": "Nothing yet"}


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    """One transaction on the shop's database, which is not the gate's."""
    connection = sqlite3.connect(DATABASE, timeout=30, isolation_level="IMMEDIATE")
    connection.row_factory = sqlite3.Row
    try:
        with connection:
            yield connection
    finally:
        connection.close()


def build() -> None:
    """Makes what is missing of it; what is there stays as it is."""
    for folder in (ROOT, FILES, MAIL):
        folder.mkdir(parents=True, exist_ok=True)
    with database() as connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT OR IGNORE INTO orders VALUES (?, ?, ?, ?, ?, ?)", ORDERS)
    for name, text in REPORTS.items():
        put_file(name, text)


def put_file(name: str, text: str) -> Path:
    path = FILES / name
    if not path.exists():
        path.write_text(text)
    return path


def note_run(idempotency_key: str, tool: str) -> None:
    """One row each time a body runs, so that anybody can count."""
    with database() as connection:
        connection.execute("INSERT INTO runs VALUES (?, ?, datetime('now'))", (idempotency_key, tool))
