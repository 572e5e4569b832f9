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
from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_type_hints, overload

import docstring_parser
import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, create_model
from pydantic.fields import FieldInfo

from toolgate.tools.callables import finish
from toolgate.tools.content_part import ContentPart
from toolgate.tools.definition import FunctionDefinitionError, Problems
from toolgate.tools.function import Function
from toolgate.tools.outcomes import Error, Interrupt, Ok
from toolgate.tools.parsers import PydanticParser
from toolgate.tools.references import inlined
from toolgate.tools.tool_result import ToolResult

P = ParamSpec("P")
R = TypeVar("R")


class Context(dict[str, Any]):
    """Annotate a parameter with this to receive the context of the call; it is no parameter of the tool.

    What arrives is the very context that was passed to `execute`; an empty one when there was none.
    """


class Tool(Generic[P, R]):
    """A plain function that also is a tool: `refund(…)` calls it, `refund.function` is what a registry takes."""

    __name__: str

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
    options: Any = None,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...
def tool(plain: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Declares parameters, types, enums, defaults and descriptions from hints and docstring; coerces what is sent to them.

    What the function returns goes to the model: text and content parts as they are, None as "OK", anything else as JSON
    with the object itself kept as processed content.
    """
    if plain is None:
        return lambda decorated: _tool(decorated, **options)
    return _tool(plain)


OPTIONS = frozenset({"name", "description", "display_text", "async_", "strict", "options"})
ELSEWHERE = dict.fromkeys(("parse_args", "parameters", "function"), "belongs to Function(…): here hints and docstring say it")


def _tool(plain: Callable[..., Any], **options: Any) -> Tool[..., Any]:
    problems = Problems()
    for name in options.keys() - OPTIONS:
        problems.add(name, ELSEWHERE.get(name, "is nothing that @tool takes; what the gate needs to know goes to register(…)"))
    problems.raise_any()
    signature, hints = inspect.signature(plain), get_type_hints(plain, include_extras=True)
    _check(signature)
    contexts = [name for name in signature.parameters if _is_context(hints.get(name))]
    documented = docstring_parser.parse(inspect.getdoc(plain) or "")
    described = {one.arg_name: one.description for one in documented.params}
    fields = {
        f"field_{place}": (hints.get(name, Any), _field(name, one, hints.get(name), described.get(name)))
        for place, (name, one) in enumerate(signature.parameters.items())
        if name not in contexts
    }
    try:
        model: Any = create_model(plain.__name__, __config__=ConfigDict(extra="forbid"), **fields)  # type: ignore[call-overload] # the fields are only known here
    except PydanticUserError as error:
        raise FunctionDefinitionError({"function": [error.message]}) from error
    options["name"] = options.get("name") or plain.__name__
    options["description"] = options.get("description") or documented.description
    parser = _ToolParser(model)
    return Tool(plain, Function(function=_body(plain, contexts), parse_args=parser, parameters_schema=parser.shown, **options))


class _ToolParser(PydanticParser):
    """The model's own field names are numbered, so that a parameter may be called what pydantic reserves, such as `copy`."""

    def __init__(self, model: type[BaseModel]) -> None:
        super().__init__(model)
        self.shown = inlined(self.schema)
        self._names = {field: str(info.alias) for field, info in model.model_fields.items()}

    def as_dict(self, value: Any) -> dict[str, Any]:
        return {self._names[name]: one for name, one in dict(value).items()}


def _check(signature: inspect.Signature) -> None:
    """Raises FunctionDefinitionError for parameters that cannot be sent by name."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    problems = Problems()
    for name, one in signature.parameters.items():
        problems.add("parameters", f"{name} cannot be sent by name: name each parameter", when=one.kind not in named)
    problems.raise_any()


def _is_context(hint: Any) -> bool:
    return hint is Context or Context in get_args(hint)


def _field(name: str, parameter: inspect.Parameter, hint: Any, described: str | None) -> Any:
    """A description in the hint itself goes before the docstring's."""
    own = [one.description for one in get_args(hint) if isinstance(one, FieldInfo)]
    description: dict[str, Any] = {} if any(own) or described is None else {"description": described}
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return Field(default, alias=name, validate_default=False, **description)


def _body(plain: Callable[..., Any], contexts: list[str]) -> Callable[[dict[str, Any], Any], Any]:
    @functools.wraps(plain)
    def body(arguments: dict[str, Any], context: Any) -> Any:
        received = Context() if context is None else context
        return _answer(finish(plain(**{**arguments, **dict.fromkeys(contexts, received)})))

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
