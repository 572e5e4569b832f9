"""A small deployment with a call of every kind and in every status, for the pages to be looked at and tested."""

from __future__ import annotations

import datetime as dt
import enum
import json
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from django.contrib.auth.models import Group

from approvals import access, lifecycle
from approvals.clock import now
from approvals.lifecycle import Ending, Reviewer, Submission, Worker
from approvals.models import Agent, DecisionKind, Person, Status, ToolCall
from approvals.models.actors import SYSTEM
from toolgate import Error, Function, FunctionParam, Interrupt, Ok, Registry
from toolgate.tools.tool_result import result_of

PASSWORD = "correct horse battery"
WORKER = Worker("worker shop-1:4711", {"host": "shop-1", "process": 4711})
registry = Registry()


@dataclass(frozen=True)
class Order:
    number: int
    customer: str
    total: Decimal
    paid_on: dt.date


class Level(enum.Enum):
    CALM = "calm"
    URGENT = "urgent"


ORDERS = {
    17: Order(17, "Mary Shelley", Decimal("59.90"), dt.date(2026, 11, 24)),
    18: Order(18, "Jules Verne", Decimal("1249.00"), dt.date(2026, 11, 28)),
}
ROWS = [{"number": 17, "status": "paid", "carrier": None}, {"number": 18, "status": "paid", "carrier": "post"}]


def refund(arguments: dict[str, Any]) -> Any:
    order = ORDERS.get(arguments.get("order", 0))
    if order is None:
        return Error(f"There is no order {arguments.get('order')}.")
    amount = Decimal(str(arguments["amount"])).quantize(Decimal("0.01"))
    return {**arguments, "order": order, "amount": amount, "notify": arguments.get("notify", True)}


def update(arguments: dict[str, Any]) -> dict[str, Any]:
    changes = [{"before": row, "after": {**row, "status": "delivered"}} for row in ROWS]
    return {"statement": arguments["statement"], "rows": len(changes), "changes": changes}


def deploy(arguments: dict[str, Any]) -> dict[str, Any]:
    zone = dt.timezone(dt.timedelta(hours=1))
    return {
        "service": arguments["service"],
        "at": dt.datetime(2026, 12, 2, 22, 30, tzinfo=zone),
        "may_take": dt.timedelta(minutes=90),
        "level": Level.URGENT,
        "regions": {"eu-north", "eu-west"},
        "signature": b"\x00\x01signed",
        "limits": {1: "first hour", 24: "first day"},
        "steps": [{"step": 1, "command": "drain", "seconds": 30}, {"step": 2, "command": "swap", "seconds": 5}],
        "budget": 1250000,
        "dry_run": False,
    }


def body(arguments: dict[str, Any], context: Any) -> str:
    return "done"


def tool(name: str, description: str, parameters: list[FunctionParam], parser: Any = None, **facts: Any) -> None:
    function = Function(name=name, description=description, parameters=parameters, parse_args=parser, function=body)
    registry.register(function, **facts)


def parameter(name: str, kind: str = "string", description: str = "", **more: Any) -> FunctionParam:
    return FunctionParam(name, kind, description=description or None, **more)


tool(
    "refund_order",
    "Pays back money for an order of the shop.",
    [
        parameter("order", "integer", "The order's number", required=True),
        parameter("amount", "number", "How much to pay back, in EUR", required=True),
        parameter("reason", "string", "Why, in a few words"),
        parameter("notify", "boolean", "Whether the customer gets a mail"),
    ],
    refund,
    risk="high",
    headline="Refund {amount} EUR to {order.customer} for order {order.number}",
)
tool(
    "run_sql_update",
    "Changes rows of the table orders.",
    [parameter("statement", "string", "One SQL UPDATE", required=True)],
    update,
    risk="high",
    approvals=2,
    headline="Change the table orders; rows: {rows}",
)
tool(
    "send_mail",
    "Sends a mail to one address.",
    [
        parameter("to", "string", "The address", required=True),
        parameter("subject", "string", "The subject line", required=True),
        parameter("body", "string", "The text", required=True),
    ],
    headline="Send “{subject}” to {to}",
)
tool(
    "deploy_service",
    "Puts a new version of a service into use.",
    [parameter("service", "string", "Its name", required=True)],
    deploy,
    headline="Deploy {service}",
)
tool(
    "wire_transfer",
    "Sends money to an account.",
    [parameter("iban", required=True), parameter("amount", "number", required=True)],
    risk="high",
    approvals=2,
    groups=("finance", "legal"),
    headline="Wire {amount} EUR to {iban}",
)
tool("delete_files", "Deletes files.", [parameter("pattern", required=True)], headline="Delete {pattern}")
tool("rebuild_index", "Rebuilds the search index.", [], risk="low")
tool("open_link", "Opens a page.", [parameter("url", required=True)], risk="low", headline="Open {url}")
tool("note", "Keeps a note.", [parameter("title", required=True), parameter("body")], risk="low", headline="Note {title}")
tool("banned", "Never runs.", [], deny=True)
tool(
    "rotate_key",
    "Replaces the key of a service.",
    [parameter("service", required=True), parameter("key", "string", "The new key", required=True)],
    secrets=("key",),
    headline="Replace the key of {service}",
)
registry.register(Function(name="open_door", description="Opens the door.", display_text="Open the shop's door"), risk="medium")


@dataclass
class Showcase:
    """The people, the agent, and calls by name."""

    agent: Agent
    people: dict[str, Person]
    calls: dict[str, ToolCall] = field(default_factory=dict)
    count: int = 0

    def submit(self, name: str, function: str, arguments: Any, **fields: Any) -> ToolCall:
        self.count += 1
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        sent = Submission(tool=function, tool_call_id=f"call_{self.count:04}", arguments=text)
        call, _ = lifecycle.submit(agent=self.agent, submission=replace(sent, **fields), at=now())
        self.calls[name] = call
        return call

    def decide(self, name: str, kind: DecisionKind, who: str = "ada", **answer: Any) -> ToolCall:
        reviewer, call = Reviewer(self.people[who], "session"), self.calls[name]
        lifecycle.see(call_id=call.pk, reviewer=reviewer, at=now())
        call.refresh_from_db()
        digest = call.resolution.digest if call.resolution else ""
        self.calls[name] = lifecycle.decide(call_id=call.pk, reviewer=reviewer, kind=kind, digest=digest, at=now(), **answer)
        return self.calls[name]

    def claim(self, name: str) -> ToolCall:
        self.calls[name] = lifecycle.claim(call_id=self.calls[name].pk, worker=WORKER, at=now())
        return self.calls[name]

    def run(self, name: str, status: Status, outcome: Any, exception: str = "") -> ToolCall:
        self.decide(name, DecisionKind.APPROVE)
        call = self.claim(name)
        assert call.lease is not None
        result = result_of(outcome, tool_call_id=call.tool_call_id, function=Function(name=call.tool))
        ending = Ending(status, result, exception=exception)
        self.calls[name] = lifecycle.finish(call_id=call.pk, lease=call.lease, worker=WORKER, ending=ending, at=now())
        return self.calls[name]

    def lose(self, name: str) -> ToolCall:
        self.decide(name, DecisionKind.APPROVE)
        call = self.claim(name)
        assert call.lease is not None
        self.calls[name] = lifecycle.lose(call_id=call.pk, lease=call.lease, why="killed", at=now(), is_certain=True)
        return self.calls[name]


def make_people() -> dict[str, Person]:
    columns: dict[str, dict[str, Any]] = {
        "ada": {"first_name": "Ada", "last_name": "Lovelace"},
        "grace": {"first_name": "Grace", "last_name": "Hopper"},
        "anna": {"first_name": "Anna", "last_name": "Audit", "is_auditor": True},
        "root": {"first_name": "Rita", "last_name": "Root", "is_superuser": True, "is_staff": True},
        "bob": {"first_name": "Bob", "last_name": "Stranger"},
    }
    groups = {"ada": ["finance"], "grace": ["legal"], "root": ["finance"]}
    people = {}
    for username, facts in columns.items():
        person = Person.objects.create_user(username, f"{username}@example.org", PASSWORD, **facts)
        person.groups.set([Group.objects.get_or_create(name=name)[0] for name in groups.get(username, [])])
        people[username] = person
    return people


LONG_MAIL = "Dear reader,\n\n" + "\n".join(f"{n}. One more line of a letter that takes its time." for n in range(1, 60))
ANSWER = {
    "type": "object",
    "required": ["delete"],
    "properties": {
        "delete": {"enum": ["all", "none"], "title": "Delete them?", "description": "All of them or none."},
        "tell_owner": {"type": "boolean"},
        "keep_days": {"type": "integer", "description": "How long a copy is kept"},
        "note": {"type": "string"},
    },
}


def fill(people: dict[str, Person]) -> Showcase:
    """A call of every kind; each entry of `calls` is named for what it shows."""
    for person in people.values():
        access.issue_personal_token(person=person, actor=SYSTEM, at=now(), name="a script that decides")
    show = Showcase(Agent.objects.create(name="shop-assistant", description="Helps in the shop"), people)
    waiting(show)
    settled(show)
    return show


def waiting(show: Showcase) -> None:
    said, hour = "The parcel came broken, and the customer sent a photograph.", dt.timedelta(hours=2)
    refund_17 = {"order": 17, "amount": 20, "reason": "Broken on arrival"}
    show.submit("refund", "refund_order", refund_17, agent_reasoning=said, on_behalf_of="mary@example.org", timeout=hour)
    statement = {"statement": "UPDATE orders\nSET status = 'delivered'\nWHERE number IN (17, 18)"}
    show.submit("sql", "run_sql_update", statement, run_id="nightly", agent_reasoning="Both have arrived.")
    show.decide("sql", DecisionKind.APPROVE, "grace", reason="Checked with the carrier.")
    show.submit("deploy", "deploy_service", {"service": "checkout"}, run_id="nightly", context={"ticket": "OPS-512"})
    show.submit("wire", "wire_transfer", {"iban": "DE00 1234 5678", "amount": 8200}, on_behalf_of="grace")
    show.submit("long", "send_mail", {"to": "list@example.org", "subject": "News", "body": LONG_MAIL})
    show.submit("deceiving", "open_link", {"url": "https://ex\u0430mple.org@collector.example.net/inv\u202efdp.exe"})
    show.submit("secret", "rotate_key", {"service": "billing", "key": "demo-token-0000-1111"})
    show.submit("door", "open_door", {})
    show.submit("misfit", "note", {"title": "Groceries", "body": 12, "colour": "red"})
    show.submit("question", "delete_files", {"pattern": "report-*.txt"})
    told = {"files": ["report-1.txt", "report-2.txt"], "response_schema": ANSWER}
    show.run("question", Status.INTERRUPTED, Interrupt("2 files would go. Delete them?", told))
    show.submit("lost", "rebuild_index", {})
    show.lose("lost")


def settled(show: Showcase) -> None:
    mail = {"to": "mary@example.org", "subject": "Your order", "body": "It is on its way.\n\nThe shop"}
    show.submit("done", "send_mail", mail)
    show.run("done", Status.SUCCEEDED, Ok("Sent to mary@example.org."))
    show.submit("failed", "note", {"title": "A note"})
    error = 'Traceback (most recent call last):\n  File "notes.py", line 3, in keep\nOSError: disk full'
    show.run("failed", Status.FAILED, Error("ERROR: (OSError) disk full"), error)
    show.submit("rejected", "send_mail", {**mail, "to": "all@example.org"})
    show.decide("rejected", DecisionKind.REJECT, reason="We do not mail everybody.")
    show.submit("changes", "refund_order", {"order": 18, "amount": 1249})
    show.decide("changes", DecisionKind.REQUEST_CHANGES, reason="Only the damaged half, please.")
    show.submit("revision", "refund_order", {"order": 18, "amount": 624.5}, revises=show.calls["changes"].pk)
    show.submit("approved", "note", {"title": "Approved"})
    show.decide("approved", DecisionKind.APPROVE)
    show.submit("executing", "note", {"title": "Executing"})
    show.decide("executing", DecisionKind.APPROVE)
    show.claim("executing")
    show.submit("denied", "banned", {})
    show.submit("invalid", "refund_order", {"order": 99, "amount": 1})
    show.submit("cancelled", "note", {"title": "Cancelled"})
    show.calls["cancelled"] = lifecycle.cancel(call_id=show.calls["cancelled"].pk, agent=show.agent, at=now())
    show.submit("expired", "note", {"title": "Expired"})
    later = now() + dt.timedelta(days=2)
    show.calls["expired"] = lifecycle.expire(call_id=show.calls["expired"].pk, at=later)
