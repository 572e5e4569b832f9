"""Which values of a call are never shown, and how an edit that leaves them alone keeps them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from approvals import resolution
from approvals.models import Declaration, ToolCall
from approvals.rendering import MASK, masked, read
from toolgate.tools.canonical import exact
from toolgate.tools.tool_call import ArgumentsError


def secrets_of(call: ToolCall) -> tuple[str, ...]:
    """Dotted paths into the arguments. For a tool that is gone, those of the declaration that is kept with the call."""
    registration = resolution.registry().get(call.tool)
    if registration is not None:
        return registration.secrets
    return _declared(call.resolution.declaration_id) if call.resolution and call.resolution.declaration_id else ()


@lru_cache(maxsize=256)
def _declared(digest: str) -> tuple[str, ...]:
    """A digest names one text for ever, so it is read once."""
    return tuple(read(Declaration.objects.get(digest=digest).text)["secrets"])


def without_secrets(call: ToolCall, sent: str) -> Any:
    """Arguments that were sent, as data with what is secret masked. Raises ArgumentsError when they cannot be read."""
    return masked(_as_written(sent), secrets_of(call))


def with_secrets(call: ToolCall, edited: str) -> str:
    """Edited arguments (JSON text) in which a mask that was left alone is again what it stands for."""
    secrets = secrets_of(call)
    if not secrets:
        return edited
    try:
        now, before = _as_written(edited), _as_written(call.resolution.input if call.resolution else call.submitted)
    except ArgumentsError:  # the parser says what is wrong with them
        return edited
    restored = _restored(now, before, [path.split(".") for path in secrets])
    return edited if restored == now else exact(restored)


def _as_written(text: str) -> Any:
    """Arguments digit by digit, 0.10 and not 0.1. Some agents send the text of an object instead of the object."""
    resolution.arguments_of(text)
    tree = read(text) if text.strip() else {}
    return _as_written(tree) if isinstance(tree, str) else tree or {}


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
