"""The embedded process's application: Django as WSGI on a bounded number of threads, behind an ASGI server.

Django's own ASGI handler is slower for ordinary views; and a waiting door, which must not hold a thread, can stand in front.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

from a2wsgi import WSGIMiddleware

from toolgate.settings import settings
from toolgate.wsgi import application as django

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

# a2wsgi and Django each type the WSGI callable in a way of their own.
_django: Any = WSGIMiddleware(cast(Any, django), workers=settings.web_threads)

_LEAVING = b'{"type":"about:blank","title":"The server is being stopped","status":503,"detail":"Ask again in a moment."}'
_LEAVING_HEADERS = [(b"content-type", b"application/problem+json"), (b"retry-after", b"1"), (b"connection", b"close")]


async def application(scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
    """Hands a request to Django. One that is still held when the server ends is told so instead of being cut off."""
    has_begun = False

    async def forward(message: Message) -> None:
        nonlocal has_begun
        has_begun = True
        await send(message)

    try:
        await _django(scope, receive, forward)
    except asyncio.CancelledError:
        if has_begun:
            raise
        await send({"type": "http.response.start", "status": 503, "headers": _LEAVING_HEADERS})
        await send({"type": "http.response.body", "body": _LEAVING})
