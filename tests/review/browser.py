"""What a browser without scripts does with a page: reads its text, fills in its forms, presses a button."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from django.test import Client

HIDDEN = {"script", "style", "title"}
BLOCKS = {"dd", "dt", "div", "li", "p", "pre", "td", "th", "tr"}
VOID = {"input", "br", "img", "link", "meta", "path"}


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)


@dataclass
class Page(HTMLParser):
    """One answer: its status, its visible text, its links, its forms with what stands in them."""

    source: str
    status: int = 200
    text: str = ""
    links: list[str] = field(default_factory=list)
    forms: list[Form] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)
        self.inside: list[str] = []
        self.area = ""
        self.select = ""
        self.feed(self.source)
        self.close()
        self.text = re.sub(r"[ \n]+", " ", self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        self.tags.append((tag, facts))
        if tag not in VOID:
            self.inside.append(tag)
        if tag in BLOCKS:
            self.text += " "
        if tag == "a":
            self.links.append(facts.get("href") or "")
        elif tag == "form":
            self.forms.append(Form(facts.get("action") or "", facts.get("method") or "get"))
        elif self.forms:
            self._control(tag, facts)

    def _control(self, tag: str, facts: dict[str, str | None]) -> None:
        fields, name, value = self.forms[-1].fields, facts.get("name") or "", facts.get("value")
        if tag == "textarea":
            self.area = name
            fields[name] = ""
        elif tag == "select":
            self.select = name
        elif tag == "option" and self.select and (self.select not in fields or "selected" in facts):
            fields[self.select] = value or ""
        elif tag == "button":
            self.forms[-1].buttons.append((name, value or ""))
        elif tag == "input" and (facts.get("type") not in ("checkbox", "radio") or "checked" in facts):
            fields[name] = value or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in self.inside:
            while self.inside.pop() != tag:
                pass
        if tag == "textarea":
            fields = self.forms[-1].fields
            fields[self.area] = fields[self.area].removeprefix("\n").replace("\n", "\r\n")
            self.area = ""

    def handle_data(self, data: str) -> None:
        if self.area:
            self.forms[-1].fields[self.area] += data
        if not HIDDEN & set(self.inside):
            self.text += data

    def form(self, action: str) -> Form:
        """The form whose address ends like this; without one, the form that leads back to the page itself."""
        return next(one for one in self.forms if (one.action.split("#")[0].endswith(action) if action else not one.action))

    def buttons(self) -> set[str]:
        """What can be pressed to decide something."""
        return {value for form in self.forms if form.method == "post" for name, value in form.buttons if name}


def page_of(response: Any) -> Page:
    return Page(response.content.decode(), response.status_code)


def visit(client: Client, address: str) -> Page:
    return page_of(client.get(address))


def press(client: Client, page: Page, action: str, button: str, **typed: Any) -> Any:
    """Presses one button of one form, with everything that stands in the form and what is typed over it."""
    form = page.form(action)
    name = next(name for name, value in form.buttons if value == button)
    assert name, f"{button} is no button with a name"
    return client.post(form.action, {**form.fields, **typed, name: button})


# What would reorder, hide or fake: a page shows it as a code only.
DECEIVERS = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]"
)


def assert_harmless(page: Page) -> None:
    """No markup, script, style, foreign address or deceiver of whoever wrote what the page shows."""
    assert page.status in (200, 409, 422)
    for tag, facts in page.tags:
        assert (
            tag not in ("img", "iframe", "object", "embed", "base", "style") or facts.get("src") == "/static/approvals/logo.svg"
        ), tag
        assert tag != "script" or facts.get("src") == "/static/approvals/pages.js"
        assert not [name for name in facts if name.startswith("on") or name in ("style", "srcdoc", "formaction")], facts
    assert all(link.startswith(("/", "?", "#")) for link in page.links)
    # A field holds what was typed, and an option the name that it stands for, character by character; nothing else does.
    around = re.sub(r'<textarea.*?</textarea>|value="[^"]*"', "", page.source, flags=re.DOTALL)
    assert not DECEIVERS.search(around), "a deceiver stands in the page as it is"
    assert "14" not in re.findall(r"\{\{.*?\}\}", page.source)
