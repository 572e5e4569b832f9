"""People who are logged in, and a server that a real browser can open."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler
from django.core.wsgi import get_wsgi_application
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Dialog, sync_playwright
from playwright.sync_api import Page as Tab

from approvals import resolution
from approvals.models import Person
from tests.review import showcase
from tests.review.showcase import Showcase

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

LogIn = Callable[[Person], Client]


@pytest.fixture
def log_in() -> LogIn:
    """A browser of this person, logged in."""

    def of(person: Person) -> Client:
        client = Client(raise_request_exception=False)
        client.force_login(person)
        return client

    return of


@pytest.fixture
def ada(reviewer: Person, log_in: LogIn) -> Client:
    return log_in(reviewer)


@pytest.fixture
def grace(second_reviewer: Person, log_in: LogIn) -> Client:
    return log_in(second_reviewer)


@pytest.fixture
def showcase_tools(settings: Any) -> Iterator[None]:
    settings.TOOLGATE_TOOLS = ("tests.review.showcase",)
    resolution.registry.cache_clear()
    yield
    resolution.registry.cache_clear()


@pytest.fixture
def show(db: None, showcase_tools: None) -> Showcase:
    """Calls of every kind in a database that is rolled back."""
    return showcase.fill(showcase.make_people())


# --- a real browser ----------------------------------------------------------------------------------------------------


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@dataclass
class Site:
    """A server with the showcase behind it, on real commits."""

    address: str
    show: Showcase


@pytest.fixture
def site(real_db: None, showcase_tools: None) -> Iterator[Site]:
    server = ThreadedWSGIServer(("127.0.0.1", 0), QuietHandler)
    server.daemon_threads = True
    server.set_app(get_wsgi_application())
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_port}", showcase.fill(showcase.make_people()))
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's Chromium. A machine without it fails here: what people see must have been seen in a browser."""
    assert CHROMIUM.exists(), "install it: apt-get install chromium"
    with pytest.MonkeyPatch.context() as monkeypatch, sync_playwright() as playwright:
        # Playwright's synchronous calls run beside an event loop of their own thread, which Django takes for async code.
        monkeypatch.setitem(os.environ, "DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@dataclass
class Window:
    """A browser window of one person; what a page does behind their back is kept in `surprises`."""

    tab: Tab
    context: BrowserContext
    surprises: list[str]

    def close(self) -> None:
        self.context.close()


OpenWindow = Callable[..., Window]


@pytest.fixture
def window(chromium: Browser, site: Site) -> Iterator[OpenWindow]:
    windows: list[Window] = []

    def opened(username: str = "ada", **options: Any) -> Window:
        def dismiss(dialog: Dialog) -> None:
            surprises.append(f"dialog {dialog.message}")
            dialog.dismiss()

        context = chromium.new_context(base_url=site.address, **options)
        tab, surprises = context.new_page(), list[str]()
        tab.on("dialog", dismiss)
        tab.on("pageerror", lambda error: surprises.append(f"error {error}"))
        tab.on("console", lambda line: surprises.append(line.text) if line.type == "error" else None)
        tab.on("request", lambda asked: None if asked.url.startswith(site.address) else surprises.append(asked.url))
        tab.goto("/login")
        tab.fill("#id_username", username)
        tab.fill("#id_password", showcase.PASSWORD)
        tab.click("button[type=submit]")
        windows.append(Window(tab, context, surprises))
        return windows[-1]

    yield opened
    for one in windows:
        one.close()
