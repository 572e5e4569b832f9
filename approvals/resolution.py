"""What does a submitted call mean? The deployment's tools, and what `parse_arguments` makes of one call's arguments."""

from __future__ import annotations

import importlib
import importlib.util
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from types import ModuleType
from typing import Any

from django.apps import apps
from django.conf import settings

from approvals.models import Declaration, Resolution, ToolCall, When
from approvals.rendering import Rendered, Unrenderable, digest, render, sha256, storable
from toolgate.tools.canonical import canonical
from toolgate.tools.diagnostics import quote
from toolgate.tools.json_text import JSONTextError, read_json, read_stored
from toolgate.tools.outcomes import Error
from toolgate.tools.registry import Registration, Registry
from toolgate.tools.tool_call import ArgumentsError, read_arguments


@cache
def registry() -> Registry:
    """Every tool of this deployment: the modules named by TOOLGATE_TOOLS, and `tools.py` of installed apps."""
    modules = [importlib.import_module(name) for name in settings.TOOLGATE_TOOLS]
    apps_with_tools = (app.name for app in apps.get_app_configs() if app.name != "toolgate")
    names = [name for app in apps_with_tools if importlib.util.find_spec(name := f"{app}.tools") is not None]
    modules += [importlib.import_module(name) for name in names]
    return Registry.union([found for module in modules for found in _registries(module)])


def _registries(module: ModuleType) -> list[Registry]:
    return [value for value in vars(module).values() if isinstance(value, Registry)]


@dataclass(frozen=True, slots=True)
class Resolved:
    """One answer of a parser, shown and digested. `refusal` is a sentence for the model, and then nothing else counts."""

    tool: str
    input: str
    registration: Registration | None = None
    arguments: dict[Any, Any] = field(default_factory=dict)
    rendered: Rendered | None = None
    declaration: str = ""
    digest: str = ""
    refusal: str = ""
    milliseconds: float = 0.0

    @property
    def headline(self) -> str:
        return (self.registration.headline_for(self.arguments) or "") if self.registration and self.rendered else ""

    def draft(self, call: ToolCall, when: When, at: datetime) -> Resolution:
        """The row that keeps this answer, not yet saved."""
        return Resolution(
            call=call,
            when=when,
            at=at,
            milliseconds=self.milliseconds,
            declaration_id=keep_declaration(self.declaration),
            input=self.input,
            resolved=self.rendered.text if self.rendered else "",
            types=canonical(self.rendered.types) if self.rendered else "{}",
            digest=self.digest,
            refusal=storable(self.refusal),
            headline=storable(self.headline)[:2000],
        )

    def record(self, call: ToolCall, when: When, at: datetime) -> Resolution:
        row = self.draft(call, when, at)
        row.save(force_insert=True)
        return row


kept_declarations: set[str] = set()  # those that this process has found stored; there are as many as tools, and they stay


def keep_declaration(text: str) -> str | None:
    """Stores a declaration's text once; answers its digest, the key under which it is found."""
    if not text:
        return None
    digest = sha256(text)
    if digest not in kept_declarations:
        _, is_new = Declaration.objects.get_or_create(digest=digest, defaults={"text": text})
        if not is_new:  # a new one may yet be rolled back
            kept_declarations.add(digest)
    return digest


def context_for(call: ToolCall) -> dict[str, Any]:
    """What parser and body receive as context: what the agent sent, and what only the gate can say."""
    context: dict[str, Any] = read_json(call.context)
    answered = call.interrupts.filter(answered_at__isnull=False) if call.attempt > 1 else ()
    return context | {
        "tool_call_id": call.tool_call_id,
        "idempotency_key": str(call.pk),
        "interrupts": [
            {"message": one.message, "data": read_stored(one.data), "answer": read_stored(one.answer)} for one in answered
        ],
    }


def resolve(tool: str, input_text: str, context: dict[str, Any]) -> Resolved:
    """Runs the parser on the JSON text of arguments (empty: none were sent). A refusal is a value and never raises."""
    registration = registry().get(tool)
    if registration is None:
        return Resolved(tool, input_text, refusal=unknown_tool(tool))
    try:
        arguments = arguments_of(input_text)
    except ArgumentsError as error:
        return Resolved(tool, input_text, registration, refusal=str(error))
    started = time.perf_counter()
    outcome = registration.function.parse_arguments(arguments, context)
    spent = (time.perf_counter() - started) * 1000
    if isinstance(outcome, Error):
        return Resolved(tool, input_text, registration, refusal=outcome.message, milliseconds=spent)
    return bind(registration, input_text, outcome.value, spent)


def bind(registration: Registration, input_text: str, arguments: dict[Any, Any], milliseconds: float = 0) -> Resolved:
    """Shows and digests what a parser returned: by this, and nothing else, an approval knows what it is for."""
    tool, declaration = registration.function.name, canonical(registration.declaration())
    try:
        rendered = render(arguments)
    except Unrenderable as error:
        refusal = f"The arguments were understood, but cannot be shown to a reviewer exactly. {error}"
        return Resolved(tool, input_text, registration, refusal=refusal, milliseconds=milliseconds)
    bound = digest(tool, sha256(declaration), rendered, registration.volatile)
    return Resolved(tool, input_text, registration, arguments, rendered, declaration, bound, milliseconds=milliseconds)


def arguments_of(input_text: str) -> dict[str, Any]:
    """A fresh dict from the stored JSON text. Raises ArgumentsError with a sentence for the model."""
    try:
        value = read_json(input_text, max_depth=settings.MAX_DEPTH) if input_text else None
    except JSONTextError as error:
        raise ArgumentsError(error.message) from error
    return read_arguments(value, max_depth=settings.MAX_DEPTH)


def is_served(tool: str) -> bool:
    """Whether this process knows the function: a tool may be taken away while its calls wait."""
    return registry().get(tool) is not None


def unknown_tool(tool: str) -> str:
    return f"Tool call made to {quote(tool)} but tool not found"
