"""Is the trail whole, and does it still say what the rows say? Names the first broken link."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Max

from approvals.audit.chain import digest_of
from approvals.models import GENESIS, Administration, AuditEvent, Decision, Execution, Interrupt, Resolution, ToolCall
from approvals.models.audit import ChainHead
from approvals.rendering import read, sha256
from toolgate.tools.canonical import canonical

RECORDED = ("approved_digest", "resolution", "effective")  # columns of a call that bind what runs to what was shown


@dataclass(frozen=True, slots=True)
class Verification:
    """`broken_at` is the sequence of the first event that does not fit, or None; `problem` says what is wrong with it."""

    chain: str
    length: int
    problem: str = ""
    broken_at: int | None = None
    event_id: str = ""

    @property
    def is_whole(self) -> bool:
        return not self.problem


def verify_all() -> Iterator[Verification]:
    """Every chain that a call or an event speaks of, in no particular order."""
    known = (str(pk) for pk in ToolCall.objects.order_by().values_list("pk", flat=True).iterator())
    yield verify_chain(Administration.NAME)
    yield from map(verify_chain, known)
    calls = ToolCall.objects.order_by().values_list("pk", flat=True)
    orphans = AuditEvent.objects.filter(sequence=1).exclude(chain=Administration.NAME).order_by()
    known_calls = {str(pk) for pk in calls}
    for name in orphans.values_list("chain", flat=True).iterator():
        if name not in known_calls:
            yield verify_chain(name)


def verify_chain(chain: str) -> Verification:
    """Walks one chain from its first event to its head. What moves meanwhile is walked anew, and is no fault."""
    while True:
        # In this order: an event that is there before the head is read is one that the head knows of.
        longest = AuditEvent.objects.filter(chain=chain).aggregate(last=Max("sequence"))["last"] or 0
        head = _head(chain)
        found = _walk(chain, head, longest)
        if found.is_whole or not isinstance(head, ToolCall) or _place(_head(chain)) == _place(head):
            return found


def _walk(chain: str, head: ChainHead | None, longest: int) -> Verification:
    previous, length = GENESIS, 0
    facts: dict[str, Any] = {}
    known = head.chain_length if head else longest
    for event in AuditEvent.objects.filter(chain=chain, sequence__lte=known).order_by("sequence").iterator():
        problem = _problem(event, expected=length + 1, previous=previous)
        if problem:
            return Verification(chain, length, problem, length + 1, str(event.id))
        previous, length = event.digest, event.sequence
        _remember(facts, read(event.data))
    problem = _end_problem(head, max(length, longest), previous)
    problem = problem or (_fact_problem(head, facts) if isinstance(head, ToolCall) else "")
    return Verification(chain, length, problem, length + 1 if problem else None)


def _place(head: ChainHead | None) -> tuple[int, str] | None:
    return (head.chain_length, head.chain_head) if head else None


def _remember(facts: dict[str, Any], data: dict[str, Any]) -> None:
    """What the trail says of the call so far: the latest status and result, every decision and every answer."""
    facts.update({key: data[key] for key in (*RECORDED, "submitted", "status", "result") if key in data})
    if "decisions" in data:  # retention emptied the rows: from here on they are what is left of them
        facts |= {"decisions": data["decisions"], "answers": data["answers"], "why": {}, "finding": {}}
    if "decision" in data:
        facts.setdefault("decisions", {})[data["decision"]] = data["decision_digest"]
    for what in ("why", "finding"):
        if what in data:
            facts.setdefault(what, {})[str(data["attempt"])] = data[what]
    if "answer" in data:
        facts.setdefault("answers", {})[data["interrupt"]] = data["answer"]


def _problem(event: AuditEvent, *, expected: int, previous: str) -> str:
    if event.sequence != expected:
        return f"event {expected} is missing"
    if event.previous != previous:
        return f"event {expected} does not follow the one before it"
    if digest_of(event) != event.digest:
        return f"event {expected} was changed after it was written"
    return ""


def _end_problem(head: ChainHead | None, length: int, digest: str) -> str:
    if head is None:
        return "the call of this chain is gone" if length else ""
    if (head.chain_length, head.chain_head) != (length, digest):
        return f"the chain should have {head.chain_length} events and has {length}: its end was cut or changed"
    return ""


def _fact_problem(call: ToolCall, facts: dict[str, Any]) -> str:
    """Finds who edits the call's own row, or a decision, beside the trail."""
    if facts.get("status") != call.status:
        return f"the call says {call.status}, its trail says {facts.get('status')}"
    if facts.get("submitted") != sha256(call.submitted):
        return "the submitted arguments are not those that were recorded"
    if facts.get("result", sha256("")) != sha256(call.result):
        return "the result is not the one that was recorded"
    if facts.get("approved_digest", "") != call.approved_digest:
        return "what may run is not what was recorded as approved"
    for name, row in (("resolution", call.resolution), ("effective", call.effective)):
        if row is not None and facts.get(name) != resolution_digest(row):
            return f"the {'resolved' if name == 'resolution' else name} arguments are not those that were recorded"
    recorded = facts.get("decisions", {})
    kept = {str(decision.pk): decision_digest(decision) for decision in Decision.objects.filter(call=call)}
    if different := _different(recorded, kept):
        return f"decision {different} is not what was recorded"
    answered = Interrupt.objects.filter(call=call, answered_at__isnull=False)
    different = _different(facts.get("answers", {}), {str(asked.pk): sha256(asked.answer) for asked in answered})
    if different:
        return f"the answer to question {different} is not what was recorded"
    runs = list(Execution.objects.filter(call=call))
    for what in ("why", "finding"):
        told = {str(run.attempt): sha256(text) for run in runs if (text := getattr(run, what))}
        if different := _different(facts.get(what, {}), told):
            return f"what was said of attempt {different} is not what was recorded"
    return ""


def _different(recorded: dict[str, str], kept: dict[str, str]) -> str:
    """The first that is missing on one side or not the same on both; empty when there is none."""
    return next((pk for pk in sorted(recorded.keys() | kept.keys()) if recorded.get(pk) != kept.get(pk)), "")


def resolution_digest(row: Resolution) -> str:
    """Of all that a person was shown, or a body received."""
    return sha256(canonical([str(row.pk), row.input, row.resolved, row.types, row.digest, row.refusal, row.headline]))


def decision_digest(decision: Decision) -> str:
    return sha256(
        canonical(
            {
                "call": str(decision.call_id),
                "kind": str(decision.kind),
                "round": decision.review_round,
                "counts": decision.counts,
                "digest": decision.digest,
                "reason": decision.reason,
                "edited_arguments": decision.edited_arguments,
                "response": decision.response,
                "person": [
                    str(decision.person_id),
                    decision.person_name,
                    decision.person_email,
                    decision.person_groups,
                ],
                "login": decision.login,
            }
        )
    )


def _head(chain: str) -> ChainHead | None:
    if chain == Administration.NAME:
        return Administration.objects.filter(name=chain).first()
    try:
        return ToolCall.objects.select_related("resolution", "effective").filter(pk=UUID(chain)).first()
    except ValueError:
        return None
