"""The page of one call."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client

from approvals import resolution
from approvals.clock import now
from approvals.models import AuditEvent, DecisionKind, EventKind, Person, Status, ToolCall
from approvals.models.append_only import INSTALL, REMOVE
from tests.calls import CallMaker, register
from tests.review.browser import Page, page_of, press, visit
from tests.review.conftest import LogIn
from tests.review.showcase import LONG_MAIL, Showcase
from toolgate import Function, FunctionParam, Registry

pytestmark = pytest.mark.django_db


def page_of_call(show: Showcase, log_in: LogIn, name: str, who: str = "ada") -> Page:
    return visit(log_in(show.people[who]), f"/calls/{show.calls[name].pk}")


def in_order(text: str, *parts: str) -> bool:
    places = [text.index(part) for part in parts]
    return places == sorted(places)


def test_answers_the_questions_in_order(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "refund")
    head = ("High risk", "Refund 20.00 EUR to Mary Shelley", "refund_order", "shop-assistant", "mary@example.org", "Expires")
    assert in_order(page.text, *head, "What will run", "Why you are asked", "What the agent says", "Your decision", "Timeline")


def test_shows_what_the_tool_made_of_the_arguments(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "refund")
    for told in ("The order's number", "customer Mary Shelley", "59.90", "Tuesday, 24 November 2026", "decimal", "20.00"):
        assert told in page.text
    assert "The agent sent 17" in page.text
    assert "The agent sent 20" not in page.text  # 20.00 is the same
    assert "notify Whether the customer gets a mail yes true Added by the tool" in page.text


def test_shows_every_kind_of_value_as_people_read_it(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "deploy")
    told = [
        "Wednesday, 2 December 2026, 22:30:00, UTC+01:00",
        "2026-12-02T22:30:00+01:00",
        "1 hour 30 minutes",
        "enum Level.URGENT",
        "eu-north",
        "AAFzaWduZWQ= 8 bytes",
        "first hour",
        "1,250,000",
        "drain",
    ]
    for part in told:
        assert part in page.text


def test_shows_a_before_and_an_after_side_by_side(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "sql")
    assert "status paid delivered (changed)" in page.text
    assert "number 17 17" in page.text


def test_puts_what_was_submitted_resolved_and_executed_side_by_side(ada: Client, make_call: CallMaker) -> None:
    make_call.extra = {"added": 1}
    call = make_call(arguments={"amount": 5})
    page = visit(ada, f"/calls/{call.pk}?view=compare")
    assert "amount 5 5 not executed" in page.text
    assert "added differs not there 1 not executed" in page.text
    assert ("details", {"open": None}) in page.tags


def test_says_what_was_sent_but_not_used(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "picky", parse_args=lambda arguments: {"kept": arguments["kept"]})
    call = make_call.submit("picky", {"kept": 1, "dropped": 2})
    assert "not used under these names: dropped" in visit(ada, f"/calls/{call.pk}").text


def test_has_the_raw_text_exactly_as_sent(ada: Client, make_call: CallMaker) -> None:
    sent = '{"b":  1.50,\n "a": 12345678901234567890.10 }'
    call = make_call(arguments=sent)
    assert (
        f'<pre class="raw" tabindex="0" data-copy><bdi>{sent.replace(chr(34), "&quot;")}</bdi></pre>'
        in visit(ada, f"/calls/{call.pk}").source
    )


def test_folds_long_text_and_says_how_long_it_is(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "long")
    assert f"Folded: {len(LONG_MAIL):,} characters, 61 lines" in page.text
    assert "59. One more line" in page.text
    assert "I have read the long values to their end: body" in page.text


def test_says_in_full_as_json_what_is_too_much_for_a_table(ada: Client, make_call: CallMaker) -> None:
    deep: Any = "the bottom"
    for _ in range(60):
        deep = {"in": deep}
    call = make_call(arguments={"deep": deep, "many": list(range(5000)), "last": "the end"})
    page = visit(ada, f"/calls/{call.pk}")
    assert page.status == 200
    for told in ("the bottom", "4999", "5,000 items", "too much or too deep for a table", "the end"):
        assert told in page.text


def test_keeps_what_is_very_big_readable_on_pages_of_its_own(ada: Client, make_call: CallMaker) -> None:
    sent = '{"body": "' + "W" * 200_000 + ' the end", "target": "x"}'
    address = f"/calls/{make_call(arguments=sent).pk}"
    page = visit(ada, address)
    assert "Folded: 200,008 characters" in page.text
    assert "the end" in page.text
    assert "target x" in page.text
    assert len(page.source) < 1.5 * len(sent)
    for view in ("compare", "raw"):
        assert f"{address}?view={view}" in page.links
        assert visit(ada, f"{address}?view={view}").text.count("the end") >= 2


def test_has_more_fields_than_a_table_takes(ada: Client, make_call: CallMaker) -> None:
    page = visit(ada, f"/calls/{make_call(arguments={f'field {n}': n for n in range(3000)}).pk}")
    assert "all arguments" in page.text
    assert '"field 2999": 2999' in page.text
    assert "3,000 fields" in page.text


def test_masks_secrets_wherever_they_would_stand(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "secret")
    assert "demo-token" not in page.source
    assert "••••••" in page.text
    assert "with secrets masked" in page.text


def test_still_masks_what_the_schema_marked_when_the_tool_is_gone(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    schema = {"type": "object", "properties": {"key": {"type": "string", "writeOnly": True}}}
    register(tools, "rotate", parameters_schema=schema)
    call = make_call.submit("rotate", {"key": "demo-token"})
    tools._registrations.clear()
    resolution.registry.cache_clear()
    page = visit(ada, f"/calls/{call.pk}")
    assert "demo-token" not in page.source
    assert "The tool is gone" in page.text


def test_warns_of_what_does_not_fit_the_schema(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "misfit")
    assert "does not fit the declared schema" in page.text
    assert "colour" in page.text


def test_warns_of_what_deceives_the_eye(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "deceiving")
    assert "url holds characters that deceive the eye U+0430 cyrillic small letter a, U+202E" in page.text
    assert "url is a link with a user name before the host It leads to collector.example.net." in page.text


def test_warns_when_the_declaration_changed(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    tools.register(Function(name="pay", description="Pays", function=lambda a, c: "done"))
    call = make_call.submit("pay")
    tools._registrations.clear()
    tools.register(Function(name="pay", description="Pays twice", function=lambda a, c: "done"))
    page = visit(ada, f"/calls/{call.pk}")
    assert "declaration changed since this was submitted" in page.text
    assert "description Pays Pays twice" in page.text


def test_shows_old_against_new_after_a_drift(ada: Client, make_call: CallMaker) -> None:
    make_call.extra = {"price": 5}
    call = make_call()
    make_call.extra = {"price": 9}
    press = ada.post(f"/calls/{call.pk}/decide", {"kind": "approve", "digest": call.resolution.digest})  # type: ignore[union-attr] # a pending call has one
    page = Page(press.content.decode(), press.status_code)
    assert page.status == 409
    assert "It means something else than before" in page.text
    assert "price 5 9" in page.text


def test_shows_what_a_revision_changes(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "revision")
    assert "Against the call it revises" in page.text
    assert "amount 1249.00 624.50" in page.text
    assert f"/calls/{show.calls['changes'].pk}" in page.links
    assert "a newer call" in page_of_call(show, log_in, "changes").text


def test_says_why_one_is_asked_and_who_else_must_agree(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "sql")
    assert "registration of run_sql_update" in page.text
    assert "1 of 2 Grace Hopper" in page.text
    page = page_of_call(show, log_in, "wire")
    assert "finance must agree" in page.text
    assert "legal must agree" in page.text


def test_keeps_the_agents_words_apart(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "refund")
    assert "Its own words. Nobody has checked them. The parcel came broken" in page.text
    assert ("blockquote", {"class": "voice"}) in page.tags
    assert "OPS-512" in page_of_call(show, log_in, "deploy").text


def test_is_noted_once_when_a_reviewer_sees_it(show: Showcase, log_in: LogIn) -> None:
    for who in ("ada", "ada", "bob", "anna"):
        page_of_call(show, log_in, "refund", who)
    seen = AuditEvent.objects.filter(chain=str(show.calls["refund"].pk), kind=EventKind.SEEN)
    assert [event.actor_name for event in seen] == ["Ada Lovelace", "Bob Stranger"]


@pytest.mark.parametrize(
    ("allowed", "buttons"),
    [
        (("approve", "reject"), {"approve", "reject"}),
        (("request_changes", "respond"), {"request_changes", "respond"}),
        (("approve", "edit", "reject", "respond", "request_changes"), {"approve", "reject", "respond", "request_changes"}),
    ],
)
def test_has_only_the_decisions_that_are_allowed(
    ada: Client, make_call: CallMaker, tools: Registry, allowed: tuple[str, ...], buttons: set[str]
) -> None:
    register(tools, "limited", allowed_decisions=allowed)
    call = make_call.submit("limited")
    page = visit(ada, f"/calls/{call.pk}")
    assert page.buttons() == buttons
    assert (f"/calls/{call.pk}/edit" in page.links) == ("edit" in allowed)


def test_lets_nobody_approve_their_own_and_says_so(ada: Client, make_call: CallMaker) -> None:
    page = visit(ada, f"/calls/{make_call(on_behalf_of='ada@example.org').pk}")
    assert page.buttons() == {"reject", "request_changes"}
    assert "nobody approves their own" in page.text


def test_lets_an_editor_not_approve_where_the_policy_says_so(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "strict", editor_may_approve=False)
    call = make_call.submit("strict", {"a": 1})
    make_call.decide(call, DecisionKind.EDIT, edited_arguments='{"a": 2}')
    page = visit(ada, f"/calls/{call.pk}")
    assert "approve" not in page.buttons()
    assert "somebody else must approve" in page.text
    assert "What the edit changed" in page.text


def test_has_no_buttons_for_an_auditor(auditor: Person, log_in: LogIn, make_call: CallMaker) -> None:
    page = visit(log_in(auditor), f"/calls/{make_call().pk}")
    assert page.buttons() == set()
    assert "Auditors read" in page.text


def test_has_no_buttons_once_its_time_is_over(ada: Client, make_call: CallMaker) -> None:
    call = make_call(timeout=timedelta(minutes=5))
    with time_machine.travel(now() + timedelta(minutes=6), tick=False):
        page = visit(ada, f"/calls/{call.pk}")
    assert page.buttons() == set()
    assert "Its time is over" in page.text


@pytest.mark.parametrize("status", list(Status))
def test_stands_for_every_status(ada: Client, make_call: CallMaker, status: Status) -> None:
    page = visit(ada, f"/calls/{make_call(status).pk}")
    assert page.status == 200
    assert "The trail is whole" in page.text


def test_shows_the_result_and_keeps_the_exception_for_administrators(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "failed")
    assert "What the agent was told, as an error ERROR: (OSError) disk full" in page.text
    assert "Traceback" not in page.source
    assert "Traceback" in page_of_call(show, log_in, "failed", "root").text


def test_tells_the_timeline_in_words(show: Showcase, log_in: LogIn) -> None:
    page = page_of_call(show, log_in, "sql")
    told = "shop-assistant submitted it", "Grace Hopper approved it; more must agree 1 of 2 approvals Checked with the carrier."
    assert in_order(page.text, *told, "Ada Lovelace opened it", "The trail is whole")


def test_says_loudly_when_the_trail_is_broken(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    ToolCall.objects.filter(pk=call.pk).update(submitted='{"amount": 1}')
    page = visit(ada, f"/calls/{call.pk}")
    assert "The trail is broken" in page.text
    assert "the submitted arguments are not those that were recorded" in page.text


def test_names_the_event_that_was_changed(ada: Client, make_call: CallMaker) -> None:
    call = make_call()
    with connection.cursor() as cursor:
        for statement in REMOVE[connection.vendor]:
            cursor.execute(statement)
        AuditEvent.objects.filter(chain=str(call.pk), sequence=1).update(actor_name="somebody else")
        for statement in INSTALL[connection.vendor]:
            cursor.execute(statement)
    assert "The trail is broken at event 1" in visit(ada, f"/calls/{call.pk}").text
    assert "broken here" in visit(ada, f"/calls/{call.pk}/trail").text


def test_shows_a_record_with_its_text(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    group = Group.objects.create(name="finance")
    parameter = FunctionParam("team", "string", description="Whose money it is")
    function = Function(
        name="budget", parameters=[parameter], parse_args=lambda a: {"team": group}, function=lambda a, c: "done"
    )
    tools.register(function)
    page = visit(ada, f"/calls/{make_call.submit('budget', {'team': 'finance'}).pk}")
    assert f"team Whose money it is record auth.group finance auth.group {group.pk}" in page.text


def test_is_not_there_for_another_group(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay", groups=("finance",))
    call = make_call.submit("pay", run_id="run")
    for place in ("", "/edit", "/run", "/trail"):
        assert ada.get(f"/calls/{call.pk}{place}").status_code == 404
    digest = call.resolution.digest if call.resolution else ""
    for place in ("decide", "settle", f"interrupts/{call.pk}/answer", "edit"):
        response = ada.post(f"/calls/{call.pk}/{place}", {"kind": "approve", "digest": digest, "outcome": "failed"})
        assert response.status_code == 404
    call.refresh_from_db()
    assert call.status == Status.PENDING


def test_warns_of_another_call_that_means_the_same(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay")
    make_call.decide(make_call.submit("pay", {"amount": 5}), DecisionKind.REJECT)
    make_call.submit("pay", {"amount": 6})
    first, second = make_call.submit("pay", {"amount": 5}), make_call.submit("pay", {"amount": 5.0})
    told = "The same was submitted before"
    for call, other in ((first, second), (second, first)):
        page = visit(ada, f"/calls/{call.pk}")
        assert told in page.text
        assert f"/calls/{other.pk}" in page.links
    confirm = page_of(press(ada, visit(ada, f"/calls/{second.pk}"), "/decide", "approve"))
    assert told in confirm.text
    assert press(ada, confirm, "/decide", "approve").status_code == 302
    assert told in visit(ada, f"/calls/{first.pk}").text
    assert told not in visit(ada, f"/calls/{make_call.submit('pay', {'amount': 7}).pk}").text
