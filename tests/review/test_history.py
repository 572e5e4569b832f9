"""The history, and the page of one run."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from approvals.models import Person, Status
from approvals.review import lists
from tests.calls import CallMaker, register
from tests.review.browser import visit
from tests.review.conftest import LogIn
from tests.review.showcase import Showcase
from toolgate import Error, Registry

pytestmark = pytest.mark.django_db


def calls_on(client: Client, address: str) -> list[str]:
    return [link.removeprefix("/calls/") for link in visit(client, address).links if link.startswith("/calls/")]


def test_explains_itself_when_there_is_nothing(ada: Client) -> None:
    assert "No calls yet" in visit(ada, "/history").text
    assert "No call fits these filters" in visit(ada, "/history?q=x").text


def test_has_every_call_newest_first(ada: Client, make_call: CallMaker) -> None:
    made = [str(make_call(status).pk) for status in Status]
    assert calls_on(ada, "/history") == made[::-1]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("status=rejected", {"rejected"}),
        ("status=succeeded&tool=send_mail", {"done"}),
        ("q=all@example.org", {"rejected"}),
        ("agent=shop-assistant&status=denied", {"denied"}),
        ("status=nonsense", set()),
    ],
)
def test_filters_stand_in_the_address(show: Showcase, log_in: LogIn, filters: str, found: set[str]) -> None:
    names = {str(call.pk): name for name, call in show.calls.items()}
    assert {names[pk] for pk in calls_on(log_in(show.people["ada"]), f"/history?{filters}")} == found


def test_goes_on_page_by_page_with_its_filters(ada: Client, make_call: CallMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "PAGE", 2)
    made = [str(make_call().pk) for _ in range(5)]
    make_call(Status.REJECTED)
    address, found = "/history?status=pending", list[str]()
    while address:
        found += calls_on(ada, address)
        address = next((f"/history{link}" for link in visit(ada, address).links if "after=" in link), "")
    assert found == made[::-1]


def test_has_nothing_of_other_groups_but_everything_for_an_auditor(show: Showcase, log_in: LogIn) -> None:
    wire = str(show.calls["wire"].pk)
    assert wire not in calls_on(log_in(show.people["bob"]), "/history")
    assert "wire_transfer" not in visit(log_in(show.people["bob"]), "/history").text
    assert wire in calls_on(log_in(show.people["anna"]), "/history")


def test_a_run_has_its_calls_in_the_order_submitted(show: Showcase, log_in: LogIn) -> None:
    ada, calls = log_in(show.people["ada"]), show.calls
    address = f"/calls/{calls['deploy'].pk}/run"
    assert address in visit(ada, f"/calls/{calls['deploy'].pk}").links
    assert calls_on(ada, address) == [str(calls["sql"].pk), str(calls["deploy"].pk)]
    assert "2 calls of shop-assistant" in visit(ada, address).text


def test_a_run_leaves_out_what_others_decide(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay", groups=("finance",))
    call = make_call(run_id="a/b?c#d")
    make_call.submit("pay", run_id="a/b?c#d")
    assert calls_on(ada, f"/calls/{call.pk}/run") == [str(call.pk)]


def test_a_call_without_a_run_has_no_such_page(ada: Client, make_call: CallMaker) -> None:
    assert ada.get(f"/calls/{make_call().pk}/run").status_code == 404


def test_finds_a_call_by_its_id_its_run_and_the_id_of_its_model(ada: Client, make_call: CallMaker) -> None:
    make_call()
    call = make_call(run_id="the run of Tuesday")
    for text in (str(call.pk), f" {call.pk} ".upper(), "run of tuesday", call.tool_call_id):
        assert calls_on(ada, f"/history?q={text}") == [str(call.pk)]


def test_call_that_was_refused_is_seen_by_the_groups_of_its_tool_only(
    ada: Client, make_call: CallMaker, tools: Registry, person_maker: Any, auditor: Person, log_in: LogIn
) -> None:
    register(tools, "pay", groups=["finance"], parse_args=lambda arguments: Error("no"))
    call = make_call.submit("pay", {"iban": "XX00"})
    assert call.status == Status.INVALID
    assert calls_on(ada, "/history") == []
    for person in (person_maker("mary", "finance"), auditor):
        assert calls_on(log_in(person), "/history") == [str(call.pk)]
