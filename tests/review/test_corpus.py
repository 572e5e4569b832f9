"""Every argument of the corpus that is about what people see, on the pages that show it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from approvals.models import Decision, Status, ToolCall
from tests.calls import CallMaker, Deployment, answer
from tests.review.browser import assert_harmless, page_of, press, visit
from toolgate import Function
from toolgate.tools.json_text import read_json
from toolgate.tools.parsers import json_schema_parser

pytestmark = pytest.mark.django_db

CORPUS = json.loads((Path(__file__).parents[1] / "cases" / "argument-corpus.json").read_text())
KINDS = ("unicode-security", "ui-injection", "secret-handling", "export-injection")
ROWS = {row["id"]: row for row in CORPUS["inputs"] if row["source_kind"] in KINDS}
# What a reviewer must be able to see, beyond the value itself.
TOLD = {
    "A113": ["U+200D"],
    "A115": ["report --fast", "U+001B", "U+000D", "report --delete-all"],
    "A116": ["drop everything", "U+0008 ×15", "list"],
    "A118": ["invoice", "U+202E", "fdp.exe", "deceive the eye"],
    "A119": ["U+2067"],
    "A121": ["U+200B", "zero width space"],
    "A122": ["U+00AD"],
    "A124": ["U+E0100", "U+E0101"],
    "A125": ["U+2028"],
    "A127": ["Folded: 212 characters, 201 lines", "I have read the long values to their end: line", "--delete"],
    "A128": ["U+0430"],
    "A130": ["leads to collector.example.net", "user name before the host"],
    "A131": ["U+0415"],
    "A133": ["U+0301"],
    "A134": ["U+0301 ×"],
    "A205": ["WEND"],
    "A232": ["U+0440"],
}


@pytest.fixture
def submit(make_call: CallMaker, tools: Deployment) -> Any:
    for name, schema in CORPUS["schemas"].items():
        parser = json_schema_parser(schema)
        tools.register(Function(name=name, parameters_schema=schema, parse_args=parser, function=answer))

    def of(row: dict[str, Any]) -> ToolCall:
        text = row["text"]
        for mark, how in row.get("expand", {}).items():
            text = text.replace(mark, how["repeat"] * how["times"])
        if row["envelope"] == "body":
            return make_call.submit(read_json(text)["function"], "{}")
        return make_call.submit(row["schema"], text)

    return of


def leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize("name", ["secret_in_free_text", "secret_in_url", "secret_key_block", "secret_card_like"])
def test_what_looks_like_a_secret_is_flagged(ada: Client, submit: Any, name: str) -> None:
    call = submit(next(row for row in ROWS.values() if row["name"] == name))
    assert "looks as if it held a key, a password or a card number" in visit(ada, f"/calls/{call.pk}").text


@pytest.mark.parametrize("row_id", ROWS)
def test_is_shown_as_it_is_and_harmless(ada: Client, submit: Any, row_id: str) -> None:
    call = submit(ROWS[row_id])
    page = visit(ada, f"/calls/{call.pk}")
    for shown in (page, visit(ada, "/"), visit(ada, "/history"), visit(ada, f"/calls/{call.pk}/trail")):
        assert shown.status == 200
        assert_harmless(shown)
    for told in TOLD.get(row_id, []):
        assert told in page.text
    assert Decision.objects.count() == 0


@pytest.mark.parametrize("row_id", [one for one in ROWS if ROWS[one]["source_kind"] != "unicode-security"])
def test_every_part_of_it_can_be_read(ada: Client, submit: Any, row_id: str) -> None:
    call = submit(ROWS[row_id])
    if call.status != Status.PENDING or ROWS[row_id]["schema"] == "credential":
        return
    text = visit(ada, f"/calls/{call.pk}").text
    for leaf in leaves(read_json(call.submitted)):
        assert " ".join(leaf.split()) in " ".join(text.split())


@pytest.mark.parametrize("row_id", [one for one in ROWS if ROWS[one]["expected"] == "accepted"])
def test_runs_unchanged_after_an_edit_that_touches_nothing(ada: Client, submit: Any, row_id: str) -> None:
    call = submit(ROWS[row_id])
    if call.status != Status.PENDING:
        return
    page = page_of(press(ada, visit(ada, f"/calls/{call.pk}/edit"), "/edit", "check"))
    assert_harmless(page)
    assert "It means the same." in page.text
    before = call.resolution.digest
    assert press(ada, page, "/edit", "approve", read="yes").status_code == 302
    call = ToolCall.objects.get(pk=call.pk)
    assert (call.status, call.approved_digest) == (Status.APPROVED, before)


def test_a_declared_secret_is_nowhere_on_the_page(ada: Client, submit: Any) -> None:
    call = submit(next(row for row in ROWS.values() if row["name"] == "secret_declared"))
    for place in ("", "?view=compare", "/edit", "/trail"):
        assert "demo-token-0000-1111" not in visit(ada, f"/calls/{call.pk}{place}").source


def test_newlines_that_push_the_end_out_of_view_must_be_read(ada: Client, submit: Any) -> None:
    call = submit(ROWS["A127"])
    page = visit(ada, f"/calls/{call.pk}")
    assert press(ada, page, "/decide", "approve").status_code == 422
    assert press(ada, page, "/decide", "approve", read="yes").status_code == 302


def test_text_that_imitates_the_page_stays_in_its_box(ada: Client, submit: Any) -> None:
    source = visit(ada, f"/calls/{submit(ROWS['A149']).pk}").source
    before = source[: source.index("Status: APPROVED by security team")]
    assert before.rindex("<pre><bdi>") > before.rindex("</pre>") if "</pre>" in before else "<pre><bdi>" in before
