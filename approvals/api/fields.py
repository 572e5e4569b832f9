"""Fields that take what they say and convert nothing: a number is not text, text is not a number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from approvals.api.parsers import RawJSON


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members it does not know: a caller who sends `approved` must not believe that it was heard."""

    def to_internal_value(self, data: Any) -> Any:
        unknown = [key for key in data if key not in self.fields] if isinstance(data, Mapping) else []
        if unknown:
            raise serializers.ValidationError({str(key)[:100]: ["unknown field"] for key in unknown})
        return super().to_internal_value(data)


class Text(serializers.CharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"trim_whitespace": False, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be text")
        return data


class NonBlankText(Text):
    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if not text.strip():
            raise serializers.ValidationError("must not be blank")
        return text


@extend_schema_field({"type": "object", "additionalProperties": True})
class JSONObject(serializers.Field[Any, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            raise serializers.ValidationError("must be an object")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(
    {
        "oneOf": [{"type": "object", "additionalProperties": True}, {"type": "string"}, {"type": "null"}],
        "description": "An object, or the JSON text of one exactly as the model produced it.",
    }
)
class RawArguments(serializers.Field[Any, Any, Any, Any]):
    """The raw JSON text of the member."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"allow_null": True, **kwargs})

    def to_internal_value(self, data: Any) -> str:
        return data.text if isinstance(data, RawJSON) else ""

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if isinstance(data, RawJSON) and data.value is None:
            return True, "null"
        return super().validate_empty_values(data)

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"description": "Any JSON value."})
class AnyJSON(serializers.Field[Any, Any, Any, Any]):
    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        if isinstance(data, RawJSON):
            return True, data
        return super().validate_empty_values(data)

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class StrictNumber(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, str | bool):
            raise serializers.ValidationError("must be a number")
        return super().to_internal_value(data)
