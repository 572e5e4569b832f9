"""How people read a value beside its exact form: dates with their weekday, grouped digits, where a link really leads."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlsplit

from django.utils.dateparse import parse_duration

from toolgate.tools.canonical import exact

_NUMBER = re.compile(r"(-?)(\d{5,30})(\.\d+)?\Z")
_LINK = re.compile(r"\s*[a-zA-Z][a-zA-Z0-9+.-]*://")


def scalar(value: Any) -> str:
    """A single value as text: text as it is, everything else as JSON writes it, with every digit."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None else value if isinstance(value, str) else exact(value)


def note(kind: str, value: Any) -> str:
    """What stands beside the exact form; empty when that is plain enough."""
    word = kind.split(" ", 1)[0]
    try:
        return _NOTES[word](value) if word in _NOTES else ""
    except (ValueError, TypeError, OverflowError):
        return ""


def json_kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object" if isinstance(value, dict) else "number"


def _of_text(value: str) -> str:
    if value == "":
        return "empty text"
    if _LINK.match(value):
        return f"leads to {host_of(value)}" if host_of(value) else ""
    return "begins or ends with blanks" if value != value.strip() else ""


def host_of(link: str) -> str:
    """The host that a link really leads to, with what its punycode stands for."""
    try:
        host = urlsplit(link.strip()).hostname or ""
        spelt = host.encode().decode("idna") if "xn--" in host else host
    except (ValueError, UnicodeError):
        return ""
    return host if spelt == host else f"{host} ({spelt})"


def _of_number(value: Any) -> str:
    found = _NUMBER.match(exact(value))
    return f"{found[1]}{int(found[2]):,}{found[3] or ''}" if found else ""


def _of_datetime(value: str) -> str:
    moment = datetime.fromisoformat(value)
    zone = f"UTC{moment.isoformat()[-6:]}" if moment.utcoffset() else "UTC"
    return f"{moment:%A, %-d %B %Y, %H:%M:%S}, {zone if moment.utcoffset() is not None else 'no time zone'}"


def _of_date(value: str) -> str:
    return f"{date.fromisoformat(value):%A, %-d %B %Y}"


def _of_time(value: str) -> str:
    return "" if time.fromisoformat(value).utcoffset() is not None else "no time zone"


def _of_duration(value: str) -> str:
    return duration(parse_duration(value) or timedelta(0))


def duration(length: timedelta) -> str:
    """`2 days 3 hours`; exact to the microsecond."""
    sign, rest = ("minus ", -length) if length < timedelta(0) else ("", length)
    minutes, seconds = divmod(rest.seconds, 60)
    fraction = f".{rest.microseconds:06d}".rstrip("0") if rest.microseconds else ""
    counts = (str(rest.days), str(minutes // 60), str(minutes % 60), f"{seconds}{fraction}")
    parts = zip(counts, ("day", "hour", "minute", "second"), strict=True)
    told = [f"{count} {word}{'' if count == '1' else 's'}" for count, word in parts if count != "0"]
    return sign + " ".join(told or ["0 seconds"])


def _of_bytes(value: Any) -> str:
    try:
        return f"{len(base64.b64decode(value)):,} bytes, written as base64"
    except (binascii.Error, ValueError):
        return "base64"


_NOTES: dict[str, Callable[[Any], str]] = {
    "text": _of_text,
    "boolean": lambda value: "true" if value else "false",
    "null": lambda value: "null",
    "number": _of_number,
    "decimal": _of_number,
    "datetime": _of_datetime,
    "date": _of_date,
    "time": _of_time,
    "duration": _of_duration,
    "bytes": _of_bytes,
}
