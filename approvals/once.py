"""A form that arrives twice, by a reload or a second press, does its work once: its page gave it a mark."""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from typing import Any

REMEMBERED = 50
_KEY = "done_once"


def new_mark() -> str:
    return secrets.token_urlsafe(12)


def is_first(session: MutableMapping[str, Any], mark: str) -> bool:
    """Whether nothing with this mark came in this session before. What has no mark is always the first."""
    done: list[str] = session.get(_KEY, [])
    if mark and mark in done:
        return False
    session[_KEY] = [*done, mark][-REMEMBERED:]
    return True
