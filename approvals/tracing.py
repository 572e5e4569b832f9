"""By what can a call be followed through the processes? The ids in every line that is logged meanwhile, and what carries them.

`call_id` is one id from submit to result; `request_id` is that of the request by which something happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from structlog import contextvars

_SANE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
REQUEST_ID = "toolgate_request_id"


def is_sane(request_id: str) -> bool:
    """Whether an id from outside can stand in a log: nothing that could be taken for another line, and no secret's shape."""
    return bool(_SANE.fullmatch(request_id)) and not request_id.startswith("tg_")


def bind(**ids: str) -> None:
    """From here on, until the end of what is `bound` around it."""
    contextvars.bind_contextvars(**ids)


within = contextvars.bound_contextvars  # only meanwhile; what was bound around it stays


@contextmanager
def bound(**ids: str) -> Iterator[None]:
    """Meanwhile each line says so. What was bound before, by another request of the same thread, is gone."""
    contextvars.clear_contextvars()
    contextvars.bind_contextvars(**ids)
    try:
        yield
    finally:
        contextvars.clear_contextvars()


def carried() -> dict[str, str]:
    """What a message takes along."""
    found = contextvars.get_contextvars().get("request_id")
    return {REQUEST_ID: str(found)} if found else {}


@contextmanager
def continued(headers: Mapping[str, Any], **ids: str) -> Iterator[None]:
    """Goes on where the message came from."""
    found = str(headers.get(REQUEST_ID, ""))
    with bound(**ids, **({"request_id": found} if is_sane(found) else {})):
        yield
