"""Which JSON stands for a value that a parser returned, and which digest binds an approval to it.

One pass makes both, so that what people see cannot differ from what is compared. The text is canonical JSON (RFC 8785)
with exact rules for what JSON lacks; beside it stands a map from JSON pointer to what a value was in Python, so that a
date and the same text, or bytes and an object that looks like their marker, never have one digest.
"""

from __future__ import annotations

import base64
import dataclasses
import datetime as dt
import enum
import hashlib
import ipaddress
import json
import math
import pathlib
import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.db.models import Model
from django.utils.duration import duration_iso_string
from pydantic import BaseModel

from toolgate.tools.canonical import canonical

MASK = "••••••"  # stands for what is secret
MAX_DEPTH = 150
MAX_DIGITS = 4300  # Python's own limit for reading an integer back


class Unrenderable(TypeError):
    """A value that nothing here knows how to show without loss. `.place` is a JSON pointer, `.reason` a sentence."""

    def __init__(self, place: str, reason: str) -> None:
        self.place, self.reason = place, reason
        super().__init__(f"{place or 'the value'}: {reason}")


@dataclasses.dataclass(frozen=True, slots=True)
class Rendered:
    """`tree`: JSON data. `types`: JSON pointer to the Python kind of each value that plain JSON could not tell."""

    tree: Any
    types: dict[str, str]

    @property
    def text(self) -> str:
        return canonical(self.tree)


def render(value: Any) -> Rendered:
    """`value` as JSON data. Raises Unrenderable for what cannot be shown without loss: never a `repr`."""
    types: dict[str, str] = {}
    return Rendered(_render(value, "", types, 0), types)


def _render(value: Any, at: str, types: dict[str, str], depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise Unrenderable(at, f"nested more than {MAX_DEPTH} levels deep, or containing itself")
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        types[at] = f"enum {type(value).__qualname__}.{value.name}"
        return _render(value.value, f"{at}/value", {}, depth + 1)
    if isinstance(value, str):
        return str.__str__(value)
    for kind, rule in _LEAVES:
        if isinstance(value, kind):
            name, shown = rule(value, at)
            if name:
                types[at] = name
            return shown
    return _render_compound(value, at, types, depth + 1)


def _render_compound(value: Any, at: str, types: dict[str, str], depth: int) -> Any:
    if isinstance(value, Mapping):
        return _mapping(value, at, types, depth)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _object(value, value._asdict(), at, types, depth)
    if isinstance(value, list | tuple):
        return [_render(item, f"{at}/{place}", types, depth) for place, item in enumerate(value)]
    if isinstance(value, set | frozenset):
        return _set(value, at, types, depth)
    if isinstance(value, Model):
        return _record(value, at, types, depth)
    if isinstance(value, BaseModel):
        return _object(value, {**dict(value), **(value.model_extra or {})}, at, types, depth)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return _object(value, fields, at, types, depth)
    kind = type(value)
    raise Unrenderable(
        at,
        f"a {kind.__module__}.{kind.__qualname__} cannot be shown to a reviewer exactly. Let parse_arguments return plain "
        "values, dates, decimals, bytes, enums, dataclasses, pydantic models, Django records, or lists and dicts of them.",
    )


def _mapping(value: Mapping[Any, Any], at: str, types: dict[str, str], depth: int) -> Any:
    if all(isinstance(key, str) for key in value):
        return {str.__str__(key): _render(item, f"{at}/{_escaped(key)}", types, depth) for key, item in value.items()}
    types[at] = "map"
    pairs = sorted(((render(key), item) for key, item in value.items()), key=lambda pair: _order(pair[0]))
    for place, (key, _) in enumerate(pairs):
        types.update({f"{at}/{place}/0{pointer}": kind for pointer, kind in key.types.items()})
    return [[key.tree, _render(item, f"{at}/{place}/1", types, depth)] for place, (key, item) in enumerate(pairs)]


def _set(value: Iterable[Any], at: str, types: dict[str, str], depth: int) -> Any:
    types[at] = "set"
    members = sorted((render(member) for member in value), key=_order)
    for place, member in enumerate(members):
        types.update({f"{at}/{place}{pointer}": kind for pointer, kind in member.types.items()})
    return [member.tree for member in members]


def _object(value: Any, fields: Mapping[str, Any], at: str, types: dict[str, str], depth: int) -> Any:
    types[at] = f"object {type(value).__qualname__}"
    return _mapping(fields, at, types, depth)


def _record(record: Model, at: str, types: dict[str, str], depth: int) -> Any:
    """Label, primary key, text and every concrete field: a record that changed is a value that changed."""
    types[at] = "record"
    fields = {field.attname: field.value_from_object(record) for field in record._meta.concrete_fields}
    shown = {"label": record._meta.label_lower, "pk": record.pk, "text": str(record), "fields": fields}
    return _mapping({key: _plain_file(item) for key, item in shown.items()}, at, types, depth)


def _plain_file(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: (item.name if hasattr(item, "storage") else item) for key, item in value.items()}
    return value


def _order(rendered: Rendered) -> tuple[str, str]:
    return rendered.text, canonical(rendered.types)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


Leaf = Callable[[Any, str], tuple[str, Any]]


def _integer(value: int, at: str) -> tuple[str, Any]:
    if value.bit_length() > MAX_DIGITS * 10 // 3:
        raise Unrenderable(at, f"an integer of more than {MAX_DIGITS} digits")
    return "", int(value)


def _float(value: float, at: str) -> tuple[str, Any]:
    if not math.isfinite(value):
        raise Unrenderable(at, "NaN and infinities are not numbers that JSON has")
    return "", float(value)


def _decimal(value: Decimal, at: str) -> tuple[str, Any]:
    if not value.is_finite() or abs(value.adjusted()) > MAX_DIGITS:
        raise Unrenderable(at, "a decimal that is not a finite number of reasonable size")
    return "decimal", value


def _bytes(value: bytes, at: str) -> tuple[str, Any]:
    return "bytes", {"$bytes": base64.b64encode(value).decode()}


def _text(name: str, convert: Callable[[Any], str] = str) -> Leaf:
    return lambda value, at: (name, convert(value))


def _datetime(value: dt.datetime, at: str) -> tuple[str, Any]:
    return ("datetime" if value.utcoffset() is not None else "datetime without zone"), value.isoformat()


_LEAVES: tuple[tuple[type | tuple[type, ...], Leaf], ...] = (
    (int, _integer),
    (float, _float),
    (Decimal, _decimal),
    ((bytes, bytearray, memoryview), lambda value, at: _bytes(bytes(value), at)),
    (dt.datetime, _datetime),
    (dt.date, _text("date", dt.date.isoformat)),
    (dt.time, _text("time", dt.time.isoformat)),
    (dt.timedelta, _text("duration", duration_iso_string)),
    (uuid.UUID, _text("uuid")),
    (pathlib.PurePath, _text("path")),
    ((ipaddress.IPv4Address, ipaddress.IPv6Address), _text("ip address")),
    ((ipaddress.IPv4Network, ipaddress.IPv6Network), _text("ip network")),
)


def read(text: str) -> Any:
    """JSON data from text that `canonical` or a strict reader vouched for; fractions as Decimal, so no digit is lost."""
    return json.loads(text, parse_float=Decimal)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    """Plain text with what no database keeps, a NUL and halves of surrogate pairs, written as JSON would: `\\u0000`."""
    return _UNSTORABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def digest(tool: str, declaration: str, rendered: Rendered, volatile: Iterable[str] = ()) -> str:
    """What binds an approval: the function's name, the digest of its declaration, the arguments less volatile paths."""
    paths = [path.split(".") for path in volatile]
    tree = without(rendered.tree, paths)
    types = {at: kind for at, kind in rendered.types.items() if not _is_under(at, paths)}
    return sha256(canonical({"function": tool, "declaration": declaration, "arguments": tree, "types": types}))


def without(tree: Any, paths: list[list[str]]) -> Any:
    """`tree` less everything at `paths`; `*` stands for any key or item."""
    return replaced(tree, paths, _GONE)


def masked(tree: Any, paths: Iterable[str]) -> Any:
    """`tree` with the values at dotted `paths` replaced by a mask."""
    return replaced(tree, [path.split(".") for path in paths], MASK)


_GONE = object()


def replaced(tree: Any, paths: list[list[str]], by: Any) -> Any:
    if any(not path for path in paths):
        return by
    if not paths or not isinstance(tree, dict | list):
        return tree
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    kept = [(key, replaced(item, _below(paths, str(key)), by)) for key, item in items]
    if isinstance(tree, dict):
        return {key: item for key, item in kept if item is not _GONE}
    return [None if item is _GONE else item for _, item in kept]


def _below(paths: list[list[str]], key: str) -> list[list[str]]:
    return [path[1:] for path in paths if path and path[0] in ("*", key)]


def _is_under(pointer: str, paths: list[list[str]]) -> bool:
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    return any(len(path) <= len(parts) and all(p in ("*", q) for p, q in zip(path, parts, strict=False)) for path in paths)
