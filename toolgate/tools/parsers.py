"""Parsers from schemas that already exist: pydantic types and JSON Schema. Each tells all problems in one message.

Any callable with the contract of `parse_args` is a parser; an adapter for another library is a few lines like these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, TypeAdapter, ValidationError

from toolgate.tools.canonical import canonical
from toolgate.tools.definition import FunctionDefinitionError, one_of
from toolgate.tools.diagnostics import kind_of, quote, suggestion
from toolgate.tools.outcomes import Error

Place = tuple[str | int, ...]
SCRIPT_SCHEMES = ("javascript:", "data:", "vbscript:")


class JSONSchemaParser:
    """Calls `json_schema_parser(…)` build these. `identity` tells two parsers apart by what they accept."""

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = True) -> None:
        self.schema, self.formats = dict(schema), formats
        self.identity = f"json_schema_parser:{formats}:{canonical(self.schema)}"
        self._validator = _validator(self.schema, formats)

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any] | Error:
        problems = list(_schema_problems(self._validator, self.schema, arguments, ""))
        return Error(_listed(problems)) if problems else _whole_integers(arguments, self.schema)


def json_schema_parser(schema: Mapping[str, Any], formats: bool = True) -> JSONSchemaParser:
    """A parser that checks arguments against a JSON Schema (2020-12) and passes them on as they are.

    References lead only within the schema: nothing is ever fetched. Patterns run in linear time. Whole fractions (41.0)
    become integers where the schema says integer; nothing else is converted. Raises FunctionDefinitionError.
    """
    return JSONSchemaParser(schema, formats=formats)


def schema_problems(schema: Mapping[str, Any], value: Any, *, name: str = "value") -> str:
    """What does not fit, as one message; empty when all does. `name` stands for the value itself."""
    return _listed(list(_schema_problems(_validator(dict(schema), True), schema, value, name)))


def _validator(schema: dict[str, Any], formats: bool) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema, validate_formats=formats, offline=True, pattern_options=jsonschema_rs.RegexOptions()
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = f"is not a JSON Schema that can be used: {error}".splitlines()[0]
        raise FunctionDefinitionError({"schema": [reason]}) from None


def _listed(problems: list[str]) -> str:
    if not problems:
        return ""
    if len(problems) == 1:
        return f"The arguments were refused: {problems[0]}."
    return "The arguments were refused:\n" + "\n".join(f"- {problem}" for problem in dict.fromkeys(problems))


def _schema_problems(
    validator: jsonschema_rs.Draft202012Validator, schema: Mapping[str, Any], value: Any, name: str
) -> Iterator[str]:
    for error in validator.iter_errors(value):
        yield from _told(error, name, schema, value)
    properties = schema.get("properties")
    if isinstance(value, dict) and isinstance(properties, Mapping):
        for field, declared in properties.items():
            yield from _script_problem(field, declared, value.get(field))


def _script_problem(field: str, declared: Any, value: Any) -> Iterator[str]:
    is_uri = isinstance(declared, Mapping) and declared.get("format") == "uri"
    if is_uri and isinstance(value, str) and value.strip().lower().startswith(SCRIPT_SCHEMES):
        yield f"{field} must start with http or https"


def _told(error: jsonschema_rs.ValidationError, name: str, schema: Mapping[str, Any], root: Any) -> Iterator[str]:
    at: Place = tuple(error.instance_path)
    facts, keyword, sent = error.kind.as_dict(), str(error.schema_path[-1]), error.instance
    if keyword == "required":
        yield f"{place_of((*at, facts['property']), name)} is missing"
    elif keyword in ("additionalProperties", "unevaluatedProperties") and "unexpected" in facts:
        known = [*schema.get("properties", {})] if not at else []
        yield from (
            _unknown(field, at, name, [one for one in known if one not in root]) for field in facts["unexpected"]
        )
    elif keyword in ("anyOf", "oneOf") and "context" in facts:
        yield from _alternatives(facts["context"], at, name, schema, sent)
    elif words := _expected(error):
        yield f"{place_of(at, name)} must be {one_of(words)}; {_sent(sent)}"
    else:
        yield f"{place_of(at, name)} {_limit(keyword, facts, sent, error.message)}"


def _alternatives(
    branches: list[list[jsonschema_rs.ValidationError]], at: Place, name: str, schema: Mapping[str, Any], sent: Any
) -> Iterator[str]:
    """The branch that was meant is the one whose fault lies deeper; without one, all that would have been accepted."""
    deeper = [branch for branch in branches if branch and all(len(one.instance_path) > len(at) for one in branch)]
    if deeper:
        for error in min(deeper, key=len):
            yield from _told(error, name, schema, sent)
        return
    words = [word for branch in branches for error in branch for word in _expected(error)]
    kinds = one_of(dict.fromkeys(words)) if words else "one of the declared forms"
    yield f"{place_of(at, name)} must be {kinds}; {_sent(sent)}"


_TYPE_WORDS: dict[str, tuple[str, ...]] = {
    "string": ("text",),
    "integer": ("an integer",),
    "number": ("a number",),
    "boolean": ("true", "false"),
    "array": ("a list",),
    "object": ("an object",),
    "null": ("null",),
}


def _expected(error: jsonschema_rs.ValidationError) -> list[str]:
    """What would have been accepted there, in words, for the keywords that say so."""
    facts, keyword = error.kind.as_dict(), str(error.schema_path[-1])
    if keyword == "type":
        kinds = sorted(facts["types"], key=lambda kind: kind == "null")
        return [word for kind in kinds for word in _TYPE_WORDS[kind]]
    if keyword == "enum":
        return ["null" if option is None else _bare(option) for option in facts["options"]]
    if keyword == "const":
        return [_bare(facts["expected_value"])]
    return [_FORMAT_WORDS.get(facts["format"], f"a {facts['format']}")] if keyword == "format" else []


_FORMAT_WORDS = {
    "date-time": "a date with a time and an offset in ISO form, such as 2031-03-14T09:30:00+01:00",
    "date": "a date in ISO form, such as 2031-03-14",
    "email": "an e-mail address",
    "uri": "a web address that starts with http or https and holds no letters of mixed scripts",
}


def _bare(option: Any) -> str:
    return option if isinstance(option, str) else canonical(option)


def _sent(value: Any) -> str:
    if isinstance(value, str) and value:
        return f"text was sent: {quote(value)}"
    return "empty text was sent" if value == "" else f"{kind_of(value)} was sent"


def _limit(keyword: str, facts: Mapping[str, Any], sent: Any, message: str) -> str:
    limit = facts.get("limit")
    if keyword in ("minLength", "minItems") and limit == 1:
        return "must not be empty"
    words = {
        "minimum": f"must be at least {limit}",
        "maximum": f"must be at most {limit}",
        "exclusiveMinimum": f"must be above {limit}",
        "exclusiveMaximum": f"must be below {limit}",
        "minLength": f"must have at least {limit} characters",
        "maxLength": f"must have at most {limit} characters",
        "minItems": f"must have at least {limit} items",
        "maxItems": f"must have at most {limit} items",
    }
    if keyword in words:
        return f"{words[keyword]}; {_sent(sent)}" if keyword.endswith("imum") else words[keyword]
    return f"does not fit the schema ({keyword}): {quote(message, 160)}"


def _unknown(field: str, at: Place, name: str, candidates: list[str]) -> str:
    where = f" in {place_of(at, name)}" if at else ""
    meant = suggestion(field, candidates)
    return f"unknown field {quote(field)}{where}" + (f' (did you mean "{meant}"?)' if meant else "")


def place_of(at: Place, name: str = "") -> str:
    """`lines[0].qty`; a list item at the end as people count: `fields item 2`."""
    *path, last = at or ("",)
    text = name
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    if isinstance(last, int):
        return f"{text} item {last + 1}".strip()
    shown = last if last.isidentifier() or not last else quote(last)
    return f"{text}.{shown}" if text and shown else text or shown or "the arguments"


def _whole_integers(value: Any, schema: Any) -> Any:
    """JSON Schema calls 41.0 an integer; so that everybody does, it becomes one."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        return {key: _whole_integers(item, properties.get(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_integers(item, schema.get("items")) for item in value]
    is_whole = isinstance(value, float) and value.is_integer() and schema.get("type") == "integer"
    return int(value) if is_whole else value


# --- pydantic ----------------------------------------------------------------------------------------------------------


class PydanticParser:
    """Calls `pydantic_parser(…)` build these. `identity` tells two parsers apart by what they accept."""

    def __init__(self, kind: Any) -> None:
        self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
        self.identity = f"pydantic_parser:{canonical(self._adapter.json_schema())}"

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any] | Error:
        try:
            # JSON mode and strict: text is no number and true is no 1, but a date may be text. Python mode then keeps
            # every digit that JSON mode would round.
            self._adapter.validate_json(canonical(arguments), strict=True)
            return _as_dict(self._adapter.validate_python(arguments))
        except ValidationError as error:
            return Error(_listed([_pydantic_problem(dict(one)) for one in error.errors(include_url=False)]))


def pydantic_parser(kind: type[BaseModel] | Any) -> PydanticParser:
    """A parser that reads arguments into a pydantic model, TypedDict or dataclass; the body receives its fields as a dict."""
    return PydanticParser(kind)


def _as_dict(value: Any) -> dict[str, Any]:
    if isinstance(value, BaseModel):
        return {**dict(value), **(value.model_extra or {})}
    return dict(value) if isinstance(value, Mapping) else dict(vars(value))


def _pydantic_problem(error: Mapping[str, Any]) -> str:
    at: Place = tuple(step for step in error["loc"] if not (isinstance(step, str) and step in _UNION_TAGS))
    if error["type"] == "missing":
        return f"{place_of(at)} is missing"
    if error["type"] == "extra_forbidden":
        return _unknown(str(at[-1]), at[:-1], "", [])
    told = error["msg"].removeprefix("Input ").removeprefix("Value error, ")
    return f"{place_of(at)} {told}; {_sent(error['input'])}"


_UNION_TAGS = frozenset({"str", "int", "float", "bool", "none", "decimal"})
