"""Request bodies, read strictly, with the raw text of what must be kept exactly as sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

from toolgate.tools.json_text import JSONTextError, item_texts, member_texts, read_json

KEPT_RAW = frozenset({"arguments", "edited_arguments", "answer"})
LISTS = frozenset({"calls", "decisions"})
ENVELOPE_DEPTH = 4


class TooLarge(APIException):
    status_code = 413
    default_code = "too_large"


@dataclass(frozen=True, slots=True)
class RawJSON:
    """A member of the body as it stood there, and what it means."""

    text: str
    value: Any


class Body(dict[str, Any]):
    """An object of the body, with its text."""

    def __init__(self, text: str, members: Mapping[str, Any]) -> None:
        super().__init__(members)
        self.text = text


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(f"The body is larger than {limit} bytes.")
        try:
            value = read_json(body, max_depth=settings.MAX_DEPTH + ENVELOPE_DEPTH)
        except JSONTextError as error:
            raise ParseError(error.message, code="malformed") from error
        return _with_raw_text(body.decode(), value)


def _with_raw_text(text: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    raw = member_texts(text)
    return Body(text, {key: _kept(key, raw[key], item) for key, item in value.items()})


def _kept(key: str, text: str, value: Any) -> Any:
    if key in KEPT_RAW:
        return RawJSON(text, value)
    if key in LISTS and isinstance(value, list):
        return [_with_raw_text(item, one) for item, one in zip(item_texts(text), value, strict=True)]
    return value
