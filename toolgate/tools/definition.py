"""How a bad definition is told: every problem of every field at once."""

from __future__ import annotations

from collections.abc import Iterable


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


def is_blank(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def one_of(names: Iterable[str]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    *first, last = list(names)
    return f"{', '.join(first)} or {last}" if first else last
