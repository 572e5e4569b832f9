"""Which values of a call are never shown, and how an edit that does not touch them keeps them."""

from __future__ import annotations

from typing import Any

from approvals import resolution
from approvals.models import ToolCall
from approvals.rendering import masked, read
from approvals.review.values import MASK, pretty
from approvals.review.visible import in_json
from toolgate.tools.canonical import exact
from toolgate.tools.function import Function
from toolgate.tools.registry import Registration, declared_secrets
from toolgate.tools.tool_call import ArgumentsError


def secrets_of(call: ToolCall, registration: Registration | None) -> tuple[str, ...]:
    """Dotted paths. For a tool that is gone, what the schema that is kept with the call marks."""
    if registration is not None:
        return registration.secrets
    row = call.resolution
    schema = read(row.declaration.text).get("schema") if row and row.declaration else None
    return tuple(declared_secrets(Function(name="gone", parameters_schema=schema))) if isinstance(schema, dict) else ()


def editable(call: ToolCall, secrets: tuple[str, ...]) -> str:
    """The arguments that are in force, as JSON to edit: secrets masked, deceiving characters as escapes."""
    text = call.resolution.input if call.resolution else call.submitted
    try:
        resolution.arguments_of(text)
        return in_json(pretty(masked(_digit_by_digit(text), secrets, MASK)))
    except ArgumentsError:
        return "not shown: it may hold secrets and cannot be read" if secrets else text


def _digit_by_digit(text: str) -> Any:
    """Arguments as they were written, 0.10 and not 0.1. Some agents send the text of an object instead of the object."""
    tree = read(text) if text.strip() else {}
    return _digit_by_digit(tree) if isinstance(tree, str) else tree or {}


def with_secrets(typed: Any, call: ToolCall, secrets: tuple[str, ...]) -> str:
    """The JSON text of what was typed, with the real values where the masks still stand."""
    text = call.resolution.input if call.resolution else call.submitted
    try:
        known = resolution.arguments_of(text)
    except ArgumentsError:
        return exact(typed)
    return exact(_filled(typed, known, [path.split(".") for path in secrets]))


def _filled(typed: Any, known: Any, paths: list[list[str]]) -> Any:
    if typed == MASK and any(not path for path in paths):
        return known
    if isinstance(typed, dict) and isinstance(known, dict):
        return {key: _filled(value, known.get(key), _below(paths, key)) for key, value in typed.items()}
    if isinstance(typed, list) and isinstance(known, list) and len(typed) == len(known):
        return [_filled(*pair, _below(paths, str(at))) for at, pair in enumerate(zip(typed, known, strict=True))]
    return typed


def _below(paths: list[list[str]], key: str) -> list[list[str]]:
    return [path[1:] for path in paths if path and path[0] in ("*", key)]
