"""`toolgate serve` and the commands beside it, as somebody runs them."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.running.server import Serving, free_port
from toolgate.management.commands.settings import reference

ROOT = Path(__file__).resolve().parents[2]
Serve = Callable[..., Serving]


def test_says_what_to_open_and_paste_and_ends_cleanly(serve: Serve) -> None:
    serving = serve()
    assert f"toolgate is here: {serving.url}" in serving.log
    assert serving.credentials["agent_key"] in serving.log
    assert all(person["password"] in serving.log for person in serving.credentials["people"].values())
    assert serving.end(signal.SIGTERM) in (0, -signal.SIGTERM)
    assert "Traceback" not in serving.log


def test_keeps_its_secrets_to_its_owner(serve: Serve) -> None:
    serving = serve()
    for name in ("credentials.json", "secret_key"):
        assert stat.S_IMODE(os.stat(serving.folder / name).st_mode) == 0o600


def test_starts_again_after_a_kill_with_everything_there(serve: Serve) -> None:
    serving = serve()
    before = serving.credentials
    assert serving.end(signal.SIGKILL) == -signal.SIGKILL
    serving.start()
    assert serving.credentials == before
    assert serving.run("verify").returncode == 0


def test_says_that_a_port_is_taken(serve: Serve) -> None:
    serving = serve()
    refused = serving.run("serve", "--port", str(serving.port))
    assert refused.returncode == 1
    assert f"Port {serving.port} is taken" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_tells_every_story_of_the_demonstration(serve: Serve) -> None:
    serving = serve()
    told = serving.run("demo", "--url", serving.url)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "10 of 10 stories as promised." in told.stdout


def test_demo_says_that_nothing_answers(serve: Serve) -> None:
    serving = serve()
    told = serving.run("demo", "--url", f"http://127.0.0.1:{free_port()}")
    assert told.returncode == 1
    assert "Is `toolgate serve` running?" in told.stderr


def test_verify_names_one_changed_byte_of_any_event(serve: Serve) -> None:
    serving = serve()
    serving.end(signal.SIGTERM)
    database = sqlite3.connect(serving.folder / "toolgate.sqlite3")
    database.execute("DROP TRIGGER trail_no_update")
    events = database.execute("SELECT id, chain, sequence, data FROM approvals_auditevent ORDER BY id").fetchall()
    for event_id, chain, sequence, data in events[:: max(1, len(events) // 5)]:
        changed = data[:-2] + chr(ord(data[-2]) ^ 1) + data[-1:]
        database.execute("UPDATE approvals_auditevent SET data = ? WHERE id = ?", (changed, event_id))
        database.commit()
        found = serving.run("verify")
        assert found.returncode == 1
        assert f"{chain}: event {sequence} was changed" in found.stdout
        database.execute("UPDATE approvals_auditevent SET data = ? WHERE id = ?", (data, event_id))
        database.commit()
    database.close()
    assert serving.run("verify").returncode == 0


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("TOOLGATE_LEASE_SECONDS", "soon", "valid number"),
        ("TOOLGATE_MODE", "cloud", "'embedded' or 'production'"),
        ("TOOLGATE_MODE", "production", "TOOLGATE_SECRET_KEY, TOOLGATE_DATABASE_URL, TOOLGATE_REDIS_URL"),
    ],
)
def test_check_names_a_bad_variable_and_what_it_wants(variable: str, value: str, wanted: str, tmp_path: Path) -> None:
    told = Serving(tmp_path, {variable: value}).run("check")
    assert told.returncode == 2
    assert wanted in told.stderr
    assert value == "production" or variable in told.stderr
    assert "Traceback" not in told.stderr


def test_makes_agents_and_people(serve: Serve) -> None:
    serving = serve()
    assert serving.run("agent", "mailer").stdout.startswith("tg_agent_")
    made = serving.run("person", "mary", "--group", "finance", input="a long pass phrase\n")
    assert made.stdout == "mary can sign in as reviewer.\n"
    again = serving.run("person", "mary", input="a long pass phrase\n")
    assert again.returncode == 1
    assert "already" in again.stderr


def test_help_names_every_command(tmp_path: Path) -> None:
    told = Serving(tmp_path).run("--help")
    assert told.returncode == 0, sys.version
    assert all(name in told.stdout for name in ("serve", "demo", "check", "verify", "agent", "person", "settings"))


def test_reference_of_settings_is_in_step() -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == reference()
