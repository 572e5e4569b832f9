"""What a reviewer should be warned of before deciding: what does not fit, what deceives, what changed since."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from approvals import resolution
from approvals.models import AuditEvent, EventKind, Resolution, ToolCall, When
from approvals.rendering import read
from approvals.review.differences import Difference, differences
from approvals.review.reading import host_of
from approvals.review.values import Node, deceptive_places
from approvals.review.visible import deceptions
from toolgate.tools.canonical import canonical
from toolgate.tools.parsers import schema_problems
from toolgate.tools.registry import Registration

LOOKS_SECRET = re.compile(
    r"(?i:bearer\s+[\w.~+/=-]{8,})|-----BEGIN [A-Z ]*KEY-----|://[^/\s:@]+:[^/\s@]+@|\b(?:\d{4}[ -]){3}\d{3,4}\b"
)


@dataclass(frozen=True, slots=True)
class Caution:
    title: str
    text: str = ""
    subject: str = ""  # text from outside that the title is about
    changes: list[Difference] = field(default_factory=list)


def cautions_of(call: ToolCall, row: Resolution | None, registration: Registration | None, nodes: list[Node]) -> list[Caution]:
    found: list[Caution] = []
    if row is not None and row.refusal and not call.is_settled:
        found.append(Caution("It cannot be resolved as it stands", row.refusal))
    if registration is None:
        found.append(Caution("The tool is gone", "This deployment has no tool of this name. Nothing can run."))
    elif row is not None:
        found += [*_misfits(registration, row), *_declaration(call, registration)]
    found += _restored(call)
    return [*found, *_deceivers(call, registration, nodes), *_links(nodes), *_secrets(nodes)]


def _misfits(registration: Registration, row: Resolution) -> Iterator[Caution]:
    try:
        arguments = resolution.arguments_of(row.input)
        problems = schema_problems(registration.function.json_schema(), arguments, name="")
    except ValueError:  # what is no object was refused already, and a schema that cannot be used checks nothing
        return
    if problems:
        yield Caution("What was sent does not fit the declared schema", problems)


def _restored(call: ToolCall) -> Iterator[Caution]:
    if call.is_settled:
        return
    restored = AuditEvent.objects.filter(kind=EventKind.RESTORED, at__gt=call.submitted_at).order_by("-pk").first()
    if restored is not None:
        title = "The database was restored from a backup since: this may have run already"
        text = f"It was on {restored.at:%Y-%m-%d at %H:%M} UTC. What happened between the backup and then is not known."
        yield Caution(title, f"{text} Look at the tool's own records first.")


def _declaration(call: ToolCall, registration: Registration) -> Iterator[Caution]:
    first = call.resolutions.filter(when=When.SUBMIT).select_related("declaration").first()
    before = first.declaration.text if first and first.declaration else ""
    now = canonical(registration.declaration())
    if before and before != now and not call.is_settled:
        changes = list(differences(read(before), read(now)))
        text = "Look whether it still does what you think. An approval holds for the tool as it is now."
        yield Caution("The tool's declaration changed since this was submitted", text, changes=changes)


def _deceivers(call: ToolCall, registration: Registration | None, nodes: list[Node]) -> Iterator[Caution]:
    title = "holds characters that deceive the eye"
    for name, codes in deceptive_places(nodes):
        yield Caution(title, ", ".join(codes), name)
    texts = {
        "The name of the tool": call.tool,
        "The name of the agent": call.agent_name,
        "The id of the call": call.tool_call_id,
        "The person it is for": call.on_behalf_of,
        "What the agent says": call.agent_reasoning,
        "The description of the tool": registration.function.description or "" if registration else "",
    }
    for words, text in texts.items():
        if codes := deceptions(text):
            yield Caution(f"{words} {title}", ", ".join(codes))


def _links(nodes: list[Node]) -> Iterator[Caution]:
    for node in (inner for outer in nodes for inner in outer.walk()):
        if node.note.startswith("leads to ") and (what := _odd_link(node.text)):
            yield Caution(what, f"It leads to {host_of(node.text)}.", node.name)


def _secrets(nodes: list[Node]) -> Iterator[Caution]:
    told = "Everybody who may see this call sees it. A parameter that is declared as a secret is masked."
    for node in (inner for outer in nodes for inner in outer.walk()):
        if LOOKS_SECRET.search(node.text):
            yield Caution("looks as if it held a key, a password or a card number", told, node.name)


def _odd_link(link: str) -> str:
    parts = urlsplit(link.strip())
    host = parts.hostname or ""
    if "@" in parts.netloc:
        return "is a link with a user name before the host"
    return "is a link to a host with letters that are not plain Latin" if not host.isascii() or "xn--" in host else ""
