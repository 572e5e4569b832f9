"""What goes back to the model for one tool call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from toolgate.tools.content_part import ContentPart
from toolgate.tools.definition import Problems, is_blank
from toolgate.tools.outcomes import Error, Interrupt, Ok, Outcome

if TYPE_CHECKING:
    from toolgate.tools.function import Function


@dataclass(frozen=True, slots=True, init=False)
class ToolResult:
    """`content` is a list of parts. A body may leave `tool_call_id` out: running the call fills it in.

    `processed_content` and `interrupt_data` are the application's own objects and are kept as they are.
    """

    content: list[ContentPart]
    tool_call_id: str | None
    name: str | None
    display_text: str | None
    is_error: bool
    is_interrupt: bool
    interrupt_data: Any
    processed_content: Any
    options: Any
    type: str

    def __init__(
        self,
        content: str | ContentPart | list[ContentPart] | None = None,
        *,
        tool_call_id: str | None = None,
        name: str | None = None,
        display_text: str | None = None,
        is_error: bool = False,
        is_interrupt: bool = False,
        interrupt_data: Any = None,
        processed_content: Any = None,
        options: Any = None,
        type: str = "function",
    ) -> None:
        """Raises FunctionDefinitionError, which names `content` or `type`."""
        problems = Problems()
        problems.add("content", "can't be blank", when=content is None)
        problems.add("content", "must be text or content parts", when=not _is_content(content))
        problems.add("type", "must be function", when=type != "function")
        problems.raise_any()
        values = (
            tool_call_id,
            name,
            display_text,
            is_error,
            is_interrupt,
            interrupt_data,
            processed_content,
            options,
            type,
        )
        for field, value in zip(self.__slots__, (_as_parts(content), *values), strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def finished(cls, content: str | ContentPart | list[ContentPart] | None = None, **fields: Any) -> ToolResult:
        """A result that is ready to go back: its `tool_call_id` must be there, too."""
        problems = Problems()
        problems.add("tool_call_id", "can't be blank", when=is_blank(fields.get("tool_call_id")))
        problems.add("content", "can't be blank", when=content is None)
        problems.raise_any()
        return cls(content, **fields)

    def to_dict(self) -> dict[str, Any]:
        """What may cross an API. `processed_content` never does."""
        return {
            "tool_call_id": self.tool_call_id,
            "name": self.name,
            "content": [part.to_dict() for part in self.content],
            "is_error": self.is_error,
            "is_interrupt": self.is_interrupt,
            "interrupt_data": self.interrupt_data,
            "display_text": self.display_text,
            "options": self.options,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ToolResult:
        parts = [ContentPart.from_dict(part) for part in data["content"]]
        return cls(parts, **{name: value for name, value in data.items() if name != "content"})


def _is_content(content: Any) -> bool:
    if isinstance(content, list):
        return all(isinstance(part, ContentPart) for part in content)
    return isinstance(content, str | ContentPart | None)


def _as_parts(content: Any) -> list[ContentPart]:
    if isinstance(content, str):
        return [ContentPart("text", content)]
    return [content] if isinstance(content, ContentPart) else list(content or [])


def result_of(outcome: Outcome, *, tool_call_id: str | None, function: Function) -> ToolResult:
    """The result of one call from what `Function.execute` answered."""
    known: dict[str, Any] = {
        "tool_call_id": tool_call_id,
        "name": function.name,
        "display_text": function.display_text,
    }
    if isinstance(outcome, Interrupt):
        return ToolResult(outcome.message, is_interrupt=True, interrupt_data=outcome.data, **known)
    if isinstance(outcome, Error):
        return ToolResult(str(outcome.message), is_error=True, **known)
    if isinstance(outcome.value, ToolResult):
        return _completed(outcome, known)
    try:
        return ToolResult(outcome.value, processed_content=outcome.processed_content, **known)
    except ValueError as error:
        return ToolResult(f"ERROR executing tool: {error}", is_error=True, **known)


def _completed(outcome: Ok, known: dict[str, Any]) -> ToolResult:
    """A copy of the body's own result with what it left open; the id is always the call's."""
    own: ToolResult = outcome.value
    filled = {name: value for name, value in known.items() if getattr(own, name) is None or name == "tool_call_id"}
    if outcome.processed_content is not None:
        filled["processed_content"] = outcome.processed_content
    return _copy(own, filled)


def _copy(result: ToolResult, changes: dict[str, Any]) -> ToolResult:
    fields = {name: getattr(result, name) for name in ToolResult.__slots__}
    return ToolResult(**{**fields, **changes})


def rejection_result(name: str, tool_call_id: str | None, reason: str | None = None) -> ToolResult:
    """A rejection is an answer, not a fault: `is_error` stays false."""
    text = f"Tool call '{name}' was rejected by a human reviewer."
    return ToolResult(f"{text} Reason: {reason}" if reason else text, tool_call_id=tool_call_id, name=name)
