"""`make production-check`: a whole deployment is started, tells its stories and is ended, by one command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.running.production import Production, check

SCRIPT = Path(__file__).parents[2] / "scripts" / "production-check"
PYTHON = ".venv/bin/python"


@pytest.mark.timeout(600)
def test_tells_every_story_and_ends_everything() -> None:
    # As the script has it, with the Python that runs the tests: a checkout may keep its environment elsewhere.
    command = SCRIPT.read_text().splitlines()[-1].removeprefix("exec ").replace(PYTHON, sys.executable)
    told = subprocess.run(command.split(), cwd=SCRIPT.parents[1], capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert "stories as promised." in told.stdout
    assert told.stdout.endswith("ended with 0\n")


def test_ends_everything_when_a_deployment_cannot_start() -> None:
    broken = Production()
    broken.settings["TOOLGATE_TOOLS"] = "no_such_module"
    with pytest.raises(AssertionError):
        check(broken)
    assert not broken.postgres.is_running
    assert not broken.redis.is_running
    assert not broken.folder.exists()
