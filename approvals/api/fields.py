"""Fields that take what they say and convert nothing: a number is not text, text is not a number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from approvals.api.parsers import RawJSON
from toolgate.tools.diagnostics import quote

AnyField = serializers.Field[Any, Any, Any, Any]
WORDS: dict[str, Any] = {"required": "is missing", "null": "must not be null"}


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members it does not know: a caller who sends `approved` must not believe that it was heard.

    Null for what may be left out is the same as leaving it out.
    """

    default_error_messages = {"invalid": "must be a JSON object", "null": "must be a JSON object"}

    def run_validation(self, data: Any = serializers.empty) -> Any:
        # Given None, the framework says "No data provided" instead of what was asked for.
        return super().run_validation([] if data is None else data)

    def to_internal_value(self, data: Any) -> Any:
        errors: dict[str, Any] = {}
        if isinstance(data, Mapping):
            unknown = [str(key) for key in data if key not in self.fields]
            errors = {key[:100]: [f"is an unknown field: {quote(key)}"] for key in unknown}
        try:
            known = super().to_internal_value(data)
        except serializers.ValidationError as refused:
            told = refused.detail if isinstance(refused.detail, dict) else {}
            raise serializers.ValidationError({**told, **errors}) from refused
        if errors:
            raise serializers.ValidationError(errors)
        return {key: value for key, value in known.items() if value is not None}


class Text(serializers.CharField):
    default_error_messages = WORDS | {
        "invalid": "must be text",
        "blank": "must not be blank",
        "max_length": "must have at most {max_length} characters",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, "allow_null": not kwargs.get("required", True), **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class NonBlankText(Text):
    def run_validation(self, data: Any = serializers.empty) -> Any:
        if isinstance(data, str) and not data.strip():
            self.fail("blank")
        return super().run_validation(data)


class Choice(serializers.ChoiceField):
    default_error_messages = WORDS | {"invalid_choice": "must be one of {expected}"}

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, str) or data not in self.choices:
            self.fail("invalid_choice", expected=", ".join(map(str, self.choices)))
        return data


@extend_schema_field({"type": "string", "format": "uuid"})
class UUIDText(AnyField):
    default_error_messages = WORDS | {"invalid": "must be a UUID"}

    def to_internal_value(self, data: Any) -> UUID:
        try:
            return UUID(data) if isinstance(data, str) else self.fail("invalid")
        except ValueError:
            self.fail("invalid")

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "boolean"})
class Flag(AnyField):
    default_error_messages = WORDS | {"invalid": "must be true or false"}

    def to_internal_value(self, data: Any) -> bool:
        return data if isinstance(data, bool) else self.fail("invalid")

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "number", "exclusiveMinimum": 0, "maximum": 30 * 86400})
class Seconds(AnyField):
    """A duration above zero and up to `longest` seconds."""

    default_error_messages = WORDS | {"invalid": "must be a number", "range": "must be above 0 and at most {longest:g}"}

    def __init__(self, longest: float, **kwargs: Any) -> None:
        self.longest = longest
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, str | bool | dict | list):
            self.fail("invalid")
        if not 0 < data <= self.longest or math.ceil(float(data) * 1e6) < 1:
            self.fail("range", longest=self.longest)
        return float(data)

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "object", "additionalProperties": True})
class JSONObject(AnyField):
    default_error_messages = WORDS | {"invalid": "must be an object"}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        return data if isinstance(data, dict) else self.fail("invalid")

    def to_representation(self, value: Any) -> Any:
        return value


class Items(serializers.ListField):
    """A list of objects, each read by itself later, so that one bad item does not spoil the others."""

    default_error_messages = WORDS | {
        "not_a_list": "must be a list",
        "empty": "must not be empty",
        "min_length": "must have at least {min_length} items",
        "max_length": "must have at most {max_length} items",
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"child": JSONObject(), "min_length": 1, **kwargs})


@extend_schema_field(
    {
        "oneOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}, {"type": "null"}],
        "description": "An object, or the JSON text of one exactly as the model produced it.",
    }
)
class RawArguments(AnyField):
    """The raw JSON text of the member, null included: it is kept exactly as sent."""

    default_error_messages = WORDS

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if isinstance(data, RawJSON):
            return True, data.text
        return super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"description": "Any JSON value."})
class AnyJSON(RawArguments):
    """The member as sent, null included, with its text."""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if isinstance(data, RawJSON):
            return True, data
        return super().validate_empty_values(data)
