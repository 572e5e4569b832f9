"""The command `toolgate`: start it, tell its stories, check it, verify its trail, make people and agents."""

from __future__ import annotations

import argparse
import importlib
import logging
import os
import sys
from collections.abc import Sequence

from django.core.management import execute_from_command_line
from django.db import DatabaseError, InterfaceError
from pydantic import ValidationError

# The commands that need Django live in toolgate/management/commands; this program sets Django up and hands over.
COMMANDS = {
    "serve": "the whole gate in one process on SQLite: pages, API, worker and clock",
    "web": "production: pages and API",
    "waiting": "production: the door for those who wait",
    "worker": "production: executes approved calls",
    "beat": "production: the clock",
    "demo": "tell the stories of the gate against a running server, without a browser",
    "check": "look whether the settings can work, and say which cannot",
    "verify": "walk the trail and name the first broken link",
    "backup": "copy the SQLite database while it is at work",
    "restored": "after a restore: let people look at what may have run since the backup",
    "prune": "retention: remove the payloads of calls that were settled long ago",
    "migrate": "bring the database up to date",
    "lost_worker": "part of the demonstration: a worker that is killed while it runs a call",
    "agent": "make an agent and a key for it (shown once)",
    "person": "make a reviewer, an auditor or an administrator",
    "settings": "print the reference of all settings",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command. 0: done; 1: it found something wrong; 2: it was called or configured wrongly."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if not given or given[0] not in COMMANDS:
        _parser().parse_args(given[:1] or ["--help"])
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolgate.settings")
    try:
        importlib.import_module(os.environ["DJANGO_SETTINGS_MODULE"])
    except ValidationError as error:
        return _told(error)
    except OSError as error:
        return _told_file(error)
    try:
        execute_from_command_line(["toolgate", *given])
    except (DatabaseError, InterfaceError) as error:
        return _told_database(error)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="toolgate",
        description="Human approval between AI agents and the tools that can hurt.",
        epilog="\n".join(f"  {name:<13}{words}" for name, words in COMMANDS.items()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=COMMANDS, metavar="COMMAND", help="one of those below; each knows --help")
    return parser


def _told(error: ValidationError) -> int:
    """A bad variable, by its name and what it wants."""
    for one in error.errors():
        name = "_".join(str(part) for part in one["loc"]).upper() or "the settings"
        name = name if name.startswith(("TOOLGATE_", "DATABASE_", "REDIS_", "the")) else f"TOOLGATE_{name}"
        print(f"{name}: {one['msg'].removeprefix('Value error, ')}", file=sys.stderr)  # noqa: T201 - a command speaks
    return 2


def _told_database(error: Exception) -> int:
    logging.getLogger(__name__).debug("the database refused", exc_info=error)
    words = (
        "The database does not answer, or is not up to date: run `toolgate migrate`; `toolgate check` looks at the settings."
    )
    print(f"{words} ({type(error).__name__})", file=sys.stderr)  # noqa: T201 - a command speaks
    return 1


def _told_file(error: OSError) -> int:
    """A file or folder that a variable names and that cannot be used."""
    by_value = {value: name for name, value in os.environ.items() if name.startswith("TOOLGATE_") and name.endswith("_FILE")}
    name = by_value.get(str(error.filename), "TOOLGATE_DATA_DIR")
    print(f"{name}: {error.strerror}: {error.filename}", file=sys.stderr)  # noqa: T201 - a command speaks
    return 2


if __name__ == "__main__":
    sys.exit(main())
