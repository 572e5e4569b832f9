"""What only a real browser can show: a person at work, hostile text that stays text, and pages that everybody can use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen
from uuid import UUID

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # it ships no types
from playwright.sync_api import expect

from approvals import access, execution
from approvals.clock import now
from approvals.models import AuditEvent, Decision, EventKind, Status, ToolCall
from approvals.models.actors import SYSTEM
from tests.review.conftest import OpenWindow, Site, Window
from tests.review.test_visible import DECEIVERS

HOSTILE = {
    "script": "<script>window.__hit = 1; document.title = 'owned'</script>",
    "image": "<img src=x onerror='window.__hit = 2; alert(2)'>",
    "svg": "<svg onload=alert(7)><a xlink:href='javascript:alert(8)'>x</a></svg>",
    "break_out": "</script></style></textarea></pre>\"'><script>window.__hit = 3</script>",
    "htmx": "<div hx-post='/decide' hx-trigger='load'>x</div><form action=/logout method=post>",
    "beacon": "![chart](https://listener.example.net/p.png) <link rel=prefetch href=//listener.example.net>",
    "overlay": "<style>*{display:none}</style><div style='position:fixed;inset:0'>APPROVED</div>",
    "refresh": "<meta http-equiv=refresh content='0;url=https://listener.example.net'><base href=//listener.example.net>",
    "deceivers": "".join(text for text, _ in DECEIVERS.values()),
}


@pytest.fixture
def ada(window: OpenWindow) -> Iterator[Window]:
    opened = window("ada")
    yield opened
    assert opened.surprises == []
    opened.close()


def status_of(call: ToolCall) -> str:
    return ToolCall.objects.get(pk=call.pk).status


def test_a_reviewer_logs_in_reads_and_approves(ada: Window, site: Site) -> None:
    call = site.show.calls["refund"]
    expect(ada.tab).to_have_title("(12) Inbox · toolgate")
    ada.tab.get_by_role("link", name="Refund 20.00 EUR to Mary Shelley for order 17").click()
    expect(ada.tab.get_by_role("heading", level=1)).to_have_text("Refund 20.00 EUR to Mary Shelley for order 17")
    ada.tab.get_by_role("button", name="Approve").click()
    expect(ada.tab.get_by_text("A worker does exactly this, once, as soon as you approve.")).to_be_visible()
    assert status_of(call) == Status.PENDING
    ada.tab.get_by_role("button", name="Yes, approve it").click()
    expect(ada.tab.get_by_role("status")).to_contain_text("approved, about to run")
    assert status_of(call) == Status.APPROVED
    assert "/calls/" in ada.tab.url  # the next one


def test_an_agent_asks_over_http_and_reads_the_result_after_a_person_agreed(ada: Window, site: Site) -> None:
    _, key = access.issue_agent_key(agent=site.show.agent, actor=SYSTEM, at=now())
    sent = {"tool": "note", "tool_call_id": "over-http", "arguments": {"title": "Milk"}, "agent_reasoning": "We are out of it."}
    call = ask(site, key, "POST", "/tool-calls", sent)
    assert call["status"] == "pending"
    ada.tab.goto("/?q=Milk")
    ada.tab.get_by_role("link", name="Note Milk").click()
    expect(ada.tab.get_by_text("We are out of it.")).to_be_visible()
    ada.tab.get_by_role("button", name="Approve").click()
    expect(ada.tab.get_by_role("status")).to_contain_text("approved")
    assert execution.execute(UUID(call["id"])) == "succeeded"
    read = ask(site, key, "GET", f"/tool-calls/{call['id']}")
    assert (read["status"], read["result"]["content"][0]["content"]) == ("succeeded", "done")
    ada.tab.goto(f"/calls/{call['id']}")
    expect(ada.tab.get_by_role("region", name="What the agent was told")).to_contain_text("done")


def ask(site: Site, key: str, method: str, path: str, sent: Any = None) -> Any:
    body = json.dumps(sent).encode() if sent else None
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = Request(f"{site.address}/api/v1{path}", body, headers, method=method)  # noqa: S310 - our own server
    with urlopen(request, timeout=30) as answer:  # noqa: S310 - our own server
        return json.load(answer)


def test_everything_works_without_scripts(window: OpenWindow, site: Site) -> None:
    opened = window("ada", java_script_enabled=False)
    call = site.show.calls["long"]
    opened.tab.goto(f"/calls/{call.pk}")
    opened.tab.get_by_text("Folded:").click()
    expect(opened.tab.get_by_text("59. One more line").first).to_be_visible()
    opened.tab.get_by_label("I have read the long values").check()
    opened.tab.get_by_role("button", name="Approve").click()
    assert status_of(call) == Status.APPROVED
    opened.close()


def test_two_quick_presses_are_one_decision(ada: Window, site: Site) -> None:
    call = site.show.calls["deploy"]
    ada.tab.goto(f"/calls/{call.pk}")
    ada.tab.get_by_role("button", name="Approve").dblclick()
    expect(ada.tab.get_by_role("status")).to_contain_text("approved")
    assert Decision.objects.filter(call=call).count() == 1
    assert AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.APPROVED).count() == 1


def test_an_edit_is_checked_and_approved(ada: Window, site: Site) -> None:
    call = site.show.calls["misfit"]
    ada.tab.goto(f"/calls/{call.pk}")
    ada.tab.get_by_role("link", name="Edit the arguments").click()
    ada.tab.get_by_label("Arguments as the agent would send them").fill('{"title": "Groceries",\n\n  "body": "  eggs "}')
    ada.tab.get_by_role("button", name="Check what it would mean").click()
    expect(ada.tab.get_by_role("region", name="What the edit changes")).to_contain_text("colour")
    ada.tab.get_by_role("button", name="Save and approve these arguments").click()
    expect(ada.tab.get_by_role("status")).to_contain_text("approved")
    assert ToolCall.objects.get(pk=call.pk).resolution.input.endswith('"body": "  eggs "}')  # type: ignore[union-attr] # an approved call has one


def test_a_question_is_answered(ada: Window, site: Site) -> None:
    call = site.show.calls["question"]
    ada.tab.goto(f"/calls/{call.pk}")
    ada.tab.get_by_label("all", exact=True).check()
    ada.tab.get_by_label("keep_days").fill("30")
    ada.tab.get_by_role("button", name="Answer and go on").click()
    expect(ada.tab.get_by_role("status")).to_be_visible()
    assert status_of(call) == Status.APPROVED
    assert call.interrupts.get().answer == '{"delete":"all","keep_days":30}'


def test_the_raw_text_can_be_copied(window: OpenWindow, site: Site) -> None:
    opened = window("ada", permissions=["clipboard-read", "clipboard-write"])
    opened.tab.goto(f"/calls/{site.show.calls['refund'].pk}")
    opened.tab.get_by_text("Raw: exactly as sent").click()
    opened.tab.get_by_role("button", name="Copy what is shown").click()
    expect(opened.tab.get_by_role("button", name="Copied")).to_be_visible()
    assert opened.tab.evaluate("navigator.clipboard.readText()") == site.show.calls["refund"].submitted
    opened.close()


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_stays_text(ada: Window, site: Site, name: str) -> None:
    """In a value, a name, a reason, what the agent says, ids: nothing runs, nothing is asked for, nothing is covered."""
    text, decisions = HOSTILE[name], Decision.objects.count()
    fields: dict[str, Any] = {
        "agent_reasoning": text,
        "on_behalf_of": text[:200],
        "run_id": text[:200],
        "context": {text: text},
    }
    call = site.show.submit("hostile", "note", {"title": text, text: [text], "body": text}, **fields)
    for address in (f"/calls/{call.pk}", f"/calls/{call.pk}/edit", f"/calls/{call.pk}/run", "/", "/history"):
        ada.tab.goto(address)
        ada.tab.wait_for_timeout(50)
        assert ada.tab.evaluate("window.__hit") is None
        assert "owned" not in ada.tab.title().replace("'owned'", "")
        assert ada.tab.url.endswith(address)
    ada.tab.goto(f"/calls/{call.pk}")
    ada.tab.get_by_role("button", name="Reject").click(trial=True)
    overflow = ada.tab.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert overflow == 0
    assert status_of(call) == Status.PENDING
    assert Decision.objects.count() == decisions


def test_stacked_marks_paint_over_nothing(ada: Window, site: Site) -> None:
    call = site.show.submit("marks", "note", {"title": "z" + "\u0301" * 120, "body": "b"})
    ada.tab.goto(f"/calls/{call.pk}")
    row = ada.tab.locator("table.values tr", has_text="title").bounding_box()
    assert row is not None
    assert row["height"] < 80


def test_direction_does_not_leak_to_labels_and_buttons(ada: Window, site: Site) -> None:
    call = site.show.submit("isolate", "note", {"title": "t\u2067\u202e", "body": "b"})
    ada.tab.goto(f"/calls/{call.pk}")
    directions = ada.tab.locator("button, label, h1, h2, dt").evaluate_all(
        "all => all.map(one => getComputedStyle(one).direction)"
    )
    assert set(directions) == {"ltr"}
    box = ada.tab.get_by_role("button", name="Approve").bounding_box()
    assert box is not None


SIZES = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}
PAGES = [
    "/", "/?q=nothing", "/history", "/tools", "/tokens", "/trail",
    "@refund", "@sql", "@deploy", "@long", "@deceiving", "@secret", "@misfit", "@question", "@lost", "@done", "@failed",
    "@revision", "@invalid", "@refund?view=compare", "@refund/edit", "@refund/trail", "@sql/run", "/nothing-here",
]  # fmt: skip


@pytest.mark.parametrize(("size", "scheme"), [("desktop", "light"), ("phone", "dark")])
def test_everybody_can_use_every_page(window: OpenWindow, site: Site, size: str, scheme: str) -> None:
    """No violation that axe knows of, contrast included, and nothing that only sideways scrolling would show."""
    opened, axe = window("root", viewport=SIZES[size], color_scheme=scheme), Axe()
    found = []
    for page in PAGES:
        opened.tab.goto(re.sub(r"@(\w+)", lambda name: f"/calls/{site.show.calls[name[1]].pk}", page))
        opened.tab.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        results = axe.run(opened.tab)
        found += [
            (page, one["id"], one["nodes"][0]["target"], one["nodes"][0]["html"][:120])
            for one in results.response["violations"]
        ]
        if opened.tab.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            found.append((page, "scrolls sideways", "", ""))
    assert found == []
    opened.close()


def test_everybody_can_log_in(site: Site, chromium: Any) -> None:
    tab = chromium.new_context(base_url=site.address).new_page()
    tab.goto("/login")
    assert Axe().run(tab).response["violations"] == []
    tab.keyboard.type("ada")
    tab.keyboard.press("Tab")
    tab.keyboard.type("wrong")
    tab.keyboard.press("Enter")
    expect(tab.get_by_role("alert")).to_contain_text("do not fit together")


def test_all_can_be_done_with_the_keyboard_and_the_focus_is_seen(ada: Window, site: Site) -> None:
    ada.tab.goto(f"/calls/{site.show.calls['deploy'].pk}")
    ada.tab.keyboard.press("Tab")
    assert ada.tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    for _ in range(60):
        ada.tab.keyboard.press("Tab")
        outline = ada.tab.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        if ada.tab.evaluate("document.activeElement.value") == "approve":
            break
    ada.tab.keyboard.press("Enter")
    expect(ada.tab.get_by_role("status")).to_contain_text("approved")


def test_when_something_went_wrong_the_reader_is_there(ada: Window, site: Site) -> None:
    call = site.show.calls["deploy"]
    ada.tab.goto(f"/calls/{call.pk}")
    ada.tab.get_by_role("button", name="Ask for changes").click()
    expect(ada.tab.get_by_role("alert")).to_be_focused()
    ada.surprises.clear()  # Chromium reports the answer 422 as a console error
