"""Parsers from schemas that already exist: pydantic types and JSON Schema. Each tells all problems in one message.

Any callable with the contract of `parse_args` is a parser; an adapter for another library is a few lines like these.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import jsonschema_rs
from pydantic import BaseModel, PydanticUserError, RootModel, TypeAdapter, ValidationError

from toolgate.tools.canonical import canonical
from toolgate.tools.definition import FunctionDefinitionError
from toolgate.tools.diagnostics import Place, place_of
from toolgate.tools.misfits import Misfits, listed, unknown_field, value_at
from toolgate.tools.outcomes import Error
from toolgate.tools.references import alternatives, declared_at, declared_below, every_schema, property_names

# --- JSON Schema -------------------------------------------------------------------------------------------------------


class JSONSchemaParser:
    """Calls `json_schema_parser(…)` build these. `identity` tells two parsers apart by what they accept."""

    def __init__(self, schema: Mapping[str, Any], *, formats: bool = True) -> None:
        self.schema, self.formats = dict(schema), formats
        self._validator = _validator(self.schema, formats)
        self._misfits = Misfits(self.schema)
        self.identity = f"json_schema_parser:{formats}:{canonical(self.schema)}"

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any] | Error | None:
        problems = (one for error in self._validator.iter_errors(arguments) for one in self._misfits.told(error, arguments))
        if message := listed(problems):
            return Error(message)
        return _whole_integers(arguments, self.schema, self.schema) if _holds_whole_fraction(arguments) else None


def json_schema_parser(schema: Mapping[str, Any], formats: bool = True) -> JSONSchemaParser:
    """A parser that checks arguments against a JSON Schema (2020-12) and passes them on as they are.

    References lead only within the schema: nothing is ever fetched. Patterns run in linear time. Whole fractions (41.0)
    become integers where the schema says integer; nothing else is converted and no default is filled in. `formats=False`
    leaves formats unchecked. Raises FunctionDefinitionError for what is not a schema or leads outside.
    """
    return JSONSchemaParser(schema, formats=formats)


def schema_problems(schema: Mapping[str, Any], value: Any, *, name: str = "value") -> str:
    """What does not fit, as one message; empty when all does. `name` stands for the value itself."""
    misfits = Misfits(schema, name)
    errors = _validator(dict(schema), True).iter_errors(value)
    return listed((one for error in errors for one in misfits.told(error, value)), lead="")


def _validator(schema: dict[str, Any], formats: bool) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            schema,
            validate_formats=formats,
            formats={"uri": _is_web_address, "date-time": _is_instant},
            retriever=_never,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        reason = f"is not a JSON Schema that can be used: {error}".splitlines()[0]
        raise FunctionDefinitionError({"schema": [reason]}) from None


def _never(reference: str) -> Any:
    raise ValueError(f"{reference} is not fetched: a reference leads only within its schema")


_SCRIPTS = re.compile(r"(?i)(?:javascript|vbscript|data):")
_URI = jsonschema_rs.Draft202012Validator({"format": "uri"}, validate_formats=True)
_INSTANT = jsonschema_rs.Draft202012Validator({"format": "date-time"}, validate_formats=True)


def _is_web_address(text: str) -> bool:
    return not _SCRIPTS.match(text) and _URI.is_valid(text)


def _is_instant(text: str) -> bool:
    """RFC 3339, less the leap second: no Python datetime can hold it."""
    return text[17:19] != "60" and _INSTANT.is_valid(text)


def _holds_whole_fraction(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_holds_whole_fraction, value.values() if isinstance(value, dict) else value))
    return isinstance(value, float | Decimal) and value % 1 == 0


def _whole_integers(value: Any, schema: Any, root: Mapping[str, Any]) -> Any:
    """JSON Schema calls 41.0 an integer; so that everybody does, it becomes one."""
    if isinstance(value, dict):
        return {key: _whole_integers(item, declared_below(schema, key, root), root) for key, item in value.items()}
    if isinstance(value, list):
        return [_whole_integers(item, declared_below(schema, place, root), root) for place, item in enumerate(value)]
    is_whole = _holds_whole_fraction(value) and _is_integer(schema, root)
    return int(Decimal(repr(value) if isinstance(value, float) else value)) if is_whole else value


def _is_integer(schema: Any, root: Mapping[str, Any]) -> bool:
    kinds = [one["type"] for one in alternatives(schema, root) if "type" in one]
    named = {kind for found in kinds for kind in ([found] if isinstance(found, str) else found)}
    return "integer" in named and "number" not in named


# --- pydantic ----------------------------------------------------------------------------------------------------------


class PydanticParser:
    """Calls `pydantic_parser(…)` build these. `identity` tells two parsers apart by what they accept."""

    def __init__(self, kind: Any) -> None:
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(kind)
            self.schema = self._adapter.json_schema()
        except PydanticUserError as error:
            raise FunctionDefinitionError({"parse_args": [error.message]}) from error
        if self.schema.get("type", "object") != "object":
            raise FunctionDefinitionError({"parse_args": [f"{kind!r} does not describe an object of named arguments"]})
        self.identity = f"pydantic_parser:{canonical(self.schema)}"
        self._misfits = Misfits(self.schema)
        self._may_ignore = any("properties" in one and "additionalProperties" not in one for one in every_schema(self.schema))

    def __call__(self, arguments: dict[str, Any]) -> dict[str, Any] | Error:
        problems = [*self._confused(arguments), *self._ignored(arguments)]
        places = {_real_place(one, arguments) for one in problems}
        try:
            value = self._adapter.validate_python(arguments)
        except ValidationError as error:
            found = error.errors(include_url=False)
            problems += [one for one in found if _real_place(one, arguments) not in places]
        if problems:
            return Error(listed(self._told(one, arguments) for one in problems))
        return self.as_dict(value)

    def as_dict(self, value: Any) -> dict[str, Any]:
        if isinstance(value, RootModel):
            return self.as_dict(value.root)
        if isinstance(value, BaseModel):
            return {**dict(value), **(value.model_extra or {})}
        if isinstance(value, Mapping):
            return dict(value)
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}

    def _confused(self, arguments: dict[str, Any]) -> list[Any]:
        """What pydantic would convert and a person would not: true for 1, a number for text, an instant for a number.

        Told by pydantic's own strict mode over JSON. Forgiven is text that spells a number, or true or false, exactly.
        """
        found = self._strictly(arguments)
        forgiven = {_real_place(one, arguments) for one in found if _spells(one["type"], one["input"])}
        return [one for one in found if _real_place(one, arguments) not in forgiven]

    def _ignored(self, arguments: dict[str, Any]) -> list[Any]:
        """Fields that pydantic would drop in silence. A model that means to take any says so with `extra="allow"`."""
        found = self._strictly(arguments, extra="forbid") if self._may_ignore else []
        return [one for one in found if one["type"] in _UNKNOWN and not self._takes_any(_real_place(one, arguments)[:-1])]

    def _takes_any(self, at: Place) -> bool:
        return any(one.get("additionalProperties") for one in alternatives(declared_at(self.schema, at), self.schema))

    def _strictly(self, arguments: dict[str, Any], **options: Any) -> list[Any]:
        try:
            self._adapter.validate_json(canonical(arguments), strict=True, **options)
        except ValidationError as error:
            return error.errors(include_url=False)
        except TypeError:  # no JSON data: called from Python with Python's own values
            pass
        return []

    def _told(self, error: Any, arguments: dict[str, Any]) -> str:
        at = _real_place(error, arguments)
        if error["type"] in _MISSING:
            return f"{place_of(at)} is missing"
        if error["type"] in _UNKNOWN:
            beside = value_at(arguments, at[:-1])
            known = property_names(declared_at(self.schema, at[:-1]), self.schema)
            return unknown_field(str(at[-1]), at[:-1], "", [name for name in known if name not in beside])
        told = error["msg"].removeprefix("Input ").removeprefix("Value error, ").removeprefix("Assertion failed, ")
        return f"{place_of(at)}{'' if told.startswith('should') else ':'} {told}{self._misfits.but(at, error['input'])}"


def pydantic_parser(kind: type[BaseModel] | Any) -> PydanticParser:
    """A parser that reads arguments into a pydantic model, TypedDict or dataclass; the body receives its fields as a dict.

    Text that spells a number, or true or false, exactly is taken for it where the hint asks for one; true is never 1, 1 is
    never true, a number is never text. Fields that the type does not know are refused, also where pydantic would drop them,
    unless a model says `extra="allow"`. Raises FunctionDefinitionError for a type that is not an object of named values.
    """
    return PydanticParser(kind)


_NUMERAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


def _spells(problem: str, value: Any) -> bool:
    if problem == "int_type" and isinstance(value, float):
        return value.is_integer()
    if not isinstance(value, str):
        return False
    return value in ("true", "false") if problem == "bool_type" else problem in _NUMBERS and bool(_NUMERAL.fullmatch(value))


_NUMBERS = ("int_type", "float_type")
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")


def _real_place(error: Any, data: Any) -> Place:
    """The place in the data that was sent: pydantic's own names for branches of a union are left out."""
    steps, at = error["loc"], []
    for number, step in enumerate(steps):
        is_key = isinstance(data, Mapping) and step in data
        if is_key or (isinstance(data, list) and isinstance(step, int) and step < len(data)):
            data = data[step]
            at.append(step)
        elif error["type"] in _MISSING and number == len(steps) - 1:
            at.append(step)
    return tuple(at)
