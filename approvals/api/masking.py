"""Which values of a call are never shown: those at the paths that a tool's registration declares as secrets."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from approvals import resolution
from approvals.api.renderers import StoredJSON
from approvals.models import Declaration, ToolCall
from approvals.rendering import masked, read
from toolgate.tools.canonical import exact
from toolgate.tools.function import Function
from toolgate.tools.registry import declared_secrets
from toolgate.tools.tool_call import ArgumentsError

MASK = "••••••"


def secrets_of(call: ToolCall) -> tuple[str, ...]:
    """Dotted paths. For a tool that is gone, what the declaration kept with the call marks."""
    registration = resolution.registry().get(call.tool)
    if registration is not None:
        return registration.secrets
    declaration = call.resolution.declaration_id if call.resolution else None
    return _declared(declaration) if declaration else ()


@lru_cache(maxsize=256)
def _declared(digest: str) -> tuple[str, ...]:
    """What a declaration's schema marks. A digest names one text for ever, so it is read once."""
    schema = read(Declaration.objects.get(digest=digest).text).get("schema")
    return tuple(declared_secrets(Function(name="gone", parameters_schema=schema)))


def shown(call: ToolCall, text: str) -> Any:
    """Stored JSON as it stands, or with what is secret masked; None for no text."""
    if not text:
        return None
    secrets = secrets_of(call)
    return masked(read(text), secrets) if secrets else StoredJSON(text)


def shown_arguments(call: ToolCall, text: str) -> Any:
    """Arguments as they were sent, an object or the JSON text of one; what is secret is masked in either form."""
    secrets = secrets_of(call)
    if not text or not secrets:
        return StoredJSON(text) if text else None
    sent = read(text)
    if not isinstance(sent, str):
        return masked(sent, secrets)
    try:
        return exact(masked(resolution.arguments_of(text), secrets))
    except ArgumentsError:  # not readable, so nobody can tell what in it is secret
        return MASK


def unmasked(call: ToolCall, edited: str) -> str:
    """Edited arguments in which a mask that the reviewer left alone is again what it stands for."""
    secrets = secrets_of(call)
    if not secrets or call.resolution is None:
        return edited
    try:
        now, before = resolution.arguments_of(edited), resolution.arguments_of(call.resolution.input)
    except ArgumentsError:
        return edited
    restored = _restored(now, before, [path.split(".") for path in secrets])
    return edited if restored == now else exact(restored)


def _restored(now: Any, before: Any, paths: list[list[str]]) -> Any:
    if any(not path for path in paths):
        return before if now == MASK else now
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: _restored(value, before.get(key, value), _below(paths, key)) for key, value in now.items()}
    if isinstance(now, list) and isinstance(before, list):
        olds = before[: len(now)] + now[len(before) :]
        pairs = zip(now, olds, strict=True)
        return [_restored(item, old, _below(paths, str(place))) for place, (item, old) in enumerate(pairs)]
    return now


def _below(paths: list[list[str]], key: str) -> list[list[str]]:
    return [path[1:] for path in paths if path and path[0] in ("*", key)]
