"""Editing the arguments of a call."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals.models import Decision, DecisionKind, Status, ToolCall
from tests.calls import CallMaker, register
from tests.review.browser import Page, page_of, press, visit
from tests.review.conftest import LogIn
from tests.review.showcase import Showcase
from toolgate import Error, Registry
from toolgate.tools.json_text import read_json

pytestmark = pytest.mark.django_db


def open_editor(client: Client, call: ToolCall) -> Page:
    return visit(client, f"/calls/{call.pk}/edit")


def check(client: Client, call: ToolCall, arguments: str, **typed: Any) -> Page:
    return page_of(press(client, open_editor(client, call), "/edit", "check", arguments=arguments, **typed))


def input_of(call: ToolCall) -> Any:
    fresh = ToolCall.objects.select_related("resolution").get(pk=call.pk)
    assert fresh.resolution is not None
    return read_json(fresh.resolution.input)


def test_starts_from_the_arguments_with_every_digit(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments='{"n": 12345678901234567890, "d": 0.10, "t": "  two\\n lines ", "z": "a\u200bb"}')
    text = open_editor(ada, call).form("/edit").fields["arguments"]
    assert '"n": 12345678901234567890' in text
    assert '"d": 0.10' in text
    assert '"t": "  two\\n lines "' in text
    assert '"z": "a\\u200bb"' in text
    assert read_json(text) == read_json(call.submitted)


def test_checks_what_an_edit_would_mean_and_changes_nothing(show: Showcase, log_in: LogIn) -> None:
    ada, call = log_in(show.people["ada"]), show.calls["refund"]
    page = check(ada, call, '{"order": 18, "amount": 7.5}', own_words="Wrong order.")
    for told in ("Refund 7.50 EUR to Jules Verne", "Against what stands there now", "amount 20.00 7.50", "needs approval"):
        assert told in page.text
    assert page.form("/edit").fields["own_words"] == "Wrong order."
    assert input_of(call)["amount"] == 20
    assert not Decision.objects.filter(call=call).exists()


def test_says_when_it_means_the_same(ada: Client, make_call: CallMaker) -> None:
    assert "It means the same." in check(ada, make_call(arguments={"a": 1}), '{ "a": 1 }').text


def test_saves_an_edit_as_a_new_proposal(ada: Client, grace: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"amount": 5})
    response = press(ada, check(ada, call, '{"amount": 4}'), "/edit", "save", own_words="Less.")
    assert response.headers["Location"] == f"/calls/{call.pk}"
    assert input_of(call) == {"amount": 4}
    page = visit(grace, f"/calls/{call.pk}")
    for told in ("A reviewer edited these arguments", "What the edit changed", "amount 5 4", "Less."):
        assert told in page.text
    assert ToolCall.objects.get(pk=call.pk).status == Status.PENDING


def test_approves_exactly_what_was_checked(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"amount": 5})
    assert press(ada, check(ada, call, '{"amount": 4}'), "/edit", "approve").status_code == 302
    fresh = ToolCall.objects.get(pk=call.pk)
    assert fresh.status == Status.APPROVED
    assert input_of(call) == {"amount": 4}


def test_names_the_consequence_for_high_risk(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "wire", risk="high", headline="Wire {amount} EUR")
    page = check(ada, make_call.submit("wire", {"amount": 5}), '{"amount": 4}')
    assert "Wire 4 EUR A worker does exactly this, once, as soon as you approve." in page.text


def test_wants_long_values_read_before_it_approves(ada: Client, make_call: CallMaker) -> None:
    call, long = make_call(arguments={"t": "x"}), '{"t": "' + "W" * 1500 + '"}'
    answer = page_of(press(ada, check(ada, call, long), "/edit", "approve"))
    assert answer.status == 422
    assert answer.form("/edit").fields["arguments"] == long
    assert press(ada, answer, "/edit", "approve", read="yes").status_code == 302


def test_does_not_offer_to_approve_where_somebody_else_must(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "strict", editor_may_approve=False)
    page = check(ada, make_call.submit("strict", {"a": 1}), '{"a": 2}')
    assert {"save", "check"} <= page.buttons()
    assert "approve" not in page.buttons()


@pytest.mark.parametrize("text", ["", "{", '{"a": 1, "a": 2}', "NaN", "[1]", '"text"', '{"a": "\\ud800"}'])
@pytest.mark.parametrize("button", ["check", "save"])
def test_keeps_what_was_typed_when_it_cannot_be_read(ada: Client, make_call: CallMaker, text: str, button: str) -> None:
    call = make_call(arguments={"a": 1})
    page = page_of(
        ada.post(f"/calls/{call.pk}/edit", {**open_editor(ada, call).form("/edit").fields, "arguments": text, "step": button})
    )
    assert page.status == 422
    assert page.form("/edit").fields["arguments"] == text
    assert input_of(call) == {"a": 1}


def test_keeps_blanks_and_lines_as_typed(ada: Client, make_call: CallMaker) -> None:
    text = '\n\n  {"a":  "  x  "}\n\n'
    page = check(ada, make_call(), text.replace("\n", "\r\n"))
    assert page.form("/edit").fields["arguments"] == text.replace("\n", "\r\n")


def test_shows_why_the_tool_refuses(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "picky", parse_args=lambda arguments: None if arguments.get("ok") else Error("ok must be <b>true</b>"))
    call = make_call.submit("picky", {"ok": True})
    page = check(ada, call, '{"ok": false}')
    assert page.status == 422
    assert "The tool refuses these arguments ok must be <b>true</b>" in page.text
    assert "save" not in page.buttons()


def test_shows_that_the_policy_denies(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "limited", deny=lambda arguments: arguments["amount"] > 100)
    call = make_call.submit("limited", {"amount": 5})
    page = check(ada, call, '{"amount": 900}')
    assert "this edit cannot be saved" in page.text
    assert not {"save", "approve"} & page.buttons()
    fields = {**page.form("/edit").fields, "step": "save"}
    assert ada.post(f"/calls/{call.pk}/edit", fields).status_code == 422


def test_that_came_too_late_loses_nothing(ada: Client, grace: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"a": 1})
    page = check(ada, call, '{"a": 2}', own_words="Two is better.")
    make_call.decide(call, DecisionKind.REJECT)
    answer = page_of(press(ada, page, "/edit", "save"))
    assert answer.status == 409
    assert "it is rejected" in answer.text
    assert 'What you had typed Two is better. {"a": 2}' in answer.text


def test_after_somebody_elses_edit_shows_theirs_and_keeps_ones_own(ada: Client, grace: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"a": 1})
    page = check(ada, call, '{"a": 2}')
    press(grace, check(grace, call, '{"a": 3}'), "/edit", "save")
    answer = page_of(press(ada, page, "/edit", "save"))
    assert answer.status == 409
    assert answer.form("/edit").fields["arguments"] == '{"a": 2}'
    assert "a 3 2" in answer.text
    assert press(ada, answer, "/edit", "save").status_code == 302


def test_pressed_twice_is_one_edit(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"a": 1})
    page = check(ada, call, '{"a": 2}')
    for _ in range(2):
        assert press(ada, page, "/edit", "approve").status_code == 302
    assert Decision.objects.filter(call=call).count() == 1


def test_masks_secrets_and_keeps_them_when_untouched(show: Showcase, log_in: LogIn) -> None:
    ada, call = log_in(show.people["ada"]), show.calls["secret"]
    page = open_editor(ada, call)
    text = page.form("/edit").fields["arguments"]
    assert "demo-token" not in page.source
    assert "••••••" in text
    preview = check(ada, call, text.replace("billing", "shop"))
    assert "demo-token" not in preview.source
    press(ada, preview, "/edit", "save")
    assert input_of(call) == {"service": "shop", "key": "demo-token-0000-1111"}


def test_is_not_offered_where_it_is_not_allowed(ada: Client, make_call: CallMaker) -> None:
    own = make_call(on_behalf_of="ada")
    assert open_editor(ada, own).status == 409
    assert "cannot be edited" in open_editor(ada, own).text


def test_keeps_an_attribute_that_would_break_out(ada: Client, make_call: CallMaker) -> None:
    call = make_call(arguments={"title": '" autofocus onfocus="alert(7)', "body": "</textarea><script>alert(7)</script>"})
    page = open_editor(ada, call)
    assert read_json(page.form("/edit").fields["arguments"]) == read_json(call.submitted)
    assert "<script>alert" not in page.source
