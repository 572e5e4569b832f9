"""People decide a pending call: approve, edit, respond, request changes, reject."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from approvals import audit, policies, resolution
from approvals.audit.verification import decision_digest
from approvals.lifecycle.ending import end_if_overdue
from approvals.lifecycle.moving import (
    close_interrupt,
    deadlines,
    get,
    lock,
    move,
    note,
    policy_columns,
    require,
    result_text,
    set_groups,
    verb,
)
from approvals.lifecycle.reviewers import ENDS_IT, Reviewer, is_own, is_own_edit, require_reviewer
from approvals.lifecycle.transitions import NotPossible, S
from approvals.models import Decision, DecisionKind, EventKind, Outcome, Status, ToolCall, Verb, When
from approvals.models.actors import SYSTEM
from approvals.policies import Verdict
from approvals.rendering import read
from approvals.resolution import Resolved
from toolgate.tools.canonical import canonical
from toolgate.tools.tool_result import rejection_result


def decide(
    *,
    call_id: UUID,
    reviewer: Reviewer,
    kind: DecisionKind,
    digest: str,
    at: datetime,
    reason: str = "",
    response: str = "",
    edited_arguments: str = "",
    resolved_digest: str = "",
) -> ToolCall:
    """One reviewer's answer to a pending call, for the `digest` they were shown. Reject also ends an interrupted call.

    `edited_arguments` is JSON text. An edit is a new proposal: it is resolved, put to the policy again, and earlier votes
    are void; with `resolved_digest` (what the editor was shown of it) the editor's own approval may count at once.
    Raises NotPossible: `expired`, `already_settled`, `wrong_status`, `stale_digest`, `not_allowed`, `not_a_reviewer`,
    `self_approval`, `own_edit`, `tool_not_served`, `edit_refused`, `edit_denied`, `reason_missing`, `response_missing`.
    """
    call = get(call_id)
    if end_if_overdue(call, at):
        call = get(call_id)
    if kind == DecisionKind.APPROVE:
        _refresh_if_changed(call, at)
    edit = _Edit.of(call, edited_arguments, resolved_digest) if kind == DecisionKind.EDIT else None
    answer = _Answer(reviewer, kind, digest, reason, response, edit, at)
    return _decide(call_id, answer)


def preview_edit(*, call_id: UUID, edited_arguments: str) -> tuple[Resolved, Verdict | None]:
    """What edited arguments (JSON text) would resolve to, and what the policy says of it. Changes nothing."""
    edit = _Edit.of(get(call_id), edited_arguments, "")
    return edit.resolved, edit.verdict


def _refresh_if_changed(call: ToolCall, at: datetime) -> None:
    """Resolves once more before an approval counts: a reviewer whose page is old is shown what it means today."""
    if call.status != S.PENDING or call.resolution is None:
        return
    if not resolution.is_served(call.tool):
        detail = f"Its tool {call.tool!r} is not served now, so nothing can run. It can be approved when the tool is back."
        raise NotPossible("tool_not_served", detail, call)
    context = resolution.context_for(call)
    resolved = resolution.resolve(call.tool, call.resolution.input, context)
    if (resolved.digest, resolved.refusal) != (call.resolution.digest, call.resolution.refusal):
        _refresh(call.pk, call.version, resolved, policies.judge(resolved, context) if resolved.digest else None, at)


@verb
def _refresh(call_id: UUID, version: int, resolved: Resolved, verdict: Verdict | None, at: datetime) -> None:
    call = lock(call_id)
    if call.version != version or call.status != S.PENDING or call.resolution is None:
        return
    row = resolved.record(call, When.REVIEW, at)
    columns = policy_columns(verdict.for_review()) if verdict else {}
    move(
        call, S.PENDING, verb=Verb.REFRESH, kind=EventKind.REFRESHED, actor=SYSTEM, at=at,
        facts={"before": call.resolution.digest, "digest": resolved.digest},
        resolution=row, review_round=call.review_round + 1, **columns,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Edit:
    """An edit, resolved before the transaction begins: a parser may take its time, a lock may not."""

    resolved: Resolved
    verdict: Verdict | None
    shown: str

    @classmethod
    def of(cls, call: ToolCall, edited_arguments: str, shown: str) -> _Edit:
        context = resolution.context_for(call)
        resolved = resolution.resolve(call.tool, edited_arguments, context)
        return cls(resolved, None if resolved.refusal else policies.judge(resolved, context), shown)


@dataclass(frozen=True, slots=True)
class _Answer:
    reviewer: Reviewer
    kind: DecisionKind
    digest: str
    reason: str
    response: str
    edit: _Edit | None
    at: datetime

    @property
    def edited_arguments(self) -> str:
        return self.edit.resolved.input if self.edit else ""

    @property
    def said(self) -> str:
        """What the agent receives instead of a result. Of any other kind of answer it is no part."""
        return self.response if self.kind == DecisionKind.RESPOND else ""


@verb
def _decide(call_id: UUID, answer: _Answer) -> ToolCall:
    call = lock(call_id, "decisions")
    if _is_repeat(call, answer):
        return call
    require(call, Verb(answer.kind), answer.at)
    _require_may_decide(call, answer)
    _require_fresh(call, answer)
    return _DECIDERS[answer.kind](call, answer)


def _is_repeat(call: ToolCall, answer: _Answer) -> bool:
    """A second press of the same button: the same person, kind and digest. It changes nothing and is told so truthfully."""
    mine = [d for d in call.decisions.all() if d.person_id == answer.reviewer.person.pk and d.kind == answer.kind]
    said = (answer.digest, answer.edited_arguments, answer.said)
    return any((d.digest, d.edited_arguments, d.response) == said for d in mine if d.review_round == call.review_round)


def _require_may_decide(call: ToolCall, answer: _Answer) -> None:
    verdict, person = call.verdict, answer.reviewer.person
    require_reviewer(call, person)
    if call.status == S.PENDING and answer.kind not in verdict["allowed_decisions"]:
        allowed = ", ".join(verdict["allowed_decisions"])
        raise NotPossible("not_allowed", f"The policy of this call does not allow that. Allowed: {allowed}.", call)
    if answer.kind not in ENDS_IT and not verdict["self_approval"] and is_own(call, person):
        raise NotPossible("self_approval", "Nobody approves their own: this call is made on your behalf.", call)
    if answer.kind == DecisionKind.APPROVE and is_own_edit(call, person):
        raise NotPossible("own_edit", "You edited these arguments; the policy wants somebody else to approve them.", call)
    if answer.kind == DecisionKind.REQUEST_CHANGES and not answer.reason.strip():
        raise NotPossible("reason_missing", "Say what should change: the agent reads it.", call)
    if answer.kind == DecisionKind.RESPOND and not answer.response.strip():
        raise NotPossible("response_missing", "Write the answer that the agent receives instead of a result.", call)


def _require_fresh(call: ToolCall, answer: _Answer) -> None:
    shown = call.resolution.digest if call.resolution else ""
    if answer.kind == DecisionKind.APPROVE and not shown:
        refusal = call.resolution.refusal if call.resolution else ""
        raise NotPossible("not_resolvable", f"It cannot be approved as it stands. {refusal}", call)
    if answer.digest != shown:
        detail = "What you were shown is not what would run now. Look at the new arguments and decide again."
        raise NotPossible("stale_digest", detail, call, digest=shown)


def _record_decision(call: ToolCall, answer: _Answer, *, review_round: int, counts: bool = False) -> Decision:
    person = answer.reviewer.person
    return Decision.objects.create(
        call=call,
        kind=answer.kind,
        review_round=review_round,
        counts=counts,
        digest=answer.digest,
        reason=answer.reason,
        response=answer.said,
        edited_arguments=answer.edited_arguments,
        decided_at=answer.at,
        person=person,
        person_name=person.label,
        person_email=person.email,
        person_groups=canonical(person.group_names()),
        login=answer.reviewer.login,
    )


def _decision_facts(decision: Decision) -> dict[str, Any]:
    return {
        "decision": str(decision.pk),
        "decision_digest": decision_digest(decision),
        "digest": decision.digest,
        "groups": decision.groups,
        "email": decision.person_email,
    }


def _approve(call: ToolCall, answer: _Answer) -> ToolCall:
    decision = _record_decision(call, answer, review_round=call.review_round, counts=True)
    return _count(call, [*call.votes(), decision], decision, answer, EventKind.APPROVED, {})


def _count(
    call: ToolCall, votes: list[Decision], decision: Decision, answer: _Answer, kind: EventKind, columns: dict[str, Any]
) -> ToolCall:
    """Approved when the quorum of this round is reached, else pending with one vote more."""
    verdict = json.loads(columns["policy"]) if "policy" in columns else call.verdict
    given, required = len(votes), int(verdict["approvals"])
    facts = _decision_facts(decision) | {"approvals": {"given": given, "required": required}}
    facts |= {"resolved": answer.edit.resolved.digest} if answer.edit else {}
    reached = given >= required and _every_group_agrees(votes, verdict["groups"])
    if not reached:
        kind = EventKind.VOTED if kind == EventKind.APPROVED else kind
        return move(
            call,
            S.PENDING,
            verb=Verb(answer.kind),
            kind=kind,
            actor=answer.reviewer.actor,
            at=answer.at,
            facts=facts,
            **columns,
        )
    columns |= {
        "approved_digest": answer.edit.resolved.digest if answer.edit else answer.digest,
        "decided_at": answer.at,
    }
    columns |= deadlines(S.APPROVED, verdict, answer.at)
    return move(
        call,
        S.APPROVED,
        verb=Verb(answer.kind),
        kind=kind,
        actor=answer.reviewer.actor,
        at=answer.at,
        facts=facts,
        **columns,
    )


def _every_group_agrees(votes: list[Decision], groups: list[str]) -> bool:
    """Whether distinct voters can be found, one for each group that must agree."""
    chosen = itertools.permutations([set(vote.groups) for vote in votes], len(groups))
    return any(all(group in member for group, member in zip(groups, members, strict=True)) for members in chosen)


def _edit(call: ToolCall, answer: _Answer) -> ToolCall:
    edit = answer.edit
    if edit is None or edit.verdict is None:
        refusal = edit.resolved.refusal if edit else ""
        raise NotPossible("edit_refused", f"The edited arguments were refused, and nothing was changed. {refusal}", call)
    if edit.verdict.outcome == Outcome.DENY:
        detail = f"The policy denies the edited arguments, and nothing was changed. {edit.verdict.reason}"
        raise NotPossible("edit_denied", detail, call)
    verdict = edit.verdict.as_data()
    saw_it = bool(edit.shown) and edit.shown == edit.resolved.digest
    if edit.shown and not saw_it:
        detail = "The edited arguments resolve differently now. Look at them again."
        raise NotPossible("stale_digest", detail, call, digest=edit.resolved.digest)
    counts = saw_it and bool(verdict["editor_may_approve"]) and "approve" in verdict["allowed_decisions"]
    row = edit.resolved.record(call, When.EDIT, answer.at)
    decision = _record_decision(call, answer, review_round=call.review_round + 1, counts=counts)
    columns = policy_columns(edit.verdict) | deadlines(S.PENDING, verdict, answer.at)
    columns |= {"review_round": call.review_round + 1, "resolution": row, "approved_digest": ""}
    set_groups(call, edit.verdict.groups)
    votes = [decision] if counts else []
    return _count(call, votes, decision, answer, EventKind.EDITED, columns)


def _respond(call: ToolCall, answer: _Answer) -> ToolCall:
    return _end(call, answer, S.SUCCEEDED, EventKind.RESPONDED, result_text(call, answer.response))


def _request_changes(call: ToolCall, answer: _Answer) -> ToolCall:
    text = f"Tool call '{call.tool}' was sent back by a human reviewer, who asks for changes: {answer.reason.strip()}"
    return _end(call, answer, S.CHANGES_REQUESTED, EventKind.CHANGES_REQUESTED, result_text(call, text))


def _reject(call: ToolCall, answer: _Answer) -> ToolCall:
    result = rejection_result(call.tool, call.tool_call_id, answer.reason.strip() or None)
    return _end(call, answer, S.REJECTED, EventKind.REJECTED, canonical(result.to_dict()))


def _end(call: ToolCall, answer: _Answer, target: Status, kind: EventKind, result: str) -> ToolCall:
    decision = _record_decision(call, answer, review_round=call.review_round)
    close_interrupt(call, answer.at)
    verb, facts, decided_at = Verb(answer.kind), _decision_facts(decision), call.decided_at or answer.at
    return move(
        call, target, verb=verb, kind=kind, actor=answer.reviewer.actor, at=answer.at, facts=facts,
        result=result, decided_at=decided_at,
    )  # fmt: skip


_DECIDERS: Mapping[DecisionKind, Callable[[ToolCall, _Answer], ToolCall]] = {
    DecisionKind.APPROVE: _approve,
    DecisionKind.EDIT: _edit,
    DecisionKind.RESPOND: _respond,
    DecisionKind.REQUEST_CHANGES: _request_changes,
    DecisionKind.REJECT: _reject,
}


@verb
def see(*, call_id: UUID, reviewer: Reviewer, at: datetime) -> ToolCall:
    """Records once a round and person that a pending call was shown to somebody who may decide it."""
    call = get(call_id)
    if call.status not in (S.PENDING, S.INTERRUPTED, S.OUTCOME_UNKNOWN) or call.resolution is None:
        return call
    facts = {"status": str(call.status), "digest": call.resolution.digest, "round": call.review_round}
    seen = audit.AuditEvent.objects.filter(chain=str(call.pk), kind=EventKind.SEEN, actor_id=str(reviewer.person.pk))
    if any(facts.items() <= read(data).items() for data in seen.values_list("data", flat=True)):
        return call
    return note(call, kind=EventKind.SEEN, actor=reviewer.actor, at=at, facts=facts)
