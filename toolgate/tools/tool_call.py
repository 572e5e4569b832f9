"""A model's request to run a function: gathered from streamed pieces, its argument text read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from toolgate.tools.definition import Problems, is_blank
from toolgate.tools.diagnostics import kind_of
from toolgate.tools.json_text import MAX_DEPTH, JSONTextError, read_json

INCOMPLETE, COMPLETE = "incomplete", "complete"


class ArgumentsError(ValueError):
    """The arguments of a call are not an object. The text is a sentence for the model."""


def read_arguments(value: Any, *, max_depth: int = MAX_DEPTH) -> dict[str, Any]:
    """A fresh dict from what a model sent as arguments: an object, the JSON text of one, or nothing (None, blank text).

    Raises ArgumentsError.
    """
    if isinstance(value, str | bytes):
        value = _from_text(value, max_depth)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise ArgumentsError(f"The arguments must be a JSON object, but {kind_of(value)} was sent.")
    return dict(value)


def _from_text(text: str | bytes, max_depth: int) -> Any:
    if not text.strip():
        return None
    try:
        value = read_json(text, max_depth=max_depth)
    except JSONTextError as error:
        raise ArgumentsError(f"The arguments could not be read. {error.message}") from error
    if isinstance(value, str):
        more = " It looks as if the object was encoded more than once." if value.lstrip()[:1] in ('"', "{") else ""
        raise ArgumentsError(f"The arguments must be a JSON object, but text was sent.{more}")
    return value


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`arguments` is text while pieces arrive and a mapping once complete; None when nothing was sent.

    Raises FunctionDefinitionError naming `status`, `call_id`, `name` or `arguments`.
    """

    call_id: str | None = None
    name: str | None = None
    arguments: str | Mapping[str, Any] | None = None
    status: str = INCOMPLETE
    type: str = "function"
    index: int | None = None
    display_text: str | None = None
    metadata: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        problems = Problems()
        problems.add("status", "must be incomplete or complete", when=self.status not in (INCOMPLETE, COMPLETE))
        problems.add("type", "must be function", when=self.type != "function")
        if self.status == COMPLETE:
            problems.add("call_id", "can't be blank", when=is_blank(self.call_id))
            problems.add("name", "can't be blank", when=is_blank(self.name))
            self._read(problems)
        problems.raise_any()

    def _read(self, problems: Problems) -> None:
        if isinstance(self.arguments, str):
            try:
                value = read_json(self.arguments) if self.arguments.strip() else None
            except JSONTextError:
                problems.add("arguments", "invalid json")
                return
            is_object = isinstance(value, dict) or not self.arguments.strip()
            problems.add("arguments", "a json object is expected for tool arguments", when=not is_object)
            object.__setattr__(self, "arguments", value)
        elif not isinstance(self.arguments, Mapping | None):
            problems.add("arguments", "a json object is expected for tool arguments")

    def complete(self) -> ToolCall:
        """This call with its argument text read. A complete call is answered as it is."""
        return self if self.status == COMPLETE else replace(self, status=COMPLETE)

    def arguments_as_map(self) -> dict[str, Any]:
        """The arguments whatever the status; an empty dict for what cannot be read. Never raises."""
        try:
            return read_arguments(self.arguments)
        except ArgumentsError:
            return {}

    def merge(self, part: ToolCall) -> ToolCall:
        """This call with a streamed piece added. Raises ValueError for a piece of another index."""
        if self.index != part.index:
            raise ValueError("Can only merge tool calls with the same index")
        if self == part:
            return self
        changes = {name: _newer(getattr(self, name), getattr(part, name)) for name in ("call_id", "display_text")}
        changes["name"] = _grown(self.name, part.name)
        changes["metadata"] = {**(self.metadata or {}), **part.metadata} if part.metadata is not None else self.metadata
        changes["arguments"] = _gathered(self.arguments, part.arguments)
        return _unread(self, {**changes, "status": COMPLETE if COMPLETE in (self.status, part.status) else INCOMPLETE})


def merge_tool_calls(one: ToolCall | None, part: ToolCall) -> ToolCall:
    """Folds a stream of pieces, starting from nothing."""
    return part if one is None else one.merge(part)


def _newer(old: Any, new: Any) -> Any:
    return old if new is None else new


def _grown(old: str | None, new: str | None) -> str | None:
    return old if new is None or new == old else (old or "") + new


def _gathered(old: str | Mapping[str, Any] | None, new: str | Mapping[str, Any] | None) -> Any:
    if new is None or (isinstance(old, Mapping) and isinstance(new, str)):
        return old
    return (old or "") + new if isinstance(old, str | None) and isinstance(new, str) else new


def _unread(call: ToolCall, changes: dict[str, Any]) -> ToolCall:
    """A copy that merging made: text stays text, even in a call that became complete."""
    copy = object.__new__(ToolCall)
    for one in fields(ToolCall):
        object.__setattr__(copy, one.name, changes.get(one.name, getattr(call, one.name)))
    return copy
