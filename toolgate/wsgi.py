"""Django as WSGI: pages and API."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolgate.settings")
_django = get_wsgi_application()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if "HTTP_TRANSFER_ENCODING" in environ and not environ.get("CONTENT_LENGTH"):
        _count(environ)
    return _django(environ, start_response)


def _count(environ: dict[str, Any]) -> None:
    """Django takes a body that comes in chunks, without a length, for an empty one. A byte too many is enough to refuse it."""
    most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1
    body = bytearray()
    while len(body) < most and (chunk := environ["wsgi.input"].read(most - len(body))):
        body += chunk
    environ["wsgi.input"], environ["CONTENT_LENGTH"] = io.BytesIO(body), str(len(body))
