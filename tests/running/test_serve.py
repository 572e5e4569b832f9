"""`toolgate serve` and the commands beside it, as somebody runs them."""

from __future__ import annotations

import os
import signal
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.databases import past_every_guard
from tests.running.server import Serving
from tests.servers import free_port
from toolgate.management.commands.settings import reference

ROOT = Path(__file__).resolve().parents[2]
Serve = Callable[..., Serving]


def test_says_what_to_open_and_paste_and_ends_cleanly(serve: Serve) -> None:
    serving = serve()
    assert f"toolgate is here: {serving.url}" in serving.log
    assert serving.credentials["agent_key"] in serving.log
    assert all(person["password"] in serving.log for person in serving.credentials["people"].values())
    assert serving.end(signal.SIGTERM) == 0
    assert "Traceback" not in serving.log


def test_keeps_its_secrets_to_its_owner(serving: Serving) -> None:
    for name in ("credentials.json", "secret_key"):
        assert stat.S_IMODE(os.stat(serving.folder / name).st_mode) == 0o600


def test_starts_again_after_a_kill_with_everything_there(serve: Serve) -> None:
    serving = serve()
    before = serving.credentials
    assert serving.end(signal.SIGKILL) == -signal.SIGKILL
    serving.start()
    assert serving.credentials == before
    assert serving.run("verify").returncode == 0


def test_says_that_a_port_is_taken(serving: Serving) -> None:
    refused = serving.run("serve", "--port", str(serving.port))
    assert refused.returncode == 1
    assert f"Port {serving.port} is taken" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_shows_how_to_call_a_tool_of_somebody_s_own(serve: Serve) -> None:
    serving = serve(TOOLGATE_TOOLS="tests.running.counted")
    assert '{"tool": "count", "tool_call_id": "call_1", "arguments": {"number": 1}}' in serving.log


def test_reads_a_body_that_comes_in_chunks(serve: Serve) -> None:
    serving = serve("--no-demo", TOOLGATE_TOOLS="tests.running.counted")
    headers = {"Authorization": f"Bearer {serving.run('agent', 'mine').stdout.strip()}", "Content-Type": "application/json"}
    parts = [b'{"tool": "count", "tool_call_', b'id": "c1", "arguments": {"number"', b": 1}}"]
    answer = httpx2.post(f"{serving.url}/api/v1/tool-calls", headers=headers, content=iter(parts))
    assert (answer.status_code, answer.json()["status"]) == (201, "pending")


def test_serves_without_the_demonstration(serve: Serve) -> None:
    serving = serve("--no-demo")
    assert f"toolgate serves {serving.url}" in serving.log
    key = serving.run("agent", "mine").stdout.strip()
    headers = {"Authorization": f"Bearer {key}"}
    assert httpx2.get(f"{serving.url}/api/v1/tools", headers=headers).json()["tools"] == []
    assert not (serving.folder / "credentials.json").exists()


def test_makes_the_demonstration_that_a_killed_first_start_did_not_finish(serve: Serve) -> None:
    serving = serve()
    serving.end(signal.SIGKILL)
    with past_every_guard(serving.database) as execute:
        for table in ("person_groups", "personaltoken", "agentkey", "person"):
            execute(f"DELETE FROM approvals_{table}")  # noqa: S608 - our own words
    serving.start()
    assert serving.credentials["agent_key"] in serving.log


def test_tells_every_story_of_the_demonstration(serve: Serve) -> None:
    serving = serve()
    told = serving.run("demo", "--url", serving.url)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "10 of 10 stories as promised." in told.stdout


def test_demo_says_that_nothing_answers(serving: Serving) -> None:
    told = serving.run("demo", "--url", f"http://127.0.0.1:{free_port()}")
    assert told.returncode == 1
    assert "Is the server running?" in told.stderr


def test_verify_names_one_changed_byte_of_any_event(serve: Serve) -> None:
    serving = serve()
    serving.end(signal.SIGTERM)
    with past_every_guard(serving.database) as execute:
        events = execute("SELECT id, chain, sequence, data FROM approvals_auditevent ORDER BY id")
        for event_id, chain, sequence, data in events[:: max(1, len(events) // 5)]:
            changed = data[:-2] + chr(ord(data[-2]) ^ 1) + data[-1:]
            execute("UPDATE approvals_auditevent SET data = %s WHERE id = %s", changed, event_id)
            found = serving.run("verify")
            assert found.returncode == 1
            assert f"{chain}: event {sequence} was changed" in found.stdout
            execute("UPDATE approvals_auditevent SET data = %s WHERE id = %s", data, event_id)
    assert serving.run("verify").returncode == 0


@pytest.mark.parametrize(
    ("variable", "value", "wanted"),
    [
        ("TOOLGATE_LEASE_SECONDS", "soon", "valid number"),
        ("TOOLGATE_LEASE_SECONDS", "0", "greater than 0"),
        ("TOOLGATE_LEASE_SECOND", "5", "Did you mean TOOLGATE_LEASE_SECONDS?"),
        ("TOOLGATE_MODE", "cloud", "'embedded' or 'production'"),
        ("TOOLGATE_DATA_DIR", __file__, "File exists"),
        ("TOOLGATE_SECRET_KEY_FILE", "/no/such/file", "No such file"),
        ("TOOLGATE_DATABASE_URL", "mysql://here", "must be like postgres://"),
        ("TOOLGATE_PUBLIC_URL", "gate.example.org", "must be like https://"),
        ("TOOLGATE_TOOLS", "no_such_module", "No module named 'no_such_module'"),
        ("TOOLGATE_TOOLS", "json", "json holds no Registry"),
        ("TOOLGATE_MODE", "production", "TOOLGATE_SECRET_KEY, TOOLGATE_DATABASE_URL, TOOLGATE_REDIS_URL"),
    ],
)
def test_check_names_a_bad_variable_and_what_it_wants(variable: str, value: str, wanted: str, tmp_path: Path) -> None:
    told = Serving(tmp_path, {variable: value}).run("check")
    assert told.returncode == 2
    assert wanted in told.stderr
    assert value == "production" or variable in told.stderr
    assert "Traceback" not in told.stderr


def test_serve_says_that_tools_cannot_be_loaded(tmp_path: Path) -> None:
    told = Serving(tmp_path, {"TOOLGATE_TOOLS": "no_such_module"}).run("serve", "--port", "0")
    assert told.returncode == 2
    assert "TOOLGATE_TOOLS: no_such_module cannot be loaded" in told.stderr
    assert "Traceback" not in told.stderr


def test_verify_says_that_there_is_no_such_call(serving: Serving) -> None:
    told = serving.run("verify", "01a23166-c946-7f7a-9bf4-1371e29da907")
    assert told.returncode == 1
    assert "There is no tool call 01a23166" in told.stderr


def test_makes_agents_and_people(serving: Serving) -> None:
    assert serving.run("agent", "mailer").stdout.startswith("tg_agent_")
    typed = serving.run("person", "mary", "--group", "suport", input="a long pass phrase\n")
    assert (typed.returncode, "Did you mean support?" in typed.stderr) == (1, True)
    made = serving.run("person", "mary", "--group", "finance", "--new-group", input="a long pass phrase\n")
    assert made.stdout == "mary can sign in as reviewer.\n"
    again = serving.run("person", "mary", input="a long pass phrase\n")
    assert again.returncode == 1
    assert "already" in again.stderr
    assert serving.run("person", "mary", "--group", "support").stdout == "mary is now in finance, support.\n"


@pytest.mark.parametrize("words", [("agent", "mailer"), ("person", "mary"), ("verify",)])
def test_command_on_a_database_that_was_never_migrated_says_so(words: tuple[str, ...], tmp_path: Path) -> None:
    told = Serving(tmp_path).run(*words, input="a long pass phrase\n")
    assert told.returncode == 1
    assert "run `toolgate migrate`" in told.stderr
    assert "Traceback" not in told.stderr


def test_demo_says_that_its_tools_are_not_served(serving: Serving) -> None:
    serving.settings["TOOLGATE_TOOLS"] = "tests.running.counted"
    told = serving.run("demo", "--url", serving.url)
    del serving.settings["TOOLGATE_TOOLS"]
    assert told.returncode == 1
    assert "TOOLGATE_TOOLS names others" in told.stderr


def test_help_names_every_command(tmp_path: Path) -> None:
    told = Serving(tmp_path).run("--help")
    assert told.returncode == 0, sys.version
    assert all(name in told.stdout for name in ("serve", "demo", "check", "verify", "agent", "person", "settings"))


def test_reference_of_settings_is_in_step() -> None:
    assert (ROOT / "docs" / "settings.md").read_text() == reference()
