"""Human approval between AI agents and the tools that can hurt: the tool contract.

This is the library's public face. It imports no web framework (the service lives in `approvals`), and each name's module
only once the name is asked for: `from toolgate import Function` needs nothing beyond Python itself.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolgate.tools.content_part import ContentPart as ContentPart
    from toolgate.tools.decorator import Context as Context
    from toolgate.tools.decorator import tool as tool
    from toolgate.tools.definition import FunctionDefinitionError as FunctionDefinitionError
    from toolgate.tools.dialects import declarations as declarations
    from toolgate.tools.function import Function as Function
    from toolgate.tools.function import get_display_text as get_display_text
    from toolgate.tools.function_param import FunctionParam as FunctionParam
    from toolgate.tools.outcomes import Error as Error
    from toolgate.tools.outcomes import Interrupt as Interrupt
    from toolgate.tools.outcomes import Ok as Ok
    from toolgate.tools.parsers import json_schema_parser as json_schema_parser
    from toolgate.tools.parsers import pydantic_parser as pydantic_parser
    from toolgate.tools.registry import Registration as Registration
    from toolgate.tools.registry import Registry as Registry
    from toolgate.tools.running import CallDecision as CallDecision
    from toolgate.tools.running import execute_tool_call as execute_tool_call
    from toolgate.tools.running import execute_tool_calls as execute_tool_calls
    from toolgate.tools.running import execute_tool_calls_with_decisions as execute_tool_calls_with_decisions
    from toolgate.tools.tool_call import ToolCall as ToolCall
    from toolgate.tools.tool_call import merge_tool_calls as merge_tool_calls
    from toolgate.tools.tool_result import ToolResult as ToolResult

_HOMES = {
    "CallDecision": "running",
    "ContentPart": "content_part",
    "Context": "decorator",
    "Error": "outcomes",
    "Function": "function",
    "FunctionDefinitionError": "definition",
    "FunctionParam": "function_param",
    "Interrupt": "outcomes",
    "Ok": "outcomes",
    "Registration": "registry",
    "Registry": "registry",
    "ToolCall": "tool_call",
    "ToolResult": "tool_result",
    "declarations": "dialects",
    "execute_tool_call": "running",
    "execute_tool_calls": "running",
    "execute_tool_calls_with_decisions": "running",
    "get_display_text": "function",
    "json_schema_parser": "parsers",
    "merge_tool_calls": "tool_call",
    "pydantic_parser": "parsers",
    "tool": "decorator",
}
__all__ = list(_HOMES)


if not TYPE_CHECKING:  # or a type checker would believe that every name is there

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(f"toolgate.tools.{_HOMES[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
