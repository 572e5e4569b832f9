"""Resolved arguments as a person reads them: a tree of named values, with what is long, changed or secret said.

Nothing is ever left out. What is long is folded with its length stated; what is too much for a table stands in full as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from approvals.rendering import MASK, masked, read
from approvals.review import reading
from approvals.review.visible import deceptions
from toolgate.tools.canonical import exact

LONG_TEXT, LONG_LINES = 1000, 20
MANY_ITEMS, MOST_NODES, DEEPEST = 200, 2000, 6
FOLDED_ITEMS = 25
MOST_COLUMNS = 6
ALL = "all arguments"  # what stands for them when they are too many for a table
_CODE = re.compile(r"(?i)(?:^|_)(?:sql|statement|query|code|script|command|regex|json|yaml|html|xml)$")


@dataclass
class Node:
    """One value. `kind` is what it was in Python or JSON; `shape` how it is drawn; `change` what the parser did to it."""

    name: str
    kind: str
    shape: str  # value, block, fields, pair (before and after), items, rows, whole (JSON text) or empty
    text: str = ""
    note: str = ""
    description: str = ""
    children: list[Node] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    is_long: bool = False
    is_secret: bool = False
    size: str = ""
    change: str = ""  # added or changed
    before: str = ""

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def excerpt(self) -> str:
        """The beginning of what is folded; that it is one is said beside it."""
        return " ".join(self.text[:120].split())

    @property
    def pairs(self) -> list[tuple[str, Node | None, Node | None, bool]]:
        """For a before and an after: each field, both values, and whether they differ."""
        before, after = ({one.name: one for one in side.children} for side in sorted(self.children, key=_is_after))
        names = dict.fromkeys([*before, *after])
        both = ((name, before.get(name), after.get(name)) for name in names)
        return [(name, old, new, (old and old.text) != (new and new.text)) for name, old, new in both]

    @property
    def kind_word(self) -> str:
        """The kind where plain JSON would not tell it."""
        return "" if self.kind in ("text", "number", "boolean", "null", "list", "object") else self.kind


def _is_after(node: Node) -> bool:
    return node.name == "after"


def nodes_of(resolved: str, types: str, schema: Mapping[str, Any], secrets: Sequence[str]) -> list[Node]:
    """The top-level values of canonical JSON, with the declared descriptions as labels; secrets are masked."""
    tree = masked(read(resolved), secrets) if resolved else {}
    if not isinstance(tree, dict):
        return [_Reader(read(types)).node("value", tree, "", 0)]
    if len(tree) > MOST_NODES:
        return [_whole(ALL, "object", tree)]
    return list(_Reader(read(types)).members(tree, "", schema, 0))


@dataclass
class _Reader:
    types: Mapping[str, str]
    left: int = MOST_NODES

    def members(self, tree: Mapping[str, Any], at: str, schema: Any, depth: int) -> Iterator[Node]:
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        declared = properties if isinstance(properties, Mapping) else {}
        in_order = [*(name for name in declared if name in tree), *(name for name in tree if name not in declared)]
        for name in in_order:
            yield self.node(name, tree[name], f"{at}/{_escaped(name)}", depth, declared.get(name))

    def node(self, name: str, value: Any, at: str, depth: int, schema: Any = None) -> Node:
        self.left -= 1
        kind = self.types.get(at, reading.json_kind(value))
        description = str(schema.get("description") or "") if isinstance(schema, Mapping) else ""
        made = self._draw(name, kind, value, at, depth, schema)
        made.description = description
        return made

    def _draw(self, name: str, kind: str, value: Any, at: str, depth: int, schema: Any) -> Node:
        if value == MASK:
            return Node(name, kind, "value", MASK, "secret: not shown", is_secret=True)
        if kind == "bytes" and isinstance(value, dict):
            return _text(Node(name, kind, "block", str(value.get("$bytes")), reading.note(kind, value.get("$bytes"))))
        if not isinstance(value, dict | list):
            return _scalar(name, kind, value)
        if not value:
            return Node(name, kind, "empty", "an empty list" if isinstance(value, list) else "an object without fields")
        if depth >= DEEPEST or self.left < len(value) or len(value) > MANY_ITEMS:
            return _whole(name, kind, value)
        if kind == "map" and isinstance(value, list):
            return self._mapping(Node(name, "mapping", "fields"), value, at, depth)
        if isinstance(value, list):
            return self._items(Node(name, kind, "items"), value, at, depth, schema)
        if kind == "record":
            return self._record(name, value, at, depth)
        children = list(self.members(value, at, schema, depth + 1))
        return Node(name, kind, "pair" if _is_pair(children) else "fields", children=children)

    def _record(self, name: str, value: dict[str, Any], at: str, depth: int) -> Node:
        label, fields = f"{value['label']} {reading.scalar(value['pk'])}", value["fields"]
        node = Node(name, f"record {value['label']}", "fields", reading.scalar(value["text"]), label)
        node.children = list(self.members(fields, f"{at}/fields", None, depth + 1)) if isinstance(fields, dict) else []
        return node

    def _mapping(self, node: Node, pairs: list[Any], at: str, depth: int) -> Node:
        """A mapping whose keys are not text: each key as JSON writes it, so that 1 and "1" stay two."""
        for number, (key, value) in enumerate(pairs):
            node.children.append(self.node(exact(key), value, f"{at}/{number}/1", depth + 1))
        return node

    def _items(self, node: Node, value: list[Any], at: str, depth: int, schema: Any) -> Node:
        inner = schema.get("items") if isinstance(schema, Mapping) else None
        pairs = enumerate(value)
        node.children = [self.node(str(n + 1), item, f"{at}/{n}", depth + 1, inner) for n, item in pairs]
        node.size = _counted(len(value), "item")
        node.is_long = len(value) > FOLDED_ITEMS
        node.columns = _columns(node.children)
        node.shape = "rows" if node.columns else "items"
        return node


def _is_pair(children: list[Node]) -> bool:
    """Whether this is a before and an after of the same plain fields, which reads best side by side."""
    plain = all(one.shape == "value" for child in children for one in child.children)
    return plain and {one.name for one in children} == {"before", "after"} and all(one.children for one in children)


def _columns(items: list[Node]) -> list[str]:
    """The common field names when all items are small objects of the same plain fields: these read best as a table."""
    first = [child.name for child in items[0].children] if len(items) > 1 and items[0].shape == "fields" else []
    if not 1 < len(first) <= MOST_COLUMNS or any(item.text for item in items):
        return []
    alike = all([child.name for child in item.children] == first for item in items)
    children = [child for item in items for child in item.children]
    is_plain = all(child.shape in ("value", "block") and "\n" not in child.text and not child.is_long for child in children)
    return first if alike and is_plain else []


def _scalar(name: str, kind: str, value: Any) -> Node:
    text = reading.scalar(value)
    is_block = kind in ("text", "path") and ("\n" in text or _CODE.search(name) is not None)
    return _text(Node(name, kind, "block" if is_block else "value", text, reading.note(kind, value)))


def _text(node: Node) -> Node:
    lines = node.text.count("\n") + 1
    node.is_long = len(node.text) > LONG_TEXT or lines > LONG_LINES
    if node.is_long:
        node.shape = "block"
    node.size = _counted(len(node.text), "character") + (f", {_counted(lines, 'line')}" if lines > 1 else "")
    return node


def _whole(name: str, kind: str, value: Any) -> Node:
    text = pretty(value)
    unit = "item" if isinstance(value, list) else "field"
    size = f"{_counted(len(value), unit)}, {_counted(len(text), 'character')} of JSON"
    return Node(name, kind, "whole", text, "too much or too deep for a table: in full as JSON", is_long=True, size=size)


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def mark_changes(nodes: list[Node], submitted: Mapping[str, Any], tree: Mapping[str, Any]) -> list[str]:
    """Says on each node what the parser did to what was sent; answers the names that were sent and do not stand there."""
    for node in nodes if len(tree) <= MOST_NODES else ():
        if node.name not in submitted:
            node.change = "added"
        else:
            _mark(node, submitted[node.name], tree.get(node.name))
    return [name for name in submitted if name not in tree]


def means_the_same(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same to a reader: 20 and 20.00 are, fields in another order are, 1 and true are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(means_the_same(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(means_the_same, one, other))
    return bool(one == other)


def _mark(node: Node, sent: Any, now: Any) -> None:
    if means_the_same(sent, now):
        return
    is_open = node.shape == "fields" and not node.kind.startswith(("record", "object "))
    if is_open and isinstance(sent, dict) and isinstance(now, dict) and sent.keys() <= now.keys():
        mark_changes(node.children, sent, now)
    else:
        node.change, node.before = "changed", sent if isinstance(sent, str) and isinstance(now, str) else exact(sent)


def pretty(tree: Any, indent: str = "") -> str:
    """JSON for people to read and edit: one member a line, every digit kept."""
    inner = indent + "  "
    if isinstance(tree, dict) and tree:
        members = (f"{inner}{exact(key)}: {pretty(item, inner)}" for key, item in tree.items())
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    if isinstance(tree, list) and tree:
        return "[\n" + ",\n".join(inner + pretty(item, inner) for item in tree) + f"\n{indent}]"
    return exact(tree)


def deceptive_places(nodes: list[Node]) -> Iterator[tuple[str, list[str]]]:
    """Names and values that hold what deceives the eye, with the codes."""
    for node in (inner for outer in nodes for inner in outer.walk()):
        if codes := list(dict.fromkeys(deceptions(node.name) + deceptions(node.text) + deceptions(node.description))):
            yield node.name, codes
