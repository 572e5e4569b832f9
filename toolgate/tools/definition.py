"""How a bad definition is told: every problem of every field at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any


class FunctionDefinitionError(ValueError):
    """A definition cannot be used. `errors` maps each field at fault to all its messages."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        self.errors = errors
        super().__init__("; ".join(f"{field}: {', '.join(found)}" for field, found in errors.items()))


class Problems:
    """Gathers problems of one definition, to be raised together."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {}

    def add(self, field: str, message: str, *, when: bool = True) -> None:
        if when:
            self.found.setdefault(field, []).append(message)

    def raise_any(self) -> None:
        if self.found:
            raise FunctionDefinitionError(self.found)


def known_attributes(attributes: Mapping[str, Any], kind: Any) -> dict[str, Any]:
    """`attributes` as keywords of the dataclass `kind`; raises FunctionDefinitionError for names that it does not have."""
    names = {field.name for field in fields(kind)}
    problems = Problems()
    for name in attributes:
        problems.add(str(name), f"is nothing that a {kind.__name__} has", when=name not in names)
    problems.raise_any()
    return dict(attributes)


def is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def one_of(names: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *first, last = list(names)
    return f"{', '.join(first)} or {last}" if first else last
