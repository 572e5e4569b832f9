"""Canonical JSON text (RFC 8785), with exact rules for what the RFC leaves to doubles: big integers and decimals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import rfc8785


def canonical(tree: Any) -> str:
    """The one text of JSON data: keys sorted, no white space, integers of any size, every digit of a Decimal."""
    return _text(tree, in_order=True)


def exact(tree: Any) -> str:
    """The same with keys in the order they come: what an API sends."""
    return _text(tree, in_order=False)


def _text(tree: Any, *, in_order: bool) -> str:
    if isinstance(tree, str):
        return _quoted(tree)
    if tree is None or isinstance(tree, bool):
        return json.dumps(tree)
    if isinstance(tree, int):
        return int.__repr__(tree)
    if isinstance(tree, float):
        text = rfc8785.dumps(tree).decode()
        return repr(tree) if len(text) > 15 and text.lstrip("-").isdigit() else text  # or it would read as another integer
    if isinstance(tree, Decimal):
        return format(tree, "f")
    if isinstance(tree, list | tuple):
        return "[" + ",".join(_text(item, in_order=in_order) for item in tree) + "]"
    if not isinstance(tree, Mapping):
        raise TypeError(f"a {type(tree).__name__} is no JSON data")
    members: Any = tree.items()
    if in_order:
        members = sorted(members, key=lambda item: item[0].encode("utf-16-be", "surrogatepass"))
    return "{" + ",".join(f"{_quoted(key)}:{_text(item, in_order=in_order)}" for key, item in members) + "}"


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    try:
        quoted.encode()
    except UnicodeEncodeError:  # a lone half of a character cannot be stored; its escape can
        quoted = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in quoted)
    return quoted
