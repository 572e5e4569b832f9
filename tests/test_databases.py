"""`pytest --database` …"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
WITH, WITHOUT, ALONE = "tests/audit/test_verify.py", "tests/tools/test_dialects.py", "tests/running/test_postgresql.py"


def collected(database: str, *files: str) -> set[str]:
    """The files of which a test would run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:randomly", f"--database={database}", *files]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=200, check=False)
    assert listed.returncode == 0, listed.stdout + listed.stderr
    return {line.partition("::")[0] for line in listed.stdout.splitlines() if "::" in line}


@pytest.mark.parametrize(("database", "expected"), [("sqlite", {WITH, WITHOUT}), ("postgres", {WITH, ALONE})])
def test_takes_each_test_where_it_belongs(database: str, expected: set[str]) -> None:
    assert collected(database, WITH, WITHOUT, ALONE) == expected


def test_is_content_when_there_is_nothing_to_do_on_postgresql() -> None:
    assert collected("postgres", WITHOUT) == set()
