"""What people read about a tool: its declaration, its risk, and when it needs whom to agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from approvals.review.reading import duration
from approvals.review.values import pretty
from toolgate.tools.registry import Registration


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    kind: str
    is_required: bool
    is_secret: bool
    description: str


@dataclass(frozen=True, slots=True)
class ToolEntry:
    registration: Registration

    @property
    def name(self) -> str:
        return self.registration.function.name

    @property
    def description(self) -> str:
        return self.registration.function.description or ""

    @property
    def is_declared_only(self) -> bool:
        return self.registration.function.function is None

    @property
    def policy(self) -> str:
        one = self.registration
        if one.deny is True:
            return "Denied: no call of it ever runs."
        if one.require_approval is False:
            return "Allowed at once, without asking anybody."
        count = max(one.approvals, len(one.groups), 1)
        condition = " when its condition is met" if one.require_approval is not True else ""
        denies = " Some calls are denied." if one.deny is not False else ""
        return f"Needs {count} {'approvals of different people' if count > 1 else 'approval'}{condition}.{denies}"

    @property
    def facts(self) -> list[tuple[str, str]]:
        one = self.registration
        told = [
            ("Decisions", ", ".join(kind.replace("_", " ") for kind in one.allowed_decisions)),
            ("Must be decided within", duration(one.expires_after)),
            ("An approval is good for", duration(one.approval_valid_for)),
            ("May run for", duration(one.time_limit)),
            ("When its worker is lost", "runs again by itself" if one.idempotent else "people say what happened"),
            ("Approving one's own", "allowed" if one.self_approval else "not allowed"),
            ("Version", one.version),
        ]
        return [("Groups", ", ".join(one.groups)), *told] if one.groups else told

    @property
    def parameters(self) -> list[Parameter]:
        schema = self.registration.function.json_schema()
        properties, required = schema.get("properties"), schema.get("required")
        if not isinstance(properties, dict):
            return []
        must = required if isinstance(required, list) else []
        return [self._parameter(str(name), facts, must) for name, facts in properties.items()]

    def _parameter(self, name: str, facts: Any, must: list[Any]) -> Parameter:
        known = facts if isinstance(facts, dict) else {}
        kind = known.get("type") or ("one of several" if known else "anything")
        shown = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
        is_secret = any(path.split(".")[0] == name for path in self.registration.secrets)
        return Parameter(name, shown, name in must, is_secret, str(known.get("description") or ""))

    @property
    def schema(self) -> str:
        return pretty(self.registration.function.json_schema())
