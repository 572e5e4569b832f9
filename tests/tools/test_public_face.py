"""What `toolgate` exports, and what importing it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import toolgate

ROOT = Path(__file__).parent.parent.parent
CONTRACT = {
    "Function",
    "FunctionParam",
    "ToolCall",
    "ToolResult",
    "ContentPart",
    "Ok",
    "Interrupt",
    "Error",
    "FunctionDefinitionError",
    "Registry",
    "tool",
    "get_display_text",
    "execute_tool_call",
    "execute_tool_calls",
    "execute_tool_calls_with_decisions",
    "pydantic_parser",
    "json_schema_parser",
}
ALONGSIDE = {"CallDecision", "Context", "Registration", "declarations", "merge_tool_calls"}

BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ImportError(name)
sys.meta_path.insert(0, Blocker())
BLOCKED = {blocked!r}
"""
FRAMEWORKS = ["django", "rest_framework", "celery", "redis", "approvals", "structlog", "psycopg"]


def run(program: str, blocked: list[str]) -> str:
    script = BLOCKED.format(blocked=blocked) + program
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_exactly_these_names_are_exported() -> None:
    assert set(toolgate.__all__) == CONTRACT | ALONGSIDE
    assert set(toolgate.__all__) <= set(dir(toolgate))


def test_any_other_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Tool'"):
        toolgate.Tool  # type: ignore[attr-defined] # noqa: B018 - that is what is shown


def test_the_library_needs_no_framework() -> None:
    program = """
import toolgate
for name in toolgate.__all__:
    getattr(toolgate, name)
function = toolgate.Function(name="f", function=lambda arguments, context: "done")
print(function.execute({}).value)
"""
    assert run(program, FRAMEWORKS) == "done\n"


def test_a_function_needs_python_only() -> None:
    program = """
from toolgate import Error, Function, FunctionParam, Interrupt, Ok, ToolCall, ToolResult, execute_tool_calls
function = Function(name="f", parameters=[FunctionParam("a", "string")], function=lambda arguments, context: "done")
print(execute_tool_calls([ToolCall("c1", "f")], [function])[0].content[0].content)
"""
    assert run(program, [*FRAMEWORKS, "pydantic", "pydantic_core", "jsonschema_rs", "docstring_parser", "rfc8785"]) == "done\n"


def test_the_package_is_typed() -> None:
    assert (ROOT / "toolgate" / "py.typed").exists()
