"""Strict reading of JSON that a model or an agent wrote: what is not beyond doubt is refused, with its place.

Python's own reader takes duplicate keys, NaN, lone surrogates and numbers that turn into infinity, and its depth limit
differs between versions. Here a policy, a reviewer and a tool can never see different values in one text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from toolgate.tools.diagnostics import quote

MAX_DEPTH = 100
MAX_DIGITS = 4300
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_FENCE = re.compile(r"\s*```")
_SURROGATE = re.compile("[\ud800-\udfff]")


class JSONTextError(ValueError):
    """The text is not JSON that can be trusted. `message` is a sentence with the place of the fault."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


class _Duplicate(dict[str, Any]):
    """An object that names a field twice; found again, with its place, once the whole text is read."""

    field: str


def read_json(text: str | bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text. Integers of any size stay exact; a fraction becomes a float where that keeps every digit,
    else a Decimal. Raises JSONTextError, never RecursionError."""
    text = _decoded(text)
    _check_depth(text, max_depth)
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise JSONTextError(_told(error)) from None
    for place, problem in _problems(value, ""):
        raise JSONTextError(f"{problem}{f' (in {place})' if place else ''}.")
    return value


def member_texts(text: str) -> dict[str, str]:
    """The raw text of each member of a JSON object that `read_json` has accepted."""
    found, at = {}, _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, at = json.decoder.scanstring(text, at + 1)
        start = _skip(text, _skip(text, at) + 1)
        found[key] = text[start : (end := _end(text, start))]
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def item_texts(text: str) -> list[str]:
    """The raw text of each item of a JSON array that `read_json` has accepted."""
    found, at = [], _skip(text, text.index("[") + 1)
    while text[at] != "]":
        found.append(text[at : (end := _end(text, at))])
        at = _skip(text, end)
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


_WHITESPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*+"|[^,\]}\s]+', re.DOTALL)


def _skip(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def _end(text: str, start: int) -> int:
    """Where the value that starts here ends."""
    if text[start] not in "[{":
        match = _SCALAR.match(text, start)
        return match.end() if match else start
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise JSONTextError(f"The text is not valid UTF-8, at byte {error.start}.") from None


def _check_depth(text: str, limit: int) -> None:
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(match[0], 0)
        if depth > limit:
            raise JSONTextError(f"The JSON is nested too deeply: at most {limit} levels are accepted.")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    twice = _Duplicate(value)
    names = [name for name, _ in pairs]
    twice.field = next(name for place, name in enumerate(names) if name in names[:place])
    return twice


def _fraction(text: str) -> float | Decimal:
    value = float(text)
    try:
        exact = Decimal(text)
    except InvalidOperation:
        raise _Number(text) from None
    if math.isinf(value) or (value == 0 and exact != 0):
        raise _Number(text)
    return value if Decimal(repr(value)) == exact else exact


def _integer(text: str) -> int:
    if len(text) > MAX_DIGITS:
        raise _Number(text)
    return int(text)


class _Number(json.JSONDecodeError):
    """A number that cannot be kept; the decoder has no place for it, so the sentence quotes it."""

    def __init__(self, text: str) -> None:
        super().__init__(f"number out of range: {quote(text, 40)}", "", 0)


def _constant(text: str) -> None:
    raise _Constant(text)


class _Constant(json.JSONDecodeError):
    def __init__(self, text: str) -> None:
        super().__init__(f"{text} is not allowed: JSON has no such number", "", 0)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_fraction, parse_int=_integer, parse_constant=_constant, strict=True
)
_SENTENCES = {
    "Extra data": "there is text after the end of the JSON value",
    "Invalid control character at": "a control character stands inside a string; write it as an escape",
    "Invalid \\escape": "unknown escape in a string",
    "Invalid \\uXXXX escape": "incomplete \\u escape in a string",
    "Unterminated string starting at": "a string is not closed",
    "Expecting value": "a value was expected",
    "Expecting property name enclosed in double quotes": "a field name in double quotes was expected",
    "Expecting ':' delimiter": "a colon was expected",
    "Expecting ',' delimiter": "a comma or the end was expected",
    "Illegal trailing comma before end of object": "a comma stands before the end of an object",
    "Illegal trailing comma before end of array": "a comma stands before the end of a list",
}


def _told(error: json.JSONDecodeError) -> str:
    if isinstance(error, _Number | _Constant):
        return f"Not valid: {error.msg}."
    sentence = next((said for start, said in _SENTENCES.items() if error.msg.startswith(start)), error.msg)
    hint = " Send JSON only, without a code fence." if _FENCE.match(error.doc) else ""
    return f"Not valid JSON: {sentence}, at line {error.lineno} column {error.colno} (character {error.pos}).{hint}"


def _problems(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """What the decoder let pass. Depth is bounded by then, so recursion is safe."""
    if isinstance(value, str):
        if problem := _text_problem(value):
            yield place, f"The text {problem}"
    elif isinstance(value, dict):
        if isinstance(value, _Duplicate):
            yield place, f"The field {quote(value.field)} appears twice"
        for key, item in value.items():
            if problem := _text_problem(key):
                yield place, f"A field name {problem}"
            yield from _problems(item, f"{place}.{quote(key)[1:-1]}" if place else quote(key)[1:-1])
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, f"{place}[{number}]")


def _text_problem(text: str) -> str:
    if "\x00" in text:
        return "contains a NUL character, which cannot be stored"
    return "contains an incomplete character (half of a surrogate pair)" if _SURROGATE.search(text) else ""
