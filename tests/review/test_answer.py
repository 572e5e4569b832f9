"""Answering a question of a tool."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals.models import Decision, Person, Status, ToolCall
from approvals.rendering import read
from tests.calls import CallMaker
from tests.review.browser import Page, page_of, press, visit
from tests.review.conftest import LogIn
from tests.review.showcase import Showcase

pytestmark = pytest.mark.django_db


def asking(make_call: CallMaker, schema: Any = None, **more: Any) -> ToolCall:
    data = {**more, **({"response_schema": schema} if schema is not None else {})}
    return make_call.interrupted(data=data or None)


def open_page(client: Client, call: ToolCall) -> Page:
    return visit(client, f"/calls/{call.pk}")


def answer(client: Client, call: ToolCall, button: str = "answer", **typed: str) -> Any:
    fields = {name.replace("answer_", "answer-"): value for name, value in typed.items()}
    return press(client, open_page(client, call), "/answer", button, **fields)


def given(call: ToolCall) -> Any:
    return read(call.interrupts.get(number=1).answer)


def test_shows_the_question_and_what_came_with_it(show: Showcase, log_in: LogIn) -> None:
    page = visit(log_in(show.people["ada"]), f"/calls/{show.calls['question'].pk}")
    for told in ("The tool asks", "2 files would go. Delete them?", "report-2.txt", "What an answer may look like"):
        assert told in page.text
    for told in ("Delete them? All of them or none.", "keep_days optional", "tell_owner optional", "note optional"):
        assert told in page.text


@pytest.mark.parametrize(
    ("schema", "typed", "value"),
    [
        ({"type": "boolean"}, {"answer_whole": "0"}, True),
        ({"type": "boolean"}, {"answer_whole": "1"}, False),
        ({"type": "string"}, {"answer_whole": "  two \r\nlines"}, "  two \nlines"),
        ({"type": "string"}, {"answer_whole": ""}, ""),
        ({"type": "integer"}, {"answer_whole": "12345678901234567890"}, 12345678901234567890),
        ({"enum": ["all", "none", 3, "3", None]}, {"answer_whole": "2"}, 3),
        ({"enum": ["all", "none", 3, "3", None]}, {"answer_whole": "3"}, "3"),
        ({"enum": [f"choice {n}" for n in range(20)]}, {"answer_whole": "7"}, "choice 7"),
        ({"type": "array", "items": {"type": "integer"}}, {"answer_whole": "[1, 2]"}, [1, 2]),
        (None, {"answer_whole": '{"a": 0.10}'}, {"a": read("0.10")}),
        (
            {"type": "object", "required": ["go"], "properties": {"go": {"type": "boolean"}, "why": {"type": "string"}}},
            {"answer_0": "0", "answer_1": ""},
            {"go": True},
        ),
        (
            {"type": "object", "required": ["why"], "properties": {"a b<c>": {"type": "number"}, "why": {"type": "string"}}},
            {"answer_0": "1.50", "answer_1": "so"},
            {"a b<c>": read("1.50"), "why": "so"},
        ),
    ],
)
def test_takes_the_answer_exactly(ada: Client, make_call: CallMaker, schema: Any, typed: dict[str, str], value: Any) -> None:
    call = asking(make_call, schema)
    response = answer(ada, call, **typed)
    assert response.status_code == 302
    assert given(call) == value
    assert type(given(call)) is type(value)
    call.refresh_from_db()
    assert call.status == Status.APPROVED


@pytest.mark.parametrize(
    ("schema", "typed", "problem"),
    [
        ({"type": "integer"}, "12 pieces", "Not valid JSON"),
        ({"type": "integer"}, "1.5", "This is not a number."),
        ({"type": "integer", "minimum": 10}, "3", "The question is still open."),
        ({"type": "array"}, "[1,", "Not valid JSON"),
        ({"type": "array"}, "", "Write an answer here."),
        ({"type": "string", "minLength": 20}, "too short", "The question is still open."),
    ],
)
def test_keeps_what_was_typed_when_it_is_refused(
    ada: Client, make_call: CallMaker, schema: Any, typed: str, problem: str
) -> None:
    call = asking(make_call, schema)
    page = page_of(answer(ada, call, answer_whole=typed, own_words="A thought."))
    assert page.status == 422
    assert problem in page.text
    fields = page.form("/answer").fields
    assert (fields["answer-whole"], fields["own_words"]) == (typed, "A thought.")
    call.refresh_from_db()
    assert call.status == Status.INTERRUPTED


@pytest.mark.parametrize("schema", [{"type": "nonsense"}, {"$ref": "#/nowhere"}, {"properties": []}, {"required": "x"}])
def test_says_when_no_answer_could_ever_fit(ada: Client, make_call: CallMaker, schema: Any) -> None:
    page = page_of(answer(ada, asking(make_call, schema), answer_whole='"x"'))
    assert page.status == 422
    assert "Reject the call and fix the tool." in page.text


def test_wants_one_of_the_choices(ada: Client, make_call: CallMaker) -> None:
    call = asking(make_call, {"enum": ["all", "none"]})
    assert answer(ada, call).status_code == 422
    assert answer(ada, call, answer_whole="7").status_code == 422


def test_rejects_the_call_instead(ada: Client, make_call: CallMaker) -> None:
    call = asking(make_call, {"type": "string", "minLength": 5})
    assert answer(ada, call, "reject", own_words="Leave them.").status_code == 302
    call.refresh_from_db()
    assert call.status == Status.REJECTED
    assert Decision.objects.filter(call=call, kind="reject", reason="Leave them.").exists()


def test_a_second_press_is_harmless(ada: Client, make_call: CallMaker) -> None:
    call = asking(make_call, {"type": "boolean"})
    page = open_page(ada, call)
    for _ in range(2):
        assert press(ada, page, "/answer", "answer", **{"answer-whole": "0"}).status_code == 302


def test_says_who_was_faster_and_keeps_the_answer(ada: Client, grace: Client, make_call: CallMaker) -> None:
    call = asking(make_call, {"type": "string"})
    page = open_page(ada, call)
    answer(grace, call, answer_whole="yes")
    late = page_of(press(ada, page, "/answer", "answer", **{"answer-whole": "my careful answer"}))
    assert late.status == 409
    assert "answered by Grace Hopper" in late.text
    assert "my careful answer" in late.text


def test_the_answer_stands_on_the_page_afterwards(ada: Client, make_call: CallMaker) -> None:
    call = asking(make_call, {"type": "string"})
    answer(ada, call, answer_whole="<b>yes</b>")
    page = open_page(ada, call)
    assert 'Ada Lovelace answered just now: "<b>yes</b>"' in page.text


def test_nobody_answers_for_their_own_but_may_end_it(ada: Client, make_call: CallMaker, second_reviewer: Person) -> None:
    make_call.reviewer = type(make_call.reviewer)(second_reviewer, "session")
    call = make_call.interrupted(data={"response_schema": {"type": "boolean"}}, on_behalf_of="ada")
    page = open_page(ada, call)
    assert page.buttons() == {"reject"}
    assert "nobody answers for their own" in page.text


def test_an_auditor_has_no_form(auditor: Person, log_in: LogIn, make_call: CallMaker) -> None:
    assert open_page(log_in(auditor), asking(make_call, {"type": "boolean"})).buttons() == set()


def test_a_question_of_another_call_is_not_there(ada: Client, make_call: CallMaker) -> None:
    call, other = asking(make_call), asking(make_call)
    question = other.interrupts.get().pk
    assert ada.post(f"/calls/{call.pk}/interrupts/{question}/answer", {"kind": "answer"}).status_code == 404
