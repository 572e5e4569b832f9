"""Human approval between AI agents and the tools that can hurt: the tool contract.

This is the library's public face. It imports no web framework; the service lives in `approvals`.
"""

from toolgate.tools.content_part import ContentPart
from toolgate.tools.decorator import Context, tool
from toolgate.tools.definition import FunctionDefinitionError
from toolgate.tools.dialects import declarations
from toolgate.tools.function import Function, get_display_text
from toolgate.tools.function_param import FunctionParam
from toolgate.tools.outcomes import Error, Interrupt, Ok
from toolgate.tools.parsers import json_schema_parser, pydantic_parser
from toolgate.tools.registry import Registration, Registry
from toolgate.tools.running import (
    CallDecision,
    execute_tool_call,
    execute_tool_calls,
    execute_tool_calls_with_decisions,
)
from toolgate.tools.tool_call import ToolCall, merge_tool_calls
from toolgate.tools.tool_result import ToolResult

__all__ = [
    "CallDecision",
    "ContentPart",
    "Context",
    "Error",
    "Function",
    "FunctionDefinitionError",
    "FunctionParam",
    "Interrupt",
    "Ok",
    "Registration",
    "Registry",
    "ToolCall",
    "ToolResult",
    "declarations",
    "execute_tool_call",
    "execute_tool_calls",
    "execute_tool_calls_with_decisions",
    "get_display_text",
    "json_schema_parser",
    "merge_tool_calls",
    "pydantic_parser",
    "tool",
]
