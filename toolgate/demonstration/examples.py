"""A value that fits a JSON Schema, made up: for a call that somebody can paste and try."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXTS = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "time": "12:00:00Z",
    "email": "somebody@example.org",
    "uri": "https://example.org/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
}
DEEPEST = 20


def example_of(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """What the schema itself suggests, else a small value of its first type. It may not fit: a pattern is not solved."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return None
    root = schema if root is None else root
    for word in ("const", "default"):
        if word in schema:
            return schema[word]
    for word in ("examples", "enum"):
        if schema.get(word):
            return schema[word][0]
    if (target := _target(schema, root)) is not None:
        return example_of(target, root, depth + 1)
    for word in ("anyOf", "oneOf", "allOf"):
        if schema.get(word):
            return example_of(schema[word][0], root, depth + 1)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    return _of_type(kind[0] if isinstance(kind, list) else kind, schema, root, depth)


def _of_type(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    if kind == "object":
        parts = schema.get("properties", {})
        return {name: example_of(parts.get(name, {}), root, depth + 1) for name in schema.get("required", [])}
    if kind == "array":
        return [example_of(schema.get("items", {}), root, depth + 1)] * int(schema.get("minItems", 0))
    if kind == "string":
        text = TEXTS.get(str(schema.get("format")), "text")
        return text.ljust(int(schema.get("minLength", 0)), "t")[: int(schema.get("maxLength", len(text) + 1000))]
    if kind in ("integer", "number"):
        return _number(schema)
    return {"boolean": True}.get(kind)


def _number(schema: Mapping[str, Any]) -> Any:
    step = schema.get("multipleOf", 1)
    least = schema.get("minimum", schema.get("exclusiveMinimum", 0) + step if "exclusiveMinimum" in schema else step)
    most = schema.get("maximum", schema.get("exclusiveMaximum", least + step) - ("exclusiveMaximum" in schema))
    return min(-(-least // step) * step, most)


def _target(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for part in reference[2:].split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found
