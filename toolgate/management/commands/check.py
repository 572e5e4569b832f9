"""toolgate check: can this deployment work as it is configured?"""

from __future__ import annotations

import difflib
import importlib
import os
import re
import traceback
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings as django_settings
from django.core.management.base import CommandError
from django.core.management.commands import check
from django.db import DatabaseError, InterfaceError

from approvals import policies, resolution
from toolgate.settings import Settings, settings
from toolgate.tools.registry import Registry

WANTED = {
    "database_url": (("sqlite", "postgres", "postgresql"), "postgres://user:password@host/name or sqlite:///path"),
    "redis_url": (("redis", "rediss", "unix"), "redis://host:6379/0"),
    "public_url": (("http", "https"), "https://gate.example.org"),
}
WANTED_IN_PRODUCTION = {"database_url": (("postgres", "postgresql"), "postgres://user:password@host/name")}
# Kubernetes tells every container of each service near it; one named toolgate-… looks like a setting of ours.
OF_KUBERNETES = re.compile(r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)")


class Command(check.Command):
    help = (
        "Looks whether settings and tools can work; names what cannot and what it should be. Exits with 2 if anything cannot."
    )

    def handle(self, *app_labels: list[str], **options: Any) -> None:
        if problems := [*unknown_variables(), *bad_addresses(), *unusable_tools()]:
            raise CommandError("\n".join(problems), returncode=2)
        for warning in [*outlasting_tools(), *unanswerable_tools()]:
            self.stderr.write(self.style.WARNING(warning))
        super().handle(*app_labels, **options)


def require_production() -> None:
    """For the processes of a deployment: says what keeps them from working, and ends with 2."""
    if settings.mode != "production":
        raise CommandError("TOOLGATE_MODE must be production for this. `toolgate serve` runs everything in one.", returncode=2)
    if problems := [*unknown_variables(), *bad_addresses(), *unusable_tools()]:
        raise CommandError("\n".join(problems), returncode=2)


def unknown_variables() -> list[str]:
    """Variables that look like settings and are none: a slip of the pen would pass in silence."""
    known = {f"TOOLGATE_{name.upper()}" for name in Settings.model_fields}
    given = (name for name in os.environ if name.startswith("TOOLGATE_") and not OF_KUBERNETES.fullmatch(name))
    unknown = sorted(name for name in given if name not in known and name.removesuffix("_FILE") not in known)
    return [f"{name}: there is no such setting.{_meant(name, known)}" for name in unknown]


def _meant(name: str, known: set[str]) -> str:
    near = difflib.get_close_matches(name, sorted(known), n=1)
    return f" Did you mean {near[0]}?" if near else " docs/settings.md lists them all."


def bad_addresses() -> list[str]:
    wanted = WANTED if settings.mode == "embedded" else WANTED | WANTED_IN_PRODUCTION
    return [
        f"TOOLGATE_{name.upper()}: must be like {example}"
        for name, (schemes, example) in wanted.items()
        if (url := getattr(settings, name)) and urlsplit(url).scheme not in schemes
    ]


def unusable_tools() -> list[str]:
    """What keeps the modules of TOOLGATE_TOOLS from being loaded, with the line that raised."""
    problems = [problem for name in django_settings.TOOLGATE_TOOLS if (problem := _problem(name))]
    if not problems:
        try:
            resolution.registry()
        except ValueError as error:  # names that clash between modules
            problems = [f"TOOLGATE_TOOLS: {error}"]
    return problems


def outlasting_tools() -> list[str]:
    """Tools that may run longer than the broker waits for word of a message before it hands it out again."""
    patience = django_settings.CELERY_BROKER_TRANSPORT_OPTIONS.get("visibility_timeout")
    if patience is None:
        return []
    return [
        f"{one.function.name} may run for {one.time_limit.total_seconds():g} seconds; the broker hands its message out again "
        f"after {patience:g}. It still runs once, and a worker looks at that message in vain."
        for one in resolution.registry()
        if one.time_limit.total_seconds() >= patience
    ]


def unanswerable_tools() -> list[str]:
    """Tools that wait for a group without anybody; nothing where no database can be asked."""
    try:
        return policies.unanswerable()
    except (DatabaseError, InterfaceError):
        return ["The database does not answer, or `toolgate migrate` has yet to be run: groups were not looked at."]


def _problem(name: str) -> str:
    try:
        module = importlib.import_module(name)
    except Exception as error:  # noqa: BLE001 - whatever somebody's module raises is told
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = "" if frame.filename.startswith("<frozen") else f" ({PurePath(frame.filename).name}, line {frame.lineno})"
        return f"TOOLGATE_TOOLS: {name} cannot be loaded: {type(error).__name__}: {error}{place}"
    found = any(isinstance(value, Registry) for value in vars(module).values())
    return "" if found else f"TOOLGATE_TOOLS: {name} holds no Registry."
