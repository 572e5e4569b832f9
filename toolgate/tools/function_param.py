"""One declared parameter, and its JSON Schema."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolgate.tools.definition import Problems, is_blank, known_attributes, one_of

TYPES = ("string", "integer", "number", "boolean", "array", "object")
WITH_ENUM = ("string", "integer", "number")


@dataclass(frozen=True, slots=True)
class FunctionParam:
    """`type` is one of TYPES; `item_type` goes with arrays, `object_properties` with objects and arrays of objects."""

    name: str = ""
    type: str = ""
    item_type: str | None = None
    enum: list[Any] = field(default_factory=list)
    description: str | None = None
    required: bool = False
    object_properties: list[FunctionParam] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Raises FunctionDefinitionError with every problem of this parameter."""
        problems = Problems()
        for field_name, kind, words in (("enum", object, "values"), ("object_properties", FunctionParam, "FunctionParam")):
            given = getattr(self, field_name) or []
            usable = isinstance(given, list | tuple) and all(isinstance(one, kind) for one in given)
            problems.add(field_name, f"must be a list of {words}", when=not usable)
            object.__setattr__(self, field_name, list(given) if usable else [])
        problems.add("name", "can't be blank", when=is_blank(self.name))
        problems.add("name", "must be text", when=not isinstance(self.name, str | None))
        problems.add("type", "can't be blank", when=is_blank(self.type))
        problems.add("type", f"must be {one_of(TYPES)}", when=not is_blank(self.type) and self.type not in TYPES)
        not_allowed = f"not allowed for type {self.type}"
        problems.add("enum", not_allowed, when=bool(self.enum) and self.type not in WITH_ENUM)
        problems.add("item_type", not_allowed, when=self.item_type is not None and self.type != "array")
        self._check_properties(problems, not_allowed)
        problems.raise_any()

    def _check_properties(self, problems: Problems, not_allowed: str) -> None:
        of_objects = self.type == "array" and self.item_type == "object"
        if not self.object_properties:
            problems.add("object_properties", "is required for object type", when=self.type == "object")
            problems.add("object_properties", "required when array type of object is used", when=of_objects)
        elif self.type != "object" and not of_objects:
            problems.add("object_properties", not_allowed)

    @classmethod
    def new(cls, attributes: Mapping[str, Any]) -> FunctionParam:
        """From a mapping with the same keys."""
        return cls(**known_attributes(attributes, cls))

    def to_json_schema(self, properties: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """`properties` (left as they are) with this parameter's schema added under its name."""
        return {**(properties or {}), self.name: self._schema()}

    def _schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": self.type}
        if self.type == "object":
            schema = to_parameters_schema(self.object_properties)
        elif self.object_properties:
            schema["items"] = to_parameters_schema(self.object_properties)
        elif self.item_type is not None:
            schema["items"] = {"type": self.item_type}
        if self.enum:
            schema["enum"] = list(self.enum)
        if self.description is not None:
            schema["description"] = self.description
        return schema

    @staticmethod
    def to_parameters_schema(parameters: Iterable[FunctionParam]) -> dict[str, Any]:
        return to_parameters_schema(parameters)

    @staticmethod
    def required_properties(parameters: Iterable[FunctionParam]) -> list[str]:
        return required_properties(parameters)


def to_parameters_schema(parameters: Iterable[FunctionParam]) -> dict[str, Any]:
    """The object schema of a list of parameters: type, properties, required, and nothing else accepted."""
    declared = list(parameters)
    properties: dict[str, Any] = {}
    for parameter in declared:
        properties = parameter.to_json_schema(properties)
    return {
        "type": "object",
        "properties": properties,
        "required": required_properties(declared),
        "additionalProperties": False,
    }


def required_properties(parameters: Iterable[FunctionParam]) -> list[str]:
    return [parameter.name for parameter in parameters if parameter.required]
