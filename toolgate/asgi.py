"""The embedded process's application: Django as WSGI on a bounded number of threads, behind an ASGI server.

Django's own ASGI handler is slower for ordinary views; and a waiting door, which must not hold a thread, can stand in front.
"""

from __future__ import annotations

from typing import Any, cast

from a2wsgi import WSGIMiddleware

from toolgate.settings import settings
from toolgate.wsgi import application as django

# a2wsgi and Django each type the WSGI callable in a way of their own.
application = WSGIMiddleware(cast(Any, django), workers=settings.web_threads)
