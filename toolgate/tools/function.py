"""A function that a model may call: what it is, what its arguments mean, and running it.

Function(name="refund", parameters=[FunctionParam("order", "string", required=True)], function=refund)
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from toolgate.tools.callables import arity, binds, finish
from toolgate.tools.content_part import ContentPart
from toolgate.tools.definition import Problems, is_blank, known_attributes
from toolgate.tools.diagnostics import failed_lookup, missing_parameters
from toolgate.tools.function_param import FunctionParam, required_properties, to_parameters_schema
from toolgate.tools.outcomes import Error, Interrupt, Ok, Outcome
from toolgate.tools.tool_result import ToolResult

LONGEST_NAME = 64
UNEXPECTED = "An unexpected response was returned from the tool."

Body = Callable[..., Any]
Parser = Callable[..., Any]
Admit = Callable[[dict[Any, Any]], "Error | Interrupt | None"]


class MissingArgument(KeyError):
    """What the arguments raise for a key that was not sent, so that it can be told from any other KeyError."""

    def __init__(self, key: Any, arguments: Arguments) -> None:
        self.key, self.arguments = key, arguments
        super().__init__(key)


class Arguments(dict[Any, Any]):
    """The dict that a body receives. It differs from any other only in the error for a missing key."""

    def __missing__(self, key: Any) -> Any:
        raise MissingArgument(key, self)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """`function(arguments, context)` is the body; without one this is a declaration that the agent runs itself.

    `parse_args(arguments)` or `parse_args(arguments, context)` owns argument validation: it answers None (fine as they
    are), a dict (use these) or Error(reason). `async_` says that calls may run beside one another. `strict` and `options`
    are notes for a provider. Raises FunctionDefinitionError with every problem at once.
    """

    name: str = ""
    description: str | None = None
    parameters: list[FunctionParam] = field(default_factory=list)
    parameters_schema: Mapping[str, Any] | None = None
    function: Body | None = None
    parse_args: Parser | None = None
    async_: bool = False
    strict: bool = False
    display_text: str | None = None
    options: Any = field(default_factory=list)

    def __post_init__(self) -> None:
        problems = Problems()
        self._check_name(problems)
        self._check_parameters(problems)
        for one in ("description", "display_text"):
            problems.add(one, "must be text", when=not isinstance(getattr(self, one), str | None))
        _check_callable(problems, "function", self.function, (2,), "2")
        _check_callable(problems, "parse_args", self.parse_args, (1, 2), "1 or 2")
        problems.raise_any()
        options = dict(self.options) if isinstance(self.options, Mapping) else list(self.options or [])
        object.__setattr__(self, "options", options)
        object.__setattr__(self, "parameters", list(self.parameters or []))

    @classmethod
    def new(cls, attributes: Mapping[str, Any]) -> Function:
        """From a mapping with the seed's own key names, `async` included."""
        given = dict(attributes)
        if "async" in given:
            given["async_"] = given.pop("async")
        return cls(**known_attributes(given, cls))

    def _check_name(self, problems: Problems) -> None:
        if self.name is not None and not isinstance(self.name, str):
            problems.add("name", "must be text")
        elif is_blank(self.name):
            problems.add("name", "can't be blank")
        elif len(self.name) > LONGEST_NAME:
            problems.add("name", f"should be at most {LONGEST_NAME} character(s)")

    def _check_parameters(self, problems: Problems) -> None:
        given = [] if self.parameters is None else self.parameters
        listed = isinstance(given, list | tuple) and all(isinstance(one, FunctionParam) for one in given)
        problems.add("parameters", "must be a list of FunctionParam", when=not listed)
        names = [one.name for one in given] if listed else []
        twice = sorted({name for name in names if names.count(name) > 1})
        problems.add("parameters", f"names that appear twice: {', '.join(twice)}", when=bool(twice))
        problems.add("parameters_schema", "must be a mapping", when=not isinstance(self.parameters_schema, Mapping | None))
        both = listed and bool(self.parameters) and self.parameters_schema is not None
        problems.add("parameters", "Cannot use both parameters and parameters_schema", when=both)

    # --- what is declared ---

    def json_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments, whichever way they were declared."""
        if self.parameters_schema is not None:
            return dict(self.parameters_schema)
        return to_parameters_schema(self.parameters)

    def required_param_names(self) -> list[str]:
        """The required top-level names, in the order declared; [] when none is declared as required."""
        if self.parameters_schema is None:
            return required_properties(self.parameters)
        required = self.parameters_schema.get("required")
        return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []

    def accepted_param_names(self) -> list[str]:
        """All top-level names; [] means unknown, not none."""
        if self.parameters_schema is None:
            return [parameter.name for parameter in self.parameters]
        properties = self.parameters_schema.get("properties")
        return [name for name in properties if isinstance(name, str)] if isinstance(properties, Mapping) else []

    # --- what a call means ---

    def parse_arguments(self, arguments: Any, context: Any = None) -> Ok | Error:
        """Exactly what `execute` does before the body: Ok with the arguments the body would get, or Error for the model.

        A parser may run several times for one call and must only read.
        """
        parsed = self._parse(arguments, context)
        return Error(parsed.message) if isinstance(parsed, Error) else parsed

    def execute(self, arguments: Any, context: Any = None, *, admit: Admit | None = None) -> Outcome:
        """Parses, then runs the body. Never raises for what a parser or a body does.

        `admit` is called between the two with the very dict that the body is about to receive; an Error or Interrupt from
        it is the answer and the body is not run. What `admit` itself raises is raised.
        """
        parsed = self._parse(arguments, context)
        if isinstance(parsed, Error):
            return parsed
        received = Arguments(parsed.value)
        if admit is not None and (refusal := admit(received)) is not None:
            return refusal
        if self.function is None:
            return Error(f"Tool '{self.name}' is a declaration: it has no body here and is run by the agent itself.")
        return self._run(self.function, received, context)

    def _parse(self, arguments: Any, context: Any) -> Ok | Error:
        raw = arguments if isinstance(arguments, Mapping) else {}
        if self.parse_args is not None:
            return self._ask_parser(self.parse_args, dict(raw), context)
        required = self.required_param_names()
        if all(name in raw for name in required):
            return Ok(dict(raw))
        return Error(missing_parameters(required, self.accepted_param_names(), raw))

    def _ask_parser(self, parser: Parser, raw: dict[Any, Any], context: Any) -> Ok | Error:
        try:
            answer = finish(parser(raw, context) if binds(parser, 2) else parser(raw))
            answer = dict(answer) if isinstance(answer, Mapping) else answer
        except Exception as error:  # noqa: BLE001 - whatever a parser raises is told to the model
            return Error(_told(error), error)
        if answer is None:
            return Ok(raw)
        if isinstance(answer, Error):
            return Error(_as_text(answer.message))
        if isinstance(answer, dict):
            return Ok(answer)
        return Error(f"parse_args returned unexpected shape: {_safely(repr, answer)}")

    def _run(self, body: Body, arguments: Arguments, context: Any) -> Outcome:
        try:
            return _outcome(finish(body(arguments, context)))
        except MissingArgument as error:
            accepted = self.accepted_param_names()
            if error.arguments is arguments and accepted and self.parse_args is None:
                return Error(failed_lookup(error.key, accepted, arguments), error)
            return Error(_told(error), error)
        except Exception as error:  # noqa: BLE001 - whatever a body raises is told to the model
            return Error(_told(error), error)


def _check_callable(problems: Problems, name: str, target: Any, counts: tuple[int, ...], words: str) -> None:
    if target is None:
        return
    if not callable(target):
        problems.add(name, "must be callable")
    elif not any(binds(target, count) for count in counts):
        problems.add(name, f"expected arity of {words} but has arity {arity(target)}")


def _outcome(answer: Any) -> Outcome:
    if isinstance(answer, Ok):
        return answer
    if isinstance(answer, Error):
        return Error(_as_text(answer.message))
    if isinstance(answer, Interrupt) and isinstance(answer.message, str):
        return answer
    is_parts = isinstance(answer, list) and all(isinstance(part, ContentPart) for part in answer)
    return Ok(answer) if is_parts or isinstance(answer, str | ToolResult) else Error(UNEXPECTED)


def _as_text(reason: Any) -> str:
    return reason if isinstance(reason, str) else _safely(repr, reason)


def _safely(words: Callable[[Any], str], value: Any) -> str:
    """`str` or `repr` of a value of somebody else's class, which may raise."""
    try:
        return words(value)
    except Exception:  # noqa: BLE001 - whatever it raises, a sentence is needed
        return f"a {type(value).__name__} that cannot be shown"


def _told(error: BaseException) -> str:
    """`ERROR: (TYPE) TEXT at FILE:LINE in NAME`, with the last place that raised."""
    kind = "KeyError" if isinstance(error, MissingArgument) else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    place = f"at {PurePath(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else ""
    return " ".join(word for word in (f"ERROR: ({kind})", _safely(str, error), place) if word)


def get_display_text(functions: Sequence[Function], name: str, fallback: str = "Perform action") -> str | None:
    """The display text of the function of that name, the first of several; `fallback` when there is none of that name."""
    return next((function.display_text for function in functions if function.name == name), fallback)
