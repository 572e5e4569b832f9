"""Pages of a list that stay right while rows come and go: each begins after the last row of the one before.

Not DRF's own cursors: they order by one column, and the inbox needs three, one of which may be empty.
"""

from __future__ import annotations

import base64
import binascii
import functools
import json
import operator
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from rest_framework.request import Request

from approvals.api.problems import invalid

M = TypeVar("M", bound=Model)
USUAL, LARGEST = 50, 200


@dataclass(frozen=True, slots=True)
class Column:
    """A column to order by: never null, read back from a cursor by `read`."""

    name: str
    read: Callable[[str], Any]
    descending: bool = False

    def after(self, value: Any) -> Q:
        return Q(**{f"{self.name}__{'lt' if self.descending else 'gt'}": value})

    @property
    def order(self) -> str:
        return f"-{self.name}" if self.descending else self.name


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


NEWEST_FIRST = (Column("id", UUID, descending=True),)
MOST_URGENT_FIRST = (Column("urgent_at", instant), Column("rank", int), Column("id", UUID))


def page_of(request: Request, rows: QuerySet[M], columns: tuple[Column, ...]) -> tuple[list[M], str | None]:
    """One page of `rows`, and the address of the next one. The last column must be unique."""
    limit = _limit(request)
    if cursor := request.query_params.get("cursor"):
        rows = rows.filter(_after(columns, _values(cursor, columns)))
    found = list(rows.order_by(*(column.order for column in columns))[: limit + 1])
    if len(found) <= limit:
        return found, None
    return found[:limit], _address(request, _cursor(found[limit - 1], columns))


def _after(columns: tuple[Column, ...], values: list[Any]) -> Q:
    """Greater in the first column; or equal there and greater in the next; and so on."""
    steps = []
    for place, column in enumerate(columns):
        equal = {one.name: value for one, value in zip(columns[:place], values, strict=False)}
        steps.append(Q(**equal) & column.after(values[place]))
    return functools.reduce(operator.or_, steps)


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(USUAL))
    if not (text.isascii() and text.isdecimal() and len(text) < 4 and 1 <= int(text) <= LARGEST):
        raise invalid("limit", f"must be a whole number from 1 to {LARGEST}")
    return int(text)


def _cursor(row: Model, columns: tuple[Column, ...]) -> str:
    values = [getattr(row, column.name) for column in columns]
    texts = [value.isoformat() if isinstance(value, datetime) else str(value) for value in values]
    return base64.urlsafe_b64encode(json.dumps(texts).encode()).decode().rstrip("=")


def _values(cursor: str, columns: tuple[Column, ...]) -> list[Any]:
    try:
        texts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        values = [column.read(text) for column, text in zip(columns, texts, strict=True)]
    except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, binascii.Error):
        raise invalid("cursor", "must be one that this list has given") from None
    if any(isinstance(value, int) and abs(value) > 100 for value in values):
        raise invalid("cursor", "must be one that this list has given")
    return values


def _address(request: Request, cursor: str) -> str:
    query = request.query_params.copy()
    query["cursor"] = cursor
    return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")
