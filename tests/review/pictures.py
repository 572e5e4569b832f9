"""Pictures of every page, for people to look at: what `scripts/screenshots` runs."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.review import showcase
from tests.review.showcase import Showcase

CHROMIUM = "/usr/bin/chromium"
FOLDER = Path(__file__).parents[2] / "docs" / "pictures"
SIZES: dict[str, ViewportSize] = {"desktop": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 844}}
SCHEMES = ("light", "dark")
Look = tuple[str, str, dict[str, str], str]  # who, where, what is filled in, which button is pressed
BEFORE_THE_FIRST_CALL = {"inbox-empty": ("ada", "/")}
# Who looks, and where; @name is the page of that call of the showcase.
PAGES = {
    "log-in": ("", "/login"),
    "inbox": ("ada", "/"),
    "inbox-nothing-fits": ("ada", "/?q=nothing"),
    "call": ("ada", "@refund"),
    "call-side-by-side": ("ada", "@refund?view=compare"),
    "call-votes": ("ada", "@sql"),
    "call-kinds": ("ada", "@deploy"),
    "call-long": ("ada", "@long"),
    "call-deceiving": ("ada", "@deceiving"),
    "call-groups": ("grace", "@wire"),
    "call-secret": ("ada", "@secret"),
    "call-misfit": ("ada", "@misfit"),
    "call-revision": ("ada", "@revision"),
    "call-failed": ("root", "@failed"),
    "call-invalid": ("ada", "@invalid"),
    "question": ("ada", "@question"),
    "outcome-unknown": ("ada", "@lost"),
    "edit": ("ada", "@refund/edit"),
    "run": ("ada", "@sql/run"),
    "history": ("ada", "/history"),
    "trail-of-a-call": ("anna", "@sql/trail"),
    "trail": ("anna", "/trail"),
    "tools": ("ada", "/tools"),
    "tokens": ("ada", "/tokens"),
    "not-found": ("ada", "/nothing-here"),
    "administration": ("root", "/admin/"),
}
# The same, with what is filled in and the button that is pressed.
PRESSES: dict[str, Look] = {
    "confirm": ("ada", "@refund", {}, "Approve"),
    "edit-preview": ("ada", "@refund/edit", {"#arguments": '{"order": 18, "amount": 7.5}'}, "Check what it would mean"),
    "edit-refused": ("ada", "@refund/edit", {"#arguments": '{"order": 99, "amount": 7.5}'}, "Check what it would mean"),
    "reason-missing": ("ada", "@deploy", {}, "Ask for changes"),
    "token-made": ("ada", "/tokens", {"#id_name": "deploy script"}, "Make a token"),
}


class Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def server() -> Iterator[str]:
    made = ThreadedWSGIServer(("127.0.0.1", 0), Quiet)
    made.daemon_threads = True
    made.set_app(get_wsgi_application())
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()


def take_all() -> None:
    only = os.environ.get("PICTURES", "").split()
    FOLDER.mkdir(parents=True, exist_ok=True)
    people = showcase.make_people()
    with server() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--headless", "--no-sandbox", "--disable-gpu"])
        for size in SIZES:
            for scheme in SCHEMES:
                take(browser, address, size, scheme, None, only)
        show = showcase.fill(people)
        for size in SIZES:
            for scheme in SCHEMES:
                take(browser, address, size, scheme, show, only)
        browser.close()


def take(browser: Browser, address: str, size: str, scheme: str, show: Showcase | None, only: list[str]) -> None:
    looks: dict[str, Look] = {
        name: (who, where, {}, "") for name, (who, where) in (PAGES if show else BEFORE_THE_FIRST_CALL).items()
    }
    windows: dict[str, Page] = {}
    for name, (who, where, filled, button) in {**looks, **(PRESSES if show else {})}.items():
        if only and name not in only:
            continue
        if who not in windows:
            windows[who] = opened(browser, address, size, scheme, who)
        tab = windows[who]
        tab.goto(re.sub(r"@(\w+)", lambda call: f"/calls/{show.calls[call[1]].pk}" if show else "", where))
        for place, text in filled.items():
            tab.fill(place, text)
        if button:
            tab.get_by_role("button", name=button).click()
        tab.screenshot(path=FOLDER / f"{name}-{size}-{scheme}.png", full_page=True)


def opened(browser: Browser, address: str, size: str, scheme: str, who: str) -> Page:
    dark = scheme == "dark"
    context = browser.new_context(base_url=address, viewport=SIZES[size], color_scheme="dark" if dark else "light")
    tab = context.new_page()
    if who:
        tab.goto("/login")
        tab.fill("#id_username", who)
        tab.fill("#id_password", showcase.PASSWORD)
        tab.click("button[type=submit]")
    return tab
