"""The inbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client

from approvals.models import Agent, DecisionKind, Person, Status, ToolCall
from approvals.review import lists
from tests.calls import CallMaker, register
from tests.review.browser import visit
from tests.review.conftest import LogIn
from tests.review.showcase import Showcase
from toolgate import Registry

pytestmark = pytest.mark.django_db


def headlines(client: Client, address: str = "/") -> list[str]:
    return [line.removeprefix("/calls/") for line in visit(client, address).links if line.startswith("/calls/")]


def test_explains_itself_on_the_first_visit(ada: Client) -> None:
    page = visit(ada, "/")
    assert "Nothing waits for you" in page.text
    assert "Submit a first call" in page.text
    assert "/api/docs" in page.links


def test_says_so_when_everything_is_decided(ada: Client, make_call: CallMaker) -> None:
    make_call.decide(make_call(), DecisionKind.REJECT)
    page = visit(ada, "/")
    assert "Nothing waits for you" in page.text
    assert "Submit a first call" not in page.text


def test_has_the_most_urgent_first(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    later, soon = make_call(), make_call(timeout=timedelta(minutes=5))
    lost = make_call(Status.OUTCOME_UNKNOWN)
    assert headlines(ada) == [str(lost.pk), str(soon.pk), str(later.pk)]


def test_shows_what_one_needs_to_choose(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay", risk="high", approvals=2, headline="Pay {amount} EUR")
    make_call.submit("pay", {"amount": 5}, on_behalf_of="mary@example.org", timeout=timedelta(hours=2, seconds=30))
    page = visit(ada, "/")
    for told in ("Pay 5 EUR", "pay", "High risk", "for mary@example.org", "expires in 2 h", "0 of 2 agree", "Inbox 1"):
        assert told in page.text
    assert "(1) Inbox" in page.source
    times = [facts for tag, facts in page.tags if tag == "time"]
    assert all("UTC" in (facts["title"] or "") and "+00:00" in (facts["datetime"] or "") for facts in times)


def test_leaves_out_what_one_has_approved_and_says_where_it_is(
    ada: Client, grace: Client, make_call: CallMaker, tools: Registry
) -> None:
    register(tools, "pay", approvals=2)
    call = make_call.decide(make_call.submit("pay"), DecisionKind.APPROVE)
    page = visit(ada, "/")
    assert f"/calls/{call.pk}" not in page.links
    assert "1 that you approved waits for others" in page.text
    assert f"/calls/{call.pk}" in visit(grace, "/").links


def test_leaves_out_what_other_groups_decide(ada: Client, make_call: CallMaker, tools: Registry) -> None:
    register(tools, "pay", groups=("finance",))
    make_call.submit("pay")
    page = visit(ada, "/")
    assert "Nothing waits for you" in page.text
    assert "pay" not in page.text


def test_of_an_administrator_has_only_what_they_may_decide(
    administrator: Person, log_in: LogIn, make_call: CallMaker, tools: Registry
) -> None:
    register(tools, "pay", groups=("finance",))
    call = make_call.submit("pay")
    assert headlines(log_in(administrator)) == []
    assert headlines(log_in(administrator), "/history") == [str(call.pk)]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("tool=refund_order", {"refund", "revision"}),
        ("risk=low", {"deceiving", "misfit", "lost"}),
        ("q=checkout", {"deploy"}),
        ("q=SHELLEY", {"refund"}),
        ("q=photograph", {"refund"}),
        ("run=nightly", {"sql", "deploy"}),
        ("agent=shop-assistant&tool=send_mail", {"long"}),
        ("agent=nobody", set()),
        ("q=%00", None),
    ],
)
def test_filters_stand_in_the_address(show: Showcase, log_in: LogIn, filters: str, found: set[str] | None) -> None:
    names = {str(call.pk): name for name, call in show.calls.items()}
    shown = {names[pk] for pk in headlines(log_in(show.people["ada"]), f"/?{filters}")}
    assert shown == found if found is not None else len(shown) > 5


def test_never_tells_by_search_what_a_secret_holds(show: Showcase, log_in: LogIn) -> None:
    assert headlines(log_in(show.people["ada"]), "/?q=demo-token-0000") == []


def test_keeps_the_filters_in_its_form(show: Showcase, log_in: LogIn) -> None:
    fields = visit(log_in(show.people["ada"]), "/?q=a&risk=high&run=nightly").form("").fields
    assert (fields["q"], fields["risk"], fields["run"]) == ("a", "high", "nightly")


def test_says_when_no_call_fits_the_filters(ada: Client, make_call: CallMaker) -> None:
    make_call()
    assert "Nothing that waits fits these filters" in visit(ada, "/?q=zzz").text


def test_goes_on_page_by_page_and_misses_none(
    ada: Client, make_call: CallMaker, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists, "PAGE", 3)
    wanted = {str(make_call(timeout=timedelta(minutes=5 + number // 2)).pk) for number in range(6)}
    wanted |= {str(make_call.lost().pk) for _ in range(4)}  # these have no deadline
    address, found = "/", list[str]()
    while address:
        page = visit(ada, address)
        found += headlines(ada, address)
        address = next((f"/{link}" for link in page.links if "after=" in link), "")
    assert len(found) == len(set(found)) == 10
    assert set(found) == wanted


@pytest.mark.parametrize("place", ["x", "~~", "2026-01-01~1~x", "2026-01-01T00:00:00~9~01a23131-6833-7d83-afb7-43d84243d88b"])
def test_ignores_a_place_that_is_none(ada: Client, make_call: Callable[..., ToolCall], place: str) -> None:
    call = make_call()
    assert headlines(ada, f"/?after={place}") == [str(call.pk)]


def test_takes_a_fixed_number_of_queries(
    ada: Client, make_call: CallMaker, django_assert_max_num_queries: Callable[[int], object]
) -> None:
    for _ in range(5):
        make_call()
    with django_assert_max_num_queries(16):  # type: ignore[attr-defined] # a context manager of pytest-django
        ada.get("/")
