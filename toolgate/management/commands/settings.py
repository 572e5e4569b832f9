"""toolgate settings: the reference page, generated from the settings themselves."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from toolgate.settings import Settings


class Command(BaseCommand):
    help = "Prints docs/settings.md."
    requires_system_checks: list[str] = []

    def handle(self, **options: Any) -> None:
        self.stdout.write(reference(), ending="")


def reference() -> str:
    """The page as Markdown, one row a variable."""
    rows = [f"| `{_names(name)}` | {_default(field)} | {field.description} |" for name, field in Settings.model_fields.items()]
    head = ["# Settings", "", (Settings.__doc__ or "").strip(), "", "| variable | default | meaning |", "|---|---|---|"]
    foot = ["", "This page is printed by `toolgate settings`; a test keeps it in step."]
    return "\n".join([*head, *rows, *foot, ""])


def _names(name: str) -> str:
    own = f"TOOLGATE_{name.upper()}"
    return f"{own}` or `{name.upper()}" if name in ("database_url", "redis_url") else own


def _default(field: Any) -> str:
    default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
    return "" if default in (None, "") else f"`{default}`"
