"""Following the references inside one JSON Schema. Nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from toolgate.tools.diagnostics import Place

Schema = Mapping[str, Any]
MOST_NODES = 20_000
_DEFINITIONS = ("$defs", "definitions")
_NAMED = ("properties", "patternProperties", "dependentSchemas", *_DEFINITIONS)
_DATA = ("default", "const", "enum", "examples", "required")
_FORKS = ("anyOf", "oneOf", "allOf")


def target(root: Schema, reference: Any) -> Any:
    """What `#/$defs/name` leads to within `root`; None for a reference that leads elsewhere or nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    node: Any = root
    for step in unquote(reference[1:]).split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(node, Mapping):
            node = node.get(step)
        elif isinstance(node, Sequence) and step.isdigit() and int(step) < len(node):
            node = node[int(step)]
        else:
            return None
    return node


def alternatives(schema: Any, root: Schema, seen: tuple[str, ...] = ()) -> Iterator[Schema]:
    """The schema itself and every one it stands for: by reference, or as a branch of anyOf, oneOf or allOf."""
    if not isinstance(schema, Mapping):
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference not in seen:
        yield from alternatives(target(root, reference), root, (*seen, reference))
    for fork in _FORKS:
        for branch in schema.get(fork) or ():
            yield from alternatives(branch, root, seen)


def property_names(schema: Any, root: Schema) -> list[str]:
    """Every property name that is declared for an object of this schema."""
    found = [one.get("properties") for one in alternatives(schema, root)]
    return list(dict.fromkeys(str(name) for properties in found if isinstance(properties, Mapping) for name in properties))


def declared_at(root: Schema, at: Place) -> dict[str, Any]:
    """The schemas of the value at one place of the data, as one with `anyOf`."""
    here: dict[str, Any] = {"anyOf": [root]}
    for step in at:
        here = declared_below(here, step, root)
    return here


def declared_below(schema: Any, step: str | int, root: Schema) -> dict[str, Any]:
    """The same for a member or an item of a value of `schema`."""
    return {"anyOf": [below for one in alternatives(schema, root) for below in _below(one, step)]}


def _below(schema: Schema, step: str | int) -> Iterator[Any]:
    if isinstance(step, int):
        first = schema.get("prefixItems") or []
        yield first[step] if step < len(first) else schema.get("items")
    elif isinstance(properties := schema.get("properties"), Mapping) and step in properties:
        yield properties[step]
    else:
        yield schema.get("additionalProperties")


def every_schema(node: Any) -> Iterator[Schema]:
    """Each schema within, the definitions included."""
    if isinstance(node, Mapping):
        yield node
    below = node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()
    for one in below:
        yield from every_schema(one)


def inlined(schema: Schema) -> dict[str, Any]:
    """`schema` without titles, and with its references put in place where they do not lead back to themselves."""
    walk = _Inlining(schema)
    plain = {key: value for key, value in walk.of(schema, ()).items() if key not in _DEFINITIONS}
    kept: dict[str, dict[str, Any]] = {}
    while waiting := [one for one in walk.left if one not in kept]:
        kept |= {reference: walk.of(target(schema, reference), (reference,)) for reference in waiting}
    for reference, definition in kept.items():
        home, _, name = reference.removeprefix("#/").partition("/")
        if home in _DEFINITIONS and "/" not in name:
            plain.setdefault(home, {})[name] = definition
    return plain if walk.nodes <= MOST_NODES else dict(schema)


class _Inlining:
    def __init__(self, root: Schema) -> None:
        self.root, self.nodes = root, 0
        self.left: dict[str, None] = {}  # references that stay

    def of(self, node: Any, inside: tuple[str, ...]) -> Any:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            return node
        if isinstance(node, list):
            return [self.of(item, inside) for item in node]
        if not isinstance(node, Mapping):
            return node
        rest = {key: self._member(key, value, inside) for key, value in node.items() if not _is_title(key, value)}
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return rest
        meant = None if reference in inside else target(self.root, reference)
        if not isinstance(meant, Mapping):
            self.left[reference] = None
            return rest
        del rest["$ref"]
        return {**self.of(meant, (*inside, reference)), **rest}

    def _member(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key in _DATA or key in _DEFINITIONS:
            return value
        if key in _NAMED and isinstance(value, Mapping):
            return {name: self.of(one, inside) for name, one in value.items()}
        return self.of(value, inside)


def _is_title(key: str, value: Any) -> bool:
    return key == "title" and isinstance(value, str)


def secret_paths(schema: Schema) -> list[str]:
    """Dotted paths of what the schema marks as secret: `writeOnly`, or the format `password`; `*` for any key or item.

    Where a schema leads back to itself below a secret, all that lies beyond is counted as secret: no path could end.
    """
    secrets: list[tuple[str, tuple[str, ...]]] = []
    loops: list[tuple[str, str]] = []

    def walk(node: Any, path: tuple[str, ...], inside: tuple[str, ...]) -> None:
        if not isinstance(node, Mapping):
            return
        if path and (node.get("writeOnly") is True or node.get("format") == "password"):
            secrets.append((".".join(path), inside))
            return
        reference = node.get("$ref")
        if isinstance(reference, str) and inside.count(reference) > 1:
            loops.append((".".join(path), reference))
        elif isinstance(reference, str):
            walk(target(schema, reference), path, (*inside, reference))
        for step, below in _members(node):
            walk(below, (*path, step) if step else path, inside)

    walk(schema, (), ())
    beyond = [path for path, reference in loops if any(reference in inside for _, inside in secrets)]
    return list(dict.fromkeys([*(path for path, _ in secrets), *beyond]))


def _members(node: Schema) -> Iterator[tuple[str, Any]]:
    """What a value of this schema may hold, each with its step; branches have none."""
    properties = node.get("properties")
    for name, one in properties.items() if isinstance(properties, Mapping) else ():
        yield ("*" if "." in str(name) else str(name)), one
    for key in ("items", "additionalProperties"):
        yield "*", node.get(key)
    patterns = node.get("patternProperties")
    for one in [*(node.get("prefixItems") or ()), *(patterns.values() if isinstance(patterns, Mapping) else ())]:
        yield "*", one
    for fork in _FORKS:
        for one in node.get(fork) or ():
            yield "", one
