"""@tool: a Function from a typed and documented Python function. The name stays callable as the plain function.

@tool
def refund(order: str, amount: Decimal, context: Context) -> str:
    \"\"\"Pays money back.

    Args:
        order: The order's number.
        amount: How much, in the order's currency.
    \"\"\"
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, get_type_hints, overload

import docstring_parser
import pydantic_core
from pydantic import ConfigDict, Field, create_model

from toolgate.tools.callables import finish
from toolgate.tools.content_part import ContentPart
from toolgate.tools.function import Function
from toolgate.tools.outcomes import Error, Interrupt, Ok
from toolgate.tools.parsers import PydanticParser
from toolgate.tools.tool_result import ToolResult

P = ParamSpec("P")
R = TypeVar("R")


class Context(dict[str, Any]):
    """Annotate a parameter with this to receive the context of the call; it is no parameter of the tool."""


class Tool(Generic[P, R]):
    """A plain function that also is a tool: `refund(…)` calls it, `refund.function` is what a registry takes."""

    def __init__(self, plain: Callable[P, R], function: Function) -> None:
        self.plain, self.function = plain, function
        functools.update_wrapper(self, plain)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.plain(*args, **kwargs)


@overload
def tool(plain: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    display_text: str | None = None,
    async_: bool = False,
    strict: bool = False,
    options: list[Any] | None = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(plain: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Declares parameters, types, enums, defaults and descriptions from hints and docstring; coerces what is sent to them.

    What the function returns goes to the model: text and content parts as they are, None as "OK", anything else as JSON
    with the object itself kept as processed content.
    """
    if plain is None:
        return lambda decorated: _tool(decorated, **options)
    return _tool(plain)


def _tool(plain: Callable[..., Any], **options: Any) -> Tool[..., Any]:
    hints = get_type_hints(plain, include_extras=True)
    signature = inspect.signature(plain)
    contexts = [name for name in signature.parameters if hints.get(name) is Context]
    documented = docstring_parser.parse(inspect.getdoc(plain) or "")
    described = {one.arg_name: one.description for one in documented.params}
    fields = {
        name: (hints.get(name, Any), Field(_default(one), description=described.get(name)))
        for name, one in signature.parameters.items()
        if name not in contexts
    }
    model: Any = create_model(plain.__name__, __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload] # the fields are only known here
    options["name"] = options.get("name") or plain.__name__
    options["description"] = options.get("description") or documented.description
    schema = inlined(model.model_json_schema())
    body = _body(plain, contexts)
    return Tool(plain, Function(function=body, parse_args=PydanticParser(model), parameters_schema=schema, **options))


def _default(parameter: inspect.Parameter) -> Any:
    return ... if parameter.default is inspect.Parameter.empty else parameter.default


def _body(plain: Callable[..., Any], contexts: list[str]) -> Callable[[dict[str, Any], Any], Any]:
    @functools.wraps(plain)
    def body(arguments: dict[str, Any], context: Any) -> Any:
        given = dict(arguments) | dict.fromkeys(contexts, Context(context or {}))
        return _answer(finish(plain(**given)))

    del body.__wrapped__  # or its signature would be the plain function's
    return body


def _answer(value: Any) -> Any:
    is_parts = isinstance(value, list) and bool(value) and all(isinstance(part, ContentPart) for part in value)
    if is_parts or isinstance(value, str | ToolResult | Ok | Interrupt | Error):
        return value
    if isinstance(value, ContentPart):
        return [value]
    if value is None:
        return "OK"
    return Ok(pydantic_core.to_json(value).decode(), value)


def inlined(schema: Mapping[str, Any]) -> dict[str, Any]:
    """`schema` without titles, and with its references put in place where they do not lead back to themselves."""
    definitions: Mapping[str, Any] = schema.get("$defs", {})
    kept: dict[str, Any] = {}

    def walk(node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [walk(item, inside) for item in node]
        if not isinstance(node, Mapping):
            return node
        name = str(node.get("$ref", "")).removeprefix("#/$defs/")
        if name in inside:
            kept[name] = definitions[name]
            return dict(node)
        if name:
            return {**walk(definitions[name], (*inside, name)), **{k: v for k, v in node.items() if k != "$ref"}}
        return {
            key: {name: walk(item, inside) for name, item in value.items()}
            if key == "properties"
            else walk(value, inside)
            for key, value in node.items()
            if key != "$defs" and not (key == "title" and isinstance(value, str))
        }

    plain: dict[str, Any] = walk(schema, ())
    return {**plain, "$defs": dict(definitions)} if kept else plain
