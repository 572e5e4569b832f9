"""The embedded process's application: Django as WSGI on a bounded number of threads, behind an ASGI server.

Django's own ASGI handler is slower for ordinary views; and a waiting door, which must not hold a thread, can stand in front.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

from a2wsgi import WSGIMiddleware

from approvals.api import problems
from approvals.api.renderers import json_text
from toolgate import health
from toolgate.settings import settings
from toolgate.wsgi import application as django

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

# a2wsgi and Django each type the WSGI callable in a way of their own.
_django: Any = WSGIMiddleware(cast(Any, django), workers=settings.web_threads)

_LEAVING = json_text(problems.problem("stopping", "Ask again in a moment.")).encode()
_LEAVING_HEADERS = [(b"content-type", b"application/problem+json"), (b"retry-after", b"1"), (b"connection", b"close")]


async def application(scope: Message, receive: Callable[[], Awaitable[Message]], send: Send) -> None:
    """Hands a request to Django. One that is still held when the server ends is told so instead of being cut off."""
    if scope["type"] == "http" and scope["path"] in health.PATHS:
        await _tell_health(scope, send)
        return
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


async def _tell_health(scope: Message, send: Send) -> None:
    """Here, because in Django it would wait for a thread, and all of them may wait for what is to be checked."""
    told = await asyncio.to_thread(health.answer, scope["path"], scope["method"])
    headers = [(name.lower().encode(), value.encode()) for name, value in told.headers.items()]
    await send({"type": "http.response.start", "status": told.status, "headers": headers})
    await send({"type": "http.response.body", "body": told.body})
