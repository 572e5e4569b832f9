"""Answers as JSON with every digit: a double never stands between what is stored and what is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from toolgate.tools.canonical import exact


class StoredJSON(str):
    """Text that is JSON already and goes out as it stands: key order, spelling of numbers and all."""

    __slots__ = ()


class ExactJSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "text"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        return b"" if data is None else json_text(data).encode()


def json_text(data: Any) -> str:
    """`data` as JSON text: instants in ISO form, ids as text, numbers exact, lone halves of characters as escapes."""
    if isinstance(data, StoredJSON):
        return str(data)
    if isinstance(data, Mapping):
        members = (f"{exact(str(key))}:{json_text(value)}" for key, value in data.items())
        return "{" + ",".join(members) + "}"
    if isinstance(data, list | tuple):
        return "[" + ",".join(map(json_text, data)) + "]"
    if isinstance(data, datetime):
        return exact(data.isoformat().replace("+00:00", "Z"))
    return exact(str(data) if isinstance(data, UUID) else data)


class AlwaysJSON(BaseContentNegotiation):
    """One form of answer, whatever `Accept` says: a caller who asks for another gets a body it can log, not a 406."""

    def select_parser(self, request: Request, parsers: Iterable[BaseParser]) -> BaseParser | None:
        sent = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == sent), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        only = next(iter(renderers))
        return only, str(only.media_type)
