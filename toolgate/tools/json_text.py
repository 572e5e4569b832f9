"""Strict reading of JSON that a model or an agent wrote: what is not beyond doubt is refused, with its place.

Python's own reader takes duplicate keys, NaN, lone surrogates and numbers that turn into infinity, and its depth limit
differs between versions. Here a policy, a reviewer and a tool can never see different values in one text.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from toolgate.tools.diagnostics import Place, place_of, quote

MAX_DEPTH = 100
MAX_DIGITS = 4300
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_FENCE = re.compile(r"\s*```")
_SURROGATE = re.compile("[\ud800-\udfff]")
_DOUBTFUL_ESCAPE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


class JSONTextError(ValueError):
    """The text is not JSON that can be trusted. `message` is a sentence with the place of the fault."""

    def __init__(self, message: str) -> None:
        self.message = message
        super().__init__(message)


def read_json(text: str | bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text. Integers of any size stay exact; a fraction becomes a float where that keeps every digit,
    else a Decimal. Raises JSONTextError, never RecursionError."""
    text = _decoded(text)
    _check_depth(text, max_depth)
    reading = _Reading()
    try:
        value = reading.decoder().decode(text)
    except json.JSONDecodeError as error:
        raise JSONTextError(_told(error)) from None
    except RecursionError:
        raise JSONTextError("The JSON is nested too deeply for this machine.") from None
    if reading.is_doubtful or _DOUBTFUL_ESCAPE.search(text) or _SURROGATE.search(text):
        for problem in _problems(value, ()):
            raise JSONTextError(problem)
    return value


def read_stored(text: str) -> Any:
    """The value of a text that `canonical` wrote, with numbers as `read_json` gives them. What a tool said may hold a NUL."""
    return _Reading().decoder().decode(text)


# --- the text of parts, as it was sent ---


def member_texts(text: str) -> dict[str, str]:
    """The raw text of each member of a JSON object that `read_json` has accepted."""
    found, at = {}, _skip(text, text.index("{") + 1)
    while text[at] != "}":
        end = _end(text, at)
        key = json.loads(text[at:end])
        start = _skip(text, _skip(text, end) + 1)
        found[key] = text[start : (end := _end(text, start))]
        at = _after(text, end)
    return found


def item_texts(text: str) -> list[str]:
    """The raw text of each item of a JSON array that `read_json` has accepted."""
    found, at = [], _skip(text, text.index("[") + 1)
    while text[at] != "]":
        found.append(text[at : (end := _end(text, at))])
        at = _after(text, end)
    return found


_WHITESPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r'"(?:[^"\\]|\\.)*+"|[^,\]}\s]+', re.DOTALL)


def _skip(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def _after(text: str, end: int) -> int:
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def _end(text: str, start: int) -> int:
    """Where the value that starts here ends."""
    if text[start] not in "[{":
        match = _SCALAR.match(text, start)
        return match.end() if match else start
    depth = 0
    for match in _BRACKETS.finditer(text, start):
        depth += _STEPS.get(match[0], 0)
        if depth == 0:
            return match.end()
    return len(text)


# --- before decoding ---


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
        depth += _STEPS.get(match[0], 0)
        if depth > limit:
            raise JSONTextError(f"The JSON is nested too deeply: at most {limit} levels are accepted.")


# --- decoding: what the decoder would let pass is marked, and found again with its place ---


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands where a number cannot be kept."""

    problem: str


class _Duplicate(dict[str, Any]):
    """An object that names a field twice."""

    field: str


class _Reading:
    """The decoder of one text, and whether it marked anything."""

    def __init__(self) -> None:
        self.is_doubtful = False

    def decoder(self) -> json.JSONDecoder:
        return json.JSONDecoder(
            object_pairs_hook=self._object, parse_float=self._fraction, parse_int=self._integer, parse_constant=self._constant
        )

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        self.is_doubtful = True
        twice = _Duplicate(value)
        twice.field = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        return twice

    def _fraction(self, text: str) -> float | Decimal | _Refused:
        if len(text) > MAX_DIGITS:
            return self._refused(f"number out of range: more than {MAX_DIGITS} digits")
        value = float(text)
        try:
            exact = Decimal(text)
        except InvalidOperation:
            return self._refused(f"number out of range: {quote(text, 40)}")
        if math.isinf(value) or (value == 0 and exact != 0):
            return self._refused(f"number out of range: {quote(text, 40)}")
        return value if Decimal(repr(value)) == exact else exact

    def _integer(self, text: str) -> int | _Refused:
        if len(text.lstrip("-")) > MAX_DIGITS:
            return self._refused(f"number out of range: more than {MAX_DIGITS} digits")
        return int(text)

    def _constant(self, text: str) -> _Refused:
        return self._refused(f"{text} is not allowed: JSON has no such number")

    def _refused(self, problem: str) -> _Refused:
        self.is_doubtful = True
        return _Refused(problem)


def _problems(value: Any, at: Place) -> Iterator[str]:
    """Sentences on what the decoder let pass. Depth is bounded by then, so recursion is safe."""
    if isinstance(value, _Refused):
        yield f"{place_of(at)}: {value.problem}." if at else f"Not valid: {value.problem}."
    elif isinstance(value, str):
        if problem := _text_problem(value):
            yield f"{place_of(at) if at else 'The text'} {problem}."
    elif isinstance(value, dict):
        if isinstance(value, _Duplicate):
            yield f"The field {quote(value.field)} appears twice, at {place_of((*at, value.field))}."
        for key, item in value.items():
            if problem := _text_problem(key):
                yield f"A field name{f' in {place_of(at)}' if at else ''} {problem}: {quote(key)}."
            yield from _problems(item, (*at, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _problems(item, (*at, number))


def _text_problem(text: str) -> str:
    if "\x00" in text:
        return "contains a NUL character, which cannot be stored"
    return "contains an incomplete character (half of a surrogate pair)" if _SURROGATE.search(text) else ""


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
    sentence = next((said for start, said in _SENTENCES.items() if error.msg.startswith(start)), error.msg)
    hint = " Send JSON only, without a code fence." if _FENCE.match(error.doc) else ""
    return f"Not valid JSON: {sentence}, at line {error.lineno} column {error.colno} (character {error.pos}).{hint}"
