"""Answers as JSON with every digit: a double never stands between what is stored and what is sent."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from rest_framework.renderers import BaseRenderer

from toolgate.tools.canonical import exact


class ExactJSONRenderer(BaseRenderer):
    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "text"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        return b"" if data is None else exact(plain(data)).encode()


def plain(data: Any) -> Any:
    """`data` with instants and ids as text."""
    if isinstance(data, Mapping):
        return {str(key): plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain(item) for item in data]
    if isinstance(data, datetime):
        return data.isoformat().replace("+00:00", "Z")
    return str(data) if isinstance(data, UUID) else data
