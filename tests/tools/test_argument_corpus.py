"""Every input of the argument corpus, read and checked against its reference schema.

`tests/cases/argument-corpus.json` says what is accepted and what a refusal must say; here each refusal's gist is a few
words. Of the inputs that may go either way, the side taken is the one written below.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from toolgate import Error, json_schema_parser
from toolgate.tools.tool_call import ArgumentsError, read_arguments

CORPUS = json.loads((Path(__file__).parent.parent / "cases" / "argument-corpus.json").read_text("utf-8"))
CASES = {case["id"]: case for case in CORPUS["inputs"] if case["envelope"] == "arguments"}
PARSERS = {name: json_schema_parser(schema) for name, schema in CORPUS["schemas"].items()}

GIST: dict[str, tuple[str, ...]] = {
    "A005": ("must be a JSON object", "text was sent"),
    "A007": ('unknown field "dummy"',),
    "A008": ("amount is missing", "currency is missing", "payee is missing"),
    "A010": ("amount is missing", "currency is missing", "payee is missing"),
    "A013": ("amount must be a number; null was sent",),
    "A014": ("payee must not be empty",),
    "A016": ("memo must be text; null was sent", "leave it out"),
    "A017": ("urgent must be true or false; null was sent", "leave it out"),
    "A019": ("pinned must be true, false or null; text was sent",),
    "A020": ("level must be low, mid, high or null",),
    "A025": ("must be a JSON object", "text was sent"),
    "A026": ("must be a JSON object", "encoded more than once"),
    "A028": ("tags must be a list; text was sent",),
    "A029": ("tags must be a list; text was sent",),
    "A031": ("tags must be a list; an object was sent",),
    "A032": ("lines must be a list; text was sent",),
    "A037": ("amount must be a number; text was sent",),
    "A038": ("amount must be a number; text was sent",),
    "A040": ("urgent must be true or false; text was sent",),
    "A041": ("urgent must be true or false; text was sent",),
    "A043": ("urgent must be true or false; 1 was sent",),
    "A044": ("record_id must be an integer; true was sent",),
    "A046": ('unknown field "input"', "record_id is missing"),
    "A047": ("record_id is missing", r'unknown field "{\"record_id\": 41}"'),
    "A049": ('unknown field "reasoning"',),
    "A050": ('unknown field "Record_ID" (did you mean "record_id"?)', "record_id is missing"),
    "A052": ("Not valid JSON", "line 1 column 30"),
    "A053": ("text after the end of the JSON value",),
    "A055": ("text after the end of the JSON value", "line 2 column 1"),
    "A056": ("Not valid JSON",),
    "A058": ("Not valid JSON",),
    "A059": ("Not valid JSON", "field name in double quotes"),
    "A061": ("Not valid JSON", "Send JSON only, without a code fence"),
    "A062": ("Not valid JSON",),
    "A064": ("control character stands inside a string",),
    "A065": ("unknown escape",),
    "A068": ("must be a JSON object", "a number was sent"),
    "A070": ("must be a JSON object", "true was sent"),
    "A071": ("Not valid JSON",),
    "A073": ("not valid UTF-8",),
    "A074": ("not valid UTF-8",),
    "A076": ("not valid UTF-8",),
    "A083": ("record_id must be an integer; 41.9 was sent",),
    "A088": ("amount must be above 0; -0.0 was sent",),
    "A089": ("amount must be above 0; -12.5 was sent",),
    "A091": ("amount: NaN is not allowed",),
    "A092": ("amount: Infinity is not allowed",),
    "A094": ("ceiling: number out of range",),
    "A095": ("amount: number out of range",),
    "A097": ("amount must be a number; text was sent",),
    "A098": ("Not valid JSON",),
    "A100": ("Not valid JSON",),
    "A101": ("Not valid JSON",),
    "A103": ("record_id must be an integer", "U+0664"),
    "A104": ("amount must be a number", "U+FF15"),
    "A106": ("A field name contains a NUL character",),
    "A109": ("body contains an incomplete character",),
    "A110": ("body contains an incomplete character",),
    "A128": ("url must be a whole web address", "mixed scripts", "U+0430"),
    "A131": ("currency must be EUR, USD or GBP", "U+0415"),
    "A158": ('field "amount" appears twice',),
    "A160": ('field "qty" appears twice', "lines[0].qty"),
    "A161": ('field "record_id" appears twice',),
    "A170": ('unknown field "as_user"',),
    "A172": ("currency must be EUR, USD or GBP", '"EUR "'),
    "A173": ("fields item 2 must be name, status or owner",),
    "A175": ("lines item 2 must be an object; null was sent",),
    "A176": ("lines[0].sku must be text", "lines[0].qty must be at least 1"),
    "A178": ("root.children[0].children[0]", '"lable"', '"label"'),
    "A181": ("url must", "must start with http or https"),
    "A185": ("at must be", "an offset"),
    "A187": ("at must be a date with a time",),
    "A190": ("at must be a date with a time",),
    "A191": ("at must be", "in ISO form"),
    "A193": ("at must be", "in ISO form"),
    "A196": ("nested too deeply", "at most 100 levels"),
    "A197": ("nested too deeply", "at most 100 levels"),
    "A199": ("nested too deeply",),
}


def sent(case: dict[str, Any]) -> str | bytes:
    if "bytes_base64" in case:
        return base64.b64decode(case["bytes_base64"])
    text: str = case["text"]
    for placeholder, repeated in case.get("expand", {}).items():
        text = text.replace(placeholder, repeated["repeat"] * repeated["times"])
    return text


def refusal(case: dict[str, Any]) -> str:
    """The message of the refusal; empty when the input is accepted."""
    try:
        outcome = PARSERS[case["schema"]](read_arguments(sent(case)))
    except ArgumentsError as error:
        return str(error)
    return str(outcome.message) if isinstance(outcome, Error) else ""


@pytest.mark.parametrize("number", CASES)
def test_the_outcome_is_the_corpuss_and_a_refusal_says_what_it_must(number: str) -> None:
    case = CASES[number]
    message = refusal(case)
    if not case.get("either_ok"):
        assert bool(message) == (case["expected"] == "refused")
    assert bool(message) == (number in GIST)
    assert [words for words in GIST.get(number, ()) if words not in message] == []
    assert len(message) < 2000
    assert message.isascii()


def test_every_gist_belongs_to_an_input() -> None:
    assert set(GIST) <= set(CASES)


def test_what_is_accepted_is_passed_on_as_it_was_sent() -> None:
    for case in CASES.values():
        if not refusal(case):
            arguments = read_arguments(sent(case))
            outcome = PARSERS[case["schema"]](arguments)
            assert outcome is None or outcome == arguments
