"""The first look at a new installation: people, an agent with its key, and calls in several statuses."""

from __future__ import annotations

import json
import os
import secrets
from typing import Any
from uuid import UUID

from django.contrib.auth.models import Group
from django.db import transaction

from approvals import access, lifecycle, resolution
from approvals.clock import now
from approvals.lifecycle import Reviewer, Submission
from approvals.models import Agent, DecisionKind, Person
from approvals.models.actors import SYSTEM
from toolgate.demonstration import examples
from toolgate.settings import settings
from toolgate.tools.parsers import schema_problems

AGENT = "shop-assistant"
CREDENTIALS = settings.data_dir.resolve() / "credentials.json"
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {"first_name": "Ada", "last_name": "Lovelace"},
    "grace": {"first_name": "Grace", "last_name": "Hopper"},
    "anna": {"first_name": "Anna", "last_name": "Audit", "is_auditor": True},
    "admin": {"is_superuser": True, "is_staff": True},
}


def when_new() -> None:
    """Seeds once: when there is nobody yet."""
    if not Person.objects.exists():
        agent, people = _make_people()
        if "refund_order" in resolution.registry():
            _make_calls(agent, people)


@transaction.atomic  # people and the file that tells their secrets: both, or neither and the next start makes them
def _make_people() -> tuple[Agent, dict[str, Person]]:
    support, _ = Group.objects.get_or_create(name="support")
    people, kept = {}, {}
    for username, columns in PEOPLE.items():
        password = secrets.token_urlsafe(9)
        person = Person.objects.create_user(username, f"{username}@example.org", password, **columns)
        person.groups.add(support)
        _, token = access.issue_personal_token(person=person, actor=SYSTEM, at=now(), name="demonstration")
        people[username], kept[username] = person, {"password": password, "token": token}
    agent, _ = Agent.objects.get_or_create(name=AGENT, defaults={"description": "The demonstration's agent"})
    _, key = access.issue_agent_key(agent=agent, actor=SYSTEM, at=now(), name="demonstration")
    _keep({"agent_key": key, "people": kept})
    return agent, people


def _keep(credentials: dict[str, Any]) -> None:
    with open(os.open(CREDENTIALS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump(credentials, file, indent=1)


def credentials() -> dict[str, Any]:
    """What `when_new` made. Raises FileNotFoundError where the demonstration was never seeded."""
    kept: dict[str, Any] = json.loads(CREDENTIALS.read_text())
    return kept


def _make_calls(agent: Agent, people: dict[str, Person]) -> None:
    ada = Reviewer(people["ada"], "session")

    def submit(tool: str, reasoning: str = "", **arguments: Any) -> UUID:
        text, at = json.dumps(arguments), now()
        sent = Submission(
            tool, f"call_{secrets.token_hex(6)}", text, agent_reasoning=reasoning, on_behalf_of="customer@example.org"
        )
        return lifecycle.submit(agent=agent, submission=sent, at=at)[0].pk

    def decide(call_id: UUID, kind: DecisionKind, **answer: Any) -> None:
        call = lifecycle.see(call_id=call_id, reviewer=ada, at=now())
        digest = call.resolution.digest if call.resolution else ""
        lifecycle.decide(call_id=call_id, reviewer=ada, kind=kind, digest=digest, at=now(), **answer)

    reject, changes = DecisionKind.REJECT, DecisionKind.REQUEST_CHANGES
    submit("refund_order", "The parcel came broken and the customer sent a photograph.", order=17, amount=20)
    submit(
        "run_sql_update",
        "These orders have arrived.",
        statement="UPDATE orders SET status = 'delivered' WHERE number = 19",
    )
    submit("send_mail", "She asked for it.", to="mary@example.org", subject="Your order", body="It is on its way.")
    submit("delete_files", "Old reports take room.", pattern="report-*.txt")
    submit("open_door", minutes=5)
    submit("look_up_order", number=18)
    submit("wire_abroad", iban="XX00 0000", amount=5000)
    submit("refund_order", order=99, amount=20)
    decide(
        submit("send_mail", to="all@example.org", subject="SALE", body="Buy!"),
        reject,
        reason="We do not mail everybody.",
    )
    decide(submit("refund_order", order=18, amount=89.90), changes, reason="Only the damaged half, please.")
    decide(submit("always_fails"), DecisionKind.APPROVE)


def _example() -> tuple[str, Any, str]:
    """A call to paste, and a word of caution: a refund, or the first tool of somebody's own that values can be made up for."""
    tools = resolution.registry()
    if "refund_order" in tools or not tools.functions:
        return "refund_order", {"order": 20, "amount": 5}, ""
    made = [(one, examples.example_of(one.json_schema())) for one in tools.functions]
    fitting = [(one, value) for one, value in made if not schema_problems(one.json_schema(), value)]
    function, value = next((pair for pair in fitting if pair[0].parse_args is None), (fitting or made)[0])
    is_sure = bool(fitting) and function.parse_args is None
    return function.name, value, "" if is_sure else f"  (The values are made up; {function.name} may want others.)\n\n"


def welcome(url: str) -> str:
    """What to open and what to paste."""
    try:
        kept = credentials()
    except FileNotFoundError:
        return f"toolgate serves {url}\n"
    people = "\n".join(f"    {name:<8}{secret['password']}" for name, secret in kept["people"].items())
    tool, arguments, caution = _example()
    body = json.dumps({"tool": tool, "tool_call_id": "call_1", "arguments": arguments}).replace("'", "\\u0027")
    return f"""
toolgate is here: {url}

  Sign in as a reviewer (ada, grace), the auditor (anna) or the administrator (admin):

{people}

  Submit a call as the demonstration's agent, then find it in the inbox:

    curl {url}/api/v1/tool-calls \\
      -H 'Authorization: Bearer {kept["agent_key"]}' \\
      -H 'Content-Type: application/json' \\
      -d '{body}'

{caution}  The API: {url}/api/docs    Stories without a browser: toolgate demo    Stop: Ctrl-C
"""
