"""What tells one parser from another in every process: no address, no repr."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterable
from typing import Any

from toolgate.tools.canonical import canonical

DEEPEST = 5


def identity(target: Any, depth: int = 0) -> str:
    """Its own `identity` where it has one, else `module:qualname` with what it is bound to: a partial's values, a
    closure's variables."""
    if isinstance(own := getattr(target, "identity", None), str):
        return own
    if isinstance(target, functools.partial):
        named = (f"{name}={_value(value, depth)}" for name, value in sorted(target.keywords.items()))
        return _called(identity(target.func, depth), [*(_value(value, depth) for value in target.args), *named])
    kind = target if hasattr(target, "__qualname__") else type(target)
    return _called(f"{kind.__module__}:{kind.__qualname__}", _enclosed(target, depth))


def _called(name: str, values: Iterable[str]) -> str:
    bound = ", ".join(values)
    return f"{name}({bound})" if bound else name


def _enclosed(target: Any, depth: int) -> list[str]:
    function = inspect.unwrap(target) if inspect.isfunction(target) else getattr(target, "__func__", None)
    if not inspect.isfunction(function):
        return []
    names = function.__code__.co_freevars
    return [f"{name}={_cell(cell, depth)}" for name, cell in zip(names, function.__closure__ or (), strict=True)]


def _cell(cell: Any, depth: int) -> str:
    try:
        value = cell.cell_contents
    except ValueError:
        return "not set"
    # What a parser may fill as it works, a cache for example, is its state and no part of what it is.
    return type(value).__name__ if isinstance(value, dict | list | set) else _value(value, depth)


def _value(value: Any, depth: int) -> str:
    """JSON data as it is, a callable by its identity, anything else by its class."""
    if callable(value) and depth < DEEPEST:
        return identity(value, depth + 1)
    try:
        return canonical(value)
    except (TypeError, ValueError, RecursionError):
        return f"{type(value).__module__}:{type(value).__qualname__}"
