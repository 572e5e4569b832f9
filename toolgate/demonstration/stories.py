"""What the gate promises, one story after another, against a running server and without a browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from toolgate.demonstration import shop
from toolgate.demonstration.client import Call, Gate, NotAsPromised, expect, text_of


@dataclass
class Stage:
    """The people of the stories: the agent, two reviewers, and the auditor who reads the trail afterwards."""

    agent: Gate
    ada: Gate
    grace: Gate
    anna: Gate

    @classmethod
    def at(cls, url: str, credentials: dict[str, Any]) -> Stage:
        people = credentials["people"]
        reviewers = (Gate.at(url, people[name]["token"]) for name in ("ada", "grace", "anna"))
        return cls(Gate.at(url, credentials["agent_key"]), *reviewers)


Story = Callable[[Stage], Iterator[Call]]
STORIES: list[tuple[str, Story]] = []


def story(title: str) -> Callable[[Story], Story]:
    def tell(function: Story) -> Story:
        STORIES.append((title, function))
        return function

    return tell


@story("Allowed at once: a harmless look-up asks nobody")
def allowed(stage: Stage) -> Iterator[Call]:
    call = stage.agent.settled(stage.agent.submit("look_up_order", {"number": 17}))
    expect(call["status"] == "succeeded" and "Ada Byron" in text_of(call), "a look-up is answered without people")
    yield call


@story("Approved: a person agrees to a refund, a worker pays it once")
def approved(stage: Stage) -> Iterator[Call]:
    call = stage.agent.submit("refund_order", {"order": 17, "amount": 20, "reason": "broken"})
    expect(call["status"] == "pending", "a refund waits for people")
    expect(call["headline"] == "Refund 20.00 EUR to Ada Byron for order 17", "the headline is made of resolved values")
    stage.ada.decide(call, "approve", reason="The photograph shows it.")
    done = stage.agent.settled(call)
    expect(done["status"] == "succeeded", f"an approved refund runs; it is {done['status']}")
    expect(done["arguments"]["effective"] == done["arguments"]["resolved"], "what ran is what was approved")
    expect(runs_of(call) == 1, "it ran exactly once")
    yield done


@story("Edited: the reviewer halves the amount, sees what it means, and approves exactly that")
def edited(stage: Stage) -> Iterator[Call]:
    call = stage.agent.submit("refund_order", {"order": 18, "amount": 80})
    wanted = {"order": 18, "amount": 40}
    shown = stage.ada.ask("POST", f"/tool-calls/{call['id']}/preview", json={"edited_arguments": wanted})
    stage.ada.decide(call, "edit", edited_arguments=wanted, resolved_digest=shown["digest"], reason="Half was damaged.")
    done = stage.agent.settled(call)
    expect("40.00" in text_of(done), "the edited amount is what ran")
    expect(done["arguments"]["submitted"] == {"order": 18, "amount": 80}, "what the agent sent is kept beside it")
    yield done


@story("Rejected: nothing runs, and the model is told why")
def rejected(stage: Stage) -> Iterator[Call]:
    call = stage.agent.submit("send_mail", {"to": "all@example.org", "subject": "SALE", "body": "Buy!"})
    stage.grace.decide(call, "reject", reason="We do not mail everybody.")
    done = stage.agent.settled(call)
    expect(done["status"] == "rejected" and not done["result"]["is_error"], "a rejection is an answer, not a fault")
    expect("We do not mail everybody." in text_of(done), "the reason reaches the model")
    expect(runs_of(call) == 0, "the tool's body was never entered")
    yield done


@story("Changes requested and revised: the agent tries again, and the reviewer sees the difference")
def revised(stage: Stage) -> Iterator[Call]:
    first = stage.agent.submit("send_mail", {"to": "mary@example.org", "subject": "Hi", "body": "Your order is late."})
    stage.ada.decide(first, "request_changes", reason="Say when it arrives.")
    told = stage.agent.settled(first)
    expect("Say when it arrives." in text_of(told), "the agent is told what to change")
    better = {"to": "mary@example.org", "subject": "Hi", "body": "Your order is late. It arrives on Friday."}
    second = stage.agent.submit("send_mail", better, revises=first["id"])
    stage.ada.decide(second, "approve")
    done = stage.agent.settled(second)
    expect(done["status"] == "succeeded" and done["revises"] == first["id"], "the revision runs, linked to the first")
    yield stage.agent.read(first)
    yield done


@story("Quorum: an SQL update needs two people, and one of them twice is one")
def quorum(stage: Stage) -> Iterator[Call]:
    call = stage.agent.submit("run_sql_update", {"statement": "UPDATE orders SET status = 'delivered' WHERE number = 19"})
    stage.ada.decide(call, "approve")
    again = stage.ada.decide(call, "approve")
    expect((again["status"], again["approvals"]) == ("pending", {"given": 1, "required": 2}), "1 of 2, visible to all")
    stage.grace.decide(call, "approve")
    expect(stage.agent.settled(call)["status"] == "succeeded", "two people are enough")
    yield stage.agent.read(call)


@story("Drift: the order changes between approval and execution, so it does not run and people are asked again")
def drift(stage: Stage) -> Iterator[Call]:
    run = f"drift-{time.time_ns()}"
    stage.agent.submit("slow_report", {"seconds": 2}, run_id=run)
    call = stage.agent.submit("refund_order", {"order": 20, "amount": 5}, run_id=run)
    stage.ada.decide(call, "approve")
    with shop.database() as database:  # while it waits for its turn behind the report
        database.execute("UPDATE orders SET customer = customer || ' (moved)' WHERE number = 20")
    again = stage.agent.until(call, "pending")
    expect("(moved)" in again["headline"] and again["approvals"]["given"] == 0, "the new values are shown, old votes void")
    expect(runs_of(call) == 0, "nothing ran meanwhile")
    stale = {"kind": "approve", "digest": call["digest"]}
    refused = stage.grace.ask("POST", f"/tool-calls/{call['id']}/decisions", 409, json=stale)
    expect(refused["code"] == "stale_digest", "an approval of the old values is refused")
    stage.grace.decide(call, "approve")
    done = stage.agent.settled(call)
    expect(done["status"] == "succeeded" and runs_of(call) == 1, "a second approval runs it, once")
    yield done


@story("Interrupt: the tool itself stops to ask, and goes on with the answer")
def interrupt(stage: Stage) -> Iterator[Call]:
    for number in (1, 2):
        shop.put_file(f"story-{number}.txt", "to be deleted")
    call = stage.agent.submit("delete_files", {"pattern": "story-*.txt"})
    stage.ada.decide(call, "approve")
    asked = stage.agent.until(call, "interrupted")["interrupt"]
    path = f"/tool-calls/{call['id']}/interrupts/{asked['id']}/answer"
    stage.ada.ask("POST", path, 422, json={"answer": {"delete": "some"}})
    stage.ada.ask("POST", path, json={"answer": {"delete": "all"}})
    done = stage.agent.settled(call)
    expect("story-1.txt" in text_of(done), "the answer reached the tool")
    expect(not list(shop.FILES.glob("story-*.txt")), "the files are gone")
    yield done


@story("Expired: nobody decided in time, and a late yes does not count")
def expired(stage: Stage) -> Iterator[Call]:
    call = stage.agent.submit("send_mail", {"to": "a@example.org", "subject": "s", "body": "b"}, timeout_seconds=0.5)
    done = stage.agent.settled(call)
    expect(done["status"] == "expired", f"it expires; it is {done['status']}")
    stage.ada.decide(call, "approve", 409)
    expect(runs_of(call) == 0, "nothing ran")
    yield done


@story("Lost worker: killed in the middle, so nobody knows; a person looks and says what happened")
def lost(stage: Stage) -> Iterator[Call]:
    command = [sys.executable, "-m", "toolgate.cli", "lost_worker"]
    environment = {**os.environ, "TOOLGATE_LEASE_SECONDS": "2"}
    killed = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own command
    expect(killed.returncode == -9, f"the worker is killed while it runs: {killed.stderr}")
    call = {"id": killed.stdout.strip()}
    stage.agent.until(call, "outcome_unknown")
    path = f"/tool-calls/{call['id']}/settlement"
    stage.grace.ask("POST", path, json={"outcome": "failed", "reason": "The report is not in the folder."})
    done = stage.agent.read(call)
    expect(done["status"] == "failed" and "not in the folder" in text_of(done), "the agent is told what the person found")
    yield done


def runs_of(call: Call) -> int:
    with shop.database() as database:
        found = database.execute("SELECT count(*) FROM runs WHERE idempotency_key = ?", (call["id"],)).fetchone()
    return int(found[0])


def tell_all(url: str, credentials: dict[str, Any], say: Callable[[str], object]) -> int:
    """Tells every story; answers how many did not come true."""
    stage, failed = Stage.at(url, credentials), 0
    for number, (title, function) in enumerate(STORIES, 1):
        say(f"\n{number}. {title}")
        try:
            for call in function(stage):
                _show(stage.anna, call, say)
        except NotAsPromised as broken:
            failed += 1
            say(f"   NOT AS PROMISED. The promise was: {broken}")
    say(f"\n{len(STORIES) - failed} of {len(STORIES)} stories as promised.")
    return failed


def _show(anna: Gate, call: Call, say: Callable[[str], object]) -> None:
    """The call's timeline, as the auditor reads it, and whether its chain is whole."""
    found = anna.ask("GET", "/audit-events", params={"tool_call": call["id"], "limit": 200})["results"]
    for event in reversed(found):
        say(f"   {event['at'][11:19]}  {event['kind']:<18} {event['actor']['name']}")
    verified = anna.ask("GET", "/audit-events/verification", params={"tool_call": call["id"]})
    expect(verified["is_whole"], f"the chain is whole: {verified['broken']}")
    say(f"   chain of {len(found)} events is whole; the call {call['status']}")
